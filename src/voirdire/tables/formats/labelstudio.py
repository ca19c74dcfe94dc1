"""Label Studio's JSON export: ratings, choices and pairwise comparisons of people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.formats.format import Asked, Format, has_keys, read_records
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Label, Note, Refused, Row, Score, Vote, join_names, name_text
from voirdire.tables.formats.source import Head, Source

_SIDES = {"left": "first", "right": "second"}


def _detect_format(head: Head) -> bool:
    if not has_keys(head, (frozenset({"id"}),)):
        return False
    return any(_is_annotation_list(head.first.get(key)) for key in ("annotations", "completions"))


def _is_annotation_list(found: Any) -> bool:
    """True where a list is one of annotations as Label Studio writes them, or empty."""
    return isinstance(found, list) and (
        not found or any(isinstance(one, dict) and "result" in one for one in found)
    )


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    seen: Counter[str] = Counter()

    def read_task(task: Record, place: str) -> Iterator[Row]:
        seen["predictions"] += len(task.get("predictions") or [])
        name = name_text(task["id"])
        for annotation in task.get("completions") or []:
            place = f"{source.name} task {name} completion {annotation.get('id')}"
            yield Refused(place, "completions are of Label Studio before 1.0; export it with a newer one")
        for annotation in task["annotations"] if "completions" not in task else []:
            place = f"{source.name} task {name} annotation {annotation.get('id')}"
            if annotation.get("was_cancelled"):
                yield Refused(place, "cancelled (skipped)")
                continue
            seen["truth"] += bool(annotation.get("ground_truth"))
            judge = _person_name(annotation["completed_by"])
            for result in annotation["result"]:
                row = _read_result(place, judge, name, result)
                seen["answers" if row is not None else "others"] += 1
                if row is not None:
                    yield row

    yield from read_records(source, read_task)
    if seen["others"]:
        yield Note(
            f"{source.name}: {seen['others']} results of other kinds (regions, texts, chat) are left out"
        )
        if not seen["answers"]:
            raise InputError(f"{source.name}: nothing that is a vote, a score or a label")
    if seen["predictions"]:
        yield Note(f"{source.name}: {seen['predictions']} predictions of models are left out")
    if seen["truth"]:
        yield Note(f"{source.name}: {seen['truth']} annotations are marked ground_truth")


def _person_name(who: Any) -> str | None:
    return name_text(who.get("email") or who["id"]) if isinstance(who, dict) else name_text(who)


def _read_result(place: str, judge: str | None, task: str | None, result: Record) -> Row | None:
    kind, value, criterion = result.get("type"), result.get("value") or {}, result.get("from_name")
    if kind in ("rating", "number"):
        return Score(judge, task, value[kind], criterion)
    if kind == "choices":
        chosen = value["choices"]
        if len(chosen) == 1:
            return Label(judge, task, chosen[0], criterion)
        return Refused(f"{place} {criterion}", f"several choices: {chosen}")
    if kind == "pairwise":
        names = result["to_name"]
        first, second = names if isinstance(names, list) else names.split(",")
        selected = value.get("selected")
        if selected not in _SIDES:
            return Refused(f"{place} {criterion}", f"selected {selected!r} is neither left nor right")
        return Vote(
            judge, join_names(task, first), join_names(task, second), _SIDES[selected], criterion, task
        )
    return None


FORMAT = Format("labelstudio", "Label Studio", (), _detect_format, _read_rows)
