"""Studies of audits: what is planted, and how what is found is counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.errors import InputError
from voirdire_studies import load_study, run_study
from voirdire_studies.audit_panels import CLEAN, TABLES
from voirdire_studies.audits import aggregate

PROJECT = Path(__file__).resolve().parents[2]
SMALL = """
name = "small"
kind = "audits"
title = "t"
aim = "a"
source = "s"
seed = 5
replicates = 1
tables = ["labels"]
"""
NAMES = {"votes": "votes", "orders": "votes in both orders", "scores": "scores", "labels": "labels"}
EACH = [(table, planted) for table, (_, planted) in TABLES.items() for planted in planted]


def written(folder: Path, text: str) -> Path:
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return folder / "study.toml"


@pytest.mark.parametrize(("table", "planted"), EACH)
def test_a_panel_is_a_table_of_its_kind_and_the_same_for_a_seed(table: str, planted: str) -> None:
    one, again = (TABLES[table][0](planted, np.random.default_rng(3)) for _ in range(2))
    pd.testing.assert_frame_equal(one.table, again.table)
    assert voirdire.read(one.table).kinds == ["votes" if table == "orders" else table]
    assert set(one.table["judge"]) == {f"j{n}" for n in range(6)}


def test_votes_in_both_orders_are_asked_once_in_each_but_where_single_pairs_are_planted() -> None:
    for planted, times in (("noise", 1), ("swap", 2)):
        table = TABLES["orders"][0](planted, np.random.default_rng(1)).table
        count = table.groupby(["judge", "context", "first", "second"]).size()
        assert (count == times).all()
        turned = count.reset_index().rename(columns={"first": "second", "second": "first"})
        assert set(count.index) == set(turned.set_index(count.index.names).index)


def test_finds_and_silence_are_counted_by_table_and_bias(tmp_path: Path) -> None:
    study = load_study(written(tmp_path, SMALL))
    rows = [
        ("labels", "length", 0, True, 5, 5),
        ("labels", "length", 1, False, 5, 3),
        ("labels", "none", 0, False, 6, 6),
    ]
    found = aggregate(study, pd.DataFrame(rows, columns=["table", "planted", "replicate", "found", "clean", "silent"]))
    assert found[["planted", "measure", "n", "mean"]].to_numpy().tolist() == [
        ["length", "found", 2, 0.5],
        ["length", "clean judges silent", 2, 0.8],
        ["none", "clean judges silent", 1, 1.0],
    ]


@pytest.mark.slow
def test_a_small_study_runs(tmp_path: Path) -> None:
    found = run_study(written(tmp_path, SMALL)).replicates.set_index("planted")
    assert found["clean"].tolist() == [5, 5, 5, 5, 5, 5, 4, 6]
    assert (found["silent"] <= found["clean"]).all()
    assert found.loc[["severity", "flips", "noise", "copies"], "found"].all()
    assert not found.loc["none", "found"]


def test_a_table_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="tables: 'rankings' is none of votes, orders, scores, labels"):
        load_study(written(tmp_path, SMALL.replace('"labels"', '"rankings"')))


def test_the_page_on_audits_says_what_the_study_found() -> None:
    """Every share on the page is that of the results, and what is said of all of them holds."""
    found = pd.read_csv(PROJECT / "simulations" / "audits" / "results.csv", keep_default_na=False)
    shares = {(r["table"], r["planted"], r["measure"]): float(r["mean"]) for r in found.to_dict("records")}
    page = (PROJECT / "docs" / "audit.md").read_text(encoding="utf-8")
    for table in TABLES:
        (line,) = (one for one in page.splitlines() if one.startswith(f"| {NAMES[table]} |"))
        said = dict(part.rsplit(" ", 1) for part in line.split("|")[2].strip().split(", "))
        assert said == {
            planted: f"{100 * shares[table, planted, 'found']:.0f}" for planted in TABLES[table][1] if planted != CLEAN
        }
        silent = found[(found["table"] == table) & (found["measure"] == "clean judges silent")]["mean"].astype(float)
        assert line.split("|")[3].strip() == f"{100 * silent.mean():.1f}% ({100 * silent.min():.1f}%)"
    missed = {key[:2] for key, share in shares.items() if key[2] == "found" and share < 0.9}
    assert missed <= {("votes", "slide"), ("votes", "slide up"), ("labels", "own")}
