"""Fits by the estimator of MAPLE's paper, which uses the answers of judges only."""

from __future__ import annotations

from voirdire.errors import raise_problems
from voirdire.fit.answer_weight import Panel
from voirdire.model.problem import Problem


def maximise_likelihood(problem: Problem, seed: int, families: object = None, anchors: object = None) -> Panel:
    """Maximise the likelihood of a problem by :mod:`voirdire.infer.adam`; all answers have full weight.

    Raises
    ------
    InputError
        For families, anchors, changed priors, or a model or table that the estimator does not support.
    """
    requested = [
        ("families", families, "it counts every judge by itself"),
        ("anchors", anchors, "it has no answers of people"),
        ("priors", problem.model.overrides or None, "it has none"),
    ]
    problems = [
        f"method 'adam' is the estimator of MAPLE's paper, and {reason}; leave {name}= out, or use method='map'"
        for name, value, reason in requested
        if value is not None
    ]
    raise_problems(problems)
    from voirdire.infer.adam import find_mode_by_adam

    return Panel(problem, find_mode_by_adam(problem, seed), None, ())
