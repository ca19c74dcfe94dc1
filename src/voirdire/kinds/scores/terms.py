"""Models of scores that are sums of terms: which sections a sum names, and what no model of scores takes."""

from __future__ import annotations

from dataclasses import replace

from voirdire.errors import InputError
from voirdire.kinds.further_terms import model_with_terms, why_no_families
from voirdire.kinds.kind import Request
from voirdire.kinds.scores import ordinal
from voirdire.kinds.scores.density import WITH_SPREADS, score_form_module
from voirdire.kinds.scores.halo import can_learn_tastes, why_no_contexts
from voirdire.kinds.scores.scale import falls_between_levels
from voirdire.kinds.scores.score_counts import has_repeats
from voirdire.model.specs import Model, load_model
from voirdire.tables.scores import Scores

BASE, WITH_FAMILIES = "rating-contexts", "rating-families"
BASE_OF_NUMBERS = "rating-continuous-contexts"
CONTEXTS = (
    "eta has u_c,i,x more in context x, u ~ Normal(0, s_context), s_context ~ Exponential(context.rate)"
)
#: Sections of models of scores, by what their values are of.
SECTIONS = {
    "context": frozenset({"item", "context"}),
    "taste": frozenset({"judge", "item"}),
    "families": frozenset({"family", "item"}),
}
#: What every model of scores has.
ALWAYS = (frozenset({"item"}), frozenset({"item", "criterion"}), frozenset({"judge"}), frozenset({"group"}))


def model_from_terms(table: Scores, request: Request) -> Model:
    """The model of a sum of terms.

    Raises
    ------
    InputError
        A sum without items, or with what the table cannot tell.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.model.term_rows import parse_terms
    >>> from voirdire.tables.scores import read_scores
    >>> rows = [(judge, item, context, 1) for judge in "ab" for item in "xy" for context in "pq"]
    >>> table = read_scores(pd.DataFrame(rows, columns=["judge", "item", "context", "score"]))
    >>> found = model_from_terms(table, Request(terms=parse_terms("item + item:context + judge:time")))
    >>> sorted(found.sections), [row.words for row in found.terms]
    (['anchors', 'context', 'cutpoints', 'reliability', 'severity', 'strength', 'weights'], ['judge:time'])
    """
    rows = request.terms
    named = {frozenset(row.factors) for row in rows}
    sections, untold = (
        dict(SECTIONS),
        {"context": why_no_contexts(table), "families": why_no_families(table, request)},
    )
    if not can_learn_tastes(table, why_no_contexts(table) is None):
        if has_repeats(table):  # runs tell what a judge makes of an item, as criteria and contexts do
            del sections["taste"]
        else:
            untold["taste"] = "no judge scores an item twice"
    if falls_between_levels(table.score, request.levels):
        base = load_model(BASE_OF_NUMBERS)
        del sections["families"]  # told by a term as of any other column
    else:
        base = load_model(WITH_FAMILIES if SECTIONS["families"] in named else BASE)
    if base.context is None:
        equation = f"{base.equation.rstrip()}\n{CONTEXTS}"
        base = replace(base, context=load_model(BASE).context, equation=equation)
    base = replace(base, taste=base.taste if "taste" in sections else None)
    return model_with_terms(base, rows, sections, ALWAYS, untold)


def check_terms(model: Model) -> None:
    """Refuse terms beside a model that has no spreads to learn.

    Raises
    ------
    InputError
    """
    words = ", ".join(row.words for row in model.terms)
    if model.strength.kind not in WITH_SPREADS or (score_form_module(model) is ordinal and model.repeats):
        raise InputError(
            f"terms {words}: {model.name} takes none beside its own; take rating-learned, rating-contexts, "
            "rating-halo or rating-families, or of scores between levels rating-continuous, rating-continuous-halo or "
            "rating-continuous-contexts"
        )
