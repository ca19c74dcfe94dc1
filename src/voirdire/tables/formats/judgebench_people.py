"""JUDGE-BENCH's data sets: each person's answer about each instance, by metric."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from voirdire.tables.formats.format import Format, guarded_rows, list_under, members_as_records
from voirdire.tables.formats.records import Placed, Record
from voirdire.tables.formats.rows import (
    Label,
    Note,
    Odd,
    Refused,
    Row,
    is_missing,
    name_text,
    number_or_none,
    require_single_label,
    score_or_label,
    score_row,
)
from voirdire.tables.formats.source import Head

_SCORES_KEY = "individual_human_scores"
_AGGREGATE_KEYS = ("mean_human", "majority_human")
_NUMERIC_CATEGORIES = ("graded", "continuous")


def _has_people_answers(instance: Any) -> bool:
    """True if an instance has answers of people."""
    metrics = instance.get("annotations") if isinstance(instance, dict) else None
    annotations_of_metrics = metrics.values() if isinstance(metrics, dict) else ()
    return any(
        isinstance(annotation, dict) and annotation.keys() & {_SCORES_KEY, *_AGGREGATE_KEYS}
        for annotation in annotations_of_metrics
    )


class JudgeBenchPeople(Format):
    """A data set with descriptions of its metrics."""

    name = "judgebench-people"

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True if the head of a file shows answers of people about instances."""
        instances = list_under(head, "instances") or ()
        return list_under(head, "annotations") is not None and any(map(_has_people_answers, instances))

    @cached_property
    def _metrics(self) -> dict[str, Record]:
        """Descriptions of the metrics by name."""
        descriptions = self.head.first["annotations"]
        return {
            str(description.get("metric")): description for description in descriptions if isinstance(description, dict)
        }

    def records(self) -> Placed:
        """The instances with their places."""
        return members_as_records(self.head.first["instances"], f"{self.file} instance ")

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read the answers of people about one instance."""
        item = name_text(record["id"])
        for metric, annotation in record["annotations"].items():
            if not self.asked.is_selected(metric):
                continue
            where = f"{self.file} instance {item} {metric}"
            self.count_event("aggregates", any(annotation.get(name) is not None for name in _AGGREGATE_KEYS))
            answers = annotation.get(_SCORES_KEY)
            if not isinstance(answers, list) or not answers:
                yield Refused(where, "no answer of a single person, only what they give together")
                continue
            self.count_event("lengths", name=str(len(answers)))
            for number, answer in enumerate(answers, start=1):
                arguments = f"{where} human{number}", f"human{number}", item, answer, metric
                yield from guarded_rows(arguments[0], self._read_answer, *arguments)

    def _read_answer(self, place: str, judge: str, item: str | None, answer: Any, metric: str) -> Iterator[Row]:
        if is_missing(answer):
            raise Odd("no answer")
        category = self._metrics.get(metric, {}).get("category")
        if category == "categorical":
            yield Label(judge, item, require_single_label(answer), metric)
        elif category in _NUMERIC_CATEGORIES:
            yield score_row(place, judge, item, answer, f"{answer!r} is no number", criterion=metric)
        else:
            yield score_or_label(judge, item, answer, criterion=metric)

    def last_rows(self) -> Iterator[Note]:
        """Notes on the data set."""
        lengths = sorted(map(int, self.counts["lengths"]))
        if not lengths:
            return
        lengths_text = f"; lists have {lengths[0]} to {lengths[-1]} answers" if len(lengths) > 1 else ""
        yield Note(
            f"{self.file}: people are not named: the answers in the first place of each list are those of human1, and "
            f"so on, which need not be one person{lengths_text}"
        )
        if aggregates := self.counts["aggregates"].total():
            yield Note(f"{self.file}: {aggregates} means and majorities of people are left out")
        for metric, description in self._metrics.items():
            worst, best = number_or_none(description.get("worst")), number_or_none(description.get("best"))
            if worst is not None and best is not None and worst > best:
                yield Note(f"{self.file}: of {metric!r} lower is better ({best} is best); scores are as they stand")
