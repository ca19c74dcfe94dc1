"""Lists of answers in cells: a row for each, of a judge by its place, or by a list of names."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.columns import ALIASES, find_roles, list_names, normalise_column_name
from voirdire.tables.formats.column_samples import MAX_CLASSES, first_records, is_covariate_name, is_key
from voirdire.tables.formats.example_table import answer_columns, judge_columns
from voirdire.tables.formats.format import FormatOptions
from voirdire.tables.formats.records import Placed, Record
from voirdire.tables.formats.rows import number_or_none
from voirdire.tables.formats.source import Source

_NUMBERS = re.compile(r"[+-]?\d+(?:\.\d+)?(?:\s*[,;|]\s*[+-]?\d+(?:\.\d+)?)*")
_MANY = 50  # members of a list, more of which are rather a vector than answers


def objects_in(cell: Any) -> list[dict[str, Any]]:
    """The members of a list of objects; none of another cell."""
    return cell if isinstance(cell, list) and cell and all(isinstance(one, dict) for one in cell) else []


def list_columns(records: Sequence[Mapping[str, Any]], *, words: bool = True) -> list[str]:
    """Columns that hold a list of answers a row: of numbers, or of objects with numbers, else (``words``) of few words.

    Examples
    --------
    >>> list_columns([{"id": 1, "scores": [3, 4], "texts": ["a", "b"]}, {"id": 2, "scores": [1, 2], "texts": ["c"]}])
    ['scores']
    """
    names = dict.fromkeys(name for record in records for name in record if not is_covariate_name(name))
    found: dict[bool, list[str]] = {True: [], False: []}
    for name in names:
        cells = [record.get(name) for record in records if record.get(name) not in (None, "")]
        lists = [members for cell in cells if (members := answers_in(cell)) is not None]
        members = [one for some in lists for one in some if one is not None]
        sizes = {len(some) for some in lists}
        text = any(isinstance(cell, str) for cell in cells)
        if len(lists) < max(len(cells), 1) or not 2 + text <= max(sizes) <= _MANY or not members:
            continue
        numbers = all(_is_answer(one) for one in members)
        told = {str(one) for one in members}
        if numbers or (
            len(told) <= MAX_CLASSES
            and len(told) < len(members)
            and not any(isinstance(one, dict) for one in members)
        ):
            found[numbers].append(name)
    return found[True] or [name for name in found[False] if words and not names_judges(name)]


def answers_in(cell: Any) -> list[Any] | None:
    """The answers that a cell lists, also one that writes them as text; None where it is no such list.

    Examples
    --------
    >>> answers_in([1, 2]), answers_in("4,2,2"), answers_in("['a', 'b']"), answers_in("a text, long")
    ([1, 2], [4, 2, 2], ['a', 'b'], None)
    """
    if isinstance(cell, str) and cell[:1] == "[":
        for read in (json.loads, ast.literal_eval):
            try:
                cell = read(cell)
                break
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
    elif isinstance(cell, str) and _NUMBERS.fullmatch(cell.strip()):
        return [number_or_none(one.strip()) for one in re.split("[,;|]", cell)]
    if not isinstance(cell, list):
        return None
    objects = objects_in(cell)
    plain = [value for one in objects for value in one.values()] if objects else cell
    return None if any(isinstance(one, list | dict) for one in plain) else cell


def _is_answer(one: Any) -> bool:
    """True for a number or none, or an object with a number."""
    if isinstance(one, dict):
        return any(number_or_none(value) is not None for value in one.values())
    return one is None or number_or_none(one) is not None


def names_judges(name: str) -> bool:
    """True where a column is called by those who judge."""
    return normalise_column_name(name).removesuffix("s") in ("judge", *ALIASES["judge"])


def spread_lists(source: Source, options: FormatOptions) -> FormatOptions:
    """Have each answer of a list be a row, of a judge by its place, or by a list of names; and the options then.

    Lists of one length in each row are criteria of the same judges, save where they are called by who answers; others
    are those of other judges. A row is an item where nothing names it. Where a column says who judged, a list holds
    that judge's repeated answers.

    Raises
    ------
    InputError
        No column holds lists of answers, or one that is named does not.
    """
    columns = list(options.columns) or list_columns(first_records(source))
    read = (
        [[answers_in(cell) or [] for cell in cells] for _, *cells in source.cells(*columns)]
        if columns
        else []
    )
    if not columns or (
        wrong := [name for name, *lists in zip(columns, *read, strict=True) if not any(lists)]
    ):
        what = f"column {wrong[0]!r} holds no lists" if columns else "no column holds lists of answers"
        raise InputError(f"{source.name}: {what}; it has {list_names(source.columns())} (--columns chooses)")
    members = [one for lists in read for some in lists for one in some]
    objects = [one for one in members if isinstance(one, dict)]
    alike = all(len({*map(len, lists)}) == 1 for lists in read)
    together = (
        len(columns) > 1 and alike and not (objects or answer_columns(columns) or judge_columns(columns))
    )
    keys = [key for key in (objects or [{}])[0] if all(_is_answer(one.get(key)) for one in objects)]
    single = keys[0] if len(keys) == 1 else "score" if all(map(_is_answer, members)) else "label"
    answers = columns if together else keys or [single]
    free = [name for name in source.columns() if name not in columns]
    roles = find_roles(free) | dict(options.map or {})
    sizes = [len(max(lists, key=len)) for lists in read]
    who = next(
        (name for name in free if names_judges(name) and _counts_of_names(source, name) == sizes), None
    )
    by = "run" if "judge" in roles and who is None else "judge"
    subject = subject_of(source, [name for name in free if name != who], roles)
    taken = {by, *answers}

    def rows(record: Record, place: str) -> Iterator[Record]:
        lists = {name: answers_in(record.get(name)) or [] for name in columns}
        names = _names_of(record.get(who)) if who else []
        rest = {
            f"row {name}" if name in taken or isinstance(cell, list | dict) else name: cell
            for name, cell in record.items()
            if name not in (*columns, who)
        } | subject(record, place)
        for name in columns[:1] if together else columns:
            for at, cell in enumerate(lists[name]):
                called = names[at] if who else f"{'judge' if together else name} {at + 1}"
                said = {one: lists[one][at] for one in columns} if together else {single: cell}
                yield (
                    rest
                    | {by: at + 1 if by == "run" else called}
                    | (cell if isinstance(cell, dict) else said)
                )

    def spread(placed: Placed) -> Placed:
        for place, record in placed:
            cells = [record.get(name) for name in columns] if isinstance(record, dict) else []
            odd = [cell for cell in cells if cell not in (None, "") and answers_in(cell) is None]
            if odd or not isinstance(record, dict):
                yield place, f"{odd[0]!r} is no list of answers" if odd else record
            else:
                answered = (
                    row for row in rows(record, place) if any(row.get(name) is not None for name in answers)
                )
                yield from ((place, row) for row in answered)

    source.change(spread)
    named = f"named by {who!r}" if who else "of judges by their place, who may be others in each row"
    named = "repeated answers of a judge" if by == "run" else named
    criteria = ", under a criterion each" if together else ""
    source.notes.append(f"{source.name}: lists in {list_names(columns)} hold answers {named}{criteria}")
    if empty := sum(one is None for one in members):
        source.notes.append(f"{source.name}: {empty} empty members of lists: not asked")
    several = len(answers) > 1
    return replace(options, wide="criterion" if several else None, columns=answers if several else ())


def _names_of(cell: Any) -> list[str]:
    """The names in a list, or between commas."""
    found = cell if isinstance(cell, list) else answers_in(cell) or str(cell or "").split(",")
    return [str(one).strip() for one in found]


def _counts_of_names(source: Source, column: str) -> list[int]:
    """Numbers of the names in the cells of a column."""
    return [len(_names_of(cell)) for _, cell in source.cells(column)]


def subject_of(
    source: Source, names: Sequence[str], roles: Mapping[str, str]
) -> Callable[[Record, str], Record]:
    """What says of a record what it is about: nothing where its columns do, else a column, else its line."""
    crossed = [roles[name] for name in ("context", "system") if name in roles]
    own = [roles["item"]] if "item" in roles else crossed if len(crossed) == 2 else []
    if own and _are_unique(source, own):
        return lambda record, place: {}
    for name in (one for one in names if is_key(one)):
        if _are_unique(source, [name]):
            return lambda record, place: {"item": record.get(name)}
        if "system" in roles and "context" not in roles and _are_unique(source, [name, roles["system"]]):
            return lambda record, place: {"context": record.get(name)}
    return lambda record, place: {"item": place.removeprefix(source.name).strip(": []").replace("]", "")}


def _are_unique(source: Source, columns: Sequence[str]) -> bool:
    """True where no two records have the same cells in some columns."""
    cells = [tuple(map(str, row)) for _, *row in source.cells(*columns)]
    return len({*cells}) == len(cells)
