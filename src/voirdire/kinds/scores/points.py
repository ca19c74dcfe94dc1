"""Scores under a model of a continuous scale: ends, mean, density."""

from __future__ import annotations

import numpy as np

from voirdire.kinds.scores.perceived import perceived_strengths
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.model.terms.arrays import log_normal_cdf
from voirdire.model.terms.censored import HALF, score_log_density
from voirdire.model.terms.raters import log_noise
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats, Ints


def ends_and_mean(problem: ScoresProblem, values: Values, rows: tuple[Ints, ...]) -> Floats:
    """Of each score: probability that it stands at the low and at the high end, and its mean; shape (scores, 3).

    Of y = mu + s e, e ~ Normal(0, 1), set to the ends -1/2 and 1/2 beyond them, with a = (-1/2 - mu) / s and
    b = (1/2 - mu) / s: Phi(a), 1 - Phi(b), and mu (Phi(b) - Phi(a)) - s (phi(b) - phi(a)) + (1 - Phi(b) - Phi(a)) / 2
    (Tobin 1958). s is the noise, over contexts where rows are of none.
    """
    mu, spread = predicted_moments(problem, values, rows)
    a, b = (-HALF - mu) / spread, (HALF - mu) / spread
    low, high = np.exp(log_normal_cdf(a, np)), np.exp(log_normal_cdf(-b, np))
    slope = np.exp(-0.5 * b * b) - np.exp(-0.5 * a * a)
    mean = mu * (1.0 - low - high) - spread * slope / np.sqrt(2.0 * np.pi) + HALF * (high - low)
    return np.stack([low, high, mean], axis=1)


def predicted_moments(
    problem: ScoresProblem, values: Values, rows: tuple[Ints, ...]
) -> tuple[Floats, Floats]:
    """Mean and standard deviation of each score before it is set to the ends.

    Of rows without a context, where the model has some, the standard deviation is over contexts, too.

    Parameters
    ----------
    rows : tuple of int array
        As of :func:`.scores.chances.score_probabilities`.
    """
    density = problem.density
    about = density.about_rows(rows)
    mu = perceived_strengths(density, values, problem.data["panel"], about)
    log = np.broadcast_to(log_noise(values), (density.judges, density.criteria))
    variance = np.exp(2.0 * log[about["judge"], about["criterion"]])
    if "log_context_spread" in values:
        variance = variance + np.where(about["context"] < 0, np.exp(2.0 * values["log_context_spread"]), 0.0)
    return mu, np.sqrt(variance)


def log_score_density(
    problem: ScoresProblem, values: Values, score: Floats, rows: tuple[Ints, ...]
) -> Floats:
    """Log density of each score, per point of the scale; at the ends the log probability to stand there."""
    mu, spread = predicted_moments(problem, values, rows)
    number = (score - 0.5 * (problem.scale.low + problem.scale.high)) / problem.scale.range
    end = np.where(number <= -HALF, -1, np.where(number >= HALF, 1, 0))
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
    number = (score - 0.5 * (problem.scale.low + problem.scale.high)) / problem.scale.range
    end = np.where(number <= -HALF, -1.0, np.where(number >= HALF, 1.0, 0.0))
    inward = (HALF - end * mu) / spread
    hazard = np.exp(-0.5 * inward * inward - 0.5 * np.log(2.0 * np.pi) - log_normal_cdf(-inward, np))
    return np.where(end == 0, number, mu + end * spread * hazard)
