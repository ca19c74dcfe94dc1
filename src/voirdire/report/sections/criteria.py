"""Sections on criteria and their weights, and on classes of labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from voirdire.infer.posterior import normalised_weights
from voirdire.report.figure_blocks import figure_blocks
from voirdire.report.figures.classes import MAX_ITEMS
from voirdire.report.page import Block, Text, isolate_name
from voirdire.report.provenance import caveat_sentence
from voirdire.report.table import make_table, make_wide_table, share_text, target_panel_headings

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit

SETTLED_PROBABILITY = 0.95  # minimum probability of a settled class


def classes_section(fit: Fit, result: dict[str, Any]) -> Iterator[Block]:
    """Yield the section on classes: number of settled items, figure of the least certain ones, table of all."""
    rows = sorted(result["items"], key=lambda row: row["probability"])
    yield Text(_class_counts_sentence(rows) + caveat_sentence(fit), "lead")
    for sentence in fit.kind.outcome(fit.problem, fit.posterior):
        yield Text(sentence)
    yield from figure_blocks(
        fit,
        "classes",
        "The items that are least sure",
        f"Probability of every class, given all labels; the {MAX_ITEMS} least sure items, or all of them if there are "
        "fewer. These are the ones to look at, or to ask people about.",
    )
    class_heads = {key: f"P({key.removeprefix('p_')})" for key in rows[0] if key.startswith("p_")}
    heads = target_panel_headings(rows[0], "probability")
    any_known = any(row["known"] for row in rows)
    yield make_table(
        "classes",
        "Items, the least sure first",
        rows,
        heads={"label": "class"} | heads | class_heads,
        order=("item", "criterion", "label", *heads, *class_heads),
        drop=() if any_known else ("known",),
        shares=(*heads, *class_heads),
        notes=(
            *(("P(class) is what the first probability is about.",) if len(heads) > 1 else ()),
            *(("known: the class was given by people.",) if any_known else ()),
        ),
    )


def count_settled(rows: Sequence[dict[str, Any]]) -> int:
    """Count items with a class of probability 0.95 or more."""
    return sum(row["probability"] >= SETTLED_PROBABILITY for row in rows)


def _class_counts_sentence(rows: Sequence[dict[str, Any]]) -> str:
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["label"]] = counts.get(row["label"], 0) + 1
    count_text = ", ".join(
        f"{count:,} {isolate_name(label)}" for label, count in sorted(counts.items(), key=lambda entry: -entry[1])
    )
    settled = f"{count_settled(rows):,} of {len(rows):,} are settled (probability {SETTLED_PROBABILITY:g})"
    return f"By its most probable class: {count_text}. {settled}."


def shares_section(fit: Fit, result: dict[str, Any]) -> Iterator[Block]:
    """Yield the section on the shares of the classes."""
    rows = result["shares"]
    top = max(rows, key=lambda row: row["share"])
    one_criterion = len({row["criterion"] for row in rows}) < 2
    criterion_text = "" if one_criterion else f" under {isolate_name(top['criterion'])}"
    yield Text(
        f"{isolate_name(top['class'])} is the most common class{criterion_text}: {share_text(top['share'])} of the "
        "items.",
        "lead",
    )
    yield from figure_blocks(
        fit, "shares", "Shares of the classes", f"Share of the items, with {100 * fit.prob:g}% intervals."
    )
    yield make_table(
        "shares",
        f"Shares of the classes, with {100 * fit.prob:g}% intervals",
        rows,
        drop=("criterion",) if one_criterion else (),
    )


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
