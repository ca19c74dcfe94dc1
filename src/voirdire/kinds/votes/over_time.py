"""Series of votes over time, relative to their expectation under the fitted model."""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.kinds.votes.response_probabilities import ComparisonCodes, cell_probabilities, strength_differences
from voirdire.model.terms.arrays import logistic_sigmoid
from voirdire.model.terms.term import Values
from voirdire.trust.drift import AnswersOverTime
from voirdire.trust.random_walk import Habit
from voirdire.typing import Floats


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
