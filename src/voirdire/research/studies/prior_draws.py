"""Parameters drawn from a model's priors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from voirdire.model.density import LogDensity
from voirdire.model.terms.divided import LogDivided
from voirdire.model.terms.parameters import LogExponential, LogitBeta, Parameter, Population, Spread, TwoSided

Floats = npt.NDArray[np.float64]


def prior_draw(density: LogDensity, rng: np.random.Generator) -> Floats:
    """Draw the flat vector of free coordinates from the prior, shape (size,).

    The log-odds of a Beta(a, b) probability are the difference of the logarithms of Gamma(a) and Gamma(b) variables,
    which is exact where the probability itself would round to one; they change sign for judges that are reversed.
    """
    drawn: dict[str, Floats] = {}
    for p in density.by_need:
        drawn[p.name] = _drawn(p, density, drawn, rng)
        if isinstance(p.prior, LogDivided):
            # independent exponential variables over their sum are uniform on the simplex
            n, names = density.parts_of(p.prior), (p.prior.others, p.name)
            undivided = np.log(sum(np.exp(drawn[name]).sum() for name in names))
            shift = np.log(rng.exponential(1.0 / p.prior.rate_of_sum(n))) - undivided
            drawn |= {name: drawn[name] + shift for name in names}
    return np.concatenate([drawn[p.name].ravel() for p in density.parameters])


def _drawn(
    parameter: Parameter, density: LogDensity, others: dict[str, Floats], rng: np.random.Generator
) -> Floats:
    prior, shape = parameter.prior, parameter.free_shape(density.sizes)
    if isinstance(prior, Spread):
        values = {
            p.name: p.value(others[p.name], density.sizes, np) for p in density.parameters if p.name in others
        }
        sd = np.exp(-density.log_unit(parameter, values, np)[1])
        z = rng.normal(size=shape)
        if isinstance(prior, Population):
            m, t = prior.mean(values, np), np.exp(prior.log_sd(values))
            waits = np.ones(shape, dtype=bool)
            while waits.any():
                waits &= rng.random(shape) > np.exp(prior.log_weight(m + t * z, np))
                z = np.where(waits, rng.normal(size=shape), z)
        return np.asarray(sd * z)
    if isinstance(prior, LogExponential):
        return np.log(rng.exponential(1.0 / prior.rate, shape))
    if isinstance(prior, LogitBeta):
        odds = np.log(rng.gamma(prior.a, size=shape)) - np.log(rng.gamma(prior.b, size=shape))
        return np.where(rng.random(shape) < prior.reversed, -odds, odds)
    drawn = rng.normal(prior.mean, prior.sd, shape)
    if isinstance(prior, TwoSided):
        return np.where(rng.random(shape) < prior.reversed, -drawn, drawn)
    return np.asarray(drawn)


def names(kind: str, count: int) -> tuple[str, ...]:
    """Names of ``count`` levels of one kind.

    Examples
    --------
    >>> names("item", 2)
    ('item-1', 'item-2')
    """
    width = len(str(count))
    return tuple(f"{kind}-{number:0{width}d}" for number in range(1, count + 1))
