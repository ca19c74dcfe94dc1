"""Section on criteria: their weights, and strengths of items under each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from voirdire.infer.posterior import normalised_weights
from voirdire.report.figure_blocks import figure_blocks
from voirdire.report.page import Block, Text, isolate_name
from voirdire.report.table import make_table, make_wide_table, share_text

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit

_MAX_CRITERION_COLUMNS = 8  # maximum number of criteria with a column of strengths each


def criteria_section(fit: Fit, result: dict[str, Any]) -> Iterator[Block]:
    """Yield the section: the heaviest criterion with its probability, the weights, and the strengths."""
    rows = sorted(result["criteria"], key=lambda row: -row["weight"])
    if len(rows) < 2:
        yield Text("There is one criterion: the ranking is its own.", "lead")
        return
    learned = "weight" in fit.posterior.central_values
    equal = not learned and len(set(fit.problem.density.given_weights or ())) < 2
    if equal:
        yield Text("All criteria count the same.", "lead")
    else:
        probability = _heaviest_probability(fit, rows[0]["criterion"]) if learned else None
        sentence = _top_criterion_sentence(rows, probability)
        yield Text(sentence if learned else f"The weights of the criteria are given: {sentence}", "lead")
    if learned:
        yield from figure_blocks(
            fit,
            "criteria",
            "Weights of the criteria",
            f"Weights sum to one; {100 * fit.prob:g}% intervals. The dashed line is equal weights.",
        )
    yield from figure_blocks(
        fit,
        "strengths",
        "Strengths under every criterion",
        "Blue: above the average item under that criterion; orange: below. Items in the order of the ranking.",
    )
    if not equal:
        interval_text = f", with {100 * fit.prob:g}% intervals" if learned else ""
        yield make_table("criteria", f"Weights of the criteria{interval_text}", rows)
    yield from _strengths_table(fit, [row["criterion"] for row in rows])


def _heaviest_probability(fit: Fit, criterion: str) -> float | None:
    """Compute the probability that a criterion has the largest weight; None without draws."""
    if fit.posterior.values is None:
        return None
    weights = normalised_weights(fit.problem.density, fit.posterior.values)
    return float((weights.argmax(axis=-1) == fit.problem.criteria.index(criterion)).mean())


def _top_criterion_sentence(rows: Sequence[dict[str, Any]], chance: float | None) -> str:
    top, last = rows[0], rows[-1]
    text = (
        f"{isolate_name(top['criterion'])} counts most, with {share_text(top['weight'])} of the weight; "
        f"{isolate_name(last['criterion'])} least, with {share_text(last['weight'])}."
    )
    if chance is None:
        return text
    return f"{text} That it counts most has probability {share_text(chance)}."


def _strengths_table(fit: Fit, criteria: Sequence[str]) -> Iterator[Block]:
    """Yield a table with a column per criterion, heaviest first; a row per item and criterion if there are over 8."""
    strengths: list[dict[str, Any]] = fit.strengths().to_dict("records")
    caption = f"Strength of every item under every criterion, with {100 * fit.prob:g}% intervals"
    rank = {item: row for row, item in enumerate(fit.ranking()["item"])}
    if len(criteria) > _MAX_CRITERION_COLUMNS:
        strengths = sorted(strengths, key=lambda row: rank[row["item"]])
        yield make_table("strengths", caption, strengths, order=("item",), drop=("sd",))
        return
    yield make_wide_table(
        "strengths",
        caption,
        strengths,
        "item",
        rank,
        {name: name for name in criteria},
        lambda row: row["criterion"],
        "strength",
    )
