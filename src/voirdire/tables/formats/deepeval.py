"""DeepEval's test runs: scores of metrics by the models that computed them."""

from __future__ import annotations

from collections.abc import Iterator

from voirdire.errors import InputError
from voirdire.tables.formats.format import Asked, Format, guarded_rows
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Note, Refused, Row, Score, name_text, number_or_none
from voirdire.tables.formats.source import Head, Source


def _detect_format(head: Head) -> bool:
    return head.shape == "object" and bool(head.keys & {"testRunData", "testCases", "testRunLink"})


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    whole = source.head.first
    run = whole.get("testRunData") or whole
    cases = [*(run.get("testCases") or []), *(run.get("conversationalTestCases") or [])]
    if not cases:
        raise InputError(
            f"{source.name}: holds no test cases (only a link to them?); export the run with them"
        )
    spans = 0
    for at, case in enumerate(cases):
        yield from guarded_rows(f"{source.name} case {at}", _read_test_case, source.name, case)
        trace = case.get("trace") if isinstance(case, dict) else None
        for key, found in (trace or {}).items():
            if key.endswith("Spans"):
                spans += sum(len(span.get("metricsData") or []) for span in found)
    if spans:
        yield Note(f"{source.name}: {spans} scores of trace spans are left out")


def _read_test_case(name: str, case: Record) -> Iterator[Row]:
    item = name_text(case["name"])
    for metric in case.get("metricsData") or []:
        criterion = name_text(metric["name"])
        score = number_or_none(metric.get("score"))
        if score is None:
            yield Refused(f"{name} {item} {criterion}", str(metric.get("error") or "no score"))
        else:
            yield Score(metric.get("evaluationModel") or criterion, item, score, criterion)


FORMAT = Format("deepeval", "DeepEval", (), _detect_format, _read_rows)
