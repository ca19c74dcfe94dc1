"""Logs of Inspect: ``.eval`` archives and JSON, formats 1 to 3."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any
from zipfile import BadZipFile, ZipFile

from voirdire.errors import InputError
from voirdire.tables.formats.archive import member_bytes, open_archive
from voirdire.tables.formats.failures import check_json_object_count
from voirdire.tables.formats.format import Format, guarded_rows, members_as_records, short_text
from voirdire.tables.formats.json_text import NotJsonError, parse_json
from voirdire.tables.formats.records import Placed, Record
from voirdire.tables.formats.rows import Label, Note, Refused, Row, join_names, name_text, score_row
from voirdire.tables.formats.source import Head

#: Inspect's grades: correct, incorrect, partial, no answer.
_INSPECT_GRADES = {"C", "I", "P", "N"}
#: Messages, events and the like of a sample that is stored in parts; its scores are in ``sample.json``.
_SAMPLE_PART = re.compile(r"_epoch_\d+/(?!sample\.json$)")


def _member_json(archive: ZipFile, name: str) -> Record | str:
    """The JSON object in a member of an archive, or the reason why there is none."""
    packed = archive.getinfo(name).compress_size
    try:
        text = member_bytes(archive, name).decode("utf-8-sig")
        check_json_object_count(text, packed, name)
        value = parse_json(text)
    except (UnicodeDecodeError, NotJsonError, BadZipFile) as error:
        return f"damaged: {error}"
    return value if isinstance(value, dict) else "no JSON object"


class Inspect(Format):
    """Logs of Inspect, with the header's description of the samples."""

    name = "inspect"

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True if the head of a file is the header of a log."""
        if head.shape == "zip":
            return bool(head.keys & {"header.json", "_journal/start.json"})
        evaluation = head.first.get("eval") if head.shape == "object" else None
        return "status" in head.keys and isinstance(evaluation, dict) and {"task", "model"} <= evaluation.keys()

    def records(self) -> Placed:
        """The samples, after the header."""
        if self.head.shape == "object":
            log = self.head.first
            if log.get("samples") is None:
                raise InputError(f"{self.file}: holds the header alone, no samples; write the log with its samples")
            self._read_header(log)
            yield from members_as_records(log["samples"], f"{self.file} ")
            return
        with open_archive(self.source.local) as archive:
            names = archive.namelist()
            header = _member_json(archive, "header.json" if "header.json" in names else "_journal/start.json")
            if isinstance(header, str):
                raise InputError(f"{self.file}: its header is {header}")
            self._read_header(header)
            for name in sorted(names):
                if name.startswith("samples/") and name.endswith(".json") and not _SAMPLE_PART.search(name):
                    yield f"{self.file} {name}", _member_json(archive, name)

    def _read_header(self, header: Record) -> None:
        evaluation: Record = header["eval"]
        status = header.get("status", "started")
        self.count_event("status", status != "success", repr(status))
        self.model = name_text(evaluation["model"])
        self.roles: dict[str, Any] = evaluation.get("model_roles") or {}
        self.epochs = (evaluation.get("config") or {}).get("epochs") or 1
        results = header.get("results") or {}
        listed = results.get("scores") or [results.get("scorer") or {}]
        self.only = name_text(listed[0].get("name")) or "score"
        self.scorers: dict[str, Record] = {}
        for scorer in evaluation.get("scorers") or []:
            registered = scorer["name"].rpartition("/")[2]
            key, number = registered, 0
            while key in self.scorers:  # the second scorer of a name has the key name1
                number += 1
                key = f"{registered}{number}"
            self.scorers[key] = scorer

    def read_record(self, sample: Record, place: str) -> Iterator[Row]:
        """Read the grades of one sample."""
        epoch = name_text(sample.get("epoch", 1))
        context = name_text(sample["id"])
        place = f"{self.file} sample {context} epoch {epoch}"
        if sample.get("error"):
            yield Refused(place, "sample error")
            return
        scores = sample.get("scores") or {}
        if sample.get("score"):  # format 1 has one scorer
            scores = {self.only: sample["score"]}
        if not scores:
            yield Refused(place, "not scored")
        item = join_names(context, self.model, *((epoch,) if self.epochs > 1 else ()))
        for key, score in scores.items():
            where = f"{place} {key}"
            yield from guarded_rows(where, self._read_score, where, key, score, item, context)

    def _read_score(self, place: str, key: str, score: Record, item: str, context: str | None) -> Iterator[Row]:
        registered = self.scorers.get(key, {}).get("name", key).rpartition("/")[2]
        panel = (score.get("metadata") or {}).get("panel")
        if isinstance(panel, dict) and isinstance(panel.get("votes"), list):
            grades = self._panel_votes(place, key, panel)
        else:
            grades = [(place, self._judge(key, registered, score), score["value"])]
        for where, judge, value in grades:
            for part, grade in value.items() if isinstance(value, dict) else [(None, value)]:
                criterion = registered if part is None else f"{registered}.{part}"
                yield self._answer(where, judge, item, grade, criterion, context)

    def _panel_votes(self, place: str, key: str, panel: Record) -> list[tuple[str, str | None, Any]]:
        """The votes behind a score of several graders, by the graders' names, else their models, else their numbers."""
        votes: list[Any] = panel["votes"]
        options = self.scorers.get(key, {}).get("options") or {}
        for names in (panel.get("judges"), options.get("model"), self.roles.get("grader")):
            if isinstance(names, list) and len(names) == len(votes):
                judges = [name_text(name["model"] if isinstance(name, dict) else name) for name in names]
                break
        else:
            judges = [f"{key} grader {number}" for number in range(1, len(votes) + 1)]
        return [
            (f"{place} {judge}", judge, float("nan") if vote is None else vote)
            for judge, vote in zip(judges, votes, strict=True)
        ]

    def _answer(self, place: str, judge: str | None, item: str, value: Any, criterion: str, context: str | None) -> Row:
        if isinstance(value, float) and math.isnan(value):
            return Refused(place, "unscored (NaN)")
        if isinstance(value, str | bool):
            self.count_event("words", name=str(value))
            return Label(judge, item, str(value), criterion, context, self.model)
        columns = {"criterion": criterion, "context": context, "system": self.model}
        row = score_row(place, judge, item, value, f"value {short_text(value)} is no grade", **columns)
        self.count_event("numbers", not isinstance(row, Refused), criterion)
        return row

    def _judge(self, key: str, registered: str, score: Record) -> str | None:
        grading = (score.get("metadata") or {}).get("grading")
        if not grading and not registered.startswith("model_graded"):
            return key
        options = self.scorers.get(key, {}).get("options") or {}
        if isinstance(options.get("model"), str):
            return str(options["model"])
        role = self.roles.get("grader")
        graders = options.get("model") or role
        if isinstance(graders, list):
            self.count_event("together", name=key)
        elif role:
            return name_text(role["model"] if isinstance(role, dict) else role)
        last_grading = grading[-1] if isinstance(grading, list) and grading else {}
        if isinstance(last_grading, dict) and last_grading.get("model"):
            return name_text(last_grading["model"])
        self.count_event("own", name=key)
        return self.model

    def last_rows(self) -> Iterator[Row]:
        """Give a note on Inspect's own grades."""
        words, numbers = (sorted(self.counts[key]) for key in ("words", "numbers"))
        if words and set(words) <= _INSPECT_GRADES:
            scores = f"; numbers, of {', '.join(numbers)}, as scores" if numbers else ""
            yield Note(
                f"{self.file}: the grades {', '.join(words)} are read as labels, by any scorer (Inspect's own metrics "
                f"count C as 1, P as 0.5, I and N as 0){scores}"
            )
