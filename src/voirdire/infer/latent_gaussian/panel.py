"""Latent Gaussian models of densities with terms and a family, for any kind of table.

Latent values do not sum to zero. A constant that a family does not depend on is free in the model; values less their
mean then have the density of values that sum to zero.

Latent values and logarithms of spreads are the parameters of a density in their order, each flattened.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.latent_gaussian.answers import Answers
from voirdire.infer.latent_gaussian.division import build_division
from voirdire.infer.latent_gaussian.hessian_pattern import Pattern
from voirdire.infer.latent_gaussian.joined_answers import AnsweredSums, join_answered_sums
from voirdire.infer.latent_gaussian.latent_priors import UNSKEWED_SHARE, Group, Hyperparameter
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.model.density import Data, LogDensity
from voirdire.model.design import COMMON, LEARNED_PRIORS, Design, LatentPositions
from voirdire.model.family.family import OutcomeParts, refuse_alternatives
from voirdire.model.panel_density import PanelDensity
from voirdire.model.terms.parameters import Around, LogExponential, LogNormal, Normal, Spread
from voirdire.model.terms.term import Values
from voirdire.typing import Floats, Ints


def latent_groups(
    density: LogDensity, well_identified: Set[str]
) -> tuple[tuple[Group, ...], tuple[Hyperparameter, ...]]:
    """Build one group of latent values for each row of a parameter with its own spread, and the hyperparameters.

    Values that have only dimensions in ``well_identified`` (informed by many answers) are kept when the others are
    integrated out.
    """
    groups: list[Group] = []
    hypers: list[Hyperparameter] = []
    for p in density.parameters:
        shape, prior = p.shape(density.sizes), p.prior
        size, kept = int(np.prod(shape)), set(p.dims) <= well_identified
        if isinstance(prior, LogExponential):
            for row in range(size):
                hypers.append(Hyperparameter(f"{p.name}[{row}]", prior.rate))
        elif isinstance(prior, LogNormal):
            hypers += [Hyperparameter(f"{p.name}[{row}]", 0.0, prior.mean, prior.sd) for row in range(size)]
        elif isinstance(prior, Spread):
            rows = size if prior.axes >= len(shape) or not prior.log_sd_name else size // shape[0]
            for row in range(size // rows):
                # around other latent values: the group is of the differences
                mean = f"{prior.level}[{row}]" if prior.level and not isinstance(prior, Around) else 0.0
                reverse = getattr(prior, "reversed", UNSKEWED_SHARE)
                spread = f"{prior.log_sd_name}[{row}]" if prior.log_sd_name else prior.sd
                groups.append(Group(f"{p.name}[{row}]", rows, spread, mean, reverse, kept))
        elif isinstance(prior, Normal):
            groups.append(Group(f"{p.name}[0]", size, prior.sd, prior.mean, kept=kept))
        else:
            raise TypeError(f"{p.name}: no latent Gaussian model with a prior {type(prior).__name__}")
    return tuple(groups), tuple(hypers)


def latent_from_values(density: LogDensity, values: dict[str, Any]) -> tuple[Floats, Floats]:
    """Gather latent values and logarithms of spreads from named values; leading axes (draws) are kept."""
    latent, learned = list[Floats](), list[Floats]()
    for p in density.parameters:
        value = np.asarray(values[p.name])
        row = value.reshape((*value.shape[: value.ndim - len(p.dims)], -1))
        (learned if isinstance(p.prior, LEARNED_PRIORS) else latent).append(row)
    return np.concatenate(latent, axis=-1), np.concatenate(learned, axis=-1)


def flat_vectors(density: LogDensity, latent: Floats, hyper: Floats, centred: Callable[[Values], Values]) -> Floats:
    """Build flat vectors, shape (..., size), from latent values and logarithms of spreads.

    ``centred`` turns named values into those of the density, where some sum to zero that do not among latent values.
    """
    values: Values = {}
    positions = LatentPositions(density)
    for part, rows in ((positions, latent), (positions.of_learned, hyper)):
        for name, shape in part.shapes.items():
            row = rows[..., part.start[name] : part.start[name] + math.prod(shape)]
            values[name] = row.reshape((*row.shape[:-1], *shape))
    return np.asarray(density.flat(centred(values), np))


MAX_FACTOR_NUMBERS = 4e8  # numbers in a factor, at most


@dataclass(frozen=True, eq=False)
class FamilyAnswers(Answers):
    """Answers that are not counts of a few alternatives; their family reads them, and has a closed form.

    ``counts`` are the answers, shape (..., cells).

    Parameters
    ----------
    parts : callable
        See :class:`.Family`.
    cost : float
        See :class:`.Family`.
    """

    parts: OutcomeParts | None = None
    cost: float = 1.0

    @property
    def size(self) -> float:
        """Number of answers in all cells, in units of four, times the family's cost."""
        return self.cost * np.size(self.counts) / 4.0

    def log_likelihood(self, predictors: Any, xp: Any) -> Any:
        """Compute the log likelihood, shape (...)."""
        assert self.parts is not None
        return sum((log * count).sum(axis=-1) for log, count in self.parts(predictors, self.counts, xp))


def panel_answers(density: PanelDensity, data: Data) -> Answers:
    """Build the answers of each cell in the form of the density's family."""
    family, answers = density.family, data["panel"]["answers"]
    if family.parts is None:
        return Answers(family.log_probabilities, answers, family.closed_form, family.name)
    return FamilyAnswers(
        refuse_alternatives, answers, family.closed_form, family.name, parts=family.parts, cost=family.cost
    )


def build_panel_model(
    density: PanelDensity, data: Data, other_answers: AnsweredSums | None = None
) -> LatentGaussianModel:
    """Build the latent Gaussian model of a density and its table, with ``other_answers`` of another kind if given.

    Raises
    ------
    InputError
        The factor of the second derivatives would take too much memory.
    """
    positions, part = LatentPositions(density), data["panel"]
    sums = Design(part["index"], part["coefficients"], np.array(density.predictor)).used
    answered = AnsweredSums(sums, panel_answers(density, data), len(density.family.predictors))
    if other_answers is not None:
        answered = join_answered_sums([answered, other_answers._replace(learned=None)], positions.size)
    # a cell may have values of many levels
    multi_level = {factor for term in density.terms for factor, _ in term.fixed_levels}
    multi_level |= {"item"} if density.sides > 1 else set()
    blocks = [positions.block(factor) for factor in density.sizes if factor not in multi_level]
    blocks = [block for block in blocks if block.min(initial=0) == COMMON]
    return build_latent_model(density, answered, blocks, "name a model with fewer terms", near_normal=True)


def build_latent_model(
    density: LogDensity,
    sums: AnsweredSums,
    blocks: Sequence[Ints],
    remedy: str,
    *,
    well_identified: Set[str] = frozenset(),
    to_latent: Callable[[Values], Values] = dict,
    to_density: Callable[[Values], Values] | None = None,
    **fields: Any,
) -> LatentGaussianModel:
    """Build the latent Gaussian model of answers that depend on sums of latent values.

    Parameters
    ----------
    density : LogDensity
    sums : AnsweredSums
    blocks : list of int array, shape (latent values,)
        Alternative divisions of the matrix of second derivatives into blocks; the one with the cheapest factor is used.
    remedy : str
        Remedy in the error message where the factor is too large.
    well_identified : set of str
        Dimensions of values that many answers inform; see :func:`.panel.latent_groups`.
    to_latent, to_density : callable
        Functions from named values of the density to the latent ones, and back; by default the second takes the mean
        off values that sum to zero.
    **fields
        Further fields of :class:`.LatentGaussianModel`.

    Raises
    ------
    InputError
        The factor would take too much memory.
    """
    groups, hypers = latent_groups(density, well_identified)
    design, scales = sums.design, sums.scales(len(hypers))
    if scales is not None:
        scales = scales @ _centring_matrix(density, len(hypers))
    no_blocks = np.full(sum(group.size for group in groups), COMMON)
    patterns = [
        Pattern(block, design.index, design.coefficients, design.predictor, sums.predictors)
        for block in [block for block in blocks if block.max(initial=COMMON) > COMMON] or [no_blocks]
    ]
    pattern = min(patterns, key=lambda pattern: pattern.work)
    if pattern.numbers > MAX_FACTOR_NUMBERS:
        raise InputError(
            f"{pattern.size:,} latent values of {density.judges:,} judges and {density.items:,} items: their factor "
            f"would take {8 * pattern.numbers / 1e9:.2g} GB; {remedy}"
        )
    centred = to_density or partial(centre_zero_sum, density)
    return LatentGaussianModel(
        groups,
        hypers,
        pattern,
        sums.answers,
        lambda x: latent_from_values(density, to_latent(density.values(x, np))),
        lambda x, hyper: flat_vectors(density, x, hyper, centred),
        scales=scales,
        division=build_division(density, [hyper.name for hyper in hypers]),
        **fields,
    )


def _centring_matrix(density: LogDensity, hypers: int) -> Any:
    """Build the matrix that subtracts the mean from hyperparameters that sum to zero, shape (hypers, hypers)."""
    from scipy.sparse import block_array, csr_array

    blocks: list[Any] = []
    for p in density.parameters:
        if isinstance(p.prior, LEARNED_PRIORS):
            size = int(np.prod(p.shape(density.sizes)))
            blocks.append(np.eye(size) - p.zero_sum / max(size, 1))
    rows = [[block if i == j else None for j in range(len(blocks))] for i, block in enumerate(blocks)]
    return csr_array(block_array(rows)) if blocks else csr_array((hypers, hypers))


def centre_zero_sum(density: LogDensity, values: Values) -> Values:
    """Subtract the mean from the values that sum to zero in a density."""
    zero = {p.name for p in density.parameters if p.zero_sum}
    return {
        name: value - value.mean(axis=-1, keepdims=True) if name in zero else value for name, value in values.items()
    }
