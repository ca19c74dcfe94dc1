"""Suggested options for a table that may hold votes: columns of the items and the winner."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from shlex import quote
from typing import Any

from voirdire.tables.columns import COLUMN_WORDS, name_pattern
from voirdire.tables.encode import MISSING
from voirdire.tables.formats.column_samples import MAX_CLASSES, ColumnSample, is_key
from voirdire.tables.vote_columns import OUTCOME_WORDS, OUTCOMES

_WINNER_NAME, COUNT_NAME, _TIE_TEXT = map(name_pattern, ("winner", "count", "tie_text"))
_SIDE_WORDS: list[list[str]] = COLUMN_WORDS["sides"]
_SYSTEM_NAME = re.compile("model|policy|system", re.IGNORECASE)


@dataclass(frozen=True)
class Suggestion:
    """A possible kind of a table as a sentence, and the options, or part of them, for reading it so."""

    sentence: str
    options: str
    is_complete: bool = True


def _guess_winner_outcomes(column: ColumnSample, sides: Sequence[Sequence[str]] = _SIDE_WORDS) -> dict[str, str]:
    """Guess the outcomes that the values of a column of winners mean; empty without a guess.

    Examples
    --------
    >>> from voirdire.tables.formats.column_samples import summarise_columns
    >>> (held,) = summarise_columns(["x"], [{"x": text} for text in ("A much better", "B better", "Tie")])
    >>> _guess_winner_outcomes(held)
    {'A much better': 'first', 'B better': 'second', 'Tie': 'tie'}
    """
    values = [value for value in column.values if value not in MISSING]
    if len(column.values) > MAX_CLASSES or any(set(",=") & set(value) for value in values):
        return {}
    words = {
        value: set(re.findall(r"[^\W\d_]+|\d+", value.lower())) for value in values if not _TIE_TEXT.fullmatch(value)
    }
    ambiguous = set(COLUMN_WORDS["ambiguous"]).difference(*sides)
    if any(words_of_value & ambiguous for words_of_value in words.values()):
        return {}
    for pair in sides:
        meanings = dict(zip(pair, ("first", "second"), strict=True))
        outcomes_of_value = {
            value: [meanings[word] for word in words_of_value & meanings.keys()]
            for value, words_of_value in words.items()
        }
        if {*map(tuple, outcomes_of_value.values())} == {("first",), ("second",)}:
            outcomes = {value: outcomes_of_value[value][0] if value in outcomes_of_value else "tie" for value in values}
            return dict(sorted(outcomes.items(), key=lambda column: OUTCOMES.index(column[1])))
    return {}


def suggest_votes(
    columns: Sequence[ColumnSample], roles: Mapping[str, str], records: Sequence[Mapping[str, Any]]
) -> list[Suggestion]:
    """Suggest the columns of votes, if two columns hold the same items and one names the better."""
    by_name = {column.name: column for column in columns}
    free = [column for column in columns if column.name not in roles.values()]
    pair = [by_name[roles[side]] for side in ("first", "second") if side in roles]
    if not pair:
        texts = [column for column in free if not column.numeric]
        system_pairs = combinations([column for column in texts if _SYSTEM_NAME.search(column.name)], 2)
        similar = (
            [column, other_column]
            for column, other_column in system_pairs
            if are_called_alike(column.name, other_column.name)
        )
        pair = next(similar, []) or next(
            (
                [column, other_column]
                for column, other_column in pairwise(texts)
                if _are_items(column, other_column, records)
            ),
            [],
        )
    candidates = [by_name[roles["winner"]]] if "winner" in roles else [column for column in free if column not in pair]
    complete = "winner" in roles and len(pair) == 2 and roles.keys() >= {"first", "second"}
    if judge_suggestions := [] if complete or "judge" in roles else _columns_of_winners(candidates, roles):
        return judge_suggestions
    for column in sorted(candidates, key=lambda column: _WINNER_NAME.search(column.name) is None):
        items = {value for side in pair for value in side.values}
        named_items = {value.lower() for value in column.values if value not in MISSING} <= {
            *map(str.lower, items),
            *OUTCOME_WORDS,
        }
        words = {} if items and named_items else _guess_winner_outcomes(column, _sides_of(pair, column))
        if not words and (complete or not (items and column.is_categorical and named_items)):
            continue
        if complete and "0" in words:  # may be the number of an item, or say that the first is better
            continue
        if not pair and not _WINNER_NAME.search(column.name):
            continue
        if column.numeric and (len(pair) != 2 or is_key(column.name) or COUNT_NAME.search(column.name)):
            continue
        votes_roles = {"winner": column.name} | (
            {"first": pair[0].name, "second": pair[1].name} if len(pair) == 2 else {}
        )
        sentence = f"{column.name!r} holds {' and '.join(column.values)}: is it winner?"
        options = [] if votes_roles.items() <= roles.items() else [_map_option(votes_roles)]
        if words:
            options.append(f"--winners {quote(','.join(f'{value}={words[value]}' for value in words))}")
        return [Suggestion(sentence, " ".join(options), len(pair) == 2)]
    return []


def suggest_baseline(columns: Sequence[ColumnSample], roles: Mapping[str, str]) -> list[Suggestion]:
    """Suggest votes between an item and one that no column names, by the words or the names of winners."""
    samples = {column.name: column for column in columns}
    winner, item = samples[roles["winner"]], samples[roles.get("system", roles.get("item", ""))]
    sentence = f"{winner.name!r} holds {' and '.join(winner.values)}: is each {item.name!r} compared with one baseline?"
    if words := _guess_winner_outcomes(winner, COLUMN_WORDS["with_baseline"]):
        winners = quote(",".join(f"{value}={outcome}" for value, outcome in words.items()))
        return [Suggestion(sentence, f"--set baseline=NAME --winners {winners}")]
    others = [value for value in winner.values if value not in (*item.values, *MISSING, *OUTCOME_WORDS)]
    if item.different > MAX_CLASSES or len(others) != 1 or not {*winner.values} & {*item.values}:
        return []
    return [Suggestion(sentence, f"--set {quote(f'baseline={others[0]}')}")]


def are_called_alike(first_name: str, second_name: str) -> bool:
    """True if two names differ only in the words for the first and the second item.

    Examples
    --------
    >>> are_called_alike("summaries_0.policy", "summaries_1.policy"), are_called_alike("model_1", "model_x")
    (True, False)
    """
    words = [re.findall(r"[^\W\d_]+|\d+|[\W_]+", name.lower()) for name in (first_name, second_name)]
    differing = [list(pair) for pair in zip(*words, strict=False) if pair[0] != pair[1]]
    return len(words[0]) == len(words[1]) and len(differing) == 1 and differing[0] in (["0", "1"], *_SIDE_WORDS)


def _sides_of(pair: Sequence[ColumnSample], winner: ColumnSample) -> list[list[str]]:
    """Words for the two items; 0 is the first if columns number the items from 0, except in a column on one item."""
    from_zero = [re.findall(r"\d+", column.name)[-1:] for column in pair] == [["0"], ["1"]]
    return [["0", "1"], *_SIDE_WORDS] if from_zero and not re.search(r"[_ .-][01]$", winner.name) else _SIDE_WORDS


def _columns_of_winners(candidates: Sequence[ColumnSample], roles: Mapping[str, str]) -> list[Suggestion]:
    """Suggest several columns of winners of a row's two items as judges."""
    if not {"first", "second"} <= roles.keys() or "winner" in roles:
        return []
    outcomes_of_columns = [words for outcomes in candidates if (words := _guess_winner_outcomes(outcomes))]
    words = {value: outcome for outcomes in outcomes_of_columns for value, outcome in outcomes.items()}
    if not outcomes_of_columns or any(
        words[value] != outcomes[value] for outcomes in outcomes_of_columns for value in outcomes
    ):
        return []
    winner_columns = [
        outcomes
        for outcomes in candidates
        if outcomes.values and all(v in words or _TIE_TEXT.fullmatch(v) for v in outcomes.values)
    ]
    words |= {value: "tie" for outcomes in winner_columns for value in outcomes.values if value not in words}
    judge_names = [outcomes.name for outcomes in winner_columns]
    if len(judge_names) < 2:
        return []
    sentence = f"{', '.join(map(repr, judge_names))} hold {' and '.join(words)}: are they judges of pairs?"
    winners = ",".join(f"{value}={outcome}" for value, outcome in words.items())
    columns = quote(",".join(judge_names))
    return [Suggestion(sentence, f"--wide judge --table votes --columns {columns} --winners {quote(winners)}")]


def _map_option(roles: Mapping[str, str]) -> str:
    return "--map " + quote(",".join(f"{name}={column}" for name, column in sorted(roles.items())))


def _are_items(column: ColumnSample, other_column: ColumnSample, records: Sequence[Mapping[str, Any]]) -> bool:
    """True if two columns share values, but never within a row."""
    return bool(set(column.values) & set(other_column.values)) and all(
        record.get(column.name) != record.get(other_column.name) for record in records
    )
