"""doccano's exports: one file an annotator, with one label an example, or several."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from voirdire.tables.columns import find_roles
from voirdire.tables.formats.file_judge import judge_of_file
from voirdire.tables.formats.format import Asked, Format, read_records
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Label, Note, Odd, Row, name_text, one_label
from voirdire.tables.formats.source import Head, Source

_TEXT, _LABEL = ("text", "data", "filename"), ("label", "labels", "cats")
_OTHERS = {"judge", "criterion", "first", "second", "winner", "score"}  # no export has them
_JOINED = "#"  # between labels, in CSV
_TOGETHER = "all"  # the file of a project whose annotators share their labels


def _detect_format(head: Head) -> bool:
    if head.shape not in ("records", "table") or "id" not in head.keys or not head.keys & set(_TEXT):
        return False
    if _is_old(head.first):
        return True
    if not head.keys & set(_LABEL):
        return False
    columns = head.columns or tuple(head.first or ())
    return not _OTHERS & find_roles(columns).keys()


def _is_old(record: Any) -> bool:
    """True where a record is of doccano before 1.6, which names the people, and labels by numbers."""
    found = record.get("annotations") if isinstance(record, dict) else None
    return (
        isinstance(found, list)
        and bool(found)
        and all(isinstance(one, dict) and {"user", "label"} <= one.keys() for one in found)
    )


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    if _is_old(source.head.first):
        return read_records(source, _read_old_record)
    return _read_one_person(source, asked)


def _read_one_person(source: Source, asked: Asked) -> Iterator[Row]:
    judge, notes = judge_of_file(source, asked)
    joined = source.head.shape == "table"

    def read_record(record: Record, place: str) -> Iterator[Row]:
        said = next((record[name] for name in _LABEL if name in record), None)
        if isinstance(said, list) and any(isinstance(part, list | dict) for part in said):
            raise Odd("marks in the text are no label of it")
        parts = said.split(_JOINED) if joined and isinstance(said, str) else []
        yield Label(
            judge, name_text(record["id"]), one_label(parts if len(parts) > 1 and all(parts) else said)
        )

    yield from read_records(source, read_record)
    yield from notes
    if judge == _TOGETHER:
        yield Note(
            f"{source.name}: doccano calls a file so where annotators share their labels; export the project with "
            "collaborative annotation off to have one file for each"
        )


def _read_old_record(record: Record, place: str) -> Iterator[Row]:
    by_person: dict[str | None, list[Any]] = {}
    for annotation in record["annotations"]:
        if "start_offset" in annotation:
            raise Odd("marks in the text are no label of it")
        by_person.setdefault(name_text(annotation["user"]), []).append(annotation["label"])
    if not by_person:
        raise Odd("no label")
    for judge, labels in by_person.items():
        yield Label(judge, name_text(record["id"]), labels if len(labels) > 1 else name_text(labels[0]))


FORMAT = Format("doccano", "doccano", (), _detect_format, _read_rows, ("judge",))
