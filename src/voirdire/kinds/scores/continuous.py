"""Scores on a bounded continuous scale: encoding, density, and starting values.

Scores are measured from the middle of the scale in parts of its length;
see :mod:`voirdire.model.terms.score_probabilities`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from voirdire.infer.latent_gaussian.normal import NormalAnswers
from voirdire.kinds.scores.layout import ScoreCells, ScoresLayout, item_strengths, perceived_strengths
from voirdire.model.density import Data
from voirdire.model.design import Cells, Term
from voirdire.model.terms import SCORE_ANCHORS
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.parameters import Normal
from voirdire.model.terms.raters import log_noise
from voirdire.model.terms.score_probabilities import HALF_RANGE, score_log_density
from voirdire.model.terms.term import Values
from voirdire.typing import Floats, Ints

MIN_SPREAD = 0.03  # smallest starting value of the spread of strengths
INITIAL_SPREAD = 0.1  # starting value of the spreads of tastes and severities
SCORE_COLUMNS = ("score", "end", "weight")


def encode_numbers(codes: Mapping[str, Ints], score: Floats) -> dict[str, Any]:
    """Encode single scores.

    Parameters
    ----------
    codes : dict of str to int array, shape (rows,)
        Judge, criterion, item and further codes of each score.
    score : array, shape (rows,)
        From -1/2 to 1/2.

    Examples
    --------
    >>> about = dict.fromkeys(("judge", "criterion", "item"), np.zeros(3, dtype=np.int64))
    >>> encode_numbers(about, np.array([0.5, 0.1, -0.5]))["end"].tolist()
    [1, 0, -1]
    """
    end = np.where(score <= -HALF_RANGE, -1, np.where(score >= HALF_RANGE, 1, 0))
    return {**codes, "score": score, "end": end, "weight": np.ones(len(score))}


def score_log_densities(density: ScoresLayout, values: Values, data: Data, xp: Any) -> tuple[Array, Array]:
    """Log density of each score and its weight."""
    part = data["scores"]
    mu = perceived_strengths(density, values, data["panel"], part, xp)
    noise_criterion = part["criterion"] if "log_noise_criterion" in values else 0
    noise = log_noise(values)[..., part["judge"], noise_criterion]
    return score_log_density(part["score"], part["end"], mu, noise, xp), part["weight"]


def people_part(density: ScoresLayout, values: Values, part: dict[str, Array], xp: Any) -> tuple[Array, Array]:
    """Log density of each human score, shape (..., scores), and its weight."""
    mu = people_mean(density, values, part, xp)
    noise = values["log_noise_people"][..., None]
    return score_log_density(part["score"], part["end"], mu, noise, xp), part["weight"]


def people_mean(density: ScoresLayout, values: Values, part: Mapping[str, Array], xp: Any) -> Array:
    """Items as people perceive them, shape (..., scores)."""
    assert density.model.anchors is not None  # else there are no human scores
    return SCORE_ANCHORS[density.model.anchors.kind].perceived_strength(
        values, item_strengths(values, part, xp), part["criterion"], xp
    )


def starts(density: ScoresLayout, data: Data) -> list[Values]:
    """Start at the items' mean scores, their level and spread, and the prior means of all other parameters."""
    part = data["scores"]
    weight, total = part["weight"], part["weight"] * part["score"]
    unit, size = part["criterion"] * density.items + part["item"], density.criteria * density.items
    mean = np.bincount(unit, total, size) / np.maximum(np.bincount(unit, weight, size), 1.0)
    values = {p.name: np.zeros(p.shape(density.sizes)) for p in density.parameters}
    for parameter in density.parameters:
        if isinstance(parameter.prior, Normal):
            values[parameter.name] += parameter.prior.mean
    strength = mean.reshape(density.criteria, density.items)
    values["level"] = strength.mean(axis=1)
    values["strength"] = strength
    if "general" in values:
        values["general"] = (strength - strength.mean(axis=1, keepdims=True)).mean(axis=0)
        values["log_general_spread"] = np.log(np.maximum(values["general"].std(), MIN_SPREAD))
        strength = strength - values["general"]
    values["log_spread"] = np.log(np.maximum(strength.std(axis=1), MIN_SPREAD))
    for name in ("log_taste_spread", "log_severity_spread"):
        if name in values:
            values[name] += np.log(INITIAL_SPREAD)
    return [values]


def cells(density: ScoresLayout, data: Data) -> ScoreCells:
    """Terms in the mean and the log noise of each score, other than strengths and tastes.

    Human scores follow those of the judges; they have judge -1, the severity of people and a noise of their own.
    """
    parts = density.score_parts(data)
    joined = {name: np.concatenate([part[name] for part in parts]) for name in (*density.code_names, *SCORE_COLUMNS)}
    about = {name: joined[name] for name in density.code_names}
    item, is_people = about.pop("item"), about["judge"] < 0
    about["criterion of people"] = np.where(is_people, about["criterion"], -1)
    about["people"] = np.where(is_people, 0, -1)
    terms = [
        Term("level", ("criterion",), 0),
        Term("severity_people", ("criterion of people",), 0, sign=-1.0),
        Term("log_noise", ("judge",), 1),
        Term("log_noise_criterion", ("judge", "criterion"), 1),
        Term("log_noise_people", ("people",), 1),
    ]
    answers = NormalAnswers(*(joined[name] for name in SCORE_COLUMNS))
    return ScoreCells(Cells(len(item), about, (item,)), terms, 2, answers, "level", 1.0, frozenset())
