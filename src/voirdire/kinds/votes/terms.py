"""Models of votes that are sums of terms: which sections a sum names, and what no model of votes takes."""

from __future__ import annotations

from dataclasses import replace

from voirdire.errors import InputError
from voirdire.kinds.further_terms import of_terms
from voirdire.kinds.kind import Request
from voirdire.model.specs import Model, load_model
from voirdire.tables.counts import Votes
from voirdire.tables.covariates import OWN_FAMILY, attached

#: Sections of models of votes, by what their values are of.
SECTIONS = {"context": frozenset({"item", "context"}), "taste": frozenset({"judge", "item"})}
TASTES = "d has v_k,first - v_k,second more, v_k,i ~ Normal(0, s_taste), s_taste ~ Exponential(taste.rate)"
#: What every model of votes has.
ALWAYS = (frozenset({"item"}), frozenset({"item", "criterion"}), frozenset({"judge"}))


def model_of(table: Votes, request: Request) -> Model:
    """The model of a sum of terms; coins and tie habits of judges are those of the default models.

    Raises
    ------
    InputError
        A sum without items, or with what the table cannot tell or models of votes do not have.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.model.term_rows import parse_terms
    >>> from voirdire.tables.votes import read_votes
    >>> votes = pd.DataFrame({"judge": "a", "first": "x", "second": "y", "winner": "x", "context": ["p", "q"]})
    >>> found = model_of(read_votes(votes), Request(terms=parse_terms("item + item:context")))
    >>> found.name, found.context.kind, found.taste
    ('item + item:context', 'item-context', None)
    """
    rows = request.terms
    several = table.has_criteria and len(table.criteria) > 1
    contexts = table.row_context is not None and len(table.contexts) > 1
    untold = {
        "context": None if contexts else "the votes have no column context with several contexts",
        "taste": None if len(table.judges) > 1 else "there is one judge",
    }
    names = _covariates(table, request)
    numbers = {frozenset({name}): name for name in names}
    slopes = {frozenset({"judge", name}): name for name in names}
    base = load_model(
        f"{'unordered-' if table.order_unknown else ''}{'maple' if several else 'crowd-bt'}-contexts"
    )
    if base.taste is None:
        taste = load_model("maple-contexts").taste
        base = replace(base, taste=taste, equation=f"{base.equation.rstrip()}\n{TASTES}")
    model = of_terms(base, rows, SECTIONS, (*ALWAYS, *numbers, *slopes), untold)
    problems = [
        f"terms: votes take no term {row.words}; their terms are item, item:context, judge:item, judge, and covariates "
        "(covariates=, item_families=) with judge:COVARIATE"
        for row in model.terms
    ]
    named = {frozenset(row.factors) for row in rows}
    problems += _halves(names, named, len(table.judges))
    if problems:
        raise InputError(problems)
    return replace(model, covariates=base.covariates if names else None)


def _halves(names: tuple[str, ...], named: set[frozenset[str]], judges: int) -> list[str]:
    """Covariates of which a sum does not name all that models of votes have."""
    wanted = [((name,), ("judge", name)) if judges > 1 else ((name,),) for name in names]
    missing = [":".join(one) for each in wanted for one in each if frozenset(one) not in named]
    return [
        f"terms: covariates of votes go with {one}; add it, or leave the covariate out" for one in missing
    ]


def _covariates(table: Votes, request: Request) -> tuple[str, ...]:
    found: tuple[str, ...] = ()
    if request.covariates is not None:
        details = attached(table, request.covariates).details
        found = () if details is None else details.covariates
    own = request.item_families is not None and not request.without_own_family
    return (*found, OWN_FAMILY) if own else found
