"""Leave one expert out: does a judge agree with the majority of the others as well as an expert does?

The cross-validation of Chen, Wen and Zulkernine (MASA, JMIR AI 2025; Table 8).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from voirdire.agreement.coefficients.majority import majority, with_tie
from voirdire.agreement.coefficients.match import Repeats, match
from voirdire.agreement.coefficients.rows import Row, frame_of, row_of
from voirdire.agreement.coefficients.tasks import OTHERS
from voirdire.agreement.coefficients.two import agreement_rate
from voirdire.agreement.engine.combine import difference, mean_of
from voirdire.agreement.engine.intervals import Method
from voirdire.agreement.engine.resample import RESAMPLES, bootstrap, check_request
from voirdire.agreement.engine.statistic import Statistic
from voirdire.agreement.experts.experts import expert_names
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
    interval: Method = "percentile",
    resamples: int = RESAMPLES,
    prob: float = 0.95,
    seed: int = 0,
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
    judges, levels, repeats, interval, resamples, prob, seed
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
    check_request(resamples, "item", prob, interval)
    if len(experts) < 3:
        raise InputError(f"leaving one expert out needs three or more; there are {len(experts)}")
    rows: list[Row] = []
    for ratings in match(read_table(table, levels=levels), repeats=repeats, levels=levels):
        ratings, others = with_tie(ratings), expert_names(ratings, experts, judges)
        work: list[tuple[str, tuple[str, ...], str, Statistic]] = []
        rates: dict[str, list[Statistic]] = {name: [] for name in (LEFT_OUT, *others)}
        for expert in experts:
            codes = majority(ratings.select([one for one in experts if one != expert]))
            for judge in (expert, *others):
                rate = agreement_rate(ratings.select([judge]).with_column(OTHERS, codes))
                rates[LEFT_OUT if judge == expert else judge].append(rate)
                work.append(("agreement_rate", (judge, OTHERS), f"without {expert}", rate))
        means = {name: mean_of(parts) for name, parts in rates.items()}
        work += [("agreement_rate", (name, OTHERS), "mean", mean) for name, mean in means.items()]
        work += [
            ("difference", (judge, LEFT_OUT), "mean", difference(means[judge], means[LEFT_OUT]))
            for judge in others
        ]
        found = bootstrap(
            [one for *_, one in work], resamples=resamples, seed=seed, prob=prob, method=interval
        )
        for (measure, names, level, statistic), one in zip(work, found, strict=True):
            note = f"P(at least 0) = {one.share_at_least_zero:.3f}" if measure == "difference" else ""
            why = f"undefined: no item was answered by {names[0]!r} and {names[1]!r}"
            rows.append(
                row_of(measure, names, ratings, one, statistic, level=level, undefined=why, note=note)
            )
    return frame_of(rows)
