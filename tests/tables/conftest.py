"""Synthetic files of tools, small ones, as each tool writes them."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest


def lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def table(rows: list[list[Any]], mark: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=mark, lineterminator="\n").writerows(rows)
    return text.getvalue()


def prodigy(annotator: str, number: int, answer: str = "accept", **more: Any) -> dict[str, Any]:
    hashes = {"_input_hash": -100 - number, "_task_hash": 200 + number}
    who = {"_annotator_id": annotator, "_session_id": annotator}
    return {"text": f"t{number}", **hashes, "answer": answer, "_view_id": "choice", **who, **more}


TOLOKA = [
    "INPUT:image", "OUTPUT:result", "GOLDEN:result", "HINT:text", "ASSIGNMENT:link", "ASSIGNMENT:assignment_id",
    "ASSIGNMENT:worker_id", "ASSIGNMENT:status", "ASSIGNMENT:started",
]  # fmt: skip


@pytest.fixture
def tool_files() -> dict[str, list[tuple[str, str]]]:
    """By format the names and texts of files of it."""
    scale = {"metric": "quality", "category": "graded", "prompt": "?", "worst": 1, "best": 5}
    classes = {"metric": "safe", "category": "categorical", "prompt": "?", "labels_list": ["No", "Yes"]}
    rated = {"mean_human": 4.5, "individual_human_scores": [4, 5]}
    said = {"majority_human": "Yes", "individual_human_scores": ["Yes", "No"]}
    people = {
        "dataset": "d",
        "annotations": [scale, classes],
        "instances": [{"id": 1, "instance": "text", "annotations": {"quality": rated, "safe": said}}],
    }
    completion = {"model": "m1", "response": "r", "annotations": {"honesty": {"Rating": "4", "Rationale": "."}}}
    options = [{"id": "GOOD", "text": "good"}, {"id": "BAD", "text": "bad"}]
    assessment = {
        "assessment_id": "a-1",
        "assessment_name": "correctness",
        "source": {"source_type": "LLM_JUDGE", "source_id": "gpt-x"},
        "feedback": {"value": "yes"},
    }
    metric = {"lower_is_better": False, "score_type": "continuous", "min_score": 0, "max_score": 1}
    result = {
        "evaluation_name": "GSM",
        "source_data": {"dataset_name": "gsm", "source_type": "other"},
        "metric_config": metric | {"metric_name": "accuracy"},
        "score_details": {"score": 0.5},
    }
    results = {
        "schema_version": "0.2.2",
        "evaluation_id": "GSM/o/m/1",
        "retrieved_timestamp": "1",
        "source_metadata": {"source_type": "evaluation_run"},
        "model_info": {"name": "M", "id": "o/m"},
        "eval_library": {"name": "x", "version": "1"},
        "evaluation_results": [result],
    }
    sample = {
        "schema_version": "instance_level_eval_0.2.2",
        "evaluation_id": "GSM/o/m/1",
        "model_id": "o/m",
        "evaluation_name": "GSM",
        "sample_id": "s1",
        "interaction_type": "single_turn",
        "input": {"raw": "2 + 2", "reference": ["4"]},
        "output": {"raw": ["4"]},
        "answer_attribution": [],
        "evaluation": {"score": 1.0, "is_correct": True},
    }
    spec = {
        "completion_fns": ["m", "grader"],
        "eval_name": "e.dev.v0",
        "base_eval": "e",
        "split": "dev",
        "run_config": {"eval_spec": {"args": {"modelgraded_spec": "fact"}}},
        "run_id": "r1",
    }
    event = {"run_id": "r1", "event_id": 0, "sample_id": "e.dev.0", "created_by": "", "created_at": "2026"}
    output_item = {
        "object": "eval.run.output_item",
        "id": "o1",
        "eval_id": "e1",
        "run_id": "r1",
        "datasource_item_id": 7,
        "datasource_item": {"q": "?"},
        "results": [{"name": "tone", "passed": True, "score": 0.8, "type": "score_model"}],
        "sample": {"model": "m", "error": None},
        "status": "pass",
    }
    game = {"swap = False": {"winner": "1", "completion": ["Output (a)"]}, "swap = True": {"winner": "2"}}
    errors = ["system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity"]
    return {
        "llmbar": [("result.json", json.dumps([{"input": "q", "output_1": "a", "output_2": "b", "results": [game]}]))],
        "judgebench-people": [("d.json", json.dumps(people))],
        "ultrafeedback": [("u.jsonl", lines([{"instruction": "q", "models": ["m1"], "completions": [completion]}]))],
        "prodigy": [("p.jsonl", lines([prodigy("ann", 0, options=options, accept=["GOOD"])]))],
        "doccano": [
            ("ann.csv", table([["id", "text", "label"], [7, "a text", "good"]])),
            ("ben.jsonl", lines([{"id": 7, "text": "a text", "label": ["bad"], "Comments": []}])),
        ],
        "mturk": [
            (
                "batch.csv",
                table(
                    [
                        ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "Input.text", "Answer.tone.label"],
                        ["H1", "A1", "W1", "Approved", "hello", "warm"],
                    ]
                ),
            )
        ],
        "toloka": [("pool.tsv", table([TOLOKA, ["i.png", "cat", "cat", "", "", "a1", "w1", "APPROVED", ""]], "\t"))],
        "mlflow": [
            ("table.json", json.dumps({"columns": ["inputs", "outputs", "tone/v1/score"], "data": [["q", "a", 4]]})),
            ("traces.jsonl", lines([{"info": {"trace_id": "tr-1", "assessments": [assessment]}, "data": {}}])),
        ],
        "every-eval-ever": [("r.json", json.dumps(results)), ("r.jsonl", lines([sample]))],
        "openai-evals": [("log.jsonl", lines([{"spec": spec}, event | {"type": "metrics", "data": {"choice": "A"}}]))],
        "openai-platform": [("items.jsonl", lines([output_item]))],
        "mqm": [("mqm.tsv", table([errors, ["S1", "d", "1", "10", "r1", "a", "b", "Fluency/Grammar", "Minor"]], "\t"))],
    }
