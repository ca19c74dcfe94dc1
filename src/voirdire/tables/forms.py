"""Forms that people fill in with a spreadsheet: no name is a formula there, and reading them gives the name back.

A spreadsheet takes a cell that begins with one of ``= + - @`` (or a tab or line end) for a formula, which may fetch a
page or start a program. An apostrophe before it makes it a text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

_BEGINS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def guard(name: str) -> str:
    """A name as a cell of a form.

    Examples
    --------
    >>> guard("=HYPERLINK(1)"), guard("-2.5"), guard("gpt-4")
    ("'=HYPERLINK(1)", '-2.5', 'gpt-4')
    """
    return f"'{name}" if name.lstrip("'").startswith(_BEGINS) and not _number(name) else name


def unguard(names: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """Names of a form that was read, as they are known; all others stay as they are.

    Examples
    --------
    >>> unguard(["'=a", "b", "'c"], {"=a", "b"})
    ('=a', 'b', "'c")
    """
    listed = tuple(names)
    found = tuple(
        name[1:] if name not in known and name[1:] in known and guard(name[1:]) == name else name
        for name in listed
    )
    # where a form has a name both ways, that is said by whoever looks for strangers
    return found if len(set(found)) == len(found) else listed


def _number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True
