"""Checks of judges of scores: order in accordance with people, and answers nearly at random.

Concordance of the judges, taken together, with people in the order of items.

Two anchored items with different human scores (under one criterion) form a pair. The judges' mean scores order a pair
as people do, or the other way, or are equal, which counts half. The share of pairs in people's order is the concordance
index, (tau + 1) / 2 with Kendall's tau without pairs that people tie (Kendall 1938, Biometrika 30). Its interval comes
from a bootstrap of items, because pairs with a common item are dependent. With few items a bootstrap varies too little,
so a permutation test also gives the probability of the share by chance, with human scores assigned to items at random.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from voirdire.infer.posterior import Posterior
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.kinds.scores.residuals import residuals_by_scale
from voirdire.model.problem import Check, list_names
from voirdire.trust.families import posterior_with_equal_items
from voirdire.trust.noise import MIN_JUDGES, MIN_NOISE_ODDS, SharedVariance, noise_odds, shared_variance
from voirdire.trust.residuals import SharedErrors
from voirdire.typing import Floats

RESAMPLES = 1000
TAIL_PROBABILITY = 0.05  # on either side of the interval, and in the permutation test
MAX_ITEMS = 300  # anchored items used; of more items a random sample of this size
MIN_MORE_ITEMS = 20  # smallest number of further items that people are asked to score
ENOUGH_ITEMS = 40  # anchored items from which the number of further items needed can be estimated
_MAX_NAMES = 3


def human_concordance_check(problem: ScoresProblem, seed: int) -> list[Check]:
    """Check the order of the judges' mean scores against human scores; an empty list without human scores.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> scores = pd.DataFrame([(j, f"x{n}", n) for j in "abc" for n in range(1, 6)], columns=["judge", "item", "score"])
    >>> people = pd.DataFrame({"item": ["x1", "x3", "x4", "x5"], "score": [1, 2, 4, 5]})
    >>> fit = voirdire.fit(scores, anchors=people, method="map", families={})
    >>> human_concordance_check(fit.problem, 0)[0].message[:62]
    "The judges' mean scores put 100% of 6 pairs of anchored items "
    """
    if problem.anchors is None:
        return []
    table = problem.anchors.table
    size = (len(problem.criteria), len(problem.items))
    human, has_score = _cell_means(table.criterion, table.item, table.score, size)
    panel = _panel_means(problem)
    rng = np.random.default_rng(seed)
    items = np.flatnonzero(has_score.any(axis=0))
    items = np.sort(rng.choice(items, MAX_ITEMS, replace=False)) if len(items) > MAX_ITEMS else items
    human, panel, has_score = human[:, items], panel[:, items], has_score[:, items]
    panel_order = _pair_order(panel)  # criteria, items, items
    people_order = _pair_order(human) * (has_score[:, :, None] & has_score[:, None, :])
    pairs = int((people_order != 0).sum() // 2)
    if not pairs:
        message = (
            "No two anchored items have different human scores (under one criterion): they cannot show whom to trust. "
            "Let people score more items."
        )
        return [Check("anchors", "warn", None, message)]
    share = _concordant_share((panel_order * people_order).sum(), (people_order != 0).sum())
    low, high = _bootstrap_interval(panel_order, people_order, rng)
    above, below = _chance_concordance(panel_order, human, has_score, share, rng)
    summary = (
        f"The judges' mean scores put {share:.0%} of {pairs} pairs of anchored items in people's order (90% interval "
        f"{low:.0%} to {high:.0%})"
    )
    if low > 0.5 and above <= TAIL_PROBABILITY:
        return [Check("anchors", "ok", share, f"{summary}.")]
    if high < 0.5 and below <= TAIL_PROBABILITY:
        message = f"{summary}: worse than chance. Trust what rests on the anchors, not the consensus."
        return [Check("anchors", "fail", share, message)]
    remedy = _remedy_text(problem, share, high - low, len(items))
    message = f"{summary}, which is not distinguishable from chance. {remedy}"
    return [Check("anchors", "warn", share, message)]


def _panel_means(problem: ScoresProblem) -> Floats:
    """Mean over judges of each judge's mean score, shape (criteria, items); NaN without scores."""
    table = problem.table
    size = (len(problem.judges) * len(problem.criteria), len(problem.items))
    means, scored = _cell_means(table.judge * len(problem.criteria) + table.criterion, table.item, table.score, size)
    shape = (len(problem.judges), len(problem.criteria), len(problem.items))
    means, scored = means.reshape(shape), scored.reshape(shape)
    count = scored.sum(axis=0)
    total = np.where(scored, means, 0.0).sum(axis=0)
    mean = np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)
    return np.asarray(mean, dtype=np.float64)


def _cell_means(
    row: npt.NDArray[np.int64], item: npt.NDArray[np.int64], score: Floats, size: tuple[int, int]
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    cell = row * size[1] + item
    count = np.bincount(cell, minlength=size[0] * size[1]).reshape(size)
    total = np.bincount(cell, score, size[0] * size[1]).reshape(size)
    return total / np.maximum(count, 1), count > 0


def _pair_order(score: Floats) -> Floats:
    """Order of item pairs, shape (criteria, items, items): +1 first above second, -1 below, 0 equal or unknown."""
    gap = score[:, :, None] - score[:, None, :]
    return np.asarray(np.where(np.abs(gap) > 1e-9, np.sign(gap), 0.0))


def _concordant_share(agreed: float, pairs: float) -> float:
    return float(0.5 + 0.5 * agreed / pairs)


def _bootstrap_interval(panel_order: Floats, people_order: Floats, rng: np.random.Generator) -> tuple[float, float]:
    count = panel_order.shape[1]
    agreed, decided = (panel_order * people_order).sum(axis=0), np.abs(people_order).sum(axis=0)
    weight = rng.multinomial(count, np.full(count, 1.0 / count), RESAMPLES).astype(float)
    agreed_total, decided_total = (((weight @ matrix) * weight).sum(axis=1) for matrix in (agreed, decided))
    shares = 0.5 + 0.5 * agreed_total[decided_total > 0] / decided_total[decided_total > 0]
    low, high = np.quantile(shares, [TAIL_PROBABILITY, 1.0 - TAIL_PROBABILITY])
    return float(low), float(high)


def _chance_concordance(
    panel_pair_order: Floats, human: Floats, has_score: npt.NDArray[np.bool_], share: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Probabilities that human scores permuted over items give at least, and at most, the share ``share``."""
    above, below = 1, 1
    known_items = [np.flatnonzero(row) for row in has_score]
    panel_orders = [order[np.ix_(items, items)] for order, items in zip(panel_pair_order, known_items, strict=True)]
    people_orders = [_pair_order(row[None, items])[0] for row, items in zip(human, known_items, strict=True)]
    pairs = sum(float(np.abs(order).sum()) for order in people_orders)
    for _ in range(RESAMPLES):
        agreed = 0.0
        for panel_order, order in zip(panel_orders, people_orders, strict=True):
            permutation = rng.permutation(len(order))
            agreed += float((panel_order * order[np.ix_(permutation, permutation)]).sum())
        permuted_share = _concordant_share(agreed, pairs)
        above, below = above + (permuted_share >= share - 1e-9), below + (permuted_share <= share + 1e-9)
    return above / (RESAMPLES + 1), below / (RESAMPLES + 1)


def _remedy_text(problem: ScoresProblem, share: float, width: float, items: int) -> str:
    """Advice to score the number of items that distinguishes the share from chance, or not to rely on the judges."""
    distance = abs(share - 0.5)
    more_items = items * ((0.5 * width / distance) ** 2 - 1.0) if distance > 0.0 else math.inf
    if items >= ENOUGH_ITEMS and more_items > items:
        return "More items would hardly tell: rest on people's scores, or ask other judges."
    count = MIN_MORE_ITEMS if items < ENOUGH_ITEMS else max(MIN_MORE_ITEMS, -(-int(more_items) // 10) * 10)
    return f"Let people score about {count} more items{_items_to_ask(problem)}."


def _items_to_ask(problem: ScoresProblem) -> str:
    """Clause that names the items without a human score on which judges differ most."""
    table = problem.table
    unit = table.criterion * len(problem.items) + table.item
    size = len(problem.criteria) * len(problem.items)
    count = np.maximum(np.bincount(unit, minlength=size), 1)
    mean = np.bincount(unit, table.score, size) / count
    spread = np.bincount(unit, (table.score - mean[unit]) ** 2, size) / count
    spreads = spread.reshape(len(problem.criteria), -1).mean(axis=0)
    assert problem.anchors is not None
    spreads[np.unique(problem.anchors.table.item)] = -1.0
    order = [item for item in np.argsort(-spreads, kind="stable")[:_MAX_NAMES] if spreads[item] >= 0.0]
    if not order:
        return ""
    return f", such as those on which judges differ: {list_names([problem.items[i] for i in order], verb=False)}"


MIN_STANDARD_ERRORS = 2.0  # smallest distance of the shared variance from zero, in standard errors


class Randomness(NamedTuple):
    """Evidence on judges who score at random.

    Attributes
    ----------
    shared : SharedVariance or None
        Share of the variance of single scores that judges have in common; None if no two judges score the same item.
    odds : array, shape (judges,), or None
        Odds that each judge scores at random; 0 for judges that are not examined. None if the scores do not tell.
    """

    shared: SharedVariance | None
    odds: Floats | None

    @property
    def is_identified(self) -> bool:
        """True if the scores distinguish items."""
        return self.shared is not None and self.shared.share >= MIN_STANDARD_ERRORS * self.shared.error


def estimate_randomness(problem: ScoresProblem, posterior: Posterior) -> Randomness | None:
    """Estimate the randomness of scores; None if the model learns the noise of every judge."""
    residuals = residuals_by_scale(problem, posterior_with_equal_items(problem, posterior.centre))
    if isinstance(residuals, SharedErrors):
        return None
    randomness = Randomness(shared_variance(residuals), None)
    if len(residuals.judges) < MIN_JUDGES or not (randomness.shared is None or randomness.is_identified):
        return randomness
    odds = np.zeros(len(problem.judges))
    odds[residuals.judges] = noise_odds(residuals)
    return randomness._replace(odds=odds)


def informative_judge_probability(problem: ScoresProblem, x: Floats) -> Floats | None:
    """Probability that each judge's scores are informative, 1 for judges not named as noise; None if none is named.

    Prior odds are even. None for models that learn the reliability of judges.

    Parameters
    ----------
    x : array, shape (size,)
        A point of the posterior.

    Returns
    -------
    array, shape (judges,), or None
    """
    if problem.model.reliability.kind != "alike-raters" or problem.model.pool != "none":
        return None
    randomness = estimate_randomness(problem, Posterior(problem.density, x, None))
    if randomness is None or randomness.odds is None or (randomness.odds <= MIN_NOISE_ODDS).all():
        return None
    return np.where(randomness.odds > MIN_NOISE_ODDS, 1.0 / (1.0 + randomness.odds), 1.0)
