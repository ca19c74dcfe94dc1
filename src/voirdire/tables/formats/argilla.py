"""Answers of people to questions in Argilla."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from voirdire.tables.formats.format import Format, guarded_rows, has_keys, short_text
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Odd, Refused, Row, name_text, number_or_none, score_or_label
from voirdire.tables.formats.source import Head
from voirdire.tables.label_sets import list_in_text

_USERS_SUFFIX, _SUGGESTION_SUFFIX = ".responses.users", "-suggestion"


class Argilla(Format):
    """Records of Argilla, as JSON or flattened, also those of Argilla 1."""

    name = "argilla"

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True if the head of a file shows responses."""
        flat = head.shape in ("records", "table") and (
            any(key.endswith(_USERS_SUFFIX) for key in head.keys) or _is_first_version(head)
        )
        return super().detect(head) or flat

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read the responses to the selected questions."""
        read_responses, suggested = _responses_to_question, 0
        first_version = _is_first_version(self.head)
        item = name_text(record["external_id" if first_version else "id"])
        self.count_event("texts", not self.asked.questions)
        if first_version:
            names, read_responses = _questions_of_first_version(record), _responses_of_first_version
            suggested = sum(record[f"{name}{_SUGGESTION_SUFFIX}"] is not None for name in names)
            self.count_event("nameless", not item)
            item = item or place
        elif has_keys(self.head, self.needs):
            names, suggested = list(record["responses"] or {}), len(record.get("suggestions") or {})
            self.count_event("status")
        else:
            names, read_responses = (
                [key.removesuffix(_USERS_SUFFIX) for key in record if key.endswith(_USERS_SUFFIX)],
                _flattened_responses,
            )
            suggested = sum(record.get(f"{name}.suggestion") not in (None, "") for name in names)
        self.count_event("suggested", suggested)
        for name in filter(self.asked.is_selected, names):
            yield from guarded_rows(f"{place} {name}", _read_answers, read_responses(record, name), item, name, place)


def _read_answers(responses: _Responses, item: str | None, name: str, place: str) -> Iterator[Row]:
    for value, user, status in responses:
        where = f"{place} {name} {user}"
        if status not in (None, "submitted"):
            yield Refused(where, f"status {status!r}: not submitted")
            continue
        try:
            yield score_or_label(user, item, value, criterion=name)
        except Odd:
            yield Refused(where, f"value {short_text(value)}")


_Responses: TypeAlias = Iterator[tuple[Any, str | None, Any]]


def _responses_to_question(record: Record, name: str) -> _Responses:
    for response in record["responses"][name]:
        yield response["value"], name_text(response["user_id"]), response.get("status")


def _flattened_responses(record: Record, name: str) -> _Responses:
    suffixes = ("", ".users", ".status")
    values, users, states = (_listed_cells(record.get(f"{name}.responses{end}")) for end in suffixes)
    states = states or [None] * len(users)
    if not len(values) == len(users) == len(states):
        raise Odd(f"question {name!r} has {len(values)} answers of {len(users)} people")
    for value, user, status in zip(values, users, states, strict=True):
        yield value, name_text(user), status


def _listed_cells(content: Any) -> list[Any]:
    """The cells of a list, or of a list that CSV holds as text."""
    if not isinstance(content, str) or not content:
        return content or []
    cells = list_in_text(content)
    if cells is None:
        raise Odd(f"{short_text(content)} is no list; export the records as JSON")
    quoted = any(mark in content for mark in "\"'")
    return [cell if quoted or (value := number_or_none(cell)) is None else value for cell in cells]


def _is_first_version(head: Head) -> bool:
    """True for records of Argilla 1, where each question is a column beside that of its suggestion."""
    return "external_id" in head.keys and bool(_questions_of_first_version(head.keys))


def _questions_of_first_version(keys: Iterable[str]) -> list[str]:
    return [key.removesuffix(_SUGGESTION_SUFFIX) for key in keys if key.endswith(_SUGGESTION_SUFFIX)]


def _responses_of_first_version(record: Record, name: str) -> _Responses:
    responses = record.get(name) or []
    if isinstance(responses, dict):  # by column, as Parquet has them
        responses = [dict(zip(responses, cells, strict=True)) for cells in zip(*responses.values(), strict=True)]
    for response in responses:
        yield response["value"], name_text(response["user_id"]), response.get("status")
