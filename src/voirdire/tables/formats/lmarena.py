"""Votes of LMArena (Chatbot Arena): model_a stood left."""

from __future__ import annotations

from collections.abc import Iterator

from voirdire.tables.formats.format import Asked, Format, has_keys, key_sets, read_records
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Note, Odd, Row, Vote, name_text, outcome_winner
from voirdire.tables.formats.source import Head, Source

_NEEDS = key_sets("model_a model_b winner", "model_a model_b winner_model_a winner_model_b winner_tie")
_OWN = frozenset(("conv_metadata", "evaluation_session_id", "anony", "tstamp", "winner_tie"))
_WINNERS = {"model_a": "first", "model_b": "second", "tie": "tie", "both_bad": "tie", "tie (bothbad)": "tie"}
_ONE_HOT = {"winner_model_a": "first", "winner_model_b": "second", "winner_tie": "tie"}
_KEYS = ("id", "question_id", "model_a", "model_b", "winner", "judge", *_ONE_HOT)


def _detect_format(head: Head) -> bool:
    ours = has_keys(head, _NEEDS, "records table") and bool(head.keys & _OWN)
    return ours and "winner_ab" not in head.keys  # mt_bench_repro's rows have a time too


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    bad = nameless = 0

    def read_record(record: Record, place: str) -> Iterator[Row]:
        nonlocal bad, nameless
        outcome = _vote_outcome(record)
        bad += record.get("winner") in ("both_bad", "tie (bothbad)")
        judge = asked.judge or name_text(record.get("judge"))
        nameless += judge is None
        context = name_text(record["id"] if "id" in record else record.get("question_id"))
        pair = name_text(record["model_a"]), name_text(record["model_b"])
        yield Vote(judge or "lmarena", *pair, outcome, context=context)

    yield from read_records(source, read_record, _KEYS)
    if nameless:
        yield Note("the voters are not named: all are one judge 'lmarena' (--set judge=NAME names it)")
    if bad:
        yield Note(f"{bad} votes 'both bad' are ties here, as in Arena-Rank")


def _vote_outcome(record: Record) -> str:
    if "winner" in record:
        if record["winner"] is None or record["winner"] == "":
            raise Odd("no winner")
        return outcome_winner(record["winner"], _WINNERS)
    said = [meaning for key, meaning in _ONE_HOT.items() if str(record[key]) in ("1", "1.0", "True", "true")]
    if len(said) != 1:
        raise Odd(f"{len(said)} of the three outcomes are marked")
    return said[0]


FORMAT = Format("lmarena", "LMArena", _NEEDS, _detect_format, _read_rows, ("judge",))
