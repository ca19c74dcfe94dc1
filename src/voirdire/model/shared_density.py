"""The density of several tables of answers whose models have parameters in common.

Given the parameters all answers are independent, so the log likelihood is the sum of those of the tables, and what
answers say of a strength (:class:`.Spread`) is, too. A parameter that several models have is one, with one prior.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.model.density import Data, LogDensity
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.parameters import Parameter
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats


@dataclass(frozen=True)
class SharedDensity(LogDensity):
    """The density of models that share the parameters of one name.

    Parameters
    ----------
    model : Model
    judges, criteria, items : int
        The same in all parts.
    parts : tuple of LogDensity
        Of each kind of answers; each reads its own tables of the data. None of them has a mirror, or spreads that are
        found by their marginal likelihood.

    Examples
    --------
    >>> from voirdire.kinds.scores.density import ScoresDensity
    >>> from voirdire.kinds.votes.density import VotesDensity
    >>> from voirdire.model.specs import load_model
    >>> model, sizes = load_model("joint-severity"), (3, 1, 4)
    >>> votes = VotesDensity(model.part("votes"), *sizes, ties=False)
    >>> scores = ScoresDensity(model.part("scores"), *sizes, levels=3)
    >>> sorted(SharedDensity(model, *sizes, parts=(votes, scores)).parameter_slices)
    ['cut_location', 'log_gap', 'log_spread', 'log_vote_scale', 'severity', 'strength']
    """

    parts: tuple[LogDensity, ...]

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Number of levels of each dimension."""
        return {name: size for part in self.parts for name, size in part.sizes.items()}

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters, in the order of the parts, each once."""
        found: dict[str, Parameter] = {}
        for parameter in (p for part in self.parts for p in part.parameters):
            found.setdefault(parameter.name, parameter)
        return tuple(found.values())

    def information(self, name: str, values: Values, xp: Any) -> Array:
        """Sum of what the answers of each part say."""
        return sum(part.information(name, values, xp) for part in self.parts)

    @property
    def given_weights(self) -> tuple[float, ...] | None:
        """Weights of the criteria that the user gave, whatever part they are of."""
        return next((part.given_weights for part in self.parts if part.given_weights is not None), None)

    def log_parts(self, values: Values, data: Data, xp: Any) -> list[tuple[Array, Array]]:
        """Those of the parts, one after the other."""
        return [found for part in self.parts for found in part.log_parts(values, data, xp)]

    def people_log_probabilities(self, values: Values, data: Data, xp: Any) -> list[tuple[Array, Array]]:
        """As :meth:`log_probabilities_and_counts`, of human answers."""
        return [found for part in self.parts for found in part.people_log_probabilities(values, data, xp)]

    def outcome_names(self, data: Data) -> list[str]:
        """A name for each of :meth:`log_probabilities_and_counts`."""
        return [name for part in self.parts for name in part.outcome_names(data)]

    def people_outcome_names(self) -> list[str]:
        """A name for each of :meth:`people_log_probabilities`."""
        return [name for part in self.parts for name in part.people_outcome_names()]

    def starts(self, data: Data) -> list[Floats]:
        """Halfway between where the search of each part would start."""
        each = [part.values(part.starts(data)[0], np) for part in self.parts]
        found = {
            p.name: np.mean([values[p.name] for values in each if p.name in values], axis=0)
            for p in self.parameters
        }
        return [np.asarray(self.flat(found, np), dtype=float)]
