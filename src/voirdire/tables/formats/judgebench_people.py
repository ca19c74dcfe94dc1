"""JUDGE-BENCH's data sets: what each person said of each instance, metric by metric."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from voirdire.tables.formats.format import Format, guarded_rows, list_under, members
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
    one_label,
    score_or_label,
    score_row,
)
from voirdire.tables.formats.source import Head

_SCORES = "individual_human_scores"
_AGGREGATES = ("mean_human", "majority_human")
_NUMBERS = ("graded", "continuous")


def _has_people_answers(instance: Any) -> bool:
    """True where an instance has what people said of it."""
    metrics = instance.get("annotations") if isinstance(instance, dict) else None
    of_metrics = metrics.values() if isinstance(metrics, dict) else ()
    return any(isinstance(one, dict) and one.keys() & {_SCORES, *_AGGREGATES} for one in of_metrics)


class JudgeBenchPeople(Format):
    """A data set, whose head describes its metrics."""

    name, title, options = "judgebench-people", "JUDGE-BENCH's annotations", ("questions",)

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True where a file that begins so has what people said of instances."""
        instances = list_under(head, "instances") or ()
        return list_under(head, "annotations") is not None and any(map(_has_people_answers, instances))

    @cached_property
    def _metrics(self) -> dict[str, Record]:
        """Descriptions of the metrics, by their names."""
        every = self.head.first["annotations"]
        return {str(one.get("metric")): one for one in every if isinstance(one, dict)}

    def records(self) -> Placed:
        """The instances with their places."""
        return members(self.head.first["instances"], f"{self.file} instance ")

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Answers of people about one instance."""
        item = name_text(record["id"])
        for metric, of in record["annotations"].items():
            if not self.asked.wants(metric):
                continue
            where = f"{self.file} instance {item} {metric}"
            self.count("aggregates", any(of.get(name) is not None for name in _AGGREGATES))
            answers = of.get(_SCORES)
            if not isinstance(answers, list) or not answers:
                yield Refused(where, "no answer of a single person, only what they give together")
                continue
            self.count("lengths", name=str(len(answers)))
            for at, said in enumerate(answers, start=1):
                about = f"{where} human{at}", f"human{at}", item, said, metric
                yield from guarded_rows(about[0], self._read_answer, *about)

    def _read_answer(self, place: str, judge: str, item: str | None, said: Any, metric: str) -> Iterator[Row]:
        if is_missing(said):
            raise Odd("no answer")
        category = self._metrics.get(metric, {}).get("category")
        if category == "categorical":
            yield Label(judge, item, one_label(said), metric)
        elif category in _NUMBERS:
            yield score_row(place, judge, item, said, f"{said!r} is no number", criterion=metric)
        else:
            yield score_or_label(judge, item, said, criterion=metric)

    def last_rows(self) -> Iterator[Note]:
        """Notes on the data set."""
        lengths = sorted(map(int, self.counts["lengths"]))
        if not lengths:
            return
        several = f"; lists have {lengths[0]} to {lengths[-1]} answers" if len(lengths) > 1 else ""
        yield Note(
            f"{self.file}: people are not named: the answers in the first place of each list are those of human1, and "
            f"so on, which need not be one person{several}"
        )
        if aggregates := self.counts["aggregates"].total():
            yield Note(f"{self.file}: {aggregates} means and majorities of people are left out")
        for metric, about in self._metrics.items():
            worst, best = number_or_none(about.get("worst")), number_or_none(about.get("best"))
            if worst is not None and best is not None and worst > best:
                yield Note(
                    f"{self.file}: of {metric!r} lower is better ({best} is best); scores are as they stand"
                )
