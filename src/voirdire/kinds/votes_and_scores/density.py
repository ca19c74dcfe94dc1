"""Density of votes and scores, whose models share parameters.

Given the parameters, all answers are independent. The log likelihood is therefore the sum over the tables, and so is
the information about a strength (:class:`.Spread`). A parameter of both models is one parameter with one prior. With
learned spreads the two are one latent Gaussian model: two families of answers over one set of terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.infer.latent_gaussian.joined_answers import join_answered_sums
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.panel import build_latent_model, centre_zero_sum
from voirdire.kinds.scores import ordinal
from voirdire.kinds.scores.density import ScoresDensity
from voirdire.kinds.scores.latent_model import centre_values, subtract_general, sums_of_scores
from voirdire.kinds.votes.density import VotesDensity
from voirdire.kinds.votes.latent_model import WELL_IDENTIFIED, sums_of_votes
from voirdire.model.density import Data, LogDensity
from voirdire.model.design import LatentPositions
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.parameters import Parameter
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats


@dataclass(frozen=True)
class VotesAndScoresDensity(LogDensity):
    """Density of a model of votes and a model of scores that share the parameters with the same name.

    Parameters
    ----------
    model : Model
    judges, criteria, items : int
        Numbers of levels, the same in both parts.
    of_votes : VotesDensity
    of_scores : ScoresDensity
        Densities of the two parts; each uses its own tables of the data, and has no mirror.

    Examples
    --------
    >>> from voirdire.kinds.scores.density import ScoresDensity
    >>> from voirdire.kinds.votes.density import VotesDensity
    >>> from voirdire.model.specs import load_model
    >>> model, sizes = load_model("joint-severity"), (3, 1, 4)
    >>> votes = VotesDensity(model.part("votes"), *sizes, ties=False)
    >>> scores = ScoresDensity(model.part("scores"), *sizes, levels=3)
    >>> sorted(VotesAndScoresDensity(model, *sizes, of_votes=votes, of_scores=scores).parameter_slices)
    ['cut_location', 'log_gap', 'log_spread', 'log_vote_scale', 'severity', 'strength']
    """

    of_votes: VotesDensity
    of_scores: ScoresDensity

    @property
    def parts(self) -> tuple[LogDensity, ...]:
        """Densities of votes and of scores."""
        return self.of_votes, self.of_scores

    @property
    def over(self) -> str:
        """Contexts of scores: those like the table's ("new"), or "these" alone."""
        return self.of_scores.over

    @property
    def contexts(self) -> int:
        """Number of contexts in the model."""
        return self.of_scores.contexts

    @property
    def uses_marginal_likelihood(self) -> bool:
        """True if spreads are found by their marginal likelihood (:mod:`voirdire.infer.latent_gaussian`)."""
        return self.of_scores.uses_marginal_likelihood

    def item_strengths(self, values: Values) -> Array:
        """Compute strengths for contexts like the tables', or for these alone, shape (..., criteria, items)."""
        return self.of_scores.item_strengths(values)

    def latent_model(self, data: Data) -> LatentGaussianModel:
        """Build the latent Gaussian model of both tables.

        Raises
        ------
        InputError
            The factor would take too much memory.
        """
        places = LatentPositions(self)
        form = ordinal.cells(self.of_scores, data)
        parts = (sums_of_votes(self.of_votes, data, places), sums_of_scores(self.of_scores, data, form, places))
        return build_latent_model(
            self,
            join_answered_sums(parts, places.size),
            [places.block("judge"), places.block("context")],
            "name a model without contexts, such as joint-position",
            well_identified=WELL_IDENTIFIED | form.well_identified,
            to_latent=lambda values: subtract_general(values, form.location),
            to_density=lambda values: centre_zero_sum(self, centre_values(values, form.location, form.sign)),
            near_normal=True,
        )

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Number of levels of each dimension."""
        return {name: size for part in self.parts for name, size in part.sizes.items()}

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters, in the order of the parts, each once."""
        parameters: dict[str, Parameter] = {}
        for parameter in (p for part in self.parts for p in part.parameters):
            parameters.setdefault(parameter.name, parameter)
        return tuple(parameters.values())

    def information(self, name: str, values: Values, xp: Any) -> Array:
        """Sum the information of the answers of both parts."""
        return sum(part.information(name, values, xp) for part in self.parts)

    @property
    def given_weights(self) -> tuple[float, ...] | None:
        """Weights of the criteria that the user gave, in either part."""
        return next((part.given_weights for part in self.parts if part.given_weights is not None), None)

    def log_parts(self, values: Values, data: Data, xp: Any) -> list[tuple[Array, Array]]:
        """Concatenate the parts of the two densities."""
        return [outcome for part in self.parts for outcome in part.log_parts(values, data, xp)]

    def people_log_probabilities(self, values: Values, data: Data, xp: Any) -> list[tuple[Array, Array]]:
        """As :meth:`log_parts`, for human answers."""
        return [outcome for part in self.parts for outcome in part.people_log_probabilities(values, data, xp)]

    def outcome_names(self, data: Data) -> list[str]:
        """Names of the parts of :meth:`log_parts`."""
        return [name for part in self.parts for name in part.outcome_names(data)]

    def people_outcome_names(self) -> list[str]:
        """Names of the parts of :meth:`people_log_probabilities`."""
        return [name for part in self.parts for name in part.people_outcome_names()]

    def starts(self, data: Data) -> list[Floats]:
        """Average the starting points of the two parts."""
        part_values = [part.values(part.starts(data)[0], np) for part in self.parts]
        start = {
            p.name: np.mean([values[p.name] for values in part_values if p.name in values], axis=0)
            for p in self.parameters
        }
        return [np.asarray(self.flat(start, np), dtype=float)]
