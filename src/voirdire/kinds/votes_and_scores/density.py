"""Density of votes and scores, whose models share parameters and further terms.

Given the parameters, all answers are independent. The log likelihood is therefore the sum over the tables, and so is
the information about a strength (:class:`.Spread`). A parameter of both models is one parameter with one prior. With
learned spreads the two are one latent Gaussian model: two families of answers over one set of terms.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.latent_gaussian.joined_answers import join_answered_sums
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.panel import build_latent_model, centre_zero_sum
from voirdire.kinds import further_terms
from voirdire.kinds.column_checks import has_recurring_items
from voirdire.kinds.own_families import add_own_families_to_all
from voirdire.kinds.request import Request
from voirdire.kinds.scores import ordinal
from voirdire.kinds.scores.density import LEARNED_SPREAD_KINDS, ScoresDensity
from voirdire.kinds.scores.latent_model import centre_values, subtract_general, sums_of_scores
from voirdire.kinds.votes.density import VotesDensity
from voirdire.kinds.votes.latent_model import WELL_IDENTIFIED, sums_of_votes
from voirdire.model.density import Data, LogDensity
from voirdire.model.design import LatentPositions
from voirdire.model.panel_density import TIME, added_equation
from voirdire.model.specs import Model, load_model
from voirdire.model.term_rows import TermRow
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.parameters import Parameter
from voirdire.model.terms.term import Values
from voirdire.tables.further import with_common_levels
from voirdire.tables.votes import VoteRows
from voirdire.tables.votes_and_scores import VotesAndScores
from voirdire.typing import Floats

#: Sections of models of votes and scores with the factors of their values, and factors of terms of every such model.
TERM_SECTIONS = {"context": frozenset({"item", "context"}), "taste": frozenset({"judge", "item"})}
REQUIRED_TERMS = (frozenset({"item"}), frozenset({"item", "criterion"}), frozenset({"judge"}))
FAMILY_FACTORS = frozenset({further_terms.FAMILY, "item"})


def attach_terms_to_both(
    tables: VotesAndScores, model: Model, request: Request
) -> tuple[VotesAndScores, Model, list[str]]:
    """Attach further terms to both tables and to the model, with one effect for both tables.

    An effect on an item is the same in votes and in scores. Covariates are centred and scaled as in the scores.

    Returns
    -------
    tables, model, notes

    Raises
    ------
    InputError
        A term of time, of a column that a table does not have, or of a column with numbers in one table and names in
        the other; a model with fixed spreads.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.votes_and_scores import read_votes_and_scores
    >>> votes = pd.DataFrame({"judge": "a", "first": ["x"], "second": "y", "winner": "x"})
    >>> scores = pd.DataFrame({"judge": "b", "item": ["x", "y"], "score": [1, 2]})
    >>> tables = read_votes_and_scores([votes, scores], rows=True)
    >>> request = Request(covariates=pd.DataFrame({"item": ["x", "y"], "length": [3, 5]}))
    >>> tables, model, _ = attach_terms_to_both(tables, load_model("joint-contexts"), request)
    >>> tables.votes.further.covariate.tolist(), [row.words for row in model.terms]
    ([[[-1.0], [1.0]]], ['length', 'judge:length'])
    """
    if (
        further_terms.has_family_terms(model)
        and (reason := further_terms.reason_families_unknown(tables, request)) is not None
    ):
        raise InputError(f"terms: family cannot be estimated from these data: {reason}; leave it out")
    has_own_family = request.item_families is not None or request.without_own_family
    if not (request.asks_terms or has_own_family) and all(
        frozenset(row.factors) == FAMILY_FACTORS for row in model.terms
    ):
        return tables, model, []
    if model.strength.kind not in LEARNED_SPREAD_KINDS and (request.asks_terms or model.terms):
        raise InputError(
            f"model {model.name} takes no further effects (covariates, families of items, groups, terms); take "
            "joint-contexts, or leave them out"
        )
    if request.by == TIME or any(TIME in row.factors for row in model.terms):
        raise InputError("terms: time is not for tables of votes and scores; leave it out")
    if not tables.votes.has_rows:
        raise InputError("terms: the votes were only counted, not kept; give the table itself")
    (rows, scores), own_family_notes = add_own_families_to_all((VoteRows(tables.votes), tables.scores), request)
    term_request = replace(request, item_families=None, without_own_family=False)
    scores, model, notes = further_terms.attach_terms(scores, model, term_request, (further_terms.FAMILY,))
    rows, _, _ = further_terms.attach_terms(rows, model, term_request, (further_terms.FAMILY,))
    notes = [*own_family_notes, *notes]
    of_votes, of_scores = rows.further, scores.further
    if mismatched := {*of_votes.covariates} ^ {*of_scores.covariates}:
        raise InputError(
            f"terms: column {min(mismatched)!r} has numbers in one table and names in the other; write it alike in both"
        )
    if of_votes.covariate is not None:
        units, means = of_scores.units, of_scores.means
        values = (of_votes.covariate * of_votes.units + of_votes.means - means) / units
        of_votes = replace(of_votes, covariate=values, units=units, means=means)
    of_votes, of_scores = with_common_levels(of_votes, of_scores)
    votes = rows.with_further(of_votes).votes
    return VotesAndScores(votes, scores.with_further(of_scores)), model, notes


def model_from_terms(tables: VotesAndScores, request: Request) -> Model:
    """Make the model of a sum of terms; discrimination, cutpoints and tie habits are those of ``joint-contexts``.

    Raises
    ------
    InputError
        A sum without items, or with a term that the tables do not identify.
    """
    contexts = any(has_recurring_items(table) for table in tables.parts)
    tastes = contexts or len(tables.criteria) > 1
    taste_reason = None if tastes else "there are neither contexts nor several criteria"
    taste_reason = taste_reason if len(tables.judges) > 1 else "there is one judge"
    missing = {"context": None if contexts else "no item is in several contexts", "taste": taste_reason}
    return further_terms.build_sum_model(
        load_model("joint-contexts"), request.terms, TERM_SECTIONS, REQUIRED_TERMS, missing
    )


def model_with_families(model: Model) -> Model:
    """Add the term of family and item to a model.

    Examples
    --------
    >>> from voirdire.model.specs import load_model
    >>> model_with_families(load_model("joint-contexts")).name
    'joint-contexts + family:item'
    """
    rows = (TermRow((further_terms.FAMILY, "item")),)
    equation = f"{model.equation.rstrip()}\n{added_equation(rows, ())}"
    return replace(model, name=f"{model.name} + {rows[0].words}", terms=rows, equation=equation)


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
