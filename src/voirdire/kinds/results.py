"""Tables of results for several kinds of data: items by score, and quantities by level.

Results of interchangeable items (the table is unchanged if their names are exchanged) must be equal. Differences from
sampling error are averaged, so that these items have exactly the same probability of being the best.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior, Summary, integrated_scores, normalised_weights, summary_of_draws
from voirdire.kinds.columns import Columns
from voirdire.kinds.interchangeable import interchangeable_items
from voirdire.kinds.panel_gap import find_gap, target_and_panel_scores, with_other_score
from voirdire.model.density import LogDensity
from voirdire.model.problem import Problem
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.term import Values
from voirdire.typing import Floats, Ints


def strengths_over_contexts(values: Values, over: str) -> Array:
    """Compute strengths for contexts like the table's ("new"), or for these alone, shape (..., criteria, items).

    Examples
    --------
    >>> values = {"strength": np.array([[1.0, -1.0]]), "context_strength": np.array([[[0.5, 1.5], [0.0, 0.0]]])}
    >>> strengths_over_contexts(values, "new").tolist(), strengths_over_contexts(values, "these").tolist()
    ([[1.0, -1.0]], [[1.5, -1.5]])
    """
    if over == "new" or "context_strength" not in values:
        return values["strength"]
    strength = values["strength"] + values["context_strength"].mean(axis=-1)
    return strength if "level" in values else strength - strength.mean(axis=-1, keepdims=True)


def scope_words(over: str) -> str:
    """Words for the contexts that results are over."""
    return "contexts like these" if over == "new" else "these contexts alone"


def refuse_scope(over: str, models: str) -> None:
    """Refuse ``over="these"`` for a fit without contexts; ``models`` are examples of models with contexts."""
    if over != "new":
        raise InputError(
            f"over {over!r} is for models with contexts, such as {models}, and tables with a column context of several "
            "contexts"
        )


def contexts_note(over: str) -> str:
    """Write a note on the scores of a fit with contexts."""
    other = "these" if over == "new" else "new"
    return (
        f"Scores are over {scope_words(over)}: over='{other}' (--over {other}) gives scores over {scope_words(other)}; "
        "contexts() (--contexts --json) has the strengths in each."
    )


def select_items(values: Values, items: Sequence[int]) -> Values:
    """Select the strengths of some items, over all contexts and in each context."""
    strength, context = values["strength"][..., items], values["context_strength"][..., items, :]
    return {**values, "strength": strength, "context_strength": context}


def context_strengths(density: LogDensity, values: Values) -> Floats:
    """Compute strengths in each context, weighted over criteria, sum zero, shape (..., contexts, items)."""
    strength = values["strength"][..., None] + values["context_strength"]
    scores = np.einsum("...c,...cix->...xi", normalised_weights(density, values), strength)
    return np.asarray(scores - scores.mean(axis=-1, keepdims=True))


QuantityFunction = Callable[[Values], Floats]  # quantity from named values, with their leading axes

SCORE_DIGITS = 12  # scores that agree in this number of digits are not ordered by the difference
MEDIAN_GAP = 0.9538726  # median |x - y| of independent standard normal x, y: sqrt(2) times the upper quartile


def summarise_quantity(
    posterior: Posterior, function: QuantityFunction, prob: float, *, parts: bool = False
) -> Summary:
    """Summarise one quantity by :meth:`.Posterior.summarise_quantities`."""
    return posterior.summarise_quantities(lambda values: {"": function(values)}, prob, parts=parts)[""]


def level_columns(**levels: Sequence[str]) -> Columns:
    """Make a row of every combination of the levels of some dimensions, the last dimension changing fastest.

    Examples
    --------
    >>> level_columns(judge=("a", "b"), label=("x", "y"))["label"].tolist()
    ['x', 'y', 'x', 'y']
    """
    arrays = [np.array(names, dtype=object) for names in levels.values()]
    grid = np.meshgrid(*arrays, indexing="ij")
    return {name: part.ravel() for name, part in zip(levels, grid, strict=True)}


def quantity_table(
    posterior: Posterior, function: QuantityFunction, prob: float, name: str, levels: Columns, *, parts: bool = False
) -> Columns:
    """Make a table of a quantity with its interval, for every row of :func:`level_columns`.

    Parameters
    ----------
    function : callable
        Function from named values to the quantity: leading axes of the values, then axes as ``levels``, or of size 1.
    name : str
        Name of the column.
    parts : bool
        Whether the quantity consists of parts of a whole; see :meth:`.Posterior.summarise_quantities`.
    """
    summary = summarise_quantity(posterior, function, prob, parts=parts)
    rows = len(next(iter(levels.values())))
    columns = {name: summary.point, "low": summary.low, "high": summary.high}
    return levels | {key: np.resize(part, rows) for key, part in columns.items()}


def empty_table(names: Sequence[str], numbers: Sequence[str]) -> Columns:
    """Make a table without rows."""
    columns: Columns = {name: np.array([], dtype=object) for name in names}
    return columns | {name: np.array([]) for name in numbers}


def ranking_table(problem: Problem, posterior: Posterior, prob: float) -> Columns:
    """Table of items, best first: score, sd, interval, rank with interval, probability of being best.

    If the subject of results was requested (:mod:`voirdire.kinds.panel_gap`), also score and interval about the other.
    """
    scores, values = partial(integrated_scores, problem.density), posterior.values
    summary = summarise_quantity(posterior, scores, prob)
    columns = _rank_items(problem, summary, None if values is None else scores(values), prob)
    if problem.about is not None and not posterior.around_centre:
        target, panel = (None, None) if values is None else target_and_panel_scores(problem, values)
        fitted = values is not None and "panel_error" in values
        pair = (target, panel)
        summaries = [summary if draws is None else summary_of_draws(posterior, draws, prob) for draws in pair]
        if not fitted:
            panel_draws = summary.point[None] if panel is None else panel
            summaries[0] = summaries[0]._replace(point=find_gap(problem, panel_draws).expected_scores(summary.point))
        columns = with_other_score(
            problem.about,
            _rank_items(problem, summaries[0], target, prob),
            _rank_items(problem, summaries[1], panel, prob) if fitted else columns,
        )
    order = np.argsort(columns["rank"])
    return {name: column[order] for name, column in columns.items()}


def _rank_items(problem: Problem, shown: Summary, drawn: Floats | None, prob: float) -> Columns:
    columns: Columns = {"item": np.array(problem.items, dtype=object), **rank_columns(shown, drawn, prob)}
    return average_equal_rows(columns, interchangeable_items(problem))


def average_equal_rows(columns: Columns, groups: Sequence[Ints]) -> Columns:
    """Average the rows of each group in all columns but names and ranks."""
    for group in groups:
        for name in set(columns) - {"item", "system", "rank"}:
            columns[name] = np.array(columns[name])
            columns[name][group] = columns[name][group].mean()
    return columns


def rank_columns(shown: Summary, drawn: Floats | None, prob: float) -> Columns:
    """Compute columns of scores with sd and interval, ranks with interval, and P(best), along the last axis.

    Intervals of ranks and P(best) are missing without draws.

    Parameters
    ----------
    shown : Summary
        Summary of the scores.
    drawn : array, shape (draws, ..., scores), or None
        Draws of the scores.
    prob : float
        Probability of the intervals.
    """
    score, sd, low, high = shown
    unit = np.fmax.reduce(np.fmax(np.abs(score), sd), axis=None, initial=1e-300)  # ignores missing values
    rank = rank_values(np.round(score / unit, SCORE_DIGITS))
    columns: Columns = {"score": score, "sd": sd, "low": low, "high": high, "rank": rank}
    columns |= dict.fromkeys(("rank_low", "rank_high", "p_best"), np.full(score.shape, np.nan))
    if drawn is not None:
        ranks = rank_values(drawn)
        ends = [0.5 * (1 - prob), 0.5 * (1 + prob)]
        columns["rank_low"], columns["rank_high"] = np.quantile(ranks, ends, axis=0, method="inverted_cdf")
        columns["p_best"] = (ranks == 1).mean(axis=0)
    return columns


def criterion_table(problem: Problem, posterior: Posterior, prob: float) -> Columns:
    """Table of criteria: weight (weights sum to one) with interval."""
    levels = level_columns(criterion=problem.criteria)
    weights = partial(normalised_weights, problem.density)
    return quantity_table(posterior, weights, prob, "weight", levels, parts=True)


def strength_table(problem: Problem, posterior: Posterior, prob: float) -> Columns:
    """Table of strengths by criterion and item (log-odds), with sd and interval."""
    summary = summarise_quantity(posterior, itemgetter("strength"), prob)
    columns = level_columns(criterion=problem.criteria, item=problem.items)
    return columns | dict(zip(("strength", "sd", "low", "high"), (part.ravel() for part in summary), strict=True))


def rank_values(values: Floats) -> npt.NDArray[np.int64]:
    """Rank values along the last axis, 1 for the largest."""
    order = np.argsort(-values, axis=-1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.broadcast_to(np.arange(1, values.shape[-1] + 1), order.shape), axis=-1)
    return ranks


def context_strength_table(problem: Problem, contexts: Sequence[str], posterior: Posterior, prob: float) -> Columns:
    """Table of strengths by context and item (weighted over criteria), with interval and P(best in the context).

    Returns
    -------
    dict of array
        One row per context and item: context, item, strength (log-odds or points, sum zero in each context), low,
        high, p_best.
    """
    density = problem.density
    levels = level_columns(context=contexts, item=problem.items)
    unit_size = problem.unit[1]
    columns = quantity_table(
        posterior, lambda values: unit_size * context_strengths(density, values), prob, "strength", levels
    )
    if posterior.values is None:
        return columns | {"p_best": np.full(len(columns["item"]), np.nan)}
    best = context_strengths(density, posterior.values).argmax(axis=-1)
    return columns | {"p_best": (best[..., None] == np.arange(len(problem.items))).mean(axis=0).ravel()}
