"""Series of scores over time, relative to their expectation under the fitted model."""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.scores import continuous, ordinal
from voirdire.kinds.scores.predict import expected_scores, log_score_density, score_probabilities
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.model.terms.cutpoints import total_severity
from voirdire.model.terms.raters import log_noise
from voirdire.trust.drift import AnswersOverTime
from voirdire.trust.random_walk import Habit
from voirdire.typing import Floats


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
