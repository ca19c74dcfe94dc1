"""Every verb reads tables by the same options, also the tables of people; doctor says which to type."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.main import get_command
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app

RUN = CliRunner()
COMMON = {
    "--from", "--map", "--winners", "--wide", "--columns", "--set", "--sheet", "--sep", "--table", "--where",
    "--positive", "--levels", "--people", "--label-sets", "--no-label", "--leave-out",
}  # fmt: skip
VERBS = ("fit", "board", "agree", "replace", "next", "ask", "simulate", "metaeval", "import", "doctor")
#: Options that say nothing to a verb, or something else.
WITHOUT = {"metaeval": {"--table", "--positive", "--levels"}, "import": {"--positive", "--levels", "--people"}}


def ran(*arguments: object, code: int = 0) -> Any:
    done = RUN.invoke(app, [str(one) for one in arguments])
    assert done.exit_code == code, done.output
    return done


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_the_same_options(verb: str) -> None:
    command: Any = get_command(app)
    called = command.commands[verb].make_context(verb, [], resilient_parsing=True).command
    found = {name for one in called.params for name in one.opts}
    assert (COMMON - WITHOUT.get(verb, set())) <= found


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    lines = [f"g{n % 3},x,y,{'AB'[n % 4 == 0]}" for n in range(12)] + ["ann,x,y,A", "ann,y,x,B"]
    path.write_text("\n".join(["grader,LLM_1,LLM_2,picked", *lines, ""]))
    return path


NAMED = ["--map", "judge=grader,first=LLM_1,second=LLM_2,winner=picked", "--winners", "A=first,B=second"]


def test_people_of_the_table_and_a_table_of_theirs_are_read_alike(votes: Path, tmp_path: Path) -> None:
    usual = ["--method", "map", "--model", "crowd-bt", "--json"]
    named = json.loads(ran("fit", votes, *NAMED, "--people", "ann", *usual).stdout)
    judges = tmp_path / "judges.csv"
    judges.write_text("\n".join(line for line in votes.read_text().split("\n") if not line.startswith("ann")))
    people = tmp_path / "people.csv"
    people.write_text("LLM_1,LLM_2,picked\nx,y,A\ny,x,B\n")
    apart = json.loads(ran("fit", judges, *NAMED, "--anchors", people, *usual).stdout)
    assert named["items"] == apart["items"]
    assert [row["judge"] for row in named["judges"]] == ["g0", "g1", "g2"]


def test_a_mapping_may_name_columns_of_any_table_of_the_command(votes: Path, tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("one,other,better\nx,y,A\n")
    both = [*NAMED[:1], NAMED[1], *NAMED[2:]]
    done = ran("fit", votes, *both, "--anchors", people, "--method", "map", code=1)
    assert "columns 'first', 'second' and 'winner' are missing" in done.stderr
    assert "(--map first=one,second=other,winner=better)" in done.stderr
    done = ran("fit", votes, "--map", "judge=nobody", *NAMED[2:], code=1)
    assert "no column 'nobody' (for judge)" in done.stderr


def test_what_winners_mean_is_said_of_votes_alone(votes: Path, tmp_path: Path) -> None:
    scores = tmp_path / "scores.csv"
    scores.write_text("judge,item,score\ng0,x,1\ng1,x,2\ng0,y,4\ng1,y,3\ng2,x,2\ng2,y,2\n")
    for verb in ("fit", "doctor"):
        done = ran(verb, scores, "--winners", "A=first", code=1)
        assert "winners (--winners) says what the winners of votes mean; scores have none" in done.stderr
    one_less = [*NAMED[:3], "A=first"]
    assert "winner 'B' is none of A; say what it means, too (--winners)" in ran("fit", votes, *one_less, code=1).stderr
    both = json.loads(ran("fit", votes, scores, *NAMED, "--method", "map", "--json").stdout)
    assert both["votes"] > 0


def test_replace_and_agree_take_people_of_the_table(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    answers = [
        (judge, item, "yes" if (item + shift) % 3 else "no")
        for item in range(40)
        for judge, shift in (("gpt", 0), ("ann", 0), ("bob", int(item % 10 == 0)))
    ]
    path.write_text("\n".join(["rater,item,label", *(f"{j},{i},{a}" for j, i, a in answers)]))
    found = json.loads(ran("replace", path, "--people", "ann,bob", "--json").stdout)
    assert {row["judge"] for row in found["rows"]} == {"gpt"}
    agreed = json.loads(ran("agree", path, "--people", "ann,bob", "--resamples", 50, "--json").stdout)
    assert any(row["judges"][0] == "gpt" for row in agreed["rows"])
    experts = json.loads(ran("agree", path, "--experts", "ann", "--experts", "bob", "--resamples", 50, "--json").stdout)
    assert agreed == experts
    assert "say who are people" in ran("replace", path, code=1).stderr


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--swap"], "--people and --swap are two questions"),
        (["--against", "g0"], "--against is not for --people"),
        (["--people", "g0", "--people", "g0"], "a panel of experts is two or more different judges"),
    ],
)
def test_agree_names_people_where_they_are_given_as_such(votes: Path, more: list[str], said: str) -> None:
    people = ["--people", "ann,g1"]
    done = RUN.invoke(app, ["agree", str(votes), *NAMED, *people, *more])
    assert said in " ".join(done.output.replace("│", " ").split())
    assert "--experts" not in done.output


def test_levels_are_given_once(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("judge,item,score\na,x,1\na,y,2\nb,x,2\nb,y,3\n")
    done = ran("fit", path, "--levels", "1,2,3", "--levels", "4,5", code=1)
    assert "--levels is given 2 times; give it once, with commas between" in done.stderr


def test_a_judge_of_each_file(tmp_path: Path) -> None:
    for name, label in (("a.csv", "yes"), ("b.csv", "no")):
        (tmp_path / name).write_text(f"item,label\nx,{label}\n")
    out = tmp_path / "out"
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    ran("import", *files, "--set", "judge=a.csv:ann", "--set", "judge=b.csv:bob", "--out", out)
    assert (out / "labels.csv").read_text() == "judge,item,label\nann,x,yes\nbob,x,no\n"


def test_doctor_says_what_to_type_and_that_works(votes: Path, tmp_path: Path) -> None:
    done = ran("doctor", votes, "--json", code=1)
    (found,) = json.loads(done.stdout)["files"]
    assert found["error"] is not None
    assert [(one["name"], one["read_as"]) for one in found["columns"]] == [
        ("grader", "judge"),
        ("LLM_1", None),
        ("LLM_2", None),
        ("picked", None),
    ]
    program, *arguments = shlex.split(found["command"])
    assert program == "voirdire"
    assert json.loads(ran(*arguments, "--method", "map", "--json").stdout)["votes"] == 14


def test_doctor_of_a_table_that_is_ready(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("judge,item,label\nann,x,Yes\nAnn,x,yes\nann,x,no\n")
    (found,) = json.loads(ran("doctor", path, "--json").stdout)["files"]
    assert (found["rows"], found["judges"], found["items"]) == ({"labels": 3}, 2, 1)
    said = " ".join(found["stands_out"])
    assert "differ only in how they are written count as several: judges 'Ann' and 'ann'" in said
    assert "differ only in how they are written count as several: labels 'Yes' and 'yes'" in said
    assert "1 question has different answers of one judge (rows 1 and 3: judge 'ann', item 'x'" in said
    assert "agree" not in found["lacks"]
    assert "context and system" in found["lacks"]["board"]
    text = ran("doctor", path).stdout
    assert f"type: voirdire fit {path}" in text


def test_doctor_keeps_the_options(votes: Path) -> None:
    ran("doctor", votes, *NAMED, "--keep")
    found = json.loads(ran("fit", votes, "--method", "map", "--json").stdout)
    assert found["votes"] == 14
    assert "exists already" in ran("doctor", votes, *NAMED, "--keep", code=1).stderr


def test_doctor_of_several_files_says_what_is_wrong_with_each(votes: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('[{"a": 1}')
    done = ran("doctor", tmp_path / "none.csv", broken, votes, *NAMED, "--json", code=1)
    assert [one["rows"] for one in json.loads(done.stdout)["files"]] == [{"votes": 14}]
    assert "does not exist" in done.stderr
    assert "broken.json" in done.stderr


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("judge,item,score\na,x,1\nb,x,NA\n", [], "v.csv:3: score 'NA' is no number"),
        ("judge,item,score\na,x,1\nTotal,,1\n", [], "v.csv:3: item is empty"),
        ("judge,item,score\na,x,1\nb,x,2\n", ["--people", "zoe"], "'zoe' is no judge of the table"),
        ("judge,item,label\na,x,p\nb,x,q\n", ["--levels", "p,r"], "'q'"),
        ("judge,item,label\na,x,yes\nb,x,NA\n", [], "'NA', which stands for a missing value"),
    ],
)
def test_doctor_says_what_every_verb_would_refuse(tmp_path: Path, text: str, options: list[str], said: str) -> None:
    path = tmp_path / "v.csv"
    path.write_text(text)
    done = ran("doctor", path, *options, code=1)
    assert said in done.output
    assert "ready for" not in done.output
    assert "type: voirdire fit" not in done.output


@pytest.mark.parametrize(
    ("text", "options", "roles", "verb"),
    [
        ("id,judge_ok,x\n1,a,b\n", ["--wide", "judge"], ["item", "a judge", "a judge"], "fit"),
        ("id,judge_label,human_label\n1,x,y\n2,y,y\n", [], ["item", "a judge", "a judge"], "fit"),
        ("judge,item1,item2,best,worst\na,x,y,x,y\n", [], ["judge", *["rankings"] * 4], "fit"),
        ("item,no,yes\ni,2,1\n", ["--wide", "counts"], ["item", "a count", "a count"], "fit"),
        ("judge,item,label\na,x,p\nb,x,p\n", [], ["judge", "item", "label"], "agree"),
        ("judge,item,score\na,x,1\nb,x,2\na,y,2\nb,y,1\n", ["--people", "a"], ["judge", "item", "score"], "fit"),
        (
            "judge,item,score,criterion\na,x,1,c\na,y,2,c\na,x,3,d\nb,x,3,d\nb,x,2,c\n",
            [],
            ["judge", "item", "score", "criterion"],
            "fit",
        ),
    ],
)
def test_doctor_says_what_each_column_is_and_a_verb_that_works(
    tmp_path: Path, text: str, options: list[str], roles: list[str], verb: str
) -> None:
    path = tmp_path / "v.csv"
    path.write_text(text)
    (found,) = json.loads(ran("doctor", path, *options, "--json").stdout)["files"]
    assert [one["read_as"] for one in found["columns"]] == roles
    assert len(set(found["stands_out"])) == len(found["stands_out"])
    assert ("replace" in found["lacks"]) == ("--people" not in options)
    program, *arguments = shlex.split(found["command"])
    assert (program, arguments[0]) == ("voirdire", verb)
    ran(*arguments, *(["--method", "map"] if verb == "fit" else []))


def test_one_file_is_not_the_answers_of_judges_and_of_people(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text("judge,item,score\na,x,1\nb,x,2\n")
    assert "as judges' answers and as people's" in ran("fit", path, "--anchors", path, code=1).output


def test_a_colon_may_be_part_of_the_name_of_a_judge(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text("item,score\nx,1\ny,2\n")
    ran("import", path, "--set", "judge=llama3.1:8b", "--out", tmp_path / "out")
    assert "llama3.1:8b,x,1" in (tmp_path / "out" / "scores.csv").read_text()
    assert "none of the files v.csv" in ran("doctor", path, "--set", "judge=w.csv:ann", code=1).output


def test_questions_to_predict_take_a_mapping_without_a_column_of_answers(votes: Path, tmp_path: Path) -> None:
    ran("fit", votes, *NAMED, "--model", "bradley-terry", "--out", tmp_path / "run")
    plain, mapped = tmp_path / "plain.csv", tmp_path / "mapped.csv"
    plain.write_text("judge,first,second\ng0,x,y\n")
    mapped.write_text("who,one,other\ng0,x,y\n")
    wanted = ran("predict", tmp_path / "run", plain, "--json").stdout
    mapping = "judge=who,first=one,second=other"
    assert ran("predict", tmp_path / "run", mapped, "--map", mapping, "--json").stdout == wanted
    wrong = ran("predict", tmp_path / "run", mapped, "--map", "judge=whoo,first=on,second=other", code=1)
    said = " ".join(wrong.stderr.split())
    assert "there is no column 'whoo' (--map); did you mean 'who'?" in said
    assert "there is no column 'on' (--map); did you mean 'one'?" in said
    mapped.write_text("judge,who,one,other\nnobody,g0,x,y\n")
    hidden = ran("predict", tmp_path / "run", mapped, "--map", mapping, "--json")
    assert hidden.stdout == wanted
    plain.write_text("judge,first,second,topic\ng0,x,y,art\ng0,y,x,law\n")
    assert ran("predict", tmp_path / "run", plain, "--leave-out", "topic", "--json", code=0).stdout != wanted
    some = ran("predict", tmp_path / "run", plain, "--where", "topic=art", "--json").stdout
    found, plain_rows = json.loads(some)["rows"], json.loads(wanted)["rows"]
    assert found == [plain_rows[0] | {"context": "art"}]  # a topic is a context
    said = " ".join(ran("predict", tmp_path / "run", plain, "--where", "topic=tax", code=1).stderr.split())
    assert "no row has topic=tax (--where)" in said
    said = " ".join(ran("predict", tmp_path / "run", plain, "--where", "topi=art", code=1).stderr.split())
    assert "there is no column 'topi' (--where); did you mean 'topic'?" in said
    assert "column 'judge' is left out, as 'who' is judge" in " ".join(hidden.stderr.split())


def test_a_question_that_is_no_row_of_cells_is_named(votes: Path, tmp_path: Path) -> None:
    ran("fit", votes, *NAMED, "--model", "bradley-terry", "--out", tmp_path / "run")
    mapped = tmp_path / "q.jsonl"
    mapped.write_text('{"who": "g0", "one": "x", "other": "y"}\n[1, 2]\n')
    wrong = ran("predict", tmp_path / "run", mapped, "--map", "judge=who,first=one,second=other", code=1)
    assert "q.jsonl:2: it is no row of named cells" in " ".join(wrong.stderr.split())


@pytest.mark.parametrize(
    ("word", "hint"),
    [("rank", "did you mean 'board'?"), ("bord", "did you mean 'board'?"), ("qqq", "there are demo, datasets,")],
)
def test_a_word_that_is_no_verb_is_told_which_is_meant(word: str, hint: str) -> None:
    said = " ".join(ran(word, code=2).stderr.replace("│", " ").split())
    assert hint in said


@pytest.fixture
def categories(tmp_path: Path) -> Path:
    """Scores of items of two categories, which stand in a column criterion."""
    path = tmp_path / "scores.csv"
    cells = [(judge, prompt, system) for judge in range(2) for prompt in range(6) for system in range(3)]
    rows = [
        f"{judge},p{prompt},{system},{'maths' if prompt < 3 else 'poems'},{(prompt + system + judge) % 5 + 1}"
        for judge, prompt, system in cells
    ]
    path.write_text("\n".join(["judge,context,system,criterion,score", *rows, ""]))
    return path


def test_a_column_is_left_out_and_a_note_says_so(categories: Path, tmp_path: Path) -> None:
    refused = ran("fit", categories, "--method", "map", code=1)
    assert "leave it out (--leave-out criterion" in " ".join(refused.stderr.split())
    typed = json.loads(ran("doctor", categories, "--json").stdout)["files"][0]
    assert typed["command"] == f"voirdire fit {categories} --leave-out criterion"
    found = json.loads(ran(*shlex.split(typed["command"])[1:], "--method", "map", "--json").stdout)
    assert len(found["items"]) == 18
    assert f"{categories.name}: left out, as --leave-out says: 'criterion'." in found["notes"]
    ready = json.loads(ran("doctor", categories, "--leave-out", "criterion", "--json").stdout)["files"][0]
    assert "fit" not in ready["lacks"]
    assert [one["name"] for one in ready["columns"]] == ["judge", "context", "system", "score"]
    renamed = tmp_path / "renamed.csv"
    renamed.write_text(categories.read_text().replace("criterion", "aspect").replace("judge", "rater"))
    typed = json.loads(ran("doctor", renamed, "--json").stdout)["files"][0]
    assert typed["command"] == f"voirdire fit {renamed} --leave-out aspect"


def test_a_column_that_is_left_out_is_one_of_the_table_and_named_once(categories: Path) -> None:
    wrong = ran("fit", categories, "--leave-out", "citerion,system", code=1)
    assert "there is no column 'citerion' to leave out; did you mean 'criterion'?" in wrong.stderr
    both = ran("fit", categories, "--leave-out", "judge", "--map", "judge=judge", code=1)
    assert "column 'judge' is named by map and by leave_out" in both.stderr


def test_columns_are_left_out_of_any_layout_and_of_people_who_have_them(categories: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(categories)
    expected = frame.drop(columns="criterion")
    for name, write in (
        ("a.parquet", frame.to_parquet),
        ("a.jsonl", lambda path: frame.to_json(path, orient="records", lines=True)),
        ("a.json", lambda path: frame.to_json(path, orient="records")),
    ):
        write(tmp_path / name)
        read: Any = voirdire.read(tmp_path / name, leave_out=["criterion"])
        assert "criterion" not in read.scores
        assert read.scores["score"].tolist() == expected["score"].tolist()
    of_frame: Any = voirdire.read(frame, leave_out="criterion")
    assert "criterion" not in of_frame.scores
    people = tmp_path / "people.csv"
    frame.query("judge == 0").assign(judge="ann").to_csv(people, index=False)
    done = ran("metaeval", categories, "--humans", people, "--leave-out", "criterion", "--resamples", "99", "--json")
    assert {row["criterion"] for row in json.loads(done.stdout)["rows"]} == {None}


def test_columns_are_kept_out_by_the_file_beside_a_table(categories: Path) -> None:
    ran("doctor", categories, "--leave-out", "criterion", "--keep")
    assert (categories.parent / "scores.csv.reading.toml").read_text() == 'leave_out = ["criterion"]\n'
    assert json.loads(ran("fit", categories, "--method", "map", "--json").stdout)["items"]


@pytest.mark.parametrize("about", [("item",), ("context", "system")])
def test_doctor_says_that_a_table_has_answers_of_both_kinds(about: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "both.csv"
    cells = [f"{judge},{','.join(f'{name[0]}{item}' for name in about)}" for judge in "ab" for item in range(6)]
    rows = [f"{cell},{at % 5},{'good' if at % 2 else 'bad'}" for at, cell in enumerate(cells)]
    path.write_text("\n".join([f"judge,{','.join(about)},score,label", *rows, ""]))
    (found,) = json.loads(ran("doctor", path, "--json").stdout)["files"]
    assert found["rows"] == {"scores": 12, "labels": 12}
    assert "--table scores or --table labels" in " ".join(found["stands_out"])
    assert {"fit", "agree", "board", "metaeval", "replace"} == found["lacks"].keys()
    assert found["command"] == f"voirdire fit {path} --table scores"
    for kind in ("scores", "labels"):
        fitted = json.loads(ran("fit", path, "--table", kind, "--method", "map", "--json").stdout)
        assert fitted["model"].startswith("rating" if kind == "scores" else "hierarchical-dawid-skene")
        (alone,) = json.loads(ran("doctor", path, "--table", kind, "--json").stdout)["files"]
        assert "fit" not in alone["lacks"]
    refused = ran("fit", path, "--method", "map", code=1)
    assert "--table scores or --table labels" in " ".join(refused.stderr.split())


def test_numbers_beside_answers_are_no_criteria(tmp_path: Path) -> None:
    path = tmp_path / "lengths.csv"
    rows = [f"m{at % 3},{at // 3},{100 + at},{200 + at},{1 + at % 2}" for at in range(12)]
    path.write_text("\n".join(["model,instruction,baseline_length,length,preference", *rows, ""]))
    done = ran("doctor", path, "--json", code=1)
    (found,) = json.loads(done.stdout)["files"]
    assert found["command"] == f"voirdire fit {path} --map score=preference --set judge=NAME"
    typed = shlex.split(found["command"].replace("NAME", "gpt"))[1:]
    assert len(json.loads(ran(*typed, "--method", "map", "--json").stdout)["items"]) == 12
    path.write_text(
        path.read_text()
        .replace("preference", "helpfulness,clarity")
        .replace("\n", ",3\n")
        .replace("clarity,3", "clarity")
    )
    (found,) = json.loads(ran("doctor", path, "--json", code=1).stdout)["files"]
    assert found["command"] == f"voirdire fit {path} --wide criterion --columns helpfulness,clarity"


def test_rows_are_chosen_of_peoples_answers_too_by_what_was_asked(tmp_path: Path) -> None:
    both = [(item, criterion) for item in "pqrs" for criterion in ("clear", "true")]
    scores = tmp_path / "s.csv"
    rows = [f"{judge},{item},{c},{1 + (ord(item) + len(c)) % 5}" for judge in "ab" for item, c in both]
    scores.write_text("\n".join(["judge,item,criterion,score", *rows]))
    people = tmp_path / "p.csv"
    people.write_text("\n".join(["item,criterion,score", *(f"{item},{c},3" for item, c in both)]))
    done = ran("fit", scores, "--anchors", people, "--where", "criterion=clear", "--method", "map", "--json")
    assert json.loads(done.stdout)["model"]
    ran("fit", scores, "--anchors", people, "--where", "judge=a", "--method", "map")  # of people all are taken
    people.write_text("\n".join(["judge,item,criterion,score", *(f"ann,{item},{c},3" for item, c in both)]))
    ran("fit", scores, "--anchors", people, "--where", "judge=a", "--method", "map")
    none = ran("fit", scores, "--anchors", people, "--where", "criterion=kind", code=1)
    assert "no row has criterion=kind" in " ".join(none.stderr.split())
