"""The density of a model of rankings: Plackett-Luce, with strengths that depend on context and judge.

    eta = theta_c,i + u_c,i,x + b_c,i + v_k,i

of item i, ranked by judge k under criterion c in context x: what the item is worth, what it is worth more in a context,
to the panel beside people (its error, where people's rankings tell it) and to a judge (its taste). People rank by
theta_c,i + u_c,i,x alone (:mod:`.rankings.human`). See :mod:`voirdire.model.family.ranking` for rankings and ties.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.panel import build_panel_model
from voirdire.kinds.criteria_votes import CRITERIA_DATA, log_criteria_votes, sums_of_criteria_votes
from voirdire.kinds.results import strengths_over_contexts
from voirdire.model.density import Data
from voirdire.model.design import LatentPositions, Scale, Term
from voirdire.model.panel_density import PanelDensity
from voirdire.model.specs import Model
from voirdire.model.terms import WEIGHTS
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.parameters import Parameter
from voirdire.model.terms.reliability import Values
from voirdire.tables.rankings import Rankings


def model_terms(model: Model, table: Rankings, people: bool = False) -> tuple[Term, ...]:
    """Terms of a model that a table identifies, perhaps with people's rankings beside it."""
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
        assert model.anchors is not None  # else refused
        scale = Scale(rate=model.anchors.numbers["rate"], spread="log_panel_error_spread")
        terms.append(Term("panel_error", ("panel", "criterion", "item"), 0, scale=scale))
    return tuple(term._replace(by_item=True) for term in terms)


def reason_contexts_unknown(table: Rankings) -> str | None:
    """Reason why strengths in each context are not identified; None where they are."""
    if table.context is None:
        return "the table has no column context"
    pairs = {*zip(table.item.tolist(), table.context.tolist(), strict=True)}
    return None if len(pairs) > len({item for item, _ in pairs}) else "no item is ranked in two contexts"


def reason_tastes_unknown(table: Rankings) -> str | None:
    """Reason why judges' tastes are not identified; None where they are."""
    if len(table.judges) < 2:
        return "there is one judge"
    pairs = {*zip(table.judge.tolist(), table.item.tolist(), strict=True)}
    return None if len(pairs) < table.rows else "no judge ranks an item twice"


@dataclass(frozen=True)
class RankingsDensity(PanelDensity):
    """The density of one model of rankings.

    Parameters
    ----------
    over : "new" or "these"
        Whether scores are over contexts like those of the table, or over these alone.
    weights : tuple of float or None
        Of the criteria; None where they count equally, or as votes on them say.
    voted : bool
        Whether there are votes on criteria.
    """

    over: str = "new"
    weights: tuple[float, ...] | None = None
    voted: bool = False

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Those of the terms, and weights of criteria that were voted on."""
        weights = self.model.weights if self.voted else None
        weight_parameters = () if weights is None else WEIGHTS[weights.kind].parameters(weights.numbers)
        return (*super().parameters, *weight_parameters)

    def log_parts(self, values: Values, data: Data, xp: Any) -> list[tuple[Array, Array]]:
        """As the family has them, then votes on criteria."""
        parts = self.ranking_parts(values, data, xp)
        return [*parts, log_criteria_votes(values, data[CRITERIA_DATA], xp)] if self.voted else parts

    def ranking_parts(self, values: Values, data: Data, xp: Any) -> list[tuple[Array, Array]]:
        """Log probability of each ranking, as the family has it."""
        return super().log_parts(values, data, xp)

    @property
    def given_weights(self) -> tuple[float, ...] | None:
        """As in :class:`.LogDensity`."""
        return self.weights

    def latent_model(self, data: Data) -> LatentGaussianModel:
        """See :func:`.latent_gaussian.panel.build_panel_model`."""
        criteria_sums = (
            sums_of_criteria_votes(data[CRITERIA_DATA], LatentPositions(self)) if self.voted else None
        )
        return build_panel_model(self, data, criteria_sums)

    def item_strengths(self, values: Values) -> Array:
        """Strengths over contexts like those of the table, or over these alone, shape (..., criteria, items)."""
        return strengths_over_contexts(values, self.over)
