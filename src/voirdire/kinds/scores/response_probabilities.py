"""Probability of every score that a judge may give an item."""

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

    On a continuous scale, that a score stands at its low and its high end.

    Parameters
    ----------
    rows : tuple of int array
        Judge, criterion and item of each row (and the others of :attr:`.ScoresLayout.code_names`: -1, or none, for any
        context or level, and for numbers as they are on average), in the problem's coding.

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
        return problem.scale.scores(ends_and_mean(problem, values, rows)[:, 2])
    return np.asarray(score_probabilities(problem, values, rows) @ np.array(problem.scale.levels))


def exceedance_probabilities(
    problem: ScoresProblem, values: Values, rows: tuple[Ints, ...]
) -> tuple[Floats, Floats]:
    """Probability to be above every level but the highest, by what a judge makes of an item in all its runs.

    And by what it is worth in another context, where rows are of none.

    Returns
    -------
    above : array, shape (rows, effects, levels - 1)
    weight : array, shape (effects,)
        Of each effect of a rule of points; one effect where judges score an item once.
    """
    perceived, cuts, weight = _perceptions_and_cutpoints(problem, values, rows)
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(cuts - perceived[..., None])), weight


def _perceptions_and_cutpoints(
    problem: ScoresProblem, values: Values, rows: tuple[Ints, ...]
) -> tuple[Floats, Floats, Floats]:
    """Perceptions of judges, shape (rows, effects), cutpoints, (rows, 1, levels - 1), and effects' weights."""
    density = problem.density
    about = density.about_rows(rows)
    perceived = perceived_strengths(density, values, problem.data["panel"], about)[:, None]
    variance, weight = _unknown_effect_variance(problem, values, about), np.ones(1)
    if variance.any():
        z, log_weight = normal_quadrature()
        weight = np.exp(log_weight)
        perceived = perceived + np.sqrt(variance)[:, None] * z
    cutpoints = ordinal.answer_cutpoints(density, values, about, np)
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
    """Of each score: probability that it stands at the low and at the high end, and its mean; shape (scores, 3).

    Of y = mu + s e, e ~ Normal(0, 1), set to the ends -1/2 and 1/2 beyond them, with a = (-1/2 - mu) / s and
    b = (1/2 - mu) / s: Phi(a), 1 - Phi(b), and mu (Phi(b) - Phi(a)) - s (phi(b) - phi(a)) + (1 - Phi(b) - Phi(a)) / 2
    (Tobin 1958). s is the noise, over contexts where rows are of none.
    """
    mu, spread = predicted_moments(problem, values, rows)
    a, b = (-HALF_RANGE - mu) / spread, (HALF_RANGE - mu) / spread
    low, high = np.exp(log_normal_cdf(a, np)), np.exp(log_normal_cdf(-b, np))
    slope = np.exp(-0.5 * b * b) - np.exp(-0.5 * a * a)
    mean = mu * (1.0 - low - high) - spread * slope / np.sqrt(2.0 * np.pi) + HALF_RANGE * (high - low)
    return np.stack([low, high, mean], axis=1)


def predicted_moments(
    problem: ScoresProblem, values: Values, rows: tuple[Ints, ...]
) -> tuple[Floats, Floats]:
    """Mean and standard deviation of each score before it is set to the ends.

    Of rows without a context, where the model has some, the standard deviation is over contexts, too.

    Parameters
    ----------
    rows : tuple of int array
        As of :func:`.scores.response_probabilities.score_probabilities`.
    """
    density = problem.density
    about = density.about_rows(rows)
    mu = perceived_strengths(density, values, problem.data["panel"], about)
    log = np.broadcast_to(log_noise(values), (density.judges, density.criteria))
    variance = np.exp(2.0 * log[about["judge"], about["criterion"]])
    return mu, np.sqrt(variance + _unknown_effect_variance(problem, values, about))


def _unknown_effect_variance(problem: ScoresProblem, values: Values, about: dict[str, Ints]) -> Floats:
    """Variance of the unknown effects on each score: of the context where none is named, and of judge and item.

    That of judge and item counts there or, where it is integrated out, anywhere.
    """
    density, no_context = problem.density, about["context"] < 0
    variance = np.zeros(len(no_context))
    if "log_judge_item" in values:
        own_variance = np.exp(2.0 * values["log_judge_item"])[about["judge"]]
        variance += own_variance * (
            ("judge_item_effect" not in values) | (no_context & (density.contexts > 0))
        )
    if "log_context_spread" in values:
        variance += np.where(no_context, np.exp(2.0 * values["log_context_spread"]), 0.0)
    slope = None if density.integrates_repeats else judge_discriminations(values, np)
    return variance if slope is None else slope[about["judge"]] ** 2 * variance


def log_score_density(
    problem: ScoresProblem, values: Values, score: Floats, rows: tuple[Ints, ...]
) -> Floats:
    """Log density of each score, per point of the scale; at the ends the log probability to stand there."""
    mu, spread = predicted_moments(problem, values, rows)
    number = problem.scale.parts(score)
    end = np.where(number <= -HALF_RANGE, -1, np.where(number >= HALF_RANGE, 1, 0))
    log: Floats = score_log_density(number, end, mu, np.log(spread), np)
    return np.where(end == 0, log - np.log(problem.scale.range), log)


def expected_uncensored_scores(
    problem: ScoresProblem, values: Values, score: Floats, rows: tuple[Ints, ...]
) -> Floats:
    """Scores in parts of the scale from its middle; at an end the expectation of what lies at it or beyond.

    With a and b as in :func:`ends_and_mean`, mu + s phi(b) / (1 - Phi(b)) at the high end and mu - s phi(a) / Phi(a) at
    the other.
    """
    mu, spread = predicted_moments(problem, values, rows)
    number = problem.scale.parts(score)
    end = np.where(number <= -HALF_RANGE, -1.0, np.where(number >= HALF_RANGE, 1.0, 0.0))
    inward = (HALF_RANGE - end * mu) / spread
    hazard = np.exp(-0.5 * inward * inward - 0.5 * np.log(2.0 * np.pi) - log_normal_cdf(-inward, np))
    return np.where(end == 0, number, mu + end * spread * hazard)
