"""A value from a single unit stands without an interval: resampling one unit gives nothing but itself."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.agreement import bootstrap, compare_judges, compare_metrics
from voirdire.agreement.engine.resample import UNITS
from voirdire.agreement.engine.statistic import CountStatistic
from voirdire.cli import app

SINGLE = "no interval: it rests on a single unit, and resampling takes two"


def labels(answers: dict[str, str]) -> pd.DataFrame:
    """One letter an item, a dot where a judge gave none."""
    rows = [(judge, n, one) for judge, given in answers.items() for n, one in enumerate(given) if one != "."]
    return pd.DataFrame(rows, columns=["judge", "item", "label"])


@pytest.mark.parametrize("interval", ["percentile", "basic", "bca", "studentised"])
@pytest.mark.parametrize(
    ("measure", "second", "value"),
    [
        ("agreement_rate", "x...", 1.0),
        ("agreement_rate", "y...", 0.0),
        ("krippendorff_alpha_nominal", "y...", 0.0),
        ("scott_pi", "y...", -1.0),
    ],
)
def test_the_value_of_one_unit_has_no_interval(measure: str, second: str, value: float, interval: str) -> None:
    table = labels({"a": "xyxy", "b": second})
    row = voirdire.agreement(table, measures=measure, interval=interval, resamples=50).iloc[0]
    assert (row["value"], row["n"], row["note"]) == (value, 1, SINGLE)
    assert np.isnan([row["low"], row["high"]]).all()


def test_two_units_have_one() -> None:
    row = voirdire.agreement(labels({"a": "xyxy", "b": "xx.."}), measures="agreement_rate").iloc[0]
    assert (row["value"], row["low"], row["high"], row["n"]) == (0.5, 0.0, 1.0, 2)


def test_a_panel_on_one_item_has_none_where_items_are_drawn() -> None:
    table = labels({"a": "x", "b": "x", "c": "y", "d": "x", "e": "y"})
    for unit, note in (("item", SINGLE), ("both", SINGLE)):
        row = voirdire.agreement(table, measures="fleiss_kappa", pairs=False, unit=unit).iloc[0]
        assert row["value"] == pytest.approx(-0.25)
        assert (row["n"], note in row["note"], np.isnan(row["low"])) == (1, True, True)
    # how the item would have been judged by others is another question
    assert voirdire.agreement(table, measures="agreement_rate", pairs=False, unit="judge")["low"].notna().all()


def test_one_context_has_none_where_contexts_are_drawn() -> None:
    table = labels({"a": "xyxyxx", "b": "xxxyyx"}).assign(context="c")
    row = voirdire.agreement(table, measures="agreement_rate", unit="context").iloc[0]
    assert row["value"] == pytest.approx(4 / 6)
    assert (row["n"], row["note"], np.isnan(row["low"])) == (6, SINGLE, True)
    assert voirdire.agreement(table, measures="agreement_rate", unit="item")["low"].notna().all()


def test_comparisons_on_one_unit_have_none() -> None:
    table = labels({"human": "x...", "a": "xyxy", "b": "yyxy"})
    row = compare_judges(table, "human", resamples=50, permutations=50).iloc[0]
    assert (row["difference"], row["n"], row["note"], np.isnan(row["low"])) == (1.0, 1, SINGLE, True)
    assert np.isnan(row["p_at_least"])


def test_one_context_of_scores_has_none() -> None:
    rows = [(j, "c", s, v) for j, given in (("human", (1, 2, 3)), ("m", (1, 3, 2)), ("k", (3, 1, 2)))
            for s, v in zip("xyz", given, strict=True)]  # fmt: skip
    table = pd.DataFrame(rows, columns=["judge", "context", "system", "score"])
    found = voirdire.metaeval(table, "human", level="context", unit="context", measures="spearman")
    assert sorted(found["value"]) == pytest.approx([-0.5, 0.5])
    assert found[["low", "high"]].isna().all(axis=None)
    assert found["note"].str.contains(SINGLE).all()
    found = compare_metrics(table, "human", level="context", unit="context", measure="spearman")
    assert found[["low", "high"]].isna().all(axis=None)


def test_the_engine_has_none_for_any_statistic() -> None:
    one = CountStatistic(np.array([[1.0, 3.0]]), lambda t: t[..., 1] / t[..., 0])
    found = bootstrap([one], resamples=20)[0]
    assert found.estimate == 3.0
    assert (found.interval.low, found.interval.high, found.interval.note) == (None, None, SINGLE)
    assert np.isnan(found.draws).all()
    assert UNITS == ("item", "context", "judge", "both")


def test_the_command_line_has_null(tmp_path: Path) -> None:
    labels({"a": "xyxy", "b": "x..."}).to_csv(tmp_path / "t.csv", index=False)
    words = ["agree", str(tmp_path / "t.csv"), "--measures", "agreement_rate", "--json"]
    rows = json.loads(CliRunner().invoke(app, words).stdout)["rows"]
    assert [(row["value"], row["low"], row["high"], row["n"], row["note"]) for row in rows] == [
        (1.0, None, None, 1, SINGLE)
    ]
    shown = CliRunner().invoke(app, words[:-1]).stdout
    assert "single unit" in shown
