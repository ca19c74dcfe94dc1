"""Further terms of votes and scores together: each effect is the same in both tables."""

from __future__ import annotations

from dataclasses import replace

from voirdire.errors import InputError
from voirdire.kinds import further_terms
from voirdire.kinds.own_families import add_own_families_to_all
from voirdire.kinds.request import Request
from voirdire.kinds.scores.density import LEARNED_SPREAD_KINDS
from voirdire.kinds.unused_columns import has_recurring_items
from voirdire.model.panel_density import TIME, added_equation
from voirdire.model.specs import Model, load_model
from voirdire.model.term_rows import TermRow
from voirdire.tables.further import with_common_levels
from voirdire.tables.votes import VoteRows
from voirdire.tables.votes_and_scores import VotesAndScores

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
