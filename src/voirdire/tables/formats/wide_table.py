"""Wide tables: one row per item with columns of judges, criteria or counts of labels; or one per judge, of items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.columns import ANSWER_COLUMNS, find_roles, list_names, normalise_column_name
from voirdire.tables.encode import MISSING
from voirdire.tables.formats import column_content
from voirdire.tables.formats.column_samples import is_covariate_name, is_key
from voirdire.tables.formats.format import FormatOptions, read_records
from voirdire.tables.formats.label_cells import LabelCells
from voirdire.tables.formats.long_counts import RANDOM_RATERS_NOTE, Counted, random_rater_numbers
from voirdire.tables.formats.long_table import DEFAULT_JUDGE, left_out_notes, one_judge_note
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import (
    TABLES,
    Columns,
    Label,
    Note,
    Odd,
    Refused,
    Row,
    Score,
    number_or_none,
    with_further_cells,
)
from voirdire.tables.formats.source import Source
from voirdire.tables.formats.table_rows import Subjects
from voirdire.tables.numbers import number_remedy
from voirdire.tables.problems import nearest_name

#: Possible meanings of the columns of a wide table, and words for a single column.
WIDE_KINDS = {"judge": "a judge", "criterion": "a criterion", "item": "an item", "counts": "a count"}
PLURALS = {"judge": "judges", "criterion": "criteria", "item": "items"}
_SUBJECT_ROLES = ("item", "context", "criterion", "system", "run", "judge")
#: Columns that may name items if no column is called item, in order of precedence.
_ITEM_COLUMN_NAMES = ("id", "response", "completion", "output", "text")
_MAX_SHOWN = 8
_ROW_TYPES = {TABLES[row]: row for row in (Label, Score)}  # possible kinds of cells


def wide_rows(source: Source, options: FormatOptions, mapped: Mapping[str, str]) -> Iterator[Row]:
    """Read the rows of a wide table; ``options.wide`` is the meaning of its columns.

    Raises
    ------
    InputError
        No column is left, a named column is missing, or ``options.wide`` is none of `WIDE_KINDS`.
    """
    wide = _checked_kind(options.wide or "")
    if wide == "counts":
        return _label_rows_from_counts(source, options, mapped)
    places = _subject_columns(source, mapped, wide, options.columns)
    columns = answer_columns(source, options, places, wide)
    if options.table not in (None, *_ROW_TYPES):
        raise InputError(f"{source.name}: such a wide table holds {' or '.join(_ROW_TYPES)}, not {options.table}")
    row_type: Any = _ROW_TYPES.get(options.table or "")
    row_type = row_type or (Score if wide == "criterion" else _guess_row_type(source, columns))
    if row_type is Score and wide == "judge":
        column_content.check_no_text_columns(source, columns)
    labels = LabelCells(options)
    read_cell = _require_number if row_type is Score else labels.read

    def notes(further: Mapping[str, str]) -> Iterator[Note]:
        item = places.get("item")
        if wide == "item":
            if "judge" not in places and options.judge is None:
                yield Note(
                    f"{source.name}: no column says who answered: each row is a judge, named by its line "
                    "(--map judge=COLUMN)"
                )
        elif item is None and not {"context", "system"} <= places.keys():
            yield Note(f"{source.name}: no column names the items: each is named by its line (--map item=COLUMN)")
        yield from _item_notes(source, item)
        if (
            wide != "judge"
            and not options.columns
            and (covariates := [name for name in further if is_covariate_name(name)])
        ):
            yield Note(
                f"{source.name}: by their names no {PLURALS[wide]}, and kept as they are: {', '.join(covariates)} "
                "(--columns chooses)"
            )
        if note := labels.note(source):
            yield note

    return rows_of_cells(source, options, places, columns, row_type, lambda cell, subject: read_cell(cell), notes)


def wide_roles(source: Source, options: FormatOptions, mapped: Mapping[str, str]) -> dict[str, str]:
    """Map the columns of a wide table to their roles as columns of voirdire's; columns without a role are left out."""
    wide = _checked_kind(options.wide or "")
    places = _subject_columns(source, mapped, wide, options.columns)
    if wide == "counts":
        columns = list(options.columns) or _unused_columns(source, places)
    else:
        columns = answer_columns(source, options, places, wide)
    return {name: column for column, name in places.items()} | dict.fromkeys(columns, WIDE_KINDS[wide])


def _checked_kind(wide: str) -> str:
    if wide not in WIDE_KINDS:
        known = [*WIDE_KINDS, "lists", "pairs", "sides"]
        raise InputError(f"wide {wide!r} is none of {', '.join(known)}{nearest_name(wide, known)}")
    return wide


def _subject_columns(source: Source, mapped: Mapping[str, str], wide: str, chosen: Sequence[str]) -> dict[str, str]:
    """Columns that name the subject of a row; without a column of items the first column may be the item."""
    names = source.columns()
    free = [name for name in names if name not in mapped.values() and name not in chosen]
    known = {column: name for column, name in find_roles(free).items() if column in _SUBJECT_ROLES and column != wide}
    if wide == "criterion" and _is_answered(source, known):
        del known["item"]
    places = known | {column: name for column, name in mapped.items() if column != wide}
    if "item" in known and "item" not in mapped and column_content.names_contexts(source, places):
        places = {"context": places.pop("item")} | places
    if wide != "item" and "item" not in places and not {"context", "system"} <= places.keys():
        remaining = [name for name in free if name not in places.values()]
        item = next(
            (name for wanted in _ITEM_COLUMN_NAMES for name in remaining if normalise_column_name(name) == wanted), None
        )
        if item is None and "context" in places and "context" not in mapped:
            item = places.pop("context")
        if item is None:
            keys = [name for name in remaining if is_key(name)]
            if wide == "criterion":  # without judges each row is an item
                keys = [name for name in keys if "judge" in places and column_content.has_repeats(source, name)]
            item = keys[0] if keys else None
            if item is None and wide != "criterion":
                item = _first_column_as_item(source, remaining, wide)
            elif item is None and "judge" in places:
                texts = [
                    name
                    for name, counts in column_content.count_cells(source, remaining).items()
                    if counts.texts and not counts.numbers
                ]
                item = column_content.column_asked_of_each(source, texts, places["judge"])
        if item is not None:
            crosses = "system" in places and "context" not in places and column_content.has_repeats(source, item)
            places["context" if crosses else "item"] = item
    return places


def _is_answered(source: Source, known: Mapping[str, str]) -> bool:
    """True if the item column has another name, and its numbers repeat and occur in other columns, as answers do."""
    item = known.get("item", "item")
    if normalise_column_name(item).startswith("item") or not column_content.count_cells(source, [item])[item].numeric:
        return False
    subject_columns = [known[name] for name in ("item", "judge", "system", "run") if name in known]
    rows = [tuple(map(str, row)) for _, *row in source.cells(*subject_columns)]
    others = [name for name in source.columns() if name not in subject_columns and not is_key(name)]
    cells = {str(cell) for _, *row in source.cells(*others) for cell in row}
    return len({*rows}) < len(rows) and {row[0] for row in rows} <= cells


def _first_column_as_item(source: Source, names: Sequence[str], wide: str) -> str | None:
    """The first of some columns, unless it holds answers; None then."""
    if not names:
        return None
    first, *others = names
    if wide == "counts" and column_content.count_cells(source, [first])[first].numbers:
        return first if column_content.numbers_rows(source, first, others) else None
    if wide == "judge":
        column_content.check_names_items(source, first, others)
    return first


def _unused_columns(source: Source, places: Mapping[str, str]) -> list[str]:
    """Columns that may hold answers: without those of the subject and those with an identifier's name."""
    return [name for name in source.columns() if name not in places.values() and not is_key(name)]


def answer_columns(
    source: Source, options: FormatOptions, places: Mapping[str, str], wide: str, *, words: bool = False
) -> list[str]:
    """Columns with answers: the chosen columns, else all unused ones; for criteria and items only numeric ones.

    Parameters
    ----------
    words : bool
        If true, answers may be words for criteria, too.

    Raises
    ------
    InputError
        A named column is missing, or none is left.
    """
    names = source.columns()
    if options.columns:
        if absent := [name for name in options.columns if name not in names]:
            raise InputError(
                f"{source.name}: there is no column {absent[0]!r} (--columns){nearest_name(absent[0], names)}"
            )
        return list(options.columns)
    free = _unused_columns(source, places)
    if wide == "judge" and "judge" in free:
        raise InputError(
            f"{source.name}: column 'judge' says who judged, so that no other column is a judge; leave --wide judge "
            "out, or choose the columns by --columns"
        )
    likely = [name for name in free if not is_covariate_name(name)] or free
    columns = free if wide == "judge" or words else column_content.numeric_columns(source, likely)
    if wide == "judge":
        column_content.check_means(source, columns)
    if not columns:
        description = WIDE_KINDS[wide] + ("" if wide == "judge" or words else " (none holds numbers alone)")
        raise InputError(
            f"{source.name}: no column is left that could be {description}; it has {list_names(names)}; --columns "
            "chooses some, --map names the others"
        )
    return columns


def rows_of_cells(
    source: Source,
    options: FormatOptions,
    places: Mapping[str, str],
    columns: Sequence[str],
    row_type: Any,
    read_cell: Callable[[Any, Mapping[str, Any]], Any],
    notes: Callable[[Mapping[str, str]], Iterable[Note]],
) -> Iterator[Row]:
    """Read an answer from each cell of some columns.

    Parameters
    ----------
    source : Source
    options : FormatOptions
    places : mapping of str to str
        Columns of the subject of a row.
    columns : sequence of str
        Columns of answers.
    row_type : type
        `Vote`, `Score` or `Label`.
    read_cell : callable
        Reads the answer in a cell about a subject; it raises Odd.
    notes : callable
        Gives notes on the table by its further columns, after all rows.
    """
    wide, kind = str(options.wide), TABLES[row_type]
    further, lost_notes = further_columns(source, places, columns, row_type._fields)
    subjects = Subjects(source, places, further)
    empty = 0

    def read_answers(record: Record, place: str) -> Iterator[Row]:
        nonlocal empty
        subject, further_cells = subject_names(subjects, record, place, row_type), subjects.further(record)
        if wide != "judge":
            line = DEFAULT_JUDGE if wide == "criterion" else place.rpartition(":")[2]
            subject.setdefault("judge", options.judge or line)
        for name in columns:
            cell = record.get(name)
            if (cell is None or cell == "") and (row_type is not Label or options.no_label != ""):
                empty += 1
                continue
            subject[wide] = name
            try:
                if row_type is Label and isinstance(cell, str) and cell in MISSING and cell != options.no_label:
                    raise Odd(f"label {cell!r} stands for a missing value")
                row = row_type(**subject, **{ANSWER_COLUMNS[kind]: read_cell(cell, subject)})
            except Odd as odd:
                yield Refused(f"{place}: {name}", f"{odd}; leave a cell empty where there is no answer")
            else:
                yield with_further_cells(row, further_cells)

    if further:
        yield Columns(kind, tuple(further))
    yield from read_records(source.records(), read_answers)
    yield from lost_notes
    yield Note(f"{source.name}: {len(columns)} columns are {PLURALS[wide]}: {', '.join(columns)}")
    yield from notes(further)
    if wide == "criterion" and "judge" not in places and options.judge is None:
        yield one_judge_note(source.name)
    yield from subjects.notes()
    if empty:
        yield Note(f"{source.name}: {empty} empty cells: not asked")


def _item_notes(source: Source, item: str | None) -> Iterator[Note]:
    if item in source.columns() and normalise_column_name(str(item)) not in ("item", "itemid"):
        yield Note(f"{source.name}: items are named by the column {item!r}")


def subject_names(subjects: Subjects, record: Record, place: str, row_type: Any) -> dict[str, Any]:
    """Names of the subject of a row in the columns of its kind; an item without a name is named by its line."""
    subject = subjects.names(record)
    subject.setdefault("item", place.rpartition(":")[2])
    return {name: value for name, value in subject.items() if name in row_type._fields}


def further_columns(
    source: Source, places: Mapping[str, str], columns: Sequence[str], fields: Sequence[str]
) -> tuple[dict[str, str], list[Note]]:
    """Further columns of rows, to those of the file; and notes on left-out columns."""
    further = {column: name for column, name in places.items() if column not in fields}
    free = [name for name in source.columns() if name not in places.values() and name not in columns]
    further |= {name: name for name in free if name not in fields and name not in further}
    return further, left_out_notes(source.name, [name for name in free if name not in further], places)


def _require_number(cell: Any) -> float | int:
    value = number_or_none(cell)
    if value is None:
        raise Odd(f"{cell!r} is no number{number_remedy(cell) if isinstance(cell, str) else ''}")
    return value


def _guess_row_type(source: Source, judges: Sequence[str]) -> type[Score | Label]:
    """Scores if most cells of the first 100 rows are numbers and not truth values, else labels."""
    numbers = others = 0
    for _, (_, record) in zip(range(100), source.records(), strict=False):
        if isinstance(record, dict):
            cells = [record[judge] for judge in judges if record.get(judge) not in (None, "")]
            numbers += sum(_looks_like_number(cell) for cell in cells)
            others += sum(not _looks_like_number(cell) for cell in cells)
    return Score if numbers > others else Label


def _looks_like_number(cell: object) -> bool:
    """True for a number, also in an unsupported notation such as ``3,5``."""
    written = isinstance(cell, str) and number_remedy(cell) != ""
    return written or (number_or_none(cell) is not None and not isinstance(cell, bool))


def _label_rows_from_counts(source: Source, options: FormatOptions, mapped: Mapping[str, str]) -> Iterator[Row]:
    """Give one label row for each counted answer; unknown raters are numbered."""
    places = _subject_columns(source, mapped, "counts", options.columns)
    columns = list(options.columns) or _unused_columns(source, places)
    if judge_column := places.pop("judge", None):
        raise InputError(
            f"{source.name}: counts do not say who answered, but column {judge_column!r} is taken for judge; rename it"
        )
    column_content.check_totals(source, columns)
    further, lost_notes = further_columns(source, places, columns, Label._fields)
    subjects = Subjects(source, places, further)
    counted = Counted(source.name)

    def read_counts(record: Record, place: str) -> Iterator[Row]:
        subject, further_cells = subject_names(subjects, record, place, Label), subjects.further(record)
        labels: dict[str, int] = {}
        for name in columns:
            try:
                labels[name] = counted.read(record.get(name))
            except Odd as odd:
                yield Refused(f"{place}: {name}", str(odd))
        for label, numbers in random_rater_numbers(labels, [*subject.values()]).items():
            for rater in numbers:
                yield with_further_cells(Label(f"rater {rater}", label=label, **subject), further_cells)

    if further:
        yield Columns("labels", tuple(further))
    yield from read_records(source.records(), read_counts)
    yield from lost_notes
    yield from subjects.notes()
    yield from _item_notes(source, places.get("item"))
    yield Note(
        f"{source.name}: counts of {len(columns)} labels: {', '.join(columns[:_MAX_SHOWN])}; {RANDOM_RATERS_NOTE}"
    )
