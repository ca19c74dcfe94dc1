"""The spread of items of a large table, learned from a sample of items, and models that are sums of terms.

Where it would take minutes to learn spreads with all other parameters, the standard deviation of strengths is fixed.
Some hundreds of items estimate that of thousands well: by the maximum of the marginal likelihood of a random sample of
items, under the model that learns it. With one fixed value for all tables, intervals of items that differ more would be
too narrow, and random scores would seem to distinguish items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.mode import find_mode
from voirdire.kinds.further_terms import build_sum_model, reason_families_unknown
from voirdire.kinds.request import Request
from voirdire.kinds.scores.density import LEARNED_SPREAD_KINDS, SCALE_PER_LOG_ODDS
from voirdire.kinds.scores.halo import can_learn_tastes, reason_contexts_unknown, reason_without_continuous_halo
from voirdire.kinds.scores.problem import encode_scores
from voirdire.kinds.scores.scale import falls_between_levels
from voirdire.kinds.scores.score_counts import answers_per_cell, has_repeats
from voirdire.model.specs import Model, load_model
from voirdire.tables.scores import Scores

ITEM_BOUNDS = (20, 300)  # smallest and largest number of items in the sample
MAX_SPREAD_SCORES = 8_000  # approximate number of scores in the sample
MIN_JUDGES_PER_ITEM = 1.5  # smallest mean number of judges per item from which the spread is learned
MIN_ITEMS = 100  # smallest number of items from which the spread is learned, to within a tenth
MIN_SPREAD = 0.05  # lower bound of the standard deviation, below which items are alike


def reason_spread_not_learned(table: Scores) -> str | None:
    """Return a reason not to learn the spread from a sample of items, or None.

    With one score per item, spread and cutpoints are confounded; few items estimate it too roughly to fix it.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> rows = pd.DataFrame([("a", "x", 1), ("b", "y", 2)], columns=["judge", "item", "score"])
    >>> reason_spread_not_learned(read_scores(rows))
    'most items have one judge'
    >>> reason_spread_not_learned(read_scores(pd.concat([rows, rows.assign(judge="c")])))
    '2 items do not tell it'
    """
    if answers_per_cell(table)[0] < MIN_JUDGES_PER_ITEM:
        return "most items have one judge"
    if len(table.items) < MIN_ITEMS:
        return f"{len(table.items)} items do not tell it"
    return None


def with_learned_spread(model: Model, table: Scores, levels: Sequence[object] | None = None) -> Model:
    """Set the model's standard deviation of strengths to the estimate from a sample of items.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> rows = [(judge, f"i{n}", 1 + (n + len(judge)) // 25) for judge in ("a", "bb", "ccc") for n in range(99)]
    >>> table = read_scores(pd.DataFrame(rows, columns=["judge", "item", "score"]))
    >>> 2 < with_learned_spread(load_model("rating-severity"), table).sections["strength"].numbers["sd"] < 20
    True
    """
    sample = _sample_items(table)
    problem = encode_scores(load_model("rating-learned"), sample, levels=levels)
    values = problem.density.values(find_mode(problem).x, np)
    spread = float(np.sqrt(np.mean(np.exp(2.0 * np.asarray(values["log_spread"], dtype=float)))))
    return model.with_priors({"strength.sd": float(f"{max(spread, MIN_SPREAD):.3g}")})


def _sample_items(table: Scores) -> Scores:
    """A fixed random sample of items, with the first score of each judge under each criterion."""
    count = int(np.clip(MAX_SPREAD_SCORES * len(table.items) // max(len(table.judge), 1), *ITEM_BOUNDS))
    chosen_items = np.random.default_rng(0).permutation(len(table.items))[:count]
    row_codes = np.stack([table.judge, table.criterion, table.item])
    first_row = np.unique(row_codes, axis=1, return_index=True)[1]
    rows = np.sort(first_row[np.isin(table.item[first_row], chosen_items)])
    (judges, judge), (criteria, criterion), (items, item) = (
        np.unique(codes[rows], return_inverse=True) for codes in row_codes
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


BASE_MODEL, FAMILIES_MODEL = "rating-contexts", "rating-families"
CONTINUOUS_MODEL = "rating-continuous-contexts"
CONTEXT_EQUATION = "eta has u_c,i,x more in context x, u ~ Normal(0, s_context), s_context ~ Exponential(context.rate)"
#: Factors of the sections of models of scores.
TERM_SECTIONS = {
    "context": frozenset({"item", "context"}),
    "taste": frozenset({"judge", "item"}),
    "families": frozenset({"family", "item"}),
}
#: Factors of the terms that every model of scores has.
REQUIRED_TERMS = (frozenset({"item"}), frozenset({"item", "criterion"}), frozenset({"judge"}), frozenset({"group"}))


def families_terms(table: Scores, contexts: bool) -> str:
    """The sum of terms for scores by families of judges, with ``contexts`` if the table identifies them.

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
    tastes = can_learn_tastes(table, contexts) and (contexts or reason_without_continuous_halo(table) is None)
    terms = ["item", "judge", *["item:context"] * contexts, *["judge:item"] * tastes, "family:item"]
    return " + ".join(terms)


def model_from_terms(table: Scores, request: Request) -> Model:
    """Build the model for a sum of terms.

    Raises
    ------
    InputError
        A sum without items, or with terms that the table does not identify.

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
    factor_sets = {frozenset(row.factors) for row in rows}
    sections = dict(TERM_SECTIONS)
    missing = {"context": reason_contexts_unknown(table), "families": reason_families_unknown(table, request)}
    if len(table.judges) < 2:
        missing["taste"] = "there is one judge, whose taste cannot be distinguished from an item's strength"
    elif not can_learn_tastes(table, TERM_SECTIONS["context"] in factor_sets and missing["context"] is None):
        if has_repeats(table):  # repeated runs identify a judge's effect on an item, as criteria and contexts do
            sections["repeats"] = sections.pop("taste")
        else:
            missing["taste"] = "no judge scores an item twice"
    if falls_between_levels(table.score, request.levels):
        base = load_model(CONTINUOUS_MODEL)
        if TERM_SECTIONS["families"] in factor_sets:
            base = _with_families_of_numbers(base)
    else:
        base = load_model(FAMILIES_MODEL if TERM_SECTIONS["families"] in factor_sets else BASE_MODEL)
    if base.context is None:
        equation = f"{base.equation.rstrip()}\n{CONTEXT_EQUATION}"
        base = replace(base, context=load_model(BASE_MODEL).context, equation=equation)
    base = replace(base, taste=base.taste if "taste" in sections else None)
    return build_sum_model(base, rows, sections, REQUIRED_TERMS, missing)


def _with_families_of_numbers(base: Model) -> Model:
    """A model of continuous scores with errors that families share, with the prior of ordered scales rescaled."""
    families = load_model(FAMILIES_MODEL).families
    assert families is not None  # in that file
    rate = families.numbers["rate"] / SCALE_PER_LOG_ODDS
    families = replace(families, prior=(("rate", rate),))
    equation = (
        f"mu has u_f(k),i more, u_f ~ Normal(0, s_f), s_f ~ Exponential({rate:g}), of families of two judges or more"
    )
    return replace(base, families=families, equation=f"{base.equation.rstrip()}\n{equation}")


def check_terms(model: Model) -> None:
    """Refuse added terms in a model that does not learn spreads.

    Raises
    ------
    InputError
    """
    words = ", ".join(row.words for row in model.terms)
    if model.strength.kind not in LEARNED_SPREAD_KINDS:
        raise InputError(
            f"terms {words}: {model.name} takes no added terms; take rating-learned, rating-contexts, "
            "rating-halo or rating-families, or for scores between levels rating-continuous, rating-continuous-halo or "
            "rating-continuous-contexts"
        )
