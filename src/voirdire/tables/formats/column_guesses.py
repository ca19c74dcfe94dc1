"""Guesses at the meaning of a table's columns by the content of their cells, and columns that are no answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from voirdire.tables.columns import ANSWER_COLUMNS, NEEDED_COLUMNS, name_pattern
from voirdire.tables.formats.column_samples import (
    MAX_CLASSES,
    ColumnSample,
    first_determines_second,
    is_covariate_name,
    is_key,
)
from voirdire.tables.formats.listed_answers import is_mean_name
from voirdire.tables.formats.rows import number_or_none
from voirdire.tables.formats.source import Source
from voirdire.tables.formats.vote_suggestions import COUNT_NAME

_NEEDED_COLUMNS = frozenset(name for names in NEEDED_COLUMNS.values() for name in names)
_POSITION_OUTCOMES = frozenset({"first", "second"})
_SCORE_NAME = name_pattern("score")
_MAX_HEADER_LINES = 6  # first lines that are searched for a header
_PERSON_NAME = re.compile(r"e-?mail(?: address)?|response ?id|(?:respondent|participant|prolific).*", re.IGNORECASE)
_FORM_NAME = re.compile(r"(?:your |full )*name|token", re.IGNORECASE)  # of a person, in the export of a form


def is_chains(column: ColumnSample) -> bool:
    """True if the cells are rankings such as ``a>b=c``."""
    marked = [value for value in column.values if re.fullmatch(r"[^<>]+(?:>[^<>]+)+", value)]
    return 0 < len(column.values) == len(marked)


def columns_of_objects(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Columns with an object or a list in a record."""
    cells = ((name, cell) for record in records for name, cell in record.items())
    return list(dict.fromkeys(name for name, cell in cells if isinstance(cell, list | dict)))


def columns_with_shared_words(words: Sequence[ColumnSample]) -> list[ColumnSample]:
    """The largest set of columns that share words with one of them."""
    return max(
        ([column for column in words if {*column.values} & {*reference.values}] for reference in words),
        key=len,
        default=[],
    )


def quoted_names(columns: Sequence[ColumnSample]) -> str:
    """The names of some columns, for a message."""
    return ", ".join(repr(column.name) for column in columns[:6]) + (", ..." if len(columns) > 6 else "")


@dataclass(frozen=True)
class UnknownTable:
    """A table of unknown kind by its first rows, and the columns whose roles are known by their names."""

    source: Source
    records: Sequence[Mapping[str, Any]]
    columns: Sequence[ColumnSample]
    roles: Mapping[str, str]

    @cached_property
    def free(self) -> list[ColumnSample]:
        """Columns without a role that are no keys."""
        return [column for column in self.columns if column.name not in self.roles.values() and not is_key(column.name)]

    @cached_property
    def numeric(self) -> list[ColumnSample]:
        """Free columns of numbers."""
        return [column for column in self.free if column.numeric]

    @cached_property
    def scored(self) -> list[ColumnSample]:
        """Columns of numbers that may be answers."""
        scored = [
            column for column in self.numeric if not is_covariate_name(column.name) and not self.is_determined(column)
        ]
        return [column for column in scored if not is_mean_name(column.name)] or scored

    @cached_property
    def likely_scores(self) -> list[ColumnSample]:
        """The only column that may hold scores, or those with a name for scores."""
        named = [column for column in self.scored if _SCORE_NAME.search(column.name)]
        return self.scored if len(self.scored) == 1 else named

    @cached_property
    def words(self) -> list[ColumnSample]:
        """Free columns of classes that may be answers."""
        return [c for c in self._classes if not (is_chains(c) or is_covariate_name(c.name) or c.name in self.objects)]

    @cached_property
    def objects(self) -> list[str]:
        """Columns with an object or a list in a record."""
        return columns_of_objects(self.records)

    @property
    def _classes(self) -> list[ColumnSample]:
        return [c for c in self.free if c.is_categorical and not c.numeric and c.different > 1]

    @property
    def answers(self) -> set[str]:
        """Roles of answers that columns have."""
        return {*ANSWER_COLUMNS.values()} & self.roles.keys()

    @property
    def names_items(self) -> bool:
        """True if columns name the items."""
        return "item" in self.roles or {"context", "system"} <= self.roles.keys()

    @property
    def names_pairs(self) -> bool:
        """True if columns name the two items of a vote."""
        return {"first", "second"} <= self.roles.keys()

    @property
    def judge_option(self) -> str:
        """The option that names the judge, if no column does."""
        return "" if "judge" in self.roles else " --set judge=NAME"

    @property
    def is_headerless(self) -> bool:
        """True if at least two columns, and a third of all, of a text table hold their own names."""
        self_named = {name for record in self.records for name, cell in record.items() if str(cell) == name}
        is_text = self.source.kind in ("csv", "xlsx")
        return is_text and len(self_named) > 1 and 3 * len(self_named) >= len(self.source.columns())

    def header_below(self) -> str:
        """Sentence about a line below the first that holds names of voirdire's columns; empty without one."""
        if self.source.kind not in ("csv", "xlsx"):
            return ""
        numbered = list(islice(self.source.rows(), _MAX_HEADER_LINES))
        described = [line for line, row in numbered if any('{"ImportId"' in str(cell) for cell in row)]
        if described:
            return f"line {described[0]} holds Qualtrics' own names: delete lines 2 to {described[0]}"
        for line, row in numbered[1:]:
            if not self.source.columns() and any(cell not in (None, "") for cell in row):
                return f"line {line} is the first that is not empty: if it names the columns, delete what is above it"
            cells = [cell for cell in row if isinstance(cell, str) and cell in _NEEDED_COLUMNS]
            if len(set(cells)) > 1 and not _POSITION_OUTCOMES.issuperset(cells):  # an answer may be called first
                remedy = f"delete lines 1 to {line - 1}" if line > 2 else "delete line 1"
                return f"line {line} holds {' and '.join(map(repr, cells))}: if it names the columns, {remedy}"
        return ""

    def names_of_rows_and_columns(self) -> str | None:
        """A column whose cells are names of other columns, as in a matrix of pairs; None without one."""
        names = {column.name for column in self.columns}
        keys = (column for column in self.columns if len(column.values) > 1 and column.different == column.filled)
        return next((column.name for column in keys if {*column.values} <= names - {column.name}), None)

    def evidence_of_counts(self) -> str:
        """Evidence that columns of whole numbers are counts, as the begin of a sentence; empty without any."""
        if len(self.numeric) < 2:
            return ""
        rows = [[number_or_none(record.get(column.name)) for column in self.numeric] for record in self.records]
        if any(number is None or number < 0 or number != int(number) for row in rows for number in row):
            return ""
        if all(COUNT_NAME.search(column.name) for column in self.numeric):
            return f"{quoted_names(self.numeric)} are called as counts are"
        totals = {sum(int(number or 0) for number in row) for row in rows}
        if len(rows) > 1 and len(totals) == 1 and any(0 in row for row in rows):
            return f"every row of {quoted_names(self.numeric)} adds up to {totals.pop()}"
        return ""

    def cells(self, *names: str) -> list[tuple[str, ...]]:
        """The cells of some columns in each record."""
        return [tuple(str(record.get(name)) for name in names) for record in self.records]

    def roles_among(self, *roles: str) -> list[str]:
        """The columns of some roles."""
        return [self.roles[role] for role in roles if role in self.roles]

    def person_of_rows(self, answers: Sequence[ColumnSample]) -> str | None:
        """The column that names the respondent, if each row has another name in it; None without one."""
        in_brackets = bool(answers) and all(column.name.endswith("]") for column in answers)
        is_form = in_brackets or any(column.name.lower() == "timestamp" for column in self.columns)
        are_rows = in_brackets and len({column.name.rpartition("[")[0] for column in answers}) < len(answers)
        names = [column.name for column in self.columns if 1 < column.different == column.filled and not column.empty]
        persons = [name for name in names if name == self.roles.get("judge") or _PERSON_NAME.fullmatch(name)]
        persons += [name for name in names if is_form and _FORM_NAME.fullmatch(name)]
        return next(iter([*persons, *(name for name in names if are_rows and is_key(name))]), None)

    def repeated_key(self) -> str | None:
        """A column with repeated values and an identifier's name, else one whose values differ within each judge."""
        columns = [column for column in self.columns if 1 < column.different < column.filled]
        free = [column.name for column in columns if column.name not in self.roles.values()]
        if keys := [name for name in free if is_key(name)]:
            return keys[0]
        subject = self.roles_among("judge", "system")
        return next((name for name in free if _are_distinct(self.cells(*subject, name))), None)

    def criterion_of_repeats(self) -> str | None:
        """A column of classes that distinguishes a judge's repeated answers to an item; None if not needed or found."""
        subject = self.roles_among("judge", "item", "context", "system", "run")
        if "judge" not in self.roles or "criterion" in self.roles or _are_distinct(self.cells(*subject)):
            return None
        return next((column.name for column in self._classes if _are_distinct(self.cells(*subject, column.name))), None)

    def is_determined(self, column: ColumnSample, item: str = "") -> bool:
        """True if the judge determines a column, such as an age, or the item determines many values or fractions."""
        if column.different < 2 or "judge" not in self.roles:
            return False
        names = self.roles_among("judge")
        if column.different > MAX_CLASSES or not all(isinstance(number_or_none(value), int) for value in column.values):
            names += [item, *self.roles_among("context")] if item else self.roles_among("item", "context")
        return any(first_determines_second(self.cells(name, column.name)) for name in names)


def _are_distinct(rows: Sequence[tuple[str, ...]]) -> bool:
    return len({*rows}) == len(rows)
