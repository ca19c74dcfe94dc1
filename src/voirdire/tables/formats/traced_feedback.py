"""Feedback on traces of programs that call models: scores of Langfuse and feedback of LangSmith."""

from __future__ import annotations

from collections.abc import Iterator

from voirdire.tables.formats.format import Format, FormatOptions, guarded_rows, is_page
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import UNKNOWN, Label, Odd, Row, Score, Vote, name_text, number_or_none, score_row
from voirdire.tables.formats.source import Head, Source


class Langfuse(Format):
    """Scores from Langfuse's export or API."""

    name = "langfuse"

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True if the head of a file is that of an export, or of a response of the API."""
        return super().detect(head) or ("meta" in head.keys and is_page(head, ("dataType", "source")))

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read the score or the label of a record."""
        kind = record["dataType"]
        if kind not in ("NUMERIC", "BOOLEAN", "CATEGORICAL"):
            raise Odd(f"{kind}: no score and no class")
        self.count_event("nameless", record["source"] == "EVAL")
        subject = record.get("subject") or {}
        trace = record.get("traceId") or subject.get("traceId")
        item = record.get("observationId") or trace or record.get("sessionId") or record.get("datasetRunId")
        judge, item = _langfuse_judge(record), name_text(item or subject.get("id"))
        columns = {"criterion": name_text(record["name"]), "context": name_text(trace) or None}
        if kind == "NUMERIC":
            value = record["value"]
            yield score_row(place, judge, item, value, f"value {value!r} is no number", **columns)
        else:
            yield Label(judge, item, _langfuse_class(record, kind), **columns)


def _langfuse_class(record: Record, kind: str) -> str | None:
    """The class of a score: its text, else its value, as in newer responses of the API."""
    text, value = name_text(record.get("stringValue")), record.get("value")
    if kind == "BOOLEAN" and not text and number_or_none(value) in (0, 1):
        return str(bool(number_or_none(value)))
    return text or (value if isinstance(value, str) else None)


def _langfuse_judge(record: Record) -> str | None:
    if record["source"] == "ANNOTATION":
        person = record.get("authorUserName") or record.get("authorUserId")
        if not person:
            raise Odd("nobody is named as the annotator")
        return name_text(person)
    return (name_text(record["source"]) or "").lower()


class LangSmith(Format):
    """Feedback of LangSmith, with comparisons; the records of a comparison share a group."""

    name = "langsmith"

    def __init__(self, source: Source, options: FormatOptions) -> None:
        super().__init__(source, options)
        self._compared: dict[tuple[str, str], list[Record]] = {}

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read the score or the label of one record."""
        if record.get("feedback_group_id"):
            self._compared.setdefault((record["feedback_group_id"], record["key"]), []).append(record)
            return
        judge, item = _langsmith_judge(record), name_text(record["run_id"])
        columns = {"criterion": name_text(record["key"]), "context": name_text(record.get("trace_id"))}
        score, value = number_or_none(record.get("score")), record.get("value")
        if score is not None:
            yield Score(judge, item, score, **columns)
        elif isinstance(value, str) and value:
            yield Label(judge, item, value, **columns)
        else:
            raise Odd("neither a score nor a text value")

    def last_rows(self) -> Iterator[Row]:
        """Give the vote of each comparison group."""
        for (group, key), records in self._compared.items():
            place = f"{self.file} comparison {group}"
            yield from guarded_rows(place, _read_comparison, group, key, records)
        self.count_event("compared", len(self._compared))


def _read_comparison(group: str, key: str, records: list[Record]) -> Iterator[Row]:
    if len(records) != 2:
        raise Odd(f"{len(records)} runs are compared, not two")
    first_score, second_score = (number_or_none(record.get("score")) for record in records)
    if first_score is None or second_score is None:
        raise Odd("one of the two scores is missing")
    first_run, second_run = (name_text(record.get("session_id") or record["run_id"]) for record in records)
    winner = "tie" if first_score == second_score else "first" if first_score > second_score else "second"
    judge = _langsmith_judge(records[0])
    yield Vote(judge, first_run, second_run, winner, name_text(key), name_text(group), order=UNKNOWN)


def _langsmith_judge(record: Record) -> str | None:
    source = record["feedback_source"] or {}
    name = source.get("user_name") or source.get("user_id") or (source.get("metadata") or {}).get("model")
    return name_text(name or source.get("type") or "unknown")
