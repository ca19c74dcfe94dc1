"""The density of a model of scores.

Judge k gives item i under criterion c the score y. A model consists of sections: strengths of items (``strength``,
theta_c,i), severities of judges (``severity``), their discrimination or noise (``reliability``), and, for scores on an
ordered scale, the limits between its levels (``cutpoints``):

    P(y above level l) = sigmoid(eta - kappa_l),   eta = a_k theta_c,i - severity_k            (:mod:`.ordinal`)

on a continuous scale between two ends

    y = mu + exp(log_noise_k) e, censored at the ends,   mu = theta_c,i - severity_k   (:mod:`.continuous`)

and for the baselines the mean or the median of each item's scores with a known error (:mod:`.baseline`). Where judges
score an item repeatedly, the judge's effect on the item is integrated out (``repeats``). Where they score it in several
contexts, theta_c,i + u_c,i,x replaces theta_c,i in context x (``context``). Votes on criteria, if any, are
P(first) = sigmoid(a_k (w_first - w_second)), with the discrimination a_k of the judge's scores.

Strengths sum to zero over the items of each criterion and severities over the judges: cutpoints carry the location.

Human scores (``anchors``) are those of one more rater, with the panel's cutpoints:

    P(y above level l) = sigmoid(eta - kappa_c,l),   eta = a_people theta_c,i - severity_people_c,   a_people > 0

(on a continuous scale with a noise of their own). Severities of the judges sum to zero, so severity_people is relative
to the panel. The panel sets the scale of the strengths (the root mean square of a_k is 1, or every a_k is 1), so that
differences between anchored items identify a_people. a_people keeps its sign if strengths and discriminations change
theirs: human scores fix the orientation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.infer.derivatives import count_numbers
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.kinds.criteria_votes import log_criteria_votes
from voirdire.kinds.results import strengths_over_contexts
from voirdire.kinds.scores import baseline, continuous, ordinal
from voirdire.kinds.scores.eliminated import MAX_HESSIAN_WORK, EliminatedItems, can_eliminate_items
from voirdire.kinds.scores.latent_model import build_scores_model
from voirdire.kinds.scores.layout import ScoresLayout
from voirdire.model import terms
from voirdire.model.density import ClosedFormDerivatives, Data
from voirdire.model.panel_density import added_parameters
from voirdire.model.specs import Model, Section
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.parameters import Parameter, Spread
from voirdire.model.terms.raters import RaterNoise
from voirdire.model.terms.strength import SharedStrength, SharedStrengthLevel
from voirdire.model.terms.term import Values
from voirdire.typing import Floats

#: Kinds of strengths with learned spreads.
LEARNED_SPREAD_KINDS = (SharedStrength.kind, SharedStrengthLevel.kind)
#: One log-odds in parts of the scale's length, for priors of terms that no model file has.
SCALE_PER_LOG_ODDS = 1 / 6


@dataclass(frozen=True)
class ScoresDensity(ScoresLayout):
    """The density of a model of scores; its parameters are those of :class:`.ScoresLayout`.

    Parameters
    ----------
    over : "new" or "these"
        Scores (of items, or of systems) refer to contexts like those of the table, or to these alone.

    Examples
    --------
    >>> from voirdire.model.specs import load_model
    >>> ScoresDensity(load_model("rating-severity"), judges=3, criteria=2, items=4, levels=5).size
    16
    """

    over: str = "new"

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters, in the order of the flat vector."""
        model = self.model
        parameters = self._term_parameters(terms.SCORE_STRENGTH, model.strength)
        if self.repeats and model.strength.kind == "normal":
            # otherwise the joint mode of strengths and judges' effects would let strengths follow one judge
            parameters = (replace(parameters[0], prior=Spread("", sd=model.strength.numbers["sd"])),)
        for registry, section in (
            (terms.WEIGHTS, model.weights if self.voted else None),
            (terms.SEVERITY, model.severity),
            (terms.CUTPOINTS, model.cutpoints),
            (terms.RATERS, model.reliability),
            (terms.REPEATS, model.repeats if self.repeats else None),
            (terms.CONTEXT, model.context if self.contexts else None),
            (terms.TASTE, model.taste if self.tastes else None),
            (terms.FAMILIES, model.families if self.families else None),
            (terms.SCORE_ANCHORS, model.anchors if self.anchors else None),
        ):
            parameters += () if section is None else self._term_parameters(registry, section)
        parameters += added_parameters(self.added)
        empty_dims = {name for name, size in (("gap", self.sizes["gap"]), ("group", self.groups - 1)) if not size}
        return tuple(p for p in parameters if not empty_dims & set(p.dims))

    def _term_parameters(self, registry: Any, section: Section) -> tuple[Parameter, ...]:
        """Parameters of a term; some differ under a single criterion, or with contexts."""
        term = registry[section.kind]
        term = getattr(term, "alone", term) if self.criteria == 1 else term
        make_parameters = getattr(term, "in_contexts", term.parameters) if self.contexts else term.parameters
        parameters: tuple[Parameter, ...] = make_parameters(section.numbers)
        return parameters

    def information(self, name: str, values: Values, xp: Any) -> Array:
        """Approximate information of the answers on an item's strength, shape (..., criteria or 1, 1, 1).

        Zero where spreads are estimated by their marginal likelihood.
        """
        if self.uses_marginal_likelihood:
            return np.zeros(1)
        return self.form.information(self, values, xp)[..., None, None]

    def log_unit(self, parameter: Parameter, values: Values, xp: Any) -> tuple[Array, Array]:
        """Log unit and log ratio as in every density; with human scores the mean over cells, anchored or not.

        The determinant (:class:`.Spread`) contains the mean of the logarithms. Without it the mode of strengths would
        follow people, and their discrimination would be too large.
        """
        prior = parameter.prior
        assert isinstance(prior, Spread)  # no others have units
        log_sd, panel = prior.log_sd(values), self.information(parameter.name, values, xp)
        log_ratio = prior.log_ratio(log_sd, panel, xp)
        if self.anchors and not self.uses_marginal_likelihood:
            people_information = self.form.people_information(values, xp)[..., None, None]
            log_ratio = log_ratio * (1.0 - sum(share for share, _ in self.anchors))
            for share, count in self.anchors:
                log_ratio = log_ratio + share * prior.log_ratio(log_sd, panel + count * people_information, xp)
        return log_sd + log_ratio, log_ratio

    @property
    def uses_marginal_likelihood(self) -> bool:
        """True if spreads are estimated by their marginal likelihood (:mod:`voirdire.infer.latent_gaussian`)."""
        return self.model.strength.kind in LEARNED_SPREAD_KINDS

    def item_strengths(self, values: Values) -> Array:
        """Strengths over contexts like those of the table, or over these alone, shape (..., criteria, items)."""
        return strengths_over_contexts(values, self.over)

    def latent_model(self, data: Data) -> LatentGaussianModel:
        """See :func:`.scores.latent_model.build_scores_model`."""
        return build_scores_model(self, data, self.form.cells)

    @property
    def given_weights(self) -> tuple[float, ...] | None:
        """Weights of the criteria set by the user."""
        return self.fixed_weights

    @property
    def form(self) -> Any:
        """Module for the form of scores: on an ordered scale, continuous, or pooled by a baseline."""
        return score_form_module(self.model)

    @property
    def has_mirror(self) -> bool:
        """True if judges may perceive items reversed, so that the prior alone fixes the orientation."""
        return self.model.reliability.kind == "rater-discrimination"

    def mirror_values(self, x: Array, xp: Any) -> Array:
        """Return the flat vector with every strength, weight and discrimination of opposite sign."""
        if not self.has_mirror:
            return super().mirror_values(x, xp)
        values = self.values(x, xp)
        for name in ("strength", "weight", "raw_discrimination"):
            if name in values:
                values[name] = -values[name]
        return self.flat(values, xp)

    def log_parts(self, values: Values, data: Data, xp: Any) -> list[tuple[Array, Array]]:
        """Log probability of each distinct score (or of a judge's scores of one item), and its count."""
        parts = [self.form.score_log_densities(self, values, data, xp)]
        if self.voted:
            rater = terms.RATERS[self.model.reliability.kind]
            parts.append(
                log_criteria_votes(
                    values, data["criteria"], xp, lambda gap, judge: rater.perceived_strength(values, gap, judge, xp)
                )
            )
        return parts

    def people_log_probabilities(self, values: Values, data: Data, xp: Any) -> list[tuple[Array, Array]]:
        """As :meth:`log_probabilities_and_counts`, for human scores; leading axes of the values (draws) are kept."""
        return [self.form.people_part(self, values, data["anchors"], xp)] if self.anchors else []

    def outcome_names(self, data: Data) -> list[str]:
        """A name for each of :meth:`log_probabilities_and_counts`."""
        return ["scores", *["criteria_votes"] * self.voted]

    def people_outcome_names(self) -> list[str]:
        """A name for each of :meth:`people_log_probabilities`."""
        return ["anchors"] * bool(self.anchors)

    def closed_form(self, data: Data) -> ClosedFormDerivatives | None:
        """Derivatives with items eliminated, for ordered levels; see :class:`.scores.eliminated.EliminatedItems`."""
        if not can_eliminate_items(self, data):
            return None
        elimination = EliminatedItems(self, data)
        is_large = count_numbers(data) * self.size > MAX_HESSIAN_WORK
        return ClosedFormDerivatives(
            elimination.value_gradient,
            curvature=elimination.curvature,
            draws_about_mode=elimination.draws_about_mode if is_large else None,
        )

    def starts(self, data: Data) -> list[Floats]:
        """Starting points of the search for the mode, each of shape (size,)."""
        return [np.asarray(self.flat(values, np), dtype=float) for values in self.form.starts(self, data)]


def score_form_module(model: Model) -> Any:
    """Module for the form of a model's scores: :mod:`.ordinal`, :mod:`.continuous` or :mod:`.baseline`.

    Examples
    --------
    >>> from voirdire.model.specs import load_model
    >>> score_form_module(load_model("mean-score")).__name__
    'voirdire.kinds.scores.baseline'
    """
    if model.cutpoints is not None:
        return ordinal
    return continuous if isinstance(terms.RATERS[model.reliability.kind], RaterNoise) else baseline


def log_odds_unit(model: Model) -> float:
    """Approximate size of one log-odds in the unit of perceived strengths: 1, or 1/6 for continuous scores.

    Examples
    --------
    >>> from voirdire.model.specs import load_model
    >>> log_odds_unit(load_model("rating-learned")), round(log_odds_unit(load_model("rating-continuous")), 3)
    (1.0, 0.167)
    """
    return SCALE_PER_LOG_ODDS if score_form_module(model) is continuous else 1.0
