"""The ArviZ container of a fit: equal to its tables, with names, units and groups that ArviZ works on."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire

RNG = np.random.default_rng(4)
JUDGES, ITEMS, CRITERIA = ["ann", "bob", "cem", "dot"], ["w", "x", "y", "z"], ["clear", "true"]
WORTH = dict(zip(ITEMS, (-1.5, -0.5, 0.5, 1.5), strict=True))


def votes(names: list[str] = ITEMS, count: int = 160, ties: float = 0.1) -> pd.DataFrame:
    first = RNG.integers(0, len(names), count)
    second = (first + RNG.integers(1, len(names), count)) % len(names)
    better = RNG.random(count) < 1 / (1 + np.exp(-(second - first) * -0.7))
    winner = np.where(better, np.array(names)[first], np.array(names)[second])
    rows = {"judge": RNG.choice(JUDGES, count), "first": np.array(names)[first], "second": np.array(names)[second]}
    return pd.DataFrame(rows | {"winner": np.where(RNG.random(count) < ties, "tie", winner)})


def rated(answer: str, values: list[Any], criteria: list[str], runs: int = 1) -> pd.DataFrame:
    rows = [
        (judge, criterion, item, values[int(np.clip(round(WORTH[item] + 1.5 + RNG.normal()), 0, len(values) - 1))])
        for judge in JUDGES
        for criterion in criteria
        for item in ITEMS
        for _ in range(runs)
    ]
    return pd.DataFrame(rows, columns=["judge", "criterion", "item", answer])


def make(name: str) -> voirdire.Fit:
    if name == "votes":
        return voirdire.fit(votes(), seed=1, method="laplace")
    if name == "criteria":
        table = votes()
        table["criterion"] = RNG.choice(CRITERIA, len(table))
        return voirdire.fit(table, criteria=votes(CRITERIA, 40, 0.0), seed=1, method="laplace")
    if name == "scores":
        found = voirdire.fit(rated("score", [1, 2, 3, 4], CRITERIA), model="rating-maple", seed=1, method="laplace")
        return found
    if name == "continuous":
        table = rated("score", [1.5, 2.2, 3.1, 4.0], CRITERIA)
        table["score"] += RNG.normal(0, 0.1, len(table))
        return voirdire.fit(table, seed=1, method="laplace")
    if name == "labels":
        table = rated("label", ["bad", "fair", "good"], ["overall"])
        return voirdire.fit(table, seed=1, method="laplace")
    if name == "joint":
        return voirdire.fit([votes(), rated("score", [1, 2, 3], ["overall"]).drop(columns="criterion")], seed=1)
    rows = []
    for run in range(24):
        order = sorted(ITEMS, key=lambda item: -WORTH[item] + RNG.gumbel())
        rows += [(JUDGES[run % 4], run, item, rank) for rank, item in enumerate(order)]
    return voirdire.fit(pd.DataFrame(rows, columns=["judge", "run", "item", "rank"]), seed=1, method="laplace")


KINDS = ["votes", "criteria", "scores", "continuous", "labels", "joint", "rankings"]


QUICK = ("votes", "scores")


@pytest.fixture(scope="module", params=[pytest.param(k, marks=[pytest.mark.slow] * (k not in QUICK)) for k in KINDS])
def fit(request: pytest.FixtureRequest) -> voirdire.Fit:
    return make(request.param)


@pytest.fixture(scope="module")
def idata(fit: voirdire.Fit) -> Any:
    return fit.idata


def joined(idata: Any, name: str) -> np.ndarray:
    values = np.asarray(idata["posterior"][name])
    return values.reshape(-1, *values.shape[2:])


def test_judges_are_those_of_the_table(fit: voirdire.Fit, idata: Any) -> None:
    table, posterior = fit.judges(), idata["posterior"]
    shown = [
        name
        for name in table
        if f"{name}_low" in table and not table[name].isna().any() and np.ptp(table[f"{name}_high"] - table[name]) > 0
    ]
    assert shown
    for name in shown:
        assert posterior[name].dims == ("chain", "draw", "judge")
        assert list(posterior["judge"].values) == table["judge"].tolist()
        draws = joined(idata, name)
        np.testing.assert_allclose(np.median(draws, axis=0), table[name], atol=1e-12, rtol=1e-12)
        for end, at in (("low", 0.05), ("high", 0.95)):
            np.testing.assert_allclose(np.quantile(draws, at, axis=0), table[f"{name}_{end}"], atol=1e-12, rtol=1e-9)


def test_criteria_and_scores_are_those_of_the_tables(fit: voirdire.Fit, idata: Any) -> None:
    if not hasattr(type(fit), "criteria"):
        shares, confusion = fit.shares(), fit.confusion()
        np.testing.assert_allclose(joined(idata, "class_share").mean(axis=0).ravel(), shares["share"], atol=1e-12)
        found = joined(idata, "confusion").mean(axis=0).ravel()
        np.testing.assert_allclose(found, confusion["probability"], atol=1e-12)
        return
    weight = fit.criteria().set_index("criterion")["weight"]
    if "weight" in idata["posterior"]:
        assert np.abs(joined(idata, "weight").sum(axis=-1) - 1).max() < 1e-12
        found = joined(idata, "weight").mean(axis=0)
    else:
        found = np.asarray(idata["constant_data"]["weight"])
    np.testing.assert_allclose(found, weight, atol=1e-12)
    ranking = fit.ranking().set_index("item").loc[list(fit.problem.items)]
    score = joined(idata, "score")
    np.testing.assert_allclose(np.median(score, axis=0), ranking["score"], atol=1e-12, rtol=1e-12)
    np.testing.assert_allclose(score.std(axis=0, ddof=1), ranking["sd"], rtol=1e-9)
    strengths = fit.strengths()
    found = np.median(joined(idata, "strength"), axis=0).ravel()
    np.testing.assert_allclose(found, strengths["strength"], atol=1e-12, rtol=1e-12)


def test_estimated_values_are_under_their_own_names(fit: voirdire.Fit, idata: Any) -> None:
    estimated = idata["unconstrained_posterior"]
    for name in estimated.data_vars:
        if name.startswith("logit_") and name.removeprefix("logit_") in idata["posterior"]:
            probability = np.asarray(idata["posterior"][name.removeprefix("logit_")])
            np.testing.assert_allclose(np.log(probability) - np.log1p(-probability), estimated[name], atol=1e-6)
    if "log_weight" in estimated:
        log = np.log(np.asarray(idata["posterior"]["weight"]))
        np.testing.assert_allclose(log - log.mean(axis=-1, keepdims=True), estimated["log_weight"], atol=1e-9)
    for group in ("posterior", "unconstrained_posterior"):
        for name, of in idata[group].data_vars.items():
            assert of.attrs["units"], name
            assert of.attrs["definition"], name
    assert idata["posterior"].attrs["model"] == fit.model.name


def test_log_densities_are_those_of_the_model(fit: voirdire.Fit, idata: Any) -> None:
    density = fit.problem.density
    draws = np.asarray(fit.posterior.draws).reshape(-1, density.size)
    prior = sum(np.asarray(of).ravel() for of in idata["log_prior"].data_vars.values())
    np.testing.assert_allclose(prior, density.log_prior(draws, np), rtol=1e-9, atol=1e-9)
    log = np.asarray(idata["log_likelihood"]["answers"])
    assert len(idata["observed_data"]["answers"]) == log.shape[-1]
    weighed = getattr(fit.problem, "answer_weight", None)
    if weighed is not None:
        return
    for at in (0, -1):
        one = density.values(draws[at], np)
        want = float(density.log_likelihood(one, fit.problem.data, np))
        assert log.reshape(len(draws), -1)[at].sum() == pytest.approx(want, rel=1e-9)


def test_arviz_works_on_it(fit: voirdire.Fit, idata: Any) -> None:
    import arviz as az
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    assert idata["posterior"].sizes["chain"] >= 4  # of independent draws, too
    assert "label" not in idata["posterior"].sizes  # by which ArviZ 1 stacks variables
    names = [name for name in ("score", "reliability") if name in idata["posterior"]]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Estimated shape parameter of Pareto", UserWarning)
        warnings.simplefilter("ignore", DeprecationWarning)  # of others to ArviZ
        summary = az.summary(idata)
        assert len(summary) > len(fit.problem.items)
        assert summary["r_hat"].astype(float).max() < 1.1  # text in ArviZ 1
        found = az.loo(idata)
        assert np.isfinite(found.elpd_loo if hasattr(found, "elpd_loo") else found.elpd)
        both = az.compare({"one": idata, "again": idata})
        assert len(both) == 2
        for plot in (az.plot_forest, az.plot_trace):
            plot(idata, var_names=names)
            plt.close("all")


def test_it_goes_to_a_file_and_back(idata: Any, tmp_path: Any) -> None:
    pytest.importorskip("h5netcdf")
    import arviz as az

    idata.to_netcdf(str(tmp_path / "fit.nc"))
    again = az.from_netcdf(str(tmp_path / "fit.nc"))
    assert again["posterior"].attrs["model"] == idata["posterior"].attrs["model"]


def test_votes_on_criteria_are_among_the_answers() -> None:
    found = make("criteria").idata
    table = np.asarray(found["constant_data"]["answer_table"])
    assert {"votes", "votes on criteria"} == set(table.tolist())
    assert (table == "votes on criteria").sum() == 40
