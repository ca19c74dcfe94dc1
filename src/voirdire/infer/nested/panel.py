"""A density of terms and a family as a field: its terms are the sums, whatever kind of table they are about.

Latent values have no sum of zero: a constant that a family does not see is free in the field, and what is left when it
is taken off has the density of values that sum to zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.nested.answers import Answers
from voirdire.infer.nested.field import Field
from voirdire.infer.nested.latent import flat_of, groups_of, latent_of
from voirdire.infer.nested.pattern import Pattern
from voirdire.model.density import Data
from voirdire.model.design import COMMON, Design, Places
from voirdire.model.family.family import Parts, uncounted
from voirdire.model.panel_density import PanelDensity
from voirdire.model.terms.reliability import Values

LARGEST = 4e8  # numbers that a factor may take


@dataclass(frozen=True, eq=False)
class FormedAnswers(Answers):
    """Answers that are no counts of a few alternatives: their family reads them, and has a closed form.

    ``counts`` are the answers, shape (..., cells).

    Parameters
    ----------
    parts : callable
        See :class:`.Family`.
    cost : float
        See :class:`.Family`.
    """

    parts: Parts | None = None
    cost: float = 1.0

    @property
    def size(self) -> float:
        """Number of cells, each counted by its answers beside four, as far as they cost time."""
        return self.cost * np.size(self.counts) / 4.0

    def log_likelihood(self, predictors: Any, xp: Any) -> Any:
        """Log likelihood, shape (...)."""
        assert self.parts is not None
        return sum((log * often).sum(axis=-1) for log, often in self.parts(predictors, self.counts, xp))


def answers_of(density: PanelDensity, data: Data) -> Answers:
    """Answers of each cell, as the density's family reads them."""
    family, answers = density.family, data["panel"]["answers"]
    if family.parts is None:
        return Answers(family.log_chances, answers, family.closed_form, family.name)
    return FormedAnswers(
        uncounted, answers, family.closed_form, family.name, parts=family.parts, cost=family.cost
    )


def panel_field(density: PanelDensity, data: Data) -> Field:
    """The field of a density and its table.

    Raises
    ------
    InputError
        Its factor would take too much memory.
    """
    places, part = Places(density), data["panel"]
    groups, hypers = groups_of(density, set())
    sums = Design(part["index"], part["coefficients"], np.array(density.predictor)).used
    several = {
        factor for term in density.terms for factor, _ in term.at
    }  # a cell may have values of many levels
    several |= {"item"} if density.sides > 1 else set()
    blocks = [places.block(factor) for factor in density.sizes if factor not in several]
    blocks = [block for block in blocks if block.max(initial=COMMON) > COMMON == block.min(initial=0)]
    least = len(density.family.predictors)
    patterns = [
        Pattern(block, sums.index, sums.coefficients, sums.predictor, least)
        for block in blocks or [np.full(places.size, COMMON)]
    ]
    pattern = min(patterns, key=lambda pattern: pattern.work)
    if pattern.numbers > LARGEST:
        raise InputError(
            f"{pattern.size:,} latent values: their factor would take {8 * pattern.numbers / 1e9:.2g} GB; name a model "
            "with fewer terms"
        )
    return Field(
        groups,
        hypers,
        pattern,
        answers_of(density, data),
        lambda x: latent_of(density, density.values(x, np)),
        lambda x, hyper: flat_of(density, x, hyper, lambda values: _centre_values(density, values)),
        near_normal=True,
    )


def _centre_values(density: PanelDensity, values: Values) -> Values:
    zero = {p.name for p in density.parameters if p.zero_sum}
    return {
        name: value - value.mean(axis=-1, keepdims=True) if name in zero else value
        for name, value in values.items()
    }
