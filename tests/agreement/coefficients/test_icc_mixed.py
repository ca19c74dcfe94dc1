"""Intraclass correlations by the mixed model, against ANOVA and statsmodels, and Kendall's W of scores."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import voirdire
from voirdire.agreement.coefficients.icc import intraclass_correlation, mixed_intraclass_correlation
from voirdire.agreement.coefficients.ratings import ratings_from_matrix
from voirdire.errors import InputError

FORMS = ("1_1", "2_1", "3_1", "1_k", "2_k", "3_k")
SHROUT = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def scores(rng: np.random.Generator, n: int, k: int, missing: float = 0.0) -> np.ndarray:
    x = 3 + rng.normal(size=(n, 1)) + 0.7 * rng.normal(size=k) + 0.8 * rng.normal(size=(n, k))
    return np.where(rng.random((n, k)) < missing, np.nan, x)


def long(x: np.ndarray) -> pd.DataFrame:
    rows = [(f"j{j}", i, x[i, j]) for i in range(len(x)) for j in range(x.shape[1]) if not np.isnan(x[i, j])]
    return pd.DataFrame(rows, columns=["judge", "item", "score"])


def value(x: object, form: str) -> float:
    statistic = mixed_intraclass_correlation(ratings_from_matrix(x), form)  # type: ignore[arg-type]
    return float(statistic.values(np.ones((1, len(x))))[0])  # type: ignore[arg-type]


@pytest.mark.parametrize("form", FORMS)
def test_where_nothing_is_missing_it_is_that_of_mean_squares(form: str) -> None:
    for x in (scores(np.random.default_rng(0), 25, 3).tolist(), SHROUT):
        plain = intraclass_correlation(ratings_from_matrix(x), form).fixed()  # type: ignore[arg-type]
        assert value(x, form) == pytest.approx(plain.values(np.ones((1, len(x))))[0], abs=2e-5)


@pytest.mark.parametrize("seed", range(3))
def test_with_scores_missing_it_is_statsmodels_reml(seed: int) -> None:
    from statsmodels.regression.mixed_linear_model import MixedLM

    x = scores(np.random.default_rng(seed), 30, 4, missing=0.3)
    table = long(x).assign(all=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        crossed = MixedLM.from_formula(
            "score ~ 1",
            table,
            groups="all",
            re_formula="0",
            vc_formula={"item": "0 + C(item)", "judge": "0 + C(judge)"},
        ).fit()
        fixed = MixedLM.from_formula("score ~ C(judge)", table, groups="item").fit()
        one_way = MixedLM.from_formula("score ~ 1", table, groups="item").fit()
    item, judge = crossed.vcomp
    assert value(x.tolist(), "2_1") == pytest.approx(item / (item + judge + crossed.scale), abs=1e-3)
    for form, of in (("3_1", fixed), ("1_1", one_way)):
        item = float(of.cov_re.iloc[0, 0])
        assert value(x.tolist(), form) == pytest.approx(item / (item + of.scale), abs=1e-3)
        assert value(x.tolist(), f"{form[0]}_k") == pytest.approx(item / (item + of.scale / 4), abs=1e-3)


@pytest.mark.slow
def test_scores_that_others_lack_still_count_and_intervals_cover() -> None:
    rng, hits, errors = np.random.default_rng(5), 0, []
    for _ in range(40):
        x = rng.normal(size=(60, 1)) + rng.normal(size=(60, 3))
        x[rng.random(x.shape) < 0.4] = np.nan
        found = voirdire.agreement(
            long(x), measures=["icc_3_1", "icc_3_1_mixed"], pairs=False, resamples=200, prob=0.9
        ).set_index("measure")
        mixed = found.loc["icc_3_1_mixed"]
        assert mixed["n"] == (~np.isnan(x)).any(axis=1).sum() > found.loc["icc_3_1", "n"]
        hits += mixed["low"] <= 0.5 <= mixed["high"]
        errors.append([found.loc["icc_3_1", "value"] - 0.5, mixed["value"] - 0.5])
    plain, used = np.sqrt(np.mean(np.square(errors), axis=0))
    assert used < 0.75 * plain
    assert 30 <= hits <= 40


def test_edges() -> None:
    assert value([[1, 1], [2, 2], [4, 4], [5, None]], "2_1") == pytest.approx(1, abs=1e-5)
    shifted = [[1, 2], [2, 3], [4, 5], [7, 8]]
    assert (np.isnan(value(shifted, "2_1")), value(shifted, "3_1")) == (True, pytest.approx(1, abs=1e-5))
    assert value([[1, 4], [4, 1], [1, 4], [4, 1]], "3_1") == 0
    assert np.isnan(value([[1, None], [None, 2], [3, None]], "1_1"))  # nobody scored the same item
    assert np.isnan(value([[3, 3], [3, 3]], "1_1"))
    apart = long(np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, np.nan]]))
    row = voirdire.agreement(apart, measures="icc_2_1_mixed", resamples=20).iloc[0]
    assert "no item was answered by both" in row["note"]
    # units that one judge alone scored count, and one item at least must have two scores
    assert value(np.where(np.eye(4, dtype=bool), 9.0, np.array(SHROUT)[:4]).tolist(), "3_1") < 1


@pytest.mark.parametrize("ties", [False, True])
def test_kendalls_w_of_scores_is_the_textbooks(ties: bool) -> None:
    rng = np.random.default_rng(8)
    x = scores(rng, 12, 4)
    x = np.round(x) if ties else x
    ranks = stats.rankdata(x, axis=0)
    squares = np.sum((ranks.sum(axis=1) - ranks.sum(axis=1).mean()) ** 2)
    tied = sum(np.sum(c**3 - c) for c in (np.unique(col, return_counts=True)[1] for col in x.T))
    w = 12 * squares / (16 * (12**3 - 12) - 4 * tied)
    found = voirdire.agreement(long(x), measures="kendall_w", pairs=False, resamples=300).iloc[0]
    assert (found["value"], found["n"]) == (pytest.approx(w), 12)
    assert found["low"] < w < found["high"]
    if not ties:
        friedman = stats.friedmanchisquare(*x)
        assert w == pytest.approx(friedman.statistic / (4 * 11))
    two = voirdire.agreement(long(x[:, :2]), measures=["kendall_w", "spearman"], resamples=50)
    assert two["value"][0] == pytest.approx((two["value"][1] + 1) / 2, abs=1e-9 if not ties else 0.02)


def test_a_resample_of_w_is_w_of_the_rows_drawn() -> None:
    x = np.round(scores(np.random.default_rng(9), 10, 3))
    drawn = np.array([0, 0, 1, 3, 3, 3, 5, 6, 8, 9])
    from voirdire.agreement.coefficients.ranks import kendall_w_of_items

    weights = np.bincount(drawn, minlength=10)[None].astype(float)
    whole = kendall_w_of_items(ratings_from_matrix(x.tolist())).values(weights)[0]
    apart = kendall_w_of_items(ratings_from_matrix(x[drawn].tolist())).values(np.ones((1, 10)))[0]
    assert whole == pytest.approx(apart)
    votes = pd.DataFrame({"judge": ["a", "b"], "first": "x", "second": "y", "winner": "x"})
    with pytest.raises(InputError, match="kendall_w compares scores, and these are votes"):
        voirdire.agreement(votes, measures="kendall_w")
