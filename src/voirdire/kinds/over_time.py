"""Series of answers over time for votes, scores and labels, relative to their expectation under the fitted model."""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.labels.influence import label_units
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.kinds.scores import continuous, ordinal
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.kinds.scores.response_probabilities import expected_scores, log_score_density, score_probabilities
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.kinds.votes.response_probabilities import ComparisonCodes, cell_probabilities, strength_differences
from voirdire.model.terms.arrays import logistic_sigmoid
from voirdire.model.terms.confusion import log_softmax
from voirdire.model.terms.raters import log_noise
from voirdire.model.terms.reliability import Values
from voirdire.model.terms.severity import total_severity
from voirdire.trust.drift import AnswersOverTime
from voirdire.trust.random_walk import Habit
from voirdire.typing import Floats, Ints


def vote_series(problem: VotesProblem, posterior: Posterior) -> AnswersOverTime | None:
    """Make the series of all votes, at the centre of the posterior; None if the table has no times.

    With d the perceived difference of the items, and r the answer (1 first, 0 tie, -1 second) less its expectation,
    the signals are r tanh(d / 2), the score function of a judge's informedness, and r.
    """
    votes = problem.coded_votes
    if votes.details is None or votes.details.time is None or problem.model.pool != "none":
        return None
    values = posterior.central_values
    p = cell_probabilities(problem.model, problem.density, [values], votes)
    d = strength_differences(problem.density, values, ComparisonCodes.of_cells(problem.model, votes))
    cell = votes.row_cell
    r = np.array([1.0, -1.0, 0.0])[votes.row_outcome] - (p[:, 0] - p[:, 1])[cell]
    if votes.row_context is not None:
        question = votes.row_context
    else:
        first, second = votes.first[cell], votes.second[cell]
        question = np.minimum(first, second) * len(votes.items) + np.maximum(first, second)
    signals = {
        ("in line with the panel", "out of line with the panel"): r * np.tanh(0.5 * d[cell]),
        ("for what is shown first", "for what is shown second"): r,
    }
    habits = _reliability_and_position_bias(problem, values)
    return AnswersOverTime(problem.judges, votes.judge[cell], votes.details.time, question, signals, habits)


def _reliability_and_position_bias(problem: VotesProblem, values: Values) -> tuple[Habit, ...]:
    """Make the habits of judges with coins: mean and half the difference of their coins; none for other models."""
    votes, density = problem.coded_votes, problem.density
    if "coin_first" in values:
        coins = ("coin_first", "coin_second")
    elif "reliability" in values and "reliability_deviation" not in values:
        coins = ("reliability", "reliability")
    else:
        return ()

    def make_habit(name: str, sign: float) -> Habit:
        def log_probability(u: float) -> Floats:
            shifted = values | {coin: values[coin] + shift for coin, shift in zip(coins, (u, sign * u), strict=True)}
            p = cell_probabilities(problem.model, density, [shifted], votes)
            return np.asarray(np.log(np.maximum(p[votes.row_cell, votes.row_outcome], 1e-300)))

        def habit_value(judge: int, u: Floats) -> Floats:
            first, second = (
                logistic_sigmoid(values[coin][judge] + shift, np)
                for coin, shift in zip(coins, (u, sign * u), strict=True)
            )
            return np.asarray(0.5 * (first + sign * second))

        return Habit(name, log_probability, habit_value)

    habits = (make_habit("reliability", 1.0), make_habit("position_bias", -1.0))
    return habits if coins[0] != coins[1] else habits[:1]


def score_series(problem: ScoresProblem, posterior: Posterior) -> AnswersOverTime | None:
    """Make the series of all scores, at the centre of the posterior; None if the table has no times."""
    table = problem.table
    if table.time is None:
        return None
    r = table.score - _expected_scores(problem, posterior)
    deviation = np.abs(r)
    total = np.bincount(table.judge, deviation, len(problem.judges))
    mean = total / np.maximum(problem.judge_votes, 1)
    signals = {
        ("lenient", "severe"): r,
        ("out of line with the panel", "in line with the panel"): deviation - mean[table.judge],
    }
    question = table.item if table.context is None else table.context
    habits = _severity_habit(problem, posterior)
    return AnswersOverTime(problem.judges, table.judge, table.time, question, signals, habits)


def _severity_habit(problem: ScoresProblem, posterior: Posterior) -> tuple[Habit, ...]:
    """Make the habit of severity, as in :meth:`.Fit.judges`; none for models without severity.

    On a continuous scale its steps are in units of the typical noise.
    """
    table, values, form = problem.table, posterior.central_values, problem.form
    if "severity" not in values or form not in (ordinal, continuous):
        return ()
    codes, unit_size = tuple(problem.codes(table).values()), problem.unit[1]
    unit = float(np.exp(log_noise(values).mean())) if form is continuous else 1.0
    answers = None if form is continuous else problem.answer_codes(table)
    severity = total_severity(values, problem.judge_group)

    def log_probability(u: float) -> Floats:
        shifted = values | {"severity": values["severity"] + unit * u}
        if answers is None:
            return log_score_density(problem, shifted, table.score, codes)
        probability = score_probabilities(problem, shifted, codes)[np.arange(len(answers)), answers]
        return np.asarray(np.log(np.maximum(probability, 1e-300)))

    return (Habit("severity", log_probability, lambda judge, u: np.asarray(unit_size * (severity[judge] + unit * u))),)


def _expected_scores(problem: ScoresProblem, posterior: Posterior) -> Floats:
    """Compute the expected score of every row; for a baseline, the mean of the item's scores."""
    table, form = problem.table, problem.form
    if form in (ordinal, continuous):
        return expected_scores(problem, posterior.central_values, tuple(problem.codes(table).values()))
    unit = table.criterion * len(problem.items) + table.item
    count = np.maximum(np.bincount(unit), 1)
    return np.asarray((np.bincount(unit, table.score) / count)[unit])


def label_series(problem: LabelsProblem, posterior: Posterior) -> AnswersOverTime | None:
    """Make the series of all labels: 1 where the label is the item's most probable class, less the judge's mean.

    The mean is over the judge's labels of items of that class. None if the table has no times or the model no classes.
    """
    table = problem.table
    if table.time is None or not problem.density.latent:
        return None
    joint = problem.density.joint(posterior.central_values, problem.data, np)
    top = joint.argmax(axis=1)[problem.unit_row][label_units(problem)]
    right = (problem.answer_codes(table) == top).astype(float)
    cell = table.judge * problem.classes + top
    mean = np.bincount(cell, right) / np.maximum(np.bincount(cell), 1)
    question = table.item if table.context is None else table.context
    signals = {("in line with the panel", "out of line with the panel"): right - mean[cell]}
    habits = _reliability_habit(problem, posterior, top)
    return AnswersOverTime(problem.judges, table.judge, table.time, question, signals, habits)


def _reliability_habit(problem: LabelsProblem, posterior: Posterior, top: Ints) -> tuple[Habit, ...]:
    """Make the habit of reliability, as in :meth:`.Fit.judges`: shifts in the log-odds of the right label."""
    table, density = problem.table, problem.density
    rates = density.rates(posterior.central_values, np)
    if len(rates) != len(problem.judges):
        return ()  # judges are alike
    right, size, labels = (np.eye(problem.classes, rates.shape[-1]), rates.shape[-1], problem.answer_codes(table))

    def log_probability(u: float) -> Floats:
        return np.asarray(log_softmax(rates + u * right, size, np)[table.judge, top, labels])

    def reliability_at(judge: int, u: Floats) -> Floats:
        shifted = np.exp(log_softmax(rates[judge] + u[:, None, None] * right, size, np))
        return np.asarray((shifted * right).sum(axis=-1).mean(axis=-1))

    return (Habit("reliability", log_probability, reliability_at),)
