"""Texts with labels of people: doccano's exports, one file per annotator, and Prodigy's annotations (``db-out``).

If a file names no judge, the judge is that of the options, else the file's name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.columns import find_roles
from voirdire.tables.formats.format import Format
from voirdire.tables.formats.records import Record, first_name
from voirdire.tables.formats.rows import (
    Label,
    Odd,
    Row,
    Score,
    name_text,
    number_or_none,
    require_single_label,
    split_label_cell,
)
from voirdire.tables.formats.source import Head

_PACKED_SUFFIXES = (".gz", ".zst")
_MARKS_REASON = "marks in the text are no label of it"

_TEXT_COLUMNS, _LABEL_COLUMNS = ("text", "data", "filename"), ("label", "labels", "cats")
_FOREIGN_ROLES = {"judge", "criterion", "first", "second", "winner", "score"}  # doccano's exports have no such columns
_LABEL_SEPARATOR = "#"  # in CSV
_SHARED_FILE = "all"  # file of a project with shared labels

_PRODIGY_ANSWERS = ("accept", "reject")
_MARK_KEYS = ("spans", "relations", "audio_spans")
_INPUT_KEYS = ("_input_hash", "_task_hash", "text")


class _Annotations(Format):
    """Files that may lack the annotator's name."""

    name = "annotations"

    @cached_property
    def judge(self) -> str:
        """The annotator: the judge of the options, else the file's name, with its folder if another file shares it.

        Raises
        ------
        InputError
            The file is the standard input, and the options name no judge.
        """
        path = self.source.path
        if self.asked.judge:
            return self.asked.judge
        if path == "-":
            raise InputError("standard input: it names no judge; say --set judge=NAME (judge=)")
        judge, siblings = _name_without_endings(path), [other.path for other in self.source.siblings]
        if any(_name_without_endings(other) == judge for other in siblings if other != path):
            judge = f"{os.path.basename(os.path.dirname(os.path.abspath(path)))}/{judge}"
        is_one_of_several = len(set(map(os.path.abspath, siblings))) > 1
        self.count_event("several" if is_one_of_several else "alone", name=repr(judge))
        return judge


def _name_without_endings(path: str) -> str:
    """A file's name without its suffixes."""
    name = os.path.basename(path)
    for ending in _PACKED_SUFFIXES:
        name = name.removesuffix(ending)
    return os.path.splitext(name)[0]


def _is_old(record: Any) -> bool:
    """True for a record of doccano before 1.6, which names the annotators and numbers the labels."""
    annotations_list = record.get("annotations") if isinstance(record, dict) else None
    has_users = isinstance(annotations_list, list) and all(
        isinstance(annotation, dict) and {"user", "label"} <= annotation.keys() for annotation in annotations_list
    )
    return has_users and bool(annotations_list)


class Doccano(_Annotations):
    """doccano's exports."""

    name = "doccano"

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True if the head of a file shows texts with labels, and no column that doccano's exports lack."""
        if head.shape not in ("records", "table") or "id" not in head.keys or not head.keys & set(_TEXT_COLUMNS):
            return False
        columns = head.columns or tuple(head.first or ())
        has_labels = bool(head.keys & set(_LABEL_COLUMNS)) and not _FOREIGN_ROLES & find_roles(columns).keys()
        return _is_old(head.first) or has_labels

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read the label, or the labels of several people."""
        if _is_old(self.head.first):
            yield from _read_old_record(record)
            return
        labels = next((record[name] for name in _LABEL_COLUMNS if name in record), None)
        self.count_event("together", self.judge == _SHARED_FILE)
        if isinstance(labels, list) and any(isinstance(part, list | dict) for part in labels):
            raise Odd(_MARKS_REASON)
        parts = labels.split(_LABEL_SEPARATOR) if self.head.shape == "table" and isinstance(labels, str) else []
        label = require_single_label(parts if len(parts) > 1 and all(parts) else labels)
        yield Label(self.judge, name_text(record["id"]), label)


def _read_old_record(record: Record) -> Iterator[Row]:
    by_person: dict[str | None, list[Any]] = {}
    for annotation in record["annotations"]:
        if "start_offset" in annotation:
            raise Odd(_MARKS_REASON)
        by_person.setdefault(name_text(annotation["user"]), []).append(annotation["label"])
    if not by_person:
        raise Odd("no label")
    for judge, labels in by_person.items():
        yield Label(judge, name_text(record["id"]), labels if len(labels) > 1 else name_text(labels[0]))


class Prodigy(_Annotations):
    """Prodigy's annotations (``db-out``)."""

    name = "prodigy"

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read a choice among options, or the acceptance or rejection of a label."""
        judge = name_text(record.get("_annotator_id") or record.get("_session_id")) or self.judge
        answer, criterion = _answer_and_label(record)
        item = first_name(record, _INPUT_KEYS)
        yield self.number_runs((Label if isinstance(answer, str) else Score)(judge, item, answer, criterion))


def _answer_and_label(record: Record) -> tuple[str | float, str | None]:
    """Answer of an annotator, and the label in question, if any.

    Raises
    ------
    Odd
        The record holds no single label.
    """
    answer = record.get("answer")
    if answer == "ignore":
        raise Odd("ignored by the annotator")
    if answer not in _PRODIGY_ANSWERS:
        is_empty = answer in (None, "")
        raise Odd("no answer" if is_empty else f"answer {answer!r} is none of accept, reject, ignore")
    if isinstance(record.get("accept"), dict):
        raise Odd("a comparison of two texts (compare), which names neither; its answers are not read")
    if "accept" in record or record.get("options"):
        if answer == "reject":
            raise Odd("the whole task is rejected, no option is chosen")
        return _accepted_option(record), None
    label = name_text(record.get("label")) or None
    if label is None and any(record.get(name) for name in _MARK_KEYS):
        raise Odd(_MARKS_REASON)
    return answer, label


def _accepted_option(record: Record) -> str | float:
    accepted = split_label_cell(record.get("accept"))
    if not accepted:
        raise Odd("no option is accepted")
    if len(accepted) > 1:
        raise Odd(f"{len(accepted)} options are accepted: {', '.join(accepted)}")
    options = [option for option in record.get("options") or [] if isinstance(option, dict)]
    texts = [number_or_none(option.get("text", option.get("id"))) for option in options]
    ids = [number_or_none(option.get("id")) for option in options]
    value = number_or_none(accepted[0])
    return value if options and None not in ids and texts == ids and value is not None else accepted[0]
