"""Lists of answers in cells, and tables of examples: the judge is the position, or a name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.columns import ALIASES, ANSWER_COLUMNS, find_roles, list_names, name_pattern, normalise_column_name
from voirdire.tables.formats.column_samples import MAX_CLASSES, first_records, is_covariate_name, is_key
from voirdire.tables.formats.format import FormatOptions
from voirdire.tables.formats.json_text import literal_in_cell
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Odd, number_or_none
from voirdire.tables.formats.source import Source

_ANSWERER_THEN_ANSWER, _ANSWER_THEN_ANSWERER = map(name_pattern, ("answerer_then_answer", "answer_then_answerer"))
_ANSWERER_NAME, _MEAN_NAME = name_pattern("answerer"), name_pattern("mean")
_FINAL_NAME = re.compile("final|overall", re.IGNORECASE)


def answer_columns(columns: Sequence[str]) -> list[str]:
    """The two or more answer columns of a table of examples; empty for other tables.

    Examples
    --------
    >>> answer_columns(["id", "judge_passed", "human_passed", "length"])
    ['judge_passed', 'human_passed']
    >>> answer_columns(["id", "score_gpt4", "score_human"])
    ['score_gpt4', 'score_human']
    >>> answer_columns(["judge", "item", "judge_score"])
    []

    The answer of a model or of a reference is no answer of a judge:

    >>> answer_columns(["id", "judge_passed", "human_passed", "model_answer"])
    ['judge_passed', 'human_passed']
    """
    roles = find_roles(columns)
    if any(roles.get(name) == name for name in ("judge", *ANSWER_COLUMNS.values())):
        return []
    names = [name for name in columns if _ANSWERER_THEN_ANSWER.fullmatch(name)]
    if len(names) < 2:
        names = [name for name in columns if _ANSWER_THEN_ANSWERER.fullmatch(name)]
    return names if len(names) > 1 else []


def other_answer_columns(columns: Sequence[str], answers: Sequence[str]) -> list[str]:
    """Further columns with the common ending of all answer columns; they may hold answers of other judges.

    Examples
    --------
    >>> other_answer_columns(["id", "gpt_score", "x_score", "human_score"], ["gpt_score", "human_score"])
    ['x_score']
    """
    ends = {match["what"].lower() for name in answers if (match := _ANSWERER_THEN_ANSWER.fullmatch(name))}
    if len(ends) != 1:
        return []
    end = re.compile(rf".+[_ .-]{ends.pop()}", re.IGNORECASE)
    return [
        name
        for name in columns
        if name not in answers and end.fullmatch(name) and not (is_mean_name(name) or _FINAL_NAME.match(name))
    ]


def is_mean_name(name: str) -> bool:
    """True if a column's name is that of an aggregate of answers.

    Examples
    --------
    >>> is_mean_name("Human avg"), is_mean_name("median"), is_mean_name("summary_score")
    (True, True, False)
    """
    return _MEAN_NAME.search(name) is not None


def judge_columns(columns: Sequence[str]) -> list[str]:
    """Columns whose names are names of judges alone.

    Examples
    --------
    >>> judge_columns(["id", "human_1", "human_2", "gpt-4o", "judge_reason"])
    ['human_1', 'human_2', 'gpt-4o']
    """
    return [name for name in columns if _ANSWERER_NAME.fullmatch(name)]


_NUMBER_LIST = re.compile(r"[+-]?\d+(?:\.\d+)?(?:\s*[,;|]\s*[+-]?\d+(?:\.\d+)?)*")
_MAX_LIST_LENGTH = 50  # a longer list is rather a vector than a list of answers


def objects_in(cell: Any) -> list[dict[str, Any]]:
    """The members of a list of objects; empty for other cells."""
    return cell if isinstance(cell, list) and cell and all(isinstance(member, dict) for member in cell) else []


def list_columns(records: Sequence[Mapping[str, Any]], *, words: bool = True) -> list[str]:
    """Columns with a list of answers per row: numbers or objects with numbers, else (``words``) a few distinct words.

    Examples
    --------
    >>> list_columns([{"id": 1, "scores": [3, 4], "texts": ["a", "b"]}, {"id": 2, "scores": [1, 2], "texts": ["c"]}])
    ['scores']
    """
    names = dict.fromkeys(name for record in records for name in record if not is_covariate_name(name))
    columns_by_type: dict[bool, list[str]] = {True: [], False: []}
    for name in names:
        cells = [record.get(name) for record in records if record.get(name) not in (None, "")]
        lists = [members for cell in cells if (members := list_of_cell(cell)) is not None]
        members = [member for values in lists for member in values if member is not None]
        sizes = {len(values) for values in lists}
        has_text = any(isinstance(cell, str) for cell in cells)
        if len(lists) < max(len(cells), 1) or not 2 + has_text <= max(sizes) <= _MAX_LIST_LENGTH or not members:
            continue
        numbers = all(map(_is_answer, members)) and not all(map(_is_missing, members))
        distinct = {str(member) for member in members}
        if numbers or (
            len(distinct) <= MAX_CLASSES
            and len(distinct) < len(members)
            and not any(isinstance(member, dict) for member in members)
        ):
            columns_by_type[numbers].append(name)
    return columns_by_type[True] or [name for name in columns_by_type[False] if words and not names_judges(name)]


def list_of_cell(cell: Any) -> list[Any] | None:
    """The answers in a cell that is a list, or a list written as text; None for other cells.

    Examples
    --------
    >>> list_of_cell([1, 2]), list_of_cell("4,2,2"), list_of_cell("['a', 'b']"), list_of_cell("a text, long")
    ([1, 2], [4, 2, 2], ['a', 'b'], None)
    """
    if isinstance(cell, str):
        if _NUMBER_LIST.fullmatch(cell.strip()):
            return [number_or_none(part.strip()) for part in re.split("[,;|]", cell)]
        cell = literal_in_cell(cell)
    if not isinstance(cell, list):
        return None
    objects = objects_in(cell)
    members = [value for part in objects for value in part.values()] if objects else cell
    return None if any(isinstance(part, list | dict) for part in members) else cell


def _is_answer(member: Any) -> bool:
    """True for a number, an object with a number, and a missing answer."""
    if isinstance(member, dict):
        return _is_missing(member) or any(number_or_none(value) is not None for value in member.values())
    return member is None or number_or_none(member) is not None


def _is_missing(member: Any) -> bool:
    """True for a member without an answer: nothing, or an object all of whose values are nothing."""
    values = member.values() if isinstance(member, dict) else [member]
    return all(value is None for value in values)


def names_judges(name: str) -> bool:
    """True if a column's name is a word for judges."""
    return normalise_column_name(name).removesuffix("s") in ("judge", *ALIASES["judge"])


def spread_lists(source: Source, options: FormatOptions) -> FormatOptions:
    """Make each answer of a list a row, with its position or a listed name as judge; return the options for these.

    Columns with lists of equal length in each row are criteria of the same judges, unless their names are those of
    judges; other columns hold lists of different judges. Without a column of items, each row is an item. If a column
    names the judge, a list holds that judge's repeated answers.

    Raises
    ------
    InputError
        No column holds lists of answers, or a named column does not.
    """
    columns = list(options.columns) or list_columns(first_records(source))
    lists_of_columns = (
        [[list_of_cell(cell) or [] for cell in cells] for _, *cells in source.cells(*columns)] if columns else []
    )
    if not columns or (
        without_lists := [name for name, *lists in zip(columns, *lists_of_columns, strict=True) if not any(lists)]
    ):
        problem = f"column {without_lists[0]!r} holds no lists" if columns else "no column holds lists of answers"
        raise InputError(f"{source.name}: {problem}; it has {list_names(source.columns())} (--columns chooses)")
    members = [member for lists in lists_of_columns for members_of_row in lists for member in members_of_row]
    objects = [member for member in members if isinstance(member, dict)]
    same_length = all(len({*map(len, lists)}) == 1 for lists in lists_of_columns)
    are_criteria = (
        len(columns) > 1 and same_length and not (objects or answer_columns(columns) or judge_columns(columns))
    )
    keys = [key for key in (objects or [{}])[0] if all(_is_answer(member.get(key)) for member in objects)]
    answer_name = keys[0] if len(keys) == 1 else "score" if all(map(_is_answer, members)) else "label"
    answers = columns if are_criteria else keys or [answer_name]
    free = [name for name in source.columns() if name not in columns]
    roles = find_roles(free) | dict(options.map or {})
    sizes = [len(max(lists, key=len)) for lists in lists_of_columns]
    judge_column = next((name for name in free if names_judges(name) and _counts_of_names(source, name) == sizes), None)
    list_role = "run" if "judge" in roles and judge_column is None else "judge"
    subject = subject_namer(source, [name for name in free if name != judge_column], roles)
    new_columns = {list_role, *answers}

    def rows(record: Record, place: str) -> Iterator[Record]:
        cells = {name: cell for name in columns if (cell := record.get(name)) not in (None, "")}
        if invalid := [cell for cell in cells.values() if list_of_cell(cell) is None]:
            raise Odd(f"{invalid[0]!r} is no list of answers")
        lists = {name: list_of_cell(cells.get(name)) or [] for name in columns}
        names = _names_of(record.get(judge_column)) if judge_column else []
        subject_cells = subject(record, place)
        other_cells = {
            f"row {name}" if name in {*new_columns, *subject_cells} or isinstance(cell, list | dict) else name: cell
            for name, cell in record.items()
            if name not in (*columns, judge_column)
        } | subject_cells
        for name in columns[:1] if are_criteria else columns:
            for position, cell in enumerate(lists[name]):
                judge_name = names[position] if judge_column else f"{'judge' if are_criteria else name} {position + 1}"
                answer = (
                    {member: lists[member][position] for member in columns} if are_criteria else {answer_name: cell}
                )
                answer = cell if isinstance(cell, dict) else answer
                row = other_cells | {list_role: position + 1 if list_role == "run" else judge_name} | answer
                if any(row.get(name) is not None for name in answers):
                    yield row

    source.transform_records(rows)
    meaning = (
        f"named by {judge_column!r}" if judge_column else "of judges by their place, who may be others in each row"
    )
    meaning = "repeated answers of a judge" if list_role == "run" else meaning
    criteria = ", under a criterion each" if are_criteria else ""
    source.notes.append(f"{source.name}: lists in {list_names(columns)} hold answers {meaning}{criteria}")
    if empty := sum(map(_is_missing, members)):
        source.notes.append(f"{source.name}: {empty} empty members of lists: not asked")
    has_criteria = len(answers) > 1
    return replace(options, wide="criterion" if has_criteria else None, columns=answers if has_criteria else ())


def _names_of(cell: Any) -> list[str]:
    """The names in a list, or in a text with commas."""
    names = cell if isinstance(cell, list) else list_of_cell(cell) or str(cell or "").split(",")
    return [str(name).strip() for name in names]


def _counts_of_names(source: Source, column: str) -> list[int]:
    """Numbers of names in the cells of a column."""
    return [len(_names_of(cell)) for _, cell in source.cells(column)]


def subject_namer(source: Source, names: Sequence[str], roles: Mapping[str, str]) -> Callable[[Record, str], Record]:
    """Function that names the subject of a record: empty if its columns do, else by an identifier, else by its line.

    A column names subjects if its cells are unique, or unique for each judge where a column names judges.
    """
    judge = [roles["judge"]] if "judge" in roles else []
    crossed = [roles[name] for name in ("context", "system") if name in roles]
    subject_columns = [roles["item"]] if "item" in roles else crossed if len(crossed) == 2 else []
    if subject_columns and are_unique(source, [*judge, *subject_columns]):
        return lambda record, place: {}
    for name in (candidate for candidate in names if is_key(candidate) and candidate not in judge):
        if are_unique(source, [*judge, name]):
            return lambda record, place: {"item": record.get(name)}
        if "system" in roles and "context" not in roles and are_unique(source, [*judge, name, roles["system"]]):
            return lambda record, place: {"context": record.get(name)}
    if subject_columns:
        source.notes.append(
            f"{source.name}: {list_names(subject_columns)} repeat for a judge: each row is an item, named by its line"
        )
    return lambda record, place: {"item": line_of(source, place)}


def line_of(source: Source, place: str) -> str:
    """The line of a place in a file, or the number of its record."""
    return place.removeprefix(source.name).strip(": []").replace("]", "")


def are_unique(source: Source, columns: Sequence[str]) -> bool:
    """True if no two records have the same cells in some columns."""
    cells = [tuple(map(str, row)) for _, *row in source.cells(*columns)]
    return len({*cells}) == len(cells)
