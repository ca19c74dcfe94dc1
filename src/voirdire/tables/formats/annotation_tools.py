"""Answers of people in the annotation tools Label Studio and Potato."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.formats.format import Format, guarded_rows
from voirdire.tables.formats.records import Placed, Record
from voirdire.tables.formats.rows import Label, Refused, Row, Score, Vote, join_names, name_text, number_or_none
from voirdire.tables.formats.source import Head

_OUTCOME_OF_SIDE = {"left": "first", "right": "second"}

_STATE_KEY = "instance_id_to_label_to_value"
_OUTCOME_OF_LETTER = {"A": "first", "B": "second", "tie": "tie"}
_UNSET_VALUES = (None, "", False, "false", "False")
_SCALE_NAME = "scale_value"  # compares two items: below 0 A is better, above 0 B
_NUMBER_NAMES = ("slider", "number")
_TEXT_NAMES = ("text_box", "free_response", "justification")
_PAIRWISE_NAME = "selection"


class LabelStudio(Format):
    """Label Studio's JSON export."""

    name = "labelstudio"

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True if the first record has annotations, or an empty list of them."""
        if head.shape != "records" or "id" not in head.keys:
            return False
        lists = (head.first.get(key) for key in ("annotations", "completions"))
        return any(members == [] or _has_results(members) for members in lists)

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Ratings, choices and pairwise comparisons of people."""
        self.count_event("predictions", len(record.get("predictions") or []))
        name = name_text(record["id"])
        for annotation in record.get("completions") or []:
            where = f"{self.file} task {name} completion {annotation.get('id')}"
            yield Refused(where, "completions are of Label Studio before 1.0; export it with a newer one")
        for annotation in record["annotations"] if "completions" not in record else []:
            where = f"{self.file} task {name} annotation {annotation.get('id')}"
            if annotation.get("was_cancelled"):
                yield Refused(where, "cancelled (skipped)")
                continue
            self.count_event("truth", bool(annotation.get("ground_truth")))
            yield from guarded_rows(where, self._read_annotation, where, name, annotation)

    def _read_annotation(self, where: str, name: str | None, annotation: Record) -> Iterator[Row]:
        annotator = annotation["completed_by"]
        judge = name_text(annotator.get("email") or annotator["id"] if isinstance(annotator, dict) else annotator)
        for result in annotation["result"]:
            yield from guarded_rows(where, self._read_result, where, judge, name, result)

    def _read_result(self, where: str, judge: str | None, name: str | None, result: Record) -> Iterator[Row]:
        row = _read_result(where, judge, name, result)
        self.count_event("others" if row is None else "answers")
        if row is not None:
            yield row

    def last_rows(self) -> Iterable[Row]:
        """Raise if the file holds no answer."""
        if self.counts["others"] and not self.counts["answers"]:
            raise InputError(f"{self.file}: nothing that is a vote, a score or a label")
        return ()


def _has_results(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(member, dict) and "result" in member for member in value)


def _read_result(place: str, judge: str | None, task: str | None, result: Record) -> Row | None:
    kind, value, criterion = result.get("type"), result.get("value") or {}, result.get("from_name")
    if kind in ("rating", "number"):
        return Score(judge, task, value[kind], criterion)
    if kind == "choices":
        chosen = value["choices"]
        if len(chosen) == 1:
            return Label(judge, task, chosen[0], criterion)
        return Refused(f"{place} {criterion}", f"several choices: {chosen}" if chosen else "no choice")
    if kind == "pairwise":
        names = result["to_name"]
        first, second = names if isinstance(names, list) else names.split(",")
        selected = value.get("selected")
        if selected not in _OUTCOME_OF_SIDE:
            return Refused(f"{place} {criterion}", f"selected {selected!r} is neither left nor right")
        pair = join_names(task, first), join_names(task, second)
        return Vote(judge, *pair, _OUTCOME_OF_SIDE[selected], criterion, task)
    return None


def _schema_columns(head: Head) -> tuple[str, ...]:
    """The columns ``schema.label`` or ``schema:::label`` of a table of Potato."""
    if head.shape != "table" or "instance_id" not in head.keys or not head.keys & {"user", "user_id"}:
        return ()
    return tuple(name for name in head.columns if ":::" in name or "." in name)


def _is_state(head: Head) -> bool:
    """True for the state of one user."""
    return head.shape == "object" and _STATE_KEY in head.keys


class Potato(Format):
    """An export of Potato by line or column, or the state of a user."""

    name = "potato"

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True if the head of a file is that of an export or of a user's state."""
        return super().detect(head) or _is_state(head) or bool(_schema_columns(head))

    @cached_property
    def _columns(self) -> tuple[str, ...]:
        """Columns of answers in an export by column."""
        return _schema_columns(self.head)

    def records(self) -> Placed:
        """The records; a user's state gives one record per item, with its labels."""
        if not _is_state(self.head):
            yield from self.source.records()
            return
        user = self.head.first.get("user_id") or self.asked.judge
        for item, labels in self.head.first[_STATE_KEY].items():
            yield f"{self.file} {user} {item}", {"user_id": user, "instance_id": item, "state": labels}

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read a user's answers about an item."""
        schemas: dict[str, dict[str, Any]] = {}
        if _is_state(self.head):
            user, item = record["user_id"], record["instance_id"]
            for label, value in record["state"]:
                schemas.setdefault(label["schema"], {})[label["name"]] = value
        elif self._columns:
            user, item = name_text(record.get("user_id") or record.get("user")), record["instance_id"]
            for name in self._columns:
                schema, _, label = name.partition(":::" if ":::" in name else ".")
                if record[name] not in _UNSET_VALUES:
                    schemas.setdefault(schema, {})[label] = record[name]
        elif "label_annotations" in record:
            user, item, schemas = self.asked.judge, name_text(record["id"]), record["label_annotations"]
        else:
            user, item = name_text(record["user_id"]), name_text(record["instance_id"])
            schemas = record["labels"]
        for schema, labels in schemas.items():
            place = f"{user} {item} {schema}"
            yield from guarded_rows(place, self._read_schema, place, user, item, schema, labels)

    def _read_schema(
        self, place: str, user: str | None, item: str | None, schema: str, labels: Mapping[str, Any]
    ) -> Iterator[Row]:
        if not labels:
            yield Refused(place, "no label")
        chosen = {name: value for name, value in labels.items() if value not in _UNSET_VALUES and name[:1] != "_"}
        texts = [chosen.pop(name) for name in _TEXT_NAMES if name in chosen]
        self.count_event("texts", len(texts))
        names = list(chosen)
        comparisons = [
            name for name, value in chosen.items() if name in (_PAIRWISE_NAME, _SCALE_NAME) or _is_side(name, value)
        ]
        if comparisons == names:
            for name in names:
                criterion = schema if name in (_PAIRWISE_NAME, _SCALE_NAME) else f"{schema}.{name}"
                yield self._read_comparison(place, user, item, name, chosen[name], criterion)
        elif len(names) > 1:
            yield Refused(place, f"{len(names)} labels: {', '.join(names)}")
        elif names[0] in _NUMBER_NAMES:
            number = number_or_none(chosen[names[0]])
            reason = f"{names[0]} {chosen[names[0]]!r} is no number"
            yield Refused(place, reason) if number is None else Score(user, item, number, schema)
        elif (value := number_or_none(names[0])) is not None:
            yield Score(user, item, value, schema)
        else:
            yield Label(user, item, names[0], schema)

    def _read_comparison(
        self, place: str, user: str | None, item: str | None, name: str, answer: Any, criterion: str
    ) -> Row:
        pair = join_names(item, "A"), join_names(item, "B")
        if name != _SCALE_NAME:
            outcome = _OUTCOME_OF_LETTER.get(answer)
            reason = f"{name} {answer!r} is none of A, B, tie"
        else:
            value = number_or_none(answer)
            outcome = None if value is None else "tie" if value == 0 else "first" if value < 0 else "second"
            reason = f"{name} {answer!r} is no number"
            self.count_event("strength", outcome is not None)
        return Refused(place, reason) if outcome is None else Vote(user, *pair, outcome, criterion, item)


def _is_side(name: str, value: Any) -> bool:
    """True if the value of a label names the better of two items; otherwise it says that the label was chosen."""
    return isinstance(value, str) and value in _OUTCOME_OF_LETTER and value != name
