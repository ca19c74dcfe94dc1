"""Rows of several items with columns of their own, as ``model_a, model_b, score_a, score_b``: a row each, or votes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, takewhile
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.columns import ANSWER_COLUMNS, find_roles, list_names
from voirdire.tables.formats.column_guesses import columns_of_objects
from voirdire.tables.formats.column_samples import first_records, is_covariate_name, is_key, summarise_columns
from voirdire.tables.formats.format import FormatOptions
from voirdire.tables.formats.listed_answers import are_unique, line_of, list_columns, list_of_cell
from voirdire.tables.formats.long_table import DEFAULT_JUDGE, missing_judge_note
from voirdire.tables.formats.ranking_table import rank_or_none
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import UNKNOWN, Odd, number_or_none
from voirdire.tables.formats.source import Source

_WORD = re.compile(r"\d+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+")
_WORD_MARKS = (("left", "right"), ("first", "second"))
_OUTCOME_MARKS = (("chosen", "rejected"), ("preferred", "rejected"), ("winner", "loser"), ("winning", "losing"))
_NAMING_ROLES = ("system", "item")
_TEXT_ENDS = ("answer", "response", "completion", "output", "text", "summary", "translation")
_SUBJECT_ROLES = ("judge", "context", "criterion", "run")
_VOTE_COLUMNS = ("first", "second", "winner")


def sided_columns(columns: Sequence[str]) -> tuple[tuple[str, ...], dict[str, list[str]]]:
    """Marks of the items of a row, and the columns of each kind in the order of the marks; empty without such columns.

    Names that differ in one number, letter, or two words such as left and right are of one kind.

    Examples
    --------
    >>> sided_columns(["question", "model_a", "model_b", "score_a", "score_b"])
    (('a', 'b'), {'model': ['model_a', 'model_b'], 'score': ['score_a', 'score_b']})
    >>> sided_columns(["system1Id", "system2Id", "system1rank", "system2rank"])[1]["system_rank"]
    ['system1rank', 'system2rank']
    """
    kinds: dict[tuple[str, ...], dict[str, str]] = {}
    for column in columns:
        words = _WORD.findall(column)
        for index, word in enumerate(words):
            kinds.setdefault((*words[:index], "", *words[index + 1 :]), {})[word.lower()] = column
    by_marks: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for key, members in kinds.items():
        if marks := _marks_among(members):
            name = "_".join(filter(None, key)) or "item"
            by_marks.setdefault(marks, {})[name] = [members[mark] for mark in marks]
    return max(by_marks.items(), key=lambda entry: len(entry[1]), default=((), {}))


def _marks_among(words: Collection[str]) -> tuple[str, ...]:
    """The most marks in words: numbers from 0 or 1 on, the first letters, or two words such as left and right."""
    counted = [[str(start + index) for index in range(len(words))] for start in (0, 1)]
    series = (*counted, "abcdefghijklmnopqrstuvwxyz", *_WORD_MARKS, *_OUTCOME_MARKS)
    marks = max((tuple(takewhile(words.__contains__, marks)) for marks in series), key=len)
    return marks if len(marks) > 1 else ()


@dataclass(frozen=True)
class SidedTable:
    """Columns of a table whose rows hold several items.

    Attributes
    ----------
    marks : tuple of str
        Marks of the items of a row.
    sides : dict of str to list of str
        Kinds of columns, each with the column of every item.
    naming : str
        The kind that names the items; empty if their marks do.
    item_role : "item" or "system"
        What is named.
    answers : tuple of str
        The kinds that hold answers, or the column with a list of them; empty if the first item is the better one.
    kind : "scores", "rankings", "labels" or "votes"
    """

    marks: tuple[str, ...]
    sides: dict[str, list[str]]
    naming: str
    item_role: str
    answers: tuple[str, ...]
    kind: str

    @property
    def answer_columns(self) -> list[str]:
        """Columns of answers."""
        return [column for name in self.answers for column in self.sides.get(name, [name])]

    @property
    def naming_columns(self) -> list[str]:
        """Columns of names of items."""
        return self.sides.get(self.naming, [])

    @property
    def columns(self) -> list[str]:
        """Columns of the items, and of lists of their answers."""
        return list(dict.fromkeys([*self.answer_columns, *(name for names in self.sides.values() for name in names)]))

    def cells(self, record: Record, kind: str) -> list[Any]:
        """The cells of all items of a record, or its list of answers; raises Odd for a list of another length."""
        if not kind:
            return [*range(len(self.marks), 0, -1)]
        if kind in self.sides:
            return [record.get(column) for column in self.sides[kind]]
        cell, size = record.get(kind), len(self.marks)
        answers = [None] * size if cell in (None, "") else list_of_cell(cell) or []
        if len(answers) != size:
            raise Odd(f"{kind} {cell!r} is no list of {size} answers")
        return answers


def sided_table(source: Source, options: FormatOptions) -> SidedTable | None:
    """Find the items of a row, their names and answers; None if there are none, or several columns may name them."""
    marks, sides = sided_columns(source.columns())
    records, columns = first_records(source), [*source.columns()]
    kind_of_column = {column: kind for kind, columns in sides.items() for column in columns}
    samples = {column.name: column for column in summarise_columns(columns, records)}
    numeric = [kind for kind in sides if all(samples[column].numeric for column in sides[kind])]
    mapped = {kind_of_column[name]: role for role, name in (options.map or {}).items() if name in kind_of_column}
    roles = {kind: role for kind in sides if (role := _role_of_name(kind)) not in ("", *mapped.values())} | mapped
    chosen = list(dict.fromkeys(kind_of_column.get(column, column) for column in options.columns))
    ranked = [kind for role in ("rank", "score") for kind in sides if roles.get(kind) == role][:1]
    lists = [name for name in list_columns(records, words=False) if _role_of_name(name) in ("rank", "score")][:1]
    numbers = [kind for kind in numeric if kind not in roles and not is_covariate_name(kind) and not is_key(kind)]
    answers = chosen or ranked or lists or numbers
    objects = {*columns_of_objects(records)}
    names = [kind for kind in sides if kind not in answers and objects.isdisjoint(sides[kind])]
    texts = [kind for kind in names if kind not in numeric]
    named = (
        [kind for role in _NAMING_ROLES for kind in names if roles.get(kind) == role]
        or [kind for end in _TEXT_ENDS for kind in texts if kind.lower().endswith(end)]
        or (texts if len(texts) < 2 else [])
        or [kind for kind in names if is_key(kind)]
    )
    by_outcome = marks in _OUTCOME_MARKS and options.table in ((None, "votes") if not answers else ("votes",))
    if not {*chosen} <= {*sides, *samples} or not (answers or by_outcome) or (not named and (texts or by_outcome)):
        return None
    answer_roles = {roles.get(kind, _role_of_name(kind)) for kind in answers}
    are_scores = answer_roles == {"score"} or {*answers} <= {*numeric, *lists}
    kind = "rankings" if "rank" in answer_roles else "scores" if are_scores else "labels"
    item_role = "system" if not named or roles.get(named[0]) == "system" else "item"
    return SidedTable(marks, sides, [*named, ""][0], item_role, tuple(answers), kind if answers else "votes")


def _role_of_name(kind: str) -> str:
    """Role of the name of a kind of columns, or of the name without its first word: system of ``answer_model_id``."""
    return next((role for name in (kind, kind.partition("_")[2]) for role in find_roles([name])), "")


def spread_sides(source: Source, options: FormatOptions) -> FormatOptions:
    """Make each item of a row a row, or each two of them a vote for the better; return the options for these rows.

    Without a column for what was asked, systems are compared in the context of a key, else of their line.

    Raises
    ------
    InputError
        No columns are those of several items and their answers, or several may name the items.
    """
    table = sided_table(source, options)
    if table is None:
        raise InputError(
            f"{source.name}: no columns are names and answers of several items, as model_a, model_b, score_a and "
            f"score_b are; it has {list_names(source.columns())} (--columns chooses the answers, --map item=COLUMN the "
            "first of those that name the items)"
        )
    as_votes = (options.table or table.kind) == "votes"
    kind = table.kind if table.kind == "rankings" and not as_votes else options.table or table.kind
    others = [name for name in source.columns() if name not in table.columns]
    roles = _roles_of_others(others, options)
    further = {name: columns for name, columns in table.sides.items() if name not in (table.naming, *table.answers)}
    if as_votes:
        new, kept = [*_VOTE_COLUMNS], [*others, *(name for name in table.columns if name not in table.naming_columns)]
        of_row = {"order": UNKNOWN} if len(table.marks) > 2 or table.marks in _OUTCOME_MARKS else {}
    else:
        new, kept = ["item" if kind == "rankings" else table.item_role, ANSWER_COLUMNS[kind]], others
        line_role = _complete_context(source, others, roles, new) if table.item_role == "system" else ""
        of_row = {line_role: ""} if line_role else {}
    new += [*of_row, *(["criterion"] if len(table.answers) > 1 else [])]
    names = {name: f"row {name}" if name in new else name for name in kept}

    def rows_of_answer(record: Record, answer: str) -> Iterator[Record]:
        items = table.cells(record, table.naming) if table.naming else table.marks
        answers = enumerate(zip(items, table.cells(record, answer), strict=True))
        answered = [(index, item, cell) for index, (item, cell) in answers if cell not in (None, "")]
        if as_votes or kind == "rankings":
            numbers = {index: _number(cell, is_rank=table.kind == "rankings") for index, _, cell in answered}
        if as_votes:
            for (index, first, _), (second_index, second, _) in combinations(answered, 2):
                difference = numbers[index] - numbers[second_index]
                winner = "first" if difference > 0 else "second" if difference else "tie"
                yield dict(zip(_VOTE_COLUMNS, (first, second, winner), strict=True))
            return
        for index, item, cell in answered:
            if kind == "rankings" != table.kind:
                cell = 1 + sum(number > numbers[index] for number in numbers.values())
            yield {name: record.get(columns[index]) for name, columns in further.items()} | {new[0]: item, new[1]: cell}

    def spread(record: Record, place: str) -> Iterator[Record]:
        cells = {names[name]: record.get(name) for name in kept}
        cells |= {name: cell or line_of(source, place) for name, cell in of_row.items()}
        for answer in table.answers or ("",):
            criterion = {"criterion": answer} if len(table.answers) > 1 else {}
            yield from [cells | criterion | row for row in rows_of_answer(record, answer)]

    empty = sum(cell in (None, "") for _, *row in source.cells(*table.answer_columns) for cell in row)
    source.transform_records(spread)
    source.notes += _notes(source, table, options, roles, empty, as_votes)
    if {"context", "run"} & of_row.keys():
        source.notes.append(f"{source.name}: what was asked is named by the line of a row (--map context=COLUMN)")
    judge = options.judge or (None if "judge" in roles else DEFAULT_JUDGE)
    mapping = roles | {name: name for name in new}
    return replace(options, wide=None, columns=(), table=kind, map=mapping, judge=judge)


def _roles_of_others(others: Sequence[str], options: FormatOptions) -> dict[str, str]:
    """Roles of the columns that are of a whole row; an item of a whole row is the context of its items."""
    mapped = {role: name for role, name in (options.map or {}).items() if name in others}
    roles = find_roles([name for name in others if name not in mapped.values()])
    roles = ({"context": roles["item"]} if "item" in roles else {}) | roles
    return {role: roles[role] for role in _SUBJECT_ROLES if role in roles} | mapped


def _complete_context(source: Source, others: Sequence[str], roles: dict[str, str], new: Sequence[str]) -> str:
    """Add a key as context if there is none; return the role of the line of a row, or empty if a context is enough."""
    judge = [roles["judge"]] if "judge" in roles else []
    if "context" not in roles and (
        key := next((name for name in others if is_key(name) and are_unique(source, [*judge, name])), None)
    ):
        roles["context"] = key
    if "system" in new:
        return "" if "context" in roles else "context"
    known = "run" in roles or ("context" in roles and are_unique(source, [*judge, roles["context"]]))
    return "" if known else "run"


def _number(cell: Any, *, is_rank: bool) -> float:
    """The number of an answer, the higher the better."""
    number = rank_or_none(cell) if is_rank else number_or_none(cell)
    if number is None:
        what = "rank, a whole number from 1" if is_rank else "number"
        raise Odd(f"{cell!r} is no {what}; leave it empty where there is none")
    return -number if is_rank else number


def _notes(
    source: Source, table: SidedTable, options: FormatOptions, roles: Mapping[str, str], empty: int, as_votes: bool
) -> Iterator[str]:
    """Notes on what was taken for items, names and answers."""
    named = f"named by {list_names(table.naming_columns)}" if table.naming else "named by their place"
    yield f"{source.name}: each row holds {len(table.marks)} items ({', '.join(table.marks)}), {named}"
    if table.answers:
        yield f"{source.name}: their answers are in {list_names(table.answer_columns)}"
    if as_votes:
        better = f"the {table.marks[0]} item wins; by how much, and the order shown, are not known"
        if table.answers:
            of_answer = "lower rank" if table.kind == "rankings" else "higher score"
            better = f"the item with the {of_answer} wins, equal ones tie; the votes do not hold by how much"
        yield f"{source.name}: {better}"
        if len(table.marks) > 2:
            yield f"{source.name}: the votes of a row are not independent of each other, and their order is not known"
    taken = [f"{name!r} as {role}" for role, name in roles.items() if role != name]
    if taken:
        yield f"{source.name}: columns are taken for voirdire's: {', '.join(taken)}"
    if "judge" not in roles and options.judge is None and not options.unnamed:
        yield missing_judge_note(source.name)
    if empty:
        yield f"{source.name}: {empty} empty cells: not asked"
