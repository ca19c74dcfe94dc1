"""Words about tables with one judge, one answer or one criterion."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.tables.numbers import count_in_words

ONE_VOTE = pd.DataFrame({"judge": ["gpt"], "first": ["x"], "second": ["y"], "winner": ["x"]})
ONE_RANKING = pd.DataFrame({"judge": "gpt", "item": ["x", "y", "z"], "rank": [1, 2, 3]})
SCORES = pd.DataFrame({"judge": "gpt", "item": [f"i{k}" for k in range(9)], "score": [1, 5, 3, 2, 4, 3, 2, 5, 1]})
WRONG = re.compile(r"\b1 (votes|judges|rankings|labels|items)\b|under some criterion|and 0 more|dividing the judges")


@pytest.mark.parametrize("table", [ONE_VOTE, ONE_RANKING, SCORES])
def test_one_is_said_in_the_singular_and_no_criteria_are_named_where_there_are_none(
    table: pd.DataFrame, tmp_path: Path
) -> None:
    table.to_csv(tmp_path / "table.csv", index=False)
    for verb in ("doctor", "fit", "board"):
        shown = CliRunner().invoke(app, [verb, str(tmp_path / "table.csv")], catch_exceptions=False)
        words = " ".join((shown.stdout + shown.stderr).split())
        assert WRONG.search(words) is None, WRONG.search(words)
        if verb == "fit":
            assert ", 1 judge; " in words


def test_under_which_of_several_criteria_is_said_and_how_many_more() -> None:
    rows = [
        ("a", criterion, *pair, pair[0])
        for criterion in ("one", "two")
        for pair in (("x", "y"), ("v", "w"))
        for _ in range(3)
    ]
    table = pd.DataFrame(rows, columns=["judge", "criterion", "first", "second", "winner"])
    checks = voirdire.fit(table, method="map").checks().set_index("check")["message"]
    assert "groups under criterion 'one' (and 1 more criterion), e.g." in checks["connectivity"]
    assert "(under some criterion)" in checks["separation"]
    part = table[(table["criterion"] == "one") | (table["first"] == "x")]
    extra = pd.DataFrame([("a", "two", "y", "v", "y"), ("a", "two", "v", "w", "v")], columns=table.columns)
    checks = voirdire.fit(pd.concat([part, extra]), method="map").checks().set_index("check")["message"]
    assert "groups under criterion 'one', e.g." in checks["connectivity"]


def test_nothing_divides_a_single_judge() -> None:
    rows = [(judge, "x", "y", "x") for judge in ("a", "b") for _ in range(5)]
    table = pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])
    alone = table[table["judge"] == "a"]
    named = [set(voirdire.fit(one, method="map").checks()["check"]) for one in (table, alone)]
    assert ["judge-item-interaction" in checks for checks in named] == [True, False]


@pytest.mark.parametrize(
    ("number", "things", "said"),
    [
        (1, "more judges", "1 more judge"),
        (1, "more contexts, asked as much (20 votes each)", "1 more context, asked as much (20 votes each)"),
        (1, "more answers of people about the two", "1 more answer of people about the two"),
        (0, "judges", "0 judges"),
        (12000, "votes", "12,000 votes"),
    ],
)
def test_counts_in_words(number: int, things: str, said: str) -> None:
    assert count_in_words(number, things) == said
