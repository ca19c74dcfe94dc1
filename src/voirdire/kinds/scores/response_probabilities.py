"""Probabilities of all possible scores of an item by a judge."""

from __future__ import annotations

import numpy as np

from voirdire.errors import InputError
from voirdire.kinds.scores import continuous, ordinal
from voirdire.kinds.scores.layout import perceived_strengths
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.model.terms.arrays import log_normal_cdf
from voirdire.model.terms.censored import HALF_RANGE, score_log_density
from voirdire.model.terms.cumulative import level_log_probabilities, normal_quadrature
from voirdire.model.terms.raters import judge_discriminations, log_noise
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats, Ints


def score_probabilities(problem: ScoresProblem, values: Values, rows: tuple[Ints, ...]) -> Floats:
    """Probability of every level of each score under one set of values, shape (rows, levels).

    On a continuous scale, the probabilities of its low and its high end.

    Parameters
    ----------
    rows : tuple of int array
        Judge, criterion and item of each row, in the problem's coding, then the other codes of
        :attr:`.ScoresLayout.code_names`: -1, or no array, for a new context or level, and for mean covariates.

    Raises
    ------
    InputError
        The model gives no probability of single scores.
    """
    form = problem.form
    if form is continuous:
        return ends_and_mean(problem, values, rows)[:, :2]
    if form is not ordinal:
        raise InputError(f"model {problem.model.name} gives no probability of single scores; leave it out")
    perceived, cuts, weight = _perceptions_and_cutpoints(problem, values, rows)
    p = np.exp(np.stack(level_log_probabilities(perceived, cuts, problem.density.levels, np), axis=-1))
    marginal: Floats = np.einsum("rel,e->rl", p, weight)
    return marginal


def expected_scores(problem: ScoresProblem, values: Values, rows: tuple[Ints, ...]) -> Floats:
    """Expected score of each row under one set of values, shape (rows,)."""
    if problem.form is continuous:
        return problem.scale.from_parts(ends_and_mean(problem, values, rows)[:, 2])
    return np.asarray(score_probabilities(problem, values, rows) @ np.array(problem.scale.levels))


def exceedance_probabilities(problem: ScoresProblem, values: Values, rows: tuple[Ints, ...]) -> tuple[Floats, Floats]:
    """Probability of a score above each level but the highest, given unknown effects at the nodes of a quadrature rule.

    Unknown effects are those of the judge on the item and, in rows without a context, those of the context.

    Returns
    -------
    above : array, shape (rows, effects, levels - 1)
    weight : array, shape (effects,)
        Weight of each node; one node without unknown effects.
    """
    perceived, cuts, weight = _perceptions_and_cutpoints(problem, values, rows)
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(cuts - perceived[..., None])), weight


def _perceptions_and_cutpoints(
    problem: ScoresProblem, values: Values, rows: tuple[Ints, ...]
) -> tuple[Floats, Floats, Floats]:
    """Perceptions of judges, shape (rows, effects), cutpoints, (rows, 1, levels - 1), and weights, (effects,)."""
    density = problem.density
    codes = density.about_rows(rows)
    perceived = perceived_strengths(density, values, problem.data["panel"], codes)[:, None]
    variance, weight = _unknown_effect_variance(problem, values, codes), np.ones(1)
    if variance.any():
        z, log_weight = normal_quadrature()
        weight = np.exp(log_weight)
        perceived = perceived + np.sqrt(variance)[:, None] * z
    cutpoints = ordinal.answer_cutpoints(density, values, codes, np)
    return perceived, cutpoints[:, None, :], weight


def check_answer_probabilities(problem: ScoresProblem) -> None:
    """Refuse models that take scores as numbers.

    Raises
    ------
    InputError
    """
    if problem.form is not ordinal:
        raise InputError(f"model {problem.model.name} gives no probability of single scores: nothing to draw")


def ends_and_mean(problem: ScoresProblem, values: Values, rows: tuple[Ints, ...]) -> Floats:
    """Probabilities of the low and the high end, and the mean of each score, shape (scores, 3).

    For y = mu + s e, e ~ Normal(0, 1), censored at -1/2 and 1/2, with a = (-1/2 - mu) / s and b = (1/2 - mu) / s, these
    are Phi(a), 1 - Phi(b), and mu (Phi(b) - Phi(a)) - s (phi(b) - phi(a)) + (1 - Phi(b) - Phi(a)) / 2 (Tobin 1958). The
    noise s includes contexts in rows without a context.
    """
    mu, spread = predicted_moments(problem, values, rows)
    a, b = (-HALF_RANGE - mu) / spread, (HALF_RANGE - mu) / spread
    low, high = np.exp(log_normal_cdf(a, np)), np.exp(log_normal_cdf(-b, np))
    slope = np.exp(-0.5 * b * b) - np.exp(-0.5 * a * a)
    mean = mu * (1.0 - low - high) - spread * slope / np.sqrt(2.0 * np.pi) + HALF_RANGE * (high - low)
    return np.stack([low, high, mean], axis=1)


def predicted_moments(problem: ScoresProblem, values: Values, rows: tuple[Ints, ...]) -> tuple[Floats, Floats]:
    """Mean and standard deviation of each uncensored score, in parts of the scale, shape (rows,) each.

    In rows without a context, if the model has contexts, the standard deviation includes contexts.

    Parameters
    ----------
    rows : tuple of int array
        As in :func:`.scores.response_probabilities.score_probabilities`.
    """
    density = problem.density
    codes = density.about_rows(rows)
    mu = perceived_strengths(density, values, problem.data["panel"], codes)
    log = np.broadcast_to(log_noise(values), (density.judges, density.criteria))
    variance = np.exp(2.0 * log[codes["judge"], codes["criterion"]])
    return mu, np.sqrt(variance + _unknown_effect_variance(problem, values, codes))


def _unknown_effect_variance(problem: ScoresProblem, values: Values, codes: dict[str, Ints]) -> Floats:
    """Variance of the unknown effects on each score: of a context that is not named, and of judge and item.

    The effect of judge and item is unknown without a context, and in all rows where it is integrated out.
    """
    density, no_context = problem.density, codes["context"] < 0
    variance = np.zeros(len(no_context))
    if "log_judge_item" in values:
        own_variance = np.exp(2.0 * values["log_judge_item"])[codes["judge"]]
        variance += own_variance * (("judge_item_effect" not in values) | (no_context & (density.contexts > 0)))
    if "log_context_spread" in values:
        variance += np.where(no_context, np.exp(2.0 * values["log_context_spread"]), 0.0)
    slope = None if density.integrates_repeats else judge_discriminations(values, np)
    return variance if slope is None else slope[codes["judge"]] ** 2 * variance


def log_score_density(problem: ScoresProblem, values: Values, score: Floats, rows: tuple[Ints, ...]) -> Floats:
    """Log density of each score, per point of the scale; at the ends the log probability of the end."""
    mu, spread = predicted_moments(problem, values, rows)
    number = problem.scale.to_parts(score)
    end = np.where(number <= -HALF_RANGE, -1, np.where(number >= HALF_RANGE, 1, 0))
    log: Floats = score_log_density(number, end, mu, np.log(spread), np)
    return np.where(end == 0, log - np.log(problem.scale.range), log)


def expected_uncensored_scores(problem: ScoresProblem, values: Values, score: Floats, rows: tuple[Ints, ...]) -> Floats:
    """Scores in parts of the scale from its middle; at an end the expectation of the uncensored score.

    With a and b as in :func:`ends_and_mean`, mu + s phi(b) / (1 - Phi(b)) at the high end and mu - s phi(a) / Phi(a) at
    the low end.
    """
    mu, spread = predicted_moments(problem, values, rows)
    number = problem.scale.to_parts(score)
    end = np.where(number <= -HALF_RANGE, -1.0, np.where(number >= HALF_RANGE, 1.0, 0.0))
    inward = (HALF_RANGE - end * mu) / spread
    hazard = np.exp(-0.5 * inward * inward - 0.5 * np.log(2.0 * np.pi) - log_normal_cdf(-inward, np))
    return np.where(end == 0, number, mu + end * spread * hazard)
