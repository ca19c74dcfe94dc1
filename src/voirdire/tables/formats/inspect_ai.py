"""Logs of Inspect: ``.eval`` archives and JSON, formats 2 and 3."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any
from zipfile import BadZipFile, ZipFile

from voirdire.errors import InputError
from voirdire.tables.formats.archive import member_bytes
from voirdire.tables.formats.bounds import check_json_object_count
from voirdire.tables.formats.format import Asked, Format, guarded_rows, short_text
from voirdire.tables.formats.json_text import NotJsonError, parse_json
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import (
    Label,
    Note,
    Refused,
    Row,
    Score,
    join_names,
    name_text,
    number_or_none,
)
from voirdire.tables.formats.source import Head, Source

#: Inspect's grades: correct, incorrect, partial, no answer.
_GRADES = {"C", "I", "P", "N"}


def _detect_log(head: Head) -> bool:
    if head.shape == "zip":
        return bool(head.keys & {"header.json", "_journal/start.json"})
    about = head.first.get("eval") if head.shape == "object" else None
    return "status" in head.keys and isinstance(about, dict) and {"task", "model"} <= about.keys()


def _read_log(source: Source, asked: Asked) -> Iterator[Row]:
    if source.head.shape == "object":
        whole = source.head.first
        samples = whole.get("samples")
        if samples is None:
            raise InputError(
                f"{source.name}: holds the header alone, no samples; write the log with its samples"
            )
        yield from _log_rows(source, whole, ((str(at), sample) for at, sample in enumerate(samples)))
        return
    with source.zip_archive() as archive:
        names = archive.namelist()
        header = _member_json(archive, "header.json" if "header.json" in names else "_journal/start.json")
        if isinstance(header, str):
            raise InputError(f"{source.name}: its header is {header}")
        members = sorted(name for name in names if name.startswith("samples/") and name.endswith(".json"))
        yield from _log_rows(source, header, ((name, _member_json(archive, name)) for name in members))


def _member_json(archive: ZipFile, name: str) -> Record | str:
    """A member of an archive, or why it is none."""
    packed = archive.getinfo(name).compress_size
    try:
        text = member_bytes(archive, name).decode("utf-8-sig")
        check_json_object_count(text, packed, name)
        found = parse_json(text)
    except (UnicodeDecodeError, NotJsonError, BadZipFile) as error:
        return f"damaged: {error}"
    return found if isinstance(found, dict) else "no JSON object"


def _log_rows(source: Source, header: Record, samples: Iterable[tuple[str, Record | str]]) -> Iterator[Row]:
    found = _Log(source.name, header["eval"])
    for place, sample in samples:
        if isinstance(sample, str):
            yield Refused(f"{source.name} {place}", sample)
        else:
            yield from guarded_rows(f"{source.name} {place}", found.sample, sample)
    if note := found.grades_note():
        yield Note(note)
    status = header.get("status", "started")
    if status != "success":
        yield Note(f"{source.name}: the evaluation's status is {status!r}, its answers may be incomplete")
    if found.own:
        yield Note(
            f"{source.name}: no grader is named for {', '.join(sorted(found.own))}: the evaluated model graded itself"
        )


class _Log:
    """Header of a log, with what it says of the samples."""

    def __init__(self, name: str, about: Record) -> None:
        self.name = name
        self.model = name_text(about["model"])
        self.roles: dict[str, Any] = about.get("model_roles") or {}
        self.epochs = (about.get("config") or {}).get("epochs") or 1
        self.own: set[str] = set()
        self.words: set[str] = set()
        self.numbers: set[str] = set()
        self.scorers: dict[str, Record] = {}
        for scorer in about.get("scorers") or []:
            registered = scorer["name"].rpartition("/")[2]
            key, more = registered, 0
            while key in self.scorers:  # the second scorer of a name has the key name1
                more += 1
                key = f"{registered}{more}"
            self.scorers[key] = scorer

    def sample(self, sample: Record) -> Iterator[Row]:
        """The grades of one sample."""
        epoch = name_text(sample.get("epoch", 1))
        context = name_text(sample["id"])
        place = f"{self.name} sample {context} epoch {epoch}"
        if sample.get("error"):
            yield Refused(place, "sample error")
            return
        scores = sample.get("scores") or {}
        if not scores:
            yield Refused(place, "not scored")
        item = join_names(context, self.model, *((epoch,) if self.epochs > 1 else ()))
        for key, score in scores.items():
            registered = self.scorers.get(key, {}).get("name", key).rpartition("/")[2]
            panel = (score.get("metadata") or {}).get("panel")
            if isinstance(panel, dict) and isinstance(panel.get("votes"), list):
                yield from self._panel_votes(f"{place} {key}", key, panel, item, registered, context)
                continue
            judge = self._judge(key, registered, score)
            value = score["value"]
            parts = (
                [(registered, value)]
                if not isinstance(value, dict)
                else [(f"{registered}.{part}", one) for part, one in value.items()]
            )
            for criterion, one in parts:
                yield self._answer(f"{place} {key}", judge, item, one, criterion, context)

    def _panel_votes(
        self, place: str, key: str, panel: Record, item: str, criterion: str, context: str | None
    ) -> Iterator[Row]:
        """The votes behind a score that several graders gave: by their names, else their models, else their places."""
        votes: list[Any] = panel["votes"]
        options = self.scorers.get(key, {}).get("options") or {}
        for names in (panel.get("judges"), options.get("model"), self.roles.get("grader")):
            if isinstance(names, list) and len(names) == len(votes):
                judges = [name_text(name["model"] if isinstance(name, dict) else name) for name in names]
                break
        else:
            judges = [f"{key} grader {at}" for at in range(1, len(votes) + 1)]
        for judge, vote in zip(judges, votes, strict=True):
            said = float("nan") if vote is None else vote
            parts = said.items() if isinstance(said, dict) else [(None, said)]
            for part, one in parts:
                about = criterion if part is None else f"{criterion}.{part}"
                yield self._answer(f"{place} {judge}", judge, item, one, about, context)

    def _answer(
        self, place: str, judge: str | None, item: str, said: Any, criterion: str, context: str | None
    ) -> Row:
        if isinstance(said, float) and math.isnan(said):
            return Refused(place, "unscored (NaN)")
        if isinstance(said, str | bool):
            self.words.add(str(said))
            return Label(judge, item, str(said), criterion, context, self.model)
        value = number_or_none(said)
        if value is None:
            return Refused(place, f"value {short_text(said)} is no grade")
        self.numbers.add(criterion)
        return Score(judge, item, value, criterion, context, self.model)

    def grades_note(self) -> str:
        """What the grades of the log are read as; nothing where they are not Inspect's own."""
        if not self.words or not self.words <= _GRADES:
            return ""
        read = (
            f"{self.name}: the grades {', '.join(sorted(self.words))} are read as labels, by any scorer (Inspect's own "
            "metrics count C as 1, P as 0.5, I and N as 0)"
        )
        return read + (f"; numbers, of {', '.join(sorted(self.numbers))}, as scores" if self.numbers else "")

    def _judge(self, key: str, registered: str, score: Record) -> str | None:
        grading = (score.get("metadata") or {}).get("grading")
        if not grading and not registered.startswith("model_graded"):
            return key
        options = self.scorers.get(key, {}).get("options") or {}
        if isinstance(options.get("model"), str):
            return str(options["model"])
        role = self.roles.get("grader")
        if role:
            return name_text(role["model"] if isinstance(role, dict) else role)
        last = grading[-1] if isinstance(grading, list) and grading else {}
        if isinstance(last, dict) and last.get("model"):
            return name_text(last["model"])
        self.own.add(key)
        return self.model


FORMAT = Format("inspect", "Inspect", (), _detect_log, _read_log)
