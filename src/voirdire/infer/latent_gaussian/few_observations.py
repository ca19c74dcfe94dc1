"""Spreads of sparse answers by maximum evidence; in tables of very many blocks, from some of the blocks.

Some thousands of answers in a hundred blocks (prompts) determine spreads well. In larger tables the spreads are learned
from that many, drawn at random, with the uncertainty of that subset; all other values are learned from all answers,
the spreads given. The gradient of the evidence neglects one term (see :mod:`.evidence`). That term is the difference
between values of the evidence and the integral of its gradient, from the differences that also give the curvature. It
is computed after a rough search, and once more if the search then moves far.

Evidence of spreads by expectation propagation, with its gradient: :mod:`.marginal` for sparse answers.

The log evidence is that of :mod:`.propagation` at the maximum by the kept values, less half the log determinant of its
second derivatives by them (Laplace's method in these few values alone). Its derivative by a spread is the mean of the
derivative of the log prior density under the normal approximation q to all values,

    d log p(y | phi) / d phi_a ~= E_q d log p(x | phi) / d phi_a.

This neglects the change of that last determinant with the spreads of other values, which is of the order of one answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from voirdire.infer.latent_gaussian.hessian_pattern import distinct_codes
from voirdire.infer.latent_gaussian.latent_priors import DIFFERENCE_STEP
from voirdire.infer.latent_gaussian.marginal import ConditionalMode, Marginal
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.propagation import (
    MAX_SWEEPS,
    NotConverged,
    Propagated,
    propagate_answers,
    propagation_applies,
)
from voirdire.infer.latent_gaussian.search import (
    MAX_LOG_SPREAD_SD,
    MIN_LOG_SPREAD,
    ROUGH_TOLERANCE,
    SPREAD_TOLERANCE,
    SpreadSearch,
    bounded_inverse,
    search_spreads,
    values_per_spread,
)
from voirdire.typing import Floats, Ints

QUADRATURE_NODES = 5  # nodes for the mean of a slope; a quadratic one needs two


@dataclass(eq=False)
class Evidence(Marginal):
    """Minus the log posterior density of spreads; see :class:`.marginal.Marginal`.

    Attributes
    ----------
    sweeps : int
        Sweeps at each point, at most; below the default, the last sites are used even where they have not converged.
    missing : array, shape (hypers,), or None
        Correction that is added to the gradient of the log evidence.
    """

    sweeps: int = MAX_SWEEPS
    missing: Floats | None = None

    def find_latent(self, hyper: Floats) -> ConditionalMode:
        """Find the latent values given spreads, starting from the last point."""
        self.evaluations += 1
        sites = self.last.sites if isinstance(self.last, Propagated) else None
        shifted = self.predicted_latent(hyper)
        start = np.where(self.model.kept & np.isfinite(shifted), shifted, self.last.x)
        return propagate_answers(self.model, hyper, start, sites, self.sweeps)

    def __call__(self, hyper: Floats) -> tuple[float, Floats]:
        """Compute minus the log density and its gradient; infinite where sites do not converge."""
        try:
            return super().__call__(hyper)
        except NotConverged:
            return np.inf, np.zeros(len(hyper))

    def gradient_at(self, mode: ConditionalMode) -> tuple[Floats, Floats]:
        """Compute the gradient of the log evidence, and the derivatives of the means, shape (size, hypers)."""
        slope, moves = evidence_gradient(self.model, mode)
        return slope if self.missing is None else slope + self.missing, moves


def evidence_gradient(model: LatentGaussianModel, mode: ConditionalMode) -> tuple[Floats, Floats]:
    """Compute the gradient of the log evidence by log spreads, and the derivatives of means, shape (size, hypers)."""
    sd = np.sqrt(mode.factor.marginal_variances())
    nodes, weights = np.polynomial.hermite_e.hermegauss(QUADRATURE_NODES)
    total = np.zeros(len(mode.hyper))
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        total += weight * model.slopes_of_prior(mode.x + node * sd, mode.hyper)[2]
    steps = DIFFERENCE_STEP * np.eye(len(mode.hyper))
    pushes = [
        model.prior(mode.x, mode.hyper + step).slope - model.prior(mode.x, mode.hyper - step).slope for step in steps
    ]
    moves = mode.factor.solve_system(np.reshape(pushes, (len(steps), -1)).T / (2.0 * DIFFERENCE_STEP))
    return total, moves


MIN_ANSWERS_PER_VALUE = 8.0  # answers per integrated-out value below which Laplace's method is too inaccurate
BLOCK_RANGE = (60, 300)  # fewest and most blocks that spreads are learned from
TARGET_ANSWERS = 15_000.0  # answers in these blocks
MANY_BLOCKS = 450  # blocks of a table from which that is done
SPREAD_STEP = 0.1  # step of differences, in the logarithm of a spread
EVIDENCE_SLACK = 0.02  # difference of the evidence between ends of sweeps
MAX_SPREAD_CHANGE = 0.5  # change of a log spread from which differences are computed again


def is_sparse(model: LatentGaussianModel) -> bool:
    """Return True if answers are too sparse for Laplace's method, and propagation applies."""
    return propagation_applies(model) and 0.0 < answers_per_value(model) < MIN_ANSWERS_PER_VALUE


def answers_per_value(model: LatentGaussianModel) -> float:
    """Count answers per integrated-out value of a block, among values that answers depend on; 0 without such values."""
    pattern = model.integrated
    answered = max(float(np.sum(counts)) for counts in model.counted.counts)
    used = distinct_codes(pattern.index[pattern.coefficients != 0], pattern.size)
    own_values = used[pattern.block[used] >= 0]
    entries = np.count_nonzero(pattern.coefficients * np.append(pattern.block >= 0, False)[pattern.index])
    return float(answered * entries / max(len(pattern.index), 1) / len(own_values)) if len(own_values) else 0.0


def search_by_evidence(model: LatentGaussianModel, x: Floats, hyper: Floats) -> SpreadSearch:
    """Search for the spreads from latent values ``x`` and logarithms of spreads ``hyper``.

    Raises
    ------
    NotConverged
        Expectation propagation did not converge.
    """
    if not has_many_blocks(model):
        return _search_whole(model, x, hyper)
    part, positions = _sampled_blocks(model)
    part_search = _search_whole(part, x[positions], hyper)
    start = np.array(x)
    start[positions] = part_search.mode.x
    mode = propagate_answers(model, part_search.mode.hyper, start)
    count = _blocks_used(model)
    return replace(part_search, model=model, mode=mode, value=_log_posterior(model, mode), by_part=count)


def _log_posterior(model: LatentGaussianModel, mode: ConditionalMode) -> float:
    return mode.log_marginal + float(model.hyper_prior(mode.hyper)[0])


def has_many_blocks(model: LatentGaussianModel) -> bool:
    """Return True if there are so many blocks that spreads are learned from some of them."""
    return int(model.pattern.block.max(initial=-1)) + 1 >= MANY_BLOCKS


def evidence_gain(search: SpreadSearch, x: Floats) -> float:
    """Compute the gain in log evidence of a start at latent values ``x``, at the spreads of the search.

    Tables of very many blocks use some of the blocks.
    """
    model, hyper, value = search.model, search.mode.hyper, search.mode.log_marginal
    try:
        if has_many_blocks(model):
            model, positions = _sampled_blocks(model)
            x, value = x[positions], propagate_answers(model, hyper, search.mode.x[positions]).log_marginal
        return propagate_answers(model, hyper, x).log_marginal - value
    except NotConverged:
        return -np.inf


def _sampled_blocks(model: LatentGaussianModel) -> tuple[LatentGaussianModel, Ints]:
    """Return the model of some blocks, always the same ones, and the positions of its latent values."""
    is_kept = np.zeros(int(model.pattern.block.max()) + 1, dtype=bool)
    is_kept[np.random.default_rng(0).permutation(len(is_kept))[: _blocks_used(model)]] = True
    return model.model_of_blocks(is_kept)


def _blocks_used(model: LatentGaussianModel) -> int:
    """Count the blocks that spreads are learned from: on average they have :data:`TARGET_ANSWERS` answers together."""
    answers = max(float(np.sum(counts)) for counts in model.counted.counts)
    blocks = int(model.pattern.block.max()) + 1
    return int(np.clip(np.ceil(TARGET_ANSWERS * blocks / answers), *BLOCK_RANGE))


def _search_whole(model: LatentGaussianModel, x: Floats, hyper: Floats) -> SpreadSearch:
    evidence = Evidence(model, propagate_answers(model, hyper, x))
    start_inverse = np.diag(1.0 / (1.0 + 0.5 * values_per_spread(model)))
    search = search_spreads(evidence, hyper, start_inverse, ROUGH_TOLERANCE, EVIDENCE_SLACK, tries=1)
    if not len(hyper):
        return search
    evaluations = search.evaluations
    for _ in range(2):
        start = search.mode.hyper
        inverse, missing = _finite_difference_curvature(Evidence(model, search.mode, moves=evidence.moves), search)
        evidence = Evidence(model, search.mode, missing=missing)
        search = search_spreads(evidence, start, inverse, SPREAD_TOLERANCE, EVIDENCE_SLACK)
        evaluations += evidence.evaluations + len(hyper) + 1
        if np.abs(search.mode.hyper - start).max() < MAX_SPREAD_CHANGE:
            break
    return replace(search, evaluations=evaluations, missing=missing, inverse=inverse)


def _finite_difference_curvature(evidence: Evidence, rough_search: SpreadSearch) -> tuple[Floats, Floats]:
    """Compute the inverse curvature of the evidence by the spreads, and the terms that its gradient neglects."""
    centre = rough_search.mode.hyper
    evidence.last = rough_search.mode
    value, slope = evidence(centre)
    start, moves = evidence.last, evidence.moves
    curvature, missing = np.empty((len(centre), len(centre))), np.empty(len(centre))
    for a in range(len(centre)):
        step = np.zeros(len(centre))
        step[a] = SPREAD_STEP if centre[a] < MIN_LOG_SPREAD + 1.0 else -SPREAD_STEP
        for _ in range(2):  # try the other side where propagation does not converge
            evidence.last, evidence.moves = start, moves
            new_value, new_slope = evidence(centre + step)
            if np.isfinite(new_value):
                break
            step = -step
        else:
            raise NotConverged("no curvature of the evidence")
        curvature[a] = (new_slope - slope) / step[a]
        missing[a] = (new_value - value) / step[a] - 0.5 * (slope + new_slope)[a]
    return bounded_inverse(curvature, MAX_LOG_SPREAD_SD), -missing
