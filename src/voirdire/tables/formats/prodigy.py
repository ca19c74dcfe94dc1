"""Prodigy's annotations (``db-out``): choices among options, and labels that are accepted or rejected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from voirdire.tables.formats.file_judge import judge_of_file
from voirdire.tables.formats.format import Asked, Format, has_keys, key_sets, read_records
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Label, Note, Odd, Row, Score, labels_in, name_text, number_or_none
from voirdire.tables.formats.source import Head, Source

_NEEDS = key_sets("answer _task_hash", "answer _input_hash")
_ANSWERS = ("accept", "reject")
_MARKED = ("spans", "relations", "audio_spans")


def _detect_format(head: Head) -> bool:
    return has_keys(head, _NEEDS)


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    nameless: list[Note] = []
    seen: Counter[tuple[Any, ...]] = Counter()

    def read_record(record: Record, place: str) -> Iterator[Row]:
        judge = name_text(record.get("_annotator_id") or record.get("_session_id"))
        if not judge:
            judge, notes = judge_of_file(source, asked)
            nameless.extend(notes)
        said, criterion = _answer_and_label(record)
        item = _shown_input(record)
        seen[judge, item, criterion] += 1
        run = seen[judge, item, criterion]
        if isinstance(said, str):
            yield Label(judge, item, said, criterion, run=run)
        else:
            yield Score(judge, item, said, criterion, run=run)

    yield from read_records(source, read_record)
    yield from nameless[:1]


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
        raise Odd(
            "no answer" if answer in (None, "") else f"answer {answer!r} is none of accept, reject, ignore"
        )
    if "accept" in record or record.get("options"):
        if answer == "reject":
            raise Odd("the whole task is rejected, no option is chosen")
        return _accepted_option(record), None
    label = name_text(record.get("label"))
    if label:
        return answer, label
    if any(record.get(name) for name in _MARKED):
        raise Odd("marks in the text are no label of it")
    return answer, None


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


def _shown_input(record: Record) -> str | None:
    """The input that was shown, whatever was asked about it."""
    for key in ("_input_hash", "_task_hash", "text"):
        if (name := name_text(record.get(key))) is not None:
            return name
    return None


FORMAT = Format("prodigy", "Prodigy", _NEEDS, _detect_format, _read_rows, ("judge",))
