"""Directions along which scores on an ordered scale stay probable though each parameter by itself is well known.

Strengths, severities and cutpoints that all grow alike leave the noise of answers smaller beside them, and nothing else
changes; slopes b_k that grow alike leave a_k as they are (:class:`.RaterDiscrimination`). Where judges seldom err, or
agree in nothing, the mode lies far along these: a search that measures steps one parameter at a time gets there slowly.
"""

from __future__ import annotations

import numpy as np

from voirdire.kinds.scores.layout import ScoresLayout
from voirdire.typing import Floats


def scale_directions(density: ScoresLayout, x: Floats) -> Floats:
    """Directions at a flat vector, shape (directions, size).

    All slopes; all severities; under each criterion its strengths, locations and gaps; and the spread of strengths.
    """
    parameters = {p.name: p for p in density.parameters}

    def direction_of(name: str, criterion: int | None = None, *, logs: bool = False) -> Floats:
        row = np.zeros_like(x)
        if name in parameters:
            parameter, here = parameters[name], density.parameter_slices[name]
            value = (np.ones_like(x) if logs else x)[here].reshape(parameter.free_shape(density.sizes))
            if criterion is not None:
                at = np.indices(value.shape)[parameter.dims.index("criterion")]
                value = np.where(at == criterion, value, 0.0)
            row[here] = value.ravel()
        return row

    rows = [direction_of("raw_discrimination"), direction_of("severity") + direction_of("severity_group")]
    for criterion in range(density.criteria):
        scaled = sum(direction_of(name, criterion) for name in ("strength", "cut_location", "shift"))
        rows += [
            scaled + direction_of("log_gap", criterion, logs=True),
            direction_of("log_spread", criterion, logs=True),
        ]
    return np.array([row for row in rows if row.any()])
