"""Notes on a correlation: why it is undefined, and what was left out."""

from __future__ import annotations

import numpy as np

from voirdire.agreement.correlation.grid import Grid
from voirdire.agreement.correlation.levels import Level
from voirdire.agreement.correlation.rowwise import rowwise_coefficient
from voirdire.agreement.engine.resample import FEW
from voirdire.agreement.engine.statistic import FloatArray


def undefined_note(grid: Grid, metric: str, human: str, level: Level) -> str:
    """Why a coefficient of a metric and people has no value, as a sentence.

    Examples
    --------
    >>> grid = Grid(("m", "h"), np.array([[1.0, 2.0], [1.0, 3.0]]), ("a", "b"), None, None, None, {})
    >>> undefined_note(grid, "m", "h", "pooled")
    "undefined: every score of 'm' is 1"
    """
    x, y = grid.judge_scores(metric), grid.judge_scores(human)
    by = "" if grid.criterion is None else f" by criterion {grid.criterion!r}"
    for judge, scores in ((metric, x), (human, y)):
        if np.isnan(scores).all():
            return f"undefined: {judge!r} scored nothing{by}"
    both = ~(np.isnan(x) | np.isnan(y))
    if not both.any():
        return f"undefined: no item was scored by both {metric!r} and {human!r}{by}"
    if both.sum() == 1:
        return "undefined: a single item was scored by both, and it takes two"
    for judge, scores in ((metric, x[both]), (human, y[both])):
        if np.ptp(scores) == 0:
            return f"undefined: every score of {judge!r} is {scores[0]:g}"
    if level == "context":
        a, b = grid.square(x), grid.square(y)
        perfect = np.nanmax(np.abs(_context_coefficients("spearman", a, b)), initial=0.0) >= 1 - 1e-12
        if perfect:
            return "undefined: a context has a correlation of exactly 1 or -1, whose Fisher z is infinite; use the mean"
        return "undefined: in every context one side is constant or has a single score"
    return (
        f"undefined: the means of the {level}s do not vary"
        if level == "system"
        else "undefined: too few scores"
    )


def small_sample_note(grid: Grid, drawn: str | None) -> str:
    """Warn where contexts or systems are too few for an interval to be trusted; empty otherwise.

    Examples
    --------
    >>> grid = Grid(("m",), np.empty((2, 1)), ("a", "b"), np.array([0, 1]), None, None, {})
    >>> small_sample_note(grid, "context")
    'only 2 contexts to resample: the interval is likely too narrow'
    """
    counted = {
        "contexts": grid.context if drawn in ("context", "both") else None,
        "systems": grid.system if drawn in ("system", "both") else None,
    }
    few = [
        f"{n} {name}"
        for name, codes in counted.items()
        if codes is not None and (n := int(codes.max()) + 1) < FEW
    ]
    return f"only {' and '.join(few)} to resample: the interval is likely too narrow" if few else ""


def context_note(name: str, x: FloatArray, y: FloatArray) -> tuple[int, str]:
    """Count the contexts that have a value, and say in a sentence why others have none.

    Parameters
    ----------
    name : str
        The coefficient.
    x, y : float array, shape (contexts, systems)
        Scores, NaN where missing.

    Examples
    --------
    >>> context_note("pearson", np.array([[1.0, 2.0], [1.0, 1.0]]), np.array([[1.0, 2.0], [1.0, 2.0]]))
    (1, '1 of 2 contexts undefined (one side constant, or fewer than two scores) and left out')
    """
    defined = ~np.isnan(_context_coefficients(name, x, y))
    lost = int(np.sum(~defined))
    what = (
        "fewer than two scores"
        if name == "pairwise_accuracy"
        else "one side constant, or fewer than two scores"
    )
    note = f"{lost} of {len(defined)} contexts undefined ({what}) and left out" if lost else ""
    return int(defined.sum()), note


def _context_coefficients(name: str, x: FloatArray, y: FloatArray) -> FloatArray:
    return rowwise_coefficient(name, x, y, np.ones(x.shape))
