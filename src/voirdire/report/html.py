"""Fits as HTML: a report as one page without external files, and the view in a notebook."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from functools import cache, partial
from importlib import metadata, resources
from itertools import groupby
from typing import TYPE_CHECKING, Any

from voirdire.report.figure_style import to_svg
from voirdire.report.page import Block, Code, Facts, Figure, Findings, Page, Section, Text, shorten_name
from voirdire.report.table import Table, make_table, target_panel_headings

if TYPE_CHECKING:
    from jinja2 import Environment, Template
    from markupsafe import Markup

    from voirdire.kinds.fit import Fit

_PACKAGE = "voirdire.report"
_MAX_TABLE_ROWS = 14  # maximum number of rows of a table that does not scroll
_MAX_FIGURE_INCHES = 6.0  # maximum width in inches of a figure that shrinks on a phone instead of scrolling


def html_page(page: Page) -> str:
    """Write the page as HTML. All texts are escaped; only the script of the page can run in it.

    Examples
    --------
    >>> from voirdire.report.page import Section
    >>> made = html_page(Page("<b>", "", (Section("a", "A", "A", (Text("1 < 2"),)),)))
    >>> "<h1>&lt;b&gt;</h1>" in made, "1 &lt; 2" in made
    (True, True)
    """
    from markupsafe import Markup

    blocks = report_template("blocks.html.j2").module
    script, style = read_asset(_PACKAGE, "script.js").strip(), read_asset(_PACKAGE, "style.css").strip()

    def show_section(section: Section) -> Markup:
        # each block is already escaped by its macro; consecutive figures are laid out in rows
        runs = groupby(section.blocks, lambda block: isinstance(block, Figure))
        texts = (("\n".join(_block_html(block, blocks) for block in run), drawn) for drawn, run in runs)
        return Markup("\n".join(f'<div class="figures">{text}</div>' if drawn else text for text, drawn in texts))

    assets = {"script": Markup(script), "style": Markup(style), "policy": Markup(security_policy())}
    version = metadata.version("voirdire")
    return render_template("page.html.j2", page=page, show=show_section, version=version, **assets)


def report_template(name: str) -> Template:
    """Return a template of reports."""
    return template_environment(_PACKAGE, keep_trailing_newline=True).get_template(name)


def render_template(name: str, **shown: Any) -> str:
    """Fill in a template of reports."""
    return report_template(name).render(**shown)


def security_policy() -> str:
    """Return the content security policy of the page: it loads nothing and runs no other script.

    Examples
    --------
    >>> security_policy().split("; ")[0]
    "default-src 'none'"
    """
    digest = hashlib.sha256(read_asset(_PACKAGE, "script.js").strip().encode()).digest()
    script = base64.b64encode(digest).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{script}'"


def _block_html(block: Block, blocks: Any) -> str:
    from markupsafe import Markup

    if isinstance(block, Table):
        rows, footnotes = block.table_cells()
        return str(blocks.table(block, rows, footnotes, Markup(_table_json(block)), len(rows) > _MAX_TABLE_ROWS))
    if isinstance(block, Figure):
        drawn = block.draw()
        suffixes = [""] if len(drawn) == 1 else [f"-{number}" for number in range(1, len(drawn) + 1)]
        parts = [
            (Markup(to_svg(drawing, block.name + suffix)), drawing.get_size_inches()[0] > _MAX_FIGURE_INCHES)
            for drawing, suffix in zip(drawn, suffixes, strict=True)
        ]
        return str(blocks.figure(block, parts))
    if isinstance(block, Text):
        return str(blocks.text(block))
    if isinstance(block, Findings):
        return str(blocks.findings(block))
    if isinstance(block, Facts):
        return str(blocks.facts(block)) if block.entries else ""
    assert isinstance(block, Code)
    return str(blocks.code(block))


def _table_json(table: Table) -> str:
    """Return raw values as JSON for a script element, escaped so that they cannot end the element."""
    names, rows = table.raw_values()
    text = json.dumps({"names": names, "rows": rows}, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def minus_sign(text: str) -> str:
    """Return a number with the typographic minus sign."""
    return text.replace("-", "\u2212") if any(char.isdigit() for char in text) else text


@cache
def template_environment(package: str, **settings: Any) -> Environment:
    """Make the environment of the templates among the assets of a package; it escapes all values.

    ``settings`` are further arguments of ``jinja2.Environment``.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    loader = FunctionLoader(partial(read_asset, package))
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, **settings)
    environment.filters["minus"] = minus_sign
    return environment


@cache
def read_asset(package: str, name: str) -> str:
    """Read a file among the assets of a package."""
    return (resources.files(package) / "assets" / name).read_text(encoding="utf-8")


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
