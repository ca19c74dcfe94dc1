"""Comparison of two judges with a reference: paired differences on the same resamples, and a swap test."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, Unpack

from voirdire.agreement.coefficients.majority import add_reference_column
from voirdire.agreement.coefficients.match import Orientation, Repeats, ratings_by_criterion
from voirdire.agreement.coefficients.measures import find_measure, misfit_reason, statistic_of
from voirdire.agreement.coefficients.ratings import other_judges
from voirdire.agreement.engine.combine import with_fixed_judges
from voirdire.agreement.engine.permutation import (
    PERMUTATIONS,
    Adjustment,
    adjust,
    check_permutations,
    paired_comparison,
    swap_test,
)
from voirdire.agreement.engine.resampling import Resampling, Settings
from voirdire.agreement.engine.statistic import CountStatistic
from voirdire.errors import InputError
from voirdire.tables.detect import read_table

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    *("measure", "a", "b", "criterion", "value_a", "value_b", "difference", "low", "high"),
    *("p_at_least", "p_ahead", "p_value", "p_adjusted", "n", "note"),
)

REFERENCE = "majority of the reference"
_NO_TEST = "no p-value: a measure of ranks has no swap test here; metaeval compares scores by one (--compare)"


def compare_judges(
    table: object,
    reference: str | Sequence[str],
    judges: Sequence[str] | None = None,
    *,
    measure: str = "agreement_rate",
    levels: Sequence[object] | None = None,
    repeats: Repeats | None = None,
    orientation: Orientation | None = None,
    permutations: int = PERMUTATIONS,
    adjustment: Adjustment = "holm",
    **settings: Unpack[Settings],
) -> pd.DataFrame:
    """Compare judges two by two by their agreement with a reference.

    Only units that both judges and the reference answered are used, so that the comparison is paired.

    Parameters
    ----------
    table : path, dataframe, Votes, Scores or Labels
        Answers of judges and reference.
    reference : str or sequence of str
        A judge, or several judges; their majority is then the reference.
    judges : sequence of str, optional
        The judges to compare; all others by default.
    measure : str
        Name of a measure of two judges.
    adjustment : {"holm", "bh"}
        Adjustment of p-values, over all pairs and criteria of the call.
    permutations : int
        Number of rearrangements of the swap test, which needs a measure of counts; rank correlations have no p-value.
    levels, repeats, orientation, **settings
        As in `voirdire.agreement.verb.agreement`; unit "item" or "context".

    Returns
    -------
    pandas.DataFrame
        One row per pair and criterion: measure, a, b, criterion, value_a, value_b, difference (a - b), low,
        high, p_at_least and p_ahead (shares of resamples with a at least as good as b, and better), p_value (swap
        test), p_adjusted, n, note.

    Raises
    ------
    InputError
        If a name is not in the table, or the measure does not suit the answers.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": ["human"] * 6 + ["a"] * 6 + ["b"] * 6, "item": list(range(6)) * 3,
    ...                       "label": list("xxxyyy") + list("xxxyyy") + list("xyxyxy")})
    >>> found = compare_judges(table, "human", resamples=200, permutations=99)
    >>> found[["a", "b", "difference"]].round(6).values.tolist()
    [['a', 'b', 0.333333]]
    """
    import pandas as pd

    resampling = Resampling.from_settings(settings, ("item", "context"))
    check_permutations(permutations)
    chosen_measure = find_measure(measure)
    if chosen_measure.compares == "panel":
        raise InputError(f"{measure} is about a whole panel; give a measure of two judges")
    rows: list[dict[str, Any]] = []
    for ratings in ratings_by_criterion(
        read_table(table, levels=levels), repeats=repeats, levels=levels, orientation=orientation
    ):
        ratings, column, experts = add_reference_column(ratings, reference, REFERENCE)
        others = other_judges(ratings.judges, [*experts, column], "the reference", judges, least=2)
        if problem := misfit_reason(chosen_measure, ratings):
            raise InputError(problem)
        for a, b in combinations(others, 2):
            answered = ratings.select_judges([a, b, column])
            answered = answered.keep_units(answered.is_fully_rated)
            statistic_a, statistic_b = (
                with_fixed_judges(statistic_of(chosen_measure, answered.select_judges([judge, column])))
                for judge in (a, b)
            )
            groups = answered.contexts if resampling.unit == "context" else None
            reason = f"too few answers of {a!r}, {b!r} and {column!r} to the same items, or all alike"
            row: dict[str, Any] = {"measure": measure, "a": a, "b": b, "criterion": ratings.criterion}
            row |= paired_comparison(measure, statistic_a, statistic_b, resampling, reason, groups)
            row |= {"p_value": float("nan"), "n": len(answered.codes)}
            if (
                isinstance(statistic_a, CountStatistic)
                and isinstance(statistic_b, CountStatistic)
                and len(answered.codes)
            ):
                row["p_value"] = swap_test(
                    statistic_a, statistic_b, permutations=permutations, seed=resampling.seed, groups=groups
                )
            elif len(answered.codes):
                row["note"] = "; ".join(filter(None, [str(row["note"]), _NO_TEST]))
            rows.append(row)
    for row, p in zip(rows, adjust([row["p_value"] for row in rows], adjustment), strict=True):
        row["p_adjusted"] = float(p)
    return pd.DataFrame(rows, columns=list(COLUMNS))
