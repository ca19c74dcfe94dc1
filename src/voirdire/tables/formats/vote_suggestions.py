"""Suggestions of what to type for a table that may be one of votes: which columns are the items and the winner."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from shlex import quote
from typing import Any

from voirdire.tables.encode import MISSING
from voirdire.tables.formats.column_samples import MAX_CLASSES, ColumnSample, is_key
from voirdire.tables.vote_columns import OUTCOME_WORDS, OUTCOMES

_CHOSEN = re.compile(
    "winner|won|prefer|choice|chosen|pick|better|verdict|vote(?!r)|result|outcome", re.IGNORECASE
)
COUNTED = re.compile(
    r"^(?:n|num|counts?|wins?|ties|losses)[_ .-]|[_ .-](?:n|counts?|votes|wins)$|^(?:wins|ties|losses)$",
    re.IGNORECASE,
)
#: Words for the first and the second of two items, in texts such as ``response_a`` or ``A is better``.
_SIDES = (("a", "b"), ("1", "2"), ("left", "right"), ("first", "second"), ("1", "0"))
_SYSTEM = re.compile("model|policy|system", re.IGNORECASE)
_TIE = re.compile(
    r"tie.*|draw|c|0\.5|(?:about )?(?:the )?same.*|equal.*|both.*|neither.*|no (?:preference|difference)",
    re.IGNORECASE,
)
#: Words beside which a side says nothing sure: "A is worse", "a tie".
_UNSURE = frozenset((
    "worse", "worst", "not", "no", "lost", "loses", "loser", "rejected", "tie", "same", "equal", "both", "neither",
    "draw", "or",
))  # fmt: skip


@dataclass(frozen=True)
class Suggestion:
    """Kind of table that a file may be, and the options that read it so, or that are part of those."""

    sentence: str
    options: str
    is_complete: bool = True


def _guess_winner_outcomes(one: ColumnSample, sides: Sequence[tuple[str, str]] = _SIDES) -> dict[str, str]:
    """Outcomes that the values mean if they are those of a column of winners; nothing where that cannot be guessed.

    Examples
    --------
    >>> from voirdire.tables.formats.column_samples import summarise_columns
    >>> (held,) = summarise_columns(["x"], [{"x": text} for text in ("A much better", "B better", "Tie")])
    >>> _guess_winner_outcomes(held)
    {'A much better': 'first', 'B better': 'second', 'Tie': 'tie'}
    """
    values = [value for value in one.values if value not in MISSING]
    if len(one.values) > MAX_CLASSES or any(set(",=") & set(value) for value in values):
        return {}
    words = {
        value: set(re.findall(r"[^\W\d_]+|\d+", value.lower()))
        for value in values
        if not _TIE.fullmatch(value)
    }
    if any(of & _UNSURE for of in words.values()):
        return {}
    for pair in sides:
        meanings = dict(zip(pair, ("first", "second"), strict=True))
        said = {value: [meanings[word] for word in of & meanings.keys()] for value, of in words.items()}
        if {*map(tuple, said.values())} == {("first",), ("second",)}:
            found = {value: said[value][0] if value in said else "tie" for value in values}
            return dict(sorted(found.items(), key=lambda one: OUTCOMES.index(one[1])))
    return {}


def suggest_votes(
    held: Sequence[ColumnSample], roles: Mapping[str, str], records: Sequence[Mapping[str, Any]]
) -> list[Suggestion]:
    """The columns of votes, if two hold the same items and one says which of them is better."""
    by_name = {one.name: one for one in held}
    free = [one for one in held if one.name not in roles.values()]
    pair = [by_name[roles[side]] for side in ("first", "second") if side in roles]
    if not pair:
        texts = [one for one in free if not one.numeric]
        sided = combinations([one for one in texts if _SYSTEM.search(one.name)], 2)
        called = ([one, other] for one, other in sided if are_called_alike(one.name, other.name))
        pair = next(called, []) or next(
            ([one, other] for one, other in pairwise(texts) if _are_items(one, other, records)), []
        )
    asked = [by_name[roles["winner"]]] if "winner" in roles else [one for one in free if one not in pair]
    complete = "winner" in roles and len(pair) == 2 and roles.keys() >= {"first", "second"}
    if several := [] if complete or "judge" in roles else _columns_of_winners(asked, roles):
        return several
    for one in sorted(asked, key=lambda one: _CHOSEN.search(one.name) is None):
        items = {value for side in pair for value in side.values}
        named_items = {value.lower() for value in one.values if value not in MISSING} <= {
            *map(str.lower, items),
            *OUTCOME_WORDS,
        }
        words = {} if items and named_items else _guess_winner_outcomes(one, _sides_of(pair, one))
        if not words and (complete or not (items and one.is_categorical and named_items)):
            continue
        if complete and "0" in words:  # may be the number of an item, or say that the first is better
            continue
        if not pair and not _CHOSEN.search(one.name):
            continue
        if one.numeric and (len(pair) != 2 or is_key(one.name) or COUNTED.search(one.name)):
            continue
        named = {"winner": one.name} | (
            {"first": pair[0].name, "second": pair[1].name} if len(pair) == 2 else {}
        )
        sentence = f"{one.name!r} holds {' and '.join(one.values)}: is it winner?"
        options = [] if named.items() <= roles.items() else [_map_option(named)]
        if words:
            options.append(f"--winners {quote(','.join(f'{value}={words[value]}' for value in words))}")
        return [Suggestion(sentence, " ".join(options), len(pair) == 2)]
    return []


def are_called_alike(one: str, other: str) -> bool:
    """True where two names are one but for the words for the first and the second of two items.

    Examples
    --------
    >>> are_called_alike("summaries_0.policy", "summaries_1.policy"), are_called_alike("model_1", "model_x")
    (True, False)
    """
    words = [re.findall(r"[^\W\d_]+|\d+|[\W_]+", name.lower()) for name in (one, other)]
    differ = [pair for pair in zip(*words, strict=False) if pair[0] != pair[1]]
    return len(words[0]) == len(words[1]) and len(differ) == 1 and differ[0] in (("0", "1"), *_SIDES)


def _sides_of(pair: Sequence[ColumnSample], winner: ColumnSample) -> Sequence[tuple[str, str]]:
    """Words for the two items: 0 is the first where columns count them from 0, save in what is said of one of them."""
    counted = [re.findall(r"\d+", one.name)[-1:] for one in pair] == [["0"], ["1"]]
    return [("0", "1"), *_SIDES] if counted and not re.search(r"[_ .-][01]$", winner.name) else _SIDES


def _columns_of_winners(options: Sequence[ColumnSample], roles: Mapping[str, str]) -> list[Suggestion]:
    """Several columns of winners of the two items of a row, each of which is a judge's."""
    if not {"first", "second"} <= roles.keys() or "winner" in roles:
        return []
    found = [words for one in options if (words := _guess_winner_outcomes(one))]
    words = {value: outcome for one in found for value, outcome in one.items()}
    if not found or any(words[value] != one[value] for one in found for value in one):
        return []
    alike = [
        one for one in options if one.values and all(v in words or _TIE.fullmatch(v) for v in one.values)
    ]
    words |= {value: "tie" for one in alike for value in one.values if value not in words}
    meant = [one.name for one in alike]
    if len(meant) < 2:
        return []
    sentence = f"{', '.join(map(repr, meant))} hold {' and '.join(words)}: are they judges of pairs?"
    winners = ",".join(f"{value}={outcome}" for value, outcome in words.items())
    columns = quote(",".join(meant))
    return [
        Suggestion(sentence, f"--wide judge --table votes --columns {columns} --winners {quote(winners)}")
    ]


def _map_option(named: Mapping[str, str]) -> str:
    return "--map " + quote(",".join(f"{name}={column}" for name, column in sorted(named.items())))


def _are_items(one: ColumnSample, other: ColumnSample, records: Sequence[Mapping[str, Any]]) -> bool:
    """True where two columns hold the same names, and never the same in one row."""
    return bool(set(one.values) & set(other.values)) and all(
        record.get(one.name) != record.get(other.name) for record in records
    )
