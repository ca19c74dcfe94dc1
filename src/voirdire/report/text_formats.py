r"""Report as text: Markdown without figures, and tables for LaTeX with booktabs.

Tables of a report for LaTeX: booktabs, intervals next to their values, footnotes below.

The text compiles with pdfLaTeX, XeLaTeX and LuaLaTeX. Letters that pdfLaTeX does not know are written as
``\voirdirechar`` with their code point: XeLaTeX and LuaLaTeX print the letter, pdfLaTeX the code point.
"""

from __future__ import annotations

import re
import unicodedata

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


_PREAMBLE = r"""% Tables made by voirdire. In the preamble:
%   \usepackage{booktabs,longtable,array}
\providecommand{\voirdirechar}[1]{\ifdefined\Umathcode\char"#1\relax\else\mbox{U+#1}\fi}
"""
_MAX_TABLE_ROWS = 40  # maximum number of rows of a table on one page
_MAX_NAME_LETTERS = 40  # maximum number of letters of a name on one line
_BREAK_INTERVAL = 12
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\textquotedblright}",
    "`": r"\textasciigrave{}",
    "–": "--",
    "…": r"\ldots{}",
    "†": r"\textdagger{}",
    "·": r"\textperiodcentered{}",
    "“": "``",
    "”": "''",
    "’": "'",
    "\u2212": "$-$",
    **{c: f"\\{c}" for c in "{}$%&#_"},
    **{c: f"{{{c}}}" for c in "'-[]*!?,"},
}
_LATIN_LETTERS = "æøßÆØ"


def latex_tables(page: Page) -> str:
    """Write all tables of a page, under comments that name its sections."""
    parts = [_PREAMBLE]
    for section in page.sections:
        tables = [block for block in section.blocks if isinstance(block, Table)]
        if tables:
            parts.append(f"% {section.title}\n")
            parts += [latex_table(table) for table in tables]
    return "\n".join(parts)


def latex_table(table: Table) -> str:
    r"""Write a table as LaTeX: ``table`` with ``tabular``, or ``longtable`` for more than 40 rows.

    Examples
    --------
    >>> from voirdire.report.table import make_table
    >>> made = latex_table(make_table("t", "Items", [{"item": "a_b", "score": -1.0, "low": -1.5, "high": -0.5}]))
    >>> [line for line in made.splitlines() if "a" in line and line.endswith(r"\\")]
    ['a\\_b & $-$1.0 [$-$1.5, $-$0.5] \\\\']
    """
    rows, footnotes = table.table_cells()
    count = len(table.columns)
    column_types = (
        "@{}" + "".join(_column_type(column, index, rows) for index, column in enumerate(table.columns)) + "@{}"
    )
    heads = " & ".join(escape_latex(column.head) for column in table.columns) + r" \\"
    body = [
        " & ".join(_cell_latex(cell, column) for cell, column in zip(row, table.columns, strict=True)) + r" \\"
        for row in rows
    ]
    notes = [f"$^{{{number}}}$ {escape_latex(note)}" for number, note in enumerate(footnotes, start=1)]
    notes += [escape_latex(note) for note in table.notes]
    note_lines = [
        rf"\multicolumn{{{count}}}{{@{{}}p{{\dimexpr\linewidth\relax}}@{{}}}}{{\footnotesize {note}}} \\"
        for note in notes
    ]
    caption = rf"\caption{{{escape_latex(table.caption)}}}\label{{tab:{table.name}}}"
    if len(rows) <= _MAX_TABLE_ROWS:
        lines = [r"\begin{table}[htbp]", r"\centering", caption, rf"\begin{{tabular}}{{{column_types}}}", r"\toprule"]
        lines += [heads, r"\midrule", *body, r"\bottomrule", *note_lines, r"\end{tabular}", r"\end{table}"]
    else:
        lines = [
            rf"\begin{{longtable}}{{{column_types}}}",
            caption + r" \\",
            r"\toprule",
            heads,
            r"\midrule",
            r"\endfirsthead",
        ]
        lines += [r"\toprule", heads, r"\midrule", r"\endhead", r"\bottomrule", r"\endfoot"]
        lines += [r"\bottomrule", *note_lines, r"\endlastfoot", *body, r"\end{longtable}"]
    return "\n".join(lines) + "\n"


def _column_type(column: Column, index: int, rows: list[list[Cell]]) -> str:
    if column.kind not in ("text", "level"):
        return "r"
    longest = max((len(row[index].text) for row in rows), default=0)
    return r">{\raggedright\arraybackslash}p{0.35\linewidth}" if longest > _MAX_NAME_LETTERS else "l"


def _cell_latex(cell: Cell, column: Column) -> str:
    text = escape_latex(cell.text) if column.kind in ("text", "level") else _number_latex(cell.text)
    if cell.mark:
        text = rf"\textbf{{{text}}}" if cell.mark == "best" else rf"\underline{{{text}}}"
    text += r"\textdagger{}" if cell.same else ""
    text += f"$^{{{cell.footnote}}}$" if cell.footnote else ""
    return f"{text} {_number_latex(cell.interval)}" if cell.interval else text


def _number_latex(text: str) -> str:
    signed = text.replace("-", "$-$").replace("%", r"\%").replace("–", "--")
    return signed.replace("<", "$<$").replace(">", "$>$")


def escape_latex(text: str) -> str:
    r"""Escape text so that LaTeX prints it unchanged.

    Examples
    --------
    >>> print(escape_latex("50% of $x_1$ \\ {é} א"))
    50\% of \$x\_1\$ \textbackslash{} \{é\} \voirdirechar{05D0}
    """
    return " ".join(_escape_word(word) for word in text.split())


def _escape_word(word: str) -> str:
    letters = [_escape_letter(char) for char in word]
    if len(letters) <= _MAX_NAME_LETTERS:
        return "".join(letters)
    return r"\allowbreak{}".join(
        "".join(letters[k : k + _BREAK_INTERVAL]) for k in range(0, len(letters), _BREAK_INTERVAL)
    )


def _escape_letter(c: str) -> str:
    if c in _ESCAPES:
        return _ESCAPES[c]
    if " " <= c <= "~":
        return c
    if c in _LATIN_LETTERS or (ord(c) < 0x100 and len(unicodedata.normalize("NFD", c)) == 2):
        return c
    if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return ""  # characters without a glyph: controls, marks of direction
    return rf"\voirdirechar{{{ord(c):04X}}}"
