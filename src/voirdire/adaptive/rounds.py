"""The loop of adaptive collection: ask a round, fit, check the conditions, choose the next; and its replay.

The loop is a generator: it yields the rows of the table of questions to ask, and receives their answers. The caller
does the asking. Each step depends on the questions, the request and the answers only. So a stopped run can be resumed
by running the loop again on stored answers, and a table of real votes can be replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from voirdire.adaptive.design import Design, design_order, linkable_groups, starting_questions
from voirdire.adaptive.progress import (
    Condition,
    GroupProgress,
    read_conditions,
    summarise_item_groups,
    unmet_conditions,
)
from voirdire.errors import InputError
from voirdire.fit.verb import fit
from voirdire.tables.problems import nearest_name
from voirdire.typing import Ints

if TYPE_CHECKING:
    import pandas as pd

    from voirdire.kinds.fit import Fit

MIN_ROUND_SIZE = 8  # questions of a round
ROUND_SHARE = 0.125  # size of a round as a share of the questions asked so far
#: Generator of rounds; it receives answers: "first", "second", "tie", or None for a missing answer.
Rounds = Generator[Ints, Sequence[str | None], "Course"]


@dataclass(frozen=True)
class Request:
    """Settings of a run in rounds.

    Attributes
    ----------
    until : tuple of Condition
        Conditions to stop: all must hold for every group of items after two rounds in a row. Without conditions,
        everything is asked.
    design : "adaptive", "cyclic" or "random"
        Choice of questions after the start.
    model : str, path or None
        Model of the fits; by default the default model of the table.
    count : int or None
        Number of questions per round; by default an eighth of those asked so far, and at least 8.
    seed : int
        Seed of the design and of the fits.
    """

    until: tuple[Condition, ...] = ()
    design: Design = "adaptive"
    model: str | Path | None = None
    count: int | None = None
    seed: int = 0

    def round_size(self, asked_count: int) -> int:
        """Number of questions of the next round."""
        return self.count if self.count is not None else max(MIN_ROUND_SIZE, round(ROUND_SHARE * asked_count))


@dataclass
class Course:
    """Record of a run.

    Attributes
    ----------
    groups : list of list of str
        Groups of comparable items.
    rounds : list of dict
        State after each round: ``round``, ``asked``, ``answered``, ``cost`` (totals so far); ``p_best``, ``loss``,
        ``width``, ``accuracy`` (each of the worst group); ``open``, the number of groups that do not meet the
        conditions.
    known : list of GroupProgress
        Progress of each group after the last round.
    reached : bool
        True if all groups meet the conditions.
    """

    groups: list[list[str]] = field(default_factory=list)
    rounds: list[dict[str, Any]] = field(default_factory=list)
    known: list[GroupProgress] = field(default_factory=list)
    reached: bool = False


def check_request(until: str, design: str, model: str | Path | None, count: int | None, seed: int) -> Request:
    """Check a request.

    Raises
    ------
    InputError
        For an invalid request, with every problem found.

    Examples
    --------
    >>> check_request("p_best >= 0.95", "adaptiv", None, None, 0)
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: design 'adaptiv' is unknown; did you mean 'adaptive'?
    """
    problems: list[str] = []
    conditions: tuple[Condition, ...] = ()
    try:
        conditions = read_conditions(until)
    except InputError as error:
        problems += error.problems
    designs = get_args(Design)
    if design not in designs:
        hint = nearest_name(design, designs) or f"; there are {', '.join(designs)}"
        problems.append(f"design {design!r} is unknown{hint}")
    if count is not None and count < 1:
        problems.append(f"a round of {count} questions asks nothing; give at least 1")
    if problems:
        raise InputError(problems)
    return Request(conditions, design, model, count, seed)  # type: ignore[arg-type]


def choose_rounds(questions: pd.DataFrame, request: Request, course: Course, criteria: object = None) -> Rounds:
    """Choose questions round by round, until the conditions hold or everything was asked.

    Parameters
    ----------
    questions : dataframe
        All possible questions, a row each: judge, first, second, optionally criterion, context and cost (above 0).
    request : Request
        Settings of the run.
    course : Course
        Record of the run, filled in after each round.
    criteria : dataframe, optional
        Votes on the criteria, as in ``fit``.

    Yields
    ------
    int array
        Rows to ask in this round.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 40, "second": "y"})
    >>> work = choose_rounds(table, check_request("p_best >= 0.9", "adaptive", "bradley-terry", None, 0), Course())
    >>> asked = next(work)
    >>> try:
    ...     while True:
    ...         asked = work.send(["first"] * len(asked))
    ... except StopIteration as end:
    ...     end.value.known[0].best, end.value.reached, end.value.rounds[-1]["asked"] < 40
    ('x', True, True)
    """
    course.groups = linkable_groups(questions)
    order = design_order(questions, "random" if request.design == "random" else "cyclic", request.seed)
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    code = {item: number for number, items in enumerate(course.groups) for item in items}
    group = np.array([code[item] for item in questions["first"]], np.int64)
    remaining = np.ones(len(questions), bool)
    winner = np.full(len(questions), None, dtype=object)
    chosen, unmet_before = starting_questions(questions, order), np.ones(len(course.groups), bool)
    while len(chosen):
        remaining[chosen] = False
        winner[chosen] = yield chosen
        answered = np.array([name is not None for name in winner])
        if not answered.any():
            break
        votes = questions[answered].assign(winner=winner[answered])
        fitted = fit(votes, criteria, model=request.model, method="laplace", seed=request.seed)
        course.known = summarise_item_groups(fitted, course.groups)
        unmet = np.array(
            [not request.until or bool(unmet_conditions(request.until, progress)) for progress in course.known]
        )
        # conditions may hold by chance in a single round; after the last round nothing is left to ask
        open_, unmet_before = (unmet | unmet_before if remaining.any() else unmet).tolist(), unmet
        record = _round_record(questions, ~remaining, answered, course.known)
        best = course.known[0].best if len(course.known) == 1 else ""
        course.rounds.append({"round": len(course.rounds) + 1, **record, "open": sum(open_), "best": best})
        if not any(open_):
            course.reached = True
            break
        rows = np.flatnonzero(remaining & np.array(open_)[group])
        rows = rows[np.argsort(position[rows])]
        chosen = _next_round(fitted, questions, rows, request, int((~remaining).sum()))
    return course


def _next_round(current_fit: Fit, questions: pd.DataFrame, rows: Ints, request: Request, asked_count: int) -> Ints:
    """Choose the next round among the remaining rows, which are in the order of the design."""
    count = request.round_size(asked_count)
    if request.design != "adaptive" or not len(rows):
        return rows[:count]
    problem: Any = current_fit.problem
    candidates = questions.iloc[rows]
    levels = {"judge": problem.judges, "first": problem.items, "second": problem.items}
    is_known = np.all([candidates[name].isin(names) for name, names in levels.items()], axis=0)
    if not is_known.any():
        return rows[:count]
    asks_best = all(condition.quantity in ("p_best", "loss") for condition in request.until)
    fitted: Any = current_fit
    chosen = fitted.next_comparisons(
        count,
        who="judge",
        about="best" if asks_best and request.until else "ranking",
        among=candidates[is_known],
        seed=request.seed + asked_count,
    )
    return np.asarray(rows[is_known][chosen.attrs["rows"]])


def _round_record(
    questions: pd.DataFrame, is_asked: Any, answered: Any, groups: Sequence[GroupProgress]
) -> dict[str, Any]:
    """Record of a round: counts so far, and the worst value of each quantity over groups."""
    return {
        "asked": int(is_asked.sum()),
        "answered": int(answered.sum()),
        "cost": float(questions["cost"].to_numpy()[is_asked].sum() if "cost" in questions else is_asked.sum()),
        "p_best": min(group.p_best for group in groups),
        "loss": max(group.loss for group in groups),
        "width": max(group.width for group in groups),
        "accuracy": min(group.accuracy for group in groups),
    }


def group_summaries(course: Course) -> list[dict[str, Any]]:
    """List the final progress of each group, as dictionaries."""
    return [
        {"items": len(group), **asdict(progress)} for group, progress in zip(course.groups, course.known, strict=False)
    ]


_COLUMNS = ("judge", "first", "second", "winner")
#: Function that maps rows to their answers.
Oracle = Callable[[Ints], "list[str | None]"]


def drive_rounds(work: Rounds, oracle: Oracle) -> Course:
    """Run the loop with an oracle that answers at once.

    Parameters
    ----------
    work : generator
        Result of :func:`voirdire.adaptive.rounds.choose_rounds`.
    oracle : callable
        Maps rows to their answers: "first", "second", "tie" or None.
    """
    try:
        rows = next(work)
        while True:
            rows = work.send(oracle(rows))
    except StopIteration as end:
        course: Course = end.value
        return course


def replay_votes(
    votes: pd.DataFrame,
    *,
    until: str,
    design: str = "adaptive",
    model: str | Path | None = None,
    count: int | None = None,
    seed: int = 0,
) -> tuple[Course, pd.DataFrame]:
    """Ask a table of votes as if nobody had answered yet.

    Parameters
    ----------
    votes : dataframe
        Columns judge, first, second, winner ("first", "second", "tie" or an item); optionally criterion, context, cost.
    until, design, model, count, seed
        As in :func:`voirdire.adaptive.verb.collect_until`.

    Returns
    -------
    Course, dataframe
        Record of the run, and the votes that were asked for, in the order of asking.

    Raises
    ------
    InputError
        If a column is missing, there are no votes, or the request is not valid.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 60, "second": "y", "winner": "first"})
    >>> course, asked = replay_votes(table, until="p_best >= 0.95", model="bradley-terry")
    >>> course.known[0].best, len(asked) < 60
    ('x', True)
    """
    request = check_request(until, design, model, count, seed)
    if not hasattr(votes, "columns"):
        raise InputError("votes: it is no dataframe; pandas.read_csv reads a file as one")
    if missing := [name for name in _COLUMNS if name not in votes]:
        raise InputError(
            f"votes: column {', '.join(map(repr, missing))} is missing; there are {', '.join(map(str, votes))}"
        )
    if votes.empty:
        raise InputError("votes: there are no votes to ask for")
    votes = votes.reset_index(drop=True)
    course, answers = Course(), votes["winner"].to_numpy(dtype=object)
    asked_rows: list[Ints] = []

    def reveal_answers(rows: Ints) -> list[str | None]:
        asked_rows.append(rows)
        return [None if answer != answer else answer for answer in answers[rows]]

    drive_rounds(choose_rounds(votes.drop(columns="winner"), request, course), reveal_answers)
    return course, votes.iloc[np.concatenate(asked_rows)]
