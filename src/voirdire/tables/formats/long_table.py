"""Long tables: one row per answer, under voirdire's column names or others."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.columns import (
    ANSWER_COLUMNS,
    COLUMN_WORDS,
    KIND_OF_TABLE,
    find_roles,
    list_names,
    normalise_column_name,
    table_kind,
)
from voirdire.tables.encode import MISSING
from voirdire.tables.formats.column_content import all_numbers, count_cells, names_contexts
from voirdire.tables.formats.column_samples import first_determines_second
from voirdire.tables.formats.format import FormatOptions, read_records
from voirdire.tables.formats.label_cells import LabelCells
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import TABLES, Columns, Note, Odd, Row, name_text, number_or_none, with_further_cells
from voirdire.tables.formats.source import Source
from voirdire.tables.formats.table_rows import Subjects
from voirdire.tables.numbers import number_remedy
from voirdire.tables.problems import nearest_name
from voirdire.tables.vote_columns import OUTCOME_WORDS, OUTCOMES, meaning_note

#: Name of the judge if no column names judges.
DEFAULT_JUDGE = "judge"
_MAX_ITEMS_WITH_OWN_LABELS = 3  # with so few items, labels may all differ
_ROW_TYPES: dict[str, Any] = {name: row for row, name in TABLES.items()}


def long_kind(source: Source, options: FormatOptions, used: dict[str, str]) -> str | None:
    """The kind of a long table by its columns and by the cells of an ambiguous answer column.

    Parameters
    ----------
    used : dict of str to str
        Columns of voirdire's to those of the file; the ambiguous answer column is added under its kind.
    """
    roles: dict[str, str] = dict(used)
    if options.judge or options.unnamed or is_votes_without_judge(source.columns(), used):
        roles.setdefault("judge", DEFAULT_JUDGE)
    if not {"winner", "label", "rank"} & roles.keys():
        column = roles.get("score") or _column_of_either_kind(source.columns(), roles)
        if column is not None and normalise_column_name(column) != "score":
            wants_labels = ANSWER_COLUMNS.get(options.table or "") == "label"
            scores = not wants_labels and _holds_scores(source, column)
            if scores or wants_labels or not _describes_items(source, column, used):
                _assign_answer_column(roles, used, "scores" if scores else "labels", column)
    kind_by_names = table_kind(roles)
    if options.table in (None, kind_by_names) or kind_by_names == "rankings":
        return kind_by_names
    wanted = ANSWER_COLUMNS[options.table]
    if kind_by_names is not None and {wanted, ANSWER_COLUMNS[kind_by_names]} == {"score", "label"}:
        _assign_answer_column(roles, used, options.table, roles[ANSWER_COLUMNS[kind_by_names]])
        return options.table
    if wanted not in roles:
        raise InputError(
            f"{source.name}: it is no table of {options.table}: none of its columns {list_names(source.columns())} is "
            f"{wanted} (--map {wanted}=COLUMN names one)"
        )
    return None if KIND_OF_TABLE[options.table].missing(roles) else options.table


def _assign_answer_column(have: dict[str, str], used: dict[str, str], kind: str, column: str) -> None:
    """Assign a column as the answer of one kind of table, and remove all other answers."""
    for columns in (have, used):
        for name in ANSWER_COLUMNS.values():
            columns.pop(name, None)
        columns[ANSWER_COLUMNS[kind]] = column


def is_ambiguous(source: Source, roles: Mapping[str, str]) -> bool:
    """True if a column is taken for scores under another name and does not hold numbers only."""
    column = roles.get("score")
    return column is not None and normalise_column_name(column) != "score" and not all_numbers(source, column)


def is_votes_without_judge(columns: Sequence[str], roles: Mapping[str, str] | None = None) -> bool:
    """True if the columns are those of votes without judges, as in records of an arena.

    Examples
    --------
    >>> used = {"first": "model_a", "second": "model_b", "winner": "winner"}
    >>> is_votes_without_judge([*used.values()], used)
    True
    """
    roles = find_roles(columns) if roles is None else roles
    names_pair = {"first", "second", "winner"} <= roles.keys() and all(
        roles[side] != side for side in ("first", "second")
    )
    return names_pair and "judge" not in roles and not nearest_name("judge", columns)


def left_out_notes(file_name: str, names: Sequence[str], used: Mapping[str, str]) -> list[Note]:
    """Notes on columns that are left out because another column has their name's role.

    Examples
    --------
    >>> left_out_notes("a.csv", ["judge"], {"judge": "grader"})
    ["a.csv: column 'judge' is left out, as 'grader' is judge; rename it to keep it"]
    """
    return [
        Note(
            f"{file_name}: column {name!r} is left out, as "
            + (f"{used[name]!r} is {name}" if name in used else "its name says something else to voirdire")
            + "; rename it to keep it"
        )
        for name in names
    ]


def missing_judge_note(file_name: str) -> str:
    """Sentence about a table whose answers are all assigned to one judge."""
    return (
        f"{file_name}: no column says who judged, so that all answers are those of one judge, {DEFAULT_JUDGE!r} "
        "(--set judge=NAME names it, --map judge=COLUMN takes a column)"
    )


def one_judge_note(file_name: str) -> Note:
    """Note on a table with one row per item or ranking whose answers are all assigned to one judge."""
    return Note(f"{file_name}: no column says who judged: all are of one judge, {DEFAULT_JUDGE!r} (--set judge=NAME)")


def _column_of_either_kind(columns: tuple[str, ...], used: Mapping[str, str]) -> str | None:
    """The first column that may hold scores or labels."""
    free = [name for name in columns if name not in used.values()]
    return next(
        (name for wanted in COLUMN_WORDS["scores_or_labels"] for name in free if normalise_column_name(name) == wanted),
        None,
    )


def _describes_items(source: Source, column: str, used: Mapping[str, str]) -> bool:
    """True if a column has one distinct text for each of many items, for all judges: it is no answer then."""
    subject_columns = [used[name] for name in ("item", "context", "system") if name in used and used[name] != column]
    pairs = [(tuple(map(str, key)), str(cell)) for _, cell, *key in source.cells(column, *subject_columns)]
    texts, items = {cell for _, cell in pairs}, {key for key, _ in pairs}
    return (
        bool(subject_columns)
        and len(texts) == len(items) > _MAX_ITEMS_WITH_OWN_LABELS
        and first_determines_second(pairs)
    )


def _holds_scores(source: Source, column: str) -> bool:
    """True if all cells of an answer column are numbers, or numbers in an unsupported notation.

    Raises
    ------
    InputError
        Most cells are numbers, and some are not.
    """
    counts = count_cells(source, [column])[column]
    if counts.mixed:
        others = counts.texts - len(counts.first_texts)
        further_texts = f" (and {others} more)" if others else ""
        raise InputError(
            [
                f"{text}{further_texts} is no number, as most others of its column are; mend it, or leave it empty, or "
                "read all as labels (--table labels)"
                for text in counts.first_texts
            ]
        )
    return counts.numeric or 0 < counts.miswritten == len(counts.first_texts)  # as 4/5 is


def long_rows(
    source: Source, options: FormatOptions, kind: str, used: Mapping[str, str], mapped: Mapping[str, str]
) -> Iterator[Row]:
    """Read the rows of a long table; columns without a role of voirdire's stay as they are.

    Parameters
    ----------
    kind : "votes", "scores", "labels" or "rankings"
    used : mapping of str to str
        Columns of voirdire's to those of the file.
    mapped : mapping of str to str
        The columns in ``used`` that the user mapped; they need no note.
    """
    fields = _ROW_TYPES[kind]._fields
    used = {to: name for to, name in used.items() if to in fields or to in mapped or to == name}
    used_names = {*used, *used.values()}
    used |= {name: name for name in source.columns() if name in fields and name not in used_names}
    own_columns = [name for name in fields if name in used or name == "judge"]
    free = [name for name in source.columns() if name not in used.values()]
    further = [name for name in free if name not in fields and name not in used]
    if options.judge is not None and "judge" in used:
        raise InputError(f"{source.name}: column {used['judge']!r} says who judged; leave --set judge out")
    renamed = {column: name for column, name in used.items() if column not in fields}
    kept_columns = {name: name for name in further} | renamed
    answer = ANSWER_COLUMNS[kind]
    labels, winners = LabelCells(options), WinnerCells(source, used, options.winners or {})
    about_items = {name: used[name] for name in (*fields, "system") if name in used and name != answer}
    subjects = Subjects(source, about_items, kept_columns)
    yield Columns(kind, (*own_columns, *renamed, *further))

    def read_record(record: Record, place: str) -> Iterator[Row]:
        named = {"judge": options.judge or DEFAULT_JUDGE} | subjects.names(record)
        row_cells = {name: named.get(name) for name in fields if name in named or name == "item"}
        cell = record.get(used[answer])
        if answer == "winner":
            row_cells[answer] = winners.read(name_text(cell), row_cells["first"], row_cells["second"])
        else:
            row_cells[answer] = labels.read(cell) if answer == "label" else _answer_number(answer, cell)
        yield with_further_cells(_ROW_TYPES[kind](**row_cells), subjects.further(record))

    yield from read_records(source.records(), read_record)
    renamings = [f"{name!r} as {column}" for column, name in used.items() if name != column and column not in mapped]
    if renamings:
        yield Note(f"{source.name}: columns are taken for voirdire's: {', '.join(renamings)}")
    yield from left_out_notes(source.name, [name for name in free if name not in further], used)
    if winners.words:
        yield Note(meaning_note(winners.words))
    if answer == "winner" and (note := swap_column_note(further)):
        yield Note(f"{source.name}: {note}")
    if note := labels.note(source):
        yield note
    yield from subjects.notes()
    if "judge" not in used and options.judge is None and not options.unnamed:
        yield Note(missing_judge_note(source.name))


#: Names of columns that mark rows with swapped display order.
_SWAPPED_COLUMN = re.compile(r"(?:is|was|position|order|sides?)?(?:swapp?ed|swap|flipped|flip|reversed)")


def swap_column_note(columns: Iterable[str]) -> str | None:
    """Sentence about a column of votes that may mark rows with swapped display order; None without one.

    Examples
    --------
    >>> swap_column_note(["winner", "is_swapped"]).partition(":")[0], swap_column_note(["winner", "flips"])
    ("column 'is_swapped' is kept as it is", None)
    """
    swapped = next((name for name in columns if _SWAPPED_COLUMN.fullmatch(normalise_column_name(name))), None)
    return swapped and (
        f"column {swapped!r} is kept as it is: first and second, and winners that are places such as A and B, are not "
        "turned by it; turn those rows in the file where they were shown the other way round"
    )


def _answer_number(answer: str, cell: Any) -> float | int | None:
    if isinstance(cell, bool):
        raise Odd(f"{answer} {cell} is no number; write 1 or 0, or use a column label")
    value = number_or_none(cell)
    if value is None and cell not in (None, ""):
        raise Odd(f"{answer} {cell!r} is no number{number_remedy(cell) if isinstance(cell, str) else ''}")
    return value


class WinnerCells:
    """Reader of the winners of one table, by the user's words, else by names of items and known words.

    Attributes
    ----------
    words : dict of str to str
        Known words in the table, with their outcomes.
    """

    def __init__(self, source: Source, used: Mapping[str, str], meanings: Mapping[str, str]) -> None:
        self._source, self._used, self._meanings = source, used, meanings
        self.words: dict[str, str] = {}

    @cached_property
    def _items(self) -> Collection[str]:
        """Names of items, in lower case, that are also words for outcomes."""
        pairs = (cells for _, *cells in self._source.cells(self._used["first"], self._used["second"]))
        words = {cell.strip().lower() for pair in pairs for cell in pair if isinstance(cell, str)}
        return words & OUTCOME_WORDS.keys()

    def read(self, winner: str | None, first: str | None, second: str | None) -> str:
        """The outcome that a winner cell means: first, second or tie."""
        if winner is None or winner == "":
            raise Odd("no winner")
        if winner in MISSING and winner not in (first, second, *self._meanings):
            raise Odd(f"winner {winner!r} stands for a missing value; leave out the rows that nobody answered")
        if self._meanings:
            if winner not in self._meanings:
                raise Odd(
                    f"winner {winner!r} is none of {', '.join(self._meanings)}; say what it means, too (--winners)"
                )
            return self._meanings[winner]
        if winner in (first, second) or winner in OUTCOMES:
            return winner_outcome(winner, first, second)
        self.words[winner] = outcome = winner_outcome(winner, first, second, self._items)
        return outcome


def winner_outcome(winner: str, first: str | None, second: str | None, items: Collection[str] = ()) -> str:
    """Outcome that a winner names: first, second or tie.

    Parameters
    ----------
    winner, first, second : str
        The winner and the two items.
    items : collection of str
        Words for outcomes that are names of items in the table, in lower case; they mean the item.

    Raises
    ------
    Odd
        The winner means no outcome, or is ambiguous.

    Examples
    --------
    >>> winner_outcome("x", "x", "y"), winner_outcome("model_b", "x", "y"), winner_outcome("Tie", "x", "y")
    ('first', 'second', 'tie')
    """
    item_outcome = "first" if winner == first else "second" if winner == second else None
    if item_outcome is not None:
        if winner in OUTCOMES and winner != item_outcome:
            raise Odd(f"winner {winner!r} may mean the outcome {winner!r} or the item of that name; rename the item")
        return item_outcome
    word = winner.strip().lower()
    word_outcome = OUTCOME_WORDS.get(word)
    if word_outcome is None or (word in items and winner not in OUTCOMES):
        if similar := next((item for item in (first, second) if item and item.strip().lower() == word), None):
            spaced = winner.strip() == similar
            raise Odd(
                f"winner {winner!r} {'has white space at an end; remove it' if spaced else 'is no item'}"
                + ("" if spaced else f"; write it as the item {similar!r}")
            )
        raise Odd(
            f"winner {winner!r} is neither first, second, tie nor one of the two items {first!r}, {second!r}"
            f" (--winners {winner}=first or the like says what it means)"
        )
    return word_outcome


def roles_of(source: Source, options: FormatOptions) -> tuple[dict[str, str], dict[str, str]]:
    """Columns of voirdire's to those of a file: all used columns, and those that the user mapped."""
    mapped = dict(options.map or {})
    free = tuple(name for name in source.columns() if name not in mapped.values())
    known = (*mapped, "judge") if options.judge else mapped
    roles = {column: name for column, name in find_roles(free, known).items() if column not in mapped}
    if options.judge and roles.get("judge", "judge") != "judge":
        del roles["judge"]  # the judge is given, so that no column of another name is taken for it
    if "item" in roles and names_contexts(source, roles | mapped):
        context_column = roles.pop("item")
        roles = {"context": context_column} | roles
        if "rank" in roles and "system" in roles:
            roles["item"] = roles.pop("system")  # which is what is ranked
    return roles | mapped, mapped
