"""View of a fit in a notebook, as HTML without scripts: the checks with findings, the items, the judges."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from voirdire.report.page import shorten_name
from voirdire.report.table import Table, make_table, target_panel_headings

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit

MAX_ROWS = 10  # maximum number of rows of a table
_MAX_LETTERS = 1200  # maximum length of a text


def notebook(fit: Fit) -> str:
    """Summarise a fit as HTML. Names are escaped and not read as mathematics.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> table = pd.DataFrame({"judge": "<b>", "first": ["x"] * 3, "second": "$y$", "winner": ["x", "x", "$y$"]})
    >>> shown = notebook(voirdire.fit(table, method="map"))
    >>> "<b>" in shown, "&lt;b&gt;" in shown, "$y$" in shown
    (False, True, False)
    """
    result = fit.as_dict()
    parts = [f"<p><strong>{_plain_html(repr(fit)[1:-1])}</strong></p>"]
    if fit.decision is not None:
        parts.append(f"<p>{_plain_html(fit.decision.sentence())}</p>")
    problems = [row for row in result["checks"] if row["level"] != "ok"]
    if problems:
        entries = (
            f"<li><strong>{row['level']}</strong> {_plain_html(row['check'])}: {_plain_html(row['message'])}</li>"
            for row in problems
        )
        parts.append(f"<ul>{''.join(entries)}</ul>")
    intervals = f", with {100 * fit.prob:g}% intervals" if fit.posterior.draws is not None else ""
    unit = fit.kind.unit(fit.problem)
    heads = fit.kind.heading | {name: f"{name} ({unit})" for name in ("severity", "noise")}
    items = result["items"]
    title = f"Items, best first{intervals}"
    if "score" in items[0]:
        heads |= target_panel_headings(items[0], "score", unit)
    else:
        heads |= target_panel_headings(items[0], "probability")
        items, title = sorted(items, key=lambda row: row["probability"]), "Items, the least sure first"
    drop = ("sd", "rank_low", "rank_high", "known")
    parts.append(_table_html(make_table("items", title, items[:MAX_ROWS], drop=drop, heads=heads), len(items)))
    judges = sorted(result["judges"], key=lambda row: -(row.get("reliability") or 0.0))
    hidden = () if fit.kind.fixed_order(fit.problem) is None else ("position_bias",)
    judge_table = make_table("judges", f"Judges{intervals}", judges[:MAX_ROWS], drop=hidden, heads=heads)
    parts.append(_table_html(judge_table, len(judges)))
    parts.append("<p>ranking(), judges(), checks(), plot(kind) and report(path) say more.</p>")
    return _frame_html(parts)


def table_view(sentence: str, table: Table) -> str:
    """Return a sentence and a table as HTML, with names as plain text.

    Examples
    --------
    >>> "&lt;b&gt;" in table_view("<b>", make_table("a", "b", [{"item": "x"}]))
    True
    """
    return _frame_html([f"<p><strong>{_plain_html(sentence)}</strong></p>", _table_html(table, 0)])


def _frame_html(parts: list[str]) -> str:
    return f'<div class="tex2jax_ignore mathjax_ignore">{"".join(parts)}</div>'


def _table_html(shown: Table, count: int) -> str:
    rows, _ = shown.table_cells()
    heads = "".join(f"<th>{_plain_html(column.head)}</th>" for column in shown.columns)
    lines = (
        "<tr>" + "".join(f"<td>{_plain_html(f'{cell.text} {cell.interval}'.strip())}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    count_note = f" (the first {MAX_ROWS} of {count:,})" if count > MAX_ROWS else ""
    return (
        f"<table><caption>{_plain_html(shown.caption)}{count_note}</caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )


def _plain_html(text: str) -> str:
    """Escape a text: no HTML, no mathematics, a replacement for characters that cannot be printed."""
    shown = "".join(char if char.isprintable() else "\ufffd" for char in shorten_name(text, _MAX_LETTERS))
    return "".join(f"<span>{char}</span>" if char in "$\\" else html.escape(char) for char in shown)
