"""Votes over time: for the item that the panel finds better, and for the one shown first, beyond expectation."""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.votes.chances import AskedPairs, cell_probabilities, strength_differences
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.model.terms.arrays import logistic_sigmoid
from voirdire.model.terms.reliability import Values
from voirdire.trust.drift import OverTime
from voirdire.trust.walk import Habit
from voirdire.typing import Floats


def residuals_over_time(problem: VotesProblem, posterior: Posterior) -> OverTime | None:
    """Of every vote, at the centre of the posterior; None where the table has no times.

    With d the difference of the items as judges meet them and r = 1, 0 or -1 (first, tie, second) less its
    expectation: r tanh(d / 2), the score of how well a judge tells items apart, and r.
    """
    votes = problem.coded_votes
    if votes.details is None or votes.details.time is None or problem.model.pool != "none":
        return None
    values = posterior.central_values
    p = cell_probabilities(problem.model, problem.density, [values], votes)
    d = strength_differences(problem.density, values, AskedPairs.of_cells(problem.model, votes))
    cell = votes.row_cell
    r = np.array([1.0, -1.0, 0.0])[votes.row_outcome] - (p[:, 0] - p[:, 1])[cell]
    if votes.row_context is not None:
        question = votes.row_context
    else:
        first, second = votes.first[cell], votes.second[cell]
        question = np.minimum(first, second) * len(votes.items) + np.maximum(first, second)
    beyond = {
        ("in line with the panel", "out of line with the panel"): r * np.tanh(0.5 * d[cell]),
        ("for what is shown first", "for what is shown second"): r,
    }
    habits = _reliability_and_position_bias(problem, values)
    return OverTime(problem.judges, votes.judge[cell], votes.details.time, question, beyond, habits)


def _reliability_and_position_bias(problem: VotesProblem, values: Values) -> tuple[Habit, ...]:
    """Of models with coins: their mean and half their difference, by log-odds; none of others."""
    votes, density = problem.coded_votes, problem.density
    if "coin_first" in values:
        coins = ("coin_first", "coin_second")
    elif "reliability" in values and "reliability_deviation" not in values:
        coins = ("reliability", "reliability")
    else:
        return ()

    def make_habit(name: str, sign: float) -> Habit:
        def log_chance(u: float) -> Floats:
            moved = values | {coin: values[coin] + by for coin, by in zip(coins, (u, sign * u), strict=True)}
            p = cell_probabilities(problem.model, density, [moved], votes)
            return np.asarray(np.log(np.maximum(p[votes.row_cell, votes.row_outcome], 1e-300)))

        def habit_value(judge: int, u: Floats) -> Floats:
            first, second = (
                logistic_sigmoid(values[coin][judge] + by, np)
                for coin, by in zip(coins, (u, sign * u), strict=True)
            )
            return np.asarray(0.5 * (first + sign * second))

        return Habit(name, log_chance, habit_value)

    both = (make_habit("reliability", 1.0), make_habit("position_bias", -1.0))
    return both if coins[0] != coins[1] else both[:1]
