"""Forms that people fill in with a spreadsheet: no name is a formula there, and reading them gives the name back.

A spreadsheet takes a cell that begins with one of ``= + - @`` (or a tab or line end) for a formula, which may fetch a
page or start a program. Apostrophes before it make it a text: as many as it takes to be no name that is known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from voirdire.tables.numbers import is_number

_BEGINS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def escape_formula_cell(name: str, known: Collection[str]) -> str:
    """A name as a cell of a form about the names that are known.

    Examples
    --------
    >>> [escape_formula_cell(name, {"=A1", "-2.5", "gpt-4"}) for name in ("=A1", "-2.5", "gpt-4")]
    ["'=A1", '-2.5', 'gpt-4']
    >>> escape_formula_cell("=a", {"=a", "'=a"}), escape_formula_cell("'=a", {"=a", "'=a"})
    ("''=a", "'=a")
    """
    cell = f"'{name}" if _is_formula(name) else name
    while cell != name and cell in known:
        cell = f"'{cell}"
    return cell


def unescape_names(names: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """Names of a form that was read, as they are known; all others stay as they are.

    Examples
    --------
    >>> unescape_names(["'=a", "b", "'c"], {"=a", "b"})
    ('=a', 'b', "'c")
    >>> unescape_names(["''=a", "'=a"], {"=a", "'=a"})
    ('=a', "'=a")
    """
    cells = tuple(names)
    plain = tuple(_without_apostrophes(cell, known) for cell in cells)
    # where a form has a name both ways, that is said by whoever looks for strangers
    return plain if len(set(plain)) == len(plain) else cells


def _without_apostrophes(cell: str, known: Collection[str]) -> str:
    name = cell.lstrip("'")
    return name if cell not in known and name in known and _is_formula(name) else cell


def _is_formula(name: str) -> bool:
    return name.startswith(_BEGINS) and not is_number(name)
