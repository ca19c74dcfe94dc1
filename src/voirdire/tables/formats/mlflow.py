"""MLflow's evaluations: tables of scores by metric, and traces with their assessments."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from voirdire.tables.formats.format import (
    Format,
    FormatOptions,
    guarded_rows,
    list_under,
    members,
    short_text,
)
from voirdire.tables.formats.records import Placed, Record
from voirdire.tables.formats.rows import (
    Known,
    Label,
    Note,
    Odd,
    Refused,
    Row,
    Score,
    is_missing,
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
    versioned = any(re.search(r"/v\d+/score$", column) for column in found)
    return found if versioned or any(name in columns for name in _ABOUT) else {}


def _is_metric_table(columns: Sequence[str]) -> bool:
    assessed = "assessments" in columns and any(name in columns for name in _ABOUT)
    return assessed or bool(_metric_columns(columns))


def _is_trace(record: Any) -> bool:
    info = record.get("info") if isinstance(record, dict) else None
    return isinstance(info, dict) and bool(info.keys() & {"assessments", *_IDS})


def _logged_table(head: Head) -> tuple[list[str], list[Any]] | None:
    """Columns and rows of a table as MLflow logs it."""
    columns, rows = list_under(head, "columns"), list_under(head, "data")
    if columns is None or rows is None or not all(isinstance(column, str) for column in columns):
        return None
    return columns, rows


def _traces_of_object(head: Head) -> list[Any] | None:
    found = list_under(head, "traces")
    return found if found and _is_trace(found[0]) else None


class MLflow(Format):
    """Evaluations of MLflow."""

    name, title = "mlflow", "MLflow"
    options = ("judge", "system", "questions")
    notes: ClassVar = {
        "unstated": "{name}: the table does not say by which model or program a metric was computed: all are one "
        f"judge {_STAND_IN!r} (--set judge=NAME names it)",
        "nameless": "{name}: assessments without the name of who made them are those of {names}",
    }

    def __init__(self, source: Source, options: FormatOptions) -> None:
        super().__init__(source, options)
        self._inputs: Counter[str] = Counter()

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True where a file that begins so has traces, or scores of metrics."""
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
            yield from members(traces, f"{self.file} traces[", "]")
        elif table is None:
            yield from self.source.records()
        else:
            columns, rows = table
            for at, row in enumerate(rows):
                whole = isinstance(row, list) and len(row) == len(columns)
                record = dict(zip(columns, row, strict=True)) if whole else f"no row of {len(columns)} cells"
                yield f"{self.file} data[{at}]", record

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """The rows of one row of a table, or of one trace."""
        info = (record if _is_trace(record) else _trace_of(record)).get("info")
        info = info if isinstance(info, dict) else {}
        about = self._item_and_context(record, info)
        assessments = info.get("assessments")
        if "assessments" in record:
            assessments = _list_of_assessments(record["assessments"])
        if assessments is None and not _is_trace(record):
            yield from self._read_metrics(record, place, about)
        else:
            for at, one in enumerate(assessments or []):
                where = f"{place} assessment {at}"
                yield from guarded_rows(where, self._read_assessment, one, where, about)
        expected = record.get("expectations")
        for name, said in expected.items() if isinstance(expected, dict) else ():
            where = f"{place} {name}"
            yield from guarded_rows(where, self._read_known_answer, name, said, where, about)
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
            own = asked_for or self.file
            self._inputs[own] += 1
            own = own if self._inputs[own] == 1 and asked_for else f"{own}/{self._inputs[own]}"
        item = own if self.asked.system is None else f"{own}/{self.asked.system}"
        return {"item": item, "context": context}

    def _read_metrics(self, record: Record, place: str, about: dict[str, Any]) -> Iterator[Row]:
        """The scores of the metrics, whose judges the table does not name."""
        judge = self.asked.judge or _STAND_IN
        for column, match in _metric_columns(list(record)).items():
            name, stem, said = match["name"], match["stem"], record[column]
            if not self.asked.wants(name):
                continue
            self.count("unstated", self.asked.judge is None)
            self.count("metrics", name=name)
            if is_missing(said):
                failed = record.get(f"{stem}/error_message") or record.get(f"{stem}/error_code")
                yield Refused(f"{place} {name}", f"error: {failed}" if failed else "no score")
            else:
                yield from guarded_rows(f"{place} {name}", self._read_answer, judge, name, said, about)

    def _read_assessment(self, one: Any, place: str, about: dict[str, Any]) -> Iterator[Row]:
        name = name_text(one.get("name") or one.get("assessment_name"))
        if not name:
            raise Odd("the assessment has no name")
        if not self.asked.wants(name):
            return
        expected = one.get("expectation")
        if expected is not None:
            if isinstance(expected, dict):
                expected = expected.get("value", expected.get("serialized_value"))
            yield from self._read_known_answer(name, expected, place, about)
            return
        if one.get("valid") is False:
            raise Odd(f"{name}: replaced by a later assessment")
        feedback = one.get("feedback") or {}
        plain = feedback if isinstance(feedback, dict) else {"value": feedback}
        said, failed = plain.get("value"), plain.get("error")
        if error := one.get("error") or failed:
            told = error.get("error_message") or error.get("error_code") if isinstance(error, dict) else error
            raise Odd(f"{name}: error: {told}")
        if is_missing(said):
            raise Odd(f"{name}: no value")
        judge = self._assessor_name(one.get("source") or {})
        for part, value in said.items() if isinstance(said, dict) else [("", said)]:
            criterion = f"{name}.{part}" if part else name
            yield from guarded_rows(place, self._read_answer, judge, criterion, value, about)

    def _assessor_name(self, source: Record) -> str:
        """Who assessed; where nobody is named, what kind of assessor."""
        who = name_text(source.get("source_id")) or ""
        if who.strip().lower() not in _NOBODY:
            return who
        if self.asked.judge:
            return self.asked.judge
        kind = (name_text(source.get("source_type")) or _STAND_IN).lower()
        self.count("nameless", name=repr(kind))
        return kind

    def _read_answer(self, judge: str, name: str, said: Any, about: dict[str, Any]) -> Iterator[Row]:
        yield self.numbered(self._answer(judge, name, said, "value", about))

    def last_rows(self) -> Iterator[Row]:
        """A note on the metrics, of several."""
        if len(names := self.counts["metrics"]) > 1:
            yield Note(
                f"{self.file}: the metrics {', '.join(names)} are criteria that count equally, and of each a higher "
                "score is taken for better; --set questions=NAME takes one"
            )

    def _read_known_answer(self, name: str, said: Any, place: str, about: dict[str, Any]) -> Iterator[Row]:
        if self.asked.wants(name) and not is_missing(said):
            yield Known(place, self._answer(None, name, said, f"{name}: the expected value", about))

    def _answer(
        self, judge: str | None, name: str, said: Any, what: str, about: dict[str, Any]
    ) -> Score | Label:
        value = None if isinstance(said, bool) else number_or_none(said)
        if value is not None:
            return Score(judge, criterion=name, score=value, system=self.asked.system, **about)
        if not isinstance(said, str | bool):
            raise Odd(f"{what} {short_text(said)} is no number and no class")
        return Label(judge, criterion=name, label=str(said), system=self.asked.system, **about)


def _list_of_assessments(said: Any) -> list[Any] | None:
    """Assessments, also as a text; None where there are none."""
    if isinstance(said, str) and said:
        try:
            said = json.loads(said)
        except ValueError:
            raise Odd("the assessments are no JSON; write the table with to_json or to_parquet") from None
    if is_missing(said):
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
