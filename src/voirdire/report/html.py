"""A report as one HTML page that needs nothing outside itself."""

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
    from jinja2 import Environment

_PACKAGE = "voirdire.report"
_MAX_TABLE_ROWS = 14  # rows beyond which a table scrolls in a frame of its own
_MAX_FIGURE_INCHES = 6.0  # inches beyond which a figure scrolls on a phone instead of becoming smaller


def html_page(page: Page) -> str:
    """The page as HTML. All texts are escaped; scripts other than its own one do not run in it.

    Examples
    --------
    >>> from voirdire.report.page import Section
    >>> made = html_page(Page("<b>", "", (Section("a", "A", "A", (Text("1 < 2"),)),)))
    >>> "<h1>&lt;b&gt;</h1>" in made, "1 &lt; 2" in made
    (True, True)
    """
    from markupsafe import Markup

    environment = template_environment(_PACKAGE, keep_trailing_newline=True)
    blocks = environment.get_template("blocks.html.j2").module
    script, style = read_asset(_PACKAGE, "script.js").strip(), read_asset(_PACKAGE, "style.css").strip()

    def show_section(section: Section) -> Markup:
        # a macro has escaped each; figures that follow each other stand in rows
        runs = groupby(section.blocks, lambda block: isinstance(block, Figure))
        texts = (("\n".join(_block_html(block, blocks) for block in run), drawn) for drawn, run in runs)
        return Markup(
            "\n".join(f'<div class="figures">{text}</div>' if drawn else text for text, drawn in texts)
        )

    return environment.get_template("page.html.j2").render(
        page=page,
        show=show_section,
        version=metadata.version("voirdire"),
        script=Markup(script),
        style=Markup(style),
        policy=Markup(security_policy()),
    )


def security_policy() -> str:
    """The policy of the page: it loads nothing, and no script but its own runs in it.

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
        return str(
            blocks.table(block, rows, footnotes, Markup(_table_json(block)), len(rows) > _MAX_TABLE_ROWS)
        )
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
    """Raw values for a script element: nothing in it can end the element."""
    names, rows = table.raw_values()
    text = json.dumps({"names": names, "rows": rows}, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def minus_sign(text: str) -> str:
    """A number with the typographic minus sign."""
    return text.replace("-", "\u2212") if any(char.isdigit() for char in text) else text


@cache
def template_environment(package: str, **how: Any) -> Environment:
    """The templates among the assets of a package, which escape all they are given."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    loader = FunctionLoader(partial(read_asset, package))
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, **how)
    environment.filters["minus"] = minus_sign
    return environment


@cache
def read_asset(package: str, name: str) -> str:
    """A file among the assets of a package."""
    return (resources.files(package) / "assets" / name).read_text(encoding="utf-8")
