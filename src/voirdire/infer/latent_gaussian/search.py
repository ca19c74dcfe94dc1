"""Quasi-Newton search for spreads, by any function that computes their density and its gradient."""

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

SPREAD_TOLERANCE = 0.1  # gradient by log spreads at convergence, in standard deviations
ROUGH_TOLERANCE = 0.5  # the same for a first search
MAX_STEPS = 60
MAX_IDLE_STEPS = 4  # steps without a gain after which a search with slack ends
MAX_STEP = 1.0  # longest change of a logarithm in one step
MIN_LOG_SPREAD, MAX_LOG_SPREAD = -7.0, 4.0  # limits of logarithms of spreads
MAX_LOG_SPREAD_SD = 1.5  # largest standard deviation of a log spread
PROPAGATION_NOTE = (
    "Some values have few answers each (an item's value in a context, a judge's taste for it): they were "
    "integrated out by expectation propagation."
)
PART_NOTE = "Spreads were learned from the answers of {some:,} of {all:,} contexts, drawn at random; all else from all."


@dataclass(frozen=True, eq=False)
class SpreadSearch:
    """Result of the search for the spreads.

    Attributes
    ----------
    model : LatentGaussianModel
    mode : ConditionalMode
        Spreads and latent values at the maximum.
    slope : float
        Largest component of the gradient there, in standard deviations.
    evaluations : int
    inverse : array, shape (hypers, hypers)
        Inverse curvature, as estimated by the search.
    value : float
        Log density of the spreads there, up to a constant.
    missing : array, shape (hypers,), or None
        Terms that a gradient of the evidence neglects; see :mod:`.few_observations`.
    by_part : int
        Number of blocks that spreads were learned from in very large tables; 0 for all blocks.
    amiss : str
        Reason why propagation failed and Laplace's method was used; empty if it succeeded or was not needed.
    is_rough : bool
        True if the search ended early, because chains go on from there.
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
        """Whitening by the factor at the end of the search."""
        return choose_whitening(self.mode.factor)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user on the method."""
        if isinstance(self.mode, Propagated):
            lines = (PROPAGATION_NOTE,)
            blocks = int(self.model.pattern.block.max(initial=-1)) + 1
            return (*lines, PART_NOTE.format(some=self.by_part, all=blocks)) if self.by_part else lines
        return ()


def search_spreads(
    marginal: Marginal, start: Floats, inverse: Floats, tolerance: float, slack: float = 0.0, tries: int = 8
) -> SpreadSearch:
    """Search from ``start`` until the gradient is below ``tolerance``, in standard deviations.

    ``inverse`` is a guess of the inverse curvature. A step is accepted if the value increases by less than ``slack``,
    up to the usual condition of decrease. The search ends after ``tries`` shorter and shorter steps without success;
    with slack also after :data:`MAX_IDLE_STEPS` steps without a decrease by it, because an inexact gradient may lead
    in circles.
    """
    value, slope = marginal(start)
    state = marginal.last, marginal.moves
    lowest, idle = value, 0
    for _ in range(MAX_STEPS):
        step = -inverse @ slope
        if math.sqrt(max(-float(slope @ step), 0.0)) < tolerance or not len(start):
            break
        step *= min(1.0, MAX_STEP / max(np.abs(step).max(), 1e-300))
        for _ in range(tries):
            candidate = np.clip(start + step, MIN_LOG_SPREAD, MAX_LOG_SPREAD)
            # start from the last step's mode, as latent values may have several modes
            marginal.last, marginal.moves = state
            new_value, new_slope = marginal(candidate)
            if new_value < value + 1e-4 * slope @ (candidate - start) + slack:
                break
            step *= 0.3
        else:
            break
        change, gradient_change = candidate - start, new_slope - slope
        inverse = _update_inverse(inverse, change, gradient_change)
        start, value, slope = candidate, new_value, new_slope
        state = marginal.last, marginal.moves
        idle = 0 if value < lowest - slack else idle + 1
        lowest = min(lowest, value)
        if slack and idle == MAX_IDLE_STEPS:
            break
    best = marginal.best
    assert best is not None  # it was evaluated at least once
    size = math.sqrt(max(float(slope @ inverse @ slope), 0.0))
    return SpreadSearch(marginal.model, best, size, marginal.evaluations, inverse, -marginal.best_value)


def values_per_spread(model: LatentGaussianModel) -> Floats:
    """Count the latent values that inform each spread, shape (hypers,)."""
    total = np.sum(model.levels, axis=(0, 1))
    return np.asarray(total if model.scales is None else total + abs(model.scales).sum(axis=0))


def bounded_inverse(curvature: Floats, max_sd: float) -> Floats:
    """Invert second derivatives, made symmetric, with no standard deviation above ``max_sd`` in any direction."""
    values, vectors = np.linalg.eigh(0.5 * (curvature + curvature.T))
    return np.asarray((vectors / np.maximum(values, max_sd**-2)) @ vectors.T)


def _update_inverse(inverse: Floats, step: Floats, gradient_change: Floats) -> Floats:
    curvature = float(step @ gradient_change)
    if curvature <= 1e-10 * float(np.linalg.norm(step) * np.linalg.norm(gradient_change)):
        return inverse
    projection = np.eye(len(step)) - np.outer(step, gradient_change) / curvature
    return np.asarray(projection @ inverse @ projection.T + np.outer(step, step) / curvature)
