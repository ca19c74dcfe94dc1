"""Series of labels over time, relative to their expectation under the fitted model."""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.labels.influence import label_units
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.model.terms.confusion import log_softmax
from voirdire.trust.drift import AnswersOverTime
from voirdire.trust.random_walk import Habit
from voirdire.typing import Floats, Ints


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
