"""The mirrored twin of a posterior: folding draws, and the mass of the other orientation.

If the likelihood does not change under a volume-preserving involution M (strengths change sign, judges' coins are
reversed), the posterior has two modes, which only the prior distinguishes. Human answers keep their coin when the panel
is reversed, so they distinguish the two as the prior does; below, "prior" is the prior times their likelihood. Let A be
the half with prior(x) >= prior(Mx). Then the mass outside A is

    P(not A) = integral_A L prior(Mx) / integral_A L (prior(x) + prior(Mx)) = R / (1 + R),

with R = E[prior(Mx) / prior(x)] over the posterior restricted to A. A sampler that targets L(x) (prior(x) + prior(Mx))
may stay in either mode or move between them. In both cases its draws, folded into A, have the density of the folded
posterior, and P(not A) = E[r / (1 + r)], r = prior(Mx) / prior(x), over them. People may prefer one orientation in some
draws and the other in others; then A is not an orientation of the panel. So the mass reported is that of the half where
the panel's prior alone is larger, or that of the other half, whichever is less (:func:`mirror_mass`).

Folded draws are used for diagnostics. Results about items and judges use the posterior itself, in which a folded draw
is replaced by its twin with probability r / (1 + r) (:func:`weigh_orientations`). Otherwise every interval and every
claim would assume that the panel as a whole is not wrong.

Labels have as many twins as there are permutations of their classes. All of this holds for any finite group of such
maps, with A where prior(x) is the largest among the twins, and prior(Mx) the sum over all the others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from voirdire.infer.importance import systematic_resample
from voirdire.model.density import Data, LogDensity
from voirdire.typing import Floats


def fold_draws(density: LogDensity, draws: Floats, data: Data) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """Mirror every draw into the half where the prior is larger.

    Parameters
    ----------
    draws : array, shape (..., size)
    draws : array, shape (..., size)
    data : dict
        Tables of the problem; only human answers are used.

    Returns
    -------
    folded : array, shape (..., size)
    ratio : array, shape (...)
        prior(Mx) / prior(x) of each folded draw (at most 1 if there is one twin).
    turned : bool array, shape (...)
        Mask of the draws that were mirrored.

    Examples
    --------
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.kinds.votes.density import VotesDensity
    >>> density = VotesDensity(load_model("crowd-bt"), judges=1, criteria=1, items=2, ties=False)
    >>> fold_draws(density, np.array([[1.0, -2.0]]), {})[0]
    array([[-1.,  2.]])
    """
    return density.fold_orientations(draws, data)


def orbit_weights(ratio: Floats, is_turned: npt.NDArray[np.bool_], alike: bool) -> Floats:
    """Compute weights that make folded draws those of the folded posterior.

    If the sampler targets all orientations alike, weights are equal. Otherwise it draws from L(x) prior(x) around one
    mode or the other, and the numbers on both sides are arbitrary. So only draws within A are used, with weights 1 + r;
    or if there are none, those outside, with weights 1 + 1/r.
    """
    if alike:
        return np.ones_like(ratio)
    if is_turned.all():
        return np.asarray(1.0 + 1.0 / np.maximum(ratio, 1e-300))
    return np.where(is_turned, 0.0, 1.0 + ratio)


def mirror_mass(ratio: Floats, weight: Floats, prefers: npt.NDArray[np.bool_] | bool = True) -> float:
    """Estimate the posterior mass of the other orientation from folded draws.

    Parameters
    ----------
    ratio, weight : array
        See :func:`orbit_weights`.
    prefers : bool array
        Mask of draws whose folded position has the larger prior without people's answers. Orientations are those of
        the panel, and people may prefer different ones in different draws; the less likely one is "the other".

    Examples
    --------
    >>> mirror_mass(np.array([1.0, 0.0]), np.ones(2)), mirror_mass(np.ones(2) / 4, np.ones(2), np.array([True, False]))
    (0.25, 0.5)
    """
    probability = ratio / (1.0 + ratio)
    other_mass = float(np.average(np.where(prefers, probability, 1.0 - probability), weights=weight))
    return other_mass if np.all(prefers) else min(other_mass, 1.0 - other_mass)


class Orientations(NamedTuple):
    """Draws of a posterior with twins.

    Attributes
    ----------
    folded : array, shape (chains, draws, size)
        Draws in the order of the sampler, each in its likelier orientation: for diagnostics.
    all_draws : array, shape (chains, draws, size)
        Draws of the posterior over all orientations: for results about items and judges.
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
    """Fold draws, shape (chains, draws, size), and give the other orientations their posterior mass.

    Each folded draw is replaced by a twin with probability r / (1 + r). Systematic sampling makes the number of twins
    match their mass up to one draw.

    Parameters
    ----------
    alike : bool
        True if the sampler targeted all orientations alike. Otherwise its draws are from L(x) prior(x) around one mode,
        and are first resampled by their :func:`orbit_weights`.

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
