"""Questions for people, read from a table such as the form that ``voirdire next --out`` writes."""

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

_KEPT = ("criterion", "context")
_MOST_LEVELS = 20
_LISTED = 20  # problems named before they are only counted


@dataclass(frozen=True)
class Questions:
    """Questions to people about items.

    Attributes
    ----------
    answer : "winner", "score" or "label"
        The column that they fill in.
    rows : tuple of dict
        Columns of each question: first and second, or item; criterion and context where the table has them.
    items : dict of str to Item
        The items that are asked about.
    levels : tuple of str
        Answers to choose from, where they are scores or labels.
    """

    answer: str
    rows: tuple[dict[str, str], ...]
    items: dict[str, Item]
    levels: tuple[str, ...] = ()


def read_questions(table: object, items: object, levels: Sequence[object] | None = None) -> Questions:
    """Read what is to be asked; rows that have an answer already are left out.

    Parameters
    ----------
    table : path or dataframe
        Columns ``first`` and ``second`` (which is better), or ``item`` and an empty column ``score`` or ``label``;
        ``criterion`` and ``context`` where there are several. Other columns, such as what an answer is worth, are left
        out.
    items : path or dataframe
        As for ``voirdire collect``: id, text; context or source (what the text is about).
    levels : sequence, optional
        Of scores (default: 1 to 5) and labels: the answers to choose from.

    Raises
    ------
    InputError
        With every problem: an item without a text, nothing left to ask, no levels.

    Examples
    --------
    >>> import pandas as pd
    >>> texts = pd.DataFrame({"id": ["x", "y"], "text": ["Once.", "Twice."]})
    >>> read_questions(pd.DataFrame({"first": ["x"], "second": ["y"]}), texts).rows
    ({'first': 'x', 'second': 'y'},)
    """
    problems = Problems("questions")
    known = {item.id: item for item in read_items(items)}
    present = columns_among(table, ["first", "second", "winner", "score", "label"], problems)
    problems.raise_any()
    pairs = {"first", "second"} <= set(present)
    about = ["first", "second"] if pairs else ["item"]
    answer = "winner" if pairs else _answer_column(present, levels)
    cells = read_columns(table, about, [answer, *_KEPT], problems)
    problems.raise_any()
    filled = cells.pop(answer, [None] * len(cells[about[0]]))
    columns = {}
    for name, values in cells.items():
        found = encode_column(values, name, problems if name in about else Problems(name))
        columns[name] = [found.levels[code] if code >= 0 else "" for code in found.codes]
    for name in about:
        columns[name] = _read_items(columns[name], name, known, problems)
    sides = zip(*(columns[name] for name in about), strict=True)
    same = [at for at, names in enumerate(sides, 1) if len(names) > len(set(names))]
    if same:
        problems.rows(same, "an item is compared with itself")
    problems.raise_any()
    done = [not isinstance(cell_to_name(cell), Refused) for cell in filled]
    every = ({name: of[at] for name, of in columns.items() if of[at]} for at in range(len(done)))
    rows = tuple(row for row, past in zip(every, done, strict=True) if not past)
    if not rows:
        raise InputError("questions: every row has an answer already; there is nothing to ask")
    if any(done):
        give_notice(f"{sum(done)} questions have an answer already and are left out.")
    used = {row[name] for row in rows for name in about}
    chosen = {name: item for name, item in known.items() if name in used}
    return Questions(answer, rows, chosen, () if pairs else _check_levels(answer, levels))


def _answer_column(present: Sequence[str], levels: Sequence[object] | None) -> str:
    found = [name for name in ("score", "label") if name in present]
    if len(found) != 1:
        raise InputError(
            "questions: name the columns first and second (which is better), or item and one empty column, score "
            "or label"
        )
    if found == ["label"] and not levels:
        raise InputError("questions: say which labels there are to choose from (--levels yes,no; levels=)")
    return found[0]


def _check_levels(answer: str, levels: Sequence[object] | None) -> tuple[str, ...]:
    names = tuple(str(level).strip() for level in (levels or range(1, 6)))
    if len(set(names)) < max(len(names), 2) or not all(names) or len(names) > _MOST_LEVELS:
        raise InputError(f"levels {', '.join(names)!r} are not 2 to {_MOST_LEVELS} different answers")
    for name in names if answer == "score" else ():
        try:
            finite = math.isfinite(float(name))
        except ValueError:
            finite = False
        if not finite:
            raise InputError(f"level {name!r} of a score is no number")
    return names


def _read_items(names: list[str], column: str, known: dict[str, Item], problems: Problems) -> list[str]:
    """The names of items as the table of items has them: forms keep spreadsheets from taking them for formulas."""
    plain = dict(zip(dict.fromkeys(names), unescape_names(dict.fromkeys(names), known), strict=True))
    strange = list(dict.fromkeys(plain[name] for name in names if name and plain[name] not in known))
    for name in strange[:_LISTED]:
        rows = [row for row, one in enumerate(names, start=1) if one and plain[one] == name]
        problems.rows(rows, f"{column} {name!r} is not among the items{nearest_name(name, tuple(known))}")
    if len(strange) > _LISTED:
        count = len(strange)
        problems.table(f"{count} names in {column} are not among the items; the first {_LISTED} are named")
    return [plain[name] for name in names]
