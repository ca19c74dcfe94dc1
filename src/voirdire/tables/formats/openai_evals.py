"""Logs of OpenAI's evals: matches, metrics and the verdicts of models that graded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from voirdire.tables.formats.format import Asked, Format, has_keys, key_sets, read_records, short_text
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Label, Note, Odd, Refused, Row, Score, name_text, number_or_none
from voirdire.tables.formats.source import Head, Source

_EVENT = key_sets("run_id event_id sample_id type data")
_SPEC = {"eval_name", "base_eval", "completion_fns", "run_id"}
_CHOICE, _INVALID, _AGREES = "choice", "__invalid__", "_metascore"


def _detect_format(head: Head) -> bool:
    if has_keys(head, _EVENT):
        return True
    spec = head.first.get("spec") if head.shape == "records" else None
    return isinstance(spec, dict) and bool(spec.keys() & _SPEC)


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    log = _Log(source.name, asked)
    yield from read_records(source, log.line)
    yield from log.notes()


class _Log:
    """First line of a log, with what it says of the events that follow."""

    def __init__(self, name: str, asked: Asked) -> None:
        self.name, self.asked = name, asked
        self.spec: Record = {}
        self.own = self.nameless = self.reports = self.agreements = 0
        self.seen: Counter[tuple[Any, ...]] = Counter()

    def line(self, record: Record, place: str) -> Iterator[Row]:
        """The rows of one line of the log."""
        if isinstance(record.get("spec"), dict):
            self.spec = record["spec"]
        elif "final_report" in record:
            self.reports += 1
        elif record["type"] == "match":
            yield self._match_score(record)
        elif record["type"] == "metrics":
            yield from self._read_metrics(record, place)
        elif record["type"] == "error":
            data = record.get("data") or {}
            raise Odd(f"{data.get('type', 'error')}: {data.get('message', 'no message')}")

    def _match_score(self, record: Record) -> Row:
        correct = record["data"].get("correct")
        if not isinstance(correct, bool):
            raise Odd(f"correct is {short_text(correct)}, neither true nor false")
        return self._score_row("match", record, int(correct), None)

    def _read_metrics(self, record: Record, place: str) -> Iterator[Row]:
        data = record["data"]
        graded = self._spec_of_grader() or (_CHOICE in data and _CHOICE)
        for name, said in data.items():
            if name.endswith(_AGREES):
                self.agreements += 1
            elif said == _INVALID:
                yield Refused(f"{place} {name}", "the grader's answer could not be read")
            elif isinstance(said, str) and said and graded:
                yield self._label_row(record, said, graded if name == _CHOICE else f"{graded}/{name}")
            elif (value := None if isinstance(said, str) else number_or_none(said)) is not None:
                judge = self._grader_name() if graded else name
                criterion = (graded if name == "score" else f"{graded}/{name}") if graded else None
                yield self._score_row(judge, record, value, criterion)
            else:
                yield Refused(f"{place} {name}", f"{short_text(said)} is no grade")

    def _score_row(self, judge: str, record: Record, value: float, criterion: Any) -> Score:
        context, system = self._sample_id(record), self._system_name()
        item = context if system is None else f"{context}/{system}"
        return Score(
            judge, item, value, criterion, context, system, self._next_run_number(judge, item, criterion)
        )

    def _label_row(self, record: Record, said: str, criterion: str) -> Label:
        judge, context, system = self._grader_name(), self._sample_id(record), self._system_name()
        item = context if system is None else f"{context}/{system}"
        return Label(
            judge, item, said, criterion, context, system, self._next_run_number(judge, item, criterion)
        )

    def _next_run_number(self, *about: Any) -> int:
        self.seen[about] += 1
        return self.seen[about]

    def _sample_id(self, record: Record) -> str:
        sample = name_text(record.get("sample_id"))
        if not sample:
            raise Odd("sample_id is missing")
        return sample

    def _model_names(self) -> list[str]:
        found = self.spec.get("completion_fns") or self.spec.get("model_name") or []
        return [found] if isinstance(found, str) else [one for one in found if isinstance(one, str)]

    def _system_name(self) -> str | None:
        if self.asked.system:
            return self.asked.system
        models = self._model_names()
        self.nameless += not models
        return models[0] if models else None

    def _spec_of_grader(self) -> str | None:
        config = self.spec.get("run_config") or {}
        arguments = (config.get("eval_spec") or {}).get("args") or {}
        return name_text(arguments.get("modelgraded_spec")) or None

    def _grader_name(self) -> str:
        """The model that graded: the last of those that ran, which grades itself where it is the only one."""
        if self.asked.judge:
            return self.asked.judge
        models = self._model_names()
        if not models:
            raise Odd("no model is named that could have graded; name it with --set judge=NAME")
        self.own += len(models) == 1
        return models[-1]

    def notes(self) -> Iterator[Note]:
        """Notes on the log."""
        if self.own:
            yield Note(
                f"{self.name}: no grader is named: the evaluated model graded itself, as evals has it (--set "
                "judge=NAME names another)"
            )
        if self.nameless:
            yield Note(f"{self.name}: the evaluated model is not named (--set system=NAME)")
        if self.agreements:
            yield Note(f"{self.name}: {self.agreements} agreements of the grader with people are left out")
        if self.reports:
            yield Note(f"{self.name}: the final report is of all samples and is left out")


FORMAT = Format("openai-evals", "OpenAI evals", _EVENT, _detect_format, _read_rows, ("judge", "system"))
