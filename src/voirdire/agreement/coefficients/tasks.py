"""Tasks of `agreement`: measures and judges to compute, checked before resampling."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from voirdire.agreement.coefficients.majority import add_tie_level, majority_answer
from voirdire.agreement.coefficients.measures import (
    RANKING_MEASURES,
    WIN_RATES,
    Measure,
    find_measure,
    misfit_reason,
    statistic_of,
)
from voirdire.agreement.coefficients.preferences import DEGREE_WIN_RATE, HELD_WIN_RATE, Preferences, win_rate
from voirdire.agreement.coefficients.ratings import Ratings, unknown_names
from voirdire.agreement.coefficients.rows import Task
from voirdire.errors import gathered_problems, raise_problems
from voirdire.settings import read_list

# Largest numbers for which all pairs of judges, and measures of levels, are listed by default.
_MAX_PAIRED_JUDGES = 8
_MAX_LEVELS = 20

MAJORITY = "majority"
OTHERS_MAJORITY = "majority of the others"
#: Measures of a single judge.
SINGLE_JUDGE_MEASURES = (*WIN_RATES, DEGREE_WIN_RATE, HELD_WIN_RATE)


def plan_tasks(
    matched: Sequence[Ratings],
    measures: str | Iterable[str] | None,
    judges: Sequence[str] | None,
    against: str | None,
    pairs: bool | None,
    votes: Sequence[Ratings] | None = None,
    preferences: Sequence[Preferences] = (),
) -> tuple[list[list[Task]], list[str]]:
    """Plan the tasks of each criterion.

    Parameters
    ----------
    matched : sequence of Ratings
        Ratings, one per criterion and phase.
    measures, judges, against, pairs
        As in `voirdire.agreement.verb.agreement`.
    votes : sequence of Ratings, optional
        Ratings of each criterion for win rates; `matched` by default.
    preferences : sequence of Preferences, optional
        Preferences of each criterion for win rates by degrees or with covariates held fixed.

    Returns
    -------
    tasks : list of list of Task
        One list per criterion and phase.
    notes : list of str
        Notes on rows that are left out because they would be too many.

    Raises
    ------
    InputError
        For an invalid request, with every problem found.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> tasks, _ = plan_tasks([ratings_from_matrix([["a", "a", "b"]])], "agreement_rate", None, None, None)
    >>> [task.judges for task in tasks[0]]
    [('1', '2', '3'), ('1', '2'), ('1', '3'), ('2', '3')]
    """
    requested = None if measures is None else [measures] if isinstance(measures, str) else list(measures)
    chosen = _check_judges(
        matched[0], judges, against, alone=bool(requested) and set(requested or ()) <= {*SINGLE_JUDGE_MEASURES}
    )
    matched = [ratings.select_judges(chosen) for ratings in matched]
    if against == MAJORITY:
        matched = [add_tie_level(ratings) for ratings in matched]
    names = _check_measures(matched, requested, against)
    notes: list[str] = []
    if pairs is None and against is None and len(chosen) > _MAX_PAIRED_JUDGES:
        notes.append(f"pairs of the {len(chosen)} judges are not listed: name fewer judges, or ask for pairs")
    with_pairs = len(chosen) <= _MAX_PAIRED_JUDGES if pairs is None else pairs
    tasks_by_criterion = []
    for place, (ratings, voted) in enumerate(zip(matched, votes or matched, strict=True)):
        ranked = ratings.ranks is not None
        measure_list = [find_measure(name, ranked=ranked) for name in names if name not in SINGLE_JUDGE_MEASURES]
        if against is not None:
            tasks = _tasks_against(ratings, measure_list, against)
        else:
            tasks = [
                _task_of_measure(measure, ratings)
                for measure in measure_list
                if measure.compares == "panel" or (measure.compares == "both" and len(chosen) > 2)
            ]
            if with_pairs or len(chosen) == 2:
                tasks += [
                    _task_of_measure(measure, ratings.select_judges(pair))
                    for measure in measure_list
                    if measure.compares != "panel"
                    for pair in combinations(chosen, 2)
                ]
        for name in names:
            if name in WIN_RATES:
                tasks += _win_rates(name, voted.select_judges(chosen))
            elif name in SINGLE_JUDGE_MEASURES:
                tasks += preferences[place].win_rate_tasks(name, chosen)
        tasks_by_criterion.append(tasks)
    return tasks_by_criterion, notes


def _check_judges(
    ratings: Ratings, judges: Sequence[str] | None, against: str | None, *, alone: bool
) -> tuple[str, ...]:
    """Check and return the judges to compare: at least two, or one with ``alone``."""
    if judges is not None and not isinstance(judges, str):
        judges = [str(name) for name in read_list("judges", judges)]
    requested = [judges] if isinstance(judges, str) else judges
    chosen = ratings.judges if requested is None else tuple(dict.fromkeys(requested))
    against = None if against is None else str(against)
    problems = unknown_names("judge", chosen, ratings.judges)
    if against == MAJORITY:
        if ratings.ranks is not None:
            problems.append(
                "a majority of rankings is none; name a judge to compare with, or read them as votes (--table votes)"
            )
        if MAJORITY in ratings.judges:
            problems.append("against 'majority' may mean the majority or the judge of that name; rename the judge")
        if len(chosen) < 3:
            problems.append(f"a majority of the others needs 3 judges or more; there are {len(chosen)}")
    elif against is not None:
        problems += unknown_names("judge to compare with", [against], ratings.judges)
        chosen = tuple(dict.fromkeys([*chosen, against]))
    if not problems and len(chosen) < 2 and not alone:
        hint = "" if ratings.tie is None else f"; measures that one has are {', '.join(SINGLE_JUDGE_MEASURES)}"
        problems.append(f"agreement takes two judges; there is only {chosen[0]!r}{hint}")
    raise_problems(problems)
    return chosen


def _check_measures(matched: Sequence[Ratings], requested: list[str] | None, against: str | None) -> list[str]:
    """Check the measures' names against the answers, and return them."""
    if requested is None:
        suitable = _suitable_measures(matched)
        ranked = matched[0].ranks is not None
        return [
            name for name in suitable if against is None or not ranked or RANKING_MEASURES[name].compares != "panel"
        ]
    names = list(dict.fromkeys(requested))
    problems: list[str] = []
    for name in names:
        if name in SINGLE_JUDGE_MEASURES:
            if matched[0].tie is None:
                problems.append(f"{name} counts votes on pairs, and these are not votes")
            continue
        with gathered_problems(problems):
            measure = find_measure(name, ranked=matched[0].ranks is not None)
            if measure.compares == "panel" and against is not None:
                problems.append(f"{name} is about a whole panel; leave out against")
            problems += [*filter(None, (misfit_reason(measure, ratings) for ratings in matched))][:1]
    if not names:
        problems.append("measures is empty; name one, or leave it out for those that suit the table")
    raise_problems(problems)
    return names


def _suitable_measures(matched: Sequence[Ratings]) -> list[str]:
    """Measures that suit the kind of answers."""
    if matched[0].ranks is not None:
        return list(RANKING_MEASURES)
    if matched[0].members is not None:
        return ["agreement_rate", "krippendorff_alpha_masi", "krippendorff_alpha_jaccard"]
    numeric = all(ratings.values is not None for ratings in matched)
    few_levels = max(len(ratings.levels) for ratings in matched) <= _MAX_LEVELS
    ordered = all(ratings.ordered and ratings.tie is None for ratings in matched)
    names = ["agreement_rate", "cohen_kappa"] if few_levels else []
    if few_levels and not numeric:
        names += ["fleiss_kappa", "gwet_ac1", "krippendorff_alpha_nominal"]
    if few_levels and ordered:
        names += ["cohen_kappa_quadratic"]
    if ordered:
        names += ["krippendorff_alpha_ordinal"]
    if numeric:
        names += ["krippendorff_alpha_interval", "icc_2_1", "pearson", "spearman", "kendall_tau_b"]
    if matched[0].tie is not None and len(matched[0].items) == 2:
        names += ["win_rate"]
    return names


def _task_of_measure(measure: Measure, ratings: Ratings) -> Task:
    return Task(measure.name, ratings.judges, statistic_of(measure, ratings), ratings)


def _tasks_against(ratings: Ratings, measures: Sequence[Measure], against: str) -> list[Task]:
    tasks = []
    for measure in measures:
        for judge in ratings.judges:
            if against == MAJORITY:
                others = ratings.select_judges([name for name in ratings.judges if name != judge])
                tasks.append(
                    _task_of_measure(
                        measure, ratings.select_judges([judge]).with_column(OTHERS_MAJORITY, majority_answer(others))
                    )
                )
            elif judge != against:
                tasks.append(_task_of_measure(measure, ratings.select_judges([judge, against])))
    return tasks


def _win_rates(name: str, ratings: Ratings) -> list[Task]:
    """Win rates of each item by each judge."""
    last = len(ratings.levels) - 1
    tasks = []
    for judge in ratings.judges:
        answers = ratings.select_judges([judge])
        codes = answers.codes[:, 0]
        for item, first, second in ratings.item_sides():
            won = (first & (codes == 0)) | (second & (codes == last))
            lost = (first & (codes == last)) | (second & (codes == 0))
            tied = (first | second) & (codes > 0) & (codes < last)
            statistic = win_rate(won, lost, tied, WIN_RATES[name])
            tasks.append(Task(name, (judge,), statistic, answers, level=item))
    return tasks
