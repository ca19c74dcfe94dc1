"""Counts of what a text looks like, which judges may like or dislike whatever it says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from voirdire.errors import InputError
from voirdire.tables.problems import Problems
from voirdire.tables.read import read_columns

if TYPE_CHECKING:
    import pandas as pd

COUNTED = {
    "characters": re.compile(r"(?s)."),
    "words": re.compile(r"\S+"),
    "headers": re.compile(r"(?m)^ {0,3}#{1,6}\s"),
    "lists": re.compile(r"(?m)^\s*(?:[-*+]|\d{1,9}[.)])\s"),
    "bold": re.compile(r"\*\*(?=\S)(?:[^*]|\*(?!\*))+?\*\*|__(?=\S)[^_]+?__"),
    "code": re.compile(r"(?m)^\s*```[^\n]*$(?s:.*?)^\s*```\s*$"),
}


def text(items: object, column: str = "text") -> pd.DataFrame:
    """Count characters, words, Markdown headers, list entries, bold passages and blocks of code of each text.

    Parameters
    ----------
    items : path or dataframe
        One row per item (and context): item, optionally context, and the text itself.
    column : str
        The column that holds the text; one that is empty counts nothing.

    Returns
    -------
    pandas.DataFrame
        item, context (where there is one), characters, words, headers, lists, bold, code: what ``covariates=`` takes.

    Raises
    ------
    InputError
        A column is missing, or a text is none.

    Examples
    --------
    >>> import pandas as pd
    >>> found = text(pd.DataFrame({"item": ["a"], "text": ["**one** thing"]}))
    >>> found["words"].tolist(), found["bold"].tolist()
    ([2], [1])
    """
    import pandas as pd

    problems = Problems("items")
    cells = read_columns(items, ["item", column], ["context"], problems)
    problems.raise_any()
    for row, cell in enumerate(cells[column], start=1):
        if not isinstance(cell, str):
            problems.rows([row], f"{column} {cell!r} is no text")
    problems.raise_any()
    if column in ("item", "context"):
        raise InputError(f"column {column!r} names items; name the one that holds their texts")
    found: dict[str, list[object]] = {name: list(cells[name]) for name in cells if name != column}
    for name, pattern in COUNTED.items():
        found[name] = [sum(1 for _ in pattern.finditer(str(cell))) for cell in cells[column]]
    return pd.DataFrame(found)
