"""Points of the PyMC model."""

from __future__ import annotations

import numpy as np

from voirdire.infer.pymc_model import _has_free_variable, _variable_name
from voirdire.model.density import LogDensity
from voirdire.model.terms.parameters import LogExponential, LogitBeta

SUFFIXES = {LogitBeta: "_logodds__", LogExponential: "_log__"}  # of PyMC's coordinates


def value_point(density: LogDensity, x: np.ndarray) -> dict[str, np.ndarray]:
    """The value variables at a flat vector, for ``model.compile_logp()``."""
    point = {}
    for p in density.parameters:
        suffix = SUFFIXES.get(type(p.prior), "_free" if _has_free_variable(p) else "")
        point[f"{_variable_name(p)}{suffix}"] = x[density.parameter_slices[p.name]].reshape(p.free_shape(density.sizes))
    return point
