"""Files with scores of samples: BiGGen-Bench, CJE, DeepEval, lm-evaluation-harness and UltraFeedback."""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.formats.format import Format, guarded_rows, members_as_records, short_text
from voirdire.tables.formats.records import Placed, Record, first_name
from voirdire.tables.formats.rows import Odd, Refused, Row, Score, join_names, name_text, number_or_none, score_row
from voirdire.tables.formats.source import Head

_BIGGEN_KEYS = {"eval_model_name", "response_model_name"}

_CJE_KEYS = {
    "prompt_id", "prompt", "response", "judge_score", "oracle_label", "draw_idx", "policy", "target_policy", "fold_id",
    "metadata",
}  # fmt: skip

_POLICY_SUFFIX = re.compile("_(?:responses|fresh|probe)$")  # of the policy in CJE's file names

_LMEVAL_KEYS = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash",
    "prompt_hash", "target_hash",
}  # fmt: skip
_SAMPLES_FILE = re.compile(r"samples_(.+?)_\d{4}-\d\d-\d\dT.*|samples_(.+?)\.jsonl.*")

_DEFAULT_JUDGE = "ultrafeedback"
_COMPLETION_KEYS, _ASPECT_KEYS = ("completions", "responses"), ("annotations", "ratings", "scores")
_RATING_KEYS = ("Rating", "rating", "Score", "score")
_JUDGE_KEYS = ("annotator", "judge", "judge_model", "annotation_model", "annotator_model", "rater")
_PROMPT_KEYS = ("prompt_id", "id", "instruction", "prompt", "question")
_OVERALL_KEY, _MEAN_KEY = "overall_score", "fine-grained_score"


class BiGGenBench(Format):
    """BiGGen-Bench's evaluations by Prometheus: an object of records by identifier, or a list of records."""

    name = "biggen"

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True if the head of a file shows such records only."""
        if super().detect(head):
            return True
        records = list(head.first.values()) if head.shape == "object" else []
        all_records = all(isinstance(record, dict) for record in records)
        return all_records and any(record.keys() >= _BIGGEN_KEYS for record in records)

    def records(self) -> Placed:
        """The records by their ids."""
        if super().detect(self.head):
            return self.source.records()
        return ((f"{self.file} {name}", record) for name, record in self.head.first.items())

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read the score of a response."""
        score = number_or_none(record["score"])
        if score is None or score < 1:
            raise Odd(f"score {record['score']!r} is none")
        context, system = name_text(record["id"]), name_text(record["response_model_name"])
        judge = name_text(record["eval_model_name"])
        yield Score(judge, join_names(context, system), score, context=context, system=system)


class CJE(Format):
    """Responses of CJE, with the judge's and the oracle's scores under ``metadata`` or, in newer files, beside it."""

    name = "cje"

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True if the head of a file shows responses, or their scores with CJE's keys only."""
        is_scores = head.shape == "records" and {"prompt_id", "judge_score"} <= head.keys <= _CJE_KEYS
        return is_scores or super().detect(head)

    @cached_property
    def _has_repeated_answers(self) -> bool:
        """True if a policy answered a prompt several times."""
        return any(record.get("draw_idx") for _, record in self.records() if isinstance(record, dict))

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read the judge's score of a response, and the oracle's score."""
        context, scores = name_text(record["prompt_id"]), (record.get("metadata") or {}) | record
        file_system = self.asked.system or _POLICY_SUFFIX.sub("", self.file.partition(".")[0])
        system = name_text(record.get("policy") or record.get("target_policy")) or file_system
        draw = (record.get("draw_idx") or 0,) if self._has_repeated_answers else ()
        for judge in ("judge_score", "oracle_label"):
            score = scores.get(judge)
            reason = "missing" if score is None else f"{score!r} is no number"
            item = join_names(context, system, *draw)
            yield score_row(f"{place} {judge}", judge, item, score, reason, context=context, system=system)


class DeepEval(Format):
    """DeepEval's test runs."""

    name = "deepeval"

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True if the head of a file is that of a test run."""
        return head.shape == "object" and bool(head.keys & {"testRunData", "testCases", "testRunLink"})

    def records(self) -> Placed:
        """The test cases."""
        run = self.head.first.get("testRunData") or self.head.first
        cases = [*(run.get("testCases") or []), *(run.get("conversationalTestCases") or [])]
        if not cases:
            raise InputError(f"{self.file}: holds no test cases (only a link to them?); export the run with them")
        return members_as_records(cases, f"{self.file} case ")

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read the scores of metrics by the models that computed them."""
        for key, spans in (record.get("trace") or {}).items():
            if key.endswith("Spans"):
                self.count_event("spans", sum(len(span.get("metricsData") or []) for span in spans))
        item = name_text(record["name"])
        for metric in record.get("metricsData") or []:
            yield from guarded_rows(f"{self.file} {item}", self._read_metric, metric, item)

    def _read_metric(self, metric: Record, item: str | None) -> Iterator[Row]:
        criterion = name_text(metric["name"])
        judge, reason = metric.get("evaluationModel") or criterion, str(metric.get("error") or "no score")
        where = f"{self.file} {item} {criterion}"
        yield score_row(where, judge, item, metric.get("score"), reason, criterion=criterion)


class LMEval(Format):
    """Samples of lm-evaluation-harness: scores per document; the metrics are programs instead of judges."""

    name = "lmeval"

    @cached_property
    def _task(self) -> str:
        """The task, from the file's name."""
        match = _SAMPLES_FILE.fullmatch(self.file)
        return (match[1] or match[2]) if match else self.file.partition(".")[0]

    @cached_property
    def _system(self) -> str | None:
        """The model, from the options or the results file in the folder of the samples; None if neither names one."""
        return self.asked.system or _model_from_results_file(self.source.path)

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read the scores of one document."""
        self.count_event("nameless", self._system is None)
        context = join_names(self._task, record["doc_id"])
        item = context if self._system is None else join_names(context, self._system)
        for key in dict.fromkeys([*(record.get("metrics") or []), *record]):
            if key not in _LMEVAL_KEYS:
                metric = record[key]
                judge = f"{key},{name_text(record.get('filter', 'none'))}"
                value = None if key == "bypass" or isinstance(metric, str) else metric
                reason = f"not a number per sample: {short_text(metric)}"
                yield score_row(f"{place} {judge}", judge, item, value, reason, context=context, system=self._system)


def _model_from_results_file(path: str) -> str | None:
    """The model in the results file of the same run, or in the only results file of the folder; None without one."""
    folder, name = os.path.split(path)
    date = name.rpartition("_")[2].removesuffix(".jsonl")
    results_files = glob.glob(os.path.join(glob.escape(folder), "results_*.json"))
    candidates = [file for file in results_files if date in file] or (results_files if len(results_files) == 1 else [])
    for file in candidates:
        try:
            with open(file, encoding="utf-8") as stream:
                model = json.load(stream).get("model_name")
        except (OSError, ValueError, AttributeError, RecursionError):
            continue
        if isinstance(model, str) and model:
            return model
    return None


def _completions(record: Record) -> list[Any] | None:
    return next((record[name] for name in _COMPLETION_KEYS if isinstance(record.get(name), list)), None)


def _ratings_by_aspect(completion: Record) -> Record | None:
    return next((completion[name] for name in _ASPECT_KEYS if isinstance(completion.get(name), dict)), None)


class UltraFeedback(Format):
    """UltraFeedback and files like it."""

    name = "ultrafeedback"

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True if the first record has completions with ratings."""
        if head.shape != "records" or not isinstance(head.first, dict):
            return False
        completions = _completions(head.first)
        has_ratings = any(
            isinstance(completion, dict) and _ratings_by_aspect(completion) is not None
            for completion in completions or ()
        )
        return has_ratings or (completions == [] and {"instruction", "models"} <= head.first.keys())

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read the ratings of the completions of a prompt by aspect."""
        completions, context = _completions(record), first_name(record, _PROMPT_KEYS)
        if not completions:
            raise Odd("no list of completions" if completions is None else "the list of completions is empty")
        if context is None:
            raise Odd("neither an instruction nor an id")
        judge, models = self.asked.judge or first_name(record, _JUDGE_KEYS), record.get("models")
        for index, completion in enumerate(completions):
            listed_model = models[index] if isinstance(models, list) and index < len(models) else None
            system = name_text(completion.get("model")) or name_text(listed_model) or f"completion {index + 1}"
            self.count_event("means", completion.get(_MEAN_KEY) is not None)
            aspects = _ratings_by_aspect(completion)
            if aspects is None:
                yield Refused(f"{place} {system}", "no ratings")
                continue
            ratings = [(name, rating) for name, rating_cell in aspects.items() for rating in _each_rating(rating_cell)]
            if completion.get(_OVERALL_KEY) is not None:
                ratings.append((_OVERALL_KEY, completion[_OVERALL_KEY]))
            subject = {"context": context, "system": system}
            for criterion, rating_cell in ratings:
                self.count_event("nameless", judge is None and number_or_none(rating_cell) is not None)
                where, reason = f"{place} {system} {criterion}", f"no rating: {short_text(rating_cell)}"
                item = f"{context}/{system}"
                yield self.number_runs(
                    score_row(where, judge or _DEFAULT_JUDGE, item, rating_cell, reason, criterion=criterion, **subject)
                )


def _each_rating(cell: Any) -> list[Any]:
    """The ratings under one aspect: one, or one per repetition."""
    if isinstance(cell, list):
        return [value for part in cell for value in _each_rating(part)] or [None]
    if isinstance(cell, dict):
        return [next((cell[name] for name in _RATING_KEYS if name in cell), None)]
    return [cell]
