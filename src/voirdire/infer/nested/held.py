"""Modes of tables that are nearly alike, the spreads held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from voirdire.infer.nested.field import Field
from voirdire.infer.nested.marginal import climb_to_mode, whitening_factor
from voirdire.infer.nested.propagation import NotConverged, propagate_answers
from voirdire.infer.nested.sparse import is_sparse
from voirdire.infer.threads import one_thread
from voirdire.model.density import Data, LogDensity
from voirdire.typing import Floats

CLOSE = 0.03  # length of the gradient in standard deviations at which a search ends


def find_held_modes(density: LogDensity, tables: Sequence[Data], start: Floats) -> list[Floats]:
    """Flat vectors at the modes of tables, with the spreads of ``start``; sparse answers by their means.

    The tables differ in what their answers weigh. All searches but the first begin at its end and share its
    coordinates.
    """
    with one_thread():
        first = density.latent_model(tables[0])
        x, hyper = first.latent(start)
        if is_sparse(first):
            means = [_latent_mean(density.latent_model(table), hyper, x) for table in tables]
            return [first.flat(mean, hyper) for mean in means]
        none, near = np.zeros(len(x)), whitening_factor(first, hyper, x)
        x = climb_to_mode(first, hyper, x, none, near, CLOSE)
        fields = [_with_layout_of(first, density.latent_model(table)) for table in tables[1:]]
        others = [climb_to_mode(field, hyper, x, none, near, CLOSE) for field in fields]
        return [first.flat(mode, hyper) for mode in (x, *others)]


def _latent_mean(model: Field, hyper: Floats, x: Floats) -> Floats:
    try:
        return propagate_answers(model, hyper, x).x
    except NotConverged:
        return climb_to_mode(model, hyper, x, np.zeros(len(x)))


def _with_layout_of(known: Field, other: Field) -> Field:
    """A field with the pattern of another of the same cells, whose layout is known."""
    same = np.array_equal(known.pattern.index, other.pattern.index)
    return replace(other, pattern=known.pattern) if same else other
