"""Density of a model of votes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.kinds.results import strengths_over_contexts
from voirdire.kinds.votes.latent_model import build_votes_model
from voirdire.kinds.votes.layout import VotesLayout, difference_effects, mirror_values, tie_propensity_effects
from voirdire.kinds.votes.starts import alternative_starts, starting_point
from voirdire.model.density import Data
from voirdire.model.panel_density import added_parameters
from voirdire.model.terms import ANCHORS, CONTEXT, RELIABILITY, STRENGTH, TASTE, TIES, WEIGHTS
from voirdire.model.terms.arrays import LOGISTIC_VARIANCE, Array
from voirdire.model.terms.parameters import LogExponential, Parameter
from voirdire.model.terms.strength import strength_difference
from voirdire.model.terms.structure import tie_habit_parameters
from voirdire.model.terms.term import Observations, Values
from voirdire.model.terms.ties import DavidsonByContext, log_tie_parts, tie_scale
from voirdire.typing import Floats

PAPER_RELIABILITY = 0.8  # starting reliability of MAPLE's own estimator


@dataclass(frozen=True)
class VotesDensity(VotesLayout):
    """Density of a model of votes.

    Examples
    --------
    >>> from voirdire.model.specs import load_model
    >>> VotesDensity(load_model("maple"), judges=3, criteria=2, items=4, ties=False).size
    10
    """

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters, in the order of the flat vector."""
        model = self.model
        term = STRENGTH[model.strength.kind]
        term = getattr(term, "alone", term) if self.criteria == 1 else term
        parameters = term.parameters(model.strength.numbers)
        if model.weights is not None:
            parameters += WEIGHTS[model.weights.kind].parameters(model.weights.numbers)
        parameters += RELIABILITY[model.reliability.kind].parameters(model.reliability.numbers)
        if self.ties and model.ties is not None:
            parameters += TIES[model.ties.kind].parameters(model.ties.numbers)
            if self.contexts and model.ties.kind == DavidsonByContext.kind:
                parameters += tie_habit_parameters(model.ties.numbers, within=self.repeated)
        if self.contexts and model.context is not None:
            parameters += CONTEXT[model.context.kind].parameters(model.context.numbers)
        if self.tastes and model.taste is not None:
            parameters += TASTE[model.taste.kind].parameters(model.taste.numbers)
        parameters += added_parameters(self.added)
        if self.anchors and model.anchors is not None:
            parameters += ANCHORS[model.anchors.kind].parameters(model.anchors.numbers)
        return parameters

    def information(self, name: str, values: Values, xp: Any) -> Array:
        """Information of votes on an item's strength in a model with scores, shape (..., 1, 1, 1); 0 in other models.

        The other models find spreads by their marginal likelihood.
        """
        if not self.compared:
            return np.zeros(1)
        slope = xp.exp(values["log_vote_scale"])[..., None]
        if "log_discrimination" in values:
            slope = slope * xp.exp(values["log_discrimination"])
        return (self.compared * (slope * slope).mean(axis=-1) / LOGISTIC_VARIANCE)[..., None, None, None]

    def item_strengths(self, values: Values) -> Array:
        """Strengths over contexts like those of the table, or over these alone, shape (..., criteria, items)."""
        return strengths_over_contexts(values, self.over)

    @property
    def uses_marginal_likelihood(self) -> bool:
        """True if spreads are found by their marginal likelihood (:mod:`voirdire.infer.latent_gaussian`)."""
        return any(isinstance(parameter.prior, LogExponential) for parameter in self.parameters)

    def latent_model(self, data: Data) -> LatentGaussianModel:
        """See :func:`.votes.latent_model.build_votes_model`."""
        return build_votes_model(self, data)

    @property
    def has_mirror(self) -> bool:
        """True if the likelihood has a mirrored twin (see :meth:`mirror_values`)."""
        return RELIABILITY[self.model.reliability.kind].mirror_values(_Names()) is not None

    def log_parts(self, values: Values, data: Data, xp: Any) -> list[tuple[Array, Array]]:
        """Compute, by table, the log probability of each distinct outcome and its number of votes."""
        reliability = RELIABILITY[self.model.reliability.kind]
        parts = []
        for table, part in self._vote_tables(data).items():
            strength = values["weight"][..., None, :] if table == "criteria" else values["strength"]
            d = strength_difference(strength, part["pair_criterion"], part["pair_first"], part["pair_second"])
            if "pair_judge" in part:
                d = d + difference_effects(self, values, part)
            obs = Observations(
                part["judge"], part["pair"], part["outcome"], part["criterion"], self.judges, self.criteria
            )
            parts.append((reliability.log_decided(values, d, obs, xp), part["weight"]))
            if self.ties and self.model.ties is not None:
                judge, pair = part["tie_judge"], part["tie_pair"]
                propensity = TIES[self.model.ties.kind].log_tie_propensity(values, judge)
                if "pair_context" in part:
                    propensity = propensity + tie_propensity_effects(self, values, part, judge, pair)
                scaled = reliability.scaled_difference(values, d, judge, pair, xp)
                tie, decided = log_tie_parts(propensity, scaled, xp, tie_scale(values, xp))
                parts += [(tie, part["tied"]), (decided, part["decided"])]
        return parts

    def people_log_probabilities(self, values: Values, data: Data, xp: Any) -> list[tuple[Array, Array]]:
        """As :meth:`log_parts`, for ``data["anchors"]``."""
        if not self.anchors or self.model.anchors is None:
            return []
        ties = self.ties and self.model.ties is not None
        return ANCHORS[self.model.anchors.kind].log_parts(values, data["anchors"], ties, xp)

    def outcome_names(self, data: Data) -> list[str]:
        """Names of the parts of :meth:`log_parts`."""
        return [f"{table}_{part}" for table in self._vote_tables(data) for part in ("decided", *self._tie_names)]

    def people_outcome_names(self) -> list[str]:
        """Names of the parts of :meth:`people_log_probabilities`."""
        return [f"anchors_{part}" for part in ("first", "second", *self._tie_names) if self.anchors]

    @property
    def _tie_names(self) -> tuple[str, ...]:
        return ("tied", "not_tied") if self.ties and self.model.ties is not None else ()

    def _vote_tables(self, data: Data) -> Data:
        return {table: data[table] for table in ("votes", "criteria") if table in data}

    def starts(self, data: Data) -> list[Floats]:
        """Starting point at which every judge is fairly reliable, so that items are ordered by the majority."""
        return [starting_point(self, data, np.ones(self.judges))]

    def maple_starting_points(self, rng: np.random.Generator, count: int) -> Floats:
        """Draw starting points of MAPLE's paper, shape (count, size): strengths Normal(0, 0.01), reliabilities 0.8.

        Weights are equal.

        Raises
        ------
        InputError
            The model has more than one coin a judge, or the table has ties.
        """
        model = self.model
        if model.strength.kind != "normal" or model.reliability.kind not in ("one-coin", "fixed"):
            raise InputError(
                f"method 'adam' is the estimator of MAPLE's paper, for models with at most one coin a judge; "
                f"{model.name} is another: name model='maple' or 'crowd-bt', or use method='map'"
            )
        if self.ties:
            raise InputError(
                f"method 'adam': the table has ties ({model.name}), and the likelihood of MAPLE's paper has none; "
                "leave them out, or use method='map'"
            )
        starts = 0.01 * rng.standard_normal((count, self.size))
        for name, part in self.parameter_slices.items():
            if name != "strength":
                starts[:, part] = np.log(PAPER_RELIABILITY / (1 - PAPER_RELIABILITY)) if name == "reliability" else 0.0
        return starts

    def additional_starts(self, x: Floats, data: Data) -> list[Floats]:
        """Make the mirror of the mode, and a start with judges' signs from their agreement; see :mod:`.starts`."""
        return alternative_starts(self, x, data)

    def mirror_values(self, x: Array, xp: Any) -> Array:
        """Return the flat vector with the same likelihood and the opposite sign of every strength.

        The map is its own inverse and keeps volume. It is linear unless the population of coins is learned: then the
        mean of the population stays, and the coins of judges are reversed. Requires :attr:`has_mirror`.
        """
        values = self.values(x, xp)
        mirrored = RELIABILITY[self.model.reliability.kind].mirror_values(values)
        if mirrored is None:
            return super().mirror_values(x, xp)
        return self.flat({**values, **mirrored, **mirror_values(self, values)}, xp)


class _Names(dict[str, float]):
    """Values with an entry for every name, used to find out if a term has a mirror."""

    def __missing__(self, name: str) -> float:
        return 0.0
