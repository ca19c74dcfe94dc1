"""Annotations of Potato: its exports by line or column, and the states of its users."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from voirdire.tables.formats.format import Asked, Format, guarded_rows, has_keys, key_sets, read_records
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import (
    Label,
    Refused,
    Row,
    Score,
    Vote,
    join_names,
    name_text,
    number_or_none,
)
from voirdire.tables.formats.source import Head, Source

_NEEDS = key_sets("instance_id user_id labels", "id label_annotations")
_STATE = "instance_id_to_label_to_value"
_OUTCOMES = {"A": "first", "B": "second", "tie": "tie"}
_UNSET = (None, "", False, "false", "False")
_PAIRWISE = "selection"


def _schema_columns(head: Head) -> tuple[str, ...]:
    """The columns ``schema.label`` or ``schema:::label`` of a table."""
    if head.shape != "table" or "instance_id" not in head.keys or not head.keys & {"user", "user_id"}:
        return ()
    return tuple(name for name in head.columns if ":::" in name or "." in name)


def _detect_format(head: Head) -> bool:
    state = head.shape == "object" and _STATE in head.keys
    return has_keys(head, _NEEDS) or state or bool(_schema_columns(head))


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    if source.head.shape == "object" and _STATE in source.head.keys:
        user = source.head.first.get("user_id") or asked.judge
        for item, labels in source.head.first[_STATE].items():
            yield from guarded_rows(f"{source.name} {user} {item}", _read_user_state, user, item, labels)
        return
    columns = _schema_columns(source.head)

    def read_record(record: Record, place: str) -> Iterator[Row]:
        if columns:
            found: dict[str, dict[str, Any]] = {}
            for name in columns:
                schema, _, label = name.partition(":::" if ":::" in name else ".")
                if record[name] not in _UNSET:
                    found.setdefault(schema, {})[label] = record[name]
            return _read_answers(
                name_text(record.get("user_id") or record.get("user")), record["instance_id"], found
            )
        if "label_annotations" in record:
            return _read_answers(asked.judge, name_text(record["id"]), record["label_annotations"])
        return _read_answers(name_text(record["user_id"]), name_text(record["instance_id"]), record["labels"])

    yield from read_records(source, read_record)


def _read_user_state(user: str | None, item: str, labels: list[tuple[dict[str, str], Any]]) -> Iterator[Row]:
    found: dict[str, dict[str, Any]] = {}
    for label, value in labels:
        found.setdefault(label["schema"], {})[label["name"]] = value
    return _read_answers(user, item, found)


def _read_answers(
    user: str | None, item: str | None, schemas: Mapping[str, Mapping[str, Any]]
) -> Iterator[Row]:
    for schema, labels in schemas.items():
        names = [name for name, value in labels.items() if value not in _UNSET]
        if not labels:
            yield Refused(f"{user} {item} {schema}", "no label")
        if not names:
            continue
        if len(names) > 1:
            yield Refused(f"{user} {item} {schema}", f"{len(names)} labels: {', '.join(names)}")
        elif names == [_PAIRWISE]:
            said = labels[_PAIRWISE]
            if said in _OUTCOMES:
                yield Vote(user, join_names(item, "A"), join_names(item, "B"), _OUTCOMES[said], schema, item)
            else:
                yield Refused(f"{user} {item} {schema}", f"selection {said!r} is none of A, B, tie")
        elif (value := number_or_none(names[0])) is not None:
            yield Score(user, item, value, schema)
        else:
            yield Label(user, item, names[0], schema)


FORMAT = Format("potato", "Potato", _NEEDS, _detect_format, _read_rows, ("judge",))
