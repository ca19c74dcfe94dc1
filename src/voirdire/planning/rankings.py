"""Plan a collection of rankings by simulation: the number of rankings for a wanted width of intervals.

The number of rankings per judge is doubled step by step. Each is simulated and fitted with the default model of such a
table; the smallest number with narrow enough 90% intervals is recommended.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from voirdire.agreement.coefficients.pairwise import concordance_index
from voirdire.errors import InputError, raise_problems
from voirdire.fit.verb import fit
from voirdire.planning.simulated import Candidates
from voirdire.settings import AMOUNT, COUNT, POSITIVE, SIZE, Rule, find_faults, is_whole
from voirdire.simulate import simulate_rankings

MAX_RANKINGS = 64  # rankings per judge
_RULES = {
    **dict.fromkeys(("judges", "contexts", "most"), COUNT),
    "items": Rule("a whole number of at least 3", lambda v: is_whole(v) and v >= 3),
    "replicates": Rule("a whole number of at least 2", lambda v: is_whole(v) and v >= 2),
    "seed": SIZE,
    **dict.fromkeys(("width", "spread"), POSITIVE),
    **dict.fromkeys(("context_spread", "taste_spread", "price"), AMOUNT),
}


@dataclass(frozen=True, eq=False)
class RankingPlan(Candidates):
    """Result of :func:`plan_rankings`.

    Attributes
    ----------
    table : pandas.DataFrame
        One row per candidate, fewest rankings first: contexts, repeats (rankings by each judge in each context),
        rankings (total), price, width (of 90% intervals of items' scores in log-odds: the mean over items and
        replicates), mcse (its Monte Carlo error), concordance (share of pairs of items in the right order), reached.
    width : float
        The wanted width, in log-odds.
    best : dict or None
        The row with the fewest rankings that reaches the width; None if none does.
    """

    order: ClassVar[str] = "the fewest rankings"

    width: float

    def __str__(self) -> str:
        if self.best is None:
            last = self.table.iloc[-1]
            return (
                f"No candidate has intervals of {self.width:g} log-odds; with {int(last['rankings']):,} rankings they "
                f"are {last['width']:.2f} wide. More contexts and more judges help where more rankings by the same "
                "judges do not."
            )
        best = self.best
        return (
            f"{best['rankings']:,} rankings (price {best['price']:g}): {best['contexts']} context(s), "
            f"{best['repeats']} ranking(s) by each judge in each; 90% intervals are expected to be "
            f"{best['width']:.2f} +- {best['mcse']:.2f} log-odds wide, with {best['concordance']:.0%} of the pairs in "
            "the right order."
        )


def plan_rankings(
    judges: int,
    *,
    items: int,
    size: int | None = None,
    width: float = 1.0,
    contexts: int = MAX_RANKINGS,
    spread: float = 1.0,
    context_spread: float = 0.0,
    taste_spread: float = 0.0,
    price: float = 1.0,
    most: int = MAX_RANKINGS,
    replicates: int = 5,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> RankingPlan:
    """Find the number of rankings for a wanted width of the intervals of items' scores.

    Parameters
    ----------
    judges : int
        Number of judges, who differ by their tastes only.
    items, size : int
        Number of items in total, and in each ranking (by default all).
    width : float
        Wanted mean width of 90% intervals, in log-odds.
    contexts : int
        Largest number of contexts (such as prompts). A judge ranks once per context; only when all contexts are used,
        judges rank repeatedly in each.
    spread, context_spread, taste_spread : float
        Standard deviations of item strengths, of their variation between contexts, and between judges, in log-odds.
    price : float
        Price of a ranking.
    most : int
        Largest number of rankings by each judge.
    replicates : int
        Number of simulated panels per candidate, at least two.
    seed : int
        Seed of the simulations.
    progress : callable, optional
        Called with (candidates tried, number of candidates).

    Raises
    ------
    InputError
        For all numbers outside their range.

    Examples
    --------
    >>> found = plan_rankings(4, items=5, width=3.0, replicates=2)
    >>> bool(found.best["width"] <= 3.0)
    True
    """
    import pandas as pd

    numbers = {"width": width, "spread": spread, "context_spread": context_spread}
    numbers |= {"taste_spread": taste_spread, "price": price}
    counts = {"judges": judges, "contexts": contexts, "most": most}
    counts |= {"items": items, "replicates": replicates, "seed": seed}
    problems = [fault for _, fault in find_faults(counts | numbers, _RULES)]
    if size is not None and not (is_whole(size) and 2 <= size <= items):
        problems.append(f"size is {size!r}; a ranking has from two items to all {items}")
    if context_spread and contexts == 1:
        problems.append("context_spread is for several contexts; give contexts")
    raise_problems(problems)
    truth = {"kind": "normal", "sd": spread, "context_sd": context_spread, "taste_sd": taste_spread}
    candidates = _candidate_sizes(contexts, most, context_spread > 0)
    rows: list[tuple[Any, ...]] = []
    for number, (places, repeats) in enumerate(candidates):
        design = {"kind": "rankings", "size": size, "contexts": places, "repeats": repeats}
        total = judges * places * repeats
        try:
            measured = [
                _measure_panel(judges, items, design, truth, [seed, replicate]) for replicate in range(replicates)
            ]
        except InputError:
            if number + 1 == len(candidates) and not rows:
                raise
            continue  # too few rankings leave items unconnected
        finally:
            if progress is not None:
                progress(number + 1, len(candidates))
        widths, correct = np.array(measured).T
        error = float(widths.std(ddof=1) / np.sqrt(replicates))
        mean = float(widths.mean())
        reached = mean + error <= width
        rows.append((places, repeats, total, total * price, mean, error, float(correct.mean()), reached))
        if reached:
            break
    names = ["contexts", "repeats", "rankings", "price", "width", "mcse", "concordance", "reached"]
    table = pd.DataFrame(rows, columns=names)
    last = dict(zip(names, rows[-1], strict=True))
    return RankingPlan(table, last if last["reached"] else None, width)


def _candidate_sizes(contexts: int, max_rankings: int, contexts_differ: bool) -> list[tuple[int, int]]:
    """Numbers of contexts and of rankings in each by a judge: 1, 2, 4, ... in total; at least 2 if contexts differ."""
    sizes, count = [], 2 if contexts_differ else 1
    while count <= max_rankings:
        places = min(count, contexts)
        sizes.append((places, count // places))
        count *= 2
    return list(dict.fromkeys(sizes))


def _measure_panel(
    judges: int, items: int, design: dict[str, Any], truth: dict[str, Any], seed: list[int]
) -> tuple[float, float]:
    """Mean width of intervals, and share of pairs in the right order, in one simulated panel."""
    simulated = simulate_rankings(judges, items=items, design=design, truth=truth, seed=seed)
    ranking = fit(simulated.rankings, method="laplace", seed=seed[1]).tables["items"]
    place = np.argsort(ranking["item"].astype(str))  # names are in the order of the truth
    width = float((ranking["high"] - ranking["low"]).mean())
    return width, concordance_index(ranking["score"][place], simulated.truth.strengths[0])
