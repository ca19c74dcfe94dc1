"""Verdict of a gate for a pull request: Markdown with a small table, and a badge."""

from __future__ import annotations

import re
from typing import Any

from voirdire.decide.gate import verdict_sentence
from voirdire.report.html import render_template
from voirdire.report.page import shorten_name
from voirdire.report.text_formats import escape_markdown

_VERDICT_MARKS = {"pass": "✅", "fail": "❌", "inconclusive": "❔"}
_VERDICT_COLOURS = {"pass": "#2e7d32", "fail": "#c62828", "inconclusive": "#8d6e00"}
_MAX_NAME_LETTERS = 60
_NAME_COLUMNS = {"new": "new", "old": "old", "compared": "what"}


def gate_markdown(result: dict[str, Any]) -> str:
    """Write the verdict as Markdown: a sentence, a table of one row, notes.

    Parameters
    ----------
    result : dict
        Result of :func:`voirdire.decide.gate.gate`. Names are shown as code, so that they cannot be links or mentions.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.decide.gate import gate
    >>> old = pd.DataFrame({"judge": "gpt", "item": range(200), "label": ["pass", "fail"] * 100})
    >>> print(gate_markdown(gate(old.assign(label=["pass", "pass", "pass", "fail"] * 50), old)).splitlines()[2])
    Pass: `new` is better than `old` (+0.250, 90% interval +0.179 to +0.335).
    """
    people = result["humans"]
    interval = f"[{result['low']:+.3f}, {result['high']:+.3f}]"
    cells = {
        **{key: as_code(result[field]).replace("|", "\\|") for key, field in _NAME_COLUMNS.items()},
        "difference": f"{result['difference']:+.3f}",
        f"{100 * result['prob']:g}% interval": interval,
        "margin": f"{result['margin']:g}",
        f"{result['unit']}s": f"{result['n']:,}",
        "judges": f"{len(result['judges']):,}",
        **({"answered by people": f"{people:,}"} if people else {}),
    }
    rows = [list(cells), ["---" if column < 3 else "---:" for column in range(len(cells))], list(cells.values())]
    return "\n".join(
        [
            f"### {_VERDICT_MARKS[result['verdict']]} voirdire gate: {result['verdict']}",
            "",
            verdict_sentence(result, as_code),
            "",
            *("| " + " | ".join(row) + " |" for row in rows),
            "",
            f"<sub>{escape_markdown(result['rule'])} Note: {_plain_text(result['note'])}.</sub>",
            "",
        ]
    )


def as_code(name: object) -> str:
    """Return a name as a span of code.

    Examples
    --------
    >>> print(as_code("@all|<b>"), as_code("a`b"))
    `@all|<b>` ``a`b``
    """
    flat = "".join(letter if letter.isprintable() else " " for letter in shorten_name(str(name), _MAX_NAME_LETTERS))
    flat = " ".join(flat.split()) or " "
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", flat)), default=0))
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def _plain_text(text: str) -> str:
    """Escape a note that may contain names from the data, so that it has no mentions and no links."""
    flat = "".join(letter if letter.isprintable() else " " for letter in text)
    return re.sub(
        r"@(?=\w)",
        "@\u200b",
        re.sub(r"(?<=\w)://|(?<=www)\.", lambda match: f"{match[0]}\u200b", escape_markdown(flat)),
    )


def gate_badge(result: dict[str, Any]) -> str:
    """Draw the verdict as a badge: SVG without names, fonts or scripts.

    Examples
    --------
    >>> found = {"verdict": "pass", "difference": 0.25}
    >>> "pass +0.250" in gate_badge(found)
    True
    """
    verdict = result["verdict"]
    label = f"{verdict} {result['difference']:+.3f}"
    sizes = {"title_width": 40, "label_width": 14 + 7 * len(label)}
    return render_template("badge.svg.j2", label=label, colour=_VERDICT_COLOURS[verdict], **sizes)
