"""Votes of a panel in a log of Inspect are answers of its graders, by their names, their models or their places."""

from __future__ import annotations

import json
import zipfile

import pytest

import voirdire

VOTES = ["C", None, "I"]


def log(panel: dict, options: dict, roles: dict) -> dict:
    about = {
        "task": "t",
        "model": "openai/gpt",
        "model_roles": roles,
        "scorers": [{"name": "model_graded_qa", "options": options}],
    }
    score = {"value": 0.6, "metadata": {"panel": panel}}
    samples = [{"id": at, "epoch": 1, "scores": {"model_graded_qa": score}} for at in ("q1", "q2")]
    return {"version": 2, "status": "success", "eval": about, "samples": samples}


@pytest.mark.parametrize(
    ("panel", "options", "roles", "judges"),
    [
        ({"judges": ["a", "b", "c"]}, {"model": ["x", "y", "z"]}, {}, ["a", "c"]),
        ({}, {"model": ["x", "y", "z"]}, {}, ["x", "z"]),
        ({}, {"model": "x"}, {"grader": [{"model": "u"}, {"model": "v"}, {"model": "w"}]}, ["u", "w"]),
        ({"judges": ["a"]}, {}, {}, ["model_graded_qa grader 1", "model_graded_qa grader 3"]),
    ],
)
def test_votes_of_a_panel(tmp_path, panel, options, roles, judges) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log({"votes": VOTES, **panel}, options, roles)))
    found = voirdire.read(path)
    assert found.scores is None
    assert found.labels[["judge", "label", "context"]].to_numpy().tolist() == [
        [judge, label, sample] for sample in ("q1", "q2") for judge, label in zip(judges, ["C", "I"], strict=True)
    ]
    assert found.refused["reason"].tolist() == ["unscored (NaN)"] * 2


@pytest.mark.parametrize(
    ("graded", "matched", "said"),
    [
        ("CICI", "CCII", "the grades C, I are read as labels"),
        ("CCCC", [1.0, 0.0, 1.0, 1.0], "the grades C are read as labels"),
        (["good", "bad"] * 2, "CCII", ""),
        ([0.5, 1.0, 0.0, 1.0], [1, 0, 1, 1], ""),
    ],
)
def test_grades_are_labels_whoever_gives_them_and_a_note_says_so(tmp_path, graded, matched, said) -> None:
    path = tmp_path / "log.json"
    about = {"task": "t", "model": "m", "scorers": [{"name": "model_graded_qa"}, {"name": "match"}]}
    samples = [
        {"id": f"q{at}", "epoch": 1, "scores": {"model_graded_qa": {"value": one}, "match": {"value": other}}}
        for at, (one, other) in enumerate(zip(graded, matched, strict=True))
    ]
    path.write_text(json.dumps({"version": 2, "status": "success", "eval": about, "samples": samples}))
    found = voirdire.read(path)
    notes = [note for note in found.notes if "read as labels" in note]
    assert len(notes) == bool(said)
    assert all(said in note and "count C as 1" in note for note in notes)
    numeric = [not isinstance(values[0], str) for values in (graded, matched)]
    assert found.counts == {
        kind: 4 * count for kind, count in (("scores", sum(numeric)), ("labels", 2 - sum(numeric))) if count
    }
    assert [note.endswith("numbers, of match, as scores") for note in notes] == [numeric[1]] * bool(said)


def test_labels_say_which_model_was_evaluated(tmp_path) -> None:
    paths = []
    for model in ("m1", "m2"):
        about = {"task": "t", "model": model, "scorers": [{"name": "model_graded_qa"}]}
        scores = {"model_graded_qa": {"value": "C" if model == "m1" else "I"}}
        samples = [{"id": f"q{at}", "epoch": 1, "scores": scores} for at in range(2)]
        paths.append(tmp_path / f"{model}.json")
        log = {"version": 2, "status": "success", "eval": about, "samples": samples}
        paths[-1].write_text(json.dumps(log))
    found = voirdire.read(paths)
    assert found.labels[["item", "context", "system"]].values.tolist() == [
        [f"q{at}/{model}", f"q{at}", model] for model in ("m1", "m2") for at in range(2)
    ]


def test_a_sample_in_parts_is_its_shell(tmp_path) -> None:
    """Messages, events and metadata of a large sample are members of their own, and none of them is a sample."""
    path = tmp_path / "log.eval"
    head = {"version": 3, "status": "success", "eval": {"task": "t", "model": "m", "scorers": [{"name": "match"}]}}
    sample = {"epoch": 1, "scores": {"match": {"value": "C"}}}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(head))
        archive.writestr("samples/1_epoch_1.json", json.dumps({"id": 1, **sample}))
        for name, part in {"sample": {"id": "a/b", **sample}, "metadata": {"id": 3}, "messages/0": [{}]}.items():
            archive.writestr(f"samples/a/b_epoch_1/{name}.json", json.dumps(part))
    found = voirdire.read(path)
    assert found.labels["context"].tolist() == ["1", "a/b"]
    assert found.counts == {"labels": 2}


@pytest.mark.parametrize("results", [{"scorer": {"name": "match"}}, {"scores": [{"name": "match"}]}, None])
def test_the_only_score_of_old_logs_is_read(tmp_path, results) -> None:
    path = tmp_path / "log.json"
    about = {"version": 1, "status": "success", "eval": {"task": "t", "model": "m"}, "results": results}
    samples = [{"id": n, "epoch": 1, "score": {"value": value}} for n, value in enumerate("CI")]
    path.write_text(json.dumps(about | {"samples": samples}))
    found = voirdire.read(path).labels
    assert found["label"].tolist() == ["C", "I"]
    assert set(found["judge"]) == {"match" if results else "score"}


@pytest.mark.parametrize(
    ("options", "roles"), [({"model": ["a", "b"]}, {}), ({}, {"grader": [{"model": "a"}, {"model": "b"}]})]
)
def test_what_several_graders_give_together_is_told(tmp_path, options, roles) -> None:
    path = tmp_path / "log.json"
    about = {"task": "t", "model": "m", "model_roles": roles}
    about["scorers"] = [{"name": "model_graded_qa", "options": options}]
    grading = [{"role": "user"}, {"role": "assistant", "model": "a"}]
    score = {"value": "C", "metadata": {"grading": grading}}
    samples = [{"id": 1, "epoch": 1, "scores": {"model_graded_qa": score}}]
    path.write_text(json.dumps({"version": 2, "status": "success", "eval": about, "samples": samples}))
    found = voirdire.read(path)
    assert found.labels["judge"].tolist() == ["a"]
    assert any("several models graded model_graded_qa" in note for note in found.notes)
