"""Parameters of a density as latent values and logarithms of spreads: in their order, each flattened."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any

import numpy as np

from voirdire.infer.nested.field import PLAIN, Group, Hyper
from voirdire.model.density import LogDensity
from voirdire.model.design import LEARNED
from voirdire.model.terms.parameters import Around, LogExponential, LogNormal, Normal, Parameter, Spread
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats


def latent_groups(density: LogDensity, told: Set[str]) -> tuple[tuple[Group, ...], tuple[Hyper, ...]]:
    """Groups of latent values, one for each row of a parameter with spreads of its own, and what is learned of them.

    Values that have no other dimensions than those ``told`` by many answers stay when the others are integrated out.
    """
    groups: list[Group] = []
    hypers: list[Hyper] = []
    for p in density.parameters:
        shape, prior = p.shape(density.sizes), p.prior
        size, few = int(np.prod(shape)), set(p.dims) <= told
        if isinstance(prior, LogExponential):
            for row in range(size):
                hypers.append(Hyper(f"{p.name}[{row}]", prior.rate))
        elif isinstance(prior, LogNormal):
            hypers += [Hyper(f"{p.name}[{row}]", 0.0, prior.mean, prior.sd) for row in range(size)]
        elif isinstance(prior, Spread):
            rows = size if prior.axes >= len(shape) or not prior.of else size // shape[0]
            for row in range(size // rows):
                # about latent values: what is latent is the difference
                mean = f"{prior.level}[{row}]" if prior.level and not isinstance(prior, Around) else 0.0
                reverse = getattr(prior, "reversed", PLAIN)
                spread = f"{prior.of}[{row}]" if prior.of else prior.sd
                groups.append(Group(f"{p.name}[{row}]", rows, spread, mean, reverse, few))
        elif isinstance(prior, Normal):
            groups.append(Group(f"{p.name}[0]", size, prior.sd, prior.mean, few=few))
        else:
            raise TypeError(f"{p.name}: no field with a prior {type(prior).__name__}")
    return tuple(groups), tuple(hypers)


def latent_from_values(density: LogDensity, values: dict[str, Any]) -> tuple[Floats, Floats]:
    """Latent values and logarithms of spreads, of named values, leading axes (draws) kept."""
    return _gather_values(density, values, learned=False), _gather_values(density, values, learned=True)


def _gather_values(density: LogDensity, values: dict[str, Any], learned: bool) -> Floats:
    parts = [
        np.reshape(values[p.name], (*_leading_shape(values[p.name], p), -1))
        for p in density.parameters
        if isinstance(p.prior, LEARNED) is learned
    ]
    return np.concatenate(parts, axis=-1)


def _leading_shape(value: Any, parameter: Parameter) -> tuple[int, ...]:
    shape: tuple[int, ...] = np.shape(value)
    return shape[: len(shape) - len(parameter.dims)]


def flat_vectors(
    density: LogDensity, latent: Floats, hyper: Floats, centred: Callable[[Values], Values]
) -> Floats:
    """Flat vectors, shape (..., size), of latent values and logarithms of spreads.

    ``centred`` makes of named values those that a density takes: what has sum zero there has not among latent values.
    """
    values: Values = {}
    at = {False: 0, True: 0}
    for p in density.parameters:
        learned = isinstance(p.prior, LEARNED)
        shape = p.shape(density.sizes)
        size = int(np.prod(shape))
        row = (hyper if learned else latent)[..., at[learned] : at[learned] + size]
        values[p.name] = row.reshape((*row.shape[:-1], *shape))
        at[learned] += size
    return np.asarray(density.flat(centred(values), np))
