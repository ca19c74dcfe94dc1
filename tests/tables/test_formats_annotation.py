"""Files of tools by which people annotate: Prodigy, doccano, Mechanical Turk, Toloka, JUDGE-BENCH's people."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire import InputError, read
from voirdire.cli import app

RUN = CliRunner()


def jsonl(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(json.dumps(record, ensure_ascii=False) for record in records), encoding="utf-8")
    return path


def table(path: Path, rows: list[list[Any]], mark: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, delimiter=mark).writerows(rows)
    return path


def rows(frame: pd.DataFrame | None) -> list[list[Any]]:
    assert frame is not None
    return frame.values.tolist()


def task(number: int, annotator: str | None = "ann", answer: Any = "accept", **more: Any) -> dict[str, Any]:
    record = {"text": f"t{number}", "_input_hash": number, "_task_hash": 100 + number, "answer": answer}
    return record | ({"_annotator_id": annotator, "_session_id": annotator} if annotator else {}) | more


OPTIONS = {"options": [{"id": "GOOD", "text": "g"}, {"id": "SCHÖN", "text": "s"}]}


class TestProdigy:
    def test_choices_and_what_is_none(self, tmp_path: Path) -> None:
        path = jsonl(
            tmp_path / "db.jsonl",
            [
                task(1, **OPTIONS, accept=["GOOD"]),
                task(1, "ben", **OPTIONS, accept=["SCHÖN"]),
                task(2, answer="ignore", **OPTIONS, accept=["GOOD"]),
                task(3, answer="reject", **OPTIONS, accept=[]),
                task(4, **OPTIONS, accept=["GOOD", "SCHÖN"]),
                task(5, **OPTIONS, accept=[]),
                task(6, answer=None, **OPTIONS, accept=["GOOD"]),
                task(7, answer="maybe", **OPTIONS, accept=["GOOD"]),
                task(8, **OPTIONS, accept="GOOD"),
            ],
        )
        found = read(path)
        assert rows(found.labels) == [["ann", "1", "GOOD"], ["ben", "1", "SCHÖN"], ["ann", "8", "GOOD"]]
        assert rows(found.refused) == [
            ["db.jsonl:3", "ignored by the annotator"],
            ["db.jsonl:4", "the whole task is rejected, no option is chosen"],
            ["db.jsonl:5", "2 options are accepted: GOOD, SCHÖN"],
            ["db.jsonl:6", "no option is accepted"],
            ["db.jsonl:7", "no answer"],
            ["db.jsonl:8", "answer 'maybe' is none of accept, reject, ignore"],
        ]
        assert found.notes == ()

    def test_a_label_that_is_accepted_or_rejected(self, tmp_path: Path) -> None:
        path = jsonl(
            tmp_path / "db.jsonl",
            [task(1, label="SPORT"), task(1, "ben", "reject", label="SPORT"), task(2, "ben", "ignore", label="SPORT")],
        )
        assert read(path).labels.to_dict("records") == [
            {"judge": "ann", "item": "1", "label": "accept", "criterion": "SPORT"},
            {"judge": "ben", "item": "1", "label": "reject", "criterion": "SPORT"},
        ]

    def test_options_that_are_numbers_are_scores(self, tmp_path: Path) -> None:
        scale = {"options": [{"id": n, "text": str(n)} for n in (1, 2, 3)]}
        named = {"options": [{"id": n, "text": word} for n, word in enumerate(("bad", "good"))]}
        assert rows(read(jsonl(tmp_path / "a", [task(1, **scale, accept=[2])] * 2)).scores) == [
            ["ann", "1", 2, 1],
            ["ann", "1", 2, 2],
        ]
        assert rows(read(jsonl(tmp_path / "b", [task(1, **named, accept=[1])])).labels) == [["ann", "1", "1"]]

    def test_who_is_not_named_is_the_file(self, tmp_path: Path) -> None:
        path = jsonl(tmp_path / "anna.jsonl", [task(1, None), task(2, None, "reject")])
        found = read(path)
        assert rows(found.labels) == [["anna", "1", "accept"], ["anna", "2", "reject"]]
        assert len(found.notes) == 1
        assert "those of 'anna', by the file's name" in found.notes[0]
        assert rows(read(path, set={"judge": "ben"}).labels)[0][0] == "ben"
        spans = jsonl(tmp_path / "ner.jsonl", [task(1, spans=[{"start": 0, "end": 1, "label": "X"}])])
        with pytest.raises(InputError, match="marks in the text are no label"):
            read(spans)


class TestDoccano:
    def test_each_file_is_a_judge(self, tmp_path: Path) -> None:
        head = ["id", "text", "label", "Comments"]
        one = table(tmp_path / "ann.csv", [head, [1, "a", "good", ""], [2, "b", "bad", ""]])
        two = jsonl(tmp_path / "ben.x.jsonl", [{"id": 1, "text": "a", "label": ["good"], "Comments": []}])
        found = read([one, two])
        assert rows(found.labels) == [["ann", "1", "good"], ["ann", "2", "bad"], ["ben.x", "1", "good"]]
        assert [note.split(";")[0][:20] for note in found.notes] == ["ann.csv: the file na", "ben.x.jsonl: the fil"]
        alone = read(one)
        assert "several files become one table by voirdire import FILE FILE --out FOLDER" in alone.notes[0]
        assert "one table" not in found.notes[0]
        assert rows(read(one, set={"judge": "anna"}).labels)[0][0] == "anna"

    def test_files_of_one_name_are_told_by_their_folders(self, tmp_path: Path) -> None:
        paths = []
        for person in ("ann", "ben"):
            (tmp_path / person).mkdir()
            paths.append(jsonl(tmp_path / person / "all.jsonl", [{"id": 1, "text": "a", "label": ["x"]}]))
        assert [row[0] for row in rows(read(paths).labels)] == ["ann/all", "ben/all"]
        assert any("where annotators share their labels" in note for note in read(paths[0]).notes)

    def test_several_labels_marks_and_none(self, tmp_path: Path) -> None:
        path = table(
            tmp_path / "ann.csv",
            [["id", "text", "label"], [1, "a", "bad#good"], [2, "b", ""], [3, "c", "C#"], [4, "d", "é; x"]],
        )
        found = read(path)
        assert rows(found.labels) == [["ann", "3", "C#"]]
        assert rows(found.refused) == [
            ["ann.csv:2", "2 labels: bad, good"],
            ["ann.csv:3", "no label"],
            ["ann.csv:5", "2 labels: é, x"],
        ]
        path = jsonl(
            tmp_path / "ann.jsonl",
            [
                {"id": 1, "text": "a", "label": ["x", "y"]},
                {"id": 2, "text": "b", "label": []},
                {"id": 3, "text": "c", "label": [[0, 3, "PER"]]},
                {"id": 4, "text": "d", "label": None},
                {"id": None, "text": "e", "label": ["x"]},
                {"id": 6, "text": "f", "label": ["x"]},
            ],
        )
        found = read(path)
        assert rows(found.labels) == [["ann", "6", "x"]]
        assert found.refused["reason"].tolist() == [
            "2 labels: x, y",
            "no label",
            "marks in the text are no label of it",
            "no label",
            "item is empty",
        ]

    def test_old_exports_name_the_people(self, tmp_path: Path) -> None:
        record = {"id": 1, "text": "a", "annotations": [{"label": 3, "user": 1}, {"label": 4, "user": 2}]}
        twice = {"id": 2, "text": "b", "annotations": [{"label": 3, "user": 1}, {"label": 4, "user": 1}]}
        found = read(jsonl(tmp_path / "old.jsonl", [record, twice]))
        assert set(found.formats.values()) == {"doccano"}
        assert rows(found.labels) == [["1", "1", "3"], ["2", "1", "4"]]
        assert found.refused["reason"].tolist() == ["2 labels: 3, 4"]

    def test_a_table_of_named_judges_is_none_of_doccano(self, tmp_path: Path) -> None:
        path = table(tmp_path / "t.csv", [["id", "text", "label", "annotator"], [1, "a", "x", "ann"]])
        with pytest.raises(InputError, match="columns"):
            read(path)

    def test_standard_input_needs_a_name(self, tmp_path: Path) -> None:
        text = "id,text,label\n1,a,x\n"
        done = RUN.invoke(app, ["import", "-", "--out", str(tmp_path / "a")], input=text)
        assert done.exit_code == 1
        assert "it names no judge; say --set judge=NAME" in done.stderr
        done = RUN.invoke(app, ["import", "-", "--out", str(tmp_path / "a"), "--set", "judge=ann"], input=text)
        assert done.exit_code == 0, done.output
        assert (tmp_path / "a" / "labels.csv").read_text() == "judge,item,label\nann,1,x\n"


TURK = ["HITId", "WorkerId", "AssignmentStatus", "RequesterFeedback", "Input.item_id", "Input.text"]
TURK_PAIR = ["HITId", "WorkerId", "AssignmentStatus", "Input.model_a", "Input.model_b"]


class TestMechanicalTurk:
    def test_rejected_work_does_not_count(self, tmp_path: Path) -> None:
        path = table(
            tmp_path / "batch.csv",
            [
                [*TURK, "Answer.tone", "Answer.rating"],
                ["H1", "W1", "Approved", "", "x", "hi", "warm", "4"],
                ["H1", "W2", "Rejected", "random clicks", "x", "hi", "cold", "1"],
                ["H1", "W3", "Submitted", "", "x", "hi", "", "n/a"],
                ["H2", "W1", "Paused", "", "y", "ho", "warm", "4"],
                ["H2", "W2", "", "", "y", "ho", "warm", "4"],
                ["H2", "", "Approved", "", "y", "ho", "warm", "2.5"],
                ["H2", "W4", "approved", "", "y", "ho", "warm;cold", "5"],
                ["H2", "W5", "rejected", "", "y", "ho", "warm", "5"],
            ],
        )
        found = read(path)
        assert rows(found.labels) == [["W1", "x", "warm", "tone"]]
        assert rows(found.scores) == [["W1", "x", 4, "rating"], ["W4", "y", 5, "rating"]]
        assert rows(found.refused) == [
            ["batch.csv:3", "rejected: random clicks"],
            ["batch.csv:4 tone", "no answer"],
            ["batch.csv:4 rating", "'n/a' is no number"],
            ["batch.csv:5", "status 'Paused' is none of Approved, Submitted, Rejected"],
            ["batch.csv:6", "the status of the assignment is missing"],
            ["batch.csv:7 tone", "judge is empty"],
            ["batch.csv:7 rating", "judge is empty"],
            ["batch.csv:8 tone", "2 labels: warm, cold"],
            ["batch.csv:9", "rejected, no reason given"],
        ]
        assert found.notes == ("batch.csv: 1 assignments are submitted and not yet reviewed",)

    def test_boxes_of_one_question(self, tmp_path: Path) -> None:
        path = table(
            tmp_path / "batch.csv",
            [
                [*TURK, "Answer.ok.yes", "Answer.ok.no", "Answer.sure.on"],
                ["H1", "W1", "Approved", "", "x", "hi", "true", "false", "true"],
                ["H1", "W2", "Approved", "", "x", "hi", "FALSE", "True", "false"],
                ["H1", "W3", "Approved", "", "x", "hi", "true", "true", "false"],
                ["H1", "W4", "Approved", "", "x", "hi", "false", "false", "false"],
            ],
        )
        found = read(path)
        labels = [row for row in rows(found.labels) if row[3] == "ok"]
        assert labels == [["W1", "x", "yes", "ok"], ["W2", "x", "no", "ok"]]
        assert [row[2] for row in rows(found.labels) if row[3] == "sure.on"] == ["true", "false", "false", "false"]
        assert rows(found.refused) == [["batch.csv:4 ok", "2 labels: yes, no"], ["batch.csv:5 ok", "no answer"]]
        assert any("--set questions=a,b" in note for note in found.notes)
        assert {row[2] for row in rows(read(path, set={"questions": ["ok"]}).labels)} == {"yes", "no"}

    def test_answers_of_forms_are_json(self, tmp_path: Path) -> None:
        answers: list[Any] = [
            [{"tone": {"label": "warm"}, "grade": {"1": False, "2": True}, "points": 3}],
            [{"tone": {"labels": ["warm", "cold"]}, "grade": {"1": True, "2": True}, "points": 4.5}],
            "no list",
        ]
        path = table(
            tmp_path / "batch.csv",
            [
                ["HITId", "WorkerId", "AssignmentStatus", "Input.text", "Answer.taskAnswers"],
                *(["H1", f"W{n}", "Approved", "hi", json.dumps(said)] for n, said in enumerate(answers)),
                ["H1", "W9", "Approved", "hi", "{"],
            ],
        )
        found = read(path)
        assert rows(found.labels) == [["W0", "hi", "warm", "tone"], ["W0", "hi", "2", "grade"]]
        assert rows(found.scores) == [["W0", "hi", 3, "points"], ["W1", "hi", 4.5, "points"]]
        assert found.refused["reason"].tolist() == [
            "2 labels: warm, cold",
            "2 labels: 1, 2",
            "Answer.taskAnswers is no list of objects",
            "Answer.taskAnswers is no JSON",
        ]

    def test_one_question_has_no_criterion_and_repeats_are_runs(self, tmp_path: Path) -> None:
        path = table(
            tmp_path / "batch.csv",
            [["HITId", "WorkerId", "Input.text", "Answer.rating"], ["H1", "W1", "hi", "4"], ["H9", "W1", "hi", "5"]],
        )
        found = read(path)
        assert found.scores.to_dict("records") == [
            {"judge": "W1", "item": "hi", "score": 4, "run": 1},
            {"judge": "W1", "item": "hi", "score": 5, "run": 2},
        ]
        assert any("no column AssignmentStatus" in note for note in found.notes)

    def test_preferences_between_two_that_were_shown(self, tmp_path: Path) -> None:
        path = table(
            tmp_path / "batch.csv",
            [
                ["HITId", "WorkerId", "AssignmentStatus", "Input.model_a", "Input.model_b", "Answer.better"],
                ["H1", "W1", "Approved", "x", "y", "y"],
                ["H1", "W2", "Approved", "x", "y", "left"],
                ["H1", "W3", "Approved", "x", "y", "tie"],
                ["H1", "W4", "Approved", "x", "y", "z"],
                ["H1", "W5", "Rejected", "x", "y", "y"],
            ],
        )
        found = read(path)
        assert [row[3] for row in rows(found.votes)] == ["second", "first", "tie"]
        assert found.refused["reason"].tolist() == [
            "'z' is none of the two items, first, second or tie (--winners z=first or the like says what it means)",
            "rejected, no reason given",
        ]


TOLOKA = ["INPUT:image", "OUTPUT:result", "GOLDEN:result", "ASSIGNMENT:worker_id", "ASSIGNMENT:status"]


class TestToloka:
    def test_statuses_and_known_answers(self, tmp_path: Path) -> None:
        path = table(
            tmp_path / "pool.tsv",
            [
                [*TOLOKA, "ACCEPT:verdict", "ACCEPT:comment", "HINT:text"],
                ["a", "cat", "cat", "w1", "APPROVED", "", "", ""],
                ["b", "dög", "", "w1", "APPROVED", "", "", "look at the ears"],
                ["a", "dög", "cat", "w2", "ACCEPTED", "", "", ""],
                ["b", "cat", "", "w2", "REJECTED", "-", "too quick", ""],
                ["b", "cat", "", "w3", "SKIPPED", "", "", ""],
                ["b", "cat", "", "w4", "EXPIRED", "", "", ""],
                ["b", "cat", "", "w5", "ACTIVE", "", "", ""],
                ["b", "cat", "", "w6", "SUBMITTED", "", "", ""],
                ["b", "cat", "", "w7", "LOST", "", "", ""],
                ["b", "cat", "", "w8", "", "", "", ""],
                ["", "", "", "", "", "", "", ""],
                ["c", "", "", "w9", "APPROVED", "", "", ""],
                ["a", "cat", "dög", "w9", "APPROVED", "", "", ""],
            ],
            "\t",
        )
        found = read(path)
        assert rows(found.labels) == [
            ["w1", "a", "cat"],
            ["w1", "b", "dög"],
            ["w2", "a", "dög"],
            ["w6", "b", "cat"],
            ["w9", "a", "cat"],
        ]
        assert rows(found.anchors) == [["a", "cat"]]
        assert list(found.anchors) == ["item", "label"]
        reasons = dict(rows(found.refused))
        assert reasons["pool.tsv:5"] == "rejected: too quick"
        assert reasons["pool.tsv:6"] == "skipped by the worker"
        assert reasons["pool.tsv:7"] == "expired: not done in time"
        assert reasons["pool.tsv:8"] == "not done yet (active)"
        assert reasons["pool.tsv:10"].startswith("status 'LOST' is none of APPROVED, ")
        assert reasons["pool.tsv:11"] == "the status of the assignment is missing"
        assert reasons["pool.tsv:13 result"] == "no answer"
        assert reasons["pool.tsv:14 known result"] == "the known answer for 'a' is 'dög' here and 'cat' before"
        assert len(reasons) == 8
        assert found.notes == (
            "pool.tsv: 1 assignments are submitted and not yet reviewed",
            "pool.tsv: 1 answers are to tasks with a hint, as in training",
            "1 answers are known to be right and are no judge's: `voirdire import` writes them to anchors.csv, for "
            "--anchors (in Python .anchors)",
        )

    def test_known_answers_are_anchors_of_a_fit(self, tmp_path: Path) -> None:
        kinds = ("cat", "dog")
        body = [
            [f"i{n}", kinds[(n + (w == 2 and n % 3 == 0)) % 2], kinds[n % 2] if n < 6 else "", f"w{w}", "APPROVED"]
            for n in range(18)
            for w in range(3)
        ]
        path = table(tmp_path / "pool.tsv", [TOLOKA, *body], "\t")
        out = tmp_path / "out"
        done = RUN.invoke(app, ["import", str(path), "--out", str(out), "--json"])
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["rows"] == {"labels": 54, "anchors": 6}
        assert (out / "anchors.csv").read_text().splitlines()[:2] == ["item,label", "i0,cat"]
        done = RUN.invoke(
            app, ["fit", str(out / "labels.csv"), "--anchors", str(out / "anchors.csv"), "--method", "map", "--json"]
        )
        assert done.exit_code == 0, done.output
        found = read(path)
        fit = voirdire.fit(found.labels, anchors=found.anchors, method="map")
        assert fit.anchored is not None
        again = RUN.invoke(app, ["import", str(path), "--out", str(out), "--overwrite"])
        assert again.exit_code == 0, again.output

    def test_known_answers_of_each_kind(self, tmp_path: Path) -> None:
        head = ["INPUT:id", "OUTPUT:tone", "OUTPUT:grade", "GOLDEN:tone", "GOLDEN:grade", "ASSIGNMENT:worker_id"]
        path = table(tmp_path / "pool.tsv", [head, ["a", "warm", "3", "cold", "4", "w1"]], "\t")
        found = read(path)
        assert found.counts == {"labels": 1, "scores": 1, "anchors_labels": 1, "anchors_scores": 1}
        with pytest.raises(InputError, match="the known answers are labels and scores"):
            _ = found.anchors
        assert rows(read(path, set={"questions": ["grade"]}).anchors) == [["a", 4]]
        out = tmp_path / "out"
        assert RUN.invoke(app, ["import", str(path), "--out", str(out)]).exit_code == 0
        assert (out / "anchors_scores.csv").read_text() == "item,score,criterion\na,4,grade\n"
        assert (out / "anchors_labels.csv").read_text() == "item,label,criterion\na,cold,tone\n"
        pairs = ["INPUT:left", "INPUT:right", "OUTPUT:result", "GOLDEN:result", "ASSIGNMENT:worker_id"]
        path = table(tmp_path / "pairs.tsv", [pairs, ["x", "y", "x", "right", "w1"]], "\t")
        assert rows(read(path).votes) == [["w1", "x", "y", "first"]]
        assert rows(read(path).anchors) == [["x", "y", "second"]]


class TestPeopleOfJudgeBench:
    def test_exact_rows(self, shared: Path) -> None:
        found = read(shared / "cases" / "j_judgebench_dmg.json")
        assert found.counts == {"scores": 9, "labels": 9}
        assert set(found.labels["judge"]) == set(found.scores["judge"]) == {"human1", "human2", "human3"}

    def test_what_is_no_answer_of_a_person(self, tmp_path: Path) -> None:
        metrics = [
            {"metric": "quality", "category": "graded", "worst": 5, "best": 1},
            {"metric": "safe", "category": "categorical"},
        ]
        answers = [
            {"quality": {"individual_human_scores": [4, "5", None, "good"], "mean_human": 4.5}},
            {"quality": {"mean_human": 3.0}, "safe": {"individual_human_scores": []}},
            {"safe": {"individual_human_scores": [1, ["a", "b"], True]}, "new": {"individual_human_scores": ["ja", 2]}},
        ]
        whole: dict[str, Any] = {"annotations": metrics}
        whole["instances"] = [{"id": n, "instance": "", "annotations": one} for n, one in enumerate(answers)]
        whole["instances"].append({"instance": "", "annotations": {}})
        path = tmp_path / "data.json"
        path.write_text(json.dumps(whole))
        found = read(path)
        assert rows(found.scores) == [
            ["human1", "0", 4, "quality"],
            ["human2", "0", 5, "quality"],
            ["human2", "2", 2, "new"],
        ]
        assert rows(found.labels) == [
            ["human1", "2", "1", "safe"],
            ["human3", "2", "True", "safe"],
            ["human1", "2", "ja", "new"],
        ]
        assert rows(found.refused) == [
            ["data.json instance 0 quality human3", "no answer"],
            ["data.json instance 0 quality human4", "'good' is no number"],
            ["data.json instance 1 quality", "no answer of a single person, only what they give together"],
            ["data.json instance 1 safe", "no answer of a single person, only what they give together"],
            ["data.json instance 2 safe human2", "2 labels: a, b"],
            ["data.json instance 3", "the key 'id' is missing"],
        ]
        assert "need not be one person; lists have 2 to 4 answers" in found.notes[0]
        assert "2 means and majorities of people are left out" in found.notes[1]
        assert "of 'quality' lower is better (1 is best)" in found.notes[2]
        assert read(path, set={"questions": ["new"]}).counts == {"scores": 1, "labels": 1, "refused": 1}


@pytest.mark.parametrize("tool", ["mturk", "toloka"])
def test_sides_of_two_items_that_were_shown_are_votes_where_that_is_said_and_never_labels(
    tmp_path: Path, tool: str
) -> None:
    if tool == "mturk":
        head = [*TURK_PAIR, "Answer.preference"]
        rows = [["H1", "W1", "Approved", "x", "y", "A"], ["H1", "W2", "Approved", "x", "y", "B"]]
    else:
        head = ["INPUT:left", "INPUT:right", "OUTPUT:result", "ASSIGNMENT:worker_id", "ASSIGNMENT:status"]
        rows = [["x", "y", "A", "W1", "APPROVED"], ["x", "y", "B", "W2", "APPROVED"]]
    path = tmp_path / "t.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in [head, *rows]))
    with pytest.raises(InputError, match="--winners A=first,B=second"):
        read(path)
    votes = read(path, winners={"A": "first", "B": "second"}).votes
    assert votes is not None
    assert votes[["first", "second", "winner"]].values.tolist() == [["x", "y", "first"], ["x", "y", "second"]]


@pytest.mark.parametrize(
    ("inputs", "contexts"),
    [
        (["Input.id", "Input.text"], ["q1", "q2", "q1"]),
        (["Input.image"], ["q1", "q2", "q1"]),
        (["Input.text_a", "Input.text_b"], ["H1", "H2", "H1"]),
        ([], None),
    ],
    ids=["id", "only one", "task", "nothing else"],
)
def test_comparisons_in_several_tasks_are_of_several_contexts(
    tmp_path: Path, inputs: list[str], contexts: list[str] | None
) -> None:
    head = [*TURK_PAIR, *inputs, "Answer.better"]
    work = [("H1", "w1", "q1", "gpt"), ("H2", "w1", "q2", "llama"), ("H1", "w2", "q1", "tie")]
    lines = [[task, who, "Approved", "gpt", "llama", *[shown] * len(inputs), said] for task, who, shown, said in work]
    votes = read(table(tmp_path / "Batch.csv", [head, *lines])).votes
    assert votes is not None
    assert votes["winner"].tolist() == ["first", "second", "tie"]
    assert (votes["context"].tolist() if "context" in votes else None) == contexts
    assert ("run" in votes) == (contexts is None)


def test_a_word_for_an_item_is_refused_with_the_option_that_says_it(tmp_path: Path) -> None:
    head = ["HITId", "WorkerId", "Input.model_a", "Input.model_b", "Answer.better"]
    work = [["H1", "w1", "gpt", "llama", said] for said in ("gpt", "llama", "upper")]
    found = read(table(tmp_path / "Batch.csv", [head, *work]))
    (reason,) = found.refused["reason"]
    assert "--winners upper=first" in reason


def potato(path: Path, labels: list[dict[str, dict[str, Any]]]) -> Path:
    """An export of Potato by line, of one person."""
    return jsonl(path, [{"instance_id": f"r{n}", "user_id": "ann", "labels": of} for n, of in enumerate(labels)])


class TestPotato:
    def test_sliders_and_numbers_are_scores(self, tmp_path: Path) -> None:
        path = potato(tmp_path / "a.jsonl", [{"q": {"slider": "7"}}, {"q": {"number": "2.5"}}, {"q": {"slider": "x"}}])
        found = read(path)
        assert rows(found.scores) == [["ann", "r0", 7, "q"], ["ann", "r1", 2.5, "q"]]
        assert found.refused["reason"].tolist() == ["slider 'x' is no number"]
        cells = [["instance_id", "user_id", "q.slider", "q._room_id"], ["r0", "ann", "7", "x"], ["r1", "ann", "", ""]]
        assert rows(read(table(tmp_path / "a.csv", cells)).scores) == [["ann", "r0", 7, "q"]]

    def test_texts_beside_an_answer_are_left_out(self, tmp_path: Path) -> None:
        path = potato(
            tmp_path / "a.jsonl",
            [
                {"tone": {"warm": "warm", "free_response": "so"}, "why": {"text_box": "so"}},
                {"tone": {"cold": "2"}, "better": {"selection": "B", "justification": "{}"}},
            ],
        )
        found = read(path)
        assert rows(found.labels) == [["ann", "r0", "warm", "tone"], ["ann", "r1", "cold", "tone"]]
        assert rows(found.votes) == [["ann", "r1/A", "r1/B", "second", "better", "r1"]]
        assert len(found.refused) == 0
        assert "a.jsonl: 3 free texts are left out" in found.notes

    def test_scales_between_two_are_votes(self, tmp_path: Path) -> None:
        labels = [{"p": {"scale_value": value}} for value in ("-3", "2", "0", "left")]
        found = read(potato(tmp_path / "a.jsonl", labels))
        assert found.votes is not None
        assert found.votes["winner"].tolist() == ["first", "second", "tie"]
        assert found.refused["reason"].tolist() == ["scale_value 'left' is no number"]
        assert any("strength" in note for note in found.notes)

    def test_dimensions_of_a_comparison_are_criteria(self, tmp_path: Path) -> None:
        path = potato(tmp_path / "a.jsonl", [{"p": {"style": "A", "facts": "tie"}}, {"p": {"style": "B"}}])
        found = read(path)
        assert [(row[3], row[4]) for row in rows(found.votes)] == [
            ("first", "p.style"),
            ("tie", "p.facts"),
            ("second", "p.style"),
        ]

    def test_boxes_that_are_called_a_and_b_are_labels(self, tmp_path: Path) -> None:
        path = potato(tmp_path / "a.jsonl", [{"p": {"A": "A", "B": "B"}}, {"p": {"A": "A"}}])
        found = read(path)
        assert rows(found.labels) == [["ann", "r1", "A", "p"]]
        assert found.refused["reason"].tolist() == ["2 labels: A, B"]


class TestArgilla:
    HEAD: ClassVar = ["id", "q.responses", "q.responses.users", "q.responses.status", "q.suggestion"]

    def test_lists_in_cells_of_csv(self, tmp_path: Path) -> None:
        cells = [
            self.HEAD,
            ["r1", "['yes', 'no']", "['ann', 'bob']", "['submitted', 'draft']", "yes"],
            ["r2", "['yes' 'no']", "['ann' 'bob']", "['submitted' 'submitted']", ""],
            ["r3", "[4, 2.5]", '["ann", "bob"]', "", ""],
            ["r4", "", "", "", ""],
            ["r5", "yes", "ann", "", ""],
            ["r6", "['yes']", "['ann', 'bob']", "", ""],
        ]
        found = read(table(tmp_path / "a.csv", cells))
        labels = [["ann", "r1", "yes", "q"], ["ann", "r2", "yes", "q"], ["bob", "r2", "no", "q"]]
        assert rows(found.labels) == labels
        assert rows(found.scores) == [["ann", "r3", 4, "q"], ["bob", "r3", 2.5, "q"]]
        assert found.refused["reason"].tolist() == [
            "status 'draft': not submitted",
            '"yes" is no list; export the records as JSON',
            "question 'q' has 1 answers of 2 people",
        ]
        assert any(note.startswith("1 suggestions") for note in found.notes)

    def test_records_of_the_first_version(self, tmp_path: Path) -> None:
        def record(number: str | None, *answers: tuple[str, Any, str]) -> dict[str, Any]:
            given = [{"user_id": who, "value": value, "status": status} for who, value, status in answers]
            return {"prompt": "p", "q": given, "q-suggestion": None, "external_id": number, "metadata": "{}"}

        path = jsonl(
            tmp_path / "a.jsonl",
            [
                record("r1", ("ann", 4, "submitted"), ("bob", 3, "discarded")),
                record(None, ("ann", 2, "submitted")),
                record("r3"),
                record("r4", ("ann", ["a", "b"], "submitted")),
                record("r5") | {"q": {"user_id": ["ann"], "value": [1], "status": ["submitted"]}},
            ],
        )
        found = read(path)
        assert rows(found.scores) == [["ann", "r1", 4, "q"], ["ann", "a.jsonl:2", 2, "q"], ["ann", "r5", 1, "q"]]
        assert found.refused["reason"].tolist() == ["status 'discarded': not submitted", 'value ["a", "b"]']
        assert "a.jsonl: 1 records have no external_id and are named by their places" in found.notes


def test_comparisons_of_prodigy_are_refused_as_such(tmp_path: Path) -> None:
    two = {"accept": {"text": "A"}, "reject": {"text": "B"}, "mapping": {"A": "accept", "B": "reject"}}
    path = jsonl(tmp_path / "c.jsonl", [task(1, **two), task(2, answer="reject", **two)])
    with pytest.raises(InputError, match=r"a comparison of two texts \(compare\).* \(c.jsonl:1 and 1 more\)"):
        read(path)
