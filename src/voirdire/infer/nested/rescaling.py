"""Moves of spreads and means that take all values along, each as far from its mean as it was, in standard deviations.

Where answers tell neither how far items are apart nor how good judges are, but their product, the posterior is a curved
ridge that is wide at one end and narrow at the other, and paths that follow gradients at one step for all of it stay at
the wide end. With xi_i = (x_i - m_i(phi)) / t_i(phi), whose prior does not depend on phi, the density of phi given xi

    p(phi | xi, y) ~ p(y | x(phi, xi)) p(x(phi, xi) | phi) p(phi) prod_i t_i(phi),

and a step of phi with xi as it is goes along the ridge (the non-centred half of an interweaving: Yu and Meng 2011,
Journal of Computational and Graphical Statistics 20). Steps are Metropolis's, of all lengths up to that of the
spreads' own distribution, in turns with the moves of :mod:`.moves`, which change everything else.
"""

from __future__ import annotations

import math

import numpy as np

from voirdire.infer.nested.coordinates import Coordinates
from voirdire.typing import Floats

TRIES = 4  # steps in turn with each other move
LONGEST = (
    2.4  # standard deviations of the spreads, over the root of their number (Gelman, Roberts and Gilks 1996)
)
DECADES = 1.5  # by which the shortest is shorter


def rescaled(where: Coordinates, z: Floats, rng: np.random.Generator) -> Floats:
    """Points of chains, shape (chains, size), after some steps of their spreads and means.

    Draws from the posterior stay draws from it.
    """
    model = where.nested.model
    spreads = model.levels[0]
    x, hyper = where.place(z)
    chains, size = hyper.shape
    log = _log_density(where, x, hyper)
    moved = np.zeros(chains, dtype=bool)
    for _ in range(TRIES if size else 0):
        length = LONGEST / math.sqrt(size) * 10.0 ** (-DECADES * rng.random((chains, 1)))
        step = (length * rng.standard_normal((chains, size))) @ where.root.T
        there, wider = hyper + step, step @ spreads.T
        mean = model.means(hyper)
        its_x = model.means(there) + (x - mean) * np.exp(wider)
        its_log = _log_density(where, its_x, there)
        goes = np.log(rng.random(chains)) < its_log - log + wider.sum(axis=1)  # of what is not finite none
        x, hyper = (np.where(goes[:, None], *both) for both in ((its_x, x), (there, hyper)))
        log, moved = np.where(goes, its_log, log), moved | goes
    out = z.copy()
    out[moved] = where.at(x[moved], hyper[moved])
    return out


def _log_density(where: Coordinates, x: Floats, hyper: Floats) -> Floats:
    """Log density of answers, latent values and the logarithms of spreads and means, shape (points,)."""
    model = where.nested.model
    prior = model.prior(x, hyper).log.sum(axis=-1) + model.hyper_prior(hyper)[0]
    return np.asarray(where.answers(model.predictors(x, hyper))[0] + prior)
