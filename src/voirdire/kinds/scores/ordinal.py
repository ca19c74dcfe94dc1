"""Scores on an ordered scale: probabilities, encoding, and starting values.

The cost of a density is proportional to the number of distinct (judge, criterion, item, score), and contexts if the
model has them. If effects of judges on items are integrated out, it is proportional to the number of distinct
(judge, criterion, item), each with counts n_l of its levels; then

    P(n) = E_z prod_l P(l | eta + sigma_k z) ^ n_l,   z ~ Normal(0, 1),

is computed by a quadrature rule of 41 points (:func:`voirdire.model.terms.score_probabilities.normal_quadrature`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from voirdire.infer.latent_gaussian.answers import Answers
from voirdire.kinds.answers import consensus_signs
from voirdire.kinds.scores.layout import (
    FACTOR_NAMES,
    ScoreCells,
    ScoresLayout,
    distinct_combinations,
    item_strengths,
    perceived_strengths,
)
from voirdire.model.density import Data
from voirdire.model.design import Cells, Term
from voirdire.model.family.ordinal import ordinal_family
from voirdire.model.terms import CUTPOINTS, SCORE_ANCHORS, score_probabilities
from voirdire.model.terms.arrays import LOGISTIC_VARIANCE, Array
from voirdire.model.terms.cutpoints import SharedCutpoints
from voirdire.model.terms.parameters import Normal
from voirdire.model.terms.raters import judge_discriminations, scaled_discrimination
from voirdire.model.terms.term import Values
from voirdire.typing import Floats, Ints

# Of starting values.
SMOOTHING = 0.5  # pseudo-count of scores added to each level
MIN_GAP = 0.2  # smallest gap of cutpoints, in log-odds
MIN_SPREAD = 0.3  # smallest spread of strengths, in log-odds
POWER_ITERATIONS = 50
WELL_IDENTIFIED = frozenset({"judge", "group", "criterion", "gap"})  # dimensions that many scores inform


def encode_levels(codes: Mapping[str, Ints], level: Ints, levels: int, repeats: bool) -> dict[str, Any]:
    """Encode distinct scores with their weights or, with ``repeats``, judges' distinct items with counts of levels.

    Parameters
    ----------
    codes : dict of str to int array, shape (rows,)
        Judge, criterion and item of each score; context if the model has contexts.
    level : int array, shape (rows,)
    levels : int
    repeats : bool

    Examples
    --------
    >>> about = dict.fromkeys(("judge", "criterion", "item"), np.zeros(3, dtype=np.int64))
    >>> encode_levels(about, np.array([0, 1, 1]), 2, repeats=True)["counts"].tolist()
    [[1.0, 2.0]]
    >>> encode_levels(about, np.array([0, 1, 1]), 2, repeats=False)["weight"].tolist()
    [1.0, 2.0]
    """
    if repeats:
        combinations, row = distinct_combinations(codes)
        size = len(combinations["judge"])
        counts = np.bincount(row * levels + level, minlength=size * levels).reshape(size, levels)
        return {**combinations, "counts": counts.astype(float), "weight": np.ones(size)}
    combinations, row = distinct_combinations({**codes, "level": level})
    return {
        **combinations,
        # indices of the cutpoints on either side; see `log_level_probability`
        "lower": np.maximum(combinations["level"] - 1, 0),
        "upper": np.minimum(combinations["level"], levels - 2),
        "weight": np.bincount(row).astype(float),
    }


def has_judge_cutpoints(density: ScoresLayout) -> bool:
    """True if each judge has cutpoints of its own."""
    assert density.model.cutpoints is not None  # every model of an ordered scale has them
    return CUTPOINTS[density.model.cutpoints.kind].by_judge


def judge_cutpoints(density: ScoresLayout, values: Values, xp: Any) -> Array:
    """Cutpoints, shape (..., judges or 1, criteria, levels - 1)."""
    assert density.model.cutpoints is not None  # every model of an ordered scale has them
    term = CUTPOINTS[density.model.cutpoints.kind]
    cuts = term.cutpoint_values(values, density.levels, xp)
    return cuts if term.by_judge else cuts[..., None, :, :]


def answer_cutpoints(density: ScoresLayout, values: Values, codes: Mapping[str, Array], xp: Any) -> Array:
    """Cutpoints of the judge and criterion of each answer, shape (..., answers, levels - 1)."""
    judge = codes["judge"] if has_judge_cutpoints(density) else codes["judge"] * 0
    return judge_cutpoints(density, values, xp)[..., judge, codes["criterion"], :]


def information(density: ScoresLayout, values: Values, xp: Any) -> Array:
    """Information of the answers about an item's strength, as if perceptions of judges were observed.

    A perception varies around a_k theta with the variance of the logistic distribution and of the judge's effect on the
    item. Several levels keep most of its information. For a judge that hardly uses more than one level a smaller value
    would be right, but then strengths could follow another judge alone at no cost. See :class:`.Spread`.
    """
    slope = judge_discriminations(values, xp)
    if slope is None:
        slope = 1.0 + 0.0 * values["severity"]
    variance = LOGISTIC_VARIANCE / density.runs + 0.0 * slope
    if density.integrates_repeats:
        variance = variance + xp.exp(2.0 * values["log_judge_item"])
    return density.answers * (slope * slope / variance).mean(axis=-1, keepdims=True)


def score_log_densities(density: ScoresLayout, values: Values, data: Data, xp: Any) -> tuple[Array, Array]:
    """Log probability of each distinct answer, and its weight."""
    part = data["scores"]
    judge = part["judge"]
    eta = perceived_strengths(density, values, data["panel"], part, xp)
    if density.integrates_repeats:
        z, log_weight = score_probabilities.normal_quadrature()
        eta = eta[..., None] + xp.exp(values["log_judge_item"])[..., judge][..., None] * z
        cutpoints = answer_cutpoints(density, values, part, xp)[..., None, :]
        logs = score_probabilities.level_log_probabilities(eta, cutpoints, density.levels, xp)
        log_joint = sum(part["counts"][:, level][:, None] * log for level, log in enumerate(logs))
        return score_probabilities.log_expectation(log_joint, log_weight, xp), part["weight"]
    cuts = judge_cutpoints(density, values, xp)
    cut_row = judge if has_judge_cutpoints(density) else judge * 0
    lower, upper = (cuts[..., cut_row, part["criterion"], part[side]] for side in ("lower", "upper"))
    return score_probabilities.log_level_probability(eta, lower, upper, part["level"], density.levels - 1, xp), part[
        "weight"
    ]


def people_perceptions(
    density: ScoresLayout, values: Values, codes: Mapping[str, Array], xp: Any
) -> tuple[Array, Array]:
    """Items as people perceive them, shape (..., scores), and panel cutpoints, shape (..., criteria, levels - 1)."""
    assert density.model.anchors is not None  # else there are no human scores
    term = SCORE_ANCHORS[density.model.anchors.kind]
    eta = term.perceived_strength(values, item_strengths(values, codes, xp), codes["criterion"], xp)
    return eta, SharedCutpoints().cutpoint_values(values, density.levels, xp)


def people_information(values: Values, xp: Any) -> Array:
    """Information of one human score about an item's strength, shape (..., 1); see :func:`information`."""
    log_people = values["log_people"] if "log_people" in values else 0.0 * values["severity_people"][..., 0]
    return xp.exp(2.0 * log_people)[..., None] / LOGISTIC_VARIANCE


def people_part(density: ScoresLayout, values: Values, part: dict[str, Array], xp: Any) -> tuple[Array, Array]:
    """Log probability of each distinct human score, shape (..., scores), and its weight."""
    eta, cuts = people_perceptions(density, values, part, xp)
    lower, upper = (cuts[..., part["criterion"], part[side]] for side in ("lower", "upper"))
    return score_probabilities.log_level_probability(eta, lower, upper, part["level"], density.levels - 1, xp), part[
        "weight"
    ]


def starts(density: ScoresLayout, data: Data) -> list[Values]:
    """Start at smoothed log-odds of each item's mean score; where judges may be reversed, also at a signed mean.

    The signs come from the leading eigenvector of the judges' agreement, oriented so that most scores count
    positively; they give a second start if some are negative. With human scores both orientations are starts. With
    fixed discriminations (:meth:`.LogDensity.log_density`) their signs give the only start.
    """
    part, top = data["scores"], density.levels - 1
    if density.integrates_repeats:
        weight = part["counts"].sum(axis=1)
        mean = part["counts"] @ np.arange(density.levels) / np.maximum(weight, 1.0)
        by_level = part["counts"]
    else:
        weight, mean = part["weight"], part["level"].astype(float)
        by_level = weight[:, None] * np.eye(density.levels)[part["level"]]
    total = np.full((density.criteria, density.levels), SMOOTHING)
    np.add.at(total, part["criterion"], by_level)
    above = 1.0 - total.cumsum(axis=1)[:, :-1] / total.sum(axis=1, keepdims=True)
    cuts = -np.log(above / (1.0 - above))
    start = {p.name: np.zeros(p.shape(density.sizes)) for p in density.parameters}
    for parameter in density.parameters:
        if parameter.name.endswith("people") and isinstance(parameter.prior, Normal):
            start[parameter.name] += parameter.prior.mean
    start["cut_location"] = 0.5 * (cuts[:, 0] + cuts[:, -1])
    if "log_gap" in start:
        start["log_gap"] = np.log(np.maximum(np.diff(cuts, axis=1), MIN_GAP))
    net = mean / top - _weighted_means(part["criterion"], mean / top, weight, density.criteria)[part["criterion"]]
    if "pinned" in data:  # the direction of every judge is known
        fixed = density.values(np.asarray(data["pinned"]["x"]), np)
        start |= {name: fixed[name] for name in ("raw_discrimination", "log_people", "log_spread")}
        signs = np.clip(scaled_discrimination(fixed["raw_discrimination"]), -1.0, 1.0)
        return [{**start, "strength": _starting_strengths(density, part, net, weight, signs)}]
    signs = np.ones(density.judges)
    start["strength"] = _starting_strengths(density, part, net, weight, signs)
    if "log_spread" in start:
        start["log_spread"] = np.log(np.maximum(start["strength"].std(axis=1), MIN_SPREAD))
    if "raw_discrimination" not in start:
        return [start]
    agreement = agreement_signs(density, part, net, weight)
    candidates = [{**start, "raw_discrimination": signs}]
    if (agreement < 0).any():
        strength = _starting_strengths(density, part, net, weight, agreement)
        candidates.append({**start, "strength": strength, "raw_discrimination": agreement})
    if density.anchors:
        signed = ("strength", "raw_discrimination")
        candidates += [{**values, **{name: -values[name] for name in signed}} for values in candidates]
    return candidates


def _starting_strengths(
    density: ScoresLayout, part: dict[str, Any], net: Floats, weight: Floats, signs: Floats
) -> Floats:
    """Log-odds of a signed mean that one pseudo-score shrinks to the middle, with sum zero per criterion."""
    unit = part["criterion"] * density.items + part["item"]
    size = density.criteria * density.items
    share = np.bincount(unit, weight * signs[part["judge"]] * net, size) / (np.bincount(unit, weight, size) + 1.0)
    theta = 2.0 * np.arctanh(np.clip(share, -0.49, 0.49) * 2.0).reshape(density.criteria, density.items)
    return np.asarray(theta - theta.mean(axis=1, keepdims=True))


def agreement_signs(density: ScoresLayout, part: dict[str, Any], net: Floats, weight: Floats) -> Floats:
    """Each judge's loading, in [-1, 1], on the consensus that explains most of the panel's agreement."""
    judge = part["judge"]
    judge_mean = _weighted_means(judge, net, weight, density.judges)
    unit = part["criterion"] * density.items + part["item"]
    judge_weight = np.bincount(judge, weight, density.judges)
    # without severities
    return consensus_signs(judge, unit, weight * (net - judge_mean[judge]), judge_weight, POWER_ITERATIONS)


def _weighted_means(code: Ints, value: Floats, weight: Floats, size: int) -> Floats:
    total = np.bincount(code, weight, size)
    return np.asarray(np.bincount(code, weight * value, size) / np.maximum(total, 1e-300))


def cells(density: ScoresLayout, data: Data) -> ScoreCells:
    """Distinct (judge, criterion, item, context), with terms of their scores other than strengths.

    Human scores follow those of the judges; they have judge -1 and the severity of people.
    """
    tables = [_count_levels(part, density) for part in density.score_parts(data)]
    about = {name: np.concatenate([codes[name] for codes, _ in tables]) for name in tables[0][0]}
    counts = np.concatenate([counts for _, counts in tables])
    judge, criterion, item = (about.pop(name) for name in FACTOR_NAMES)
    terms = [
        Term("severity_people", ("criterion of people",), 0, sign=-1.0),
        Term("cut_location", ("criterion",), 0, sign=-1.0),
    ]
    gaps = range(density.levels - 2)
    terms += [Term("log_gap", ("criterion", "gap"), 1 + gap, fixed_levels=(("gap", gap),)) for gap in gaps]
    sloped = "log_discrimination" in {parameter.name for parameter in density.parameters}
    if sloped:
        terms.append(Term("log_discrimination", ("judge",), density.levels - 1))
    family = ordinal_family(density.levels, sloped=sloped)
    answers = Answers(family.log_probabilities, [counts.T], family.closed_form, family.name)
    people = np.where(judge < 0, criterion, -1)
    factors = {"judge": judge, "criterion": criterion, "criterion of people": people, **about}
    cells = Cells(len(judge), factors, (item,))
    return ScoreCells(cells, terms, len(family.predictors), answers, "cut_location", -1.0, WELL_IDENTIFIED)


def _count_levels(part: dict[str, Any], density: ScoresLayout) -> tuple[dict[str, Ints], Floats]:
    """Factors of each cell, by name, and counts of the levels, shape (cells, levels)."""
    codes, row = distinct_combinations({name: part[name] for name in density.code_names})
    counts = np.zeros((len(codes["item"]), density.levels))
    np.add.at(counts, (row, part["level"]), part["weight"])
    return codes, counts
