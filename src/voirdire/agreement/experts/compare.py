"""Which of two judges agrees better with a reference: paired differences on the same resamples, and a swap test."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from voirdire.agreement.coefficients.majority import majority, with_tie
from voirdire.agreement.coefficients.match import Orientation, Repeats, match
from voirdire.agreement.coefficients.measures import find_measure, fits, statistic_of
from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.engine.combine import TwoWayStatistic, difference
from voirdire.agreement.engine.intervals import Method
from voirdire.agreement.engine.multiplicity import adjust
from voirdire.agreement.engine.permutation import PERMUTATIONS, check_permutations, swap_test
from voirdire.agreement.engine.resample import RESAMPLES, bootstrap, check_request
from voirdire.agreement.engine.statistic import CountStatistic, Statistic
from voirdire.errors import InputError
from voirdire.tables.detect import read_table
from voirdire.tables.rated import known_names

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    *("measure", "a", "b", "criterion", "value_a", "value_b", "difference", "low", "high"),
    *("p_at_least", "p_value", "p_adjusted", "n", "note"),
)

REFERENCE = "majority of the reference"


def compare_judges(
    table: object,
    reference: str | Sequence[str],
    judges: Sequence[str] | None = None,
    *,
    measure: str = "agreement_rate",
    levels: Sequence[object] | None = None,
    repeats: Repeats | None = None,
    orientation: Orientation | None = None,
    unit: Literal["item", "context"] = "item",
    interval: Method = "percentile",
    resamples: int = RESAMPLES,
    permutations: int = PERMUTATIONS,
    adjustment: Literal["holm", "bh"] = "holm",
    prob: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare judges two by two by how well each agrees with a reference.

    Only units that both judges and the reference answered are used, so that the comparison is paired.

    Parameters
    ----------
    table : path, dataframe, Votes, Scores or Labels
        Answers of judges and reference.
    reference : str or sequence of str
        A judge, or several whose majority is the reference.
    judges : sequence of str, optional
        The judges to compare; all others by default.
    measure : str
        A measure of two judges by name.
    adjustment : {"holm", "bh"}
        How p-values are adjusted, over all pairs and criteria of the call.
    permutations : int
        Rearrangements of the swap test; it needs a measure of counts, so rank correlations have no p-value.
    levels, repeats, orientation, unit, interval, resamples, prob, seed
        As in `voirdire.agreement.verb.agreement`.

    Returns
    -------
    pandas.DataFrame
        One row per pair and criterion: measure, a, b, criterion, value_a, value_b, difference (a - b), low,
        high, p_at_least (share of resamples on which a is at least as good as b), p_value (swap test),
        p_adjusted, n, note.

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

    check_request(resamples, unit, prob, interval)
    check_permutations(permutations)
    made = find_measure(measure)
    if made.of == "panel":
        raise InputError(f"{measure} is about a whole panel; give a measure of two judges")
    rows: list[dict[str, Any]] = []
    for ratings in match(
        read_table(table, levels=levels), repeats=repeats, levels=levels, orientation=orientation
    ):
        ratings, chosen, others = _with_reference(ratings, reference, judges)
        problem = fits(made, ratings)
        if problem:
            raise InputError(problem)
        if unit == "context" and ratings.contexts is None:
            raise InputError(
                "unit 'context' needs a context for every item; the table has no column 'context'"
            )
        for a, b in combinations(others, 2):
            both = _keep(ratings, [a, b, chosen])
            one, two = (_fixed(statistic_of(made, both.select([judge, chosen]))) for judge in (a, b))
            groups = both.contexts if unit == "context" else None
            found = bootstrap(
                [one, two, difference(one, two)],
                unit=unit,
                groups=groups,
                resamples=resamples,
                seed=seed,
                prob=prob,
                method=interval,
            )
            p = float("nan")
            if isinstance(one, CountStatistic) and isinstance(two, CountStatistic) and len(both.codes):
                p = swap_test(one, two, permutations=permutations, seed=seed, groups=groups)
            low, high = found[2].interval.low, found[2].interval.high
            note = found[2].interval.note
            if np.isnan(found[2].estimate):
                note = f"undefined: too few answers of {a!r}, {b!r} and {chosen!r} to the same items, or all alike"
            rows.append(
                {
                    "measure": measure,
                    "a": a,
                    "b": b,
                    "criterion": ratings.criterion,
                    "value_a": found[0].estimate,
                    "value_b": found[1].estimate,
                    "difference": found[2].estimate,
                    "low": float("nan") if low is None else low,
                    "high": float("nan") if high is None else high,
                    "p_at_least": found[2].share_at_least_zero,
                    "p_value": p,
                    "n": len(both.codes),
                    "note": note,
                }
            )
    for row, p in zip(rows, adjust([row["p_value"] for row in rows], adjustment), strict=True):
        row["p_adjusted"] = float(p)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _with_reference(
    ratings: Ratings, reference: str | Sequence[str], judges: Sequence[str] | None
) -> tuple[Ratings, str, list[str]]:
    """Ratings with the reference as one column, its name, and the judges to compare."""
    experts = [reference] if isinstance(reference, str) else list(reference)
    others = [one for one in ratings.judges if one not in experts] if judges is None else list(judges)
    problems = [
        f"judge {one!r} is not in the table; its judges are {known_names(ratings.judges)}"
        for one in dict.fromkeys([*experts, *others])
        if one not in ratings.judges
    ]
    problems += [
        f"{one!r} is the reference and cannot be compared with it" for one in others if one in experts
    ]
    if len(set(others)) < 2:
        problems.append(f"comparing takes two judges besides the reference; there are {len(set(others))}")
    if not experts:
        problems.append("reference is empty; name a judge, or several whose majority is the reference")
    if problems:
        raise InputError(problems)
    if len(experts) == 1:
        return ratings, experts[0], others
    ratings = with_tie(ratings)
    return ratings.with_column(REFERENCE, majority(ratings.select(experts))), REFERENCE, others


def _keep(ratings: Ratings, judges: Sequence[str]) -> Ratings:
    """The units that all these judges answered."""
    chosen = ratings.select(judges)
    return chosen.keep(chosen.complete)


def _fixed(statistic: Statistic | TwoWayStatistic) -> Statistic:
    return statistic.fixed() if isinstance(statistic, TwoWayStatistic) else statistic
