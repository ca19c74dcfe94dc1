"""The PyMC model generates: prior and posterior predictive draws, interventions, graphs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import voirdire
from voirdire.infer.posterior import thinned_draws
from voirdire.infer.pymc_model import pymc_model
from voirdire.kinds import encode_votes, kind_of
from voirdire.kinds.votes.response_probabilities import cell_probabilities
from voirdire.model import draw_from_prior, load_model
from voirdire.model.density import LogDensity
from voirdire.tables import read_votes

pytestmark = [
    pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS:UserWarning"),
    # PyTensor 3: what is drawn by NumPy is called from its compiled code
    pytest.mark.filterwarnings("ignore:Numba will use object mode:UserWarning"),
]

JUDGES, ITEMS, CRITERIA = ["ann", "bob", "cem"], ["w", "x", "y", "z"], ["clear", "true"]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        for category in (FutureWarning, DeprecationWarning, PendingDeprecationWarning):
            warnings.simplefilter("ignore", category)  # of the samplers' dependencies to one another
        yield


def votes(names: list[str], count: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, len(names), count)
    second = (first + rng.integers(1, len(names), count)) % len(names)
    rows = {"judge": rng.choice(JUDGES, count), "first": first, "second": second}
    rows["winner"] = np.where(rng.random(count) < 0.7, np.minimum(first, second), np.maximum(first, second))
    return pd.DataFrame({k: v if k == "judge" else np.array(names)[v] for k, v in rows.items()})


def of_several_criteria() -> Any:
    table = votes(ITEMS, 60, 1)
    table["criterion"] = np.random.default_rng(2).choice(CRITERIA, len(table))
    return encode_votes(load_model("learned-maple-position"), read_votes(table), read_votes(votes(CRITERIA, 20, 3)))


def model_of(problem: Any) -> Any:
    return pymc_model(problem, kind_of(problem).outcomes(problem))


@pytest.mark.slow
def test_prior_predictive_draws_are_those_of_the_prior() -> None:
    import pymc as pm

    problem = of_several_criteria()
    density: LogDensity = problem.density
    with model_of(problem):
        prior = pm.sample_prior_predictive(1000, random_seed=1)
    rng = np.random.default_rng(2)
    ours = density.values(np.stack([draw_from_prior(density, rng) for _ in range(1000)]), np)
    names = {"spread": "log_spread", "log_general_spread": "log_general_spread", "log_weight": "weight"}
    names |= {"strength": "strength", "logit_coin_first": "coin_first", "coin_mean": "log_coin_mean"}
    for theirs, own in names.items():
        found = np.asarray(prior.prior[theirs])[0]
        found = np.log(found) if own == f"log_{theirs}" else found
        want = ours[own]
        for place in range(int(np.prod(want.shape[1:], dtype=int))):
            pair = [of.reshape(1000, -1)[:, place] for of in (found, want)]
            assert stats.ks_2samp(*pair).pvalue > 1e-4, theirs


@pytest.mark.slow
def test_answers_are_drawn_by_their_probabilities() -> None:
    import pymc as pm

    problem = of_several_criteria()
    density = problem.density
    x = np.tile(draw_from_prior(density, np.random.default_rng(5)), (1, 2000, 1))
    fit = voirdire.fit(votes(ITEMS, 60, 1), model="crowd-bt", method="laplace")
    draws = fit.pymc_draws
    assert set(draws["posterior"].data_vars) == {of.name for of in fit.pymc_model.free_RVs}
    outcomes = {one.name: one for one in kind_of(problem).outcomes(problem)}
    from voirdire.infer import to_arviz
    from voirdire.infer.pymc_model import variable_draws

    given = variable_draws(density, x)
    with model_of(problem):
        drawn = pm.sample_posterior_predictive(
            to_arviz({"posterior": given}, problem.coords), random_seed=1, progressbar=False
        )
    values = density.values(x[0, 0], np)
    for name, one in outcomes.items():
        counts = np.asarray(drawn.posterior_predictive[name])[0]
        total = one.observed.sum(axis=1, keepdims=True)
        unit = np.zeros_like(one.observed)
        chance = []
        for answer in range(one.observed.shape[1]):
            unit[:] = 0.0
            unit[:, answer] = 1.0
            chance.append(np.exp(one.log(unit, values, np)))
        want = total * np.stack(chance, axis=1)
        assert np.abs(counts.mean(axis=0) - want).max() < 5 * np.sqrt(total.max() / 4 / len(counts))


@pytest.mark.slow
def test_a_fit_generates_in_pymc() -> None:
    import pymc as pm

    fit = voirdire.fit(votes(ITEMS, 60, 1), model="crowd-bt", method="laplace", seed=1)
    model = fit.pymc_model
    with model:
        again = pm.sample_posterior_predictive(fit.pymc_draws, random_seed=1, progressbar=False)
    counts = np.asarray(again.posterior_predictive["votes"])
    observed = np.asarray(again.observed_data["votes"])
    assert counts.shape[:2] == (4, 1000)
    assert (counts.sum(axis=-1) == observed.sum(axis=-1)).all()
    chance = cell_probabilities(
        fit.model, fit.problem.density, thinned_draws(fit.posterior, 4000), fit.problem.coded_votes
    )
    total = observed.sum(axis=-1)
    assert np.abs(counts.mean(axis=(0, 1))[:, 0] - total * chance[:, 0]).max() < 5 * np.sqrt(total.max() / 4 / 4000)
    # a check of the posterior predictive: of all votes the share that the first item wins
    shares = counts[..., 0].sum(axis=-1).ravel() / observed.sum()
    assert 0.05 < (shares < observed[:, 0].sum() / observed.sum()).mean() < 0.95


def test_interventions_change_what_is_generated() -> None:
    import pymc as pm

    problem = encode_votes(load_model("crowd-bt"), read_votes(votes(ITEMS, 60, 1)))
    perfect = pm.do(model_of(problem), {"reliability": np.full(3, 1 - 1e-9), "strength": [[9.0, 3.0, -3.0, -9.0]]})
    with perfect:
        drawn = pm.sample_prior_predictive(20, random_seed=1).prior_predictive["votes"]
    coded = problem.coded_votes
    right = np.where(coded.first < coded.second, 0, 1)
    counts = np.asarray(drawn)[0]
    assert counts[:, np.arange(len(right)), right].sum() / counts.sum() > 0.97
    held = pm.observe(model_of(problem), {"reliability": np.full(3, 0.8)})
    assert {of.name for of in held.free_RVs} == {"strength_free"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["crowd-bt", "rating-severity", "hierarchical-dawid-skene"])
def test_graphs_are_drawn(name: str) -> None:
    pytest.importorskip("graphviz")
    import pymc as pm

    from voirdire.tables import read_labels, read_scores

    rng = np.random.default_rng(0)
    rated = pd.DataFrame({"judge": rng.choice(JUDGES, 40), "item": rng.choice(ITEMS, 40)})
    data = load_model(name).data
    read = {"votes": lambda: read_votes(votes(ITEMS, 60, 1))}
    read["scores"] = lambda: read_scores(rated.assign(score=rng.integers(1, 4, 40)))
    read["labels"] = lambda: read_labels(rated.assign(label=rng.choice(["a", "b"], 40)))
    graph = pm.model_to_graphviz(voirdire.fit(read[data](), model=name, method="map").pymc_model)
    assert data in graph.source
