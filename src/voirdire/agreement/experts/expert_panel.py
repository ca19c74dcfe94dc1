"""Agreement of judges with a panel of experts who disagree among themselves.

Measures of Chen, Wen and Zulkernine (MASA, JMIR AI 2025; Tables 4, 7 and 8): agreement of a judge with the experts'
majority and with at least one expert, kinds of disagreement with all experts, and cross-validation (Table 8): the
agreement of a judge, and of a left-out expert, with the majority of the other experts.
"""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING, Unpack

import numpy as np

from voirdire.agreement.coefficients.majority import add_tie_level, majority_answer, share_agreeing
from voirdire.agreement.coefficients.match import Repeats, ratings_by_criterion
from voirdire.agreement.coefficients.ratings import Ratings, other_judges, unknown_names
from voirdire.agreement.coefficients.rows import Task, result_frame, result_rows
from voirdire.agreement.coefficients.tasks import OTHERS_MAJORITY
from voirdire.agreement.coefficients.two import agreement_rate
from voirdire.agreement.engine.combine import TwoWayStatistic, difference_statistic, mean_statistic
from voirdire.agreement.engine.resample import Replicates
from voirdire.agreement.engine.resampling import Resampling, Settings
from voirdire.agreement.engine.statistic import Statistic, mean_over_units
from voirdire.errors import InputError, raise_problems
from voirdire.tables.detect import read_table
from voirdire.tables.ratings import known_names

if TYPE_CHECKING:
    import pandas as pd


MAJORITY_OF_EXPERTS = "majority of the experts"
ANY_EXPERT = "any expert"

MISSES = ("miss_tie_against_split", "miss_tie_against_winner", "miss_contrary")


def expert_agreement(
    table: object,
    experts: Sequence[str],
    judges: Sequence[str] | None = None,
    *,
    levels: Sequence[object] | None = None,
    repeats: Repeats | None = None,
    **settings: Unpack[Settings],
) -> pd.DataFrame:
    """Compare judges with a panel of experts, and the experts with each other.

    Measures, per criterion:

    - ``agreement_with_majority``: same answer as more than half of the experts who answered (without such a
      majority, votes count as a tie; units of labels are left out).
    - ``agreement_with_any``: same answer as at least one expert.
    - ``miss_tie_against_split``, ``miss_tie_against_winner``, ``miss_contrary`` (votes): the shares of
      units on which the judge agrees with no expert, by kind: the judge says tie and the experts are
      evenly split between the two items; the judge says tie and the experts have a winner; the judge picks an
      item that no expert picked. With ``agreement_with_any`` the three shares add up to 1.
    - ``all_agree``, ``at_least_m_agree``: shares of units on which all experts, or at least m, agree, for each
      m above half of the experts.

    Parameters
    ----------
    table : path, dataframe, Votes or Labels
        Answers of experts and judges.
    experts : sequence of str
        Names of the experts, two or more.
    judges : sequence of str, optional
        The judges to compare with the experts; all others by default.
    levels, repeats, **settings
        As in `voirdire.agreement.verb.agreement`; items are resampled.

    Returns
    -------
    pandas.DataFrame
        Rows as in `voirdire.agreement.verb.agreement`.

    Raises
    ------
    InputError
        If an expert or judge is not in the table, or is both.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": ["e1", "e2", "gpt"] * 2, "first": "x", "second": "y",
    ...                       "context": [1, 1, 1, 2, 2, 2], "winner": ["x", "y", "tie", "x", "x", "x"]})
    >>> found = expert_agreement(table, ["e1", "e2"], resamples=100).set_index("measure")["value"]
    >>> found[["agreement_with_majority", "agreement_with_any", "miss_tie_against_split"]].tolist()
    [1.0, 0.5, 0.5]
    """
    resampling, tasks = Resampling.from_settings(settings), list[Task]()
    for ratings in ratings_by_criterion(read_table(table, levels=levels), repeats=repeats, levels=levels):
        others = expert_names(ratings, experts, judges)
        ratings = add_tie_level(ratings)
        panel, size = ratings.select_judges(experts), len(experts)
        tasks += [task for judge in others for task in _compare_with_experts(ratings.select_judges([judge]), panel)]
        tasks += [
            Task(
                "all_agree" if m == size else f"at_least_{m}_agree",
                tuple(experts),
                share_agreeing(panel, m),
                panel,
                undefined="undefined: no item was answered by all experts",
            )
            for m in range(size, max(size // 2, 1), -1)
        ]
    return result_frame(result_rows(tasks, resampling))


def expert_names(ratings: Ratings, experts: Sequence[str], judges: Sequence[str] | None) -> list[str]:
    """Check the names of experts and judges, and return the judges (all others by default).

    Raises
    ------
    InputError
        For names that are not in the table or are both expert and judge, and for fewer than two experts.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> expert_names(ratings_from_matrix([["a", "b", "c"]], judges=["e1", "e2", "gpt"]), ["e1", "e2"], None)
    ['gpt']
    """
    raise_problems(unknown_names("judge", experts, ratings.judges))
    if len(set(experts)) < max(2, len(experts)):
        example = experts[0] if len(experts) == 1 else "NAME"
        raise InputError(
            f"a panel of experts is two or more different judges of {known_names(ratings.judges)}, not "
            f"{', '.join(map(repr, experts))}; "
            f"against= (--against {quote(example)}) in its place compares each judge with one"
        )
    return other_judges(ratings.judges, experts, "an expert", judges)


def _compare_with_experts(judge: Ratings, panel: Ratings) -> list[Task]:
    name, answer = judge.judges[0], judge.codes[:, 0]
    answered = (answer >= 0) & panel.is_rated.any(axis=1)
    like_any = answered & (panel.codes == answer[:, None]).any(axis=1)
    with_majority = agreement_rate(judge.with_column(MAJORITY_OF_EXPERTS, majority_answer(panel)))
    rows = [
        ("agreement_with_majority", MAJORITY_OF_EXPERTS, with_majority),
        ("agreement_with_any", ANY_EXPERT, mean_over_units(answered, like_any)),
    ]
    if panel.tie is not None:
        tie, last = panel.levels.index(panel.tie), len(panel.levels) - 1
        missed = answered & ~like_any
        split = np.sum(panel.codes == 0, axis=1) == np.sum(panel.codes == last, axis=1)
        kinds = (missed & (answer == tie) & split, missed & (answer == tie) & ~split, missed & (answer != tie))
        rows += [
            (measure, ANY_EXPERT, mean_over_units(answered, kind)) for measure, kind in zip(MISSES, kinds, strict=True)
        ]
    reason = f"undefined: no item was answered by {name!r} and has an answer of the"
    return [
        Task(measure, (name, other), statistic, judge, undefined=f"{reason} {other!r}")
        for measure, other, statistic in rows
    ]


LEFT_OUT = "left-out experts"


def leave_one_expert_out(
    table: object,
    experts: Sequence[str],
    judges: Sequence[str] | None = None,
    *,
    levels: Sequence[object] | None = None,
    repeats: Repeats | None = None,
    **settings: Unpack[Settings],
) -> pd.DataFrame:
    """Compare each left-out expert and each judge with the majority of the other experts.

    Per criterion and left-out expert (``level`` "without NAME"), rows give the agreement rate of that expert and of
    each judge with the majority of the remaining experts. Level "mean" gives means over the left-out experts. Measure
    ``difference``, at level "mean", is each judge's mean minus the experts' mean on the same resamples; its note
    gives the share of resamples with a difference of at least 0.

    Parameters
    ----------
    table : path, dataframe, Votes or Labels
        Answers of experts and judges.
    experts : sequence of str
        Names of the experts, three or more.
    judges, levels, repeats, **settings
        As in `expert_agreement`.

    Returns
    -------
    pandas.DataFrame
        Rows as in `voirdire.agreement.verb.agreement`.

    Raises
    ------
    InputError
        If there are fewer than three experts, or a name is not in the table.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": ["e1", "e2", "e3", "gpt"] * 2, "item": [1] * 4 + [2] * 4,
    ...                       "label": ["a", "a", "a", "a", "b", "b", "b", "a"]})
    >>> found = leave_one_expert_out(table, ["e1", "e2", "e3"], resamples=100)
    >>> found[found.level == "mean"][["measure", "value"]].values.tolist()
    [['agreement_rate', 1.0], ['agreement_rate', 0.5], ['difference', -0.5]]
    """
    resampling = Resampling.from_settings(settings)
    if len(experts) < 3:
        raise InputError(f"leaving one expert out needs three or more; there are {len(experts)}")
    tasks: list[Task] = []
    for ratings in ratings_by_criterion(read_table(table, levels=levels), repeats=repeats, levels=levels):
        others = expert_names(ratings, experts, judges)
        ratings = add_tie_level(ratings)

        def add_task(measure: str, judge: str, other: str, level: str, statistic: Statistic | TwoWayStatistic) -> None:
            reason = f"undefined: no item was answered by {judge!r} and {other!r}"
            note = _probability_note if measure == "difference" else ""
            tasks.append(Task(measure, (judge, other), statistic, ratings, level, reason, note))  # noqa: B023

        rates: dict[str, list[Statistic]] = {name: [] for name in (LEFT_OUT, *others)}
        for expert in experts:
            codes = majority_answer(ratings.select_judges([other for other in experts if other != expert]))
            for judge in (expert, *others):
                rate = agreement_rate(ratings.select_judges([judge]).with_column(OTHERS_MAJORITY, codes))
                rates[LEFT_OUT if judge == expert else judge].append(rate)
                add_task("agreement_rate", judge, OTHERS_MAJORITY, f"without {expert}", rate)
        means = {name: mean_statistic(parts) for name, parts in rates.items()}
        for name, mean in means.items():
            add_task("agreement_rate", name, OTHERS_MAJORITY, "mean", mean)
        for judge in others:
            add_task("difference", judge, LEFT_OUT, "mean", difference_statistic(means[judge], means[LEFT_OUT]))
    return result_frame(result_rows(tasks, resampling))


def _probability_note(replicates: Replicates) -> str:
    return f"P(at least 0) = {replicates.share_at_least_zero:.3f}"
