"""The spread of items of a large table, learned from some of them, and models that are sums of terms.

Where spreads would take minutes to learn with all else, the standard deviation of strengths is given to the model. That
of thousands of items is known well from some hundreds: it is the one of highest marginal likelihood of items drawn at
random, under the model that learns it. Given one for all tables, intervals of items further apart would be too narrow,
and a panel of noise would seem to tell items apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.mode import find_mode
from voirdire.kinds.further_terms import model_with_terms, why_no_families
from voirdire.kinds.request import Request
from voirdire.kinds.scores.density import LOG_ODDS, WITH_SPREADS
from voirdire.kinds.scores.halo import can_learn_tastes, why_no_contexts, why_no_continuous_halo
from voirdire.kinds.scores.problem import encode_scores
from voirdire.kinds.scores.scale import falls_between_levels
from voirdire.kinds.scores.score_counts import answers_per_cell, has_repeats
from voirdire.model.specs import Model, load_model
from voirdire.tables.scores import Scores

ITEMS = (20, 300)  # that it is learned from, at least and at most:
SCORES = 8_000  # as many as have so many scores
SEVERAL = 1.5  # judges of an item, on average, from which it is learned
MANY = 100  # items whose spread is known to a tenth
SMALLEST = 0.05  # standard deviation, below which items are alike


def why_spread_not_learned(table: Scores) -> str | None:
    """Why the spread is not learned from some of the items; None if it is.

    Of one score each, spread and cutpoints say the same; of few items it is known too roughly to be taken as known.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> rows = pd.DataFrame([("a", "x", 1), ("b", "y", 2)], columns=["judge", "item", "score"])
    >>> why_spread_not_learned(read_scores(rows))
    'most items have one judge'
    >>> why_spread_not_learned(read_scores(pd.concat([rows, rows.assign(judge="c")])))
    '2 items do not tell it'
    """
    if answers_per_cell(table)[0] < SEVERAL:
        return "most items have one judge"
    if len(table.items) < MANY:
        return f"{len(table.items)} items do not tell it"
    return None


def with_learned_spread(model: Model, table: Scores, levels: Sequence[object] | None = None) -> Model:
    """The model with the standard deviation of strengths that some of the items have.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> rows = [(judge, f"i{n}", 1 + (n + len(judge)) // 25) for judge in ("a", "bb", "ccc") for n in range(99)]
    >>> table = read_scores(pd.DataFrame(rows, columns=["judge", "item", "score"]))
    >>> 2 < with_learned_spread(load_model("rating-severity"), table).sections["strength"].numbers["sd"] < 20
    True
    """
    some = _some_items(table)
    posed = encode_scores(load_model("rating-learned"), some, levels=levels)
    values = posed.density.values(find_mode(posed).x, np)
    spread = float(np.sqrt(np.mean(np.exp(2.0 * np.asarray(values["log_spread"], dtype=float)))))
    return model.with_priors({"strength.sd": float(f"{max(spread, SMALLEST):.3g}")})


def _some_items(table: Scores) -> Scores:
    """Items drawn at random, always the same ones, with the first score of each judge under each criterion."""
    count = int(np.clip(SCORES * len(table.items) // max(len(table.judge), 1), *ITEMS))
    drawn = np.random.default_rng(0).permutation(len(table.items))[:count]
    about = np.stack([table.judge, table.criterion, table.item])
    first = np.unique(about, axis=1, return_index=True)[1]
    rows = np.sort(first[np.isin(table.item[first], drawn)])
    (judges, judge), (criteria, criterion), (items, item) = (
        np.unique(codes[rows], return_inverse=True) for codes in about
    )
    return Scores(
        judges=tuple(table.judges[k] for k in judges),
        criteria=tuple(table.criteria[c] for c in criteria),
        items=tuple(table.items[i] for i in items),
        judge=judge,
        criterion=criterion,
        item=item,
        score=table.score[rows],
        has_criteria=table.has_criteria,
    )


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


def families_terms(table: Scores, contexts: bool) -> str:
    """The sum of terms of scores by judges of families, with ``contexts`` where they can be told.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> rows = [(judge, item, context, 1) for judge in "ab" for item in "xy" for context in "pq"]
    >>> table = read_scores(pd.DataFrame(rows, columns=["judge", "item", "context", "score"]))
    >>> families_terms(table, True)
    'item + judge + item:context + judge:item + family:item'
    >>> families_terms(table, False)
    'item + judge + family:item'
    """
    tastes = can_learn_tastes(table, contexts) and (contexts or why_no_continuous_halo(table) is None)
    terms = ["item", "judge", *["item:context"] * contexts, *["judge:item"] * tastes, "family:item"]
    return " + ".join(terms)


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
    (['anchors', 'context', 'cutpoints', 'reliability', 'repeats', 'severity', 'strength', 'weights'], ['judge:time'])
    """
    rows = request.terms
    named = {frozenset(row.factors) for row in rows}
    sections = dict(SECTIONS)
    untold = {"context": why_no_contexts(table), "families": why_no_families(table, request)}
    if len(table.judges) < 2:
        untold["taste"] = "there is one judge, to whom an item is worth what it is worth"
    elif not can_learn_tastes(table, SECTIONS["context"] in named and untold["context"] is None):
        if has_repeats(table):  # runs tell what a judge makes of an item, as criteria and contexts do
            sections["repeats"] = sections.pop("taste")
        else:
            untold["taste"] = "no judge scores an item twice"
    if falls_between_levels(table.score, request.levels):
        base = load_model(BASE_OF_NUMBERS)
        if SECTIONS["families"] in named:
            base = _with_families_of_numbers(base)
    else:
        base = load_model(WITH_FAMILIES if SECTIONS["families"] in named else BASE)
    if base.context is None:
        equation = f"{base.equation.rstrip()}\n{CONTEXTS}"
        base = replace(base, context=load_model(BASE).context, equation=equation)
    base = replace(base, taste=base.taste if "taste" in sections else None)
    return model_with_terms(base, rows, sections, ALWAYS, untold)


def _with_families_of_numbers(base: Model) -> Model:
    """A model of scores between levels with errors that families share, as large as those of levels are."""
    families = load_model(WITH_FAMILIES).families
    assert families is not None  # in that file
    rate = families.numbers["rate"] / LOG_ODDS
    families = replace(families, prior=(("rate", rate),))
    said = f"mu has u_f(k),i more, u_f ~ Normal(0, s_f), s_f ~ Exponential({rate:g}), of families of two judges or more"
    return replace(base, families=families, equation=f"{base.equation.rstrip()}\n{said}")


def check_terms(model: Model) -> None:
    """Refuse terms beside a model that has no spreads to learn.

    Raises
    ------
    InputError
    """
    words = ", ".join(row.words for row in model.terms)
    if model.strength.kind not in WITH_SPREADS:
        raise InputError(
            f"terms {words}: {model.name} takes none beside its own; take rating-learned, rating-contexts, "
            "rating-halo or rating-families, or of scores between levels rating-continuous, rating-continuous-halo or "
            "rating-continuous-contexts"
        )
