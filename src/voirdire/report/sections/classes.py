"""Sections of fits of labels: classes of the items, and shares of the classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from voirdire.report.caveats import caveat_sentence
from voirdire.report.figure_blocks import figure_blocks
from voirdire.report.figures.classes import MAX_ITEMS
from voirdire.report.page import Block, Text, isolate_name
from voirdire.report.table import make_table, share_text, target_panel_headings

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
    class_heads = {key: class_heading(key) for key in rows[0] if key.startswith("p_")}
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


def class_heading(key: str) -> str:
    """Return the heading of the probability of a class.

    Examples
    --------
    >>> class_heading("p_not safe")
    'P(not safe)'
    """
    return f"P({key.removeprefix('p_')})"


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
