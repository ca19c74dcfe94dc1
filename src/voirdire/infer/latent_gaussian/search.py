"""Quasi-Newton search for spreads, by any function that gives their density with its gradient."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from voirdire.infer.latent_gaussian.marginal import ConditionalMode, Marginal
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.propagation import Propagated
from voirdire.infer.latent_gaussian.whitening import Whitening, choose_whitening
from voirdire.typing import Floats

SPREAD_TOLERANCE = 0.1  # of the gradient by logarithms of spreads, in their standard deviations
ROUGH_TOLERANCE = 0.5  # that of a first search
MAX_STEPS = 60
MAX_IDLE_STEPS = 4  # steps without a gain after which a search with slack ends
MAX_STEP = 1.0  # that a logarithm moves in one step
MIN_LOG_SPREAD, MAX_LOG_SPREAD = -7.0, 4.0  # logarithms of spreads
MAX_LOG_SPREAD_SD = 1.5  # standard deviation of such a logarithm, at most
PROPAGATION_NOTE = (
    "Answers say little of each value that is integrated out (an item's in a context, a judge's taste for it): these "
    "were integrated out by expectation propagation."
)
PART_NOTE = "Spreads were learned from the answers of {some:,} of {all:,} contexts, drawn at random, all else from all."


@dataclass(frozen=True, eq=False)
class SpreadSearch:
    """End of the search of the spreads.

    Attributes
    ----------
    model : LatentGaussianModel
    mode : ConditionalMode
        Spreads and latent values at the maximum.
    slope : float
        Largest component of the gradient there, in standard deviations.
    evaluations : int
    inverse : array, shape (hypers, hypers)
        The search's own estimate of the inverse curvature.
    value : float
        Log density of the spreads there, up to a constant.
    missing : array, shape (hypers,), or None
        What a gradient of the evidence leaves out; see :mod:`.few_observations`.
    by_part : int
        Number of blocks that spreads were learned from, in a table so large that little is done again; 0 where it was
        all.
    amiss : str
        Why propagation, which the table calls for, was not what found them; empty where it was, or is not called for.
    is_rough : bool
        Whether the search ended early, as chains go on from there.
    """

    model: LatentGaussianModel
    mode: ConditionalMode
    slope: float
    evaluations: int
    inverse: Floats
    value: float
    missing: Floats | None = None
    by_part: int = 0
    amiss: str = ""
    is_rough: bool = False

    @cached_property
    def factor_whitening(self) -> Whitening:
        """Whitening by the factor where the search ended."""
        return choose_whitening(self.mode.factor)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on what was done, in words."""
        if isinstance(self.mode, Propagated):
            lines = (PROPAGATION_NOTE,)
            blocks = int(self.model.pattern.block.max(initial=-1)) + 1
            return (*lines, PART_NOTE.format(some=self.by_part, all=blocks)) if self.by_part else lines
        return ()


def search_spreads(
    marginal: Marginal,
    here: Floats,
    inverse: Floats,
    tolerance: float,
    slack: float = 0.0,
    tries: int = 8,
) -> SpreadSearch:
    """Search from ``here``, with a guess of the ``inverse`` curvature, until the gradient is below ``tolerance``.

    ``tolerance`` in standard deviations; values that are higher by ``slack`` are as good. It ends where so many
    ``tries`` of one step, each shorter than the last, lead to no better value, and where there is slack after so
    many steps (``MAX_IDLE_STEPS``) that found none that is lower by it: a slope that is not quite that of the values
    leads round.
    """
    value, slope = marginal(here)
    state = marginal.last, marginal.moves
    lowest, idle = value, 0
    for _ in range(MAX_STEPS):
        step = -inverse @ slope
        if math.sqrt(max(-float(slope @ step), 0.0)) < tolerance or not len(here):
            break
        step *= min(1.0, MAX_STEP / max(np.abs(step).max(), 1e-300))
        for _ in range(tries):
            candidate = np.clip(here + step, MIN_LOG_SPREAD, MAX_LOG_SPREAD)
            # where latent values have several modes, from that of the last step
            marginal.last, marginal.moves = state
            new_value, new_slope = marginal(candidate)
            if new_value < value + 1e-4 * slope @ (candidate - here) + slack:
                break
            step *= 0.3
        else:
            break
        change, gradient_change = candidate - here, new_slope - slope
        inverse = _update_inverse(inverse, change, gradient_change)
        here, value, slope = candidate, new_value, new_slope
        state = marginal.last, marginal.moves
        idle = 0 if value < lowest - slack else idle + 1
        lowest = min(lowest, value)
        if slack and idle == MAX_IDLE_STEPS:
            break
    best = marginal.best
    assert best is not None  # it was evaluated once at least
    size = math.sqrt(max(float(slope @ inverse @ slope), 0.0))
    return SpreadSearch(marginal.model, best, size, marginal.evaluations, inverse, -marginal.best_value)


def values_per_spread(model: LatentGaussianModel) -> Floats:
    """Number of latent values that inform each spread."""
    names = [hyper.name for hyper in model.hypers]
    total = np.zeros(len(names))
    for group in model.groups:
        for name in (group.spread, group.mean):
            if name in names:
                total[names.index(name)] += group.size
    return total if model.scales is None else total + abs(model.scales).sum(axis=0)


def bounded_inverse(curvature: Floats, widest: float) -> Floats:
    """Inverse of second derivatives, made symmetric, in no direction wider than a standard deviation."""
    values, vectors = np.linalg.eigh(0.5 * (curvature + curvature.T))
    return np.asarray((vectors / np.maximum(values, widest**-2)) @ vectors.T)


def _update_inverse(inverse: Floats, moved: Floats, turned: Floats) -> Floats:
    curvature = float(moved @ turned)
    if curvature <= 1e-10 * float(np.linalg.norm(moved) * np.linalg.norm(turned)):
        return inverse
    projection = np.eye(len(moved)) - np.outer(moved, turned) / curvature
    return np.asarray(projection @ inverse @ projection.T + np.outer(moved, moved) / curvature)
