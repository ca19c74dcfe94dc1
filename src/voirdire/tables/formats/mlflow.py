"""MLflow's evaluations: tables of scores by metric, and traces with assessments."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from voirdire.tables.formats.format import Format, guarded_rows, list_under, members_as_records, short_text
from voirdire.tables.formats.records import Placed, Record, first_name
from voirdire.tables.formats.rows import Known, Label, Odd, Refused, Row, Score, is_missing, name_text, number_or_none
from voirdire.tables.formats.source import Head

_METRIC_COLUMN = re.compile(r"(?P<stem>(?P<name>[^/].*?)(?:/v\d+)?)/(?:score|value)")
_SUBJECT_COLUMNS = ("trace_id", "request_id", "client_request_id", "inputs", "request", "trace", "outputs")
_ID_KEYS = ("trace_id", "request_id", "client_request_id")
_INPUT_KEYS = ("inputs", "request")
_DEFAULT_JUDGE = "mlflow"
_EMPTY_ASSESSORS = ("default", "unknown", "")


def _metric_columns(columns: Sequence[str]) -> dict[str, re.Match[str]]:
    """Columns with the scores of a metric."""
    matches = {column: match for column in columns if (match := _METRIC_COLUMN.fullmatch(column))}
    versioned = any(re.search(r"/v\d+/score$", column) for column in matches)
    return matches if versioned or any(name in columns for name in _SUBJECT_COLUMNS) else {}


def _is_metric_table(columns: Sequence[str]) -> bool:
    assessed = "assessments" in columns and any(name in columns for name in _SUBJECT_COLUMNS)
    return assessed or bool(_metric_columns(columns))


def _is_trace(record: Any) -> bool:
    info = record.get("info") if isinstance(record, dict) else None
    return isinstance(info, dict) and bool(info.keys() & {"assessments", *_ID_KEYS})


def _logged_table(head: Head) -> tuple[list[str], list[Any]] | None:
    """Columns and rows of a table that MLflow logged; None for other files."""
    columns, rows = list_under(head, "columns"), list_under(head, "data")
    if columns is None or rows is None or not all(isinstance(column, str) for column in columns):
        return None
    return columns, rows


def _traces_of_object(head: Head) -> list[Any] | None:
    traces = list_under(head, "traces")
    return traces if traces and _is_trace(traces[0]) else None


class MLflow(Format):
    """Evaluations of MLflow."""

    name = "mlflow"

    @cached_property
    def _inputs(self) -> Counter[str]:
        """Numbers of records by their names."""
        return Counter()

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True if the head of a file shows traces, or scores of metrics."""
        table = _logged_table(head)
        if table is not None:
            return _is_metric_table(table[0])
        if _traces_of_object(head) is not None:
            return True
        if head.shape not in ("records", "table"):
            return False
        return _is_trace(head.first) or _is_metric_table(head.columns or tuple(head.first or ()))

    def records(self) -> Placed:
        """The rows of the table, or the traces."""
        table, traces = _logged_table(self.head), _traces_of_object(self.head)
        if traces is not None:
            yield from members_as_records(traces, f"{self.file} traces[", "]")
        elif table is None:
            yield from self.source.records()
        else:
            columns, rows = table
            for index, row in enumerate(rows):
                complete = isinstance(row, list) and len(row) == len(columns)
                record = dict(zip(columns, row, strict=True)) if complete else f"no row of {len(columns)} cells"
                yield f"{self.file} data[{index}]", record

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read one row of a table, or one trace."""
        info = (record if _is_trace(record) else _trace_of(record)).get("info")
        info = info if isinstance(info, dict) else {}
        subject = self._item_and_context(record, info)
        assessments = info.get("assessments")
        if "assessments" in record:
            assessments = _list_of_assessments(record["assessments"])
        if assessments is None and not _is_trace(record):
            yield from self._read_metrics(record, place, subject)
        else:
            for index, assessment in enumerate(assessments or []):
                where = f"{place} assessment {index}"
                yield from guarded_rows(where, self._read_assessment, assessment, where, subject)
        expected = record.get("expectations")
        for name, value in expected.items() if isinstance(expected, dict) else ():
            where = f"{place} {name}"
            yield from guarded_rows(where, self._read_known_answer, name, value, where, subject)
        if _is_trace(record) and not assessments:
            raise Odd("the trace has no assessments")

    def _item_and_context(self, record: Record, info: Record) -> dict[str, Any]:
        """Item of a record, by its identifier or else by its question, and its context."""
        identity = first_name(record, _ID_KEYS) or first_name(info, _ID_KEYS)
        question = next((text for key in _INPUT_KEYS if (text := _asked_text(record.get(key)))), None)
        context = question or (identity if any(key in record for key in _INPUT_KEYS) else None)
        if identity is None:
            identity = question or self.file
            self._inputs[identity] += 1
            identity = identity if self._inputs[identity] == 1 and question else f"{identity}/{self._inputs[identity]}"
        item = identity if self.asked.system is None else f"{identity}/{self.asked.system}"
        return {"item": item, "context": context}

    def _read_metrics(self, record: Record, place: str, subject: dict[str, Any]) -> Iterator[Row]:
        """Read the scores of the metrics; the table does not name their judges."""
        judge = self.asked.judge or _DEFAULT_JUDGE
        for column, match in _metric_columns(list(record)).items():
            name, stem, score = match["name"], match["stem"], record[column]
            if not self.asked.is_selected(name):
                continue
            self.count_event("unstated", self.asked.judge is None)
            self.count_event("metrics", name=name)
            if is_missing(score):
                failure = record.get(f"{stem}/error_message") or record.get(f"{stem}/error_code")
                yield Refused(f"{place} {name}", f"error: {failure}" if failure else "no score")
            else:
                yield from guarded_rows(f"{place} {name}", self._read_answer, judge, name, score, subject)

    def _read_assessment(self, assessment: Any, place: str, subject: dict[str, Any]) -> Iterator[Row]:
        name = name_text(assessment.get("name") or assessment.get("assessment_name"))
        if not name:
            raise Odd("the assessment has no name")
        if not self.asked.is_selected(name):
            return
        expected = assessment.get("expectation")
        if expected is not None:
            if isinstance(expected, dict):
                expected = expected.get("value", expected.get("serialized_value"))
            yield from self._read_known_answer(name, expected, place, subject)
            return
        if assessment.get("valid") is False:
            raise Odd(f"{name}: replaced by a later assessment")
        feedback = assessment.get("feedback") or {}
        feedback_fields = feedback if isinstance(feedback, dict) else {"value": feedback}
        values, feedback_error = feedback_fields.get("value"), feedback_fields.get("error")
        if error := assessment.get("error") or feedback_error:
            message = error.get("error_message") or error.get("error_code") if isinstance(error, dict) else error
            raise Odd(f"{name}: error: {message}")
        if is_missing(values):
            raise Odd(f"{name}: no value")
        judge = self._assessor_name(assessment.get("source") or {})
        for part, value in values.items() if isinstance(values, dict) else [("", values)]:
            criterion = f"{name}.{part}" if part else name
            yield from guarded_rows(place, self._read_answer, judge, criterion, value, subject)

    def _assessor_name(self, source: Record) -> str:
        """Name of the assessor; without one, the judge of the options or the kind of assessor."""
        assessor = name_text(source.get("source_id")) or ""
        if assessor.strip().lower() not in _EMPTY_ASSESSORS:
            return assessor
        if self.asked.judge:
            return self.asked.judge
        kind = (name_text(source.get("source_type")) or _DEFAULT_JUDGE).lower()
        self.count_event("nameless", name=repr(kind))
        return kind

    def _read_answer(self, judge: str, name: str, value: Any, subject: dict[str, Any]) -> Iterator[Row]:
        yield self.number_runs(self._answer(judge, name, value, "value", subject))

    def last_rows(self) -> Iterable[Row]:
        """Count for the note on the metrics, if there are several."""
        names = self.counts["metrics"]
        self.count_event("several", len(names) > 1, ", ".join(names))
        return ()

    def _read_known_answer(self, name: str, value: Any, place: str, subject: dict[str, Any]) -> Iterator[Row]:
        if self.asked.is_selected(name) and not is_missing(value):
            yield Known(place, self._answer(None, name, value, f"{name}: the expected value", subject))

    def _answer(
        self, judge: str | None, name: str, answer: Any, description: str, subject: dict[str, Any]
    ) -> Score | Label:
        value = None if isinstance(answer, bool) else number_or_none(answer)
        if value is not None:
            return Score(judge, criterion=name, score=value, system=self.asked.system, **subject)
        if not isinstance(answer, str | bool):
            raise Odd(f"{description} {short_text(answer)} is no number and no class")
        return Label(judge, criterion=name, label=str(answer), system=self.asked.system, **subject)


def _list_of_assessments(assessments: Any) -> list[Any] | None:
    """Assessments as a list, or as JSON text; None if there are none."""
    if isinstance(assessments, str) and assessments:
        try:
            assessments = json.loads(assessments)
        except (ValueError, RecursionError):
            raise Odd("the assessments are no JSON; write the table with to_json or to_parquet") from None
    if is_missing(assessments):
        return None
    if not isinstance(assessments, list):
        raise Odd(f"the assessments are a {type(assessments).__name__} instead of a list")
    return assessments


def _trace_of(record: Record) -> Record:
    """The trace in a row of a table."""
    trace = record.get("trace")
    if isinstance(trace, str):
        try:
            trace = json.loads(trace)
        except (ValueError, RecursionError):
            return {}
    return trace if isinstance(trace, dict) else {}


def _asked_text(question: Any) -> str | None:
    """Text of the question; None if there is none."""
    if isinstance(question, dict) and len(question) == 1:
        return _asked_text(next(iter(question.values())))
    if isinstance(question, dict | list):
        return json.dumps(question, ensure_ascii=False, sort_keys=True)
    return name_text(question) or None
