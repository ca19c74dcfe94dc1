"""UltraFeedback and files like it: the completions of each prompt, rated by aspect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from voirdire.tables.formats.format import Asked, Format, read_records, short_text
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Note, Odd, Refused, Row, Score, name_text, number_or_none
from voirdire.tables.formats.source import Head, Source

_STAND_IN = "ultrafeedback"
_LISTS, _ASPECTS = ("completions", "responses"), ("annotations", "ratings", "scores")
_RATING = ("Rating", "rating", "Score", "score")
_JUDGE = ("annotator", "judge", "judge_model", "annotation_model", "annotator_model", "rater")
_PROMPT = ("prompt_id", "id", "instruction", "prompt", "question")
_OVERALL, _MEAN = "overall_score", "fine-grained_score"


def _rated_completions(record: Any) -> list[Any] | None:
    """The completions of a record that has ratings of them."""
    if not isinstance(record, dict):
        return None
    found = next((record[name] for name in _LISTS if isinstance(record.get(name), list)), None)
    rated = any(isinstance(one, dict) and _ratings_by_aspect(one) is not None for one in found or ())
    return found if rated or (found == [] and {"instruction", "models"} <= record.keys()) else None


def _ratings_by_aspect(completion: Record) -> Record | None:
    return next((completion[name] for name in _ASPECTS if isinstance(completion.get(name), dict)), None)


def _detect_format(head: Head) -> bool:
    return head.shape == "records" and _rated_completions(head.first) is not None


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    seen: Counter[tuple[Any, ...]] = Counter()
    nameless = means = 0

    def read_record(record: Record, place: str) -> Iterator[Row]:
        nonlocal nameless, means
        completions = next((record[name] for name in _LISTS if isinstance(record.get(name), list)), None)
        if completions is None:
            raise Odd("no list of completions")
        if not completions:
            raise Odd("the list of completions is empty")
        context = next((text for name in _PROMPT if (text := name_text(record.get(name)))), None)
        if context is None:
            raise Odd("neither an instruction nor an id")
        own = next((name for key in _JUDGE if (name := name_text(record.get(key)))), None)
        models = record.get("models")
        for at, completion in enumerate(completions):
            system = name_text(completion.get("model")) or _listed_model(models, at) or f"completion {at + 1}"
            about = {"context": context, "system": system}
            means += completion.get(_MEAN) is not None
            aspects = _ratings_by_aspect(completion)
            if aspects is None:
                yield Refused(f"{place} {system}", "no ratings")
                continue
            ratings = [(name, one) for name, said in aspects.items() for one in _each_rating(said)]
            if completion.get(_OVERALL) is not None:
                ratings.append((_OVERALL, completion[_OVERALL]))
            for criterion, said in ratings:
                value = number_or_none(said)
                if value is None:
                    yield Refused(f"{place} {system} {criterion}", f"no rating: {short_text(said)}")
                    continue
                judge = asked.judge or own or _STAND_IN
                nameless += asked.judge is None and own is None
                item = f"{context}/{system}"
                seen[judge, item, criterion] += 1
                run = seen[judge, item, criterion]
                yield Score(judge, item, value, criterion, run=run, **about)

    yield from read_records(source, read_record)
    if nameless:
        yield Note(
            f"{source.name}: who gave the ratings is not in the file: all are one judge {_STAND_IN!r} (--set "
            "judge=NAME names it)"
        )
    if means:
        yield Note(f"{source.name}: {means} means over aspects ({_MEAN}) are left out")


def _each_rating(said: Any) -> list[Any]:
    """The ratings under one aspect: one, or one of each time that it was asked."""
    if isinstance(said, list):
        return [rating for one in said for rating in _each_rating(one)] or [None]
    if isinstance(said, dict):
        return [next((said[name] for name in _RATING if name in said), None)]
    return [said]


def _listed_model(models: Any, at: int) -> str | None:
    return name_text(models[at]) if isinstance(models, list) and at < len(models) else None


FORMAT = Format("ultrafeedback", "UltraFeedback", (), _detect_format, _read_rows, ("judge",))
