"""Logs of Inspect: ``.eval`` archives and JSON, formats 1 to 3."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any
from zipfile import BadZipFile, ZipFile

from voirdire.errors import InputError
from voirdire.tables.formats.archive import member_bytes, open_archive
from voirdire.tables.formats.format import Format, guarded_rows, members, short_text
from voirdire.tables.formats.json_text import NotJsonError, parse_json
from voirdire.tables.formats.records import Placed, Record
from voirdire.tables.formats.rows import Label, Note, Refused, Row, join_names, name_text, score_row
from voirdire.tables.formats.size_limits import check_json_object_count
from voirdire.tables.formats.source import Head

#: Inspect's grades: correct, incorrect, partial, no answer.
_GRADES = {"C", "I", "P", "N"}
#: Messages, events and the like of a sample that is stored in parts, of which ``sample.json`` has the scores.
_PART = re.compile(r"_epoch_\d+/(?!sample\.json$)")


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


class Inspect(Format):
    """Logs of Inspect, with what the header says of the samples."""

    name, title = "inspect", "Inspect"

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True where a file that begins so has the header of a log."""
        if head.shape == "zip":
            return bool(head.keys & {"header.json", "_journal/start.json"})
        about = head.first.get("eval") if head.shape == "object" else None
        return "status" in head.keys and isinstance(about, dict) and {"task", "model"} <= about.keys()

    def records(self) -> Placed:
        """The samples, after the header."""
        if self.head.shape == "object":
            whole = self.head.first
            if whole.get("samples") is None:
                raise InputError(
                    f"{self.file}: holds the header alone, no samples; write the log with its samples"
                )
            self._read_header(whole)
            yield from members(whole["samples"], f"{self.file} ")
            return
        with open_archive(self.source.local) as archive:
            names = archive.namelist()
            header = _member_json(archive, "header.json" if "header.json" in names else "_journal/start.json")
            if isinstance(header, str):
                raise InputError(f"{self.file}: its header is {header}")
            self._read_header(header)
            for name in sorted(names):
                if name.startswith("samples/") and name.endswith(".json") and not _PART.search(name):
                    yield f"{self.file} {name}", _member_json(archive, name)

    def _read_header(self, header: Record) -> None:
        about: Record = header["eval"]
        self.status = header.get("status", "started")
        self.model = name_text(about["model"])
        self.roles: dict[str, Any] = about.get("model_roles") or {}
        self.epochs = (about.get("config") or {}).get("epochs") or 1
        results = header.get("results") or {}
        listed = results.get("scores") or [results.get("scorer") or {}]
        self.only = name_text(listed[0].get("name")) or "score"
        self.scorers: dict[str, Record] = {}
        for scorer in about.get("scorers") or []:
            registered = scorer["name"].rpartition("/")[2]
            key, more = registered, 0
            while key in self.scorers:  # the second scorer of a name has the key name1
                more += 1
                key = f"{registered}{more}"
            self.scorers[key] = scorer

    def read_record(self, sample: Record, place: str) -> Iterator[Row]:
        """The grades of one sample."""
        epoch = name_text(sample.get("epoch", 1))
        context = name_text(sample["id"])
        place = f"{self.file} sample {context} epoch {epoch}"
        if sample.get("error"):
            yield Refused(place, "sample error")
            return
        scores = sample.get("scores") or {}
        if sample.get("score"):  # of the only scorer there was, in format 1
            scores = {self.only: sample["score"]}
        if not scores:
            yield Refused(place, "not scored")
        item = join_names(context, self.model, *((epoch,) if self.epochs > 1 else ()))
        for key, score in scores.items():
            where = f"{place} {key}"
            yield from guarded_rows(where, self._read_score, where, key, score, item, context)

    def _read_score(
        self, place: str, key: str, score: Record, item: str, context: str | None
    ) -> Iterator[Row]:
        registered = self.scorers.get(key, {}).get("name", key).rpartition("/")[2]
        panel = (score.get("metadata") or {}).get("panel")
        if isinstance(panel, dict) and isinstance(panel.get("votes"), list):
            given = self._panel_votes(place, key, panel)
        else:
            given = [(place, self._judge(key, registered, score), score["value"])]
        for where, judge, said in given:
            for part, one in said.items() if isinstance(said, dict) else [(None, said)]:
                criterion = registered if part is None else f"{registered}.{part}"
                yield self._answer(where, judge, item, one, criterion, context)

    def _panel_votes(self, place: str, key: str, panel: Record) -> list[tuple[str, str | None, Any]]:
        """The votes behind a score that several graders gave: by their names, else their models, else their places."""
        votes: list[Any] = panel["votes"]
        options = self.scorers.get(key, {}).get("options") or {}
        for names in (panel.get("judges"), options.get("model"), self.roles.get("grader")):
            if isinstance(names, list) and len(names) == len(votes):
                judges = [name_text(name["model"] if isinstance(name, dict) else name) for name in names]
                break
        else:
            judges = [f"{key} grader {at}" for at in range(1, len(votes) + 1)]
        return [
            (f"{place} {judge}", judge, float("nan") if vote is None else vote)
            for judge, vote in zip(judges, votes, strict=True)
        ]

    def _answer(
        self, place: str, judge: str | None, item: str, said: Any, criterion: str, context: str | None
    ) -> Row:
        if isinstance(said, float) and math.isnan(said):
            return Refused(place, "unscored (NaN)")
        if isinstance(said, str | bool):
            self.count("words", name=str(said))
            return Label(judge, item, str(said), criterion, context, self.model)
        about = {"criterion": criterion, "context": context, "system": self.model}
        row = score_row(place, judge, item, said, f"value {short_text(said)} is no grade", **about)
        self.count("numbers", not isinstance(row, Refused), criterion)
        return row

    def _judge(self, key: str, registered: str, score: Record) -> str | None:
        grading = (score.get("metadata") or {}).get("grading")
        if not grading and not registered.startswith("model_graded"):
            return key
        options = self.scorers.get(key, {}).get("options") or {}
        if isinstance(options.get("model"), str):
            return str(options["model"])
        role = self.roles.get("grader")
        several = options.get("model") or role
        if isinstance(several, list):
            self.count("together", name=key)
        elif role:
            return name_text(role["model"] if isinstance(role, dict) else role)
        last = grading[-1] if isinstance(grading, list) and grading else {}
        if isinstance(last, dict) and last.get("model"):
            return name_text(last["model"])
        self.count("own", name=key)
        return self.model

    def last_rows(self) -> Iterator[Row]:
        """Notes on the grades, where they are Inspect's own, on the status and on models that graded themselves."""
        words, numbers, own, together = (
            sorted(self.counts[what]) for what in ("words", "numbers", "own", "together")
        )
        if words and set(words) <= _GRADES:
            scores = f"; numbers, of {', '.join(numbers)}, as scores" if numbers else ""
            yield Note(
                f"{self.file}: the grades {', '.join(words)} are read as labels, by any scorer (Inspect's own metrics "
                f"count C as 1, P as 0.5, I and N as 0){scores}"
            )
        if self.status != "success":
            yield Note(
                f"{self.file}: the evaluation's status is {self.status!r}, its answers may be incomplete"
            )
        if together:
            yield Note(
                f"{self.file}: several models graded {', '.join(together)}, and the log has what they give together: "
                "it stands under the name of one of them"
            )
        if own:
            yield Note(
                f"{self.file}: no grader is named for {', '.join(own)}: the evaluated model graded itself"
            )
