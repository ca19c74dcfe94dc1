"""Wrong input to ``fit``: exit code 1, one clear message on stderr, no traceback, nothing written."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from voirdire import InputError, fit
from voirdire.cli import app

HEADER = "judge,first,second,winner"
GOOD = f"{HEADER}\nann,x,y,x\nbob,x,y,first\nann,y,z,y\nbob,z,x,x\n"

MODEL = """
name = "mine"
title = "Mine"
data = "votes"
criteria = "collapse"
equation = "P(first) = sigmoid(d)"
identifiability = "As Bradley-Terry."
source = "Here"
ties = "refuse"

[strength]
kind = "normal"
sd = 3.0

[reliability]
kind = "fixed"
"""


def listing(folder: Path) -> dict[str, bytes | None]:
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in folder.rglob("*")}


def refused(folder: Path, *arguments: str) -> str:
    """The message of ``voirdire fit --out``, which must exit with 1 and leave the folder as it was."""
    before = listing(folder)
    result = run("fit", *arguments, "--out", "out")
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("error:") == 1
    assert "Traceback" not in result.stderr
    assert listing(folder) == before
    return result.stderr.removeprefix("error: ").rstrip("\n")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False)


SECTIONS = "strength, reliability, ties, anchors"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("votes.csv").write_text(GOOD)
    return tmp_path


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "judge,first,second,pick\nann,x,y,x\n",
            "votes: column 'winner' is missing; the columns are 'judge', 'first', 'second', 'pick' (--map winner=pick)",
        ),
        (
            f"{HEADER}\nann,x,y,best\n",
            "votes: row 1: winner 'best' is neither 'first', 'second', 'tie' nor one of the two items 'x', 'y'",
        ),
        (
            f"{HEADER}\nann,x,y,x\nann,x,y,z\nann,y,z,y\n",
            "votes: row 2: winner 'z' is neither 'first', 'second', 'tie' nor one of the two items 'x', 'y'",
        ),
        (
            f"{HEADER}\nann,x,y,x\nann,x,x,x\n",
            "votes: row 2: first and second are both 'x'; a vote is about two different items",
        ),
        ("", "votes: file 'bad.csv' is empty"),
        (f"{HEADER}\n", "votes: there are no votes"),
        (f"{HEADER}\n,x,y,x\n", "votes: row 1: judge is empty"),
        (
            f"{HEADER}\nann,x,NaN,x\n",
            "votes: row 1: second is 'NaN', which stands for a missing value; fill it in, or rename it if it is a name",
        ),
        (b"\x00\x01\x02judge,first", "votes: file 'bad.csv' is not text: it has zero bytes"),
        (b"\x93\xfa\x96{,\xff", "votes: file 'bad.csv' is not UTF-8: line 1 has the byte 0x93; save it as UTF-8"),
    ],
)
def test_a_bad_table(folder: Path, content: str | bytes, message: str) -> None:
    Path("bad.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert refused(folder, "bad.csv") == message


def test_all_problems_of_a_table_are_named_at_once(folder: Path) -> None:
    Path("bad.csv").write_text(f"{HEADER}\n,x,y,x\nann,x,x,x\nann,x,y,none of both\n")
    first, *problems = refused(folder, "bad.csv").splitlines()
    assert first == "3 problems:"
    assert [re.sub(r":.*", "", line.strip().removeprefix("votes: ")) for line in problems] == [
        "row 1",
        "row 2",
        "row 3",
    ]


def test_a_folder_and_a_file_that_is_not_there(folder: Path) -> None:
    assert refused(folder, ".") == "votes: '.' is a folder; give a file"
    assert refused(folder, "nowhere.csv") == "votes: file 'nowhere.csv' does not exist"


def test_a_file_that_may_not_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = io.open

    def forbidden(file: Any, *how: Any, **more: Any) -> Any:
        if str(file).endswith("votes.csv"):
            raise PermissionError(13, "Permission denied")
        return opened(file, *how, **more)

    monkeypatch.setattr("builtins.open", forbidden)
    monkeypatch.setattr("io.open", forbidden)
    result = run("fit", "votes.csv")
    assert result.exit_code == 1
    assert result.stderr == "error: votes: file 'votes.csv' cannot be read: Permission denied\n"


def test_a_dataframe_with_nan() -> None:
    table = pd.DataFrame({"judge": ["ann", np.nan], "first": "x", "second": "y", "winner": ["x", "y"]})
    with pytest.raises(InputError, match=r"^votes: row 2: judge is empty$"):
        fit(table)


def test_an_unknown_model_suggests_the_nearest(folder: Path) -> None:
    message = refused(folder, "votes.csv", "--model", "crowdbt")
    assert message.startswith("unknown model 'crowdbt' (did you mean 'crowd-bt'?); known: bradley-terry, ")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("none.toml", "model file none.toml: cannot be read (No such file or directory)"),
        ("folder.toml", "model file folder.toml: cannot be read (Is a directory)"),
        (".", "model '.' is no model's name, and a model file's name ends in .toml"),
        ("votes.csv", "model 'votes.csv' is no model's name, and a model file's name ends in .toml"),
    ],
)
def test_a_model_file_that_is_none(folder: Path, model: str, message: str) -> None:
    Path("folder.toml").mkdir()
    assert refused(folder, "votes.csv", "--model", model) == message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("sd = 3.0", "sd = -3.0"), "[strength] sd must be positive, not -3.0"),
        (("sd = 3.0", "sd = 0"), "[strength] sd must be positive, not 0"),
        (("sd = 3.0", "sd = nan"), "[strength] sd must be a number, not nan"),
        (("sd = 3.0", f"sd = 1{'0' * 400}"), f"[strength] sd must be a number, not 1{'0' * 400}"),
        (("sd = 3.0", "sd = true"), "[strength] sd must be a number, not True"),
        (("sd = 3.0", 'sd = "3"'), "[strength] sd must be a number, not '3'"),
        (("sd = 3.0", ""), "[strength] needs 'sd', a positive number"),
        (("sd = 3.0", "sd = 3.0\nmean = 1"), "[strength] has no key 'mean'; normal takes sd"),
        (('source = "Here"', ""), "'source' is missing"),
        (('source = "Here"', 'source = "Here"\nsauce = "x"'), "unknown key 'sauce' (did you mean 'source'?)"),
        (('title = "Mine"', "title = 3"), "title must be text, not 3"),
        (('ties = "refuse"', ""), "'ties' is missing: a [ties] section, or ties = \"refuse\""),
        (('ties = "refuse"', 'ties = "allow"'), "[ties] needs a 'kind', one of davidson, davidson-by-judge"),
        (
            ('kind = "fixed"', 'kind = "two-coins"'),
            "[reliability] kind 'two-coins' is unknown (did you mean 'two-coin'?)",
        ),
        (('kind = "fixed"', 'kind = ["fixed"]'), "[reliability] kind ['fixed'] is unknown"),
        (
            ('ties = "refuse"', 'ties = "refuse"\nreduces_to = 3'),
            "each [[reduces_to]] needs exactly 'model' and 'when'",
        ),
        (('name = "mine"', 'name = "mine'), "not valid TOML ("),
    ],
)
def test_a_fault_in_a_model_file(folder: Path, change: tuple[str, str], message: str) -> None:
    assert MODEL.count(change[0]) == 1
    Path("mine.toml").write_text(MODEL.replace(*change))
    found = refused(folder, "votes.csv", "--model", "mine.toml")
    assert found.startswith(f"model file mine.toml: {message}")


def test_the_model_file_itself_is_in_order(folder: Path) -> None:
    Path("mine.toml").write_text(MODEL)
    assert run("fit", "votes.csv", "--model", "mine.toml").exit_code == 0


def test_ties_under_a_model_that_refuses_them(folder: Path) -> None:
    Path("mine.toml").write_text(MODEL)
    Path("votes.csv").write_text(f"{GOOD}ann,x,y,tie\nbob,x,z,tie\n")
    assert refused(folder, "votes.csv", "--model", "mine.toml") == (
        "votes: 2 ties, but model mine refuses ties; use a model with a [ties] section or ask the judges for a "
        "forced choice"
    )


@pytest.mark.parametrize("prob", ["1.2", "0", "1", "-0.5", "nan"])
def test_a_probability_outside_zero_and_one(folder: Path, prob: str) -> None:
    message = refused(folder, "votes.csv", "--prob", prob)
    assert message == f"prob {float(prob)} is not between 0 and 1; 0.9 gives 90% intervals"


def test_a_probability_that_the_draws_cannot_show(folder: Path) -> None:
    message = refused(folder, "votes.csv", "--prob", "0.999999")
    assert message == (
        "prob 0.999999: 4,000 draws are too few for its intervals; take a smaller one, or method='nuts' with "
        "2,000,000 draws in all at the least"
    )


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ("nonsense", "--prior 'nonsense' is not section.key=number; voirdire models MODEL lists those of a model"),
        (
            "reliability.a",
            "--prior 'reliability.a' is not section.key=number; voirdire models MODEL lists those of a model",
        ),
        ("a=8", "--prior 'a=8' is not section.key=number; voirdire models MODEL lists those of a model"),
        (
            "reliability.a=x",
            "--prior 'reliability.a=x' is not section.key=number; voirdire models MODEL lists those of a model",
        ),
        ("reliability.a=-1", "priors: reliability a must be positive, not -1.0"),
        (
            "reliability.a=inf",
            "--prior 'reliability.a=inf' is not section.key=number; voirdire models MODEL lists those of a model",
        ),
        ("reliability.c=1", "priors: reliability has no key 'c'; two-coin takes a, b, reversed"),
        ("reliability.reversed=0.5", "priors: reliability reversed must be from 0 to below 0.5, not 0.5"),
        ("weights.sd=1", f"priors: model crowd-bt-position has no section 'weights'; it has {SECTIONS}"),
        ("weight.sd=1", f"priors: model crowd-bt-position has no section 'weight'; it has {SECTIONS}"),
    ],
)
def test_a_prior_that_is_none(folder: Path, prior: str, message: str) -> None:
    assert refused(folder, "votes.csv", "--model", "crowd-bt-position", "--prior", prior) == message


def test_a_prior_given_twice(folder: Path) -> None:
    message = refused(folder, "votes.csv", "--prior", "reliability.a=3", "--prior", "reliability.a=4")
    assert message == "--prior reliability.a is given twice; give it once"


def test_priors_that_are_no_mapping() -> None:
    table = pd.DataFrame({"judge": ["ann"], "first": "x", "second": "y", "winner": "x"})
    with pytest.raises(InputError, match=r"^priors: reliability must map keys to numbers, not be 8$"):
        fit(table, priors={"reliability": 8})  # type: ignore[dict-item]


def test_votes_on_a_criterion_that_no_vote_has(folder: Path) -> None:
    rows = [f"ann,x,y,x,{criterion}" for criterion in ("clarity", "depth")]
    Path("votes.csv").write_text("\n".join([f"{HEADER},criterion", *rows]))
    Path("criteria.csv").write_text(f"{HEADER}\nann,clarity,deepth,clarity\n")
    assert refused(folder, "votes.csv", "--criteria", "criteria.csv") == (
        "votes on criteria name 'deepth', under which no vote on items was given; the criteria of the votes are "
        "'clarity', 'depth'"
    )


def test_votes_on_criteria_under_a_model_without_them(folder: Path) -> None:
    Path("criteria.csv").write_text(f"{HEADER}\nann,clarity,depth,clarity\n")
    message = refused(folder, "votes.csv", "--criteria", "criteria.csv", "--model", "crowd-bt")
    assert message == "votes on criteria were given, but model crowd-bt collapses criteria; use a maple model"


def test_problems_of_the_votes_on_criteria_say_so(folder: Path) -> None:
    Path("criteria.csv").write_text(f"{HEADER}\nann,clarity,clarity,clarity\n")
    message = refused(folder, "votes.csv", "--criteria", "criteria.csv")
    assert message.startswith("votes on criteria: row 1: first and second are both 'clarity'")


def test_several_faults_of_the_request_are_named_at_once(folder: Path) -> None:
    arguments = ("--method", "nuts", "--draws", "1", "--chains", "0", "--seed", "-1", "--prob", "2")
    assert refused(folder, "votes.csv", *arguments).splitlines() == [
        "4 problems:",
        "  seed -1 is no whole number from 0",
        "  draws 1 is too few; at least 4",
        "  chains 0 is too few; at least 1",
        "  prob 2.0 is not between 0 and 1; 0.9 gives 90% intervals",
    ]


@pytest.mark.parametrize("seed", [1.5, "1", None, True, -1])
def test_a_seed_that_is_no_whole_number_is_refused(folder: Path, seed: Any) -> None:
    with pytest.raises(InputError, match=f"^seed {seed!r} is no whole number from 0$"):
        fit("votes.csv", seed=seed)


@pytest.mark.parametrize("model", ["bradley-terry", "crowd-bt-position"])
def test_a_disconnected_graph_is_fitted_with_honest_intervals(model: str) -> None:
    """Between groups no vote speaks: the difference of their means keeps exactly the prior's spread."""
    pairs = [("x", "y"), ("v", "w")]
    rows = [(judge, *pair, "first" if n else "second") for judge in "abc" for pair in pairs for n in range(4)]
    result = fit(pd.DataFrame(rows, columns=["judge", "first", "second", "winner"]), model=model)

    (check,) = (row for row in result.as_dict()["checks"] if row["check"] == "connectivity")
    assert (check["level"], check["value"]) == ("warn", 2.0)
    assert "falls into 2 groups, e.g. v, w against the rest: no vote links them" in check["message"]

    assert result.posterior.values is not None
    draws = dict(zip(result.problem.items, result.posterior.values["strength"][:, 0].T, strict=True))
    between = (draws["x"] + draws["y"] - draws["v"] - draws["w"]) / 2
    prior_sd = result.model.strength.numbers["sd"]
    effective = len(between) / 2  # resampled draws, of which at least half are effective
    standard_error = prior_sd / np.sqrt(2 * effective)
    assert abs(between.std() - prior_sd) < 4 * standard_error
    # each item's score has at least its group's half of that
    width = result.ranking().eval("high - low").to_numpy()
    assert (width > 2 * 1.645 * (prior_sd / 2) * (1 - 4 / np.sqrt(2 * effective))).all()


def test_an_output_folder_that_is_not_empty(folder: Path) -> None:
    Path("out").mkdir()
    Path("out", "mine.txt").write_text("keep")
    message = refused(folder, "votes.csv")
    assert message == "output folder out: is not empty; name another or pass --overwrite (overwrite=True)"
    assert refused(folder, "votes.csv", "--overwrite") == (
        "output folder out: holds 'mine.txt', which is no part of a saved fit; name another folder"
    )


def test_the_output_folder_is_looked_at_before_the_table(folder: Path) -> None:
    Path("out").write_text("a file")
    assert refused(folder, "nowhere.csv") == "output folder out: is a file; name a folder"


def test_an_output_folder_that_cannot_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # the administrator, as whom tests may run, may write anywhere: so the system's answer is given here
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    message = refused(folder, "votes.csv")
    assert message == f"output folder out: cannot be written, {folder} is not yours to write; name another"
