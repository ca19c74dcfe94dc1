"""JUDGE-BENCH's data sets: what each person said of each instance, metric by metric."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.formats.format import Asked, Format, guarded_rows
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import (
    Label,
    Note,
    Odd,
    Refused,
    Row,
    Score,
    name_text,
    number_or_none,
    one_label,
    score_or_label,
)
from voirdire.tables.formats.source import Head, Source

_SCORES = "individual_human_scores"
_AGGREGATES = ("mean_human", "majority_human")
_NUMBERS = ("graded", "continuous")


def _detect_format(head: Head) -> bool:
    if head.shape != "object" or not {"annotations", "instances"} <= head.keys:
        return False
    instances = head.first["instances"]
    return (
        isinstance(instances, list)
        and isinstance(head.first["annotations"], list)
        and _has_people_answers(instances)
    )


def _has_people_answers(instances: list[Any]) -> bool:
    """True where an instance has what people said of it."""
    for instance in instances:
        metrics = instance.get("annotations") if isinstance(instance, dict) else None
        of_metrics = metrics.values() if isinstance(metrics, dict) else ()
        if any(isinstance(one, dict) and one.keys() & {_SCORES, *_AGGREGATES} for one in of_metrics):
            return True
    return False


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    data = _DataSet(source.name, source.head.first, asked)
    for at, instance in enumerate(source.head.first["instances"]):
        yield from guarded_rows(f"{source.name} instance {at}", data.instance_rows, instance)
    yield from data.notes()


class _DataSet:
    """Metrics that the head of a data set names, and what is met in its instances."""

    def __init__(self, name: str, whole: Record, asked: Asked) -> None:
        self.name, self.questions = name, asked.questions
        self.metrics: dict[str, Record] = {
            str(one.get("metric")): one for one in whole["annotations"] if isinstance(one, dict)
        }
        if not whole["instances"]:
            raise InputError(f"{name}: holds no instances")
        self.lengths: set[int] = set()
        self.aggregates = 0

    def instance_rows(self, instance: Record) -> Iterator[Row]:
        """Answers of people about one instance."""
        item = name_text(instance["id"])
        for metric, of in instance["annotations"].items():
            if self.questions and metric not in self.questions:
                continue
            place = f"{self.name} instance {item} {metric}"
            self.aggregates += any(of.get(name) is not None for name in _AGGREGATES)
            answers = of.get(_SCORES)
            if not isinstance(answers, list) or not answers:
                yield Refused(place, "no answer of a single person, only what they give together")
                continue
            self.lengths.add(len(answers))
            for at, said in enumerate(answers, start=1):
                yield from guarded_rows(
                    f"{place} human{at}", self._read_answer, f"human{at}", item, said, metric
                )

    def _read_answer(self, judge: str, item: str | None, said: Any, metric: str) -> Iterator[Row]:
        if said is None or said == "" or (isinstance(said, float) and math.isnan(said)):
            raise Odd("no answer")
        category = self.metrics.get(metric, {}).get("category")
        if category == "categorical":
            yield Label(judge, item, one_label(said), metric)
        elif category in _NUMBERS:
            value = number_or_none(said)
            if value is None:
                raise Odd(f"{said!r} is no number")
            yield Score(judge, item, value, metric)
        else:
            yield score_or_label(judge, item, said, criterion=metric)

    def notes(self) -> Iterator[Note]:
        """Notes on the data set."""
        if not self.lengths:
            return
        several = (
            f"; lists have {min(self.lengths)} to {max(self.lengths)} answers"
            if len(self.lengths) > 1
            else ""
        )
        yield Note(
            f"{self.name}: people are not named: the answers in the first place of each list are those of human1, and "
            f"so on, which need not be one person{several}"
        )
        if self.aggregates:
            yield Note(f"{self.name}: {self.aggregates} means and majorities of people are left out")
        for metric, about in self.metrics.items():
            worst, best = number_or_none(about.get("worst")), number_or_none(about.get("best"))
            if worst is not None and best is not None and worst > best:
                yield Note(
                    f"{self.name}: of {metric!r} lower is better ({best} is best); scores are as they stand"
                )


FORMAT = Format(
    "judgebench-people", "JUDGE-BENCH's annotations", (), _detect_format, _read_rows, ("questions",)
)
