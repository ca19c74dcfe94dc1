"""Models of votes that are sums of terms."""

from __future__ import annotations

from dataclasses import replace

from voirdire.errors import InputError
from voirdire.kinds.further_terms import attach_terms, build_sum_model, reason_families_unknown
from voirdire.kinds.request import Request
from voirdire.kinds.votes.comparisons import are_unconnected
from voirdire.kinds.votes.contexts import reason_for_fixed_spreads, split_by_context
from voirdire.model.specs import Model, load_model
from voirdire.model.terms.strength import NormalStrength
from voirdire.tables.counts import Votes
from voirdire.tables.families import read_families, shared_families
from voirdire.tables.votes import VoteRows

#: Sections of models of votes, with the factors of their values.
TERM_SECTIONS = {"context": frozenset({"item", "context"}), "taste": frozenset({"judge", "item"})}
TASTE_EQUATION = "d has v_k,first - v_k,second more, v_k,i ~ Normal(0, s_taste), s_taste ~ Exponential(taste.rate)"
#: Factors of the terms of every model of votes.
REQUIRED_TERMS = (frozenset({"item"}), frozenset({"item", "criterion"}), frozenset({"judge"}))
JUDGE_SD = 0.3  # standard deviation of judges' slopes in models without learned spreads


def model_from_terms(table: Votes, request: Request) -> Model:
    """Make the model of a sum of terms; coins and tie habits of judges are as in the default models.

    Raises
    ------
    InputError
        A sum without items, or with a term that the table does not identify.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.model.term_rows import parse_terms
    >>> from voirdire.tables.votes import read_votes
    >>> votes = pd.DataFrame({"judge": "a", "first": "x", "second": "y", "winner": "x", "context": ["p", "q"]})
    >>> found = model_from_terms(read_votes(votes), Request(terms=parse_terms("item + item:context")))
    >>> found.name, found.context.kind, found.taste
    ('item + item:context', 'item-context', None)
    """
    rows = request.terms
    several = table.has_criteria and len(table.criteria) > 1
    contexts = table.row_context is not None and len(table.contexts) > 1
    missing = {
        "context": None if contexts else "the votes have no column context with several contexts",
        "taste": None if len(table.judges) > 1 else "there is one judge",
    }
    base = load_model(f"{'unordered-' if table.order_unknown else ''}{'maple' if several else 'crowd-bt'}-contexts")
    if base.taste is None:
        taste = load_model("maple-contexts").taste
        base = replace(base, taste=taste, equation=f"{base.equation.rstrip()}\n{TASTE_EQUATION}")
    return build_sum_model(base, rows, TERM_SECTIONS, REQUIRED_TERMS, missing)


def with_terms(table: Votes, model: Model, request: Request) -> tuple[Votes, Model, list[str]]:
    """Attach the terms of a model and a request to votes and model; see :func:`.attach_terms`.

    Raises
    ------
    InputError
        A term of a column that the table does not have, or with a learned spread in a model of fixed spreads.
    """
    term_request = replace(request, by=None)
    terms = term_request.asks_terms or bool(model.terms)
    if terms and not table.has_rows:
        raise InputError("terms: the votes were only counted, not kept; give the table itself")
    if terms and model.pool != "none":
        raise InputError(f"model {model.name} pools votes before it looks at them, so it takes no terms")
    learned = model.strength.kind != NormalStrength.kind
    rows, model, notes = attach_terms(VoteRows(table), model, term_request, (), None if learned else JUDGE_SD)
    open_ended = [row.words for row in model.terms if row.sd is None and len(row.factors) > 1]
    if open_ended and not learned:
        raise InputError(
            f"terms {', '.join(open_ended)}: {model.name} learns no spreads; give sd, or take a model that does, such "
            "as learned-crowd-bt-position"
        )
    return rows.votes, model, notes


def families_terms(table: Votes, request: Request, contexts: bool) -> str | None:
    """Write the default sum of terms for families of judges, with ``contexts`` or without; None for no such sum.

    With effects of own families, and for unconnected pairs with people's answers, the answers of a family have less
    weight instead.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> votes = pd.DataFrame({"judge": list("abc"), "first": "x", "second": "y", "winner": "x"})
    >>> families_terms(read_votes(votes), Request(families={"a": "f", "b": "f"}), False)
    'item + family:item'
    >>> families_terms(read_votes(votes), Request(families={"a": "f"}), False)
    """
    by_pair = request.anchors is not None and are_unconnected(table)
    ungrouped = request.by is not None and len(table.contexts) < 2  # contexts are made of groups later
    if by_pair or ungrouped or request.item_families is not None or not table.has_rows:
        return None
    if reason_families_unknown(table, request) is not None:
        return None
    families = shared_families(read_families(request.families, table.judges), table.judges)[1]
    split = split_by_context(table) if contexts else table
    people = request.anchors is not None
    if reason_for_fixed_spreads(table, len(table.contexts) * contexts, len(split.counts), len(families), people):
        return None
    tastes = contexts or len(table.criteria) > 1
    return " + ".join(["item", *["item:context"] * contexts, *["judge:item"] * tastes, "family:item"])
