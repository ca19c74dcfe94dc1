"""promptfoo's results: grades of models (llm-rubric, g-eval, factuality, ...), without assertions of code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.formats.format import Format, members_as_records
from voirdire.tables.formats.records import Placed, Record
from voirdire.tables.formats.rows import Odd, Refused, Row, join_names, name_text, score_row
from voirdire.tables.formats.source import Head

_GRADED_TYPES = {
    "llm-rubric", "g-eval", "factuality", "answer-relevance", "conversation-relevance", "search-rubric", "pi",
    "trajectory:goal-success",
}  # fmt: skip
_GRADED_PREFIXES = ("model-graded-", "context-", "promptfoo:redteam:")
_PROVIDER_FAILURE_CODE = 2


def _list_of_results(head: Head) -> Any:
    results = head.first.get("results") if head.shape == "object" else None
    if isinstance(results, dict):
        return results.get("results")
    return results if "stats" in head.keys else None


class Promptfoo(Format):
    """Results of an evaluation of promptfoo: an object with a list of results, or one result per line."""

    name = "promptfoo"

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True if the head of a file shows a list of results, or a result."""
        return super().detect(head) or isinstance(_list_of_results(head), list)

    def records(self) -> Placed:
        """The results, numbered from 1; a test without a number has the number of its result."""
        if super().detect(self.head):
            yield from self.source.records()
            return
        results = members_as_records(_list_of_results(self.head), f"{self.file} result ", start=1)
        for number, (place, result) in enumerate(results):
            yield place, result if isinstance(result, str) else {"testIdx": number} | result

    @cached_property
    def _default_grader(self) -> str | None:
        """The provider that grades if neither the test nor the assertion names one."""
        return _provider_name(_value_at_path(self.head.first, "config", "defaultTest", "options", "provider"))

    @cached_property
    def _prompts(self) -> dict[str | None, set[str | None]]:
        """Prompts by system."""
        prompts: dict[str | None, set[str | None]] = defaultdict(set)
        for _, result in self.records():
            if isinstance(result, str):
                continue
            with suppress(Odd, AttributeError):  # which is refused when it is read
                prompts[_system_name(result)].add(name_text(result.get("promptIdx")))
        return prompts

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read the scores of one result."""
        test, prompt = record["testIdx"], record.get("promptIdx", 0)
        place, grading = f"{place} (test {test}, prompt {prompt})", record.get("gradingResult")
        if record.get("failureReason") == _PROVIDER_FAILURE_CODE or not grading:
            self.count_event("graded")
            yield Refused(place, "provider error" if record.get("failureReason") else "no grading result")
            return
        system = _system_name(record)
        if len(self._prompts[system]) > 1:
            system = f"{system} | {_value_at_path(record, 'prompt', 'label')}"
        provider = _provider_name(_value_at_path(record, "testCase", "options", "provider"))
        for index, part in enumerate(grading.get("componentResults") or []):
            assertion, where = part.get("assertion") or {}, f"{place} assertion {index}"
            kind = str(assertion.get("type", ""))
            base_type = kind.removeprefix("not-")
            if base_type not in _GRADED_TYPES and not base_type.startswith(_GRADED_PREFIXES):
                self.count_event("code", base_type != "select-best")
                continue
            self.count_event("graded")
            if (part.get("metadata") or {}).get("graderError"):
                yield Refused(where, "graderError: the grader failed, score 0 is no verdict")
                continue
            judge = _provider_name(assertion.get("provider")) or provider or self._default_grader
            columns = {"context": name_text(test), "system": system, "criterion": _criterion_name(assertion, kind)}
            item = join_names(test, prompt)
            yield score_row(where, judge or "promptfoo-default", item, part.get("score"), "no score", **columns)

    def last_rows(self) -> Iterable[Row]:
        """Raise if no model graded anything."""
        if not self.counts["graded"]:
            raise InputError(f"{self.file}: no model-graded assertion")
        return ()


def _system_name(result: Record) -> str | None:
    provider = result.get("provider") or {}
    named = isinstance(provider, str)
    return name_text(provider if named else provider.get("label") or provider.get("id") or "unknown")


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
