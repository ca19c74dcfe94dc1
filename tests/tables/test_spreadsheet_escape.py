"""Names in forms for people: no formula, and the same name when they are read."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from voirdire.cli import app
from voirdire.kinds import read_anchors
from voirdire.tables import read_votes
from voirdire.tables.spreadsheet_escape import escape_formula_cell, unescape_names

NAMES = st.text(alphabet="=+-@\t'ab1.", max_size=6)


@given(st.sets(NAMES, min_size=1, max_size=6))
def test_a_guarded_name_is_no_formula_and_comes_back(names: set[str]) -> None:
    written = [escape_formula_cell(name, names) for name in names]
    for cell in written:
        if cell[:1] in ("=", "@", "\t") or cell[:1] in ("+", "-"):
            float(cell)  # a number is none
    assert len(set(written)) == len(names)
    assert unescape_names(written, names) == tuple(names)


def test_a_name_that_is_written_both_ways_stays_as_it_is() -> None:
    assert unescape_names(["'=a", "=a"], {"=a"}) == ("'=a", "=a")


def test_a_panel_with_both_names_is_read_back_exactly(tmp_path: Path) -> None:
    """`=a` and `'=a` are two items: the form has them as cells that neither is."""
    votes = pd.DataFrame([("j", a, b, a) for a, b in permutations(["=a", "'=a", "b"], 2)] * 3)
    votes = votes.set_axis(["judge", "first", "second", "winner"], axis=1)
    votes.to_csv(tmp_path / "votes.csv", index=False)
    form = tmp_path / "form.csv"
    command = ["next", str(tmp_path / "votes.csv"), "--model", "crowd-bt", "--count", "3", "--out", str(form)]
    assert CliRunner().invoke(app, command).exit_code == 0
    asked = pd.read_csv(form)
    assert {*asked["first"], *asked["second"]} == {"''=a", "'=a", "b"}
    answered = asked.assign(winner=asked["first"].where(asked["first"] != "b", asked["second"]))
    people = read_anchors(answered, read_votes(votes)).votes
    asked = asked.replace({"''=a": "=a"})
    pairs = {(people.items[a], people.items[b]) for a, b in zip(people.first, people.second, strict=True)}
    assert pairs == set(zip(asked["first"], asked["second"], strict=True))
