"""View of a fit in a notebook: the checks that found something, the items, the judges, as HTML without scripts."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from voirdire.report.page import shorten_name
from voirdire.report.table import Table, make_table, target_panel_headings

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit

MOST = 10  # rows of a table
_LETTERS = 1200  # of a text


def notebook(fit: Fit) -> str:
    """A fit in short. Names are data: they are escaped, and no mathematics is read into them.

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
    found = [row for row in result["checks"] if row["level"] != "ok"]
    if found:
        said = (
            f"<li><strong>{row['level']}</strong> {_plain_html(row['check'])}: {_plain_html(row['message'])}</li>"
            for row in found
        )
        parts.append(f"<ul>{''.join(said)}</ul>")
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
    parts.append(_table_html(make_table("items", title, items[:MOST], drop=drop, heads=heads), len(items)))
    judges = sorted(result["judges"], key=lambda row: -(row.get("reliability") or 0.0))
    untold = () if fit.kind.fixed_order(fit.problem) is None else ("position_bias",)
    judged = make_table("judges", f"Judges{intervals}", judges[:MOST], drop=untold, heads=heads)
    parts.append(_table_html(judged, len(judges)))
    parts.append("<p>ranking(), judges(), checks(), plot(kind) and report(path) say more.</p>")
    return _frame_html(parts)


def table_view(said: str, of: Table) -> str:
    """A sentence and a table, in which names are nothing but text.

    Examples
    --------
    >>> "&lt;b&gt;" in table_view("<b>", make_table("a", "b", [{"item": "x"}]))
    True
    """
    return _frame_html([f"<p><strong>{_plain_html(said)}</strong></p>", _table_html(of, 0)])


def _frame_html(parts: list[str]) -> str:
    return f'<div class="tex2jax_ignore mathjax_ignore">{"".join(parts)}</div>'


def _table_html(shown: Table, count: int) -> str:
    rows, _ = shown.table_cells()
    heads = "".join(f"<th>{_plain_html(column.head)}</th>" for column in shown.columns)
    lines = (
        "<tr>"
        + "".join(f"<td>{_plain_html(f'{cell.text} {cell.interval}'.strip())}</td>" for cell in row)
        + "</tr>"
        for row in rows
    )
    rest = f" (the first {MOST} of {count:,})" if count > MOST else ""
    return (
        f"<table><caption>{_plain_html(shown.caption)}{rest}</caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )


def _plain_html(text: str) -> str:
    """Plain text: escaped, what begins mathematics set apart, what cannot be printed shown as such."""
    shown = "".join(c if c.isprintable() else "\ufffd" for c in shorten_name(text, _LETTERS))
    return "".join(f"<span>{c}</span>" if c in "$\\" else html.escape(c) for c in shown)
