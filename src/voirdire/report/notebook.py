"""View of a fit in a notebook, as HTML without scripts: the checks with findings, the items, the judges."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from voirdire.report.html import render_template
from voirdire.report.page import shorten_name
from voirdire.report.table import Table, make_table, target_panel_headings

if TYPE_CHECKING:
    from markupsafe import Markup

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
    sentence = "" if fit.decision is None else fit.decision.sentence()
    problems = [row for row in result["checks"] if row["level"] != "ok"]
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
    item_table = make_table("items", title, items[:MAX_ROWS], drop=drop, heads=heads)
    judges = sorted(result["judges"], key=lambda row: -(row.get("reliability") or 0.0))
    hidden = () if fit.kind.fixed_order(fit.problem) is None else ("position_bias",)
    judge_table = make_table("judges", f"Judges{intervals}", judges[:MAX_ROWS], drop=hidden, heads=heads)
    tables = [(item_table, len(items)), (judge_table, len(judges))]
    hint = "ranking(), judges(), checks(), plot(kind) and report(path) say more."
    return _view(repr(fit)[1:-1], tables, sentence, problems, hint)


def table_view(sentence: str, table: Table) -> str:
    """Return a sentence and a table as HTML, with names as plain text.

    Examples
    --------
    >>> "&lt;b&gt;" in table_view("<b>", make_table("a", "b", [{"item": "x"}]))
    True
    """
    return _view(sentence, [(table, 0)])


def _view(
    title: str,
    tables: Sequence[tuple[Table, int]],
    sentence: str = "",
    problems: Sequence[Mapping[str, str]] = (),
    hint: str = "",
) -> str:
    """Fill in the template; with each table goes the number of rows of which it shows the first."""
    shown = [(table, table.table_cells()[0], count) for table, count in tables]
    texts = {"title": title, "sentence": sentence, "problems": problems, "hint": hint}
    return render_template("notebook.html.j2", tables=shown, most=MAX_ROWS, plain=_plain_html, **texts)


def _plain_html(text: str) -> Markup:
    """Escape a text: no HTML, no mathematics, a replacement for characters that cannot be printed."""
    from markupsafe import Markup

    shown = "".join(char if char.isprintable() else "\ufffd" for char in shorten_name(text, _MAX_LETTERS))
    return Markup("".join(f"<span>{char}</span>" if char in "$\\" else html.escape(char) for char in shown))
