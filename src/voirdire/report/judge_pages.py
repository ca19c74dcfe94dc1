"""Pages of an audit and of a watch: verdicts on judges, their measures, and changes over time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from voirdire.decide.watch import CHANGED, NOT_ENOUGH, change_sentence, watch_headline
from voirdire.report.figures.curves import draw_change_point
from voirdire.report.page import LEVELS, Block, Code, Figure, Finding, Findings, Page, Section, Text, isolate_name
from voirdire.report.table import make_table
from voirdire.tables.numbers import count_in_words

_AUDIT_LEVELS = {"keep": "ok", "recalibrate": "warn", "ask people": "warn", "drop": "fail"}


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
        Finding(isolate_name(card["judge"]), _AUDIT_LEVELS[card["verdict"]], f"{card['verdict']}: {card['why']}.")
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
        for verdict in _AUDIT_LEVELS
    )
    level = min((_AUDIT_LEVELS[card["verdict"]] for card in cards), key=LEVELS.index)
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


_WATCH_LEVELS = {CHANGED: "fail", NOT_ENOUGH: "warn"}


def watch_page(result: dict[str, Any], name: str = "") -> Page:
    """Make the page of a watch.

    Parameters
    ----------
    result : dict
        Result of :func:`voirdire.decide.watch.watch`.
    name : str
        Name of the data.
    """
    rows = result["measures"]
    entries = tuple(_judge_finding(judge, rows, result["prob"]) for judge in result["judges"])
    sections = [
        Section(
            "verdict",
            "Did a judge change?",
            "Verdict",
            (
                Text(watch_headline(result, isolate_name), "lead"),
                Findings(tuple(sorted(entries, key=lambda entry: LEVELS.index(entry.level)))),
                *(Text(note, "note") for note in result["notes"]),
                Text(result["rule"], "note"),
            ),
        )
    ]
    changes = [row for row in rows if row["found"]]
    sections += [
        Section(
            f"change-{index}",
            f"{isolate_name(row['judge'])}: {row['what']}",
            f"{isolate_name(row['judge'])}, {row['measure'].replace('_', ' ')}",
            tuple(_change_blocks(index, row, result["prob"])),
        )
        for index, row in enumerate(changes)
    ]
    sections.append(Section("measures", "What is watched?", "Measures", (_measure_table(rows),)))
    tiles = (
        ("Changed", str(len({row["judge"] for row in changes})), f"of {len(result['judges'])} judges"),
        ("Answers", f"{result['answers']:,}", f"in the order of the {result['order']}"),
        ("False alarms", f"{100 * result['alpha']:g}%", "meant to be the most, over all looks"),
    )
    title = f"Judges watched: {isolate_name(name)}" if name else "Judges watched"
    level = _WATCH_LEVELS.get(result["verdict"], "ok")
    return Page(title, watch_headline(result, isolate_name), tuple(sections), tiles, level)


def _judge_finding(judge: str, rows: list[dict[str, Any]], prob: float) -> Finding:
    judge_rows = [row for row in rows if row["judge"] == judge]
    changes = [row for row in judge_rows if row["found"]]
    if changes:
        return Finding(isolate_name(judge), "fail", " ".join(_capital_sentence(row, prob) for row in changes))
    watched = [row for row in judge_rows if row["found"] is False]
    if not watched:
        return Finding(isolate_name(judge), "warn", "Too few answers to say.")
    words = "; ".join(f"{row['what']} {row['value']:.2f} ({row['n']:,})" for row in watched)
    return Finding(isolate_name(judge), "ok", f"No change found: {words}.")


def _change_blocks(index: int, row: dict[str, Any], prob: float) -> Iterator[Block]:
    yield Text(_capital_sentence(row, prob), "lead")
    yield Text(row["note"])
    yield Figure(
        f"course-{index}",
        f"{isolate_name(row['judge'])}: {row['what']}",
        f"Means of {len(row['course'])} blocks of answers, first to last; the lines are the means before and after the "
        f"change, which came at {row['since']} ({row['since_low']} to {row['since_high']}).",
        lambda: (draw_change_point(row),),
    )
    if row["examples"]:
        yield Code("Newest answers since then that differ", "\n".join(row["examples"]))


def _capital_sentence(row: dict[str, Any], prob: float) -> str:
    sentence = change_sentence(row, prob)
    return sentence[0].upper() + sentence[1:]


def _measure_table(rows: list[dict[str, Any]]) -> Any:
    result_words = {True: "changed", False: "no change", None: "not yet"}
    shown = [
        {
            "judge": row["judge"],
            "measure": row["what"],
            "found": result_words[row["found"]],
            "n": row["n"],
            "mean": row["value"],
            "change": row["change"],
            "change_low": row["change_low"],
            "change_high": row["change_high"],
            "since": row["since"],
            "evidence": row["evidence"],
            "needed": row["needed"],
        }
        for row in rows
    ]
    caption = "Measures of each judge; evidence and the evidence needed are base-10 logarithms of e-values"
    return make_table("measures", caption, shown, decimals={"evidence": 1, "needed": 1, "mean": 2})
