"""Escaping of names in spreadsheets, so that no name is read as a formula, and its reversal.

A spreadsheet reads a cell that begins with one of ``= + - @`` (or a tab or line end) as a formula, which may fetch a
page or start a program. Apostrophes before the name make it text; their number is the smallest that gives no known
name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from voirdire.tables.numbers import is_number

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def escape_formula_cell(name: str, known_names: Collection[str]) -> str:
    """Write a name as a cell of a spreadsheet that is about the known names.

    Examples
    --------
    >>> [escape_formula_cell(name, {"=A1", "-2.5", "gpt-4"}) for name in ("=A1", "-2.5", "gpt-4")]
    ["'=A1", '-2.5', 'gpt-4']
    >>> escape_formula_cell("=a", {"=a", "'=a"}), escape_formula_cell("'=a", {"=a", "'=a"})
    ("''=a", "'=a")
    """
    cell = f"'{name}" if _is_formula(name) else name
    while cell != name and cell in known_names:
        cell = f"'{cell}"
    return cell


def unescape_names(names: Iterable[str], known_names: Collection[str]) -> tuple[str, ...]:
    """Restore the known names in cells of a spreadsheet; other cells stay unchanged.

    Examples
    --------
    >>> unescape_names(["'=a", "b", "'c"], {"=a", "b"})
    ('=a', 'b', "'c")
    >>> unescape_names(["''=a", "'=a"], {"=a", "'=a"})
    ('=a', "'=a")
    """
    cells = tuple(names)
    unescaped = tuple(_without_apostrophes(cell, known_names) for cell in cells)
    # a name that occurs both with and without apostrophes is reported later, as an unknown name
    return unescaped if len(set(unescaped)) == len(unescaped) else cells


def _without_apostrophes(cell: str, known_names: Collection[str]) -> str:
    name = cell.lstrip("'")
    return name if cell not in known_names and name in known_names and _is_formula(name) else cell


def _is_formula(name: str) -> bool:
    return name.startswith(_FORMULA_STARTS) and not is_number(name)
