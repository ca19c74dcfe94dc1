"""Counts of labels: each counted answer becomes a row, with random numbers for the raters of an item.

Numbers in the order of the labels would make rater 1 look like a judge who prefers the first label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any
from zlib import crc32

from voirdire.errors import InputError
from voirdire.tables.columns import COLUMN_WORDS, normalise_column_name
from voirdire.tables.formats.format import FormatOptions, guarded_rows, read_records
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Columns, Label, Note, Odd, Row, name_text, number_or_none, with_further_cells
from voirdire.tables.formats.source import Source
from voirdire.tables.formats.table_rows import Subjects

MAX_COUNTED_ANSWERS = 1_000_000  # answers of a file; each becomes a row
#: Note on unnamed raters.
RANDOM_RATERS_NOTE = (
    "the raters are not named: they are numbered by lot within each item, so that nothing is known of single judges "
    "or pairs of them"
)
_SUBJECT_FIELDS = tuple(name for name in Label._fields if name not in ("judge", "label"))


class Counted:
    """Reader of the counts of a file, with their total.

    Examples
    --------
    >>> Counted("a.csv").read("3"), Counted("a.csv").read("")
    (3, 0)
    """

    def __init__(self, file_name: str) -> None:
        self._called = file_name
        self._all = 0

    def read(self, cell: object) -> int:
        """Read the count in a cell; an empty cell is 0.

        Raises
        ------
        Odd
            The cell is no count.
        InputError
            The file counts more than `MAX_COUNTED_ANSWERS` answers.
        """
        count = 0 if cell in (None, "") else number_or_none(cell)
        if count is None or isinstance(cell, bool) or count < 0 or count != int(count):
            raise Odd(f"{cell!r} is no count of answers, a whole number from 0")
        self._all += int(count)
        if self._all > MAX_COUNTED_ANSWERS:
            raise InputError(
                f"{self._called}: it counts more than {MAX_COUNTED_ANSWERS:,} answers, each of which would be a row; "
                "take some of the items (--where)"
            )
        return int(count)


def random_rater_numbers(counts: Mapping[str, int], subject: Sequence[object]) -> dict[str, list[int]]:
    """Draw the numbers of the raters who gave each label of an item, with the names of the subject as random seed.

    Parameters
    ----------
    counts : mapping
        Number of answers by label; the order of labels does not matter.
    subject : sequence
        The item and the further names that the counts belong to.

    Examples
    --------
    >>> random_rater_numbers({"yes": 3, "no": 1}, ["x"]) == random_rater_numbers({"no": 1, "yes": 3}, ["x"])
    True
    >>> sorted(sum(random_rater_numbers({"yes": 3, "no": 1}, ["x"]).values(), []))
    [1, 2, 3, 4]
    """
    numbers = [*range(1, sum(counts.values()) + 1)]
    Random(crc32(repr(tuple(subject)).encode("utf-8", "backslashreplace"))).shuffle(numbers)
    drawn = iter(numbers)
    return {label: sorted(next(drawn) for _ in range(counts[label])) for label in sorted(counts)}


def count_column(columns: Sequence[str], used: Mapping[str, str]) -> str | None:
    """The column with the counts of labels in a table without judges; None if there is none.

    Examples
    --------
    >>> count_column(["item", "label", "n"], {"item": "item", "label": "label"})
    'n'
    """
    names_item = {"item"} <= used.keys() or {"context", "system"} <= used.keys()
    if "judge" in used or "label" not in used or not names_item:
        return None
    free = [
        name for name in columns if name not in used.values() and normalise_column_name(name) in COLUMN_WORDS["counts"]
    ]
    return free[0] if len(free) == 1 else None


def label_rows_from_counts(
    source: Source, options: FormatOptions, used: Mapping[str, str], counts: str
) -> Iterator[Row]:
    """Give one label row for each counted answer.

    Raises
    ------
    InputError
        The options name one judge or say that people are unnamed, although counts have several raters.
    """
    if options.judge is not None or options.unnamed:
        numbered = "leave --set judge out, so that raters are numbered"
        remedy = "write a row for each answer" if options.unnamed else numbered
        raise InputError(
            f"{source.name}: column {counts!r} counts the answers of several: {remedy}, or rename the column"
        )
    places = {name: used[name] for name in _SUBJECT_FIELDS if name in used}
    used_columns = (*places.values(), used["label"], counts)
    further_names = {name: name for name in source.columns() if name not in used_columns}
    _check_no_row_numbers(source, counts)
    counted = Counted(source.name)
    counts_of_subject: dict[tuple[object, ...], Counter[str]] = {}
    waiting: list[tuple[str, dict[str, Any], str | None, int, dict[str, Any]]] = []
    subjects = Subjects(source, places, further_names)

    def read_record(record: Record, place: str) -> Iterator[Row]:
        about = subjects.names(record)
        cell = record.get(counts)
        if cell in (None, ""):
            raise Odd(f"{counts} is empty; write 0 where nobody gave the label")
        try:
            count = counted.read(cell)
        except Odd as odd:
            raise Odd(f"{counts} {odd}") from None
        label = name_text(record.get(used["label"])) or None
        counts_of_subject.setdefault(tuple(about.values()), Counter())[label or ""] += count
        waiting.append((place, about, label, count, subjects.further(record)))
        return iter(())

    yield Columns("labels", ("judge", *places, "label", *further_names))
    yield from read_records(source.records(), read_record)
    raters = {about: random_rater_numbers(labels, about) for about, labels in counts_of_subject.items()}

    def answers_of_raters(
        subject: Mapping[str, Any], label: str | None, count: int, further: dict[str, Any]
    ) -> Iterator[Row]:
        free = raters[tuple(subject.values())][label or ""]
        for rater in [free.pop(0) for _ in range(count)]:
            yield with_further_cells(Label(f"rater {rater}", label=label, **subject), further)

    for place, *about_counts in waiting:
        yield from guarded_rows(place, answers_of_raters, *about_counts)
    yield Note(f"{source.name}: column {counts!r} counts answers; {RANDOM_RATERS_NOTE}")


def _check_no_row_numbers(source: Source, counts: str) -> None:
    """Raise if a column numbers the rows."""
    cells = [number_or_none(cell) for _, cell in source.cells(counts)]
    if len(cells) > 2 and any(cells == list(range(start, start + len(cells))) for start in (0, 1)):
        raise InputError(
            f"{source.name}: column {counts!r} numbers the rows, so that it counts no answers; rename it, and say who "
            "judged (--map judge=COLUMN, or --set judge=NAME)"
        )
