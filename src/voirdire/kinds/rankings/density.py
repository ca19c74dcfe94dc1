"""Density of a model of rankings: Plackett-Luce, with strengths that depend on context and judge.

    eta = theta_c,i + u_c,i,x + b_c,i + v_k,i

for item i, ranked by judge k under criterion c in context x: the strength theta, the effect u of the context, the error
b of the panel (if people's rankings identify it), and the taste v of the judge. People rank by theta_c,i + u_c,i,x
alone (:mod:`.rankings.human`). See :mod:`voirdire.model.family.ranking` for rankings and ties.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.panel import build_panel_model
from voirdire.kinds.column_checks import has_recurring_items
from voirdire.kinds.criteria_votes import CRITERIA_DATA, log_criteria_votes, sums_of_criteria_votes
from voirdire.kinds.results import strengths_over_contexts
from voirdire.model.density import Data
from voirdire.model.design import LatentPositions, Scale, Term
from voirdire.model.panel_density import PanelDensity
from voirdire.model.specs import Model
from voirdire.model.terms import WEIGHTS
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.parameters import Parameter
from voirdire.model.terms.term import Values
from voirdire.tables.rankings import Rankings


def model_terms(model: Model, table: Rankings, people: bool = False) -> tuple[Term, ...]:
    """List the terms of a model that a table identifies; ``people`` is true if people's rankings are added."""
    rate = model.strength.numbers["rate"]
    scale = Scale(rate=rate, spread="log_spread", rows=1, zero_sum=True)
    terms = [Term("strength", ("criterion", "item"), 0, scale=scale)]
    if model.context is not None and reason_contexts_unknown(table) is None:
        scale = Scale(rate=model.context.numbers["rate"], spread="log_context_spread")
        terms.append(Term("context_strength", ("criterion", "item", "context"), 0, scale=scale))
    if model.taste is not None and reason_tastes_unknown(table) is None:
        scale = Scale(rate=model.taste.numbers["rate"], spread="log_taste_spread")
        terms.append(Term("taste", ("judge", "item"), 0, scale=scale))
    if people:
        assert model.anchors is not None  # checked by encode_rankings
        scale = Scale(rate=model.anchors.numbers["rate"], spread="log_panel_error_spread")
        terms.append(Term("panel_error", ("panel", "criterion", "item"), 0, scale=scale))
    return tuple(term._replace(by_item=True) for term in terms)


def reason_contexts_unknown(table: Rankings) -> str | None:
    """Reason why strengths in each context are not identified; None if they are."""
    if table.context is None:
        return "the table has no column context"
    return None if has_recurring_items(table) else "no item is ranked in two contexts"


def reason_tastes_unknown(table: Rankings) -> str | None:
    """Reason why judges' tastes are not identified; None if they are."""
    if len(table.judges) < 2:
        return "there is one judge"
    pairs = {*zip(table.judge.tolist(), table.item.tolist(), strict=True)}
    return None if len(pairs) < table.rows else "no judge ranks an item twice"


@dataclass(frozen=True)
class RankingsDensity(PanelDensity):
    """Density of a model of rankings.

    Parameters
    ----------
    over : "new" or "these"
        Contexts of scores: those like the contexts of the table, or these alone.
    weights : tuple of float or None
        Given weights of the criteria; None for equal weights, or weights from votes on criteria.
    voted : bool
        Whether there are votes on criteria.
    """

    over: str = "new"
    weights: tuple[float, ...] | None = None
    voted: bool = False

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters of the terms, and weights of criteria if there are votes on them."""
        weights = self.model.weights if self.voted else None
        weight_parameters = () if weights is None else WEIGHTS[weights.kind].parameters(weights.numbers)
        return (*super().parameters, *weight_parameters)

    def log_parts(self, values: Values, data: Data, xp: Any) -> list[tuple[Array, Array]]:
        """Compute log probabilities of rankings and their counts, then those of votes on criteria."""
        parts = self.ranking_parts(values, data, xp)
        return [*parts, log_criteria_votes(values, data[CRITERIA_DATA], xp)] if self.voted else parts

    def ranking_parts(self, values: Values, data: Data, xp: Any) -> list[tuple[Array, Array]]:
        """Compute log probabilities of rankings and their counts, as in the family of rankings."""
        return super().log_parts(values, data, xp)

    @property
    def given_weights(self) -> tuple[float, ...] | None:
        """As in :class:`.LogDensity`."""
        return self.weights

    def latent_model(self, data: Data) -> LatentGaussianModel:
        """See :func:`.latent_gaussian.panel.build_panel_model`."""
        criteria_sums = sums_of_criteria_votes(data[CRITERIA_DATA], LatentPositions(self)) if self.voted else None
        return build_panel_model(self, data, criteria_sums)

    def item_strengths(self, values: Values) -> Array:
        """Compute strengths for contexts like the table's, or for these alone, shape (..., criteria, items)."""
        return strengths_over_contexts(values, self.over)
