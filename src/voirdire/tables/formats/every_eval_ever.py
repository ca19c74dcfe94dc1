"""Every Eval Ever's schema: results of evaluations, and those of single samples."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

from voirdire.tables.formats.format import (
    Asked,
    Format,
    guarded_rows,
    has_keys,
    key_sets,
    members,
    short_text,
)
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Odd, Refused, Row, Score, name_text, number_or_none
from voirdire.tables.formats.source import Head

_RESULTS = key_sets(
    "schema_version evaluation_results model_info", "evaluation_results model_info source_metadata"
)
_SAMPLES = key_sets("evaluation_id evaluation_name model_id sample_id evaluation")
_UNKNOWN_LEVEL = -1


def _is_results(head: Head) -> bool:
    return has_keys(head, _RESULTS, "object records") and isinstance(head.first["evaluation_results"], list)


class EveryEvalEver(Format):
    """Results, or samples, with the files that are read together with them."""

    name, title = "every-eval-ever", "Every Eval Ever"
    needs, options = _RESULTS + _SAMPLES, ("judge",)
    notes: ClassVar = {
        "whole": "{name}: {count} results over all samples are left out, as those of samples are read",
        "nameless": "{name}: where no model judged, the metric (or the evaluation) stands for the judge",
        "lower": "{name}: lower is better by {names}; scores are as they stand",
    }

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True where a file that begins so has results or samples."""
        return has_keys(head, _SAMPLES) or _is_results(head)

    @cached_property
    def _sampled(self) -> set[str | None]:
        """The evaluations of whose samples there are files."""
        heads = (other.head for other in self.source.siblings)
        return {
            _first_available_name(head.first, "evaluation_id") for head in heads if has_keys(head, _SAMPLES)
        }

    @cached_property
    def _metrics(self) -> dict[tuple[str | None, str | None], _About]:
        """Metrics of samples, by evaluation and result or name, from the results that are read with them."""
        found: dict[tuple[str | None, str | None], _About] = {}
        for other in self.source.siblings:
            for _, record in other.records() if _is_results(other.head) else ():
                results = record.get("evaluation_results") if isinstance(record, dict) else None
                for result in results if isinstance(results, list) else []:
                    if isinstance(record, dict) and isinstance(result, dict):
                        about, run = _About(result), _first_available_name(record, "evaluation_id")
                        for key in ("evaluation_result_id", "evaluation_name"):
                            found.setdefault((run, _first_available_name(result, key)), about)
        return found

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """The rows of results of a model, or of a sample."""
        return self._read_results(record, place) if _is_results(self.head) else self._read_sample(record)

    def _read_results(self, record: Record, place: str) -> Iterator[Row]:
        system, results = _model_name(record), record["evaluation_results"]
        if system is None:
            raise Odd("the model has no name")
        if self._sampled and _first_available_name(record, "evaluation_id") in self._sampled:
            self.count("whole", len(results))
            return
        for where, result in members(results, f"{place} result "):
            if isinstance(result, str):
                yield Refused(where, result)
            else:
                yield from guarded_rows(where, self._read_result, result, system)

    def _read_result(self, result: Record, system: str) -> Iterator[Row]:
        about = _About(result)
        said = _object_under(result, "score_details").get("score")
        yield self._score(about, said, about.metric or about.name, (about.name,), system)

    def _read_sample(self, record: Record) -> Iterator[Row]:
        if record.get("error"):
            raise Odd(f"error: {record['error']}")
        name, sample, system = (
            name_text(record[key]) for key in ("evaluation_name", "sample_id", "model_id")
        )
        run, result = (_first_available_name(record, f"evaluation_{key}") for key in ("id", "result_id"))
        about = self._metrics.get((run, result)) or self._metrics.get((run, name)) or _About(record)
        said = record["evaluation"].get("score")
        yield self.numbered(self._score(about, said, about.metric or result or name, (name, sample), system))

    def _score(
        self,
        about: _About,
        said: Any,
        criterion: str | None,
        context: tuple[str | None, ...],
        system: str | None,
    ) -> Score:
        judge, value = about.judge(self.asked), about.score(said)
        self.count("nameless", not about.judges)
        self.count("lower", about.lower, criterion or "")
        asked = "/".join(map(str, context))
        return Score(judge, f"{asked}/{system}", value, criterion, asked, system)


class _About:
    """Evaluation that a result is of: the metric, and who judged by it."""

    def __init__(self, result: Record) -> None:
        config = _object_under(result, "metric_config")
        scoring = _object_under(config, "llm_scoring")
        self.name = _first_available_name(result, "evaluation_name") or ""
        self.metric = _first_available_name(config, "metric_name", "metric_id")
        judges = scoring.get("judges")
        self.judges = [_model_name(one) or "unnamed" for one in judges] if isinstance(judges, list) else []
        self.together = _first_available_name(scoring, "aggregation_method") or "result"
        self.lower = config.get("lower_is_better") is True
        self.unknown_level = config.get("has_unknown_level") is True

    def judge(self, asked: Asked) -> str:
        """The model that judged, else what computed the score.

        Raises
        ------
        Odd
            Several judged, and the file has only what they give together.
        """
        if len(self.judges) > 1:
            raise Odd(
                f"the {self.together} of {len(self.judges)} judges: {', '.join(self.judges)}; none alone is here"
            )
        return self.judges[0] if self.judges else asked.judge or self.metric or self.name

    def score(self, said: Any) -> float | int:
        """A score as a number.

        Raises
        ------
        Odd
            It is none, or stands for an unknown level.
        """
        value = number_or_none(said)
        if value is None:
            raise Odd("no score" if said is None else f"score {short_text(said)} is no number")
        if self.unknown_level and value == _UNKNOWN_LEVEL:
            raise Odd("the level is unknown (-1)")
        return value


def _object_under(record: Any, key: str) -> Record:
    found = record.get(key) if isinstance(record, dict) else None
    return found if isinstance(found, dict) else {}


def _first_available_name(record: Record, *keys: str) -> str | None:
    """The first name that is there; what is no name counts as none."""
    return next((said for key in keys if isinstance(said := record.get(key), str) and said), None)


def _model_name(record: Any) -> str | None:
    return _first_available_name(_object_under(record, "model_info"), "id", "name")
