"""The loop: ask a round, fit, see what is known, choose the next round; whoever drives it does the asking.

It asks nothing itself. A generator yields the rows of the table of questions that are to be asked, and is sent their
answers; what it does next depends on the questions, the request and the answers alone. So a run that was stopped is
resumed by running it again on answers that are kept, and a table of real votes can be revealed to it question by
question.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from voirdire.adaptive.design import Design, design_order, linkable_groups, starting_questions
from voirdire.adaptive.progress import (
    Condition,
    GroupProgress,
    read_conditions,
    summarise_groups,
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
ROUND_SHARE = 0.125  # of the questions asked so far, which a round adds
#: What sends the generator its answers: "first", "second", "tie", or None where none came.
Rounds = Generator[Ints, Sequence[str | None], "Course"]


@dataclass(frozen=True)
class Request:
    """Settings of a run in rounds.

    Attributes
    ----------
    until : tuple of Condition
        Enough is known once all held for every group of items after two rounds in a row; none: everything is asked.
    design : "adaptive", "cyclic" or "random"
        How questions are chosen after the start.
    model : str, path or None
        Of the fits; by default what the table calls for.
    count : int or None
        Questions of a round; by default an eighth of those asked so far, and at least 8.
    seed : int
    """

    until: tuple[Condition, ...] = ()
    design: Design = "adaptive"
    model: str | Path | None = None
    count: int | None = None
    seed: int = 0

    def round_size(self, asked: int) -> int:
        """Questions of the next round."""
        return self.count if self.count is not None else max(MIN_ROUND_SIZE, round(ROUND_SHARE * asked))


@dataclass
class Course:
    """Record of a run.

    Attributes
    ----------
    groups : list of list of str
        Items that can be compared.
    rounds : list of dict
        After each round: ``round``, ``asked``, ``answered``, ``cost`` of all so far; of each group of which least is
        known ``p_best``, ``loss``, ``width``, ``accuracy``; ``open``, groups of which not enough is known.
    known : list of Known
        Of each group, in the end.
    reached : bool
        Whether enough is known of all.
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
        All that is wrong with it.

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


def choose_rounds(
    questions: pd.DataFrame, request: Request, course: Course, criteria: object = None
) -> Rounds:
    """Choose what to ask, round by round, until enough is known or everything was asked.

    Parameters
    ----------
    questions : dataframe
        All that may be asked, a row each: judge, first, second, perhaps criterion and context, and cost (above 0).
    request : Request
    course : Course
        Filled in as the run goes.
    criteria : dataframe, optional
        Votes on the criteria, as ``fit`` takes them.

    Yields
    ------
    int array
        Rows to ask now.

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
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
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
        course.known = summarise_groups(fitted, course.groups)
        unmet = np.array(
            [
                not request.until or bool(unmet_conditions(request.until, progress))
                for progress in course.known
            ]
        )
        # one round in which it holds may be luck; in the last there is nothing left to ask
        open_, unmet_before = (unmet | unmet_before if remaining.any() else unmet).tolist(), unmet
        record = _round_record(questions, ~remaining, answered, course.known)
        best = course.known[0].best if len(course.known) == 1 else ""
        course.rounds.append({"round": len(course.rounds) + 1, **record, "open": sum(open_), "best": best})
        if not any(open_):
            course.reached = True
            break
        rows = np.flatnonzero(remaining & np.array(open_)[group])
        rows = rows[np.argsort(place[rows])]
        chosen = _next_round(fitted, questions, rows, request, int((~remaining).sum()))
    return course


def _next_round(found: Fit, questions: pd.DataFrame, rows: Ints, request: Request, asked: int) -> Ints:
    """The next round among what is left, which is in the order of the design."""
    count = request.round_size(asked)
    if request.design != "adaptive" or not len(rows):
        return rows[:count]
    problem: Any = found.problem
    candidates = questions.iloc[rows]
    levels = {"judge": problem.judges, "first": problem.items, "second": problem.items}
    is_known = np.all([candidates[name].isin(names) for name, names in levels.items()], axis=0)
    if not is_known.any():
        return rows[:count]
    asks_best = all(condition.quantity in ("p_best", "loss") for condition in request.until)
    fitted: Any = found
    chosen = fitted.next_comparisons(
        count,
        who="judge",
        about="best" if asks_best and request.until else "ranking",
        among=candidates[is_known],
        seed=request.seed + asked,
    )
    return np.asarray(rows[is_known][chosen.attrs["rows"]])


def _round_record(
    questions: pd.DataFrame, asked: Any, answered: Any, groups: Sequence[GroupProgress]
) -> dict[str, Any]:
    """Record of a round: counts so far, and the least that is known of a group."""
    return {
        "asked": int(asked.sum()),
        "answered": int(answered.sum()),
        "cost": float(questions["cost"].to_numpy()[asked].sum() if "cost" in questions else asked.sum()),
        "p_best": min(group.p_best for group in groups),
        "loss": max(group.loss for group in groups),
        "width": max(group.width for group in groups),
        "accuracy": min(group.accuracy for group in groups),
    }


def group_summaries(course: Course) -> list[dict[str, Any]]:
    """List what is known of each group in the end, as plain tables."""
    return [
        {"items": len(group), **asdict(progress)}
        for group, progress in zip(course.groups, course.known, strict=False)
    ]
