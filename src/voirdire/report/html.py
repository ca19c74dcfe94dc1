"""Report as one HTML page without external files."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache, partial
from importlib import metadata, resources
from itertools import groupby
from typing import TYPE_CHECKING, Any

from voirdire.report.figure_style import to_svg
from voirdire.report.page import Block, Code, Facts, Figure, Findings, Page, Section, Text
from voirdire.report.table import Table

if TYPE_CHECKING:
    from jinja2 import Environment, Template

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
