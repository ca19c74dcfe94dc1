"""Files with scores of samples: BiGGen-Bench, CJE, DeepEval, the lm-evaluation-harness and UltraFeedback."""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, ClassVar

from voirdire.errors import InputError
from voirdire.tables.formats.format import Format, guarded_rows, key_sets, members, short_text
from voirdire.tables.formats.records import Placed, Record
from voirdire.tables.formats.rows import (
    Note,
    Odd,
    Refused,
    Row,
    Score,
    join_names,
    name_text,
    number_or_none,
    score_row,
)
from voirdire.tables.formats.source import Head

_BIGGEN = {"eval_model_name", "response_model_name"}

_CJE = {
    "prompt_id", "prompt", "response", "judge_score", "oracle_label", "draw_idx", "policy", "target_policy", "fold_id",
    "metadata",
}  # fmt: skip

_OF_POLICY = re.compile("_(?:responses|fresh|probe)$")  # what CJE writes behind the policy

_FIXED = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash",
    "prompt_hash", "target_hash",
}  # fmt: skip
_NAME = re.compile(r"samples_(.+?)_\d{4}-\d\d-\d\dT.*|samples_(.+?)\.jsonl.*")

_NOBODY = "ultrafeedback"
_LISTS, _ASPECTS = ("completions", "responses"), ("annotations", "ratings", "scores")
_RATING = ("Rating", "rating", "Score", "score")
_JUDGE = ("annotator", "judge", "judge_model", "annotation_model", "annotator_model", "rater")
_PROMPT = ("prompt_id", "id", "instruction", "prompt", "question")
_OVERALL, _MEAN = "overall_score", "fine-grained_score"


class BiGGenBench(Format):
    """BiGGen-Bench's evaluations by Prometheus: an object of records by their ids, or a list of them."""

    name, title, needs = "biggen", "BiGGen-Bench", (frozenset({"id", "score"} | _BIGGEN),)

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True where a file that begins so has such records alone."""
        if super().detect(head):
            return True
        records = list(head.first.values()) if head.shape == "object" else []
        whole = all(isinstance(one, dict) for one in records)
        return whole and any(one.keys() >= _BIGGEN for one in records)

    def records(self) -> Placed:
        """The records by their ids."""
        if super().detect(self.head):
            return self.source.records()
        return ((f"{self.file} {name}", record) for name, record in self.head.first.items())

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """The score of a response."""
        score = number_or_none(record["score"])
        if score is None or score < 1:
            raise Odd(f"score {record['score']!r} is none")
        context, system = name_text(record["id"]), name_text(record["response_model_name"])
        judge = name_text(record["eval_model_name"])
        yield Score(judge, join_names(context, system), score, context=context, system=system)


class CJE(Format):
    """Responses of CJE, with the judge's score and the oracle's under ``metadata`` or, of newer ones, beside it."""

    name, title, options = "cje", "CJE", ("system",)
    needs = key_sets("prompt_id response metadata")
    notes: ClassVar = {"": "oracle_label is what the judge is to predict: rather anchors than a judge"}

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True where a file that begins so has responses, or scores of them and nothing that is not CJE's."""
        plain = head.shape == "records" and {"prompt_id", "judge_score"} <= head.keys <= _CJE
        return plain or super().detect(head)

    @cached_property
    def _drawn(self) -> bool:
        """True where a policy answered a prompt several times."""
        return any(record.get("draw_idx") for _, record in self.records() if isinstance(record, dict))

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """A judge's score of a response and, for some, the oracle's."""
        context, scores = name_text(record["prompt_id"]), (record.get("metadata") or {}) | record
        named = self.asked.system or _OF_POLICY.sub("", self.file.partition(".")[0])
        system = name_text(record.get("policy") or record.get("target_policy")) or named
        draw = (record.get("draw_idx") or 0,) if self._drawn else ()
        for judge in ("judge_score", "oracle_label"):
            said = scores.get(judge)
            why = "missing" if said is None else f"{said!r} is no number"
            item = join_names(context, system, *draw)
            yield score_row(f"{place} {judge}", judge, item, said, why, context=context, system=system)


class DeepEval(Format):
    """DeepEval's test runs."""

    name, title = "deepeval", "DeepEval"
    notes: ClassVar = {"spans": "{name}: {count} scores of trace spans are left out"}

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True where a file that begins so is a test run."""
        return head.shape == "object" and bool(head.keys & {"testRunData", "testCases", "testRunLink"})

    def records(self) -> Placed:
        """The test cases."""
        run = self.head.first.get("testRunData") or self.head.first
        cases = [*(run.get("testCases") or []), *(run.get("conversationalTestCases") or [])]
        if not cases:
            raise InputError(
                f"{self.file}: holds no test cases (only a link to them?); export the run with them"
            )
        return members(cases, f"{self.file} case ")

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Scores of metrics by the models that computed them."""
        for key, spans in (record.get("trace") or {}).items():
            if key.endswith("Spans"):
                self.count("spans", sum(len(span.get("metricsData") or []) for span in spans))
        item = name_text(record["name"])
        for metric in record.get("metricsData") or []:
            yield from guarded_rows(f"{self.file} {item}", self._read_metric, metric, item)

    def _read_metric(self, metric: Record, item: str | None) -> Iterator[Row]:
        criterion = name_text(metric["name"])
        judge, why = metric.get("evaluationModel") or criterion, str(metric.get("error") or "no score")
        where = f"{self.file} {item} {criterion}"
        yield score_row(where, judge, item, metric.get("score"), why, criterion=criterion)


class LMEval(Format):
    """Samples of the lm-evaluation-harness: metrics, which are programs rather than judges, per document."""

    name, title, options = "lmeval", "lm-evaluation-harness", ("system",)
    needs = key_sets("doc_id filtered_resps")

    @cached_property
    def _task(self) -> str:
        """The task, by the file's name."""
        found = _NAME.fullmatch(self.file)
        return (found[1] or found[2]) if found else self.file.partition(".")[0]

    @cached_property
    def _system(self) -> str | None:
        """The model, by the results file beside the samples; None where that names none."""
        return self.asked.system or _model_from_results_file(self.source.path)

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """The scores of one document."""
        context = join_names(self._task, record["doc_id"])
        item = context if self._system is None else join_names(context, self._system)
        for key in dict.fromkeys([*(record.get("metrics") or []), *record]):
            if key not in _FIXED:
                said = record[key]
                judge = f"{key},{name_text(record.get('filter', 'none'))}"
                value = None if key == "bypass" or isinstance(said, str) else said
                why = f"not a number per sample: {short_text(said)}"
                yield score_row(
                    f"{place} {judge}", judge, item, value, why, context=context, system=self._system
                )

    def last_rows(self) -> Iterator[Row]:
        """That the model is not named."""
        if self._system is None:
            yield Note(
                f"{self.file}: no results file beside it names the model; --set system=NAME says which it is"
            )


def _model_from_results_file(path: str) -> str | None:
    """The model of the results file of the same run, or of the only one in the folder."""
    folder, name = os.path.split(path)
    date = name.rpartition("_")[2].removesuffix(".jsonl")
    beside = glob.glob(os.path.join(glob.escape(folder), "results_*.json"))
    same = [file for file in beside if date in file] or (beside if len(beside) == 1 else [])
    for file in same:
        try:
            with open(file, encoding="utf-8") as stream:
                model = json.load(stream).get("model_name")
        except (OSError, ValueError, AttributeError, RecursionError):
            continue
        if isinstance(model, str) and model:
            return model
    return None


def _completions(record: Record) -> list[Any] | None:
    return next((record[name] for name in _LISTS if isinstance(record.get(name), list)), None)


def _ratings_by_aspect(completion: Record) -> Record | None:
    return next((completion[name] for name in _ASPECTS if isinstance(completion.get(name), dict)), None)


def _first_name(record: Record, keys: Iterable[str]) -> str | None:
    return next((text for key in keys if (text := name_text(record.get(key)))), None)


class UltraFeedback(Format):
    """UltraFeedback and files like it."""

    name, title, options = "ultrafeedback", "UltraFeedback", ("judge",)
    notes: ClassVar = {
        "nameless": "{name}: who gave the ratings is not in the file: all are one judge "
        f"{_NOBODY!r} (--set judge=NAME names it)",
        "means": f"{{name}}: {{count}} means over aspects ({_MEAN}) are left out",
    }

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True where the first record has completions with ratings of them."""
        if head.shape != "records" or not isinstance(head.first, dict):
            return False
        found = _completions(head.first)
        rated = any(isinstance(one, dict) and _ratings_by_aspect(one) is not None for one in found or ())
        return rated or (found == [] and {"instruction", "models"} <= head.first.keys())

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """The completions of a prompt, rated by aspect."""
        completions, context = _completions(record), _first_name(record, _PROMPT)
        if not completions:
            raise Odd("no list of completions" if completions is None else "the list of completions is empty")
        if context is None:
            raise Odd("neither an instruction nor an id")
        judge, models = self.asked.judge or _first_name(record, _JUDGE), record.get("models")
        for at, completion in enumerate(completions):
            listed = models[at] if isinstance(models, list) and at < len(models) else None
            system = name_text(completion.get("model")) or name_text(listed) or f"completion {at + 1}"
            self.count("means", completion.get(_MEAN) is not None)
            aspects = _ratings_by_aspect(completion)
            if aspects is None:
                yield Refused(f"{place} {system}", "no ratings")
                continue
            ratings = [(name, one) for name, said in aspects.items() for one in _each_rating(said)]
            if completion.get(_OVERALL) is not None:
                ratings.append((_OVERALL, completion[_OVERALL]))
            about = {"context": context, "system": system}
            for criterion, said in ratings:
                self.count("nameless", judge is None and number_or_none(said) is not None)
                where, why = f"{place} {system} {criterion}", f"no rating: {short_text(said)}"
                item = f"{context}/{system}"
                yield self.numbered(
                    score_row(where, judge or _NOBODY, item, said, why, criterion=criterion, **about)
                )


def _each_rating(said: Any) -> list[Any]:
    """The ratings under one aspect: one, or one of each time that it was asked."""
    if isinstance(said, list):
        return [rating for one in said for rating in _each_rating(one)] or [None]
    if isinstance(said, dict):
        return [next((said[name] for name in _RATING if name in said), None)]
    return [said]
