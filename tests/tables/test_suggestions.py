"""What a message proposes reads the table as it is meant: no column of names, counts or ranks is taken for a winner."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import voirdire
from voirdire import InputError, read
from voirdire.tables.doctor import examine_file
from voirdire.tables.formats.imported import Imported


def written(folder: Path, text: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def proposed(path: Path) -> dict[str, Any]:
    """The options of the command that doctor proposes, as :func:`read` takes them."""
    found = examine_file(path)
    assert found.error is not None
    words = shlex.split(found.command)[3:]
    options: dict[str, Any] = {}
    for flag, value in zip(words[::2], words[1::2], strict=True):
        pairs = dict(one.split("=", 1) for one in value.split(",")) if "=" in value else value
        options[flag.removeprefix("--")] = pairs
    return options


def as_proposed(path: Path) -> Imported:
    return read(path, **proposed(path))


@pytest.mark.parametrize(
    "text",
    [
        "id,pred,true\n1,pass,pass\n2,fail,pass\n",
        "uid,label_counter\n1,x\n2,y\n",
        "model_a,model_b,wins_a,wins_b,ties\nx,y,4,1,0\ny,z,2,2,1\nx,z,3,1,1\n",
        "annotator,prompt_id,response,position\na,p1,x,1\na,p1,y,2\nb,p1,x,2\nb,p1,y,1\n",
        "id,check_judge,check_human\n1,TRUE,FALSE\n2,TRUE,TRUE\n1,TRUE,TRUE\n",
    ],
)
def test_keys_and_counts_are_not_proposed_as_winners(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError) as caught:
        read(written(tmp_path, text))
    assert "is it winner" not in str(caught.value)


@pytest.mark.parametrize("column", ["choice_of_ann", "better"])
def test_numbers_of_two_items_are_proposed_as_winners(tmp_path: Path, column: str) -> None:
    text = f"id,LLM_1,LLM_2,{column}\n1,x,y,1\n2,y,x,2\n3,x,y,1\n"
    votes = as_proposed(written(tmp_path, text)).votes
    assert votes is not None
    assert votes["winner"].tolist() == ["first", "second", "first"]


@pytest.mark.parametrize(
    ("text", "judges", "kind"),
    [
        ("item_id,judge_a,judge_b,judge_c\n1,3,4,1\n2,3,3,0\n", ["judge_a", "judge_b", "judge_c"], "scores"),
        ("id,human_1,human_2,gpt4\n1,1,2,3\n2,2,2,1\n", ["human_1", "human_2", "gpt4"], "scores"),
        ("text,rater1,rater2\nt1,pos,neg\nt2,neg,neg\n", ["rater1", "rater2"], "labels"),
        ("id,text,Rater 1,Rater 2\n1,t1,pos,neg\n2,t2,neg,neg\n", ["Rater 1", "Rater 2"], "labels"),
        ("id,gpt4_judge,human\n1,pass,pass\n2,fail,pass\n", ["gpt4_judge", "human"], "labels"),
        ("item,EXAONE-32B,Gemma 2 9b it\n1,8,7\n2,7,9\n", ["EXAONE-32B", "Gemma 2 9b it"], "scores"),
    ],
)
def test_columns_called_by_who_answers_are_proposed_as_judges(
    tmp_path: Path, text: str, judges: list[str], kind: str
) -> None:
    frame = getattr(as_proposed(written(tmp_path, text)), kind)
    assert frame["judge"].drop_duplicates().tolist() == judges
    assert len(frame) == 2 * len(judges)


@pytest.mark.parametrize(
    "text",
    [
        "item,negative,neutral,positive\ni1,1,2,7\ni2,0,5,5\n",
        "id,negative,neutral,positive\n1,1,2,7\n2,0,5,5\n",
        "id,text,n_negative,n_neutral,n_positive\n1,a,1,2,7\n2,b,0,5,5\n",
        "item,count_no,count_yes\ni1,12,0\ni2,3,5\n",
    ],
)
def test_counts_are_proposed_as_counts(tmp_path: Path, text: str) -> None:
    found = as_proposed(written(tmp_path, text)).labels
    assert found is not None
    assert len(found) == 20


@pytest.mark.parametrize("column", ["preference", "ordering", "answer_order"])
def test_a_chain_of_items_is_proposed_as_a_ranking(tmp_path: Path, column: str) -> None:
    path = written(tmp_path, f"rater,question,{column}\nann,p1,A>B=C\nben,p1,B > A > C\n")
    rankings = as_proposed(path).rankings
    assert rankings is not None
    assert rankings["rank"].tolist() == [1, 2, 2, 1, 2, 3]


def test_judges_of_one_ending_are_read_together_or_not_at_all(tmp_path: Path) -> None:
    head = "example_id,gpt4_rating,claude_rating,human_rating\n"
    found = read(written(tmp_path, head + "1,1,2,3\n2,2,1,\n")).scores
    assert set(found["judge"]) == {"gpt4_rating", "claude_rating", "human_rating"}
    path = written(tmp_path, head.replace("claude", "zephon") + "1,1,2,3\n2,2,1,\n", "u.csv")
    with pytest.raises(InputError) as caught:
        read(path)
    said = str(caught.value)
    assert "'zephon_rating'" in said
    chosen = re.findall("--wide judge --columns ([^ ;]+)", said)
    assert chosen == ["gpt4_rating,zephon_rating,human_rating", "gpt4_rating,human_rating"]
    assert len(read(path, wide="judge", columns=chosen[0]).scores) == 5


@pytest.mark.parametrize(
    "columns", [("passed_judge", "passed_human"), ("score_gpt4", "score_human"), ("Label (judge)", "Label (human)")]
)
def test_what_is_answered_may_stand_before_who_answers(tmp_path: Path, columns: tuple[str, str]) -> None:
    path = written(tmp_path, f"id,{columns[0]},{columns[1]}\n1,1,0\n2,1,\n")
    assert read(path).scores["judge"].tolist() == [columns[0], columns[1], columns[0]]


def test_one_cell_that_is_no_number_does_not_make_labels_of_scores(tmp_path: Path) -> None:
    path = written(tmp_path, "item_id,rater_id,rating\n1,A,3\n1,B,NA\n2,A,4\n2,B,3\n")
    with pytest.raises(InputError, match=r"t\.csv:3: rating 'NA' is no number.*--table labels"):
        read(path)
    assert read(path, table="labels").counts == {"labels": 4}
    words = written(tmp_path, "item_id,rater_id,rating\n1,A,good\n1,B,bad\n2,A,3\n", "w.csv")
    assert read(words).counts == {"labels": 3}


def test_doctor_proposes_all_answers_of_examples(tmp_path: Path) -> None:
    path = written(tmp_path, "id,gpt_score,human_score,bert_score\n1,3,4,.8\n2,2,2,.7\n")
    assert set(as_proposed(path).scores["judge"]) == {"gpt_score", "human_score", "bert_score"}


def test_winners_by_known_words_are_proposed(tmp_path: Path) -> None:
    text = "id,model_a,model_b,judge_winner,human_winner\n1,x,y,model_a,model_b\n2,x,z,model_a,tie\n"
    votes = as_proposed(written(tmp_path, text)).votes
    assert votes["winner"].tolist() == ["first", "first"]
    with pytest.raises(InputError) as caught:
        read(written(tmp_path, "id,judge_label,label\n1,a,b\n2,b,b\n", "l.csv"))
    assert "is it winner" not in str(caught.value)


def test_doctor_names_no_part_of_columns_in_a_table_that_is_not_read(tmp_path: Path) -> None:
    found = examine_file(written(tmp_path, "prompt,response,help,truth\np,r,4,4\np,s,2,1\n"))
    assert [column.read_as for column in found.columns] == ["context", None, None, None]


def test_fit_proposes_what_doctor_does(tmp_path: Path) -> None:
    """Answers under a known name beside columns under none: one message, with the columns of the file."""
    rows = pd.DataFrame({"model_x": ["gpt", "llama"], "model_y": ["llama", "gpt"], "preferred": ["A", "B"]})
    rows.to_csv(tmp_path / "p.csv", index=False)
    command = "--map first=model_x,second=model_y,winner=preferred --winners A=first,B=second"
    for table in (str(tmp_path / "p.csv"), rows):
        with pytest.raises(InputError, match=command) as told:
            voirdire.fit(table, method="map")
        assert "COLUMN" not in str(told.value)


@pytest.mark.parametrize(
    ("sides", "ties"),
    [
        (("A", "B"), ("Tie", "both bad")),
        (("response_a", "response_b"), ("same",)),
        (("Answer 1", "Answer 2"), ()),
        (("left much better", "right slightly better"), ("about the same",)),
    ],
)
def test_words_for_the_sides_of_a_pair_are_proposed(
    tmp_path: Path, sides: tuple[str, str], ties: tuple[str, ...]
) -> None:
    said = [*sides, *ties]
    head = "annotator,model_of_a,model_of_b,better_one"
    lines = [f"ann,x{n % 2},x{1 - n % 2},{word}" for n, word in enumerate([*said, *said])]
    votes = as_proposed(written(tmp_path, "\n".join([head, *lines]))).votes
    assert votes["winner"].tolist() == 2 * ["first", "second", *["tie"] * len(ties)]
    known = written(tmp_path, "\n".join(["annotator,model_a,model_b,winner", *lines]), "known.csv")
    assert "map" not in proposed(known)
    assert as_proposed(known).votes["winner"].tolist() == votes["winner"].tolist()


@pytest.mark.parametrize("words", [("model_a", "model_b", "tie"), ("A", "B", "tie")])
def test_a_winner_that_is_missing_is_proposed_as_none(tmp_path: Path, words: tuple[str, ...]) -> None:
    lines = [f"ann,x{n % 2},x{1 - n % 2},{word}" for n, word in enumerate([*words, "N/A", *words, "N/A"])]
    path = written(tmp_path, "\n".join(["rater,model_a,model_b,preferred", *lines]))
    options = proposed(path)
    assert "N/A" not in str(options)
    said = {"winner 'N/A' stands for a missing value; leave out the rows that nobody answered"}
    assert set(read(path, **options).refused["reason"]) == said  # the same of both pairs, and so one problem


def test_winners_zero_and_one_are_asked_about(tmp_path: Path) -> None:
    """One may be the first item or the second: nothing is proposed."""
    path = written(tmp_path, "judge,model_a,model_b,winner\nann,x,y,0\nann,y,x,1\nbob,x,y,0\n")
    assert examine_file(path).command == ""


def test_a_verdict_on_one_answer_is_proposed_as_a_label(tmp_path: Path) -> None:
    text = "judge,question,model,verdict\nann,q1,x,Yes\nann,q1,y,No\nbob,q1,x,Yes\nbob,q1,y,Yes\n"
    labels = as_proposed(written(tmp_path, text)).labels
    assert labels[["item", "label"]].values.tolist()[:2] == [["q1 / x", "Yes"], ["q1 / y", "No"]]


@pytest.mark.parametrize("column", ["essay", "Student answer"])
def test_the_only_other_column_of_texts_is_proposed_as_the_item(tmp_path: Path, column: str) -> None:
    text = f"judge,{column},grade\nann,e1,A\nann,e2,B\nbob,e1,A\nbob,e2,C\n"
    assert as_proposed(written(tmp_path, text)).labels["item"].tolist() == ["e1", "e2", "e1", "e2"]


def test_a_number_of_tasks_is_proposed_as_the_item(tmp_path: Path) -> None:
    """A flat export of an annotation tool: a number for each answer, and one for each task."""
    head = "annotation_id,annotator,created_at,id,lead_time,sentiment,text"
    lines = [f"{n},p{n % 2},2024-01-0{n},{n // 2},3.{n},{'good' if n % 3 else 'bad'},t{n // 2}" for n in range(8)]
    labels = as_proposed(written(tmp_path, "\n".join([head, *lines]))).labels
    assert labels["item"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3] or labels["item"].tolist() == list("00112233")
    assert labels["label"].drop_duplicates().tolist() == ["bad", "good"]
    stars = "\n".join([head.replace("sentiment", "stars"), *lines]).replace("good", "5").replace("bad", "1")
    assert as_proposed(written(tmp_path, stars)).scores["score"].tolist()[:2] == [1, 5]


def test_tools_that_write_other_files_are_not_named(tmp_path: Path) -> None:
    with pytest.raises(InputError) as told:
        read(written(tmp_path, "judge,question,model,said\na,q,m,x\n"))
    assert "would be one of" not in str(told.value)


def test_choices_by_place_are_a_ranking(tmp_path: Path) -> None:
    text = "Participant,Question,1st choice,2nd choice\nann,q1,x,y\nbob,q1,y,x\n"
    rankings = read(written(tmp_path, text)).rankings
    assert rankings[["judge", "item", "rank"]].values.tolist()[:2] == [["ann", "x", 1], ["ann", "y", 2]]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.jsonl", '{"id": 1, "judge": "a", "scores": [{"x": [1]}]}\n' * 2, "'scores' hold objects"),
        ("a.json", '{"results": [{"judge": "a"}], "more": [{"item": "x"}]}', "under 'results'"),
        ("a.csv", 'Id,Q1_1,Q1_2\nId,a,b\n"{""ImportId"":""id""}",x,y\nR1,5,4\n', "delete lines 2 to 3"),
    ],
    ids=["objects", "lists inside", "three headers"],
)  # fmt: skip
def test_tables_inside_of_others_are_told(tmp_path: Path, name: str, text: str, said: str) -> None:
    found = examine_file(written(tmp_path, text, name))
    assert found.command == ""
    assert said in (found.error or "")


def test_columns_called_by_a_judge_after_a_colon_are_judges(tmp_path: Path) -> None:
    text = "Model,Judge: GPT-4,Judge: Claude,Human avg\nx,8.5,7,7.75\ny,6,6.5,5\n"
    assert as_proposed(written(tmp_path, text)).scores["judge"].drop_duplicates().tolist() == [
        "Judge: GPT-4",
        "Judge: Claude",
    ]


def test_judges_with_a_cell_that_is_no_number_are_judges(tmp_path: Path) -> None:
    path = written(tmp_path, "item,gpt-4o,Qwen-14B,len\na,8,8,1\nb,7,n/a,2\nc,6,7,3\n")
    assert proposed(path) == {"wide": "judge", "columns": "gpt-4o,Qwen-14B"}
    with pytest.raises(InputError, match=r"t\.csv:3: Qwen-14B: 'n/a' is no number"):
        read(path, wide="judge", columns="gpt-4o,Qwen-14B").table  # noqa: B018


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model_a,model_b,wins_a,wins_b,ties\nx,y,5,3,2\ny,z,1,7,0\n", "lack judge and winner"),
        ("won,gpt,claude,llama\ngpt,,5,7\nclaude,3,,6\nllama,1,2,\n", "a table of pairs: write one row a vote"),
        ("judge  item  score\na      x     1\n", "what separates the columns"),
    ],
    ids=["counts of a pair", "matrix", "blanks"],
)
def test_what_is_no_table_of_one_answer_a_row_is_told_and_not_proposed(tmp_path: Path, text: str, said: str) -> None:
    found = examine_file(written(tmp_path, text))
    assert said in (found.error or "")
    assert found.command == ""


@pytest.mark.parametrize(
    ("winner", "remedy"),
    [("GPT-4 ", "has white space at an end; remove it"), ("gpt-4", "write it as the item 'GPT-4'")],
)
def test_a_winner_that_is_nearly_an_item_is_not_proposed_as_a_place(tmp_path: Path, winner: str, remedy: str) -> None:
    path = written(tmp_path, f"judge,model_a,model_b,winner\na,GPT-4,Claude,{winner}\na,Claude,GPT-4,{winner}\n")
    with pytest.raises(InputError) as told:
        read(path)
    assert remedy in str(told.value)
    assert "--winners" not in str(told.value)


def test_the_only_numbers_of_a_judge_and_an_item_are_proposed_as_scores(tmp_path: Path) -> None:
    head, rows = "rater,item,Kriterium,Punkte", "ann,x,k,4\nann,x,t,3\nbob,x,k,5\nbob,x,t,2\n"
    scores = as_proposed(written(tmp_path, f"{head}\n{rows}")).scores
    assert scores[["judge", "item", "criterion", "score"]].values.tolist()[:2] == [
        ["ann", "x", "k", 4],
        ["ann", "x", "t", 3],
    ]
    alone = as_proposed(written(tmp_path, "rater,item,topic,Punkte\nann,x,k,4\nbob,x,k,5\nann,y,t,2\n", "u.csv"))
    assert "criterion" not in alone.scores


def test_a_page_is_no_table(tmp_path: Path) -> None:
    for begin in ("<html>", "<!DOCTYPE html>", "<table>", "\n<HTML lang=en>"):
        with pytest.raises(InputError, match=r"is a page of HTML; save it as \.xlsx or CSV"):
            read(written(tmp_path, f"{begin}<tr><td>judge</td></tr>", "t.xls"))


@pytest.mark.parametrize("odd", ["A is worse", "a tie", "A or B", "A and B", "not A"])
def test_words_that_may_mean_the_other_side_are_not_guessed(tmp_path: Path, odd: str) -> None:
    rows = "".join(f"ann,x,y,{said}\n" for said in ("A is better", "B is better", odd))
    assert examine_file(written(tmp_path, f"judge,model_a,model_b,winner\n{rows}")).command == ""


@pytest.mark.parametrize("columns", ["winner,loser", "chosen_model,rejected_model", "chosen,rejected"])
def test_winners_beside_losers_are_proposed_as_votes_in_unknown_order(tmp_path: Path, columns: str) -> None:
    path = written(tmp_path, f"judge,prompt,{columns}\nann,p,x,y\nbob,p,y,x\n")
    assert proposed(path) == {"wide": "sides"}
    assert as_proposed(path).votes[["judge", "first", "second", "winner", "order"]].values.tolist() == [
        ["ann", "x", "y", "first", "unknown"],
        ["bob", "y", "x", "first", "unknown"],
    ]


def test_columns_that_are_left_are_proposed_as_the_shell_reads_them(tmp_path: Path) -> None:
    path = written(tmp_path, "item,note,gpt,Rater 1\n1,a b,3,4\n2,c d,2,2\n")
    with pytest.raises(InputError, match="--columns 'gpt,Rater 1' leaves it out"):
        voirdire.fit(read(path, wide="judge"))


def test_a_score_with_a_comma_has_the_same_remedy_from_every_reader(tmp_path: Path) -> None:
    path = written(tmp_path, "judge;item;score\na;x;1,96\nb;x;0,5\na;y;2,04\nb;y;1,02\n")
    for table in (path, pd.read_csv(path, sep=";")):
        with pytest.raises(InputError, match="'0,5' is not a number; write a point for the comma"):
            voirdire.fit(table)


def test_doctor_sends_rankings_to_no_verb_that_reads_none(tmp_path: Path) -> None:
    path = written(tmp_path, "judge,context,item,rank\na,p,x,1\na,p,y,2\nb,p,x,1\nb,p,y,2\n")
    assert examine_file(path).lacks["metaeval"] == "scores"
    assert "--table votes" in examine_file(path).lacks["replace"]


def test_of_an_item_in_every_vote_no_place_is_named_that_the_file_does_not_tell() -> None:
    rows = [("a", "ref", other, "first", "unknown") for other in "xyzxyz"]
    votes = pd.DataFrame(rows, columns=["judge", "first", "second", "winner", "order"])
    found = voirdire.fit(votes, method="map")
    assert any("ref is in every vote, at a place not known" in note for note in found.notes)
    assert "always first" not in f"{found.notes} {found.checks()['message'].tolist()}"


def test_names_that_hold_a_word_for_scores_or_means_by_accident_are_not_told_by_it(tmp_path: Path) -> None:
    path = written(tmp_path, "item,judge,fluency,bertscore\nx,a,4,.8\ny,a,2,.7\nz,a,3,.6\n")
    assert "is it score" not in (examine_file(path).error or "")
    with pytest.raises(InputError, match="is 'summary_score', too"):
        read(written(tmp_path, "id,gpt_score,human_score,summary_score\n1,3,4,2\n2,2,2,4\n"))


def test_a_median_beside_answers_is_not_proposed_as_an_answer(tmp_path: Path) -> None:
    path = written(tmp_path, "id,text,tone,style,median\n1,t,4,2,3\n2,u,2,5,3.5\n3,v,1,1,1\n")
    assert proposed(path) == {"wide": "criterion", "columns": "tone,style"}
