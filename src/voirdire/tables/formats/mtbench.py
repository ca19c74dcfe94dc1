"""MT-bench as FastChat writes it: pairs in two games, single grades, and votes of people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from voirdire.tables.formats.format import Asked, Format, has_keys, key_sets, read_records
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import (
    UNKNOWN,
    Odd,
    Refused,
    Row,
    Score,
    UnknownOrder,
    Vote,
    join_names,
    name_text,
    number_or_none,
    outcome_winner,
)
from voirdire.tables.formats.source import Head, Source

_PAIR = key_sets("g1_winner g2_winner model_1 model_2")
_SINGLE = key_sets("question_id model score judge turn")
_HUMAN = key_sets("model_a model_b winner judge turn question_id")
_ARENA = frozenset(("conv_metadata", "evaluation_session_id", "anony", "tstamp", "winner_tie"))
_GAMES = (
    {"model_1": "first", "model_2": "second", "tie": "tie"},
    {"model_2": "first", "model_1": "second", "tie": "tie"},  # the second game shows model_2 first
)
_VOTES = {"model_a": "first", "model_b": "second", "tie": "tie"}


def _detect_format(head: Head) -> bool:
    if has_keys(head, _HUMAN, "records table"):
        return not head.keys & _ARENA and "winner_ab" not in head.keys
    return has_keys(head, _PAIR) or has_keys(head, _SINGLE)


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    if has_keys(source.head, _PAIR):
        return read_records(source, _read_comparison)
    if has_keys(source.head, _SINGLE):
        return _read_single_grades(source)
    return _read_human_votes(source)


def _judge_name(record: Record) -> str | None:
    """The judge without its template, which changes with question and turn."""
    judge = record["judge"]
    return name_text(judge[0] if isinstance(judge, list) else judge)


def _question_and_turn(record: Record) -> str:
    return join_names(record["question_id"], record["turn"])


def _read_comparison(record: Record, place: str) -> Iterator[Row]:
    if "turn" not in record:
        raise Odd("two scores instead of a comparison (a template of type single)")
    shown = name_text(record["model_1"]), name_text(record["model_2"])
    for game, (meanings, order) in enumerate(zip(_GAMES, (shown, shown[::-1]), strict=True), start=1):
        said = record[f"g{game}_winner"]
        if said in meanings:
            yield Vote(_judge_name(record), *order, meanings[said], context=_question_and_turn(record))
        else:
            why = "the judge's answer could not be read" if said == "error" else f"winner {said!r} is unknown"
            yield Refused(f"{place} game {game}", why)


def _read_single_grades(source: Source) -> Iterator[Row]:
    seen: Counter[tuple[str | None, str]] = Counter()

    def read_single_grade(record: Record, place: str) -> Iterator[Row]:
        score = number_or_none(record["score"])
        if score is None or score == -1:
            raise Odd("no score (the judge's answer could not be read)")
        context, model, judge = _question_and_turn(record), name_text(record["model"]), _judge_name(record)
        item = join_names(context, model)
        seen[judge, item] += 1
        yield Score(judge, item, score, context=context, system=model, run=seen[judge, item])

    return read_records(source, read_single_grade)


def _read_human_votes(source: Source) -> Iterator[Row]:
    def read_human_vote(record: Record, place: str) -> Iterator[Row]:
        if record["winner"] == "tie (inconsistent)":
            raise Odd("'tie (inconsistent)' is the result of two games, not a vote")
        pair = name_text(record["model_a"]), name_text(record["model_b"])
        yield Vote(
            _judge_name(record),
            *pair,
            outcome_winner(record["winner"], _VOTES),
            context=_question_and_turn(record),
            order=UNKNOWN,
        )

    yield from read_records(source, read_human_vote)
    yield UnknownOrder("the order of display is not in the file")


FORMAT = Format("mtbench", "MT-bench", _PAIR + _SINGLE + _HUMAN, _detect_format, _read_rows)
