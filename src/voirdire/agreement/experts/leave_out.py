"""Leave one expert out: does a judge agree with the majority of the others as well as an expert does?

The cross-validation of Chen, Wen and Zulkernine (MASA, JMIR AI 2025; Table 8).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from voirdire.agreement.coefficients.majority import majority_answer, with_tie
from voirdire.agreement.coefficients.match import Repeats, match_answers
from voirdire.agreement.coefficients.rows import Row, Task, result_frame, result_rows
from voirdire.agreement.coefficients.tasks import OTHERS
from voirdire.agreement.coefficients.two import agreement_rate
from voirdire.agreement.engine.combine import difference, mean_statistic
from voirdire.agreement.engine.resample import Replicates
from voirdire.agreement.engine.resampling import Resampling, Settings
from voirdire.agreement.engine.statistic import Statistic
from voirdire.agreement.experts.expert_panel import expert_names
from voirdire.errors import InputError
from voirdire.tables.detect import read_table

if TYPE_CHECKING:
    import pandas as pd

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
    """Agreement with the majority of the other experts: of each left-out expert, and of each judge.

    Per criterion and left-out expert (``level`` "without NAME") the agreement rate of that expert and of
    each judge with the majority of the remaining ones; at level "mean" their means over the left-out
    experts; and as measure ``difference``, at level "mean", each judge's mean minus the experts', on the
    same resamples, with the share of resamples on which it is at least 0 in the note.

    Parameters
    ----------
    table : path, dataframe, Votes or Labels
        Answers of experts and judges.
    experts : sequence of str
        The judges who are experts, three or more.
    judges, levels, repeats, **settings
        As in `expert_agreement`.

    Returns
    -------
    pandas.DataFrame
        Rows as of `voirdire.agreement.verb.agreement`.

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
    how = Resampling.of(settings)
    if len(experts) < 3:
        raise InputError(f"leaving one expert out needs three or more; there are {len(experts)}")
    rows: list[Row] = []
    for ratings in match_answers(read_table(table, levels=levels), repeats=repeats, levels=levels):
        others = expert_names(ratings, experts, judges)
        ratings = with_tie(ratings)
        tasks: list[Task] = []

        def add_task(measure: str, judge: str, other: str, level: str, statistic: Statistic) -> None:
            why = f"undefined: no item was answered by {judge!r} and {other!r}"
            note = _at_least_note if measure == "difference" else ""
            tasks.append(Task(measure, (judge, other), statistic, ratings, level, why, note))  # noqa: B023

        rates: dict[str, list[Statistic]] = {name: [] for name in (LEFT_OUT, *others)}
        for expert in experts:
            codes = majority_answer(ratings.select([one for one in experts if one != expert]))
            for judge in (expert, *others):
                rate = agreement_rate(ratings.select([judge]).with_column(OTHERS, codes))
                rates[LEFT_OUT if judge == expert else judge].append(rate)
                add_task("agreement_rate", judge, OTHERS, f"without {expert}", rate)
        means = {name: mean_statistic(parts) for name, parts in rates.items()}
        for name, mean in means.items():
            add_task("agreement_rate", name, OTHERS, "mean", mean)
        for judge in others:
            add_task("difference", judge, LEFT_OUT, "mean", difference(means[judge], means[LEFT_OUT]))
        rows += result_rows(tasks, how)
    return result_frame(rows)


def _at_least_note(found: Replicates) -> str:
    return f"P(at least 0) = {found.share_at_least_zero:.3f}"
