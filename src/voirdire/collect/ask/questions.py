"""Questions for people, read from a table such as the form of ``voirdire next --out``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from voirdire.collect.items import read_items
from voirdire.collect.protocol import Item
from voirdire.errors import InputError
from voirdire.notices import give_notice
from voirdire.tables.encode import Refused, cell_to_name, encode_column
from voirdire.tables.problems import Problems, nearest_name
from voirdire.tables.read import columns_among, read_columns
from voirdire.tables.spreadsheet_escape import unescape_names

_OPTIONAL_COLUMNS = ("criterion", "context")
_MAX_LEVELS = 20
_MAX_LISTED = 20  # problems named before they are only counted


@dataclass(frozen=True)
class Questions:
    """Questions to people about items.

    Attributes
    ----------
    answer : "winner", "score" or "label"
        The column to fill in.
    rows : tuple of dict
        Columns of each question: first and second, or item; criterion and context if the table has them.
    items : dict of str to Item
        The items in the questions.
    levels : tuple of str
        Possible scores or labels; empty for comparisons.
    """

    answer: str
    rows: tuple[dict[str, str], ...]
    items: dict[str, Item]
    levels: tuple[str, ...] = ()


def read_questions(table: object, items: object, levels: Sequence[object] | None = None) -> Questions:
    """Read questions; rows with an answer are left out.

    Parameters
    ----------
    table : path or dataframe
        Columns ``first`` and ``second`` (which is better), or ``item`` and an empty column ``score`` or ``label``;
        optionally ``criterion`` and ``context``. Other columns, such as ``gain``, are ignored.
    items : path or dataframe
        As for ``voirdire collect``: id, text; optionally context or source (background of the text).
    levels : sequence, optional
        Possible scores (default: 1 to 5) or labels.

    Raises
    ------
    InputError
        Lists every problem: an item without a text, no question left, no levels.

    Examples
    --------
    >>> import pandas as pd
    >>> texts = pd.DataFrame({"id": ["x", "y"], "text": ["Once.", "Twice."]})
    >>> read_questions(pd.DataFrame({"first": ["x"], "second": ["y"]}), texts).rows
    ({'first': 'x', 'second': 'y'},)
    """
    problems = Problems("questions")
    item_by_name = {item.id: item for item in read_items(items)}
    present = columns_among(table, ["first", "second", "winner", "score", "label"], problems)
    problems.raise_any()
    pairs = {"first", "second"} <= set(present)
    item_columns = ["first", "second"] if pairs else ["item"]
    answer = "winner" if pairs else _answer_column(present, levels)
    cells = read_columns(table, item_columns, [answer, *_OPTIONAL_COLUMNS], problems)
    problems.raise_any()
    answers = cells.pop(answer, [None] * len(cells[item_columns[0]]))
    columns = {}
    for name, values in cells.items():
        encoded = encode_column(values, name, problems if name in item_columns else Problems(name))
        columns[name] = [encoded.levels[code] if code >= 0 else "" for code in encoded.codes]
    for name in item_columns:
        columns[name] = _read_items(columns[name], name, item_by_name, problems)
    sides = zip(*(columns[name] for name in item_columns), strict=True)
    same_rows = [index for index, names in enumerate(sides, 1) if len(names) > len(set(names))]
    if same_rows:
        problems.rows(same_rows, "an item is compared with itself")
    problems.raise_any()
    answered = [not isinstance(cell_to_name(cell), Refused) for cell in answers]
    all_rows = (
        {name: cells_of[index] for name, cells_of in columns.items() if cells_of[index]}
        for index in range(len(answered))
    )
    rows = tuple(row for row, is_done in zip(all_rows, answered, strict=True) if not is_done)
    if not rows:
        raise InputError("questions: every row has an answer already; there is nothing to ask")
    if any(answered):
        give_notice(f"{sum(answered)} questions have an answer already and are left out.")
    used = {row[name] for row in rows for name in item_columns}
    used_items = {name: item for name, item in item_by_name.items() if name in used}
    return Questions(answer, rows, used_items, () if pairs else _check_levels(answer, levels))


def _answer_column(present: Sequence[str], levels: Sequence[object] | None) -> str:
    columns = [name for name in ("score", "label") if name in present]
    if len(columns) != 1:
        raise InputError(
            "questions: name the columns first and second (which is better), or item and one empty column, score "
            "or label"
        )
    if columns == ["label"] and not levels:
        raise InputError("questions: say which labels there are to choose from (--levels yes,no; levels=)")
    return columns[0]


def _check_levels(answer: str, levels: Sequence[object] | None) -> tuple[str, ...]:
    names = tuple(str(level).strip() for level in (levels or range(1, 6)))
    if len(set(names)) < max(len(names), 2) or not all(names) or len(names) > _MAX_LEVELS:
        raise InputError(f"levels {', '.join(names)!r} are not 2 to {_MAX_LEVELS} different answers")
    for name in names if answer == "score" else ():
        try:
            finite = math.isfinite(float(name))
        except ValueError:
            finite = False
        if not finite:
            raise InputError(f"level {name!r} of a score is no number")
    return names


def _read_items(names: list[str], column: str, item_by_name: dict[str, Item], problems: Problems) -> list[str]:
    """Return names as in the table of items, without a form's escapes of spreadsheet formulas."""
    unescaped = dict(zip(dict.fromkeys(names), unescape_names(dict.fromkeys(names), item_by_name), strict=True))
    unknown = list(dict.fromkeys(unescaped[name] for name in names if name and unescaped[name] not in item_by_name))
    for name in unknown[:_MAX_LISTED]:
        rows = [row for row, cell in enumerate(names, start=1) if cell and unescaped[cell] == name]
        problems.rows(rows, f"{column} {name!r} is not among the items{nearest_name(name, tuple(item_by_name))}")
    if len(unknown) > _MAX_LISTED:
        count = len(unknown)
        problems.table(f"{count} names in {column} are not among the items; the first {_MAX_LISTED} are named")
    return [unescaped[name] for name in names]
