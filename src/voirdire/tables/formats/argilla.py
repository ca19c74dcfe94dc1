"""Records of Argilla: people's responses to questions, as JSON or flattened."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from voirdire.tables.formats.format import Asked, Format, has_keys, key_sets, read_records, short_text
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Note, Odd, Refused, Row, name_text, score_or_label
from voirdire.tables.formats.source import Head, Source

_NEEDS = key_sets("fields responses _server_id")
_USERS = ".responses.users"


def _detect_format(head: Head) -> bool:
    flat = head.shape in ("records", "table") and any(key.endswith(_USERS) for key in head.keys)
    return has_keys(head, _NEEDS) or flat


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    suggested = 0
    flat = not has_keys(source.head, _NEEDS)

    def read_record(record: Record, place: str) -> Iterator[Row]:
        nonlocal suggested
        item = name_text(record["id"])
        if flat:
            names = [key.removesuffix(_USERS) for key in record if key.endswith(_USERS)]
            suggested += sum(record.get(f"{name}.suggestion") is not None for name in names)
        else:
            names = list(record["responses"] or {})
            suggested += len(record.get("suggestions") or {})
        for name in names:
            if asked.questions and name not in asked.questions:
                continue
            for value, user, status in _responses_to_question(record, name, flat):
                where = f"{place} {name} {user}"
                if status not in (None, "submitted"):
                    yield Refused(where, f"status {status!r}: not submitted")
                    continue
                try:
                    yield score_or_label(user, item, value, criterion=name)
                except Odd:
                    yield Refused(where, f"value {short_text(value)}")

    yield from read_records(source, read_record)
    if suggested:
        yield Note(f"{suggested} suggestions of models were shown to people and are left out")
    if not flat:
        yield Note("to_json drops the status of responses: drafts and discarded ones cannot be told apart")
    if not asked.questions:
        yield Note(
            "answers to questions of free text look like labels; --set questions=a,b names those that are wanted"
        )


def _responses_to_question(record: Record, name: str, flat: bool) -> Iterator[tuple[Any, str | None, Any]]:
    if not flat:
        for response in record["responses"][name]:
            yield response["value"], name_text(response["user_id"]), response.get("status")
        return
    values, users = record.get(f"{name}.responses") or [], record[f"{name}{_USERS}"] or []
    states = record.get(f"{name}.responses.status") or [None] * len(users)
    if not len(values) == len(users) == len(states):
        raise Odd(f"question {name!r} has {len(values)} answers of {len(users)} people")
    for value, user, status in zip(values, users, states, strict=True):
        yield value, name_text(user), status


FORMAT = Format("argilla", "Argilla", _NEEDS, _detect_format, _read_rows, ("questions",))
