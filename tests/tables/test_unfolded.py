"""Records with objects and lists in them: keys are columns, members of lists rows or answers of judges."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import voirdire
from voirdire import InputError, read
from voirdire.tables.doctor import examine_file
from voirdire.tables.formats.imported import Imported


def written(folder: Path, records: Any, name: str = "t.jsonl") -> Path:
    path = folder / name
    lines = [json.dumps(record) for record in records] if name.endswith("l") else [json.dumps(records, indent=1)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def as_proposed(path: Path) -> Imported:
    """The file as the options read it that doctor proposes."""
    words = shlex.split(examine_file(path).command)[3:]
    options: dict[str, Any] = {}
    for flag, value in zip(words[::2], words[1::2], strict=True):
        pairs = dict(one.split("=", 1) for one in value.split(",")) if "=" in value else value
        options[flag.removeprefix("--")] = value.split(",") if flag == "--columns" else pairs
    return read(path, **options)


def test_lists_of_objects_of_numbers_are_criteria_of_judges_by_place(tmp_path: Path) -> None:
    def said(*rows: tuple[int, int]) -> list[dict[str, int]]:
        return [{"tone": tone, "style": style} for tone, style in rows]

    records = [
        {"id": doc, "model_id": model, "experts": said((1, 2), (3, 4)), "crowd": said((5, 5), (4, 4), (3, 3))}
        for doc in ("d1", "d2")
        for model in ("m1", "m2", "m3")
    ]
    scores = as_proposed(written(tmp_path, records)).scores
    assert len(scores) == 6 * (2 + 3) * 2
    assert set(scores["judge"]) == {"experts 1", "experts 2", "crowd 1", "crowd 2", "crowd 3"}
    assert scores.groupby("criterion")["score"].mean().to_dict() == {"style": 18 / 5, "tone": 16 / 5}
    assert len(scores[["context", "system"]].drop_duplicates()) == 6


def test_lists_of_one_length_are_criteria_and_members_of_a_list_are_systems(tmp_path: Path) -> None:
    answers = [{"response": f"r{model}", "model": model, "tone": [1, 2, 0], "style": [3, 3, 4]} for model in "xyz"]
    records = [{"context": f"c{number}", "responses": answers} for number in range(2)]
    found = as_proposed(written(tmp_path, records, "t.json"))
    assert len(found.scores) == 2 * 3 * 3 * 2
    assert set(found.scores["judge"]) == {"judge 1", "judge 2", "judge 3"}
    assert set(found.scores["system"]) == set("xyz")
    assert any("each member of the lists in 'responses' is a row" in note for note in found.notes)


def test_lists_of_several_groups_are_no_criteria_of_the_same_judges(tmp_path: Path) -> None:
    records = [{"id": number, "expert_score": [1, 2], "crowd_rating": [3, 4]} for number in range(3)]
    scores = read(written(tmp_path, records), wide="lists", columns=["expert_score", "human_score"][:1]).scores
    assert set(scores["judge"]) == {"expert_score 1", "expert_score 2"}
    records = [{"id": number, "expert_score": [1, 2], "human_score": [3, 4]} for number in range(3)]
    scores = as_proposed(written(tmp_path, records, "two.jsonl")).scores
    assert set(scores["judge"]) == {f"{who}_score {at}" for who in ("expert", "human") for at in (1, 2)}


def test_labels_in_lists_of_any_length_are_those_of_judges_by_place(tmp_path: Path) -> None:
    records = [
        {"annotator_labels": labels, "gold_label": labels[0], "pairID": f"p{number}"}
        for number, labels in enumerate([["yes"], ["no", "yes", "no"], ["no"], ["yes", "yes", "no"]])
    ]
    labels = as_proposed(written(tmp_path, records)).labels
    assert labels["label"].value_counts().to_dict() == {"yes": 4, "no": 4}
    assert len(set(labels["item"])) == 4


def test_a_column_of_names_names_the_judges_of_an_object_of_items(tmp_path: Path) -> None:
    found = {
        str(number): {"text": f"t{number}", "task": "hate", "annotations": "0,0,1", "annotators": f"Ann{number},B,C"}
        for number in range(1, 4)
    }
    scores = as_proposed(written(tmp_path, found, "t.json")).scores
    assert len(scores) == 9
    assert set(scores["judge"]) == {"Ann1", "Ann2", "Ann3", "B", "C"}
    assert set(scores["item"]) == {1, 2, 3} or set(scores["item"]) == {"1", "2", "3"}


def test_empty_members_are_not_asked_and_empty_columns_are_told(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('ID,context,ratings\na,,"4,2,2,3"\nb,,"1,1"\nc,,"[2, None, 3]"\n', encoding="utf-8")
    with pytest.raises(InputError, match="context is empty, as in all rows; leave the column out"):
        voirdire.fit(as_proposed(path))
    found = read(path, wide="lists", leave_out=["context"])
    assert len(found.scores) == 8
    assert any("1 empty members" in note for note in found.notes)


def test_numbers_with_commas_are_no_lists(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('text;grade\nx;"3,5"\ny;"2,5"\nz;"1,75"\n', encoding="utf-8")
    assert "lists" not in examine_file(path).command


def test_members_that_name_judges_are_rows(tmp_path: Path) -> None:
    found = {
        f"{number}_post": {
            "post_id": f"{number}_post",
            "annotators": [{"label": label, "annotator_id": at} for at, label in enumerate(("ok", "bad", "ok"))],
        }
        for number in range(3)
    }
    labels = as_proposed(written(tmp_path, found, "t.json")).labels
    assert len(labels) == 9
    assert len(set(labels["judge"])) == 3


def test_a_choice_between_the_members_of_a_list_is_a_vote(tmp_path: Path) -> None:
    pairs = [("x", "y", 0), ("y", "z", 1), ("z", "x", 0), ("y", "x", 1)]
    records = [
        {"info": {"id": f"i{at}"}, "summaries": [{"policy": one}, {"policy": two}], "choice": said, "worker": "w"}
        for at, (one, two, said) in enumerate(pairs)
    ]
    votes = as_proposed(written(tmp_path, records)).votes
    assert votes[["first", "second", "winner"]].to_numpy().tolist() == [
        ["x", "y", "first"], ["y", "z", "second"], ["z", "x", "first"], ["y", "x", "second"],
    ]  # fmt: skip


def test_keys_of_objects_are_columns(tmp_path: Path) -> None:
    records = [
        {"info": {"id": f"i{at % 3}"}, "summary": {"axes": {"tone": 1 + at % 4, "style": 2}}, "worker": f"w{at // 3}"}
        for at in range(6)
    ]
    scores = as_proposed(written(tmp_path, records)).scores
    assert scores.groupby("criterion")["score"].sum().to_dict() == {"style": 12, "tone": 13}
    assert set(scores["item"]) == {"i0", "i1", "i2"}


def test_the_one_list_of_an_object_is_the_table(tmp_path: Path) -> None:
    rows = [{"judge": judge, "item": item, "score": 3} for judge in "ab" for item in "xy"]
    found = read(written(tmp_path, {"system": "m", "config": {"seed": 1}, "results": rows}, "t.json"))
    assert len(found.scores) == 4
    assert set(found.scores["system"]) == {"m"}
    assert any("left out: 'config'" in note for note in found.notes)


def test_a_record_without_members_is_refused(tmp_path: Path) -> None:
    records = [
        {"prompt": "p", "answers": [{"model": "x", "rank": 1}, {"model": "y", "rank": 2}]},
        {"prompt": "q", "answers": []},
    ]
    found = read(written(tmp_path, records), set={"judge": "gpt"})
    assert len(found.rankings) == 2
    assert found.refused["reason"].tolist() == ["'answers' holds no object"]


def test_objects_beside_known_columns_stay_as_they_are(tmp_path: Path) -> None:
    records = [{"judge": "a", "item": f"i{at}", "score": at, "meta": {"n": 1}} for at in range(2)]
    assert "meta.n" not in read(written(tmp_path, records)).scores


def test_lists_in_dataframes_are_read_alike() -> None:
    frame = pd.DataFrame({"id": ["a", "b"], "scores": [[1, 2], [3, 4]]})
    assert read(frame, wide="lists").scores["score"].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("column", ["gen", "outputs", "Systems"])
def test_objects_by_the_name_of_a_system_are_its_answers(tmp_path: Path, column: str) -> None:
    def said(at: int) -> dict[str, Any]:
        return {name: {"text": f"{name} {at}", "score": {"human": at, "gpt": at + 1}} for name in ("s2s", "fusion")}

    path = written(tmp_path, [{"doc_id": f"d{at}", column: said(at)} for at in range(4)], "t.json")
    scores = read(path, wide="judge", columns=["human", "gpt"]).scores
    assert len(scores) == 16
    assert set(scores["system"]) == {"s2s", "fusion"}
    assert len(set(scores["item"])) == 8


def test_objects_by_the_name_of_a_judge_are_its_answers(tmp_path: Path) -> None:
    records = [{"item": f"i{at}", "judges": {"ann": {"score": at}, "bob": {"score": 1}}} for at in range(3)]
    scores = read(written(tmp_path, records)).scores
    assert scores.groupby("judge")["score"].sum().to_dict() == {"ann": 3, "bob": 3}


def test_columns_under_names_that_are_data_are_no_criteria(tmp_path: Path) -> None:
    records = [{"id": at, "said": {name: {"tone": at, "style": 1} for name in ("bart", "t5")}} for at in range(3)]
    path = written(tmp_path, records)
    with pytest.raises(InputError, match="write a row for each of those"):
        read(path)
    assert "criterion" not in examine_file(path).command


def test_keys_that_are_called_as_columns_of_ours_are_these(tmp_path: Path) -> None:
    records = [
        {"info": {"id": f"d{at}"}, "summary": {"policy": policy}, "result": {"score": at}, "worker": judge}
        for at in range(3)
        for policy in ("p", "q")
        for judge in ("a", "b")
    ]
    scores = as_proposed(written(tmp_path, records)).scores
    assert set(scores["system"]) == {"p", "q"}
    assert len(set(scores["item"])) == 6


def test_objects_without_an_answer_are_not_asked_and_counted(tmp_path: Path) -> None:
    members = [{"score": 3}, {"score": None}], [{"score": None}, {"score": 2}]
    path = written(tmp_path, [{"id": f"i{n}", "ratings": cell} for n, cell in enumerate(members)])
    imported = read(path, wide="lists")
    assert imported.scores["score"].tolist() == [3, 2]
    assert any("2 empty members of lists: not asked" in note for note in imported.notes)


@pytest.mark.parametrize("column", ["ranking", "label", "scores", "trace"])
def test_brackets_without_end_in_a_cell_are_no_traceback(tmp_path: Path, column: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"judge,item,{column}\na,x,{'[' * 9000}{']' * 9000}\nb,y,good\n")
    examine_file(path)


def test_lists_of_several_judges_on_an_item_are_of_one_item(tmp_path: Path) -> None:
    """A column of judges beside the lists: items repeat between judges, and are not lines."""
    for item in ("item", "pair_id"):
        rows = [{"judge": judge, item: name, "scores": [1, 2]} for name in "xy" for judge in ("ann", "bob")]
        scores = read(written(tmp_path, rows), wide="lists").scores
        assert scores[["judge", "item", "run"]].values.tolist()[::2] == [
            ["ann", "x", "1"],
            ["bob", "x", "1"],
            ["ann", "y", "1"],
            ["bob", "y", "1"],
        ]


def test_items_that_repeat_for_a_judge_are_lines_and_keep_their_name(tmp_path: Path) -> None:
    found = read(written(tmp_path, [{"item": "x", "scores": [1, 2]}, {"item": "x", "scores": [2, 2]}]), wide="lists")
    assert found.scores["row item"].tolist() == ["x"] * 4
    assert len(set(found.scores["item"])) == 2
    assert any("'item' repeat for a judge: each row is an item, named by its line" in note for note in found.notes)
