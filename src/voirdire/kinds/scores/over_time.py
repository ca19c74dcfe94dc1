"""Scores over time: how severe a judge is, and how far from what is expected."""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.scores import continuous, ordinal, points
from voirdire.kinds.scores.chances import score_probabilities
from voirdire.kinds.scores.density import score_form_module
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.model.terms.censored import HALF
from voirdire.model.terms.raters import log_noise
from voirdire.model.terms.severity import total_severity
from voirdire.trust.drift import OverTime
from voirdire.trust.walk import Habit
from voirdire.typing import Floats


def residuals_over_time(problem: ScoresProblem, posterior: Posterior) -> OverTime | None:
    """Of every score, at the centre of the posterior; None where the table has no times."""
    table = problem.table
    if table.time is None:
        return None
    r = table.score - _expected_scores(problem, posterior)
    away = np.abs(r)
    total = np.bincount(table.judge, away, len(problem.judges))
    mean = total / np.maximum(problem.judge_votes, 1)
    beyond = {
        ("lenient", "severe"): r,
        ("out of line with the panel", "in line with the panel"): away - mean[table.judge],
    }
    question = table.item if table.context is None else table.context
    return OverTime(
        problem.judges, table.judge, table.time, question, beyond, _severity_habit(problem, posterior)
    )


def _severity_habit(problem: ScoresProblem, posterior: Posterior) -> tuple[Habit, ...]:
    """Severity as :meth:`.Fit.judges` has it; none of models without it. On a continuous scale by typical noise."""
    table, values, form = problem.table, posterior.central_values, score_form_module(problem.model)
    if "severity" not in values or form not in (ordinal, continuous):
        return ()
    codes, one = tuple(problem.codes(table).values()), problem.unit[1]
    unit = float(np.exp(log_noise(values).mean())) if form is continuous else 1.0
    given = None if form is continuous else problem.given(table)
    own = total_severity(values, problem.judge_group)

    def log_chance(u: float) -> Floats:
        moved = values | {"severity": values["severity"] + unit * u}
        if given is None:
            return points.log_score_density(problem, moved, table.score, codes)
        chance = score_probabilities(problem, moved, codes)[np.arange(len(given)), given]
        return np.asarray(np.log(np.maximum(chance, 1e-300)))

    return (Habit("severity", log_chance, lambda judge, u: np.asarray(one * (own[judge] + unit * u))),)


def _expected_scores(problem: ScoresProblem, posterior: Posterior) -> Floats:
    """Expected score of every row; of a baseline, the mean of the item's scores."""
    table, form = problem.table, score_form_module(problem.model)
    codes = tuple(problem.codes(table).values())
    if form is ordinal:
        levels = np.array(problem.scale.levels, dtype=float)
        return np.asarray(score_probabilities(problem, posterior.central_values, codes) @ levels)
    if form is continuous:
        mean = points.ends_and_mean(problem, posterior.central_values, codes)[:, 2]
        return np.asarray(problem.scale.low + (mean + HALF) * problem.scale.range)
    unit = table.criterion * len(problem.items) + table.item
    count = np.maximum(np.bincount(unit), 1)
    return np.asarray((np.bincount(unit, table.score) / count)[unit])
