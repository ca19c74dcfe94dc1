"""mt_bench_repro: pairs shown both ways, whose verdicts name positions, and grades of two turns."""

from __future__ import annotations

from collections.abc import Iterator

from voirdire.tables.formats.format import Asked, Format, has_keys, key_sets, read_records
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Refused, Row, Score, Vote, join_names, name_text, number_or_none
from voirdire.tables.formats.source import Head, Source

_PAIR = key_sets("model_a model_b judge_id winner_ab", "model_a model_b judge_id winner_ba")
_SINGLE = key_sets("model_id judge_id score_turn1", "model_id judge_id score_turn2")
_SHOWN = {"A": "first", "B": "second", "tie": "tie", "C": "tie"}


def _detect_format(head: Head) -> bool:
    return has_keys(head, _PAIR + _SINGLE)


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    return read_records(source, _read_comparison if has_keys(source.head, _PAIR) else _read_single_grades)


def _read_comparison(record: Record, place: str) -> Iterator[Row]:
    pair = name_text(record["model_a"]), name_text(record["model_b"])
    context = join_names(record["question_id"], record["turn"])
    for key, order in (("winner_ab", pair), ("winner_ba", pair[::-1])):
        said = record.get(key)
        if said in _SHOWN:
            yield Vote(name_text(record["judge_id"]), *order, _SHOWN[said], context=context)
        else:
            yield Refused(f"{place} {key}", f"verdict {said!r} names neither place nor a tie")


def _read_single_grades(record: Record, place: str) -> Iterator[Row]:
    system = name_text(record["model_id"])
    for turn in (1, 2):
        score = number_or_none(record.get(f"score_turn{turn}"))
        context = join_names(record["question_id"], turn)
        if score is None or score == -1:
            yield Refused(f"{place} turn {turn}", "no score")
        else:
            judge = name_text(record["judge_id"])
            yield Score(judge, join_names(context, system), score, context=context, system=system)


FORMAT = Format("mtbench_repro", "mt_bench_repro", _PAIR + _SINGLE, _detect_format, _read_rows)
