"""Section on the best items: the decision, the ranking, and the possible ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from voirdire.report.figure_blocks import figure_blocks
from voirdire.report.page import Block, Text
from voirdire.report.provenance import caveat_sentence, winner_sentence
from voirdire.report.table import RANKS_NOTE, make_table, target_panel_headings

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit


def best_section(fit: Fit, result: dict[str, Any]) -> Iterator[Block]:
    """Yield the decision in a sentence, the scores, the probability of every rank, the table with the rule."""
    rows, decision = [dict(row) for row in result["items"]], fit.decision
    if result.get("pairs"):
        yield from _unlinked_pairs(result["pairs"])
    else:
        yield Text(winner_sentence(fit, rows) + caveat_sentence(fit), "lead")
        for sentence in fit.kind.outcome(fit.problem, fit.posterior):
            yield Text(sentence)
    unit, drawn = fit.kind.unit(fit.problem), fit.posterior.draws is not None
    intervals = f" with {100 * fit.prob:g}% intervals" if drawn else ""
    if decision is not None and result.get("systems"):
        yield from _systems_blocks(fit, result["systems"])
    ranked = decision is not None and not result.get("systems")
    if decision is not None and ranked:
        rows = with_ranks(rows, decision.ranks)
    heads = target_panel_headings(rows[0], "score", unit)
    bands = " Items on a band share the first place." if ranked else ""
    yield from figure_blocks(fit, "ranking", "Scores", f"Scores in {unit}{intervals}.{bands}")
    yield from figure_blocks(
        fit,
        "rank-probability",
        "Probability of every rank",
        "Dark: likely ranks of an item; a wide band means that its rank is uncertain.",
    )
    no_intervals = f"No intervals: method {fit.method} gives the mode alone."
    yield make_table(
        "ranking",
        f"Items, best first{',' if drawn else ''}{intervals}",
        rows,
        heads=heads,
        order=("rank", "item", *heads, "p_best", "ranks"),
        drop=("sd", "rank_low", "rank_high"),
        missing={} if drawn else {"p_best": no_intervals},
        notes=((decision.rule, RANKS_NOTE) if ranked and decision is not None else ()) if drawn else (no_intervals,),
        bands=tuple(row["item"] in decision.first for row in rows) if decision is not None and ranked else (),
    )


def systems_section(fit: Fit, result: dict[str, Any]) -> Iterator[Block]:
    """Yield the decision about systems of a fit of labels: the sentence, scores, the table."""
    yield Text(winner_sentence(fit, result["systems"]) + caveat_sentence(fit), "lead")
    yield from _systems_blocks(fit, result["systems"])


def _systems_blocks(fit: Fit, rows: Sequence[dict[str, Any]]) -> Iterator[Block]:
    """Yield the scores of systems as a figure and as a table, with the ranks that remain possible."""
    decision, unit = fit.decision, fit.kind.unit(fit.problem)
    intervals = f"{100 * fit.prob:g}% intervals"
    yield from figure_blocks(
        fit,
        "systems",
        "Scores of systems",
        f"Scores in {unit} with {intervals}. Systems on a band share the first place.",
    )
    heads = target_panel_headings(rows[0], "score", unit)
    yield make_table(
        "systems",
        f"Systems, best first, with {intervals}",
        with_ranks(rows, decision.ranks),
        heads=heads,
        order=("rank", "system", "contexts", *heads, "p_best", "ranks"),
        drop=("sd", "rank_low", "rank_high", f"share_{getattr(fit.problem, 'positive', None)}"),
        notes=(decision.rule, RANKS_NOTE),
        bands=tuple(row["system"] in decision.first for row in rows),
    )


def with_ranks(rows: Sequence[dict[str, Any]], ranks: dict[str, tuple[int, int]]) -> list[dict[str, Any]]:
    """Add the ranks that remain possible, in words, to rows of items or systems.

    Examples
    --------
    >>> with_ranks([{"item": "x"}, {"system": "y"}], {"x": (1, 1), "y": (2, 3)})
    [{'item': 'x', 'ranks': '1'}, {'system': 'y', 'ranks': '2 to 3'}]
    """
    ranked = []
    for row in rows:
        low, high = ranks.get(row["item"] if "item" in row else row["system"], (None, None))
        ranked.append(row | {"ranks": None if low is None else str(low) if low == high else f"{low} to {high}"})
    return ranked


def _unlinked_pairs(pairs: Sequence[dict[str, Any]]) -> Iterator[Block]:
    """Yield the pairs of items that no vote links with others, each with its own probability, without a ranking."""
    yield Text(
        f"The {len(pairs):,} pairs are not linked by votes: each is judged for itself, and the ranking below says "
        "nothing across pairs.",
        "lead",
    )
    yield make_table("unlinked", "Probability that the first item of a pair is better", pairs)
