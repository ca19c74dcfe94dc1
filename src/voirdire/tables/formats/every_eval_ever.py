"""Every Eval Ever's schema: results of evaluations, and those of single samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from voirdire.tables.formats.format import Asked, Format, each, has, keyed, shown
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Note, Odd, Refused, Row, Score, named, number
from voirdire.tables.formats.source import Head, Source

_RESULTS = keyed(
    "schema_version evaluation_results model_info", "evaluation_results model_info source_metadata"
)
_SAMPLES = keyed("evaluation_id evaluation_name model_id sample_id evaluation")
_UNKNOWN_LEVEL = -1


def _is_results(head: Head) -> bool:
    return has(head, _RESULTS, "object records") and isinstance(head.first["evaluation_results"], list)


def _detect(head: Head) -> bool:
    return has(head, _SAMPLES) or _is_results(head)


def _rows(source: Source, asked: Asked) -> Iterator[Row]:
    if _is_results(source.head):
        return _results(source, asked)
    return _samples(source, asked)


def _results(source: Source, asked: Asked) -> Iterator[Row]:
    single = {
        _text(other.head.first, "evaluation_id") for other in source.siblings if has(other.head, _SAMPLES)
    }
    lower: dict[str, None] = {}
    whole = nameless = 0

    def one(record: Record, place: str) -> Iterator[Row]:
        nonlocal whole, nameless
        system = _model(record)
        if system is None:
            raise Odd("the model has no name")
        results = record["evaluation_results"]
        if single and _text(record, "evaluation_id") in single:
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
                value = about.score(_under(result, "score_details").get("score"))
            except Odd as odd:
                yield Refused(where, str(odd))
                continue
            criterion = about.metric or about.name
            if about.lower:
                lower.setdefault(criterion)
            nameless += not about.judges
            yield Score(judge, f"{about.name}/{system}", value, criterion, about.name, system)

    yield from each(source, one)
    if whole:
        yield Note(
            f"{source.name}: {whole} results over all samples are left out, as those of samples are read"
        )
    yield from _remarks(source.name, nameless, lower)


def _samples(source: Source, asked: Asked) -> Iterator[Row]:
    configs = _configs(source)
    seen: Counter[tuple[Any, ...]] = Counter()
    lower: dict[str, None] = {}
    nameless = 0

    def one(record: Record, place: str) -> Iterator[Row]:
        nonlocal nameless
        if record.get("error"):
            raise Odd(f"error: {record['error']}")
        name, sample, system = (named(record[key]) for key in ("evaluation_name", "sample_id", "model_id"))
        run, result = _text(record, "evaluation_id"), _text(record, "evaluation_result_id")
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

    yield from each(source, one)
    yield from _remarks(source.name, nameless, lower)


def _configs(source: Source) -> dict[tuple[str | None, str | None], _About]:
    """Metrics of a file of samples, by the results that are read with it; by evaluation and result or name."""
    found: dict[tuple[str | None, str | None], _About] = {}
    for other in source.siblings:
        if not _is_results(other.head):
            continue
        for _, record in other.records():
            results = record.get("evaluation_results") if isinstance(record, dict) else None
            for result in results if isinstance(results, list) else []:
                if isinstance(record, dict) and isinstance(result, dict):
                    about, run = _About(result), _text(record, "evaluation_id")
                    for key in ("evaluation_result_id", "evaluation_name"):
                        found.setdefault((run, _text(result, key)), about)
    return found


class _About:
    """Evaluation that a result is of: the metric, and who judged by it."""

    def __init__(self, result: Record) -> None:
        config = _under(result, "metric_config")
        self.name = _text(result, "evaluation_name") or ""
        self.metric = _text(config, "metric_name", "metric_id")
        judges = _under(config, "llm_scoring").get("judges")
        self.judges = [_model(one) or "unnamed" for one in judges] if isinstance(judges, list) else []
        self.together = _text(_under(config, "llm_scoring"), "aggregation_method") or "result"
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
        value = number(said)
        if value is None:
            raise Odd("no score" if said is None else f"score {shown(said)} is no number")
        if self.unknown_level and value == _UNKNOWN_LEVEL:
            raise Odd("the level is unknown (-1)")
        return value


def _under(record: Any, key: str) -> Record:
    found = record.get(key) if isinstance(record, dict) else None
    return found if isinstance(found, dict) else {}


def _text(record: Record, *keys: str) -> str | None:
    """The first name that is there; what is no name counts as none."""
    return next((said for key in keys if isinstance(said := record.get(key), str) and said), None)


def _model(record: Any) -> str | None:
    return _text(_under(record, "model_info"), "id", "name")


def _remarks(name: str, nameless: int, lower: dict[str, None]) -> Iterator[Note]:
    if nameless:
        yield Note(f"{name}: where no model judged, the metric (or the evaluation) stands for the judge")
    if lower:
        yield Note(f"{name}: lower is better by {', '.join(lower)}; scores are as they stand")


FORMAT = Format("every-eval-ever", "Every Eval Ever", _RESULTS + _SAMPLES, _detect, _rows, ("judge",))
