"""Scores on a bounded continuous scale: their counted form, their density, and where the search starts.

Scores are measured from the middle of the scale in parts of its length; see :mod:`voirdire.model.terms.censored`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from voirdire.infer.nested.normal import NormalAnswers
from voirdire.kinds.scores.layout import ScoreCells, ScoresLayout, distinct_combinations, perceived_strengths
from voirdire.model.density import Data
from voirdire.model.design import LEARNED, Cells, Term
from voirdire.model.terms import SCORE_ANCHORS
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.censored import HALF, item_scores_log_density, score_log_density
from voirdire.model.terms.parameters import Normal
from voirdire.model.terms.raters import log_noise
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats, Ints

SMALLEST_SPREAD = 0.03  # of the first guess
FIRST_SPREAD = 0.1  # of tastes and severities there


def encode_numbers(about: Mapping[str, Ints], score: Floats, repeats: bool) -> dict[str, Any]:
    """Scores one by one, or, with repeats, what is sufficient of each judge's scores of one item.

    Parameters
    ----------
    about : dict of str to int array, shape (rows,)
        Judge, criterion and item of each score.
    score : array, shape (rows,)
        From -1/2 to 1/2.

    Examples
    --------
    >>> about = dict.fromkeys(("judge", "criterion", "item"), np.zeros(3, dtype=np.int64))
    >>> part = encode_numbers(about, np.array([0.5, 0.1, 0.3]), repeats=True)
    >>> [float(part[name][0].round(3)) for name in ("inside", "mean", "squares", "at_high")]
    [2.0, 0.2, 0.02, 1.0]
    """
    end = np.where(score <= -HALF, -1, np.where(score >= HALF, 1, 0))
    if not repeats:
        return {**about, "score": score, "end": end, "weight": np.ones(len(score))}
    found, row = distinct_combinations(about)
    size, inner = len(found["judge"]), end == 0
    inside = np.bincount(row, inner, size)
    mean = np.bincount(row, np.where(inner, score, 0.0), size) / np.maximum(inside, 1.0)
    squares = np.bincount(row, np.where(inner, (score - mean[row]) ** 2, 0.0), size)
    return {
        **found,
        "inside": inside,
        "mean": mean,
        "squares": squares,
        "at_low": np.bincount(row, end < 0, size).astype(float),
        "at_high": np.bincount(row, end > 0, size).astype(float),
        "weight": np.ones(size),
    }


def log_part(density: ScoresLayout, values: Values, data: Data, xp: Any) -> tuple[Array, Array]:
    """Log density of each score, or of each judge's scores of one item, and its weight."""
    part = data["scores"]
    judge = part["judge"]
    criterion = part["criterion"]
    mu = perceived_strengths(density, values, data["panel"], part, xp)
    noise = log_noise(values)[..., judge, criterion if "log_noise_criterion" in values else 0]
    if density.repeats:
        return item_scores_log_density(part, mu, noise, values["log_judge_item"][..., judge], xp), part[
            "weight"
        ]
    return score_log_density(part["score"], part["end"], mu, noise, xp), part["weight"]


def people_information(values: Values, xp: Any) -> Array:
    """Information of one human score about an item's strength, were it at no end; shape (..., 1)."""
    return xp.exp(-2.0 * values["log_noise_people"])[..., None]


def people_part(
    density: ScoresLayout, values: Values, part: dict[str, Array], xp: Any
) -> tuple[Array, Array]:
    """Log density of each human score, shape (..., scores), and its weight."""
    mu = people_mean(density, values, part, xp)
    noise = values["log_noise_people"][..., None]
    return score_log_density(part["score"], part["end"], mu, noise, xp), part["weight"]


def people_mean(density: ScoresLayout, values: Values, part: Mapping[str, Array], xp: Any) -> Array:
    """Items as people perceive them, shape (..., scores)."""
    assert density.model.anchors is not None  # else there are no human scores
    strength = values["strength"][..., part["criterion"], part["item"]]
    return SCORE_ANCHORS[density.model.anchors.kind].perceived_strength(
        values, strength, part["criterion"], xp
    )


def information(density: ScoresLayout, values: Values, xp: Any) -> Array:
    """Information of the answers about an item's strength, were none at an end; see :class:`.Spread`."""
    variance = xp.exp(2.0 * values["log_noise"]) / density.runs
    if density.repeats:
        variance = variance + xp.exp(2.0 * values["log_judge_item"])
    return density.answers * (1.0 / variance).mean(axis=-1, keepdims=True)


def starts(density: ScoresLayout, data: Data) -> list[Values]:
    """Each item's mean score, their level and spread, and the prior's mean of all else."""
    part = data["scores"]
    if density.repeats:
        weight = part["inside"] + part["at_low"] + part["at_high"]
        total = part["inside"] * part["mean"] + HALF * (part["at_high"] - part["at_low"])
    else:
        weight, total = part["weight"], part["weight"] * part["score"]
    unit, size = part["criterion"] * density.items + part["item"], density.criteria * density.items
    mean = np.bincount(unit, total, size) / np.maximum(np.bincount(unit, weight, size), 1.0)
    found = {p.name: np.zeros(p.shape(density.sizes)) for p in density.parameters}
    for parameter in density.parameters:
        if isinstance(parameter.prior, Normal):
            found[parameter.name] += parameter.prior.mean
    strength = mean.reshape(density.criteria, density.items)
    found["level"] = strength.mean(axis=1)
    found["strength"] = strength
    if "general" in found:
        found["general"] = (strength - strength.mean(axis=1, keepdims=True)).mean(axis=0)
        found["log_general_spread"] = np.log(np.maximum(found["general"].std(), SMALLEST_SPREAD))
        strength = strength - found["general"]
    found["log_spread"] = np.log(np.maximum(strength.std(axis=1), SMALLEST_SPREAD))
    for name in ("log_taste_spread", "log_severity_spread"):
        if name in found:
            found[name] += np.log(FIRST_SPREAD)
    return [found]


def cells(density: ScoresLayout, data: Data) -> ScoreCells:
    """Every score by itself: what its mean and the logarithm of its noise depend on, beside strengths and tastes."""
    from scipy.sparse import csr_array

    part = data["scores"]
    judge, criterion = part["judge"], part["criterion"]
    learned = [p for p in density.parameters if isinstance(p.prior, LEARNED)]
    ends = np.cumsum([0, *(int(np.prod(p.shape(density.sizes))) for p in learned)])
    start = int(ends[[p.name for p in learned].index("log_noise_criterion")])
    rows, ones = len(judge) + np.arange(len(judge)), np.ones(len(judge))
    shape = (2 * len(judge), int(ends[-1]))
    return ScoreCells(
        Cells(len(judge), {"judge": judge, "criterion": criterion}, (part["item"],)),
        [Term("level", ("criterion",), 0)],
        2,  # no latent value enters the noise
        NormalAnswers(part["score"], part["end"], part["weight"]),
        "level",
        1.0,
        frozenset(),
        csr_array((ones, (rows, start + judge * density.criteria + criterion)), shape=shape),
    )
