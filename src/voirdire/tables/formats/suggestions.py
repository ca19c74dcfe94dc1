"""Suggestions of what to type for a table whose columns do not say what they are, from what their cells hold."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from shlex import quote
from typing import Any

from voirdire.tables.columns import ANSWERS, NEEDED, find_roles, normalise_column_name
from voirdire.tables.formats.example_table import answer_columns, judge_columns, other_answer_columns
from voirdire.tables.formats.rows import number_or_none
from voirdire.tables.formats.source import Source
from voirdire.tables.vote_columns import OUTCOME_WORDS

_ROWS = 500  # rows that are looked at
_FEW = 12  # distinct values up to which a column holds classes
_NEEDED = frozenset(name for names in NEEDED.values() for name in names)
_OUTCOMES = frozenset({"first", "second"})
_LINES = 6  # first lines that are looked at
_CHOSEN = re.compile("winner|won|prefer|choice|chosen|pick|better|verdict|vote", re.IGNORECASE)
_COUNTED = re.compile(
    r"^(?:n|num|counts?|wins?|ties|losses)[_ .-]|[_ .-](?:n|counts?|votes|wins)$|^(?:wins|ties|losses)$",
    re.IGNORECASE,
)
#: Columns that answers may depend on, or that cost them: numbers, and no answers.
_BESIDE = re.compile(
    r"(?:^|[_ .-])(?:length|len|tokens?|words?|chars?|characters|lines|time|seconds|duration|latency|date|year|age"
    r"|price|cost|size|seed|temperature|position|order|turn|step|epoch)(?:$|[_ .-])",
    re.IGNORECASE,
)
_SCORED = re.compile("prefer|score|rating|grade|quality|points|stars|likert", re.IGNORECASE)
_KEY = re.compile(r"|Unnamed: \d+|(?:.*[_ .-])?(?i:u?u?id|idx|index|row|line|#)|[a-z]+(?:Id|ID)")
_ITEMS = ("response", "completion", "output")  # columns that may name an item
#: What pairs of values that a column of winners may hold mean.
_WINNERS: dict[frozenset[str], str] = {
    frozenset(("a", "b")): "A=first,B=second",
    frozenset(("1", "2")): "1=first,2=second",
    frozenset(("0", "1")): "0=second,1=first",
}


@dataclass(frozen=True)
class Held:
    """Content of a column's cells, in the rows that were looked at.

    Attributes
    ----------
    name : str
    filled, empty : int
        Numbers of cells.
    numbers : int
        Cells that are numbers.
    values : tuple of str
        Distinct values in the order met, one more than `_FEW` where there are more.
    """

    name: str
    filled: int
    empty: int
    numbers: int
    values: tuple[str, ...]

    @property
    def numeric(self) -> bool:
        """True where all cells that are not empty are numbers, and some are."""
        return self.filled > 0 and self.numbers == self.filled

    @property
    def few(self) -> bool:
        """True where it holds classes: few distinct values, and rows that repeat them."""
        return 0 < len(self.values) <= _FEW and self.filled > len(self.values)

    @property
    def told(self) -> str:
        """The values or how many there are, for a message."""
        if 0 < len(self.values) <= _FEW:
            return ", ".join(value if len(value) < 20 else value[:17] + "..." for value in self.values)
        return "numbers" if self.numeric else "texts" if self.filled else "nothing"


def sample_columns(source: Source) -> list[Held]:
    """Content of each column, by the first rows.

    Parameters
    ----------
    source : Source
        An open file of records or a table.
    """
    return summarise_columns(source.columns(), first_records(source))


def first_records(source: Source) -> list[Mapping[str, Any]]:
    """The first records that can be read."""
    found = (record for _, record in source.records() if isinstance(record, dict))
    return list(islice(found, _ROWS))


def summarise_columns(columns: Sequence[str], records: Sequence[Mapping[str, Any]]) -> list[Held]:
    """Content of columns in some records.

    Examples
    --------
    >>> [one.told for one in summarise_columns(["x", "y"], [{"x": 1, "y": "A"}, {"x": 2, "y": "B"}, {"x": 2}])]
    ['1, 2', 'A, B']
    """
    found = []
    for name in columns:
        cells = [record.get(name) for record in records]
        filled = [cell for cell in cells if cell is not None and cell != ""]
        values = tuple(islice(dict.fromkeys(map(str, filled)), _FEW + 1))
        numbers = sum(number_or_none(cell) is not None and not isinstance(cell, bool) for cell in filled)
        found.append(Held(name, len(filled), len(cells) - len(filled), numbers, values))
    return found


@dataclass(frozen=True)
class Suggestion:
    """Kind of table that a file may be, and the options that read it so."""

    sentence: str
    options: str


def suggest_options(source: Source) -> str:
    """Say what to type for a table that cannot be told, as the end of a sentence."""
    usual = (
        "name them (--map judge=...,first=...,second=...,winner=... or judge=...,item=...,score=... or label=...), "
        "or, where each other column is a judge, --wide judge reads it so"
    )
    return "; ".join([*(f"{one.sentence} {one.options}".strip() for one in likely_tables(source)), usual])


def likely_tables(source: Source) -> list[Suggestion]:
    """Kinds of table that a file may be, by names of columns and content of cells; the likeliest comes first."""
    records = first_records(source)
    held = summarise_columns(source.columns(), records)
    roles = find_roles([one.name for one in held])
    free = [one for one in held if one.name not in roles.values() and not is_key(one.name)]
    numeric = [one for one in free if one.numeric]
    answers = {*ANSWERS.values()} & roles.keys()
    about = "item" in roles or {"context", "system"} <= roles.keys()
    who = "" if "judge" in roles else " --set judge=NAME"
    found = _suggest_role("rank", [one for one in free if _is_chains(one)], "rankings")
    if counts := _evidence_of_counts(numeric, records):
        sentence = f"{counts}: are these counts of labels?"
        found.append(Suggestion(sentence, "--wide counts" + _columns_option(numeric, free)))
    elif not {"first", "second", "winner"} <= roles.keys() and not found:
        found += _suggest_votes(held, roles, records)
    judges = [] if "judge" in roles or answers else _judge_like_columns(free)
    if judges:
        sentence = f"{_quoted_names(judges)} are called by who answers: are they judges?"
        found.append(Suggestion(sentence, judge_columns_option([one.name for one in judges])))
    scored = [one for one in numeric if not _BESIDE.search(one.name)]
    likely = scored if len(scored) == 1 else [one for one in scored if _SCORED.search(one.name)]
    told = answers or counts or judges
    if about and not told and len(scored) < len(numeric) and len(likely) == 1:
        found += _suggest_role("score", likely, "numbers", who)
    elif len(scored) > 1 and not counts:
        sentence = f"{_quoted_names(scored)} hold numbers: are they criteria?"
        found.append(Suggestion(sentence, "--wide criterion" + _columns_option(scored, numeric)))
        if "judge" not in roles and not judges:
            found.append(Suggestion("Or judges?", "--wide judge"))
    if not counts and not answers and {"judge", "item"} <= roles.keys():
        words = [one for one in free if one.few and not one.numeric and not _is_chains(one)]
        found += _suggest_role("label", words)
    if {"score", "label"} & roles.keys() and not about:
        plain = {one.name: normalise_column_name(one.name) for one in held if one.name not in roles.values()}
        items = [name for name, short in plain.items() if short.endswith("id") or short in _ITEMS]
        found += [Suggestion(f"is {name!r} item?", f"--map item={quote(name)}{who}") for name in items[:1]]
    if below := _header_below(source):
        found.append(Suggestion(below, ""))
    if "judge" not in roles and "item" in roles and {"score", "label"} & roles.keys():
        found.append(Suggestion("who judged is not in it: say it with", "--set judge=NAME"))
    return found


def _suggest_role(role: str, some: Sequence[Held], holds: str = "", more: str = "") -> list[Suggestion]:
    """Take the first of some columns for one of voirdire's."""
    return [
        Suggestion(
            f"{one.name!r} holds {holds or one.told}: is it {role}?", f"--map {role}={quote(one.name)}{more}"
        )
        for one in some[:1]
    ]


def is_key(name: str) -> bool:
    """True where a column is called as those are that number or name rows; an index that was written has no name.

    Examples
    --------
    >>> is_key("pair_id"), is_key("uid"), is_key("idx"), is_key("valid"), is_key(""), is_key("Unnamed: 0")
    (True, True, True, False, True, True)
    """
    return _KEY.fullmatch(name) is not None


def judge_columns_option(columns: Sequence[str]) -> str:
    """Options that read columns as judges."""
    return f"--wide judge --columns {quote(','.join(columns))}"


def _columns_option(some: Sequence[Held], free: Sequence[Held]) -> str:
    """The option that chooses columns, where there are others that could be meant."""
    others = [one for one in free if one not in some]
    return f" --columns {quote(','.join(one.name for one in some))}" if others else ""


def _judge_like_columns(free: Sequence[Held]) -> list[Held]:
    """Columns that are called by who answers and hold answers of one kind."""
    columns = [one.name for one in free]
    names = answer_columns(columns)
    names = [*names, *other_answer_columns(columns, names)] if names else judge_columns(columns)
    found = [
        one for one in free if one.name in names and one.filled and (one.numeric or len(one.values) <= _FEW)
    ]
    return found if len(found) > 1 and len({one.numeric for one in found}) == 1 else []


def _is_chains(one: Held) -> bool:
    """True where the cells are rankings such as ``a>b=c``."""
    marked = [value for value in one.values if re.fullmatch(r"[^<>]+(?:>[^<>]+)+", value)]
    return 0 < len(one.values) == len(marked)


def _header_below(source: Source) -> str:
    """Say which of the first lines below the header holds names of voirdire's columns; nothing where none does."""
    if source.kind not in ("csv", "xlsx"):
        return ""
    numbered = list(islice(source.rows(), _LINES))
    for line, row in numbered[1:]:
        cells = [cell for cell in row if isinstance(cell, str) and cell in _NEEDED]
        if len(set(cells)) > 1 and not _OUTCOMES.issuperset(cells):  # an answer may be called first
            above = f"delete lines 1 to {line - 1}" if line > 2 else "delete line 1"
            return f"line {line} holds {' and '.join(map(repr, cells))}: if it names the columns, {above}"
    return ""


def _quoted_names(some: Sequence[Held]) -> str:
    return ", ".join(repr(one.name) for one in some[:6]) + (", ..." if len(some) > 6 else "")


def _guess_winner_outcomes(one: Held) -> str | None:
    """Outcomes that the values mean if they are those of a column of winners."""
    if len(one.values) > 3:
        return None
    lower = {value.lower(): value for value in one.values}
    for pair, words in _WINNERS.items():
        rest = set(lower) - pair
        if pair <= set(lower) and rest <= {"tie", "draw", "c", "equal", "same", "0.5"}:
            case = {word.partition("=")[0].lower(): word.partition("=")[2] for word in words.split(",")}
            parts = [f"{lower[key]}={case[key]}" for key in sorted(pair)]
            return ",".join(parts + [f"{lower[key]}=tie" for key in sorted(rest)])
    return None


def _suggest_votes(
    held: Sequence[Held], roles: Mapping[str, str], records: Sequence[Mapping[str, Any]]
) -> list[Suggestion]:
    """The columns of votes, if two hold the same items and one says which of them is better."""
    by_name = {one.name: one for one in held}
    free = [one for one in held if one.name not in roles.values()]
    pair = [by_name[roles[side]] for side in ("first", "second") if side in roles]
    if not pair:
        texts = [one for one in free if not one.numeric]
        pair = next(([one, other] for one, other in pairwise(texts) if _are_items(one, other, records)), [])
    asked = [by_name[roles["winner"]]] if "winner" in roles else [one for one in free if one not in pair]
    for one in sorted(asked, key=lambda one: _CHOSEN.search(one.name) is None):
        items = {value for side in pair for value in side.values}
        named_items = {value.lower() for value in one.values} <= {*map(str.lower, items), *OUTCOME_WORDS}
        words = None if items and named_items else _guess_winner_outcomes(one)
        if words is None and not (items and one.few and named_items):
            continue
        if not pair and not _CHOSEN.search(one.name):
            continue
        if one.numeric and (len(pair) != 2 or is_key(one.name) or _COUNTED.search(one.name)):
            continue
        named = {"winner": one.name} | (
            {"first": pair[0].name, "second": pair[1].name} if len(pair) == 2 else {}
        )
        options = "--map " + quote(",".join(f"{name}={column}" for name, column in sorted(named.items())))
        sentence = f"{one.name!r} holds {' and '.join(one.values)}: is it winner?"
        return [Suggestion(sentence, options + (f" --winners {quote(words)}" if words else ""))]
    return []


def _are_items(one: Held, other: Held, records: Sequence[Mapping[str, Any]]) -> bool:
    """True where two columns hold the same names, and never the same in one row."""
    return bool(set(one.values) & set(other.values)) and all(
        record.get(one.name) != record.get(other.name) for record in records
    )


def _evidence_of_counts(numeric: Sequence[Held], records: Sequence[Mapping[str, Any]]) -> str:
    """Evidence that columns of whole numbers are counts, as the begin of a sentence; nothing where there is none."""
    if len(numeric) < 2:
        return ""
    totals = set()
    for record in records:
        cells = [number_or_none(record.get(one.name)) for one in numeric]
        if any(cell is None or cell < 0 or cell != int(cell) for cell in cells):
            return ""
        totals.add(sum(int(cell) for cell in cells if cell is not None))
    if all(_COUNTED.search(one.name) for one in numeric):
        return f"{_quoted_names(numeric)} are called as counts are"
    zeros = any(number_or_none(record.get(one.name)) == 0 for record in records for one in numeric)
    if len(records) > 1 and len(totals) == 1 and zeros:
        return f"every row of {_quoted_names(numeric)} adds up to {totals.pop()}"
    return ""
