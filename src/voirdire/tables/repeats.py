"""Answers that stand twice in a table, and names that are one but for how they are written.

A second answer of a judge to a question counts as a further one, as it should where the judge was asked again; where a
file was appended to itself, or an answer was corrected, it should not. What tells questions apart are voirdire's
columns, and further ones with no more than half as many different cells as rows (a turn, a template); one with more
(a comment, the number of a row) says nothing of it. Votes without contexts are about questions that nobody names, such
as prompts: that a judge compares the same items again says nothing there, and neither do rankings, whose rows are no
answers.
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

#: Columns of a table that say what was asked of whom, and when.
_ASKED = (
    "judge", "criterion", "context", "system", "item", "first", "second", "order", "run", "phase", "time", "group",
)  # fmt: skip
#: Columns that say how an answer was given, not to what.
_SAID = ("degree", "confidence", "weight", "text", "source", "id")
_SHOWN = 2  # pairs of names
_RUN = "number repeats in a column run"
#: Names of rows and columns of means or totals.
_SUMMARY = re.compile(
    r"(?:(?:grand|row|column|overall)[ _]?)?(?:totals?|means?|average|avg\.?|sum)", re.IGNORECASE
)


def notes_on_answers(source: object, table: Any) -> list[str]:
    """Sentences about answers that stand twice in a table, and about names that are one but for how they are written.

    Parameters
    ----------
    source : path, dataframe, what read() gave, or a list of them
        What the table was read from; nothing is said of one that had been read before.
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
    if any(isinstance(one, AnswerTable) for one in sources):
        return []
    found = []
    for part in table.parts:
        if part.names_questions and _has_repeats(part):
            problems = Problems("table")
            of = sources[0]
            if len(sources) > 1:
                of = next(one for one in sources if columns_among(one, [part.answer], problems))
            cells = read_columns(of, [*part.column_names], None, problems)
            found += repeat_notes(cells, part.answer, part.answers)
        if getattr(part, "system", None) is not None:
            found += systems_of_items_notes(part.item, part.system)
    return [*found, *name_notes(table.parts[0].names)]


def systems_of_items_notes(items: Sequence[object], systems: Sequence[object]) -> list[str]:
    """Sentence about rows whose items have several systems each; nothing where every item has one.

    Examples
    --------
    >>> len(systems_of_items_notes(["x", "x"], ["m", "n"])), systems_of_items_notes(["x", "y"], ["m", "n"])
    (1, [])
    """
    own: dict[object, object] = {}
    if all(own.setdefault(item, system) == system for item, system in zip(items, systems, strict=True)):
        return []
    return [
        "items have answers of several systems each, which count as repeated answers about one thing: where item is "
        "what the systems were asked, call it context (--map context=item), and each system's answer is an item"
    ]


def _has_repeats(table: Any) -> bool:
    """True where a judge was asked the same twice, as far as voirdire's columns say."""
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
    """Sentences about rows that repeat an earlier answer, and about answers to one question that contradict each other.

    Parameters
    ----------
    cells : mapping of str to sequence, or DataFrame
        All columns of a table of answers.
    answer : str
        The column of answers.
    answers : sequence, shape (rows,), optional
        What the answers were read as, where cells may write one in several ways.

    Examples
    --------
    >>> said = repeat_notes({"judge": ["a", "a", "a"], "item": ["x", "x", "x"], "score": [1, 1, 2]}, "score")
    >>> [sentence.partition(":")[0] for sentence in said]  # doctest: +NORMALIZE_WHITESPACE
    ['1 row repeats an earlier answer of its judge (row 2 that of row 1)',
     '1 question has different answers of one judge (rows 1 and 3']
    """
    import pandas as pd

    whole: Any = pd.DataFrame(dict(cells))
    if not _names_questions(whole, answer):
        return []
    known = [name for name in _ASKED if name in whole]
    chosen = whole.duplicated(known, keep=False).to_numpy()
    crossed = _items_of_systems(whole)
    if not chosen.any():
        return crossed
    texts = {name: whole[name].map(repr) for name in whole if name not in (*_ASKED, *_SAID, answer)}
    further = [name for name, text in texts.items() if text.nunique() <= len(whole) / 2]
    twice = whole[chosen].assign(**{name: texts[name][chosen] for name in further})
    group = twice.groupby(known + further, sort=False, dropna=False).ngroup().to_numpy().astype(np.int64)
    words = [name for name in further if not whole[name].map(is_number).any()]
    alone = [name for name in words if not twice.duplicated([*known, name]).any()]
    if alone and len(np.unique(group)) == len(group):
        return [
            f"a judge's answers about one item differ in {alone[0]!r} alone, which no model reads: where it says whose "
            f"answers these are, --map system={alone[0]} makes each an item"
        ]
    read = whole[answer].map(repr).to_numpy() if answers is None else np.asarray(answers)
    said, number = pd.factorize(read[chosen])[0].astype(np.int64), np.flatnonzero(chosen) + 1
    return [
        *crossed,
        *_copies(group, said, number),
        *_contradictions(twice, known, answer, group, said, number),
    ]


def _names_questions(whole: pd.DataFrame, answer: str) -> bool:
    if answer == "rank" or (answer == "winner" and "context" not in whole):
        return False
    return "judge" in whole and bool((whole["judge"] != DEFAULT_JUDGE).any())


def _items_of_systems(whole: pd.DataFrame) -> list[str]:
    """The sentence about items that several systems answered, as questions are."""
    if "context" in whole or not {"item", "system"} <= {*whole}:
        return []
    systems = whole.groupby("item", sort=False)["system"].unique()
    several = systems[systems.map(len) > 1]
    if several.empty:
        return []
    shown = " and ".join(map(repr, several.iloc[0][:2]))
    return [
        f"What is said of {shown} about item {several.index[0]!r} counts as about one thing ({len(several):,} items "
        "are of several systems). Where items are questions, --map context=item (map={'context': 'item'}) tells the "
        "systems' answers apart."
    ]


def _copies(group: IntArray, said: IntArray, number: IntArray) -> list[str]:
    """The sentence about rows with the question and the answer of an earlier one."""
    key = group * (said.max(initial=0) + 1) + said
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    copies = np.flatnonzero(first[place] != np.arange(len(key)))
    if not len(copies):
        return []
    count, at = len(copies), copies[0]
    rows = "1 row repeats an earlier answer" if count == 1 else f"{count:,} rows repeat earlier answers"
    return [
        f"{rows} of {'its judge' if count == 1 else 'their judges'} (row {number[at]:,} that of row "
        f"{number[first[place[at]]]:,}): each counts. Delete {'it' if count == 1 else 'them'}, or {_RUN}."
    ]


def _contradictions(
    twice: pd.DataFrame, asked: list[str], answer: str, group: IntArray, said: IntArray, number: IntArray
) -> list[str]:
    """The sentence about questions with different answers of one judge."""
    first = np.unique(group, return_index=True)[1]
    other = np.flatnonzero(said != said[first[group]])
    questions = len(np.unique(group[other]))
    if not questions:
        return []
    at, before = other[0], first[group[other[0]]]
    one = twice.iloc[before]
    shown = [
        name
        for name in ("judge", "criterion", "context", "system", "item", "first", "second")
        if name in asked
    ]
    about = ", ".join(f"{name} {one[name]!r}" for name in shown)
    sets = "; where several labels apply, --label-sets rows says so" if answer == "label" else ""
    return [
        f"{'1 question has' if questions == 1 else f'{questions:,} questions have'} different answers of one judge "
        f"(rows {number[before]:,} and {number[at]:,}: {about}, {answer} {one[answer]} and "
        f"{twice[answer].iloc[at]}): each counts. Keep one, or {_RUN}{sets}."
    ]


def name_notes(names: Mapping[str, Iterable[object]]) -> list[str]:
    """The sentence about names that are one but for how they are written; none where there are none.

    Parameters
    ----------
    names : mapping of str to iterable
        Names of what, such as ``judges``.

    Examples
    --------
    >>> name_notes({"judges": ["gpt", "GPT", "llama"], "items": ["a", "b"]})[0].partition(": ")[2]
    "judges 'GPT' and 'gpt'. Write each in one way."
    """
    parts = []
    for what, some in names.items():
        twins = near_duplicates(list(some))
        more = f" and {len(twins) - _SHOWN:,} more" if len(twins) > _SHOWN else ""
        parts += [f"{what} {'; '.join(twins[:_SHOWN])}{more}"] if twins else []
    found = [
        f"Names that differ only in how they are written count as several: {', '.join(parts)}. Write each in one way."
    ]
    return (found if parts else []) + _summary_notes(names)


def _summary_notes(names: Mapping[str, Iterable[object]]) -> list[str]:
    """The sentence about judges and items that are called like a row or column of means or totals."""
    parts = []
    for what in ("judges", "items"):
        called = dict.fromkeys(
            str(name) for name in names.get(what, ()) if _SUMMARY.fullmatch(str(name).strip())
        )
        parts += [f"{what} {' and '.join(map(repr, list(called)[:_SHOWN]))}"] if called else []
    if not parts:
        return []
    return [
        f"Means and totals sum up others, and count here as if they were more: {', '.join(parts)}. Delete them."
    ]


def near_duplicates(names: Sequence[object]) -> list[str]:
    """Names that are one but for case, white space, invisible characters, and the zeros of numbers.

    Examples
    --------
    >>> near_duplicates(["a b", "c", "A  b", "1", "1.0", "1.5", "1.50", "\\u200bc"])
    ["'1' and '1.0'", "'A  b' and 'a b'", "'c' and '\\\\u200bc'"]
    """
    texts = {*map(str, names)}
    plain = [_plain_name(text) for text in texts]
    if len(set(plain)) == len(plain):
        return []
    by_plain: dict[str, list[str]] = {}
    for text, one in zip(texts, plain, strict=True):
        by_plain.setdefault(one, []).append(text)
    return sorted(" and ".join(map(repr, sorted(same))) for same in by_plain.values() if len(same) > 1)


#: Zeros that programs add to a whole number, or take from it: 1 is also 01 and 1.0.
_WHOLE = re.compile(r"0*(\d+?)(?:\.0*)?")


def _plain_name(text: str) -> str:
    if not text.isascii():
        text = "".join(letter for letter in text if unicodedata.category(letter) != "Cf")
    number = _WHOLE.fullmatch(text)
    return " ".join(text.split()).casefold() if number is None else number[1]
