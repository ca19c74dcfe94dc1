r"""Tables of a report for LaTeX: booktabs, intervals next to their values, footnotes below.

The text compiles with pdfLaTeX, XeLaTeX and LuaLaTeX. Letters that pdfLaTeX does not know are written as
``\voirdirechar`` with their code point: XeLaTeX and LuaLaTeX print the letter, pdfLaTeX the code point.
"""

from __future__ import annotations

import unicodedata

from voirdire.report.page import Page
from voirdire.report.table import Cell, Column, Table

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
