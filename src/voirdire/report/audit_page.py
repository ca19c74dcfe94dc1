"""Page of an audit: a verdict on each judge, its measures, and the data that further measures need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from voirdire.report.page import LEVELS, Block, Finding, Findings, Page, Section, Text, isolate_name
from voirdire.report.table import make_table
from voirdire.tables.words import count_in_words

_VERDICT_LEVELS = {"keep": "ok", "recalibrate": "warn", "ask people": "warn", "drop": "fail"}


def audit_page(result: dict[str, Any], name: str = "") -> Page:
    """Make the page of an audit.

    Parameters
    ----------
    result : dict
        Result of :func:`voirdire.decide.audit.audit`.
    name : str
        Name of the data.
    """
    cards = result["judges"]
    entries = tuple(
        Finding(isolate_name(card["judge"]), _VERDICT_LEVELS[card["verdict"]], f"{card['verdict']}: {card['why']}.")
        for card in cards
    )
    sections = [
        Section("verdicts", "May I trust these judges?", "Verdicts", (Findings(entries), Text(result["rule"], "note")))
    ]
    sections += [
        Section(
            f"judge-{index}",
            isolate_name(card["judge"]),
            isolate_name(card["judge"]),
            tuple(_card_blocks(index, card, result["prob"])),
        )
        for index, card in enumerate(cards)
    ]
    if result["panel"]:
        sections.append(Section("panel", "Which judge adds something?", "Panel", tuple(_panel_blocks(result["panel"]))))
    if result["needs"]:
        needs = make_table("needs", "Data that further measures need", result["needs"], heads={"needs": "needed"})
        sections.append(Section("needs", "What could not be measured?", "Needs", (needs,)))
    tiles = tuple(
        (verdict.capitalize(), str(sum(card["verdict"] == verdict for card in cards)), "judges")
        for verdict in _VERDICT_LEVELS
    )
    level = min((_VERDICT_LEVELS[card["verdict"]] for card in cards), key=LEVELS.index)
    title = f"Judges audited: {isolate_name(name)}" if name else "Judges audited"
    answers = sum(card["answers"] for card in cards)
    subtitle = f"{count_in_words(answers, 'answers')} of {count_in_words(len(cards), 'judges')}."
    return Page(title, subtitle, tuple(sections), tiles, level)


def _card_blocks(index: int, card: dict[str, Any], prob: float) -> Iterator[Block]:
    yield Text(f"{card['verdict'].capitalize()}: {card['why']}.", "lead")
    rows = [
        {**row, "found": {True: "found", False: "not found", None: ""}[row["found"]], "means": row["note"]}
        for row in card["measures"]
    ]
    caption = f"Measures with {100 * prob:g}% intervals (biases: the verdict's interval); n: observations"
    yield make_table(
        f"judge-{index}",
        caption,
        rows,
        drop=("note",),
        order=("measure", "value", "low", "high", "n", "found", "means"),
    )


def _panel_blocks(panel: dict[str, Any]) -> Iterator[Block]:
    yield Text(
        f"{panel['judges']} judges carry as much information as about {panel['effective']:.1f} independent judges. "
        "A judge adds little if this number hardly falls without it.",
        "lead",
    )
    yield make_table(
        "panel",
        "Effective number of independent judges without each judge",
        panel["without"],
        heads={"effective": "independent judges"},
    )
