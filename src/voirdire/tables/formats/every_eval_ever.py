"""Every Eval Ever's schema: results of evaluations, and those of single samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from voirdire.tables.formats.format import Asked, Format, has_keys, key_sets, read_records, short_text
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Note, Odd, Refused, Row, Score, name_text, number_or_none
from voirdire.tables.formats.source import Head, Source

_RESULTS = key_sets(
    "schema_version evaluation_results model_info", "evaluation_results model_info source_metadata"
)
_SAMPLES = key_sets("evaluation_id evaluation_name model_id sample_id evaluation")
_UNKNOWN_LEVEL = -1


def _is_results(head: Head) -> bool:
    return has_keys(head, _RESULTS, "object records") and isinstance(head.first["evaluation_results"], list)


def _detect_format(head: Head) -> bool:
    return has_keys(head, _SAMPLES) or _is_results(head)


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    if _is_results(source.head):
        return _read_results(source, asked)
    return _read_samples(source, asked)


def _read_results(source: Source, asked: Asked) -> Iterator[Row]:
    single = {
        _first_available_name(other.head.first, "evaluation_id")
        for other in source.siblings
        if has_keys(other.head, _SAMPLES)
    }
    lower: dict[str, None] = {}
    whole = nameless = 0

    def read_result_record(record: Record, place: str) -> Iterator[Row]:
        nonlocal whole, nameless
        system = _model_name(record)
        if system is None:
            raise Odd("the model has no name")
        results = record["evaluation_results"]
        if single and _first_available_name(record, "evaluation_id") in single:
            whole += len(results)
            return
        for at, result in enumerate(results):
            where = f"{place} result {at}"
            if not isinstance(result, dict):
                yield Refused(where, f"a {type(result).__name__} instead of an object")
                continue
            about = _About(result)
            try:
                judge = about.judge(asked)
                value = about.score(_object_under(result, "score_details").get("score"))
            except Odd as odd:
                yield Refused(where, str(odd))
                continue
            criterion = about.metric or about.name
            if about.lower:
                lower.setdefault(criterion)
            nameless += not about.judges
            yield Score(judge, f"{about.name}/{system}", value, criterion, about.name, system)

    yield from read_records(source, read_result_record)
    if whole:
        yield Note(
            f"{source.name}: {whole} results over all samples are left out, as those of samples are read"
        )
    yield from _notes_on_scores(source.name, nameless, lower)


def _read_samples(source: Source, asked: Asked) -> Iterator[Row]:
    configs = _metrics_by_result(source)
    seen: Counter[tuple[Any, ...]] = Counter()
    lower: dict[str, None] = {}
    nameless = 0

    def read_sample_record(record: Record, place: str) -> Iterator[Row]:
        nonlocal nameless
        if record.get("error"):
            raise Odd(f"error: {record['error']}")
        name, sample, system = (
            name_text(record[key]) for key in ("evaluation_name", "sample_id", "model_id")
        )
        run, result = (
            _first_available_name(record, "evaluation_id"),
            _first_available_name(record, "evaluation_result_id"),
        )
        about = configs.get((run, result)) or configs.get((run, name)) or _About(record)
        judge = about.judge(asked)
        value = about.score(record["evaluation"].get("score"))
        criterion = about.metric or result or name
        if about.lower:
            lower.setdefault(criterion or "")
        nameless += not about.judges
        item = f"{name}/{sample}/{system}"
        seen[judge, item, criterion] += 1
        yield Score(judge, item, value, criterion, f"{name}/{sample}", system, seen[judge, item, criterion])

    yield from read_records(source, read_sample_record)
    yield from _notes_on_scores(source.name, nameless, lower)


def _metrics_by_result(source: Source) -> dict[tuple[str | None, str | None], _About]:
    """Metrics of a file of samples, by the results that are read with it; by evaluation and result or name."""
    found: dict[tuple[str | None, str | None], _About] = {}
    for other in source.siblings:
        if not _is_results(other.head):
            continue
        for _, record in other.records():
            results = record.get("evaluation_results") if isinstance(record, dict) else None
            for result in results if isinstance(results, list) else []:
                if isinstance(record, dict) and isinstance(result, dict):
                    about, run = _About(result), _first_available_name(record, "evaluation_id")
                    for key in ("evaluation_result_id", "evaluation_name"):
                        found.setdefault((run, _first_available_name(result, key)), about)
    return found


class _About:
    """Evaluation that a result is of: the metric, and who judged by it."""

    def __init__(self, result: Record) -> None:
        config = _object_under(result, "metric_config")
        self.name = _first_available_name(result, "evaluation_name") or ""
        self.metric = _first_available_name(config, "metric_name", "metric_id")
        judges = _object_under(config, "llm_scoring").get("judges")
        self.judges = [_model_name(one) or "unnamed" for one in judges] if isinstance(judges, list) else []
        self.together = (
            _first_available_name(_object_under(config, "llm_scoring"), "aggregation_method") or "result"
        )
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


def _notes_on_scores(name: str, nameless: int, lower: dict[str, None]) -> Iterator[Note]:
    if nameless:
        yield Note(f"{name}: where no model judged, the metric (or the evaluation) stands for the judge")
    if lower:
        yield Note(f"{name}: lower is better by {', '.join(lower)}; scores are as they stand")


FORMAT = Format(
    "every-eval-ever", "Every Eval Ever", _RESULTS + _SAMPLES, _detect_format, _read_rows, ("judge",)
)
