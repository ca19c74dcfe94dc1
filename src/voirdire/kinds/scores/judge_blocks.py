"""Block approximation of the Hessian of scores on an ordered scale, without items, that is cheap to invert.

Each judge has parameters of its own (slope, severity, location and gaps of its cutpoints), and judges share others (the
panel's cutpoints, severities of groups). The matrix is the Gauss-Newton approximation, which is positive semidefinite,
with a block for each judge and a bordered block for shared parameters. Second derivatives by judges and items are left
out: conjugate gradients correct for them (:mod:`voirdire.infer.matrix_free`). Memory grows with judges times the
square of the levels; above ``MAX_BLOCK_NUMBERS``, gaps of cutpoints are approximated by their diagonal.

Cutpoints are a location and logarithms of gaps (:func:`voirdire.model.terms.cutpoints.spread_cutpoints`). With F the
derivatives by cutpoints, the derivatives by these are sum_l F_l and gap_j (sum_{l > j} F_l - sum_l F_l / 2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voirdire.kinds.scores import ordinal
from voirdire.kinds.scores.layout import ScoresLayout
from voirdire.kinds.scores.level_answers import AnswerDerivatives, JudgeEffects
from voirdire.model.terms.arrays import zero_sum
from voirdire.model.terms.parameters import Normal, TwoSided
from voirdire.model.terms.raters import slope_scale
from voirdire.typing import Floats, Ints

MAX_BLOCK_NUMBERS = 5e6  # largest number of entries in the blocks
NO_VALUE_PRECISION = 1e30  # precision of the dummy entry after the end of g
#: Parameters that the matrix contains.
BLOCK_PARAMETERS = frozenset(
    {"raw_discrimination", "severity", "severity_group", "cut_location", "log_gap", "shift", "log_gap_judge"}
)


class JudgeBlocks:
    """The factored matrix at one point.

    Parameters
    ----------
    effects : JudgeEffects
    g : array, shape (size,)
    h : array, shape (effects + criteria,)
        Effects at g.
    at : AnswerDerivatives
        Derivatives of the answers at h.
    by_h : array, shape (effects + criteria,)
        Gradient of minus the log likelihood.
    """

    def __init__(
        self, effects: JudgeEffects, g: Floats, h: Floats, derivatives: AnswerDerivatives, by_h: Floats
    ) -> None:
        small, sums = effects.small, _derivative_sums(effects.small, h, derivatives, by_h)
        block_cuts = 1 if _count_numbers(small) > MAX_BLOCK_NUMBERS else small.levels - 1
        self._own, self._shared, self._alone = _parameter_places(small, block_cuts)
        judge_hessian, border, shared_hessian = _block_hessians(effects, g, sums, block_cuts)
        precision = np.append(_prior_precisions(small), NO_VALUE_PRECISION)
        judge_hessian += precision[self._own][:, :, None] * np.eye(judge_hessian.shape[1])
        self._root = _inverse_root(judge_hessian)
        self._border = self._root @ border
        white = self._border.reshape(-1, len(shared_hessian))
        schur = shared_hessian + np.diag(precision[self._shared]) - white.T @ white
        self._middle = _inverse_root(schur)
        widths = sums.gap_derivatives()
        own_widths = [widths.ravel()] if ordinal.has_judge_cutpoints(small) else []
        all_widths = np.concatenate([*own_widths, widths.sum(axis=0).ravel()])
        self._scale = np.sqrt(all_widths[len(all_widths) - len(self._alone) :] + precision[self._alone])

    def divide(self, g: Floats) -> Floats:
        """Multiply a vector, shape (size,), by the inverse; parameters outside the matrix stay unchanged."""
        return self.from_white(self.to_white(g))

    def to_white(self, g: Floats) -> Floats:
        """Multiply a vector, shape (size,), by L^-1, with L L' the matrix."""
        out = np.append(g, 0.0)
        out[self._alone] /= self._scale
        judge_values = np.einsum("kop,kp->ko", self._root, out[self._own])
        out[self._shared] = self._middle @ (out[self._shared] - np.einsum("kos,ko->s", self._border, judge_values))
        out[self._own] = judge_values
        return out[:-1]

    def from_white(self, white: Floats) -> Floats:
        """Multiply a vector, shape (size,), by L'^-1; white noise becomes noise with the inverse as covariance."""
        out = np.append(white, 0.0)
        out[self._alone] /= self._scale
        out[self._shared] = self._middle.T @ out[self._shared]
        judge_values = out[self._own] - self._border @ out[self._shared]
        out[self._own] = np.einsum("kpo,kp->ko", self._root, judge_values)
        return out[:-1]


def _inverse_root(matrices: Floats) -> Floats:
    """R with R' R the inverse of matrices, shape (..., n, n); eigenvalues are made positive where necessary."""
    try:
        return np.linalg.inv(np.linalg.cholesky(matrices))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(matrices)
        values = np.maximum(np.abs(values), 1e-8 * np.abs(values).max(axis=-1, keepdims=True))
        return np.asarray((vectors / np.sqrt(values)[..., None, :]).swapaxes(-1, -2))


def _count_numbers(small: ScoresLayout) -> int:
    """Count the entries of the blocks of judges and their borders with all cutpoints."""
    cuts = small.criteria * (small.levels - 1)
    block = 2 + cuts * ordinal.has_judge_cutpoints(small)
    return small.judges * block * (block + cuts + small.groups)


def _parameter_places(small: ScoresLayout, kept: int) -> tuple[Ints, Ints, Ints]:
    """Indices in g of judges' own parameters, shape (judges, block), of shared ones, and of those outside blocks.

    ``kept`` coordinates of cutpoints are in blocks; the index after the end stands for no parameter.
    """
    judges, criteria, gaps = small.judges, small.criteria, small.levels - 2

    def places_of(name: str, *shape: int) -> Ints:
        span = small.parameter_slices.get(name)
        return np.arange(small.size)[span or slice(0)].reshape(shape)

    judge_places = (
        [places_of("raw_discrimination", judges, 1)] if "raw_discrimination" in small.parameter_slices else []
    )
    # severities sum to zero: the free coordinates are nearly those of all judges but the first
    judge_places.append(np.append(small.size, places_of("severity", judges - 1))[:, None])
    separate_places = []
    if ordinal.has_judge_cutpoints(small):
        cuts = [places_of("shift", judges, criteria, 1), places_of("log_gap_judge", judges, criteria, gaps)]
        cut_places = np.concatenate(cuts, axis=-1)
        judge_places.append(cut_places[..., :kept].reshape(judges, -1))
        separate_places.append(cut_places[..., kept:].ravel())
    panel = np.concatenate([places_of("cut_location", criteria, 1), places_of("log_gap", criteria, gaps)], axis=-1)
    separate_places.append(panel[:, kept:].ravel())
    shared = np.append(panel[:, :kept], places_of("severity_group", small.groups - 1))
    return np.concatenate(judge_places, axis=-1), shared, np.concatenate(separate_places)


def _prior_precisions(small: ScoresLayout) -> Floats:
    """Precisions of the priors, shape (size,); for two-sided priors that of one side."""
    precision = np.zeros(small.size)
    for parameter in small.parameters:
        if isinstance(parameter.prior, Normal | TwoSided):
            precision[small.parameter_slices[parameter.name]] = parameter.prior.sd**-2.0
    return precision


def _block_hessians(
    effects: JudgeEffects, g: Floats, sums: _DerivativeSums, kept: int
) -> tuple[Floats, Floats, Floats]:
    """Second derivatives of minus the log likelihood: judges' own parameters, own by shared, and shared ones."""
    small = effects.small
    judges, values = small.judges, small.values(g, np)
    by_severity = _derivatives_by_gaps(sums.severity_cut, sums.gap)[..., :kept].reshape(judges, 1, -1)
    judge_block, cut_block = sums.severity.sum(axis=1)[:, None, None], by_severity
    if "raw_discrimination" in values:
        scale = slope_scale(values["raw_discrimination"]) * effects.unit(values)[0]
        slope, slope_severity = (sums.slope * scale**2).sum(axis=1), (sums.slope_severity * scale).sum(axis=1)
        block = [slope, slope_severity, slope_severity, judge_block[:, 0, 0]]
        judge_block = np.stack(block, axis=-1).reshape(judges, 2, 2)
        by_slope = _derivatives_by_gaps(sums.slope_cut * scale[:, None], sums.gap)[..., :kept].reshape(judges, 1, -1)
        cut_block = np.concatenate([by_slope, by_severity], axis=1)
    cut_hessian = sums.within() if kept > 1 else sums.location()[..., None] * np.eye(small.criteria)
    # shape (judges, groups - 1)
    group_design = zero_sum(np.eye(small.groups - 1), small.groups, np).T[effects.group]
    if ordinal.has_judge_cutpoints(small):
        judge_hessian = np.block([[judge_block, cut_block], [cut_block.transpose(0, 2, 1), cut_hessian]])
        border, panel_hessian = judge_hessian[:, :, judge_block.shape[1] :], cut_hessian.sum(axis=0)
    else:
        judge_hessian, border, panel_hessian = judge_block, cut_block, cut_hessian[0]
    severity_row = judge_block.shape[1] - 1
    border = np.concatenate([border, judge_hessian[:, :, severity_row, None] * group_design[:, None, :]], axis=-1)
    cut_group = by_severity[:, 0].T @ group_design
    groups = group_design.T @ (group_design * judge_hessian[:, severity_row, severity_row, None])
    return judge_hessian, border, np.block([[panel_hessian, cut_group], [cut_group.T, groups]])


class _DerivativeSums(NamedTuple):
    """Second derivatives of minus the log likelihood by slopes, severities and cutpoints, per judge and criterion.

    Shapes are (judges, criteria), with cutpoints (judges, criteria, levels - 1). ``cut`` is by each cutpoint alone,
    ``next_cut`` by neighbouring cutpoints. ``gap`` holds the gaps of cutpoints, ``pull`` the gradient by cutpoints.
    These four have shape (1, ...), summed over the panel, if judges have common cutpoints.
    """

    slope: Floats
    slope_severity: Floats
    severity: Floats
    slope_cut: Floats
    severity_cut: Floats
    cut: Floats
    next_cut: Floats
    gap: Floats
    pull: Floats

    def location(self) -> Floats:
        """Second derivatives by the location of cutpoints, shape (judges or 1, criteria)."""
        return np.asarray(self.cut.sum(axis=-1) + 2.0 * self.next_cut.sum(axis=-1))

    def gap_derivatives(self) -> Floats:
        """Second derivatives by each log gap, shape (judges or 1, criteria, levels - 2)."""
        return self.gap**2 * (0.25 * self.location()[..., None] - self.next_cut) + self._gap_curvature()

    def within(self) -> Floats:
        """Second derivatives by location and log gaps, shape (judges or 1, cuts, cuts), cuts of all criteria."""
        judges, criteria, top = self.cut.shape
        block = np.zeros((judges, criteria, top, top))
        cut, gap_index = np.arange(top), np.arange(top - 1)
        block[..., cut, cut] = self.cut
        block[..., gap_index, gap_index + 1] = block[..., gap_index + 1, gap_index] = self.next_cut
        gap = self.gap[:, :, None]
        block = _derivatives_by_gaps(_derivatives_by_gaps(block, gap).swapaxes(-1, -2), gap)
        block[..., gap_index + 1, gap_index + 1] += self._gap_curvature()
        matrix = np.zeros((judges, criteria, top, criteria, top))
        for criterion in range(criteria):
            matrix[:, criterion, :, criterion] = block[:, criterion]
        return matrix.reshape(judges, criteria * top, criteria * top)

    def _gap_curvature(self) -> Floats:
        """Second derivatives from the exponential of log gaps if a wider gap makes answers less probable; else 0."""
        return np.maximum(_derivatives_by_gaps(self.pull, self.gap)[..., 1:], 0.0)


def _derivative_sums(small: ScoresLayout, h: Floats, derivatives: AnswerDerivatives, by_h: Floats) -> _DerivativeSums:
    judges, criteria, top, runs = small.judges, small.criteria, small.levels - 1, derivatives.answers
    cells, no_cut = judges * criteria, judges * criteria * top
    lower = np.where(runs.level > 0, runs.cell * top + runs.level - 1, no_cut)
    upper = np.where(runs.level < top, runs.cell * top + runs.level, no_cut)

    def by_cell(weight: Floats) -> Floats:
        return np.asarray(np.bincount(runs.cell, weight, cells).reshape(judges, criteria), dtype=float)

    def by_cut(below: Floats, above: Floats) -> Floats:
        total = np.bincount(lower, below, no_cut + 1) + np.bincount(upper, above, no_cut + 1)
        return np.asarray(total[:-1].reshape(judges, criteria, top))

    below, above = derivatives.curvature_sums
    slope_below, slope_above = (
        runs.by_run(derivatives.bend_below * derivatives.z),
        runs.by_run(derivatives.bend_above * derivatives.z),
    )
    cut_span = slice(judges * (criteria + 1), runs.effects)
    cuts, pull = (row[cut_span].reshape(-1, criteria, top) for row in (h, by_h))
    cut = by_cut(below + derivatives.bend_gap, above + derivatives.bend_gap)
    next_cut = by_cut(-derivatives.bend_gap, 0.0 * derivatives.bend_gap)[..., :-1]
    if not ordinal.has_judge_cutpoints(small):
        cut, next_cut = cut.sum(axis=0, keepdims=True), next_cut.sum(axis=0, keepdims=True)
    slope_square = runs.by_run(derivatives.predictor_curvature * derivatives.z**2)
    by_cells = by_cell(slope_square), by_cell(-slope_below - slope_above), by_cell(below + above)
    by_cuts = by_cut(-slope_below, -slope_above), by_cut(below, above)
    return _DerivativeSums(*by_cells, *by_cuts, cut, next_cut, np.diff(cuts, axis=-1), pull)


def _derivatives_by_gaps(rows: Floats, gap: Floats) -> Floats:
    """Transform derivatives by cutpoints, shape (..., cutpoints), to derivatives by location and log gaps."""
    total = rows.sum(axis=-1, keepdims=True)
    after = total - rows.cumsum(axis=-1)[..., :-1]
    return np.concatenate([total, gap * (after - 0.5 * total)], axis=-1)
