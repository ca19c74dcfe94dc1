"""Notes on repeated answers in a table, and on names that differ only in their spelling.

A second answer of a judge to a question counts as a further answer. That is right if the judge was asked again, but
wrong if a file was appended to itself or an answer was corrected. Questions are identified by voirdire's columns and by
further columns with at most half as many distinct cells as rows (a turn, a template); other further columns (a comment,
a row number) are ignored. Votes without contexts are not checked, because their prompts are unknown, so that a repeated
pair may be a new question. Rankings are not checked, because their rows are not answers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from voirdire.tables.answer_table import AnswerTable
from voirdire.tables.encode import IntArray
from voirdire.tables.formats.long_table import DEFAULT_JUDGE
from voirdire.tables.numbers import is_number
from voirdire.tables.problems import Problems
from voirdire.tables.read import columns_among, read_columns

if TYPE_CHECKING:
    import pandas as pd

#: Columns of a table that identify the question, the judge and the time.
_QUESTION_COLUMNS = (
    "judge", "criterion", "context", "system", "item", "first", "second", "order", "run", "phase", "time", "group",
)  # fmt: skip
#: Columns that describe the answer, not the question.
_ANSWER_COLUMNS = ("degree", "confidence", "weight", "text", "source", "id")
_MAX_SHOWN = 2  # pairs of names
_RUN_REMEDY = "number repeats in a column run"
#: Names of rows and columns of means or totals.
_SUMMARY = re.compile(r"(?:(?:grand|row|column|overall)[ _]?)?(?:totals?|means?|average|avg\.?|sum)", re.IGNORECASE)


def notes_on_answers(source: object, table: Any) -> list[str]:
    """Describe repeated answers in a table, and names that differ only in their spelling.

    Parameters
    ----------
    source : path, dataframe, result of read(), or a list of them
        Source of the table; a source that is a table read before gives no notes.
    table : Votes, Scores, Labels, Rankings or VotesAndScores

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> rows = pd.DataFrame({"judge": ["Ann", "ann"], "item": "x", "score": [1, 2]})
    >>> notes_on_answers(rows, read_scores(rows))
    ["Names that differ only in how they are written count as several: judges 'Ann' and 'ann'. Write each in one way."]
    """
    sources = source if isinstance(source, list | tuple) else [source]
    if any(isinstance(item, AnswerTable) for item in sources):
        return []
    notes = []
    for part in table.parts:
        if part.names_questions and _has_repeats(part):
            problems = Problems("table")
            matching_source = sources[0]
            if len(sources) > 1:
                matching_source = next(item for item in sources if columns_among(item, [part.answer], problems))
            cells = read_columns(matching_source, [*part.column_names], None, problems)
            notes += repeat_notes(cells, part.answer, part.answers)
    return [*notes, *name_notes(table.parts[0].names)]


def _has_repeats(table: Any) -> bool:
    """True where two rows have the same judge and question by voirdire's columns."""
    if table.judges == (DEFAULT_JUDGE,):
        return False
    key = np.array(table.unit_codes()["judge"], dtype=np.int64)
    for column in table.shown_codes:
        size = int(column.max(initial=0)) + 2
        if int(key.max(initial=0)) >= np.iinfo(np.int64).max // size - 1:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
        key = key * size + column + 1
    key.sort()
    return bool((key[1:] == key[:-1]).any())


def repeat_notes(
    cells: Mapping[str, Sequence[object]] | pd.DataFrame,
    answer: str,
    answers: Sequence[object] | NDArray[Any] | None = None,
) -> list[str]:
    """Describe rows that repeat an earlier answer, and contradictory answers of a judge to one question.

    Parameters
    ----------
    cells : mapping of str to sequence, or DataFrame
        All columns of a table of answers.
    answer : str
        The column of answers.
    answers : sequence, shape (rows,), optional
        The answers as read, where cells may write one answer in several ways.

    Examples
    --------
    >>> said = repeat_notes({"judge": ["a", "a", "a"], "item": ["x", "x", "x"], "score": [1, 1, 2]}, "score")
    >>> [sentence.partition(":")[0] for sentence in said]  # doctest: +NORMALIZE_WHITESPACE
    ['1 row repeats an earlier answer of its judge (row 2 that of row 1)',
     '1 question has different answers of one judge (rows 1 and 3']
    """
    import pandas as pd

    table: Any = pd.DataFrame(dict(cells))
    if not _names_questions(table, answer):
        return []
    question_columns = [name for name in _QUESTION_COLUMNS if name in table]
    repeated = table.duplicated(question_columns, keep=False).to_numpy()
    crossed = _items_of_systems(table)
    if not repeated.any():
        return crossed
    texts = {
        name: table[name].map(repr) for name in table if name not in (*_QUESTION_COLUMNS, *_ANSWER_COLUMNS, answer)
    }
    further = [name for name, text in texts.items() if text.nunique() <= len(table) / 2]
    repeated_rows = table[repeated].assign(**{name: texts[name][repeated] for name in further})
    groups = repeated_rows.groupby(question_columns + further, sort=False, dropna=False)
    group = groups.ngroup().to_numpy().astype(np.int64)
    words = [name for name in further if not table[name].map(is_number).any()]
    separating = [name for name in words if not repeated_rows.duplicated([*question_columns, name]).any()]
    if separating and len(np.unique(group)) == len(group):
        return [
            f"a judge's answers about one item differ in {separating[0]!r} alone, which no model reads: where it says "
            f"whose answers these are, --map system={separating[0]} makes each an item"
        ]
    values = table[answer].map(repr).to_numpy() if answers is None else np.asarray(answers)
    answer_codes = pd.factorize(values[repeated])[0].astype(np.int64)
    row_numbers = np.flatnonzero(repeated) + 1
    return [
        *crossed,
        *_copy_notes(group, answer_codes, row_numbers),
        *_contradiction_notes(repeated_rows, question_columns, answer, group, answer_codes, row_numbers),
    ]


def _names_questions(table: pd.DataFrame, answer: str) -> bool:
    if answer == "rank" or (answer == "winner" and "context" not in table):
        return False
    return "judge" in table and bool((table["judge"] != DEFAULT_JUDGE).any())


def _items_of_systems(table: pd.DataFrame) -> list[str]:
    """Describe items that several systems answered, as if items were questions."""
    if "context" in table or not {"item", "system"} <= {*table}:
        return []
    systems = table.groupby("item", sort=False)["system"].unique()
    several = systems[systems.map(len) > 1]
    if several.empty:
        return []
    shown = " and ".join(map(repr, several.iloc[0][:2]))
    return [
        f"Answers about the systems {shown} under item {several.index[0]!r} count as answers about one item "
        f"({len(several):,} items have several systems). If items are questions, --map context=item "
        "(map={'context': 'item'}) separates the systems."
    ]


def _copy_notes(group: IntArray, answer_codes: IntArray, row_numbers: IntArray) -> list[str]:
    """Describe rows with the question and the answer of an earlier row."""
    key = group * (answer_codes.max(initial=0) + 1) + answer_codes
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    copies = np.flatnonzero(first[inverse] != np.arange(len(key)))
    if not len(copies):
        return []
    count, position = len(copies), copies[0]
    rows = "1 row repeats an earlier answer" if count == 1 else f"{count:,} rows repeat earlier answers"
    return [
        f"{rows} of {'its judge' if count == 1 else 'their judges'} (row {row_numbers[position]:,} that of row "
        f"{row_numbers[first[inverse[position]]]:,}): each counts. Delete {'it' if count == 1 else 'them'}, or "
        f"{_RUN_REMEDY}."
    ]


def _contradiction_notes(
    repeated_rows: pd.DataFrame,
    question_columns: list[str],
    answer: str,
    group: IntArray,
    answer_codes: IntArray,
    row_numbers: IntArray,
) -> list[str]:
    """Describe questions with different answers of one judge."""
    first = np.unique(group, return_index=True)[1]
    different = np.flatnonzero(answer_codes != answer_codes[first[group]])
    questions = len(np.unique(group[different]))
    if not questions:
        return []
    later, earlier = different[0], first[group[different[0]]]
    row = repeated_rows.iloc[earlier]
    columns = [
        name
        for name in ("judge", "criterion", "context", "system", "item", "first", "second")
        if name in question_columns
    ]
    question = ", ".join(f"{name} {row[name]!r}" for name in columns)
    sets = "; where several labels apply, --label-sets rows says so" if answer == "label" else ""
    return [
        f"{'1 question has' if questions == 1 else f'{questions:,} questions have'} different answers of one judge "
        f"(rows {row_numbers[earlier]:,} and {row_numbers[later]:,}: {question}, {answer} {row[answer]} and "
        f"{repeated_rows[answer].iloc[later]}): each counts. Keep one, or {_RUN_REMEDY}{sets}."
    ]


def name_notes(names: Mapping[str, Iterable[object]]) -> list[str]:
    """Describe names that differ only in their spelling, and names of totals; no sentence without such names.

    Parameters
    ----------
    names : mapping of str to iterable
        Names by what they name, such as ``judges``.

    Examples
    --------
    >>> name_notes({"judges": ["gpt", "GPT", "llama"], "items": ["a", "b"]})[0].partition(": ")[2]
    "judges 'GPT' and 'gpt'. Write each in one way."
    """
    parts = []
    for kind, kind_names in names.items():
        twins = near_duplicates(list(kind_names))
        remainder = f" and {len(twins) - _MAX_SHOWN:,} more" if len(twins) > _MAX_SHOWN else ""
        parts += [f"{kind} {'; '.join(twins[:_MAX_SHOWN])}{remainder}"] if twins else []
    notes = [
        f"Names that differ only in how they are written count as several: {', '.join(parts)}. Write each in one way."
    ]
    return (notes if parts else []) + _summary_notes(names)


def _summary_notes(names: Mapping[str, Iterable[object]]) -> list[str]:
    """Describe judges and items with names of rows or columns of means or totals."""
    parts = []
    for kind in ("judges", "items"):
        summaries = dict.fromkeys(str(name) for name in names.get(kind, ()) if _SUMMARY.fullmatch(str(name).strip()))
        parts += [f"{kind} {' and '.join(map(repr, list(summaries)[:_MAX_SHOWN]))}"] if summaries else []
    if not parts:
        return []
    return [f"Means and totals of others count as further judges or items: {', '.join(parts)}. Delete them."]


def near_duplicates(names: Sequence[object]) -> list[str]:
    """Find names that differ only in case, white space, invisible characters, or zeros of numbers.

    Examples
    --------
    >>> near_duplicates(["a b", "c", "A  b", "1", "1.0", "1.5", "1.50", "\\u200bc"])
    ["'1' and '1.0'", "'A  b' and 'a b'", "'c' and '\\\\u200bc'"]
    """
    texts = {*map(str, names)}
    plain_names = [_plain_name(text) for text in texts]
    if len(set(plain_names)) == len(plain_names):
        return []
    by_plain: dict[str, list[str]] = {}
    for text, plain_name in zip(texts, plain_names, strict=True):
        by_plain.setdefault(plain_name, []).append(text)
    return sorted(" and ".join(map(repr, sorted(spellings))) for spellings in by_plain.values() if len(spellings) > 1)


#: A whole number with optional zeros, which programs add or remove: 1 is also 01 and 1.0.
_WHOLE_NUMBER = re.compile(r"0*(\d+?)(?:\.0*)?")


def _plain_name(text: str) -> str:
    if not text.isascii():
        text = "".join(letter for letter in text if unicodedata.category(letter) != "Cf")
    number = _WHOLE_NUMBER.fullmatch(text)
    return " ".join(text.split()).casefold() if number is None else number[1]
