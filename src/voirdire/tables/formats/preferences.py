"""Files with a vote in each record: AlpacaEval, Crowd-Kit, LMArena, and PandaLM with several votes in each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from voirdire.tables.formats.format import Format, has_keys
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import (
    UNKNOWN,
    Label,
    Odd,
    Refused,
    Row,
    Vote,
    name_text,
    number_or_none,
    outcome_winner,
)
from voirdire.tables.formats.source import Head

_ALPACA_TIE_VALUES = (0, 1.5)  # files from before 2024 write a draw as 0

_OUTCOME_OF_SIDE = {"left": "first", "right": "second", "tie": "tie"}

_ARENA_ONLY_KEYS = frozenset(("conv_metadata", "evaluation_session_id", "anony", "tstamp", "winner_tie"))
_BOTH_BAD = ("both_bad", "bothbad", "tie (bothbad)")
_ARENA_WINNERS = {"model_a": "first", "model_b": "second", "tie": "tie"} | dict.fromkeys(_BOTH_BAD, "tie")
_ONE_HOT_WINNERS = {"winner_model_a": "first", "winner_model_b": "second", "winner_tie": "tie"}

_PANDALM_WINNERS = {"0": "tie", "Tie": "tie", "tie": "tie", "1": "first", "2": "second"}
_RESULT_SUFFIX = "_result"
_PERSON_KEY = re.compile(r"annotator\d+")


class AlpacaEval(Format):
    """AlpacaEval's ``annotations.json``."""

    name = "alpacaeval"

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read a preference between 1 (the first output) and 2 (the second)."""
        value, degrees = number_or_none(record["preference"]), self.asked.degrees
        if value is None:
            raise Odd("no preference (the annotator's answer could not be read)")
        if value not in _ALPACA_TIE_VALUES and not 1 <= value <= 2:
            raise Odd(f"preference {value} is neither 0 nor between 1 and 2")
        unsure = value not in (0, 1, 1.5, 2)
        self.count_event("degrees" if degrees else "between", unsure)
        judge = name_text(record.get("annotator")) or self.asked.judge
        pair = name_text(record["generator_1"]), name_text(record["generator_2"])
        winner = "tie" if value in _ALPACA_TIE_VALUES else "first" if value < 1.5 else "second"
        degree = abs(value - 1.5) + 0.5 if unsure and degrees else None
        yield Vote(judge, *pair, winner, context=record["instruction"], order=UNKNOWN, degree=degree)


class CrowdKit(Format):
    """Tables of Crowd-Kit: comparisons (worker, left, right, label) and classes (worker, task, label)."""

    name = "crowdkit"

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True if the head of a file has such columns, and none of judges."""
        return super().detect(head) and "judge" not in head.keys

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read a comparison, or a class."""
        worker = name_text(record["worker"])
        if not has_keys(self.head, self.keys["pairs"], self.shapes):
            yield Label(worker, name_text(record["task"]), name_text(record["label"]))
            return
        left, right = name_text(record["left"]), name_text(record["right"])
        winner = record["winner"] if "winner" in record else record["label"]
        outcomes = {} if "winner" in record else {left: "first", right: "second"}
        outcome = outcomes.get(name_text(winner)) or _OUTCOME_OF_SIDE.get(winner)
        if outcome is None:
            raise Odd("no label" if winner in (None, "") else f"{winner!r} is neither {left!r} nor {right!r}")
        yield Vote(worker, left, right, outcome, context=name_text(record.get("prompt")))


class LMArena(Format):
    """Votes of LMArena (Chatbot Arena): model_a stood left."""

    name = "lmarena"

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True if the head of a file shows votes, and a key that only an arena has."""
        is_arena = super().detect(head) and bool(head.keys & _ARENA_ONLY_KEYS)
        return is_arena and "winner_ab" not in head.keys  # mt_bench_repro's rows have a time too

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read the vote of a record."""
        outcome = _arena_outcome(record)
        self.count_event("bad", record.get("winner") in _BOTH_BAD)
        judge = self.asked.judge or name_text(record.get("judge"))
        self.count_event("nameless", judge is None)
        context = name_text(record["id"] if "id" in record else record.get("question_id"))
        pair = name_text(record["model_a"]), name_text(record["model_b"])
        yield Vote(judge or "lmarena", *pair, outcome, context=context)


def _arena_outcome(record: Record) -> str:
    if "winner" in record:
        if record["winner"] is None or record["winner"] == "":
            raise Odd("no winner")
        return outcome_winner(record["winner"], _ARENA_WINNERS)
    outcomes = [
        meaning for key, meaning in _ONE_HOT_WINNERS.items() if str(record[key]) in ("1", "1.0", "True", "true")
    ]
    if len(outcomes) != 1:
        raise Odd(f"{len(outcomes)} of the three outcomes are marked")
    return outcomes[0]


def _is_pandalm(head: Head) -> bool:
    if head.shape != "records" or "idx" not in head.keys:
        return False
    return "cmp_key" in head.keys or any(key.endswith(_RESULT_SUFFIX) for key in head.keys)


class PandaLM(Format):
    """Answers of people or results of models; the test set may be a separate file."""

    name = "pandalm"

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True if the head of a file is that of the test set, or of results on it."""
        return _is_pandalm(head)

    @cached_property
    def _test_set(self) -> dict[str | None, Record]:
        """Records with the names of the systems, by number."""
        return {
            name_text(record.get("idx")): record
            for other in self.source.siblings or (self.source,)
            if _is_pandalm(other.head) and "cmp_key" in other.head.keys
            for _, record in other.records()
            if isinstance(record, dict) and isinstance(record.get("cmp_key"), str)
        }

    @cached_property
    def _record_keys(self) -> list[str]:
        """Keys of the first record, or of all records of the test set, in order of appearance."""
        records = self.source.records() if "cmp_key" in self.head.keys else ()
        all_records = (self.head.first, *(record for _, record in records if isinstance(record, dict)))
        return list(dict.fromkeys(key for record in all_records for key in record))

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read the vote of each person or model."""
        context = name_text(record["idx"])
        if context not in self._test_set:
            raise Odd("the systems are named in the test set alone; give testset-v1.json too")
        system_names = self._test_set[context]["cmp_key"]
        first, _, second = system_names.partition("_")
        if not first or not second or "_" in second:
            raise Odd(f"cmp_key {system_names!r} is not two names with one _ between them")
        for key in dict.fromkeys([*self._record_keys, *record]):
            person = _PERSON_KEY.fullmatch(key)
            self.count_event("people", person is not None)
            if not person and not key.endswith(_RESULT_SUFFIX):
                continue
            outcome = _PANDALM_WINNERS.get(name_text(record.get(key)) or "")
            if outcome is None:
                reason = f"{key} {record.get(key)!r} is none of {', '.join(dict.fromkeys(_PANDALM_WINNERS))}"
                yield Refused(f"{self.file} idx {context}", reason)
            else:
                order = UNKNOWN if person else None
                yield Vote(key.removesuffix(_RESULT_SUFFIX), first, second, outcome, context=context, order=order)
