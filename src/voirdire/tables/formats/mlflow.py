"""MLflow's evaluations: tables of scores by metric, and traces with their assessments."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from voirdire.tables.formats.format import Asked, Format, guarded_rows, short_text
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import (
    Known,
    Label,
    Note,
    Odd,
    Refused,
    Row,
    Score,
    name_text,
    number_or_none,
)
from voirdire.tables.formats.source import Head, Source

_METRIC = re.compile(r"(?P<stem>(?P<name>[^/].*?)(?:/v\d+)?)/(?:score|value)")
_ABOUT = ("trace_id", "request_id", "client_request_id", "inputs", "request", "trace", "outputs")
_IDS = ("trace_id", "request_id", "client_request_id")
_SHOWN = ("inputs", "request")
_STAND_IN = "mlflow"
_NOBODY = ("default", "unknown", "")


def _metric_columns(columns: Sequence[str]) -> dict[str, re.Match[str]]:
    """The columns that hold the scores of a metric."""
    found = {column: match for column in columns if (match := _METRIC.fullmatch(column))}
    versioned = [column for column in found if re.search(r"/v\d+/score$", column)]
    if versioned or any(name in columns for name in _ABOUT):
        return found
    return {}


def _is_metric_table(columns: Sequence[str]) -> bool:
    assessed = "assessments" in columns and any(name in columns for name in _ABOUT)
    return assessed or bool(_metric_columns(columns))


def _is_trace(record: Any) -> bool:
    info = record.get("info") if isinstance(record, dict) else None
    return isinstance(info, dict) and bool(info.keys() & {"assessments", *_IDS})


def _logged_table(head: Head) -> tuple[list[str], list[Any]] | None:
    """Columns and rows of a table as MLflow logs it."""
    if head.shape != "object" or not {"columns", "data"} <= head.keys:
        return None
    columns, rows = head.first["columns"], head.first["data"]
    named_columns = isinstance(columns, list) and all(isinstance(column, str) for column in columns)
    return (columns, rows) if named_columns and isinstance(rows, list) else None


def _traces_of_object(head: Head) -> list[Any] | None:
    found = head.first.get("traces") if head.shape == "object" else None
    return found if isinstance(found, list) and found and all(_is_trace(one) for one in found[:1]) else None


def _detect_format(head: Head) -> bool:
    table = _logged_table(head)
    if table is not None:
        return _is_metric_table(table[0])
    if _traces_of_object(head) is not None:
        return True
    if head.shape not in ("records", "table"):
        return False
    return _is_trace(head.first) or _is_metric_table(head.columns or tuple(head.first or ()))


def _read_records(source: Source) -> Iterator[tuple[str, Record | str]]:
    """The rows of the table, or the traces."""
    table, traces = _logged_table(source.head), _traces_of_object(source.head)
    if traces is not None:
        for at, trace in enumerate(traces):
            yield f"{source.name} traces[{at}]", trace if isinstance(trace, dict) else "no trace"
    elif table is None:
        yield from source.records()
    else:
        for at, row in enumerate(table[1]):
            place = f"{source.name} data[{at}]"
            if isinstance(row, list) and len(row) == len(table[0]):
                yield place, dict(zip(table[0], row, strict=True))
            else:
                yield place, f"no row of {len(table[0])} cells"


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    found = _Evaluation(source.name, asked)
    for place, record in _read_records(source):
        if isinstance(record, str):
            yield Refused(place, record)
        else:
            yield from guarded_rows(place, found.record, record, place)
    yield from found.notes()


class _Evaluation:
    """Rows of an evaluation, and what is met in them."""

    def __init__(self, name: str, asked: Asked) -> None:
        self.name, self.asked = name, asked
        self.nameless: dict[str, None] = {}
        self.unstated = 0
        self.metrics: dict[str, None] = {}
        self.inputs: Counter[str] = Counter()
        self.seen: Counter[tuple[Any, ...]] = Counter()

    def record(self, record: Record, place: str) -> Iterator[Row]:
        """The rows of one row of a table, or of one trace."""
        info = record.get("info") if _is_trace(record) else _trace_of(record).get("info")
        info = info if isinstance(info, dict) else {}
        about = self._item_and_context(record, info)
        assessments = (
            _list_of_assessments(record["assessments"])
            if "assessments" in record
            else info.get("assessments")
        )
        if assessments is None and not _is_trace(record):
            yield from self._read_metrics(record, place, about)
        else:
            for at, one in enumerate(assessments or []):
                where = f"{place} assessment {at}"
                yield from guarded_rows(where, self._read_assessment, one, where, about)
        expected = record.get("expectations")
        for name, said in expected.items() if isinstance(expected, dict) else ():
            yield from guarded_rows(
                f"{place} {name}", self._read_known_answer, name, said, f"{place} {name}", about
            )
        if _is_trace(record) and not assessments:
            raise Odd("the trace has no assessments")

    def _item_and_context(self, record: Record, info: Record) -> dict[str, Any]:
        """The item that a record is about, by its id or else by what was asked, and the context."""
        own = next(
            (name for one in (record, info) for key in _IDS if (name := name_text(one.get(key)))), None
        )
        asked_for = next((text for key in _SHOWN if (text := _asked_text(record.get(key)))), None)
        context = asked_for or (own if any(key in record for key in _SHOWN) else None)
        if own is None:
            own = asked_for or self.name
            self.inputs[own] += 1
            own = own if self.inputs[own] == 1 and asked_for else f"{own}/{self.inputs[own]}"
        item = own if self.asked.system is None else f"{own}/{self.asked.system}"
        return {"item": item, "context": context}

    def _read_metrics(self, record: Record, place: str, about: dict[str, Any]) -> Iterator[Row]:
        """The scores of the metrics, whose judges the table does not name."""
        judge = self.asked.judge or _STAND_IN
        for column, match in _metric_columns(list(record)).items():
            name, said = match["name"], record[column]
            if not self._is_wanted(name):
                continue
            self.unstated += self.asked.judge is None
            self.metrics.setdefault(name)
            failed = record.get(f"{match['stem']}/error_message") or record.get(f"{match['stem']}/error_code")
            if _is_missing(said):
                yield Refused(f"{place} {name}", f"error: {failed}" if failed else "no score")
            else:
                yield from guarded_rows(f"{place} {name}", self._read_answer, judge, name, said, about)

    def _read_assessment(self, one: Any, place: str, about: dict[str, Any]) -> Iterator[Row]:
        name = name_text(one.get("name") or one.get("assessment_name"))
        if not name:
            raise Odd("the assessment has no name")
        if not self._is_wanted(name):
            return
        if one.get("expectation") is not None:
            expected = one["expectation"]
            said = (
                expected.get("value", expected.get("serialized_value"))
                if isinstance(expected, dict)
                else expected
            )
            yield from self._read_known_answer(name, said, place, about)
            return
        if one.get("valid") is False:
            raise Odd(f"{name}: replaced by a later assessment")
        feedback = one.get("feedback") or {}
        error = one.get("error") or (feedback.get("error") if isinstance(feedback, dict) else None)
        if error:
            told = error.get("error_message") or error.get("error_code") if isinstance(error, dict) else error
            raise Odd(f"{name}: error: {told}")
        said = feedback.get("value") if isinstance(feedback, dict) else feedback
        if _is_missing(said):
            raise Odd(f"{name}: no value")
        judge = self._assessor_name(one.get("source") or {})
        parts = said.items() if isinstance(said, dict) else [(None, said)]
        for part, value in parts:
            yield from guarded_rows(
                place, self._read_answer, judge, f"{name}.{part}" if part else name, value, about
            )

    def _assessor_name(self, source: Record) -> str:
        """Who assessed; where nobody is named, what kind of assessor."""
        who = name_text(source.get("source_id")) or ""
        if who.strip().lower() not in _NOBODY:
            return who
        if self.asked.judge:
            return self.asked.judge
        kind = (name_text(source.get("source_type")) or _STAND_IN).lower()
        self.nameless.setdefault(kind)
        return kind

    def _read_answer(self, judge: str, name: str, said: Any, about: dict[str, Any]) -> Iterator[Row]:
        value = None if isinstance(said, bool) else number_or_none(said)
        if value is None and not isinstance(said, str | bool):
            raise Odd(f"value {short_text(said)} is no number and no class")
        self.seen[judge, about["item"], name] += 1
        run = self.seen[judge, about["item"], name]
        if value is not None:
            yield Score(judge, criterion=name, score=value, system=self.asked.system, run=run, **about)
        else:
            yield Label(judge, criterion=name, label=str(said), system=self.asked.system, run=run, **about)

    def _read_known_answer(self, name: str, said: Any, place: str, about: dict[str, Any]) -> Iterator[Row]:
        """A known answer."""
        if not self._is_wanted(name) or _is_missing(said):
            return
        value = None if isinstance(said, bool) else number_or_none(said)
        if value is None and not isinstance(said, str | bool):
            raise Odd(f"{name}: the expected value {short_text(said)} is no number and no class")
        known = (
            Label(None, criterion=name, label=str(said), **about)
            if value is None
            else Score(None, criterion=name, score=value, system=self.asked.system, **about)
        )
        yield Known(place, known)

    def _is_wanted(self, name: str) -> bool:
        return not self.asked.questions or name in self.asked.questions

    def notes(self) -> Iterator[Note]:
        """Notes on the judges and the metrics."""
        if self.unstated:
            yield Note(
                f"{self.name}: the table does not say by which model or program a metric was computed: all are one "
                f"judge {_STAND_IN!r} (--set judge=NAME names it)"
            )
        if len(self.metrics) > 1:
            yield Note(
                f"{self.name}: the metrics {', '.join(self.metrics)} are criteria that count equally, and of each a "
                "higher score is taken for better; --set questions=NAME takes one"
            )
        if self.nameless:
            kinds = ", ".join(map(repr, self.nameless))
            yield Note(f"{self.name}: assessments without the name of who made them are those of {kinds}")


def _is_missing(said: Any) -> bool:
    return said is None or said == "" or (isinstance(said, float) and math.isnan(said))


def _list_of_assessments(said: Any) -> list[Any] | None:
    """Assessments, also as a text; None where there are none."""
    if isinstance(said, str) and said:
        try:
            said = json.loads(said)
        except ValueError:
            raise Odd("the assessments are no JSON; write the table with to_json or to_parquet") from None
    if _is_missing(said):
        return None
    if not isinstance(said, list):
        raise Odd(f"the assessments are a {type(said).__name__} instead of a list")
    return said


def _trace_of(record: Record) -> Record:
    """The trace in a row of a table."""
    said = record.get("trace")
    if isinstance(said, str):
        try:
            said = json.loads(said)
        except ValueError:
            return {}
    return said if isinstance(said, dict) else {}


def _asked_text(said: Any) -> str | None:
    """Text that was asked."""
    if isinstance(said, dict) and len(said) == 1:
        return _asked_text(next(iter(said.values())))
    if isinstance(said, dict | list):
        return json.dumps(said, ensure_ascii=False, sort_keys=True)
    return name_text(said) or None


FORMAT = Format("mlflow", "MLflow", (), _detect_format, _read_rows, ("judge", "system", "questions"))
