"""The mirrored twin of a posterior: folding draws, and how much mass the other orientation has.

Where the likelihood does not change under a volume-keeping involution M (strengths change sign, judges' coins
turn over), the posterior has two modes and only the prior tells them apart. Human answers keep their coin where the
panel is turned round, so they tell the two apart as the prior does; below, "prior" is the prior times their likelihood.
Let A be the half where prior(x) >= prior(Mx). Then the mass outside A is

    P(not A) = integral_A L prior(Mx) / integral_A L (prior(x) + prior(Mx)) = R / (1 + R),

with R = E[prior(Mx) / prior(x)] over the posterior restricted to A. A sampler that targets L(x) (prior(x) + prior(Mx))
may sit in either mode or wander between them: its draws, folded into A, have the density of the folded posterior
whatever it does, and P(not A) = E[r / (1 + r)], r = prior(Mx) / prior(x), over them. People may prefer the one
orientation in some draws and the other in others, so that A is then no orientation of the panel: what is told is the
mass of the half where the panel's prior alone is larger, or of the other, whichever has less (:func:`mirror_mass`).

Folded draws serve diagnostics. What is said of items and judges rests on the posterior itself, in which a folded draw
is its twin with probability r / (1 + r) (:func:`weigh_orientations`): else every interval and every claim would take
for granted that the panel is not wrong as a whole.

Labels have as many twins as there are renamings of their classes. All of this holds for any finite group of such maps,
with A where prior(x) is the largest among the twins, and prior(Mx) the sum over all the others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from voirdire.infer.importance import systematic_resample
from voirdire.model.density import Data, LogDensity
from voirdire.model.terms.arrays import Array
from voirdire.typing import Floats


def symmetric_log_prior(density: LogDensity, x: Array, data: Data, xp: Any) -> Array:
    """Log of prior(x) + prior(Mx), a density over all orientations; the prior itself where there is no mirror."""
    return density.symmetric_log_prior(x, data, xp)


def fold_draws(
    density: LogDensity, draws: Floats, data: Data
) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """Mirror every draw into the half where the prior is larger.

    Parameters
    ----------
    draws : array, shape (..., size)
    data : dict
        The problem's tables, of which only human answers are read.

    Returns
    -------
    folded : array, shape (..., size)
    ratio : array, shape (...)
        prior(Mx) / prior(x) of each folded draw (at most 1 where there is one twin).
    turned : bool array, shape (...)
        Which draws were mirrored.

    Examples
    --------
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.kinds.votes.density import VotesDensity
    >>> density = VotesDensity(load_model("crowd-bt"), judges=1, criteria=1, items=2, ties=False)
    >>> fold_draws(density, np.array([[1.0, -2.0]]), {})[0]
    array([[-1.,  2.]])
    """
    return density.fold_orientations(draws, data)


def orbit_weights(ratio: Floats, turned: npt.NDArray[np.bool_], alike: bool) -> Floats:
    """Weights of folded draws with which they are those of the folded posterior.

    A sampler that targets all orientations alike gives such draws. Others give draws of L(x) prior(x) around one mode
    or the other: how many of them lie on either side says nothing, so those within A are used alone, with 1 + r or,
    where there are none, those outside, with 1 + 1/r.
    """
    if alike:
        return np.ones_like(ratio)
    if turned.all():
        return np.asarray(1.0 + 1.0 / np.maximum(ratio, 1e-300))
    return np.where(turned, 0.0, 1.0 + ratio)


def mirror_mass(ratio: Floats, weight: Floats, prefers: npt.NDArray[np.bool_] | bool = True) -> float:
    """Posterior mass of the other orientation, from folded draws.

    Parameters
    ----------
    ratio, weight : array
        See :func:`orbit_weights`.
    prefers : bool array
        Where the prior without people's answers prefers the folded draw to its twin: orientations are the panel's, and
        people may prefer the one in some draws and the other in others. The likelier of the two is not the other one.

    Examples
    --------
    >>> mirror_mass(np.array([1.0, 0.0]), np.ones(2)), mirror_mass(np.ones(2) / 4, np.ones(2), np.array([True, False]))
    (0.25, 0.5)
    """
    probability = ratio / (1.0 + ratio)
    other_mass = float(np.average(np.where(prefers, probability, 1.0 - probability), weights=weight))
    return other_mass if np.all(prefers) else min(other_mass, 1.0 - other_mass)


class Orientations(NamedTuple):
    """Draws of a posterior that has twins.

    Attributes
    ----------
    folded : array, shape (chains, draws, size)
        As the sampler gave them, each in the orientation that is the likelier one: for diagnostics.
    all_draws : array, shape (chains, draws, size)
        Of the posterior in all its orientations: for all that is said of items and judges.
    mass : float
        Probability of the other orientations (see :func:`mirror_mass`).
    folded_share : float
        Share of the draws that were folded.
    """

    folded: Floats
    all_draws: Floats
    mass: float
    folded_share: float


def weigh_orientations(
    density: LogDensity, draws: Floats, data: Data, alike: bool, rng: np.random.Generator
) -> Orientations:
    """Fold draws, shape (chains, draws, size), and give the other orientations the mass that is theirs.

    Each folded draw is replaced by a twin with probability r / (1 + r); as many are as the mass of the twins asks for,
    to one draw (systematic sampling).

    Parameters
    ----------
    alike : bool
        Whether the sampler targeted all orientations alike. If not, its draws are those of L(x) prior(x) around one
        mode: they are drawn anew first, by their :func:`orbit_weights`.

    Examples
    --------
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.kinds.votes.density import VotesDensity
    >>> density = VotesDensity(load_model("crowd-bt"), judges=1, criteria=1, items=2, ties=False)
    >>> draws = np.full((1, 1000, 2), [2.0, -1.0])
    >>> found = weigh_orientations(density, draws, {}, True, np.random.default_rng(0))
    >>> round(found.mass, 3), round(float((found.all_draws[..., 1] < 0).mean()), 3)
    (0.161, 0.161)
    """
    folded, ratio, is_turned = fold_draws(density, draws, data)
    weight = orbit_weights(ratio, is_turned, alike)
    mass = mirror_mass(ratio, weight, density.prior_prefers(folded))
    size, share = folded.shape[-1], float(is_turned.mean())
    unfolded, odds = folded.reshape(-1, size), ratio.ravel()
    if not alike:
        resampled = systematic_resample(weight.ravel() / weight.sum(), weight.size, rng)
        unfolded, odds = unfolded[resampled], odds[resampled]
    cumulative = np.floor(np.cumsum(odds / (1.0 + odds)) + rng.random())
    twins = np.flatnonzero(np.diff(cumulative, prepend=0.0))
    if len(twins):
        unfolded = unfolded.copy()
        unfolded[twins] = density.some_twin(unfolded[twins], data, rng)
    return Orientations(folded, unfolded.reshape(folded.shape), mass, share)
