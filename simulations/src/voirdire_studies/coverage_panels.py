"""Panels of coverage studies: votes whose truth is given, or drawn from a model's prior where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from voirdire.kinds.votes.density import VotesDensity
from voirdire.model.prior_draws import draw_from_prior
from voirdire.model.specs import Model
from voirdire.model.terms.arrays import logistic_sigmoid

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def simulate_panel(model: Model, panel: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """A table of votes, one of votes on criteria or None, and what is true of items and judges.

    Parameters
    ----------
    panel : dict
        ``judges``, ``items``, ``votes``; all else is drawn from the model's prior where it is not given: ``sd`` of the
        strengths, ``right`` (both coins of every judge), ``coin_mean`` and ``coin_sd`` (of their log-odds), ``first``
        (those of the first judge), ``first_share`` (share of the votes that it has), ``contexts`` (how many) and
        ``context_sd`` (of shifts of strengths in each context). With ``criteria`` (how many) votes are spread
        over them; ``general_share`` is that of the variance of strengths, sd^2, which is the same under all of them,
        and there are ``criteria_votes`` on the criteria, whose log weights are Normal(0, 1).

    Returns
    -------
    dict
        ``table``, ``criteria``, and by name ``strength`` (with criteria their means by the weights) and ``right``
        (mean of a judge's two coins).
    """
    judges, items, votes = panel["judges"], panel["items"], panel["votes"]
    if "coin_mean" in panel:
        strength = np.zeros(items)
        coins = logistic_sigmoid(rng.normal(panel["coin_mean"], panel["coin_sd"], (2, judges)), np)
    else:
        density = VotesDensity(model, judges, 1, items, False)
        values = density.values(draw_from_prior(density, rng), np)
        strength = values["strength"][0]
        coins = np.stack([logistic_sigmoid(values[f"coin_{place}"], np) for place in ("first", "second")])
    if "sd" in panel:
        strength = panel["sd"] * rng.standard_normal(items)
    if "right" in panel:
        coins[:] = panel["right"]
    if "first" in panel:
        coins[:, 0] = panel["first"]
    chance = np.full(judges, 1.0 / judges)
    if "first_share" in panel:
        chance = np.r_[panel["first_share"], np.full(judges - 1, (1 - panel["first_share"]) / (judges - 1))]
    judge = rng.choice(judges, votes, p=chance)
    first = rng.integers(items, size=votes)
    second = (first + rng.integers(1, items, size=votes)) % items
    by_criterion, shares = strength[None], np.ones(1)
    criterion, context = np.zeros(votes, dtype=np.int64), np.zeros(votes, dtype=np.int64)
    on_criteria = None
    if "criteria" in panel:
        by_criterion, criterion, weight = _under_criteria(panel, strength, rng)
        shares = np.exp(weight) / np.exp(weight).sum()
        on_criteria = _on_criteria(weight, coins, panel["criteria_votes"], rng)
    by_context = by_criterion[..., None]
    if "contexts" in panel:
        by_context = by_context + panel["context_sd"] * rng.standard_normal((*by_criterion.shape, panel["contexts"]))
        context = rng.integers(panel["contexts"], size=votes)
    d = by_context[criterion, first, context] - by_context[criterion, second, context]
    table = _draw_votes("i", first, second, judge, d, coins, rng)
    if "contexts" in panel:
        table["context"] = [f"c{x:04d}" for x in context]
    if "criteria" in panel:
        table["criterion"] = [f"k{c:04d}" for c in criterion]
    return {
        "table": table,
        "criteria": on_criteria,
        "strength": {f"i{i:04d}": float(value) for i, value in enumerate(shares @ by_criterion)},
        "right": {f"j{k:03d}": float(value) for k, value in enumerate(coins.mean(axis=0))},
    }


def _under_criteria(panel: dict[str, Any], general: Floats, rng: np.random.Generator) -> tuple[Floats, Ints, Floats]:
    """Strengths under each criterion, the criterion of each vote, and the criteria's log weights."""
    count, share = panel["criteria"], panel["general_share"]
    own = panel["sd"] * rng.standard_normal((count, len(general)))
    strength = np.sqrt(share) * general + np.sqrt(1.0 - share) * own
    return strength, rng.integers(count, size=panel["votes"]), rng.standard_normal(count)


def _on_criteria(weight: Floats, coins: Floats, votes: int, rng: np.random.Generator) -> pd.DataFrame:
    """Votes on pairs of criteria, by judges drawn at random."""
    judge, first = rng.integers(coins.shape[1], size=votes), rng.integers(len(weight), size=votes)
    second = (first + rng.integers(1, len(weight), size=votes)) % len(weight)
    return _draw_votes("k", first, second, judge, weight[first] - weight[second], coins, rng)


def _draw_votes(
    letter: str, first: Ints, second: Ints, judge: Ints, d: Floats, coins: Floats, rng: np.random.Generator
) -> pd.DataFrame:
    """Votes on differences ``d``, by judges who see the better one and say so as their coins have it."""
    import pandas as pd

    better = logistic_sigmoid(d, np)
    says_first = rng.random(len(d)) < coins[0, judge] * better + (1 - coins[1, judge]) * (1 - better)
    return pd.DataFrame(
        {
            "judge": [f"j{k:03d}" for k in judge],
            "first": [f"{letter}{i:04d}" for i in first],
            "second": [f"{letter}{i:04d}" for i in second],
            "winner": np.where(says_first, "first", "second"),
        }
    )
