"""Every Eval Ever's schema: results of evaluations and of single samples."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from voirdire.tables.formats.format import Format, FormatOptions, guarded_rows, has_keys, members_as_records, short_text
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Odd, Refused, Row, Score, name_text, number_or_none
from voirdire.tables.formats.source import Head

_UNKNOWN_LEVEL = -1


class EveryEvalEver(Format):
    """Results or samples; results in files that are read together describe the metrics of samples."""

    name = "every-eval-ever"

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True if the head of a file shows results or samples."""
        return has_keys(head, cls.keys["samples"]) or cls._is_results(head)

    @classmethod
    def _is_results(cls, head: Head) -> bool:
        lists_results = has_keys(head, cls.keys["results"], "object records")
        return lists_results and isinstance(head.first["evaluation_results"], list)

    @cached_property
    def _sampled_evaluations(self) -> set[str | None]:
        """Evaluations with a file of samples among the files that are read together."""
        heads = (other.head for other in self.source.siblings if has_keys(other.head, self.keys["samples"]))
        return {_first_available_name(head.first, "evaluation_id") for head in heads}

    @cached_property
    def _metrics(self) -> dict[tuple[str | None, str | None], _Metric]:
        """Metrics of samples, by evaluation and result or name, from the files of results."""
        metrics: dict[tuple[str | None, str | None], _Metric] = {}
        for other in self.source.siblings:
            for _, record in other.records() if self._is_results(other.head) else ():
                results = record.get("evaluation_results") if isinstance(record, dict) else None
                for result in results if isinstance(results, list) else []:
                    if isinstance(record, dict) and isinstance(result, dict):
                        metric, run = _Metric(result), _first_available_name(record, "evaluation_id")
                        for key in ("evaluation_result_id", "evaluation_name"):
                            metrics.setdefault((run, _first_available_name(result, key)), metric)
        return metrics

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read the results of a model, or one sample."""
        return self._read_results(record, place) if self._is_results(self.head) else self._read_sample(record)

    def _read_results(self, record: Record, place: str) -> Iterator[Row]:
        system, results = _model_name(record), record["evaluation_results"]
        if system is None:
            raise Odd("the model has no name")
        if self._sampled_evaluations and _first_available_name(record, "evaluation_id") in self._sampled_evaluations:
            self.count_event("whole", len(results))
            return
        for where, result in members_as_records(results, f"{place} result "):
            if isinstance(result, str):
                yield Refused(where, result)
            else:
                yield from guarded_rows(where, self._read_result, result, system)

    def _read_result(self, result: Record, system: str) -> Iterator[Row]:
        metric = _Metric(result)
        score = _object_under(result, "score_details").get("score")
        yield self._score(metric, score, metric.metric or metric.name, (metric.name,), system)

    def _read_sample(self, record: Record) -> Iterator[Row]:
        if record.get("error"):
            raise Odd(f"error: {record['error']}")
        keys = ("evaluation_name", "sample_id", "model_id")
        name, sample, system = (name_text(record[key]) for key in keys)
        run, result = (_first_available_name(record, f"evaluation_{key}") for key in ("id", "result_id"))
        metric = self._metrics.get((run, result)) or self._metrics.get((run, name)) or _Metric(record)
        score = record["evaluation"].get("score")
        yield self.number_runs(self._score(metric, score, metric.metric or result or name, (name, sample), system))

    def _score(
        self, metric: _Metric, score: Any, criterion: str | None, context: tuple[str | None, ...], system: str | None
    ) -> Score:
        judge, value = metric.judge(self.asked), metric.score(score)
        self.count_event("nameless", not metric.judges)
        self.count_event("lower", metric.lower, criterion or "")
        question = "/".join(map(str, context))
        return Score(judge, f"{question}/{system}", value, criterion, question, system)


class _Metric:
    """Metric of a result, and the judges who applied it."""

    def __init__(self, result: Record) -> None:
        config = _object_under(result, "metric_config")
        scoring = _object_under(config, "llm_scoring")
        self.name = _first_available_name(result, "evaluation_name") or ""
        self.metric = _first_available_name(config, "metric_name", "metric_id")
        judges = scoring.get("judges")
        self.judges = (
            [_model_name(judge_record) or "unnamed" for judge_record in judges] if isinstance(judges, list) else []
        )
        self.together = _first_available_name(scoring, "aggregation_method") or "result"
        self.lower = config.get("lower_is_better") is True
        self.unknown_level = config.get("has_unknown_level") is True

    def judge(self, options: FormatOptions) -> str:
        """The model that judged, else the name of the judge in the options, of the metric or of the evaluation.

        Raises
        ------
        Odd
            Several models judged, and the file holds only their aggregate.
        """
        if len(self.judges) > 1:
            raise Odd(f"the {self.together} of {len(self.judges)} judges: {', '.join(self.judges)}; none alone is here")
        return self.judges[0] if self.judges else options.judge or self.metric or self.name

    def score(self, score: Any) -> float | int:
        """A score as a number.

        Raises
        ------
        Odd
            The score is no number, or the code of an unknown level.
        """
        value = number_or_none(score)
        if value is None:
            raise Odd("no score" if score is None else f"score {short_text(score)} is no number")
        if self.unknown_level and value == _UNKNOWN_LEVEL:
            raise Odd("the level is unknown (-1)")
        return value


def _object_under(record: Any, key: str) -> Record:
    value = record.get(key) if isinstance(record, dict) else None
    return value if isinstance(value, dict) else {}


def _first_available_name(record: Record, *keys: str) -> str | None:
    """The first nonempty name under some keys; None if there is none."""
    return next((name for key in keys if isinstance(name := record.get(key), str) and name), None)


def _model_name(record: Any) -> str | None:
    return _first_available_name(_object_under(record, "model_info"), "id", "name")
