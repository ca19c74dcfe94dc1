"""Model and table of a nested approximation: latent values, their spreads, and the answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.infer.latent_gaussian.answers import Answers, CellAnswers
from voirdire.infer.latent_gaussian.division import Division
from voirdire.infer.latent_gaussian.hessian_pattern import Pattern
from voirdire.infer.latent_gaussian.latent_priors import UNSKEWED_SHARE, Group, Hyperparameter, LatentPriors
from voirdire.typing import Bools, Floats, Ints

FIXED_SD = 1e-3  # prior standard deviation of a fixed latent value


@dataclass(frozen=True, eq=False)
class LatentGaussianModel(LatentPriors):
    """Model of one table whose answers depend on sums of latent values.

    Parameters
    ----------
    groups : tuple of Group
        Groups in the order of the latent values.
    hypers : tuple of Hyperparameter
    pattern : Pattern
        Latent values and coefficients of the predictors of each cell.
    answers : CellAnswers
        Answers of the cells, given their predictors.
    latent : callable
        Function from flat vectors of the density to latent values and logarithms of spreads.
    flat : callable
        Function from latent values, shape (..., size), and logarithms of spreads to flat vectors.
    near_normal : bool
        True if each latent value has so many answers that a validation detects a poor approximation, however small
        the table.
    scales : sparse matrix, shape (predictors * cells, hypers), or None
        Coefficients of log spreads in predictors, for the noise of numeric answers.
    division : Division or None
        Joint prior of spreads that are parts of one scale.
    """

    groups: tuple[Group, ...]
    hypers: tuple[Hyperparameter, ...]
    pattern: Pattern
    answers: CellAnswers
    latent: Callable[[Floats], tuple[Floats, Floats]]
    flat: Callable[[Floats, Floats], Floats]
    near_normal: bool = False
    scales: Any = None
    division: Division | None = None

    def predictors(self, x: Floats, hyper: Floats) -> Floats:
        """Compute the predictors of all cells, shape (..., predictors, cells), from latent values and log spreads."""
        sums = self.pattern.linear_predictors(x)
        if self.scales is None:
            return sums
        return np.asarray(sums + (self.scales @ hyper.T).T.reshape(*hyper.shape[:-1], *sums.shape[-2:]))

    @cached_property
    def kept(self) -> Bools:
        """Mask of the latent values that are kept when the others are integrated out, shape (size,)."""
        return np.repeat([group.kept for group in self.groups], self.sizes)

    @cached_property
    def integrated(self) -> Pattern:
        """Pattern of the integrated-out values, given the kept ones."""
        pattern = self.pattern
        kept = np.append(self.kept, False)[pattern.index]
        coefficients = np.where(kept, 0.0, pattern.coefficients)
        used = (coefficients != 0).any(axis=0)
        index = np.where(kept, self.size, pattern.index)[:, used]
        return Pattern(pattern.block, index, coefficients[:, used], pattern.predictor[used], least=pattern.kinds)

    def model_of_blocks(self, kept: Bools) -> tuple[LatentGaussianModel, Ints]:
        """Restrict the model to some blocks; also return the positions of its latent values in this one.

        Its ``latent`` and ``flat`` are still those of this model.
        """
        pattern = self.pattern
        number = np.cumsum(kept) - 1
        in_blocks = np.append(kept, True)[pattern.block]
        positions = np.flatnonzero(in_blocks)
        new_index = np.append(np.cumsum(in_blocks) - 1, len(positions))
        cells = np.flatnonzero(np.append(kept, True)[pattern.of_cell])
        edges = np.cumsum([0] + [group.size for group in self.groups])
        groups = tuple(
            group._replace(size=int(in_blocks[a:b].sum()))
            for group, a, b in zip(self.groups, edges[:-1], edges[1:], strict=True)
        )
        block, index = pattern.block[positions], pattern.index[cells]
        block = np.where(block >= 0, number[block], block)
        index = np.where(index < self.size, new_index[index], len(positions))
        part_pattern = Pattern(block, index, pattern.coefficients[cells], pattern.predictor, pattern.least)
        counts = np.asarray(self.counted.counts)[..., cells]
        return replace(self, groups=groups, pattern=part_pattern, answers=self.counted.with_counts(counts)), positions

    def with_fixed(self, is_held: Callable[[str], bool], x: Floats, hyper: Floats) -> LatentGaussianModel:
        """Fix some parameters, by name, at given latent values and logarithms of spreads.

        A narrow prior fixes latent values; the spread and mean of their group are then not learned from them.
        """
        groups: list[Group] = []
        start = 0
        for group in self.groups:
            group_values = x[start : start + group.size]
            start += group.size
            if is_held(group.name.split("[")[0]):
                entry = group._replace(size=1, spread=FIXED_SD, reversed=UNSKEWED_SHARE)
                groups += [entry._replace(name=f"{group.name}[{i}]", mean=float(v)) for i, v in enumerate(group_values)]
            else:
                groups.append(group)
        learned = np.array([not is_held(entry.name.split("[")[0]) for entry in self.hypers], dtype=bool)

        def learned_latent(flat: Floats) -> tuple[Floats, Floats]:
            values, spreads = self.latent(flat)
            return values, spreads[..., learned]

        def with_fixed_spreads(values: Floats, spreads: Floats) -> Floats:
            all_spreads = np.broadcast_to(hyper, (*spreads.shape[:-1], len(hyper))).copy()
            all_spreads[..., learned] = spreads
            return self.flat(values, all_spreads)

        hypers = tuple(entry for entry, keep in zip(self.hypers, learned, strict=True) if keep)
        division = self.division and self.division.with_fixed(learned, hyper)
        return replace(
            self, groups=tuple(groups), hypers=hypers, latent=learned_latent, flat=with_fixed_spreads, division=division
        )

    @property
    def counted(self) -> Answers:
        """Answers as counts of alternatives; propagation needs them."""
        assert isinstance(self.answers, Answers)
        return self.answers

    @property
    def size(self) -> int:
        """Number of latent values."""
        return self.pattern.size
