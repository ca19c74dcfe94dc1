"""Rows of several items, each with columns of its own: scores, rankings, or votes for the better."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

import voirdire
from voirdire import InputError, read
from voirdire.tables.doctor import examine_file

PAIRS = """\
rater,question,model_a,model_b,score_a,score_b
ann,q1,fox,owl,4,2
ann,q2,owl,elk,3,3
bob,q1,fox,owl,1,5
bob,q2,owl,elk,,
"""
FIVE = """\
srclang,trglang,srcIndex,judgeId,system1Id,system2Id,system3Id,system1rank,system2rank,system3rank
deu,eng,7,j1,fox,owl,elk,1,3,3
deu,eng,8,j1,elk,fox,owl,2,1,3
deu,eng,7,j2,owl,elk,fox,1,2,3
"""


def written(folder: Path, text: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def written_records(folder: Path, records: list[dict[str, Any]]) -> Path:
    return written(folder, "\n".join(map(json.dumps, records)), "t.jsonl")


def proposed(path: Path) -> dict[str, Any]:
    words = shlex.split(examine_file(path).command)[3:]
    return {flag.removeprefix("--"): value for flag, value in zip(words[::2], words[1::2], strict=True)}


def test_each_item_of_a_row_is_scored(tmp_path: Path) -> None:
    path = written(tmp_path, PAIRS)
    assert proposed(path) == {"wide": "sides"}
    found = read(path, wide="sides")
    assert found.scores[["judge", "item", "system", "score"]].values.tolist()[:3] == [
        ["ann", "q1 / fox", "fox", 4],
        ["ann", "q1 / owl", "owl", 2],
        ["ann", "q2 / owl", "owl", 3],
    ]
    assert len(found.scores) == 6
    assert "t.csv: 2 empty cells: not asked" in found.notes
    assert len(voirdire.fit(found, method="map").ranking())


def test_the_higher_of_two_scores_is_a_vote_and_equal_ones_tie(tmp_path: Path) -> None:
    path = written(tmp_path, PAIRS)
    with pytest.raises(InputError, match="--wide sides --table votes"):
        read(path)
    found = read(path, wide="sides", table="votes")
    assert found.votes[["judge", "first", "second", "winner", "score_a"]].values.tolist() == [
        ["ann", "fox", "owl", "first", "4"],
        ["ann", "owl", "elk", "tie", "3"],
        ["bob", "fox", "owl", "second", "1"],
    ]


def test_answers_without_names_are_named_by_their_text(tmp_path: Path) -> None:
    records = [
        {"question": {"id": f"q{n}", "text": f"why {n}?"}, "quotes_0": {"title": ["t"]}, "answer_0": f"so {n}",
         "score_0": n / 2, "quotes_1": {"title": ["u"]}, "answer_1": f"thus {n}", "score_1": -n / 2}
        for n in range(3)
    ]  # fmt: skip
    path = written_records(tmp_path, records)
    assert proposed(path) == {"wide": "sides"}
    scores = read(path, wide="sides").scores
    assert scores[["item", "context", "score"]].values.tolist()[2:4] == [["so 1", "q1", 0.5], ["thus 1", "q1", -0.5]]
    votes = read(path, wide="sides", table="votes").votes
    assert votes["winner"].tolist() == ["tie", "first", "first"]


def test_a_list_of_scores_has_one_for_each_item(tmp_path: Path) -> None:
    record = {"question_id": 1, "answer1_body": "x", "answer2_body": "y", "answer1_model_id": "fox",
              "answer2_model_id": "owl", "score": [8, 6]}  # fmt: skip
    records = [record, record | {"question_id": 2, "score": [5, 9]}, record | {"question_id": 3, "score": [7]}]
    path = written_records(tmp_path, records)
    found = read(path, wide="sides", table="votes")
    assert found.votes[["first", "second", "winner"]].values.tolist() == [
        ["fox", "owl", "first"],
        ["fox", "owl", "second"],
    ]
    assert found.refused.values.tolist() == [["t.jsonl:3", "score [7] is no list of 2 answers"]]
    assert read(written_records(tmp_path, records[:2]), wide="sides").scores["score"].tolist() == [8, 6, 5, 9]


def test_numbered_systems_with_ranks_are_rankings(tmp_path: Path) -> None:
    path = written(tmp_path, FIVE)
    assert proposed(path) == {"wide": "sides"}
    found = read(path, wide="sides", map={"context": "srcIndex"})
    assert found.rankings[["judge", "context", "item", "rank"]].values.tolist()[:4] == [
        ["j1", "7", "fox", 1],
        ["j1", "7", "owl", 3],
        ["j1", "7", "elk", 3],
        ["j1", "8", "elk", 2],
    ]
    votes = read(path, wide="sides", table="votes").votes
    assert votes[["first", "second", "winner", "order"]].values.tolist()[:3] == [
        ["fox", "owl", "first", "unknown"],
        ["fox", "elk", "first", "unknown"],
        ["owl", "elk", "tie", "unknown"],
    ]


def test_a_rank_that_is_none_never_wins(tmp_path: Path) -> None:
    path = written(tmp_path, FIVE.replace("2,1,3\n", "-1,1,3\n"))
    for kind in ("votes", "rankings"):
        assert read(path, wide="sides", table=kind).refused["reason"].tolist() == [
            "'-1' is no rank, a whole number from 1; leave it empty where there is none"
        ]


def test_ranks_beside_names_are_not_ranks_of_places(tmp_path: Path) -> None:
    """The systems at place 1 differ between the rows: ``system_1`` is no item."""
    path = written(
        tmp_path, "judge,system_1_id,system_2_id,system_1_rank,system_2_rank\na,fox,owl,1,2\na,elk,fox,2,1\n"
    )
    assert proposed(path) == {"wide": "sides"}


def test_several_answers_of_each_item_are_criteria(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "judge,doc_id,summary1,summary2,fluency1,fluency2,focus1,focus2,score\nann,d1,s,t,4,5,2,2,1\nann,d2,u,v,1,2,5,3,1\n",
    )
    scores = read(path, wide="sides").scores
    assert scores[["context", "item", "criterion", "score", "row score"]].values.tolist()[:3] == [
        ["d1", "s", "fluency", 4, "1"],
        ["d1", "t", "fluency", 5, "1"],
        ["d1", "s", "focus", 2, "1"],
    ]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("judge,item,score\na,x,1\n", {}),
        ("judge,model_a,model_b,score_a,score_b\na,x,y,1,2\n", {"columns": "score_1"}),
        ("q,title_a,title_b,body_a,body_b,score_a,score_b\nq,s,t,u,v,1,2\n", {}),
    ],
)
def test_rows_of_other_layouts_are_refused_with_the_option(tmp_path: Path, text: str, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"no columns are names and answers .* --map item=COLUMN"):
        read(written(tmp_path, text), wide="sides", **options)


@pytest.mark.parametrize(
    "text",
    [
        "id,rater_1,rater_2,text_1,text_2\n1,4,3,x,y\n2,2,3,z,w\n",
        "model_a,model_b,wins_a,wins_b,ties\nx,y,4,1,0\ny,z,2,2,1\n",
        "id,judge1_score,judge2_score,judge1_reason,judge2_reason\n1,4,3,x,y\n2,2,3,z,w\n",
        "id,q1,q2,q3\n1,4,3,1\n2,2,3,5\n",
    ],
)
def test_columns_of_judges_and_counts_are_not_proposed_as_items(tmp_path: Path, text: str) -> None:
    assert "sides" not in f"{examine_file(written(tmp_path, text)).command}"


def test_scores_of_the_chosen_and_the_rejected_need_not_agree_with_it(tmp_path: Path) -> None:
    path = written(tmp_path, "prompt,chosen,rejected,score_chosen,score_rejected\np,x,y,3,4\nq,x,z,5,2\n")
    assert read(path, wide="sides").scores["score"].tolist() == [3, 4, 5, 2]
    votes = read(path, wide="sides", table="votes").votes
    assert votes[["winner", "order"]].values.tolist() == [["second", "unknown"], ["first", "unknown"]]


def test_conversations_name_no_items(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "why?"}, {"role": "assistant", "content": "so"}]
    path = written_records(
        tmp_path, [{"prompt": f"why {n}?", "chosen": turns, "rejected": turns[:1]} for n in range(3)]
    )
    assert examine_file(path).command == ""
    with pytest.raises(InputError, match="no columns are names and answers"):
        read(path, wide="sides")


def test_columns_beside_those_of_the_items_and_their_order_do_not_matter(tmp_path: Path) -> None:
    text = "judge,question,llm_b,llm_a,llm_notes,score_b,score_a,score_gap\na,q,fox,owl,n,3,2,1\na,r,elk,owl,n,1,1,0\n"
    path = written(tmp_path, text)
    votes = read(path, wide="sides", table="votes").votes
    assert votes[["first", "second", "winner", "score_gap"]].values.tolist() == [
        ["owl", "fox", "second", "1"],
        ["owl", "elk", "tie", "0"],
    ]


def test_scores_are_read_as_rankings_with_the_highest_first_and_ranks_never_as_scores(tmp_path: Path) -> None:
    rankings = read(written(tmp_path, PAIRS), wide="sides", table="rankings").rankings
    assert rankings[["item", "rank"]].values.tolist()[:4] == [["fox", 1], ["owl", 2], ["owl", 1], ["elk", 1]]
    found = read(written(tmp_path, FIVE, "ranks.csv"), wide="sides", table="scores")
    with pytest.raises(InputError, match="holds rankings, not scores"):
        found.table  # noqa: B018


def test_rows_without_what_was_asked_are_named_by_their_line(tmp_path: Path) -> None:
    found = read(
        written(tmp_path, "judge,model_a,model_b,score_a,score_b\na,fox,owl,3,4\na,fox,owl,5,4\n"), wide="sides"
    )
    assert found.scores["context"].tolist() == [2, 2, 3, 3] or found.scores["context"].tolist() == list("2233")
    assert "t.csv: what was asked is named by the line of a row (--map context=COLUMN)" in found.notes


def test_a_winner_beside_numbers_of_the_items_is_proposed_before_them(tmp_path: Path) -> None:
    path = written(tmp_path, "model_a,model_b,elo_a,elo_b,preference\nfox,owl,1,2,A\nowl,fox,2,1,B\nfox,elk,1,2,A\n")
    assert proposed(path) == {"map": "first=model_a,second=model_b,winner=preference", "winners": "A=first,B=second"}
    with pytest.raises(InputError, match="are 'elo_a', 'elo_b' of 2 items of a row"):
        read(path)


def test_a_word_among_scores_is_a_fault_of_its_cell_and_does_not_make_them_labels(tmp_path: Path) -> None:
    path = written(tmp_path, "question,model_a,model_b,score_a,score_b\nq1,x,y,3,4\nq2,x,y,5,oops\n")
    for table, message in ((None, "score 'oops' is no number"), ("votes", "'oops' is no number")):
        refused = read(path, wide="sides", table=table).refused
        assert refused["place"].tolist() == ["t.csv:3"]
        assert message in refused["reason"].iloc[0]
