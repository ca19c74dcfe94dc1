"""Texts that people label: doccano's exports, one file an annotator, and Prodigy's annotations (``db-out``).

The judge of a file that names none is who is asked for, else the file's own name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

from voirdire.errors import InputError
from voirdire.tables.columns import find_roles
from voirdire.tables.formats.format import JOIN_FILES, Format, key_sets
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import (
    Label,
    Odd,
    Row,
    Score,
    labels_in,
    name_text,
    number_or_none,
    one_label,
)
from voirdire.tables.formats.source import Head

_PACKED = (".gz", ".zst")
_BY_NAME = (
    "{name}: the file names no judge: its answers are those of {names}, by the file's name (--set judge=NAME is "
    "another name)"
)
_MARKS = "marks in the text are no label of it"

_TEXT, _LABEL = ("text", "data", "filename"), ("label", "labels", "cats")
_OTHERS = {"judge", "criterion", "first", "second", "winner", "score"}  # no export of doccano has them
_JOINED = "#"  # between labels, in CSV
_TOGETHER = "all"  # the file of a project whose annotators share their labels

_ANSWERS = ("accept", "reject")
_MARKED = ("spans", "relations", "audio_spans")
_INPUT = ("_input_hash", "_task_hash", "text")


class _Annotations(Format):
    """Files that may not name their annotator."""

    options = ("judge",)
    notes: ClassVar = {"several": _BY_NAME, "alone": f"{_BY_NAME}; {JOIN_FILES}"}

    @cached_property
    def judge(self) -> str:
        """Who annotated the file: who is asked for, else the file's name, with its folder where another has it, too.

        Raises
        ------
        InputError
            It comes from the standard input and nobody names the judge.
        """
        path = self.source.path
        if self.asked.judge:
            return self.asked.judge
        if path == "-":
            raise InputError("standard input: it names no judge; say --set judge=NAME (judge=)")
        judge, siblings = _name_without_endings(path), [other.path for other in self.source.siblings]
        if any(_name_without_endings(other) == judge for other in siblings if other != path):
            judge = f"{os.path.basename(os.path.dirname(os.path.abspath(path)))}/{judge}"
        several = len(set(map(os.path.abspath, siblings))) > 1
        self.count("several" if several else "alone", name=repr(judge))
        return judge


def _name_without_endings(path: str) -> str:
    """A file's name without its endings."""
    name = os.path.basename(path)
    for ending in _PACKED:
        name = name.removesuffix(ending)
    return os.path.splitext(name)[0]


def _is_old(record: Any) -> bool:
    """True where a record is of doccano before 1.6, which names the people, and labels by numbers."""
    found = record.get("annotations") if isinstance(record, dict) else None
    named = isinstance(found, list) and all(
        isinstance(one, dict) and {"user", "label"} <= one.keys() for one in found
    )
    return named and bool(found)


class Doccano(_Annotations):
    """doccano's exports."""

    name, title = "doccano", "doccano"
    notes: ClassVar = _Annotations.notes | {
        "together": "{name}: doccano calls a file so where annotators share their labels; export the project with "
        "collaborative annotation off to have one file for each"
    }

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True where a file that begins so has texts with labels, and nothing that no export has."""
        if head.shape not in ("records", "table") or "id" not in head.keys or not head.keys & set(_TEXT):
            return False
        columns = head.columns or tuple(head.first or ())
        own = bool(head.keys & set(_LABEL)) and not _OTHERS & find_roles(columns).keys()
        return _is_old(head.first) or own

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """The label, or the labels of several people."""
        if _is_old(self.head.first):
            yield from _read_old_record(record)
            return
        said = next((record[name] for name in _LABEL if name in record), None)
        self.count("together", self.judge == _TOGETHER)
        if isinstance(said, list) and any(isinstance(part, list | dict) for part in said):
            raise Odd(_MARKS)
        parts = said.split(_JOINED) if self.head.shape == "table" and isinstance(said, str) else []
        label = one_label(parts if len(parts) > 1 and all(parts) else said)
        yield Label(self.judge, name_text(record["id"]), label)


def _read_old_record(record: Record) -> Iterator[Row]:
    by_person: dict[str | None, list[Any]] = {}
    for annotation in record["annotations"]:
        if "start_offset" in annotation:
            raise Odd(_MARKS)
        by_person.setdefault(name_text(annotation["user"]), []).append(annotation["label"])
    if not by_person:
        raise Odd("no label")
    for judge, labels in by_person.items():
        yield Label(judge, name_text(record["id"]), labels if len(labels) > 1 else name_text(labels[0]))


class Prodigy(_Annotations):
    """Prodigy's annotations (``db-out``)."""

    name, title, needs = "prodigy", "Prodigy", key_sets("answer _task_hash", "answer _input_hash")

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """A choice among options, or a label that is accepted or rejected."""
        judge = name_text(record.get("_annotator_id") or record.get("_session_id")) or self.judge
        said, criterion = _answer_and_label(record)
        item = next((name for key in _INPUT if (name := name_text(record.get(key))) is not None), None)
        yield self.numbered((Label if isinstance(said, str) else Score)(judge, item, said, criterion))


def _answer_and_label(record: Record) -> tuple[str | float, str | None]:
    """Answer of an annotator, and the label that was asked about, where there was one.

    Raises
    ------
    Odd
        Nothing that is one label.
    """
    answer = record.get("answer")
    if answer == "ignore":
        raise Odd("ignored by the annotator")
    if answer not in _ANSWERS:
        none = answer in (None, "")
        raise Odd("no answer" if none else f"answer {answer!r} is none of accept, reject, ignore")
    if isinstance(record.get("accept"), dict):
        raise Odd("a comparison of two texts (compare), which names neither; its answers are not read")
    if "accept" in record or record.get("options"):
        if answer == "reject":
            raise Odd("the whole task is rejected, no option is chosen")
        return _accepted_option(record), None
    label = name_text(record.get("label")) or None
    if label is None and any(record.get(name) for name in _MARKED):
        raise Odd(_MARKS)
    return answer, label


def _accepted_option(record: Record) -> str | float:
    accepted = labels_in(record.get("accept"))
    if not accepted:
        raise Odd("no option is accepted")
    if len(accepted) > 1:
        raise Odd(f"{len(accepted)} options are accepted: {', '.join(accepted)}")
    options = [one for one in record.get("options") or [] if isinstance(one, dict)]
    scale = [number_or_none(one.get("text", one.get("id"))) for one in options]
    ids = [number_or_none(one.get("id")) for one in options]
    value = number_or_none(accepted[0])
    return value if options and None not in ids and scale == ids and value is not None else accepted[0]
