"""The page of an audit: a verdict on each judge, its card, what more would take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from voirdire.report.page import LEVELS, Block, Finding, Findings, Page, Section, Text, isolate_name
from voirdire.report.table import make_table
from voirdire.tables.words import count_in_words

_VERDICT_LEVELS = {"keep": "ok", "recalibrate": "warn", "ask people": "warn", "drop": "fail"}


def audit_page(found: dict[str, Any], name: str = "") -> Page:
    """The page of an audit.

    Parameters
    ----------
    found : dict
        What :func:`voirdire.decide.audit.audit` gives.
    name : str
        What the data are called.
    """
    cards = found["judges"]
    entries = tuple(
        Finding(
            isolate_name(card["judge"]),
            _VERDICT_LEVELS[card["verdict"]],
            f"{card['verdict']}: {card['why']}.",
        )
        for card in cards
    )
    sections = [
        Section(
            "verdicts",
            "May I trust these judges?",
            "Verdicts",
            (Findings(entries), Text(found["rule"], "note")),
        )
    ]
    sections += [
        Section(
            f"judge-{index}",
            isolate_name(card["judge"]),
            isolate_name(card["judge"]),
            tuple(_card_blocks(index, card, found["prob"])),
        )
        for index, card in enumerate(cards)
    ]
    if found["panel"]:
        sections.append(
            Section("panel", "Which judge adds something?", "Panel", tuple(_panel_blocks(found["panel"])))
        )
    if found["needs"]:
        needs = make_table(
            "needs", "What further measures would take", found["needs"], heads={"needs": "takes"}
        )
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


def _card_blocks(at: int, card: dict[str, Any], prob: float) -> Iterator[Block]:
    yield Text(f"{card['verdict'].capitalize()}: {card['why']}.", "lead")
    rows = [
        {**row, "found": {True: "found", False: "not found", None: ""}[row["found"]], "means": row["note"]}
        for row in card["measures"]
    ]
    caption = f"Measures: of biases with the interval that decides, else with {100 * prob:g}%; n is what each rests on"
    yield make_table(
        f"judge-{at}",
        caption,
        rows,
        drop=("note",),
        order=("measure", "value", "low", "high", "n", "found", "means"),
    )


def _panel_blocks(panel: dict[str, Any]) -> Iterator[Block]:
    yield Text(
        f"{panel['judges']} judges, worth about {panel['effective']:.1f} independent ones. A judge without whom this "
        "number hardly falls adds little.",
        "lead",
    )
    yield make_table(
        "panel",
        "Independent judges that the panel is worth without each",
        panel["without"],
        heads={"effective": "worth"},
    )
