"""Layouts of published data sets: what is no answer is not read as one, and what to type is proposed."""

from __future__ import annotations

import random
import shlex
from pathlib import Path
from typing import Any

import pytest

import voirdire
from voirdire import InputError, read
from voirdire.tables.doctor import examine_file

JUDGES, ITEMS = ("r1", "r2", "r3"), [f"i{number}" for number in range(5)]


def written(folder: Path, text: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def proposed(path: Path) -> dict[str, Any]:
    """The options of the command that doctor proposes, as :func:`read` takes them."""
    words = shlex.split(examine_file(path).command)[3:]
    options: dict[str, Any] = {}
    for flag, value in zip(words[::2], words[1::2], strict=True):
        pairs = dict(one.split("=", 1) for one in value.split(",")) if "=" in value else value
        options[flag.removeprefix("--")] = value.split(",") if flag == "--columns" else pairs
    return options


def labelled_texts(*answers: str) -> str:
    """Rows of raters who label texts that models wrote, with what describes the raters and the texts."""
    draw = random.Random(1)
    lines = [f"rater_id,rater_sex,item_id,response,harm,{','.join(answers)}"]
    for judge in JUDGES:
        for item in ITEMS:
            said = ",".join(draw.choice(("Yes", "No")) for _ in answers)
            lines.append(f"{judge},{'fm'[judge == 'r1']},{item},text of {item},{'xy'[item < 'i3']},{said}")
    return "\n".join(lines) + "\n"


def test_a_text_of_its_own_for_each_item_is_no_label(tmp_path: Path) -> None:
    path = written(tmp_path, labelled_texts("Q1", "Q2"))
    with pytest.raises(InputError, match="labels under several criteria"):
        read(path)
    labels = read(path, **proposed(path)).labels
    assert labels["criterion"].value_counts().to_dict() == dict.fromkeys(("Q1", "Q2"), len(JUDGES) * len(ITEMS))


def test_one_label_of_each_item_is_proposed_not_what_describes_raters(tmp_path: Path) -> None:
    path = written(tmp_path, labelled_texts("Q1"))
    assert proposed(path) == {"map": {"label": "Q1"}}


def test_numbers_with_commas_are_no_labels(tmp_path: Path) -> None:
    path = written(tmp_path, "id;R 1;R 2;Mean\n1;3,5;4;3,75\n2;1,5;2;1,75\n3;2,5;1;1,75\n")
    found = read(path, wide="judge", columns=["R 1", "R 2"])
    assert found.labels is None
    assert found.refused["reason"].str.contains("write a point for the comma").all()
    assert len(found.refused) == 3
    with pytest.raises(InputError, match="point for the comma"):
        voirdire.fit(found)


def test_times_and_keys_are_no_criteria(tmp_path: Path) -> None:
    text = "comment_id,annotator_id,created_utc,tone,style\nc1,1,1548381039,3,4\nc1,2,1548381040,2,5\nc2,1,1,1,1\n"
    scores = read(written(tmp_path, text), wide="criterion")
    assert set(scores.scores["criterion"]) == {"tone", "style"}
    assert set(scores.scores["item"]) == {"c1", "c2"}
    assert any("created_utc (--columns chooses)" in note for note in scores.notes)


def test_numbers_that_describe_raters_are_not_proposed_as_criteria(tmp_path: Path) -> None:
    text = "id,worker,severity,tone,style\nx,a,0.31,1,2\ny,a,0.31,3,2\nx,b,0.12,2,1\ny,b,0.12,2,3\n"
    assert proposed(written(tmp_path, text)) == {"wide": "criterion", "columns": ["tone", "style"]}


def test_a_file_without_a_header_is_told(tmp_path: Path) -> None:
    path = written(tmp_path, "w1\tu1\tgood\nw1\tu2\tbad\nw2\tu1\tgood\nw2\tu2\tgood\n", "t.tsv")
    with pytest.raises(InputError, match="write the names of the columns into a line above it"):
        read(path)
    assert examine_file(path).command == ""


def test_empty_lines_above_the_names_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 3 is the first that is not empty"):
        read(written(tmp_path, ",,\n,,\ntone,style,tact\n1,2,3\n2,2,1\n"))


def test_pairs_may_be_counted_from_zero(tmp_path: Path) -> None:
    text = "user_id,model_0,model_1,label_0,label_1\nu,x,y,1,0\nu,y,z,0,1\nv,z,x,0.5,0.5\n"
    votes = read(path := written(tmp_path, text), **proposed(path)).votes
    assert votes[["first", "second", "winner"]].to_numpy().tolist() == [
        ["x", "y", "first"], ["y", "z", "second"], ["z", "x", "tie"],
    ]  # fmt: skip


def test_labels_of_systems_are_about_the_column_that_each_judge_meets_once(tmp_path: Path) -> None:
    rows = [(doc, system, judge) for doc in (101, 102, 103) for system in ("m1", "m2") for judge in JUDGES]
    text = "bbcid,system,is_factual,worker\n" + "".join(
        f"{doc},{system},{('yes', 'no')[(doc + at) % 2]},{judge}\n" for at, (doc, system, judge) in enumerate(rows)
    )
    path = written(tmp_path, text)
    assert proposed(path) == {"map": {"label": "is_factual", "context": "bbcid"}}
    assert len(set(read(path, **proposed(path)).labels["context"])) == 3


def test_words_of_a_form_are_labels_of_items(tmp_path: Path) -> None:
    text = "Timestamp,Email Address,Text 1,Text 2\n" + "".join(
        f"2024/01/0{at},p{at}@x.org,{one},{other}\n"
        for at, (one, other) in enumerate([("Agree", "Neutral"), ("Neutral", "Agree"), ("Agree", "Agree")], 1)
    )
    labels = read(path := written(tmp_path, text), **proposed(path)).labels
    assert labels["item"].value_counts().to_dict() == {"Text 1": 3, "Text 2": 3}


def test_a_criterion_that_is_called_as_items_are_names_none(tmp_path: Path) -> None:
    rows = "".join(f"{at},text {at},{at % 2},{at % 3 % 2},1\n" for at in range(8))
    scores = read(written(tmp_path, f"index,prompt,Subject,Style,Mood\n{rows}"), wide="criterion").scores
    assert set(scores["criterion"]) == {"Subject", "Style", "Mood"}
    assert len(set(scores["item"])) == 8


def test_rows_of_mechanical_turk_end_before_the_columns_that_are_to_fill_in(tmp_path: Path) -> None:
    head = "HITId,AssignmentId,WorkerId,AssignmentStatus,Input.text,Answer.rating,Approve,Reject"
    lines = [f"H{at},A{at},W{at % 2},Submitted,text {at // 2},{1 + at % 3}" for at in range(6)]
    found = read(written(tmp_path, "\n".join([head, *lines, "H9,A9,W9,Submitted,text 9"])))
    assert found.scores["score"].tolist() == [1, 2, 3, 1, 2, 3]
    assert found.refused["reason"].tolist() == ["5 fields, where the header has 8"]


@pytest.mark.parametrize(
    "names",
    [
        ("gpt4_tone", "gpt4_style", "human_tone", "human_style"),
        ("tone (gpt4)", "style (gpt4)", "tone (human)", "style (human)"),
    ],
    ids=["judge first", "judge last"],
)
def test_columns_that_are_a_judge_and_a_criterion_each_are_proposed_as_pairs(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    rows = "".join(f"t{at},{1 + at % 3},{1 + at % 2},{2 + at % 3},{5 - at % 2}\n" for at in range(4))
    path = written(tmp_path, f"text,{','.join(names)}\n{rows}")
    assert proposed(path) == {"wide": "pairs"}
    scores = read(path, **proposed(path)).scores
    found = scores.groupby(["judge", "criterion"])["score"].sum().to_dict()
    assert found == {("gpt4", "tone"): 7, ("gpt4", "style"): 6, ("human", "tone"): 11, ("human", "style"): 18}
    assert len(set(scores["item"])) == 4


def test_columns_of_judges_alone_are_no_pairs(tmp_path: Path) -> None:
    path = written(tmp_path, "id,gpt-4,gpt-3,claude-2\n1,3,4,5\n2,3,3,3\n")
    assert "pairs" not in examine_file(path).command
    with pytest.raises(InputError, match="no columns are called by a judge and a criterion"):
        read(path, wide="pairs")


def answers_of_systems(item: str) -> str:
    """Two judges' scores of two systems, one far better, in six documents."""
    rows = [
        f"{judge},{doc},{system},{base + (doc + at) % 2}"
        for at, judge in enumerate(("a", "b"))
        for doc in range(6)
        for system, base in (("weak", 1), ("strong", 4))
    ]
    return "\n".join([f"judge,{item},system,score", *rows, ""])


@pytest.mark.parametrize("name", ["doc_id", "task", "example_id"])
def test_what_several_systems_were_asked_is_a_context(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, answers_of_systems(name))
    scores = read(path).scores
    assert len(set(scores["item"])) == 12
    assert set(scores["context"]) == {*range(6)} or set(scores["context"]) == set("012345")
    ranking = voirdire.fit(path).ranking()
    assert ranking["item"].iloc[0].endswith("strong")


def test_items_of_several_systems_are_told(tmp_path: Path) -> None:
    path = written(tmp_path, answers_of_systems("item"))
    assert any("--map context=item" in note for note in examine_file(path).stands_out)
    assert any("--map context=item" in note for note in voirdire.fit(path).notes)


def test_points_of_a_scale_are_no_labels(tmp_path: Path) -> None:
    path = written(tmp_path, "judge,item,rating\na,x,4/5\na,y,3/5\nb,x,5/5\nb,y,2/5\n")
    with pytest.raises(InputError, match="write 4, and name the scale that ends at 5 by --levels"):
        voirdire.fit(path)


def test_winners_and_losers_are_no_labels(tmp_path: Path) -> None:
    text = "prompt_id,winner_model,loser_model,annotator\np1,x,y,a\np2,y,z,b\np3,x,z,a\np4,z,y,b\n"
    assert "label" not in examine_file(written(tmp_path, text)).command


def test_texts_that_each_judge_has_once_name_items_of_criteria(tmp_path: Path) -> None:
    rows = "".join(f"segment {at},{1 + at % 3},{2 + at % 2},{who}\n" for at in range(4) for who in ("a", "b"))
    scores = read(written(tmp_path, f"source,tone,style,evaluator\n{rows}"), wide="criterion").scores
    assert len(set(scores["item"])) == 4


def test_relevance_of_documents_is_judged_by_query(tmp_path: Path) -> None:
    rows = "".join(f"q{at // 3},d{at % 3},{who},{at % 4}\n" for at in range(9) for who in ("a", "b"))
    path = written(tmp_path, f"query_id,doc_id,assessor,relevance\n{rows}")
    scores = read(path, **proposed(path)).scores
    assert set(scores["judge"]) == {"a", "b"}
    assert set(scores["context"]) == {"q0", "q1", "q2"}


def test_who_voted_is_no_winner(tmp_path: Path) -> None:
    text = "player_a,player_b,result,voter\nx,y,a_wins,v0\ny,z,b_wins,v1\nx,z,draw,v0\nz,y,a_wins,v1\n"
    votes = read(path := written(tmp_path, text), **proposed(path)).votes
    assert votes["winner"].tolist() == ["first", "second", "tie", "first"]
    assert set(votes["judge"]) == {"v0", "v1"}


def test_several_numbered_items_are_no_pair(tmp_path: Path) -> None:
    rows = "".join(f"R{at},{1 + at % 5},{1 + at % 3},{1 + at % 4}\n" for at in range(5))
    scores = read(path := written(tmp_path, f"Rater,Item 1,Item 2,Item 3\n{rows}"), **proposed(path)).scores
    assert set(scores["item"]) == {"Item 1", "Item 2", "Item 3"}


def test_averages_are_no_judges(tmp_path: Path) -> None:
    text = "item_id,annotator_1_score,annotator_2_score,avg_score\na,1,2,1.5\nb,3,4,3.5\nc,5,5,5\n"
    assert set(read(written(tmp_path, text)).scores["judge"]) == {"annotator_1_score", "annotator_2_score"}


def test_systems_of_tasks_are_what_is_ranked(tmp_path: Path) -> None:
    rows = "".join(f"t{task},{name},{at},j\n" for task in range(2) for at, name in enumerate("xyz", 1))
    rankings = read(written(tmp_path, f"task,system,rank,judge\n{rows}")).rankings
    assert set(rankings["item"]) == set("xyz")
    assert set(rankings["context"]) == {"t0", "t1"}


def test_a_column_that_alone_tells_answers_apart_is_told(tmp_path: Path) -> None:
    rows = "".join(f"d{doc},{who},{judge},{1 + doc}\n" for doc in range(3) for who in ("bart", "t5") for judge in "ab")
    path = written(tmp_path, f"doc_id,summarizer,annotator,score\n{rows}")
    assert any("differ in 'summarizer' alone" in note for note in examine_file(path).stands_out)
    assert len(set(read(path, map={"system": "summarizer"}).scores["item"])) == 6
