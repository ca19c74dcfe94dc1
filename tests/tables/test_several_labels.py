"""Several labels in one cell are several, and never taken for one of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from voirdire import InputError, read

SEVERAL: tuple[Any, ...] = (["good", "long"], "good;long", "good | long", '["good", "long"]', "['good' 'long']")


def argilla(said: Any) -> Any:
    return [{"id": "r", "fields": {}, "_server_id": "s", "responses": {"tone": [{"value": said, "user_id": "ann"}]}}]


def labelstudio(said: Any) -> Any:
    chosen = said if isinstance(said, list) else [said]
    result = {"type": "choices", "from_name": "tone", "to_name": "t", "value": {"choices": chosen}}
    return [{"id": 1, "annotations": [{"id": 1, "completed_by": 1, "result": [result]}]}]


def crowdkit(said: Any) -> Any:
    return [{"worker": "ann", "task": "t", "label": said}]


def langfuse(said: Any) -> Any:
    about = {"dataType": "CATEGORICAL", "source": "ANNOTATION", "name": "tone", "traceId": "t"}
    return [about | {"authorUserName": "ann", "stringValue": said}]


def langsmith(said: Any) -> Any:
    return [{"key": "tone", "run_id": "r", "feedback_source": {"user_name": "ann"}, "value": said}]


def potato(said: Any) -> Any:
    names = said if isinstance(said, list) else [said]
    return [{"instance_id": "1", "user_id": "ann", "labels": {"tone": dict.fromkeys(names, True)}}]


def inspect(said: Any) -> Any:
    scored = {"id": 1, "epoch": 1, "scores": {"match": {"value": said}}}
    return {"status": "success", "eval": {"task": "t", "model": "m", "scorers": []}, "samples": [scored]}


def prodigy(said: Any) -> Any:
    return [{"_task_hash": 1, "answer": "accept", "accept": said, "_annotator_id": "ann"}]


def doccano(said: Any) -> Any:
    return [{"id": 1, "text": "a", "label": said}]


def mlflow(said: Any) -> Any:
    made = {"name": "tone", "source": {"source_id": "ann"}, "feedback": {"value": said}}
    return [{"trace_id": "t", "assessments": [made]}]


def judgebench_people(said: Any) -> Any:
    answers = {"tone": {"individual_human_scores": [said]}}
    return {
        "annotations": [{"metric": "tone", "category": "categorical"}],
        "instances": [{"id": 1, "annotations": answers}],
    }


TOOLS = (
    argilla, labelstudio, crowdkit, langfuse, langsmith, potato, inspect, prodigy, doccano, mlflow, judgebench_people,
)  # fmt: skip


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.__name__)
@pytest.mark.parametrize("said", SEVERAL, ids=str)
def test_they_are_refused_by_every_tool(tmp_path: Path, tool: Any, said: Any) -> None:
    path = tmp_path / "file.json"
    path.write_text(json.dumps(tool(said)))
    with pytest.raises(InputError, match="1 answer is refused"):
        read(path)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.__name__)
def test_one_label_is_read_as_it_stands(tmp_path: Path, tool: Any) -> None:
    for said in ("[[A]]", "C;", "schön, aber lang"):
        path = tmp_path / "file.json"
        path.write_text(json.dumps(tool(said)))
        labels = read(path).labels
        assert labels is not None
        assert labels["label"].tolist() == [said]


@pytest.mark.parametrize("how", ["rows", "lists", ";"])
@pytest.mark.parametrize(
    ("cells", "options", "held"),
    [
        ("item,yes,no\nx,3,1\ny,1,2\n", {"wide": "counts"}, "counts of labels"),
        ("item,label,count\nx,yes,3\nx,no,1\n", {}, "counts of labels"),
        ("judge,item,score\na,x,3\nb,x,1\n", {}, "scores"),
        ("judge,first,second,winner\na,x,y,first\n", {}, "votes"),
    ],
)
def test_tables_without_sets_of_labels_take_no_word_on_them(
    tmp_path: Path, how: str, cells: str, options: dict[str, Any], held: str
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(cells)
    with pytest.raises(InputError, match=rf"label_sets \(--label-sets\) .*; {held} have none, so leave it out"):
        read(path, label_sets=how, **options)
