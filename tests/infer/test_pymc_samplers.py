"""Other samplers on the PyMC model: the same posterior, with its checks."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from value_points import value_point

from voirdire import fit
from voirdire.errors import InputError
from voirdire.infer.pymc_model import free_draws, pymc_model, sample_pymc, variable_draws
from voirdire.kinds import encode_votes
from voirdire.model import load_model
from voirdire.tables import read_votes

pytestmark = pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS:UserWarning")


def table() -> pd.DataFrame:
    """Six items 0.8 apart, three judges: enough votes for one orientation and one scale to be certain."""
    rng = np.random.default_rng(0)
    rows = []
    for judge, right in (("ann", 0.95), ("bob", 0.85), ("cem", 0.75)):
        for low, high in combinations(range(6), 2):
            for turn in range(20):
                better = high if rng.random() < 1 / (1 + np.exp(-0.8 * (high - low))) else low
                answer = better if rng.random() < right else low + high - better
                winner = "tie" if rng.random() < 0.2 else f"item {answer}"
                shown = (low, high) if turn % 2 else (high, low)
                rows.append((judge, *(f"item {place}" for place in shown), winner))
    return pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["pymc", "nutpie"])
def test_they_draw_from_the_same_posterior(sampler: str) -> None:
    import arviz as az

    with warnings.catch_warnings():
        # the samplers' own dependencies announce changes to one another
        for category in (FutureWarning, DeprecationWarning, PendingDeprecationWarning):
            warnings.simplefilter("ignore", category)
        theirs = fit(table(), model="crowd-bt", method="nuts", sampler=sampler, seed=1, draws=1500, chains=2)
    ours = fit(table(), model="crowd-bt", method="nuts", seed=1, draws=1500)
    assert theirs.sampler == sampler
    assert set(theirs.sample_stats) == set(ours.sample_stats)
    checks = theirs.checks().set_index("check")
    assert checks.loc["rhat", "value"] < 1.02
    assert theirs.posterior.draws is not None
    assert ours.posterior.draws is not None
    for place in range(theirs.problem.density.size):
        left, right = (each.posterior.draws[:, :, place] for each in (theirs, ours))
        error = np.hypot(*(each.std() / np.sqrt(float(az.ess(each))) for each in (left, right)))
        assert abs(left.mean() - right.mean()) < 4.5 * error
        assert left.std() == pytest.approx(right.std(), rel=0.15)
    mass = [float(each.checks().set_index("check").loc["orientation", "value"]) for each in (theirs, ours)]
    assert mass[0] == pytest.approx(mass[1], abs=0.01)


def test_points_and_draws_are_inverse_to_each_other() -> None:
    problem = encode_votes(load_model("crowd-bt-position"), read_votes(table()))
    density = problem.density
    rng = np.random.default_rng(0)
    x = rng.normal(size=density.size)
    model = pymc_model(problem)
    assert {variable.name for variable in model.value_vars} == set(value_point(density, x))
    posterior = {name: value for name, (_, value) in variable_draws(density, np.tile(x, (2, 3, 1))).items()}
    assert set(posterior) == {variable.name for variable in model.free_RVs}
    coin = density.values(x, np)["coin_first"]
    np.testing.assert_allclose(posterior["coin_first"][1, 2], 1 / (1 + np.exp(-coin)))
    found = free_draws(density, posterior)
    assert found.shape == (2, 3, density.size)
    np.testing.assert_allclose(found, np.broadcast_to(x, found.shape), atol=1e-12)


def test_the_model_has_the_names_of_the_table() -> None:
    problem = encode_votes(load_model("crowd-bt-position"), read_votes(table()))
    model = pymc_model(problem)
    assert list(model.coords["item"]) == [f"item {place}" for place in range(6)]
    assert list(model.coords["judge"]) == ["ann", "bob", "cem"]
    assert [variable.name for variable in model.observed_RVs] == ["votes"]
    assert "strength" in {variable.name for variable in model.deterministics}


def test_a_sampler_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "nutpie" else real(name))
    problem = encode_votes(load_model("bradley-terry"), read_votes(table()))
    with pytest.raises(InputError, match="sampler 'nutpie' is not installed; pip install nutpie"):
        sample_pymc(problem, "nutpie", 0, 1, 20, 4)
