"""Report as Markdown: texts and tables, without figures."""

from __future__ import annotations

import re

from voirdire.report.page import Block, Code, Facts, Figure, Findings, Page, Text
from voirdire.report.table import Cell, Column, Table

_REMOVE_ISOLATES = str.maketrans("", "", "\u2068\u2069")
_LEVEL_WORDS = {"ok": "fine", "warn": "warning", "fail": "failed"}


def markdown_page(page: Page) -> str:
    """Write the page as Markdown."""
    parts = [f"# {escape_markdown(page.title)}", escape_markdown(page.subtitle)]
    for section in page.sections:
        parts.append(f"## {escape_markdown(section.title)}")
        parts += [text for block in section.blocks if (text := _block_markdown(block))]
    return "\n\n".join(parts) + "\n"


def _block_markdown(block: Block) -> str:
    if isinstance(block, Table):
        return markdown_table(block)
    if isinstance(block, Text):
        return escape_markdown(block.text)
    if isinstance(block, Findings):
        return "\n".join(
            f"- **{_LEVEL_WORDS[finding.level]}** `{finding.name}`: {escape_markdown(finding.message)}"
            for finding in block.entries
        )
    if isinstance(block, Facts):
        lines = [f"- {escape_markdown(name)}: {escape_markdown(value)}" for name, value in block.entries]
        return "\n".join([f"**{escape_markdown(block.title)}**", "", *lines]) if lines else ""
    if isinstance(block, Code):
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", block.text)), default=0))
        return f"**{escape_markdown(block.title)}**\n\n{fence}text\n{block.text}\n{fence}"
    assert isinstance(block, Figure)
    return ""


def markdown_table(table: Table) -> str:
    """Write a table in the pipe format, with its caption above and its footnotes below.

    Examples
    --------
    >>> from voirdire.report.table import make_table
    >>> print(markdown_table(make_table("t", "Items", [{"item": "a|b", "score": 1.0, "low": 0.5, "high": 1.5}])))
    **Items**
    <BLANKLINE>
    | item | score |
    | :--- | ---: |
    | a\\|b | 1.0 [0.5, 1.5] |
    """
    rows, footnotes = table.table_cells()
    rules = [":---" if column.kind in ("text", "level") else "---:" for column in table.columns]
    lines = [
        f"**{escape_markdown(table.caption)}**",
        "",
        _table_line([escape_markdown(column.head) for column in table.columns]),
        _table_line(rules),
        *(
            _table_line([_cell_markdown(cell, column) for cell, column in zip(row, table.columns, strict=True)])
            for row in rows
        ),
    ]
    notes = [f"{number}. {escape_markdown(note)}" for number, note in enumerate(footnotes, start=1)]
    for part in (notes, [escape_markdown(note) for note in table.notes]):
        lines += ["", *part] if part else []
    return "\n".join(lines)


def _table_line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell_markdown(cell: Cell, column: Column) -> str:
    text = escape_markdown(cell.text) if column.kind in ("text", "level") else cell.text
    text = f"**{text}**" if cell.mark == "best" else f"<u>{text}</u>" if cell.mark == "second" else text
    text += "†" if cell.same else ""
    text += f"<sup>{cell.footnote}</sup>" if cell.footnote else ""
    return f"{text} {cell.interval}" if cell.interval else text


def escape_markdown(text: str) -> str:
    """Escape the special characters of Markdown in a text; line breaks become spaces.

    Examples
    --------
    >>> print(escape_markdown("<script> a_b|c"))
    \\<script\\> a\\_b\\|c
    """
    flat = " ".join(text.translate(_REMOVE_ISOLATES).split())
    flat = re.sub(r"([\\`*_{}\[\]<>#|~$&])", r"\\\1", flat)
    return re.sub(r"^(\d+(?=[.)](?: |$)))?([-+=.)])", r"\1\\\2", flat)
