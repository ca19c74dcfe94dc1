"""One door: what is read is what stands there, in every layout that people have, or an error names it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import voirdire
from voirdire import InputError, read
from voirdire.notices import listen_for_notes
from voirdire.tables import read_table
from voirdire.tables.formats.conversion_report import import_files
from voirdire.tables.reading import OPTIONS_SUFFIX, Reading
from voirdire.tables.run_folders import filter_rows


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def rows(frame: pd.DataFrame | None) -> list[list[Any]]:
    assert frame is not None
    return frame.values.tolist()


def quietly(source: object) -> Any:
    with listen_for_notes(lambda _: None):
        return read_table(source)


# ---- layouts


def test_records_of_an_arena_without_a_judge(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "model_a,model_b,winner,lang\nx,y,model_a,en\ny,z,tie,de\nx,z,z,en\n")
    found = read(path)
    assert rows(found.votes[["judge", "first", "second", "winner", "lang"]]) == [
        ["judge", "x", "y", "first", "en"],
        ["judge", "y", "z", "tie", "de"],
        ["judge", "x", "z", "second", "en"],
    ]
    assert any("no column says who judged" in note for note in found.notes)
    for source in (path, pd.read_csv(path)):
        votes = quietly(source)
        assert (votes.judges, votes.row_outcome.tolist()) == (("judge",), [0, 2, 1])


def test_battles_that_repeat_rows_by_strength_are_refused(tmp_path: Path) -> None:
    head = "question_id,model_a,model_b,winner\n"
    path = written(tmp_path, "b.csv", head + "1,x,y,model_a\n1,x,y,model_a\n")
    with pytest.raises(InputError, match="repeat rows by strength"):
        read(path)
    assert read(written(tmp_path, "c.csv", head + "1,x,y,model_a\n2,x,y,model_a\n")).counts == {"votes": 2}


def test_a_misspelt_judge_is_not_taken_for_none(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "jugde,model_a,model_b,winner\nann,x,y,model_a\n")
    with pytest.raises(InputError, match="lack judge"):
        read(path)
    with pytest.raises(InputError, match="'judge' is missing; did you mean 'jugde'"):
        quietly(path)


@pytest.mark.parametrize(
    ("text", "kind", "wanted"),
    [
        ("item_id,rater_id,rating\n1,r1,4\n1,r2,5\n", "scores", [["r1", "1", 4], ["r2", "1", 5]]),
        ("unit,coder,value\n1,c1,2\n1,c2,3.5\n", "scores", [["c1", "1", 2], ["c2", "1", 3.5]]),
        ("unit,coder,value\n1,c1,good\n1,c2,2\n", "labels", [["c1", "1", "good"], ["c2", "1", "2"]]),
        ("subject,rater,rating\ns,a,high\ns,b,low\n", "labels", [["a", "s", "high"], ["b", "s", "low"]]),
    ],
)
def test_answers_of_raters(tmp_path: Path, text: str, kind: str, wanted: list[list[Any]]) -> None:
    path = written(tmp_path, "r.csv", text)
    answer = kind.removesuffix("s")
    assert rows(getattr(read(path), kind)[["judge", "item", answer]]) == wanted
    table = quietly(path)
    assert (table.data, table.rows) == (kind, 2)
    assert quietly(pd.read_csv(path)).data == kind


def test_one_row_an_example_with_gaps(tmp_path: Path) -> None:
    path = written(
        tmp_path, "e.csv", "id,judge_passed,human_passed,tokens\n1,True,False,9\n2,False,,8\n3,True,True,7\n"
    )
    found = read(path)
    assert rows(found.labels[["judge", "item", "label"]]) == [
        ["judge_passed", "1", "True"],
        ["human_passed", "1", "False"],
        ["judge_passed", "2", "False"],
        ["judge_passed", "3", "True"],
        ["human_passed", "3", "True"],
    ]
    assert found.labels["tokens"].tolist() == ["9", "9", "8", "7", "7"]
    assert any("1 empty cells: not asked" in note for note in found.notes)
    assert quietly(path).judges == ("human_passed", "judge_passed")
    assert quietly(pd.read_csv(path)).rows == 5


def test_scores_of_a_judge_beside_an_oracle(tmp_path: Path) -> None:
    path = written(tmp_path, "o.csv", "prompt_id,judge_score,oracle_label\np1,0.7,0.65\np2,0.2,\n")
    assert rows(read(path).scores[["judge", "item", "score"]]) == [
        ["judge_score", "p1", 0.7],
        ["oracle_label", "p1", 0.65],
        ["judge_score", "p2", 0.2],
    ]


def test_columns_that_are_criteria(tmp_path: Path) -> None:
    records = [
        {"prompt": "q", "response": "a", "helpfulness": 1, "tone": 4, "note": "long"},
        {"prompt": "q", "response": "b", "helpfulness": 3, "tone": None},
    ]
    path = written(tmp_path, "h.jsonl", "".join(json.dumps(record) + "\n" for record in records))
    with pytest.raises(InputError, match="are they criteria\\? --wide criterion"):
        quietly(path)
    found = read(path, wide="criterion")
    assert rows(found.scores[["judge", "item", "score", "criterion", "context"]]) == [
        ["judge", "a", 1, "helpfulness", "q"],
        ["judge", "a", 4, "tone", "q"],
        ["judge", "b", 3, "helpfulness", "q"],
    ]
    assert read(path, wide="criterion", columns=["tone"]).counts == {"scores": 1}
    with pytest.raises(InputError, match="no column 'tune' \\(--columns\\); did you mean 'tone'"):
        read(path, wide="criterion", columns="tune")
    by_judge = read(path, wide="criterion", set={"judge": "gpt"})
    assert set(by_judge.scores["judge"]) == {"gpt"}


def test_counts_of_labels(tmp_path: Path) -> None:
    path = written(tmp_path, "c.csv", "item,neg,pos\n1,0,3\n2,2,1\n3,1,2\n")
    with pytest.raises(InputError, match="--wide counts"):
        quietly(path)
    found = read(path, wide="counts")
    assert found.labels.groupby(["item", "label"]).size().to_dict() == {
        ("1", "pos"): 3,
        ("2", "neg"): 2,
        ("2", "pos"): 1,
        ("3", "neg"): 1,
        ("3", "pos"): 2,
    }
    wrong = written(tmp_path, "w.csv", "item,neg,pos\n1,0.5,3\n2,-1,1\n3,1,2\n")
    assert rows(read(wrong, wide="counts").refused) == [
        ["w.csv:2: neg", "'0.5' is no count of answers, a whole number from 0"],
        ["w.csv:3: neg", "'-1' is no count of answers, a whole number from 0"],
    ]
    with pytest.raises(InputError, match=r"w\.csv:2: neg: '0\.5' is no count"):
        quietly(read(wrong, wide="counts"))


@pytest.mark.parametrize(
    "text",
    [
        "judge,context,ranking\na,p,x>y=z\n",
        'judge,context,ranking\na,p,"[""x"", [""y"", ""z""]]"\n',
        "judge,context,item,rank\na,p,x,1\na,p,y,2\na,p,z,2\n",
    ],
)
def test_rankings(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, "r.csv", text)
    found = read(path)
    assert rows(found.rankings[["judge", "item", "rank", "context"]]) == [
        ["a", "x", 1, "p"],
        ["a", "y", 2, "p"],
        ["a", "z", 2, "p"],
    ]
    with pytest.raises(InputError, match="--table votes"):
        quietly(path)
    votes = quietly(read(path, table="votes"))
    assert votes.order_unknown
    assert votes.row_outcome.tolist() == [0, 0, 2]
    out = tmp_path / "out"
    assert import_files([path], out, Reading(table="votes")).counts == {"votes": 3}
    assert sorted(file.name for file in out.iterdir()) == ["votes.csv"]
    again = quietly(out / "votes.csv")
    assert again.order_unknown
    assert again.row_outcome.tolist() == [0, 0, 2]


def test_further_columns_of_rankings_stay_with_their_votes_or_are_refused(tmp_path: Path) -> None:
    head = "judge,context,item,rank,topic\n"
    votes = read(written(tmp_path, "r.csv", head + "a,p,x,1,art\na,p,y,2,art\n"), table="votes").votes
    assert rows(votes[["first", "second", "winner", "topic"]]) == [["x", "y", "first", "art"]]
    with pytest.raises(InputError, match=r"column 'topic' differs .* ranking of judge 'a', context 'p'"):
        read(written(tmp_path, "r.csv", head + "a,p,x,1,art\na,p,y,2,law\n"), table="votes")


def test_rankings_by_columns_and_best_worst(tmp_path: Path) -> None:
    places = read(written(tmp_path, "p.csv", "rater,prompt,rank_1,rank_2,rank_3\na,p,z,x,y\n")).rankings
    assert rows(places[["item", "rank"]]) == [["z", 1], ["x", 2], ["y", 3]]
    best = read(written(tmp_path, "b.csv", "judge,context,items,best,worst\na,p,x;y;z;w,y,w\n")).rankings
    assert rows(best[["item", "rank"]]) == [["y", 1], ["x", 2], ["z", 2], ["w", 3]]
    odd = read(written(tmp_path, "o.csv", "judge,context,ranking\na,p,x>y\na,q,x>x\na,r,x\n"))
    assert odd.counts == {"rankings": 2, "refused": 2}


# ---- what stands there is read


def test_columns_of_the_table_itself_stay(tmp_path: Path) -> None:
    head = "grader,first,second,winner,order,time,category\n"
    path = written(tmp_path, "v.csv", head + "a,x,y,x,unknown,3,math\na,x,y,y,unknown,4,code\n")
    found = read(path, map={"judge": "grader"}).votes
    assert set(found) == {"judge", "first", "second", "winner", "order", "time", "category"}
    votes = quietly(found)
    assert votes.order_unknown
    assert votes.details.time.tolist() == [3.0, 4.0]
    assert rows(read(path, map={"judge": "grader"}, where={"category": "code"}).votes)[0][3] == "second"


def test_a_column_that_comes_late_is_read(tmp_path: Path) -> None:
    first = {"rater": "a", "item": "x", "score": 1}
    text = json.dumps([first, first | {"criterion": "tone", "run": "2"}])
    found = read(written(tmp_path, "s.json", text)).scores
    assert {"criterion", "run"} <= set(found.columns)
    with pytest.raises(InputError, match="criterion is empty"):
        quietly(tmp_path / "s.json")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"map": {"contxt": "kind"}}, "'contxt' is no column of voirdire's; did you mean 'context'"),
        ({"map": {"judge": "whom"}}, "no column 'whom' \\(for judge\\)"),
        ({"winners": {"1": "frist"}}, "1=frist is neither first, second nor tie; did you mean 'first'"),
        ({"table": "vote"}, "'vote' is none of votes, scores, labels, rankings; did you mean 'votes'"),
        ({"set": {"judges": "x"}}, "'judges' is none of baseline, judge, system, questions; did you mean 'judge'"),
        (
            {"wide": "judges"},
            "wide 'judges' is none of judge, criterion, item, counts, lists, pairs, sides; did you mean 'judge'",
        ),
        ({"columns": ["who"]}, "--columns chooses columns of a wide table"),
        ({"where": {"topic": "x"}}, "there is no column 'topic'"),
        ({"where": {"winner": "tie"}}, r"no row has winner=tie; the column 'winner' has (\w+ \(\d+\)(, )?)+$"),
        ({"columns": {"judge": "who"}}, "map={...} assigns columns to voirdire's"),
        ({"people": "zoe", "map": {"judge": "who"}}, "'zoe' is no judge of the table"),
    ],
)
def test_options_that_say_what_there_is_not(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    path = written(tmp_path, "v.csv", "who,first,second,winner,kind\na,x,y,x,k\n")
    with pytest.raises(InputError, match=said):
        voirdire.fit(read(path, **({"map": {"judge": "who"}} | options)), method="map")


def test_a_file_is_not_read_twice(tmp_path: Path) -> None:
    path = written(tmp_path, "v.csv", "judge,first,second,winner\na,x,y,x\n")
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    for again in (path, link):
        with pytest.raises(InputError, match="given twice"):
            read([path, again])


@pytest.mark.parametrize(
    ("text", "how", "place"),
    [
        ("item,g,h\n1,3,4\n2,4,x\n3,n/a,2\n4,1,2\n", {"wide": "judge"}, "t.csv:3: h: 'x' is no number"),
        ("prompt,response,help,tone\np,r,1,2\np,s,2,x\n", {"wide": "criterion", "columns": "help,tone"}, "3: tone"),
        ("item,neg,pos\n1,2,1\n2,many,1\n", {"wide": "counts"}, "t.csv:3: neg: 'many'"),
        ("item,judge_passed,human_passed\n1,a;b,yes\n2,no,no\n", {}, "t.csv:2.*label 'a;b' names several labels"),
        ("judge,context,ranking\na,p,x>y\na,q,x>x\n", {"table": "votes"}, "t.csv:3: item 'x' stands twice"),
    ],
)  # fmt: skip
def test_a_cell_that_cannot_be_read_is_an_error_in_every_layout(
    tmp_path: Path, text: str, how: dict[str, Any], place: str
) -> None:
    """No verb goes on with fewer answers; what `import` writes has the rest, and the reasons."""
    path = written(tmp_path, "t.csv", text)
    found = read(path, **how)
    assert len(found.refused) == text.count("x\n3") + 1
    with pytest.raises(InputError, match=place):
        quietly(found)
    out = tmp_path / "out"
    import_files([path], out, Reading(**how | ({"columns": how["columns"].split(",")} if "columns" in how else {})))
    assert len(pd.read_csv(out / "refused.csv")) == len(found.refused)


def test_a_row_that_cannot_be_read_is_an_error_of_every_verb(tmp_path: Path) -> None:
    """`import` lists it, a fit of the rest would lose it without a word."""
    path = written(tmp_path, "s.csv", "who,item,score\na,x,1\na,y,high\nb,x,1_0\nb,y,\n")
    found = read(path, map={"judge": "who"})
    assert found.counts == {"scores": 1, "refused": 3}
    with pytest.raises(InputError) as caught:
        quietly(found)
    assert len(caught.value.problems) == 3
    assert "voirdire import FILE --out DIR" in str(caught.value).splitlines()[-1]


@pytest.mark.parametrize(("first", "second"), [("B", "A"), ("A", "b")])
def test_letters_are_no_outcomes(tmp_path: Path, first: str, second: str) -> None:
    """A winner a where an item is A is neither the first nor that item."""
    path = written(tmp_path, "v.tsv", f"rater\tmodel_a\tmodel_b\twinner\nann\t{first}\t{second}\ta\n")
    with pytest.raises(InputError, match="winner 'a' is neither"):
        quietly(path)
    assert read(path, winners={"a": "first"}).votes["winner"].tolist() == ["first"]


def test_a_frame_is_read_like_its_file(tmp_path: Path) -> None:
    path = written(tmp_path, "v.csv", "rater,LLM_1,LLM_2,pick\na,x,y,1\nb,y,x,0\n")
    how: dict[str, Any] = {"map": {"first": "LLM_1", "second": "LLM_2", "winner": "pick"}}
    how["winners"] = {"1": "first", "0": "second"}
    wanted = read(path, **how).votes
    for frame in (pd.read_csv(path), pd.read_csv(path, dtype=str)):
        assert read(frame, **how).votes.equals(wanted)


# ---- people, levels, and what is kept beside the data


def test_people_are_judges_of_the_table() -> None:
    judges = [(who, item) for item in "wxyz" for who in ("gpt", "llama", "ann")]
    table = pd.DataFrame(judges, columns=["judge", "item"])
    table["label"] = ["yes" if item in "wx" or who == "gpt" else "no" for who, item in judges]
    named = voirdire.fit(table, people="ann", method="map")
    read_first = voirdire.fit(read(table, people=["ann"]), method="map")
    split = voirdire.fit(
        table[table["judge"] != "ann"], anchors=table[table["judge"] == "ann"].drop(columns="judge"), method="map"
    )
    assert named.judges()["judge"].tolist() == ["gpt", "llama"]
    for other in (read_first, split):
        assert named.judges()["accuracy"].tolist() == other.judges()["accuracy"].tolist()
    with pytest.raises(InputError, match="'zoe' is no judge of the table"):
        voirdire.fit(table, people="zoe", method="map")
    with pytest.raises(InputError, match="nobody is left"):
        voirdire.fit(table, people="gpt,llama,ann", method="map")


def test_levels_that_were_read_are_those_of_the_fit(tmp_path: Path) -> None:
    path = written(tmp_path, "l.csv", "rater,item,label\na,x,low\nb,x,high\n")
    assert quietly(read(path, levels=["low", "middle", "high"])).labels == ("low", "middle", "high")


def test_a_file_beside_the_table_says_how_it_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, "v.csv", "m1,m2,pick\nx,y,A\ny,x,B\n")
    beside = Path(f"{path}{OPTIONS_SUFFIX}")
    beside.write_text(
        'map = {first = "m1", second = "m2", winner = "pick"}\nwinners = {A = "first", B = "second"}\n'
        'set = {judge = "ann"}\n'
    )
    with listen_for_notes(lambda _: None):
        for source in (path, read(path)):
            votes = read_table(source)
            assert (votes.judges, votes.row_outcome.tolist()) == (("ann",), [0, 1])  # type: ignore[union-attr]
        assert read_table(read(path, set={"judge": "bob"})).judges == ("bob",)
    beside.write_text('mapp = {first = "m1"}\n')
    with pytest.raises(InputError, match="'mapp' is no option; did you mean 'map'"):
        quietly(path)
    beside.write_text('map = "m1"\n')
    with pytest.raises(InputError, match=r'write map = \{a = "b"\}'):
        read(path)


def test_rows_may_be_left_out_by_what_they_hold(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text("judge,first,second,winner\nann,a,b,first\nann,a,b,tie\nbob,a,b,second\n1.0,a,b,first\n")
    assert read(path, where={"winner!": "tie"}).votes["judge"].tolist() == ["ann", "bob", "1.0"]
    assert read(path, where={"judge!": "1", "winner": "first"}).votes["judge"].tolist() == ["ann"]
    with pytest.raises(InputError, match="there is no column 'judg'"):
        read(path, where={"judg!": "bob"})
    with pytest.raises(InputError, match=r"no row has winner!=tie, winner=tie; the column 'winner' has"):
        read(path, where={"winner!": "tie", "winner": "tie"})


def test_rows_of_a_run_may_be_left_out_by_what_they_hold() -> None:
    cells = {"judge": ["a", "b", "a"], "score": [1, 2, 3]}
    assert filter_rows(cells, {"judge!": "a"}, "run") == {"judge": ["b"], "score": [2]}
    with pytest.raises(InputError, match="there is no column 'topic'"):
        filter_rows(cells, {"topic!": "x"}, "run")
