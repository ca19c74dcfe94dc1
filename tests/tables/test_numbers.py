"""One rule of what is a number, in every table and option."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from voirdire import InputError, fit, read
from voirdire.cli import app
from voirdire.tables import read_scores, read_votes
from voirdire.tables.further import with_covariates
from voirdire.tables.votes import VoteRows

NUMBERS = {"12": 12.0, "-0.5": -0.5, "1e-3": 0.001, "1E3": 1000.0, "+3": 3.0, ".5": 0.5, "007": 7.0}
OTHERS = [
    "1_0",
    " 5",
    "5 ",
    "0x10",
    "1,5",
    "inf",
    "1e400",
    "1e300",
    "9" * 400,
    "\uff15",
    "\u0661",
    "1e",
    "--1",
    "1 000",
]


@pytest.mark.parametrize("text", NUMBERS)
def test_plain_decimal_notation_is_a_number(tmp_path: Path, text: str) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(f"judge,item,score\na,x,{text}\n")
    assert read_scores(path).score.tolist() == [NUMBERS[text]]
    path.write_text(f"rater,item,score\na,x,{text}\n")
    assert read(path).table["score"].tolist() == [NUMBERS[text]]


def votes(**more: object) -> pd.DataFrame:
    return pd.DataFrame({"judge": "a", "first": ["x", "y"], "second": ["y", "z"], "winner": "first"} | more)


READERS: dict[str, Callable[[str], object]] = {
    "score": lambda text: read_scores(pd.DataFrame({"judge": ["a"], "item": "x", "score": text})),
    "degree": lambda text: read_votes(votes(degree=["0.7", text])),
    "time": lambda text: read_votes(votes(time=["1", text])),
    "covariate": lambda text: with_covariates(
        VoteRows(read_votes(votes())), pd.DataFrame({"item": ["x", "y", "z"], "length": ["1", "2", text]})
    ),
    "level": lambda text: fit(pd.DataFrame({"judge": "a", "item": ["x"], "score": [1]}), levels=[1, text]),
}


@pytest.mark.parametrize("text", OTHERS)
@pytest.mark.parametrize("reader", READERS)
def test_anything_else_is_refused_by_name(reader: str, text: str) -> None:
    with pytest.raises(InputError) as caught:
        READERS[reader](text)
    assert (repr(text)[:20] if text != "inf" else text) in str(caught.value)


@pytest.mark.parametrize("value", [10**400, 1e300, float("inf")], ids=["huge", "large", "infinite"])
def test_numbers_that_cannot_be_computed_with_are_refused(value: float) -> None:
    table = pd.DataFrame({"judge": ["a", "a"], "item": ["x", "y"], "score": pd.Series([1, value], dtype=object)})
    with pytest.raises(InputError, match="row 2: score"):
        read_scores(table)
    items = pd.DataFrame({"item": ["x", "y", "z"], "length": pd.Series([1, 2, value], dtype=object)})
    with pytest.raises(InputError, match="row 3: length"):
        with_covariates(VoteRows(read_votes(votes())), items)


def test_numbers_of_options(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    votes().to_csv(path, index=False)
    for verb, option in (
        (["fit", str(path), "--prior"], "reliability.a={}"),
        (["plan", "--items", "3", "--judge"], "a={}"),
        (["agree", str(path), "--gate"], "safe={}"),
    ):
        for text in ("1_0", "\uff15", "0x10"):
            done = CliRunner().invoke(app, [*verb, option.format(text)], env={"COLUMNS": "300"})
            assert done.exit_code != 0, option
            said = done.output + str(done.exception)
            assert f"'{option.format(text)}' is not" in said, said


@pytest.mark.parametrize("text", ["Infinity", "-Infinity", "1e999", '"a\\u0000"', '"\\ud800"'])
def test_names_that_no_table_can_hold_are_refused_by_both_doors(tmp_path: Path, text: str) -> None:
    path = tmp_path / "scores.json"
    path.write_text(f'[{{"judge": "a", "item": "x", "score": 1}}, {{"judge": "a", "item": {text}, "score": 2}}]')
    for door in (lambda: read(path).table, lambda: read_scores(path)):
        with pytest.raises(InputError, match=r"json\[1\]|row 2"):
            door()


def test_large_numbers_have_one_name(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    path.write_text('[{"judge": 1e20, "item": 2.0, "score": 1}]')
    assert read(path).table["judge"].tolist() == list(read_scores(path).judges) == ["1e+20"]
