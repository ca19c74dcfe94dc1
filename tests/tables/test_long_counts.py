"""Counts of labels in rows: an item, a label and how often it was given are that many answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

import voirdire
from voirdire import InputError
from voirdire.cli import app

COUNTS = pd.DataFrame({"item": list("xxyy"), "label": ["yes", "no"] * 2, "count": [3, 1, 0, 4]})
SAID = ["yes"] * 3 + ["no"] + ["no"] * 4


@pytest.mark.parametrize("name", ["count", "n", "votes", "Frequency"])
def test_counts_are_that_many_answers(tmp_path: Path, name: str) -> None:
    table = COUNTS.rename(columns={"count": name})
    table.to_csv(tmp_path / "counts.csv", index=False)
    for given in (tmp_path / "counts.csv", table):
        found = voirdire.read(given)
        assert found.table["label"].tolist() == SAID
        for _, answers in found.table.groupby("item"):
            assert sorted(answers["judge"]) == [f"rater {k}" for k in (1, 2, 3, 4)]
        assert any("counts answers" in note for note in found.notes)


@pytest.fixture(scope="module")
def crowd() -> pd.DataFrame:
    """Three hundred items of which five alike raters said one of three labels, right in 60%; a row an item."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 300)
    wrong = (truth[:, None] + rng.integers(1, 3, (300, 5))) % 3
    said = np.where(rng.random((300, 5)) < 0.6, truth[:, None], wrong)
    counts = pd.DataFrame([np.bincount(row, minlength=3) for row in said], columns=list("abc"))
    counts.insert(0, "item", [f"i{k}" for k in range(300)])
    return counts


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["columns", "rows"])
def test_raters_whom_nobody_named_look_alike(crowd: pd.DataFrame, layout: str) -> None:
    if layout == "columns":
        found = voirdire.read(crowd, wide="counts").table
        other = voirdire.read(crowd[["item", "c", "a", "b"]], wide="counts").table
    else:
        rows = crowd.melt("item", var_name="label", value_name="count")
        found, other = voirdire.read(rows).table, voirdire.read(rows.iloc[::-1]).table
    order = ["item", "judge"]
    pd.testing.assert_frame_equal(
        found.sort_values(order, ignore_index=True), other.sort_values(order, ignore_index=True)
    )
    said = pd.crosstab(found["judge"], found["label"])
    assert said.shape == (5, 3)
    assert stats.chi2_contingency(said).pvalue > 0.01
    accuracy = voirdire.fit(found, method="laplace").judges()["reliability"]
    assert accuracy.max() - accuracy.min() < 0.1


def test_one_command_without_options(tmp_path: Path) -> None:
    COUNTS.to_csv(tmp_path / "counts.csv", index=False)
    result = CliRunner().invoke(app, ["agree", str(tmp_path / "counts.csv"), "--measures", "fleiss_kappa", "--json"])
    assert result.exit_code == 0
    expected = voirdire.agreement.agreement(voirdire.read(COUNTS, wide=None).table, measures="fleiss_kappa", seed=0)
    assert json.loads(result.stdout)["rows"][0]["value"] == pytest.approx(expected["value"].iloc[0])


@pytest.mark.parametrize("count", ["2.5", "-1", "some", ""])
def test_what_is_no_count_is_refused_with_its_place(tmp_path: Path, count: str) -> None:
    file = tmp_path / "counts.csv"
    file.write_text(f"item,label,count\nx,yes,1\nx,no,{count}\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"counts.csv:3.*count ('{count}' is no count of answers|is empty)"):
        voirdire.fit(str(file), method="map")


def test_counts_are_not_those_of_one_judge(tmp_path: Path) -> None:
    file = tmp_path / "counts.csv"
    COUNTS.to_csv(file, index=False)
    with pytest.raises(InputError, match="column 'count' counts the answers of several: leave --set judge out"):
        voirdire.read(file, set={"judge": "panel"})


def test_a_judge_is_no_count() -> None:
    with pytest.raises(InputError, match=r"column 'judge' is missing; .* \(--map judge=COLUMN; --set"):
        voirdire.fit(pd.DataFrame({"item": ["x"], "score": [1], "count": [2]}))


@pytest.mark.parametrize("first", [0, 1])
def test_numbers_of_rows_are_no_counts(first: int) -> None:
    table = pd.DataFrame({"item": list("xyz"), "label": ["yes", "no", "yes"], "n": range(first, first + 3)})
    with pytest.raises(InputError, match="column 'n' numbers the rows, so that it counts no answers"):
        voirdire.read(table)


@pytest.mark.parametrize("wide", [None, "counts"])
def test_more_answers_than_can_be_rows_are_refused_before_they_are(wide: str | None) -> None:
    table = COUNTS.assign(count=[3, 1, 10**12, 4])
    if wide:
        table = table.pivot(index="item", columns="label", values="count").reset_index()
    with pytest.raises(InputError, match="counts more than 1,000,000 answers, each of which would be a row"):
        voirdire.read(table, wide=wide)


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "idx", "n", "q"])
def test_the_first_column_of_counts_may_number_the_rows(tmp_path: Path, name: str) -> None:
    numbers = [101, 7, 30] if name == "q" else range(1, 4)
    rows = [f"{n},{neg},{pos}" for n, neg, pos in zip(numbers, [3, 0, 1], [2, 5, 4], strict=True)]
    path = tmp_path / "counts.csv"
    path.write_text("\n".join([f"{name},neg,pos", *rows]) + "\n")
    found = voirdire.read(path, wide="counts")
    assert set(found.labels["label"]) == {"neg", "pos"}
    assert found.labels["item"].astype(str).unique().tolist() == [str(n) for n in numbers]
    assert f"items are named by the column {name!r}" in " ".join(found.notes)


def test_a_first_column_of_counts_that_number_the_rows_by_chance_is_a_label(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_text("a,b,c\n1,2,2\n2,3,0\n3,1,1\n")  # five answers a row with it
    assert set(voirdire.read(path, wide="counts").labels["label"]) == {"a", "b", "c"}


@pytest.mark.parametrize(("wide", "column"), [("criterion", "criterion"), ("judge", "judge"), ("counts", "label")])
@pytest.mark.parametrize("name", ["", "Unnamed: 0", "index"])
def test_an_index_that_was_written_holds_no_answers(tmp_path: Path, wide: Any, column: str, name: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"{name},item,one,other\n0,x,3,2\n1,y,0,5\n")
    found = voirdire.read(path, wide=wide)
    table = found.scores if found.labels is None else found.labels
    assert set(table[column]) == {"one", "other"}
    assert set(table["item"]) == {"x", "y"}
