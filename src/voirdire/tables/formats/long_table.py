"""Long tables: one row an answer, under voirdire's names of columns or others."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.columns import (
    ANSWERS,
    EITHER,
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
from voirdire.tables.formats.rows import (
    TABLES,
    Columns,
    Note,
    Odd,
    Row,
    extended,
    name_text,
    number_or_none,
)
from voirdire.tables.formats.source import Source
from voirdire.tables.formats.subjects import Subjects
from voirdire.tables.numbers import number_remedy
from voirdire.tables.problems import nearest_name
from voirdire.tables.vote_columns import OUTCOME_WORDS, OUTCOMES, meaning_note

#: Who is taken to have answered where no column says it.
NAMELESS = "judge"
_FEW_ITEMS = 3  # up to which each item may well have a label of its own
_FIELDS: dict[str, Any] = {name: row for row, name in TABLES.items()}


def long_kind(source: Source, options: FormatOptions, used: dict[str, str]) -> str | None:
    """The kind of a long table by its columns, which are completed by what the cells of an answer are.

    Parameters
    ----------
    used : dict of str to str
        Columns of voirdire's to those of the file; the column of an answer that may be of either kind is added.
    """
    have: dict[str, str] = dict(used)
    if options.judge or options.unnamed or is_votes_without_judge(source.columns(), used):
        have.setdefault("judge", NAMELESS)
    if not {"winner", "label", "rank"} & have.keys():
        column = have.get("score") or _column_of_either_kind(source.columns(), have)
        if column is not None and normalise_column_name(column) != "score":
            wants_labels = ANSWERS.get(options.table or "") == "label"
            scores = not wants_labels and _holds_scores(source, column)
            if scores or wants_labels or not _describes_items(source, column, used):
                _assign_answer_column(have, used, "scores" if scores else "labels", column)
    found = table_kind(have)
    if options.table in (None, found) or found == "rankings":
        return found
    wanted = ANSWERS[options.table]
    if found is not None and {wanted, ANSWERS[found]} == {"score", "label"}:
        _assign_answer_column(have, used, options.table, have[ANSWERS[found]])
        return options.table
    if wanted not in have:
        raise InputError(
            f"{source.name}: it is no table of {options.table}: none of its columns {list_names(source.columns())} is "
            f"{wanted} (--map {wanted}=COLUMN names one)"
        )
    kind = KIND_OF_TABLE[options.table]
    crossed = {"item"} if kind.crosses and {"context", "system"} <= have.keys() else set()
    return options.table if set(kind.needed) <= have.keys() | crossed else None


def _assign_answer_column(have: dict[str, str], used: dict[str, str], kind: str, column: str) -> None:
    """Have a column be the answer of a kind of table, and of no other."""
    for columns in (have, used):
        for name in ANSWERS.values():
            columns.pop(name, None)
        columns[ANSWERS[kind]] = column


def is_ambiguous(source: Source, roles: Mapping[str, str]) -> bool:
    """True where a column that is taken for scores by another name holds what is no number."""
    column = roles.get("score")
    return column is not None and normalise_column_name(column) != "score" and not all_numbers(source, column)


def is_votes_without_judge(columns: Sequence[str], roles: Mapping[str, str]) -> bool:
    """True where columns are those of votes that name no judge, as records of an arena do.

    Examples
    --------
    >>> used = {"first": "model_a", "second": "model_b", "winner": "winner"}
    >>> is_votes_without_judge([*used.values()], used)
    True
    """
    pair = {"first", "second", "winner"} <= roles.keys() and all(
        roles[side] != side for side in ("first", "second")
    )
    return pair and "judge" not in roles and not nearest_name("judge", columns)


def left_out_notes(called: str, names: Sequence[str], used: Mapping[str, str]) -> list[Note]:
    """Notes on columns that are in no table, as another stands for them.

    Examples
    --------
    >>> left_out_notes("a.csv", ["judge"], {"judge": "grader"})
    ["a.csv: column 'judge' is left out, as 'grader' is judge; rename it to keep it"]
    """
    return [
        Note(
            f"{called}: column {name!r} is left out, as "
            + (f"{used[name]!r} is {name}" if name in used else "its name says something else to voirdire")
            + "; rename it to keep it"
        )
        for name in names
    ]


def missing_judge_note(called: str) -> str:
    """Sentence about a table of which all answers are taken as those of one judge."""
    return (
        f"{called}: no column says who judged, so that all answers are those of one judge, {NAMELESS!r} "
        "(--set judge=NAME names it, --map judge=COLUMN takes a column)"
    )


def one_judge_note(called: str) -> Note:
    """Note on a table of one row an item or a ranking, of which all answers are taken as those of one judge."""
    return Note(f"{called}: no column says who judged: all are of one judge, {NAMELESS!r} (--set judge=NAME)")


def _column_of_either_kind(columns: tuple[str, ...], used: Mapping[str, str]) -> str | None:
    """The first column that may hold answers of either kind."""
    free = [name for name in columns if name not in used.values()]
    return next((name for want in EITHER for name in free if normalise_column_name(name) == want), None)


def _describes_items(source: Source, column: str, used: Mapping[str, str]) -> bool:
    """True where a column has a text of its own for each of more than a few items, whoever judged: it is no answer."""
    about = [used[name] for name in ("item", "context", "system") if name in used and used[name] != column]
    pairs = [(tuple(map(str, key)), str(cell)) for _, cell, *key in source.cells(column, *about)]
    texts, items = {cell for _, cell in pairs}, {key for key, _ in pairs}
    return bool(about) and len(texts) == len(items) > _FEW_ITEMS and first_determines_second(pairs)


def _holds_scores(source: Source, column: str) -> bool:
    """True where all cells of an answer are numbers, or written as no number is.

    Raises
    ------
    InputError
        Most are, and others are not.
    """
    found = count_cells(source, [column])[column]
    if found.mixed:
        others = found.texts - len(found.first_texts)
        more = f" (and {others} more)" if others else ""
        raise InputError(
            [
                f"{one}{more} is no number, as most others of its column are; mend it, or leave it empty, or read all "
                "as labels (--table labels)"
                for one in found.first_texts
            ]
        )
    return found.numeric or 0 < found.miswritten == len(found.first_texts)  # as 4/5 is


def long_rows(
    source: Source, options: FormatOptions, kind: str, used: Mapping[str, str], given: Mapping[str, str]
) -> Iterator[Row]:
    """The rows of a long table; columns that stand for none of voirdire's stay as they are.

    Parameters
    ----------
    kind : "votes", "scores", "labels" or "rankings"
    used : mapping of str to str
        Columns of voirdire's to those of the file.
    given : mapping of str to str
        Those of them that were asked for, of which nothing need be said.
    """
    fields = _FIELDS[kind]._fields
    used = {to: name for to, name in used.items() if to in fields or to in given or to == name}
    known = {*used, *used.values()}
    used |= {name: name for name in source.columns() if name in fields and name not in known}
    own = [name for name in fields if name in used or name == "judge"]
    free = [name for name in source.columns() if name not in used.values()]
    further = [name for name in free if name not in fields and name not in used]
    if options.judge is not None and "judge" in used:
        raise InputError(f"{source.name}: column {used['judge']!r} says who judged; leave --set judge out")
    renamed = {column: name for column, name in used.items() if column not in fields}
    kept = {name: name for name in further} | renamed
    answer = ANSWERS[kind]
    labels, winners = LabelCells(options), WinnerCells(source, used, options.winners or {})
    about_items = {name: used[name] for name in (*fields, "system") if name in used and name != answer}
    subjects = Subjects(source, about_items, kept)
    yield Columns(kind, (*own, *renamed, *further))

    def read_record(record: Record, place: str) -> Iterator[Row]:
        named = {"judge": options.judge or NAMELESS} | subjects.names(record)
        about = {name: named.get(name) for name in fields if name in named or name == "item"}
        said = record.get(used[answer])
        if answer == "winner":
            about[answer] = winners.read(name_text(said), about["first"], about["second"])
        else:
            about[answer] = labels.read(said) if answer == "label" else _answer_number(answer, said)
        yield extended(_FIELDS[kind](**about), subjects.further(record))

    yield from read_records(source.records(), read_record)
    taken = [
        f"{name!r} as {column}" for column, name in used.items() if name != column and column not in given
    ]
    if taken:
        yield Note(f"{source.name}: columns are taken for voirdire's: {', '.join(taken)}")
    yield from left_out_notes(source.name, [name for name in free if name not in further], used)
    if winners.words:
        yield Note(meaning_note(winners.words))
    if answer == "winner" and (note := swapped_note(further)):
        yield Note(f"{source.name}: {note}")
    if note := labels.note(source):
        yield note
    yield from subjects.notes()
    if "judge" not in used and options.judge is None and not options.unnamed:
        yield Note(missing_judge_note(source.name))


#: Columns that say of some rows that the two items were shown in the other order.
_SWAPPED = re.compile(r"(?:is|was|position|order|sides?)?(?:swapp?ed|swap|flipped|flip|reversed)")


def swapped_note(columns: Iterable[str]) -> str | None:
    """Sentence about a column of votes that may say of some rows which item was shown first; None without one.

    Examples
    --------
    >>> swapped_note(["winner", "is_swapped"]).partition(":")[0], swapped_note(["winner", "flips"])
    ("column 'is_swapped' is kept as it is", None)
    """
    found = next((name for name in columns if _SWAPPED.fullmatch(normalise_column_name(name))), None)
    return found and (
        f"column {found!r} is kept as it is: first and second, and winners that are places such as A and B, are not "
        "turned by it; turn those rows in the file where they were shown the other way round"
    )


def _answer_number(answer: str, said: Any) -> float | int | None:
    if isinstance(said, bool):
        raise Odd(f"{answer} {said} is no number; write 1 or 0, or use a column label")
    value = number_or_none(said)
    if value is None and said not in (None, ""):
        raise Odd(f"{answer} {said!r} is no number{number_remedy(said) if isinstance(said, str) else ''}")
    return value


class WinnerCells:
    """Reader of the winners of one table, by the words that were given, or by names of items and words that are known.

    Attributes
    ----------
    words : dict of str to str
        Known words that were met, with what they are taken for.
    """

    def __init__(self, source: Source, used: Mapping[str, str], meanings: Mapping[str, str]) -> None:
        self._source, self._used, self._meanings = source, used, meanings
        self.words: dict[str, str] = {}

    @cached_property
    def _items(self) -> Collection[str]:
        """Names of items as words are compared, where a word of outcomes may be one."""
        pairs = (cells for _, *cells in self._source.cells(self._used["first"], self._used["second"]))
        words = {cell.strip().lower() for pair in pairs for cell in pair if isinstance(cell, str)}
        return words & OUTCOME_WORDS.keys()

    def read(self, said: str | None, first: str | None, second: str | None) -> str:
        """The outcome that a winner of two items means."""
        if said is None or said == "":
            raise Odd("no winner")
        if said in MISSING and said not in (first, second, *self._meanings):
            raise Odd(f"winner {said!r} stands for a missing value; leave out the rows that nobody answered")
        if self._meanings:
            if said not in self._meanings:
                raise Odd(
                    f"winner {said!r} is none of {', '.join(self._meanings)}; say what it means, too (--winners)"
                )
            return self._meanings[said]
        if said in (first, second) or said in OUTCOMES:
            return winner_outcome(said, first, second)
        self.words[said] = found = winner_outcome(said, first, second, self._items)
        return found


def winner_outcome(said: str, first: str | None, second: str | None, items: Collection[str] = ()) -> str:
    """Outcome that a winner names: first, second or tie.

    Parameters
    ----------
    said, first, second : str
        The winner and the two items.
    items : collection of str
        Words of outcomes that are items of the table, in lower case, and so say nothing else.

    Raises
    ------
    Odd
        It says none of them, or may say two.

    Examples
    --------
    >>> winner_outcome("x", "x", "y"), winner_outcome("model_b", "x", "y"), winner_outcome("Tie", "x", "y")
    ('first', 'second', 'tie')
    """
    by_item = "first" if said == first else "second" if said == second else None
    if by_item is not None:
        if said in OUTCOMES and said != by_item:
            raise Odd(
                f"winner {said!r} may mean the outcome {said!r} or the item of that name; rename the item"
            )
        return by_item
    word = said.strip().lower()
    meant = OUTCOME_WORDS.get(word)
    if meant is None or (word in items and said not in OUTCOMES):
        if near := next((item for item in (first, second) if item and item.strip().lower() == word), None):
            spaced = said.strip() == near
            raise Odd(
                f"winner {said!r} {'has white space at an end; remove it' if spaced else 'is no item'}"
                + ("" if spaced else f"; write it as the item {near!r}")
            )
        raise Odd(
            f"winner {said!r} is neither first, second, tie nor one of the two items {first!r}, {second!r}"
            f" (--winners {said}=first or the like says what it means)"
        )
    return meant


def roles_of(source: Source, options: FormatOptions) -> tuple[dict[str, str], dict[str, str]]:
    """Columns of voirdire's to those of a file: all that are used, and those of them that were asked for."""
    given = dict(options.map or {})
    free = tuple(name for name in source.columns() if name not in given.values())
    known = (*given, "judge") if options.judge else given
    found = {column: name for column, name in find_roles(free, known).items() if column not in given}
    if options.judge and found.get("judge", "judge") != "judge":
        del found["judge"]  # a column of another name is not taken for who judged where that is said
    if "item" in found and names_contexts(source, found | given):
        of_rows = found.pop("item")
        found = {"context": of_rows} | found
        if "rank" in found and "system" in found:
            found["item"] = found.pop("system")  # which is what is ranked
    return found | given, given
