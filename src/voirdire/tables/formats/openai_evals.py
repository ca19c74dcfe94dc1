"""OpenAI's evals: logs of matches, metrics and grading models, and the output items of evals on the platform."""

from __future__ import annotations

from collections.abc import Iterator

from voirdire.tables.formats.format import Format, FormatOptions, guarded_rows, is_page, short_text
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Label, Odd, Refused, Row, Score, name_text, number_or_none, score_row
from voirdire.tables.formats.source import Head, Source

_SPEC_KEYS = {"eval_name", "base_eval", "completion_fns", "run_id"}
_CHOICE_KEY, _INVALID_ANSWER, _AGREEMENT_SUFFIX = "choice", "__invalid__", "_metascore"


class OpenAIEvals(Format):
    """A log of OpenAI's evals; its first line (the spec) describes the following events."""

    name = "openai-evals"

    def __init__(self, source: Source, options: FormatOptions) -> None:
        super().__init__(source, options)
        self._spec: Record = {}

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True if the head of a file shows events, or a spec."""
        spec = head.first.get("spec") if head.shape == "records" and isinstance(head.first, dict) else None
        return super().detect(head) or (isinstance(spec, dict) and bool(spec.keys() & _SPEC_KEYS))

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read one line of the log."""
        if isinstance(record.get("spec"), dict):
            self._spec = record["spec"]
        elif "final_report" in record:
            self.count_event("reports")
        elif record["type"] == "match":
            correct = record["data"].get("correct")
            if not isinstance(correct, bool):
                raise Odd(f"correct is {short_text(correct)}, neither true nor false")
            yield self._answer(Score, "match", record, int(correct), None)
        elif record["type"] == "metrics":
            yield from self._read_metrics(record, place)
        elif record["type"] == "error":
            data = record.get("data") or {}
            raise Odd(f"{data.get('type', 'error')}: {data.get('message', 'no message')}")

    def _read_metrics(self, record: Record, place: str) -> Iterator[Row]:
        data = record["data"]
        grading_name = self._spec_of_grader() or (_CHOICE_KEY in data and _CHOICE_KEY)
        for name, grade in data.items():
            default_name = _CHOICE_KEY if isinstance(grade, str) else "score"
            criterion = None if not grading_name else grading_name if name == default_name else f"{grading_name}/{name}"
            if name.endswith(_AGREEMENT_SUFFIX):
                self.count_event("agreements")
            elif grade == _INVALID_ANSWER:
                yield Refused(f"{place} {name}", "the grader's answer could not be read")
            elif isinstance(grade, str) and grade and grading_name:
                yield self._answer(Label, self._grader_name(), record, grade, criterion)
            elif (value := None if isinstance(grade, str) else number_or_none(grade)) is not None:
                judge = self._grader_name() if grading_name else name
                yield self._answer(Score, judge, record, value, criterion)
            else:
                yield Refused(f"{place} {name}", f"{short_text(grade)} is no grade")

    def _answer(
        self, kind: type[Score | Label], judge: str, record: Record, grade: object, criterion: str | None
    ) -> Row:
        context, system = name_text(record.get("sample_id")), self._system_name()
        if not context:
            raise Odd("sample_id is missing")
        item = context if system is None else f"{context}/{system}"
        return self.number_runs(kind(judge, item, grade, criterion, context, system))

    def _model_names(self) -> list[str]:
        models = self._spec.get("completion_fns") or self._spec.get("model_name") or []
        return [models] if isinstance(models, str) else [model for model in models if isinstance(model, str)]

    def _system_name(self) -> str | None:
        if self.asked.system:
            return self.asked.system
        models = self._model_names()
        self.count_event("nameless", not models)
        return models[0] if models else None

    def _spec_of_grader(self) -> str | None:
        config = self._spec.get("run_config") or {}
        arguments = (config.get("eval_spec") or {}).get("args") or {}
        return name_text(arguments.get("modelgraded_spec")) or None

    def _grader_name(self) -> str:
        """The model that graded: the last model of the run; if it is the only one, it graded itself."""
        if self.asked.judge:
            return self.asked.judge
        models = self._model_names()
        if not models:
            raise Odd("no model is named that could have graded; name it with --set judge=NAME")
        self.count_event("own", len(models) == 1)
        return models[-1]


class OpenAIPlatform(Format):
    """Output items of evals on OpenAI's platform."""

    name = "openai-platform"

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True if the head of a file shows such items, or is a response of the API."""
        return super().detect(head) or is_page(head, cls.needs[0])

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read the score of a sample by each grader."""
        sample, results = record.get("sample") or {}, record["results"]
        error = sample.get("error") or {}
        if not results:
            raise Odd(f"error: {error['message']}" if error.get("message") else "no grader gave a result")
        system = self.asked.system or name_text(sample.get("model")) or None
        context = f"{name_text(record['eval_id'])}/{name_text(record['datasource_item_id'])}"
        item = context if system is None else f"{context}/{system}"
        subject = {"context": context, "system": system}
        for result in results:
            yield from guarded_rows(place, self._read_result, result, place, item, subject)

    def _read_result(self, result: Record, place: str, item: str, subject: dict[str, str | None]) -> Iterator[Row]:
        name, score = name_text(result["name"]), result.get("score")
        grader = name_text((result.get("sample") or {}).get("model")) or self.asked.judge
        if not grader and number_or_none(score) is not None:
            self.count_event("programs", name=str(name))
        reason = f"score {short_text(score)} is no number"
        yield score_row(f"{place} {name}", grader or name, item, score, reason, criterion=name, **subject)
