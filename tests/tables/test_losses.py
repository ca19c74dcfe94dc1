"""Nothing is lost, doubled or changed without a word: columns, judges, items, rankings, missing cells, names."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from voirdire import InputError, fit, read
from voirdire.notices import listen_for_notes
from voirdire.tables import read_table
from voirdire.tables.reading import OPTIONS_SUFFIX


def written(folder: Path, text: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


SCORES = "judge,item,score\na,i,1\nb,i,2\n"
WIDE = "item,gpt,llama\ni,1,2\nj,2,3\n"


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (SCORES, {"map": {"judge": "item", "item": "item"}}, "'item' is given for judge and item"),
        (WIDE, {"wide": "judge", "columns": ["gpt", "gpt"]}, "'gpt' is named 2 times"),
        (WIDE, {"wide": "judge", "columns": ["gpt"], "map": {"context": "gpt"}}, "given for context"),
        (WIDE, {"wide": "judge", "map": {"judge": "gpt"}}, "leave judge out of --map"),
        (WIDE, {"wide": "criterion", "map": {"criterion": "gpt"}}, "leave criterion out of --map"),
        (WIDE, {"wide": "judge", "set": {"judge": "zed"}}, "leave --set judge out"),
        (SCORES, {"set": {"judge": "zed"}}, "column 'judge' says who judged; leave --set judge out"),
        (SCORES, {"set": {"judge": {"x.csv": "zed"}}}, "'zed' is said of 'x.csv', which is none of the files t.csv"),
        ("judge,ranking\na,x>y\n", {"set": {"judge": "zed"}}, "column 'judge' says who judged"),
    ],
)
def test_options_that_contradict_the_table_or_each_other(
    tmp_path: Path, text: str, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        read(written(tmp_path, text), **options)


def test_who_judged_is_what_is_said_and_not_a_column_that_may_be_it(tmp_path: Path) -> None:
    found = read(written(tmp_path, "user,item,score\nu1,i,1\nu2,j,2\n"), set={"judge": "gpt"}).scores
    assert found[["judge", "user"]].values.tolist() == [["gpt", "u1"], ["gpt", "u2"]]  # type: ignore[index]


@pytest.mark.parametrize(
    ("text", "options", "lost"),
    [
        ("judge,grader,item,score\na,x,i,1\nb,y,i,2\n", {"map": {"judge": "grader"}}, "'judge'"),
        ("judge,ts,time,item,score\na,1,2,i,1\n", {"map": {"time": "ts"}}, "'time'"),
        ("item,gpt,llama,score\ni,1,2,3\n", {"wide": "judge", "columns": ["gpt", "llama"]}, "'score'"),
        ("item,neg,pos,label\ni,1,2,3\n", {"wide": "counts", "columns": ["neg", "pos"]}, "'label'"),
        ("judge,ranking,rank\na,x>y,1\n", {"map": {"rank": "ranking"}}, "'rank'"),
    ],
)
def test_a_column_that_is_in_no_table_is_named(tmp_path: Path, text: str, options: dict[str, Any], lost: str) -> None:
    notes = read(written(tmp_path, text), **options).notes
    assert any(f"column {lost} is left out" in note for note in notes), notes


@pytest.mark.parametrize(
    ("text", "options", "columns"),
    [
        ("judge,ranking,system,lang\na,x>y,s,en\nb,y>x,t,de\n", {}, {"system": "s", "lang": "en"}),
        ("who,pref,lang\na,x>y,en\n", {"map": {"judge": "who", "rank": "pref"}}, {"lang": "en"}),
        (
            "item,system,lang,neg,pos\ni,s,en,1,2\n",
            {"wide": "counts", "columns": "neg,pos"},
            {"system": "s", "lang": "en"},
        ),
        ("item,ts,gpt,llama\ni,7,x,y\n", {"wide": "judge", "map": {"time": "ts"}}, {"time": "7"}),
    ],
)
def test_further_columns_stay(tmp_path: Path, text: str, options: dict[str, Any], columns: dict[str, str]) -> None:
    found = read(written(tmp_path, text), **options)
    frame = getattr(found, found.kinds[0])
    assert {name: frame[name].iloc[0] for name in columns} == columns


def test_a_context_and_a_system_make_one_item_only(tmp_path: Path) -> None:
    found = read(written(tmp_path, "judge,context,system,score\na,p / q,r,1\nb,p,q / r,2\n"))
    assert found.faults
    assert "make the name 'p / q / r', as others do" in found.faults[0]
    wide = "context,system,gpt,llama\np,,1,2\np,s,2,1\n"
    assert read(written(tmp_path, wide, "w.csv"), wide="judge").counts == {"scores": 2, "refused": 2}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("judge,context,rank_1,rank_2\na,c,2,1\nb,c,1,2\n", "items at each place, or places of each item"),
        ("item,neg,pos,total\ni,1,2,3\nj,0,3,3\n", "'total' is the sum of the others.*--columns neg,pos"),
        ("prompt,response,help,tone\np,r,1,2\np,s,2,x\np,t,2,3\n", "t.csv:3: tone 'x' is no number"),
    ],
)
def test_columns_that_may_be_two_things_are_refused(tmp_path: Path, text: str, said: str) -> None:
    wide = "counts" if "total" in text else "criterion" if "help" in text else None
    with pytest.raises(InputError, match=said):
        read(written(tmp_path, text), wide=wide)


def test_counts_without_items_are_named_by_their_lines(tmp_path: Path) -> None:
    found = read(written(tmp_path, "neg,pos\n1,1\n0,2\n"), wide="counts").labels
    assert found[["item", "label"]].values.tolist() == [["2", "neg"], ["2", "pos"], ["3", "pos"], ["3", "pos"]]  # type: ignore[index]


def test_places_that_are_empty_stay_empty(tmp_path: Path) -> None:
    found = read(written(tmp_path, "judge,rank_1,rank_2,rank_3\na,x,,z\nb,z,y,x\n")).rankings
    assert found[["item", "rank"]].values.tolist()[:2] == [["x", 1], ["z", 3]]  # type: ignore[index]


def test_rankings_as_votes_say_which_hold_none_and_which_are_two(tmp_path: Path) -> None:
    head = "judge,context,item,rank\n"
    heard: list[str] = []
    with listen_for_notes(heard.append):
        votes = read_table(read(written(tmp_path, head + "a,c,x,1\nb,c,x,1\nb,c,y,2\n"), table="votes"))
    assert votes.judges == ("b",)
    assert any("1 rankings of a single item hold no votes" in note for note in heard)
    with pytest.raises(InputError, match="item 'x' stands twice in the ranking of judge 'a', context 'c'"):
        read_table(read(written(tmp_path, head + "a,c,x,1\na,c,y,2\na,c,x,3\n"), table="votes"))


def test_rows_are_chosen_by_names_as_tables_have_them(tmp_path: Path) -> None:
    path = written(tmp_path, "judge,item,score,x\na,i,1,1\na,j,1,1.0\nb,i,2,01\n")
    frame = pd.DataFrame({"judge": ["a", "a", "b"], "item": ["i", "j", "i"], "score": 1, "x": [1.0, 1, 2]})
    for source in (path, frame):
        for value in (1, "1", 1.0, "1.0"):
            assert read(source, where={"x": value}).counts == {"scores": 2}


def test_a_file_without_the_column_of_where_is_not_dropped(tmp_path: Path) -> None:
    some = [written(tmp_path, "judge,item,score,t\na,i,1,m\n"), written(tmp_path, SCORES, "u.csv")]
    with pytest.raises(InputError, match=r"u\.csv: there is no column 't'"):
        read(some, where={"t": "m"})


# ---- dataframes


def test_columns_of_a_dataframe_whose_names_are_numbers() -> None:
    frame = pd.DataFrame({0: ["a", "b"], 1: ["i", "i"], 2: [1, 2]})
    assert read(frame, map={"judge": "0", "item": "1", "score": "2"}).counts == {"scores": 2}
    assert set(read(pd.DataFrame({"item": ["i", "j"], 7: [1, 2], 8: [2, 2]}), wide="judge").scores["judge"]) == {
        "7",
        "8",
    }
    with pytest.raises(InputError, match="occurs"):
        read(pd.DataFrame([["a", "i", 1, 2, 3]], columns=["judge", "item", "score", "3", 3]))
    with pytest.raises(InputError, match="several levels"):
        read(pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])))


def test_a_named_index_is_a_column() -> None:
    long = pd.DataFrame({"judge": ["a", "b"] * 2, "item": ["i", "i", "j", "j"], "score": [1, 2, 3, 4]})
    wide = long.pivot(index="item", columns="judge", values="score")
    rows = {tuple(row) for row in long.values.tolist()}
    for found in (read(wide, wide="judge"), read(long.set_index(["judge", "item"]))):
        assert {tuple(row) for row in found.scores[["judge", "item", "score"]].values.tolist()} == rows
    assert read_table(long.set_index("judge")).judges == ("a", "b")


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA])
def test_missing_cells_of_dataframes_are_empty_in_every_spelling(gap: Any) -> None:
    frame = pd.DataFrame({"item": ["i", "j"], "gpt": pd.Series([1, gap], dtype=object), "llama": [2, 3]})
    found = read(frame, wide="judge")
    assert found.counts == {"scores": 3}
    assert any("1 empty cells" in note for note in found.notes)
    long = pd.DataFrame({"rater": ["a", "b"], "item": pd.Series(["i", gap], dtype=object), "score": [1, 2]})
    assert read(long).faults == ("row 2: item is empty",)


# ---- the file beside a table


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ('map = {judge = ["who"]}', 'map has the wrong form; write map = {a = "b"}'),
        ('map = {judge = {a = "who"}}', "map has the wrong form"),
        ("winners = {a = true}", "winners has the wrong form"),
        ('table = ["scores"]', 'table has the wrong form; write table = "a"'),
        ("where = {x = true}", "where has the wrong form"),
        ('degrees = "yes"', "degrees has the wrong form; write degrees = true"),
        ("people = {a = 1}", 'people has the wrong form; write people = ["a", "b"]'),
    ],
)
def test_a_file_beside_a_table_that_is_not_as_it_should_be(tmp_path: Path, kept: str, said: str) -> None:
    path = written(tmp_path, SCORES)
    Path(f"{path}{OPTIONS_SUFFIX}").write_text(kept)
    with pytest.raises(InputError) as caught:
        read(path)
    assert said in str(caught.value)


def test_a_text_names_one_person_and_not_its_letters(tmp_path: Path) -> None:
    path = written(tmp_path, SCORES.replace("a,i", "ann,i"))
    Path(f"{path}{OPTIONS_SUFFIX}").write_text('people = "ann"')
    with listen_for_notes(lambda _: None):
        assert read(path).people == ("ann",)


def test_a_file_beside_one_of_several_tables_is_not_passed_over(tmp_path: Path) -> None:
    some = [written(tmp_path, SCORES), written(tmp_path, SCORES.replace("a,", "c,"), "u.csv")]
    Path(f"{some[1]}{OPTIONS_SUFFIX}").write_text('where = {item = "j"}')
    with pytest.raises(InputError, match="reading options for one of several files"):
        read(some)


# ---- every verb reads what import reads


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("judge;item;score\na;i;1\nb;i;2\n", {}),
        ("judge\titem\tlabel\na\ti\tx\nb\ti\ty\n", {}),
        ("judge,first,second,winner,score\na,x,y,first,3\nb,x,y,tie,4\n", {}),
        ("judge,item,score,label\na,i,1,x\nb,i,2,y\n", {"table": "labels"}),
        ("judge,item,score,label\na,i,1,x\nb,i,2,y\n", {"table": "scores"}),
    ],
)
def test_what_import_reads_a_fit_reads(tmp_path: Path, text: str, options: dict[str, Any]) -> None:
    path = written(tmp_path, text)
    with listen_for_notes(lambda _: None):
        found = read(path, **options)
        table = read_table(found if options else path)
    assert found.kinds == [table.data]
    assert set(table.judges) == {"a", "b"}


def test_a_table_of_two_answers_says_how_one_is_chosen(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="are those of scores and labels; --table scores or --table labels"):
        read(written(tmp_path, "judge,item,score,label\na,i,1,x\n"))


def test_texts_that_are_judged_are_no_judges(tmp_path: Path) -> None:
    path = written(tmp_path, "id,judge_passed,human_passed,model_answer\n1,true,false,Paris\n2,true,true,Rome\n")
    assert set(read(path).labels["judge"]) == {"judge_passed", "human_passed"}
    with pytest.raises(InputError, match="are those of scores, but lack judge"):
        read(written(tmp_path, "question,gold_answer,model_answer,score\nq,4,5,0\n", "u.csv"))


def test_a_comma_in_a_number_is_named(tmp_path: Path) -> None:
    found = read(written(tmp_path, "judge;item;score\na;i;2,5\nb;i;1\n"))
    assert found.faults == ("t.csv:2: score '2,5' is no number; write a point for the comma",)


def test_a_column_of_texts_is_no_judge_of_scores(tmp_path: Path) -> None:
    path = written(tmp_path, "prompt_id,judge_score,oracle_label,human_score\n1,1,good,2\n2,2,bad,3\n")
    with pytest.raises(InputError, match=r"'oracle_label' holds no numbers.*--columns judge_score,human_score"):
        read(path)
    assert read(path, wide="judge", columns="judge_score,human_score").counts == {"scores": 4}
    assert read(path, wide="judge", columns="judge_score,oracle_label", table="labels").counts == {"labels": 4}


def test_answers_of_two_systems_to_one_example_are_two_items(tmp_path: Path) -> None:
    path = written(tmp_path, "id,model,judge_passed,human_passed\n1,s,true,false\n1,t,true,true\n")
    assert set(read(path).labels["item"]) == {"1 / s", "1 / t"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("grader,task_id,passed\na,x,true\nb,x,false\na,y,true\n", "--map label=passed"),
        ("rater,prompt,response_id,rating\na,p,r,1\nb,p,r,2\n", "--map item=response_id"),
        ("prompt_id,response_id,score\np,r,1\n", "--map item=response_id --set judge=NAME"),
        ("Results,,\njudge,item,score\na,x,1\n", "line 2 holds 'judge'"),
        ("Results of May\n\n\njudge,item,score\na,x,1\n", "if it names the columns, delete lines 1 to 3"),
        ("model_a,model_b,preference\nx,y,A\ny,x,tie\nx,y,B\n", "--winners A=first,B=second,tie=tie"),
    ],
)
def test_a_table_that_cannot_be_told_says_what_to_type(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read(written(tmp_path, text))
    assert said in str(caught.value)


@pytest.mark.parametrize("wrapping", ["copy.csv", "t.csv.gz", "t.tsv", "t.jsonl"])
def test_a_copy_of_a_file_does_not_count_twice(tmp_path: Path, wrapping: str) -> None:
    path, copy = written(tmp_path, SCORES), tmp_path / wrapping
    text = SCORES.replace(",", "\t") if copy.suffix == ".tsv" else SCORES
    if copy.suffix == ".jsonl":
        text = pd.read_csv(path).to_json(orient="records", lines=True)
    copy.write_bytes(gzip.compress(text.encode()) if copy.suffix == ".gz" else text.encode())
    with pytest.raises(InputError, match=r"holds the same answers as .*t\.csv'.*a column run"):
        read([path, copy])


def test_files_that_say_who_judged_by_their_names_may_hold_the_same(tmp_path: Path) -> None:
    text = "item,label\ni,x\nj,y\n"
    some = [written(tmp_path, text, "a.csv"), written(tmp_path, text, "b.csv")]
    found = read(some, set={"judge": {"a.csv": "ann", "b.csv": "ben"}})
    assert found.counts == {"labels": 4}


def test_scores_under_a_name_with_spaces_do_not_become_labels(tmp_path: Path) -> None:
    path = written(tmp_path, "judge, item, score\na, i, 1\nb, i, 2\n")
    with pytest.raises(InputError, match="score ' 1' is no number; delete the spaces"):
        read(path)


def test_a_column_of_judges_is_no_judge_of_a_wide_table(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"column 'judge' says who judged.*leave --wide judge out"):
        read(written(tmp_path, SCORES), wide="judge")


def test_half_of_a_character_is_written_out_where_it_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    answers = ['"judge":"a","item":"x","score":1', '"judge":"b","item":"x","score":"\\ud800"']
    path.write_text("".join(f"{{{one}}}\n" for one in answers))
    found = read(path)
    assert found.refused["reason"].tolist() == ["score '\\ud800' is no number"]
    with pytest.warns(UserWarning, match="1 answer is in no table"):
        found.report_files()


def test_a_winner_called_first_names_no_columns(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(written(tmp_path, "one,other,better\nx,y,first\ny,x,second\n"))
    assert "delete line" not in str(caught.value)


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_rows_are_named_with_the_lines_of_the_file_by_every_reader(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t.{ending}"
    text = 'judge,item,score,note\na,x,1,"two\nlines"\nb,x,2,"two\nlines"\n\n b,y,3,-\n'
    path.write_text(text if ending == "csv" else text.replace(",", "\t"))
    said = "row 3 (line 7): judge ' b' has white space at an end"
    with pytest.raises(InputError, match=re.escape(said)):
        fit(path)
    with pytest.raises(InputError, match=f"{path.name}:7: judge ' b' has white space at an end"):
        fit(read(path))
    path.write_text(path.read_text().replace(" b", ""))
    with pytest.raises(InputError, match=r"row 3 \(line 7\): judge is empty"):
        fit(path)
    assert read(path).refused["place"].tolist() == [f"t.{ending}:7"]


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("1,200", "; write 1200, or 1.200 if the comma is a point"),
        ("-1,200,300", "; write -1200300"),
        ("0,125", "; write a point for the comma"),
        ("\N{MINUS SIGN}1", "; write a hyphen for the minus sign"),
        ("4/5", "; write 4, and name the scale that ends at 5 by --levels"),
        ("4.5 out of 5", "; write 4.5, and name the scale that ends at 5 by --levels"),
        ("80%", "; write 80, without the percent sign"),
        ("high%", ""),
    ],
)
def test_what_to_write_in_the_place_of_a_number_fits_it(said: str, remedy: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f'judge,item,score\na,x,"{said}"\na,y,3\n')
    assert read(path).faults == (f"t.csv:2: score {said!r} is no number{remedy}",)
