"""Loaders of items: what the public files hold becomes items and people's scores; nothing is guessed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from voirdire.errors import InputError
from voirdire_repro import items as loaders
from voirdire_repro.items import columns, mslr_cochrane, summeval, topical_chat


def test_summeval(tmp_path: Path) -> None:
    experts = [{"coherence": 4, "fluency": 5}, {"coherence": 5, "fluency": 5}]
    row = {"id": "doc-1", "model_id": "M0", "decoded": "Short.", "text": "Long.", "references": ["Ref."]}
    path = tmp_path / "model_annotations.aligned.paired.jsonl"
    path.write_text(json.dumps({**row, "expert_annotations": experts}) + "\n")
    items, human = summeval(path)
    assert items.to_dict("records") == [
        {"id": "doc-1/M0", "text": "Short.", "context": "doc-1", "system": "M0", "source": "Long.", "reference": "Ref."}
    ]
    assert human[["criterion", "score"]].values.tolist() == [["coherence", 4.5], ["fluency", 5.0]]


def test_without_a_network_a_path_can_be_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(name: str, files: object) -> list[Path]:
        raise InputError(f"data set {name!r}: no network")

    monkeypatch.setattr(loaders, "fetch_files", fetch)
    for load in (summeval, mslr_cochrane, topical_chat):
        with pytest.raises(InputError, match="no network; or give --data PATH"):
            load(None)


def test_mslr_cochrane(tmp_path: Path) -> None:
    annotation = {
        "fluency": 2,
        "population": 2,
        "intervention": 1,
        "outcome": 0,
        "ed_agree": True,
        "strength_agree": False,
    }
    predictions = [
        {"exp_short": "S1", "prediction": "Works.", "annotations": [annotation], "scores": {"rougeL_f": 0.5}},
        {"exp_short": "S2", "prediction": "Not annotated.", "annotations": []},
    ]
    # the file is called .json and holds an object a line
    path = tmp_path / "data_with_overlap_scores.json"
    reviews = [
        {"subtask": "Cochrane", "review_id": "R", "target": "T", "predictions": predictions},
        {"subtask": "MS2", "review_id": "Q", "target": "T", "predictions": predictions},
    ]
    path.write_text("".join(json.dumps(review) + "\n" for review in reviews))
    items, human = mslr_cochrane(path)
    assert items[["id", "system", "reference", "rougeL_f"]].values.tolist() == [["R/S1", "S1", "T", "0.5"]]
    assert "context" not in items  # a review's number is nothing to show a judge
    found = dict(zip(human["criterion"], human["score"], strict=True))
    assert found == {
        "fluency": 2,
        "PIO consistency": 1,
        "effect direction": 1,
        "evidence strength": 0,
        "overall": (1 + 0.5 + 1 + 0) / 4,
    }


def test_topical_chat(public_data: Path) -> None:
    items, human = topical_chat(None)
    assert len(items) == 360
    assert items["context"].nunique() == 60
    assert len(human) == 360 * 6
    assert (items["text"] != "").all()


def test_faults_of_a_table_of_items(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text("essay,score\nOne.,high\n")
    with pytest.raises(InputError, match="column 'id' is missing"):
        columns(path, {"id": "id", "text": "essay"})
    with pytest.raises(InputError, match=r"item One\.: a score is no number"):
        columns(path, {"id": "essay", "text": "essay", "human holistic": "score"})


def test_columns_are_joined_and_empty_rows_are_no_items(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("id,question,answer,score\n1,Why?,So.,3\n,,,\n2,How?,Thus.,\n")
    names = {"id": "id", "text": ["question", "answer"], "human overall": "score"}
    items, human = columns(path, names)
    assert items["text"].tolist() == ["Why?\nSo.", "How?\nThus."]
    assert human[["item", "score"]].values.tolist() == [["1", 3.0]]
    with pytest.raises(InputError, match=r"column 'reply' is missing; it has id, question, answer, score"):
        columns(path, {**names, "text": ["question", "reply"]})


def test_a_file_that_is_no_json_is_named(tmp_path: Path) -> None:
    path = tmp_path / "replies.json"
    path.write_text("[{]")
    with pytest.raises(InputError, match=r"replies\.json: cannot be read as JSON"):
        topical_chat(path)


def test_original_replies_are_the_references_of_the_others(public_data: Path) -> None:
    items, _ = topical_chat(None)
    own = items[items["system"] == "Original Ground Truth"].set_index("context")["text"]
    others = items[items["system"] != "Original Ground Truth"]
    assert (others["reference"] == others["context"].map(own)).all()
    assert set(items.loc[items["system"] == "Original Ground Truth", "reference"]) == {""}


def test_summeval_as_unieval_gives_it(tmp_path: Path) -> None:
    path = tmp_path / "summeval_result.json"
    one = {
        "doc_id": "d1", "system_id": "M0", "source": "An article.", "reference": "Its gist.", "system_output": "Gist.",
        "scores": {"fluency": 4.0, "overall": 4.5}, "predict_scores": {"fluency": 0.9, "overall": 0.8},
    }  # fmt: skip
    path.write_text(json.dumps([one]), encoding="utf-8")
    items, scores = summeval(path)
    assert items.to_dict("records") == [
        {"id": "d1/M0", "text": "Gist.", "context": "d1", "system": "M0", "source": "An article.",
         "reference": "Its gist."}
    ]  # fmt: skip
    assert scores.values.tolist() == [["human", "d1/M0", "fluency", 4.0, "d1"]]
