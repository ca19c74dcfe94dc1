"""promptfoo's results: what models graded (llm-rubric, g-eval, factuality, ...), not what code asserted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.formats.format import Asked, Format, guarded_rows
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Note, Odd, Refused, Row, Score, join_names, name_text, number_or_none
from voirdire.tables.formats.source import Head, Source

_GRADED = {
    "llm-rubric", "g-eval", "factuality", "answer-relevance", "conversation-relevance", "search-rubric", "pi",
    "trajectory:goal-success",
}  # fmt: skip
_GRADED_AS = ("model-graded-", "context-", "promptfoo:redteam:")
_PROVIDER_FAILED = 2


def _list_of_results(head: Head) -> Any:
    if head.shape != "object":
        return None
    results = head.first.get("results")
    if isinstance(results, dict):
        return results.get("results")
    return results if "stats" in head.keys else None


def _detect_format(head: Head) -> bool:
    return isinstance(_list_of_results(head), list)


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    whole, results = source.head.first, _list_of_results(source.head)
    default = _provider_name(_value_at_path(whole, "config", "defaultTest", "options", "provider"))
    prompts: dict[str | None, set[str | None]] = defaultdict(set)
    for one in results:
        with suppress(Odd, AttributeError):  # which is refused below
            prompts[_system_name(one)].add(name_text(one.get("promptIdx")))
    by_code = graded = 0

    def one_result(number_: int, result: Record) -> Iterator[Row]:
        nonlocal by_code, graded
        test, prompt = result.get("testIdx", number_ - 1), result.get("promptIdx", 0)
        place = f"{source.name} result {number_} (test {test}, prompt {prompt})"
        grading = result.get("gradingResult")
        if result.get("failureReason") == _PROVIDER_FAILED or not grading:
            yield Refused(place, "provider error" if result.get("failureReason") else "no grading result")
            graded += 1
            return
        system = _system_name(result)
        if len(prompts[system]) > 1:
            system = f"{system} | {_value_at_path(result, 'prompt', 'label')}"
        for at, part in enumerate(grading.get("componentResults") or []):
            assertion = part.get("assertion") or {}
            kind = str(assertion.get("type", ""))
            plain = kind.removeprefix("not-")
            if plain not in _GRADED and not plain.startswith(_GRADED_AS):
                by_code += plain != "select-best"
                continue
            graded += 1
            if (part.get("metadata") or {}).get("graderError"):
                yield Refused(
                    f"{place} assertion {at}", "graderError: the grader failed, score 0 is no verdict"
                )
                continue
            judge = _provider_name(assertion.get("provider"))
            judge = (
                judge or _provider_name(_value_at_path(result, "testCase", "options", "provider")) or default
            )
            score = number_or_none(part["score"])
            if score is None:
                yield Refused(f"{place} assertion {at}", "no score")
                continue
            yield Score(
                judge or "promptfoo-default",
                join_names(test, prompt),
                score,
                _criterion_name(assertion, kind),
                name_text(test),
                system,
            )

    for at, result in enumerate(results, start=1):
        yield from guarded_rows(f"{source.name} result {at}", one_result, at, result)
    if by_code:
        yield Note(f"{source.name}: {by_code} results of assertions that no model grades are left out")
    if not graded:
        raise InputError(f"{source.name}: no model-graded assertion")


def _system_name(result: Record) -> str | None:
    provider = result.get("provider") or {}
    found = (
        provider if isinstance(provider, str) else provider.get("label") or provider.get("id") or "unknown"
    )
    return name_text(found)


def _criterion_name(assertion: Record, kind: str) -> str | None:
    if assertion.get("metric"):
        return name_text(assertion["metric"])
    value = assertion.get("value")
    if isinstance(value, str) and value.strip():
        return ("not " if kind.startswith("not-") else "") + value.strip()
    return kind


def _provider_name(value: Any) -> str | None:
    if isinstance(value, dict):
        return _provider_name(value.get("id") or value.get("text"))
    return value if isinstance(value, str) and value else None


def _value_at_path(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


FORMAT = Format("promptfoo", "promptfoo", (), _detect_format, _read_rows)
