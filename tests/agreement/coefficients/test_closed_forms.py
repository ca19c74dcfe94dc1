"""Intervals in closed form beside those by resampling: kappa of two, intraclass correlations, what has none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.errors import InputError

# Shrout and Fleiss (1979), table 2: six targets, four judges
SHROUT = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def long(matrix: object, column: str = "score") -> pd.DataFrame:
    rows = [(f"j{j}", i, one) for i, row in enumerate(matrix) for j, one in enumerate(row)]  # type: ignore[arg-type, var-annotated]
    return pd.DataFrame(rows, columns=["judge", "item", column])


def of(table: pd.DataFrame, measure: str, **how: object) -> pd.Series:
    settings = {"interval": "analytic", "prob": 0.95, "pairs": False} | how
    return voirdire.agreement(table, measures=measure, **settings).iloc[0]


@pytest.mark.parametrize(("name", "weights"), [("", None), ("_linear", "linear"), ("_quadratic", "quadratic")])
@pytest.mark.parametrize("seed", range(3))
def test_of_cohens_kappa_it_is_that_of_fleiss_cohen_and_everitt(seed: int, name: str, weights: str | None) -> None:
    rng = np.random.default_rng(seed)
    first = rng.integers(1, 5, 60)
    second = np.where(rng.random(60) < 0.6, first, rng.integers(1, 5, 60))
    counts = np.zeros((4, 4))
    np.add.at(counts, (first - 1, second - 1), 1)
    theirs = cohens_kappa(counts, wt=weights)
    row = of(long(np.column_stack([first, second])), f"cohen_kappa{name}", pairs=True)
    assert row["value"] == pytest.approx(theirs.kappa)
    half = stats.norm.ppf(0.975) * theirs.std_kappa
    assert (row["low"], row["high"]) == (
        pytest.approx(row["value"] - half, abs=2e-6),
        pytest.approx(row["value"] + half, abs=2e-6),
    )


@pytest.mark.parametrize(
    ("form", "low", "high"),
    # pingouin 0.6.1 and psych: intraclass_corr of the same table, rounded to two digits
    [
        ("1_1", -0.13, 0.72),
        ("2_1", 0.02, 0.76),
        ("3_1", 0.34, 0.95),
        ("1_k", -0.88, 0.91),
        ("2_k", 0.07, 0.93),
        ("3_k", 0.68, 0.99),
    ],
)
def test_of_intraclass_correlations_they_are_shrouts_and_fleisss(form: str, low: float, high: float) -> None:
    row = of(long(SHROUT), f"icc_{form}")
    assert (round(row["low"], 2), round(row["high"], 2)) == (low, high)


def test_intervals_of_one_and_three_are_pivots_of_the_f_distribution() -> None:
    rng = np.random.default_rng(4)
    n, k = 20, 3
    scores = rng.normal(size=(n, 1)) + rng.normal(size=(n, k)) * 0.7
    centred = scores - scores.mean()
    rows = scores.mean(axis=1, keepdims=True)
    msr = k * np.sum((rows - scores.mean()) ** 2) / (n - 1)
    msw = np.sum((scores - rows) ** 2) / (n * (k - 1))
    mse = np.sum((centred - (rows - scores.mean()) - centred.mean(axis=0)) ** 2) / ((n - 1) * (k - 1))
    for form, ms, df in (("1_1", msw, n * (k - 1)), ("3_1", mse, (n - 1) * (k - 1))):
        low = msr / ms / stats.f.ppf(0.95, n - 1, df)
        high = msr / ms * stats.f.ppf(0.95, df, n - 1)
        row = of(long(scores), f"icc_{form}", prob=0.9)
        assert (row["low"], row["high"]) == pytest.approx(((low - 1) / (low + k - 1), (high - 1) / (high + k - 1)))


def test_the_mean_of_judges_without_variance_has_no_coefficient_and_no_wrong_end() -> None:
    """Of scores without any agreement ICC(2,k) would be 4, and its lower end above its upper one."""
    found = of(long([[3, 1], [2, 2], [2, 2], [1, 3]]), "icc_2_k")
    assert np.isnan(found[["value", "low", "high"]].astype(float)).all()
    assert found["note"] == "undefined: judges disagree so much that their means of the items show no variance"
    rng, ends = np.random.default_rng(0), []
    for _ in range(60):
        row = of(long(rng.integers(1, 4, (6, 3))), "icc_2_k")
        assert not row["value"] > 1
        assert not row["low"] > row["value"]
        assert not row["value"] > row["high"]
        ends.append(row["low"])
    assert 5 < np.isnan(ends).sum() < 55


@pytest.mark.slow
def test_intervals_cover_as_promised() -> None:
    rng, hits = np.random.default_rng(5), {"icc_2_1": 0, "fleiss_kappa": 0}
    for _ in range(200):
        scores = rng.normal(size=(30, 1)) + 0.5 * rng.normal(size=4) + rng.normal(size=(30, 4))
        row = of(long(scores), "icc_2_1", prob=0.9)
        hits["icc_2_1"] += row["low"] <= 1 / 2.25 <= row["high"]
        truth = rng.random((100, 1)) < 0.5
        said = np.where(rng.random((100, 4)) < 0.8, truth, ~truth)
        row = of(long(said.astype(int), "label"), "fleiss_kappa", prob=0.9)
        hits["fleiss_kappa"] += row["low"] <= 0.36 <= row["high"]  # (2 * .8 - 1)^2
    assert all(170 <= number <= 192 for number in hits.values()), hits


def test_where_there_is_none_a_note_says_so_and_where_it_is_not_offered_an_error(tmp_path: Path) -> None:
    table = long(SHROUT).assign(context=lambda t: t["item"] // 2)
    row = of(table, "icc_2_1", unit="context")
    assert np.isnan(row["low"])
    assert "F intervals take items as independent" in row["note"]
    assert of(table, "krippendorff_alpha_interval", unit="context")["low"] < 1
    with pytest.raises(InputError, match="analytic interval is not offered when judges are resampled"):
        of(table, "icc_2_1", unit="judge")
    with pytest.raises(InputError, match="interval 'analytic' is not offered here"):
        voirdire.metaeval(table.drop(columns="context"), "j0", interval="analytic")
    long(SHROUT).to_csv(tmp_path / "s.csv", index=False)
    words = ["agree", str(tmp_path / "s.csv"), "--measures", "icc_3_1", "--no-pairs", "--interval", "analytic"]
    done = CliRunner().invoke(app, [*words, "--json", "--prob", "0.95"])
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)["rows"]
    assert (round(row["low"], 2), round(row["high"], 2)) == (0.34, 0.95)
