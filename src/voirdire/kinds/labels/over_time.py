"""Labels over time: how often a judge calls items what the panel takes them for."""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.labels.influence import label_units
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.model.terms.confusion import log_softmax
from voirdire.trust.drift import OverTime
from voirdire.trust.walk import Habit
from voirdire.typing import Floats, Ints


def accuracy_over_time(problem: LabelsProblem, posterior: Posterior) -> OverTime | None:
    """Of every label, at the posterior's centre: 1 where it is the item's most probable class, less the judge's mean.

    The mean is over the judge's labels of items of that class. None without times, or where the model has no classes.
    """
    table = problem.table
    if table.time is None or not problem.density.latent:
        return None
    joint = problem.density.joint(posterior.central_values, problem.data, np)
    top = joint.argmax(axis=1)[problem.unit_row][label_units(problem)]
    right = (problem.given(table) == top).astype(float)
    cell = table.judge * problem.classes + top
    mean = np.bincount(cell, right) / np.maximum(np.bincount(cell), 1)
    question = table.item if table.context is None else table.context
    beyond = {("in line with the panel", "out of line with the panel"): right - mean[cell]}
    habits = _reliability_habit(problem, posterior, top)
    return OverTime(problem.judges, table.judge, table.time, question, beyond, habits)


def _reliability_habit(problem: LabelsProblem, posterior: Posterior, top: Ints) -> tuple[Habit, ...]:
    """Reliability as :meth:`.Fit.judges` has it, by the log-odds of the right label of each class."""
    table, density = problem.table, problem.density
    rates = density.rates(posterior.central_values, np)
    if len(rates) != len(problem.judges):
        return ()  # judges are alike
    right, size, given = np.eye(problem.classes, rates.shape[-1]), rates.shape[-1], problem.given(table)

    def log_chance(u: float) -> Floats:
        return np.asarray(log_softmax(rates + u * right, size, np)[table.judge, top, given])

    def reliability_at(judge: int, u: Floats) -> Floats:
        moved = np.exp(log_softmax(rates[judge] + u[:, None, None] * right, size, np))
        return np.asarray((moved * right).sum(axis=-1).mean(axis=-1))

    return (Habit("reliability", log_chance, reliability_at),)
