"""Labels of judges of whom nobody can tell who is right: draws about several modes, beside draws of the prior."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.infer import Laplace, find_mode, laplace_approximation
from voirdire.infer.by_laplace import SEVERAL_MODES_NOTE, draw_about_modes, modes_near_saddle
from voirdire.kinds import LabelsProblem, encode_labels
from voirdire.model import draw_from_prior, load_model
from voirdire.tables import read_labels
from voirdire.typing import Floats

COUNT = 40_000


def each_its_own(items: int) -> pd.DataFrame:
    """Three judges, each with one class for all items."""
    rows = [(f"r{at}", f"u{item}", said) for at, said in enumerate("abc") for item in range(items)]
    return pd.DataFrame(rows, columns=["judge", "item", "label"])


#: Two judges who agree on half of four items: either may be the one that is right on the others.
HALF = [("x", "u0", "a"), ("y", "u0", "b"), ("x", "u1", "a"), ("y", "u1", "a")]
HALF += [("x", "u2", "b"), ("y", "u2", "b"), ("x", "u3", "a"), ("y", "u3", "b")]
TABLES = {"three": each_its_own(items=2), "two": pd.DataFrame(HALF, columns=["judge", "item", "label"])}


@cache
def encoded(name: str) -> tuple[LabelsProblem, Laplace, Floats, Floats]:
    """A problem with its saddle, and draws of the prior with their log likelihoods, which are exact."""
    problem = encode_labels(load_model("hierarchical-dawid-skene"), read_labels(TABLES[name]))
    density, rng = problem.density, np.random.default_rng(0)
    prior = np.stack([draw_from_prior(density, rng) for _ in range(COUNT)])
    log = [float(density.log_likelihood(density.values(x, np), problem.data, np)) for x in prior]
    return problem, laplace_approximation(problem, find_mode(problem)), prior, np.array(log)


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_draws_about_modes_are_those_of_the_posterior(name: str) -> None:
    """Draws of the prior, weighted by the likelihood, are exact up to Monte Carlo error."""
    problem, saddle, prior, log = encoded(name)
    weights = np.exp(log - log.max())
    weights /= weights.sum()
    drawn = draw_about_modes(problem, saddle, 4000, np.random.default_rng(1), 0)
    assert drawn is not None
    best, draws, _, modes = drawn
    assert modes > 1
    assert best.smallest_curvature > 0
    mean, exact = draws.mean(axis=0), weights @ prior
    sd = np.sqrt(weights @ (prior - exact) ** 2)
    assert 1.0 / (weights**2).sum() > 1000  # draws that the prior's are worth
    np.testing.assert_allclose((mean - exact) / sd, 0.0, atol=0.15)
    np.testing.assert_allclose(draws.std(axis=0) / sd, 1.0, atol=0.12)


@pytest.mark.slow
def test_what_modes_hold_is_the_marginal_likelihood() -> None:
    """As far as it is normal about them; that of the prior's draws is their mean likelihood."""
    problem, saddle, _, log = encoded("three")
    held = np.logaddexp.reduce([one for _, one in modes_near_saddle(problem, saddle)])
    held += 0.5 * problem.density.size * np.log(2.0 * np.pi)
    assert held == pytest.approx(np.logaddexp.reduce(log) - np.log(COUNT), abs=0.3)


@pytest.mark.slow
def test_a_table_that_cannot_be_settled_is_answered_at_once() -> None:
    """No class is more probable than another, whatever the seed; no sampler is asked, and a note says what is open."""
    for seed in (0, 1):
        fit = voirdire.fit(each_its_own(items=2), seed=seed)
        shares = fit.classes()[["p_a", "p_b", "p_c"]].to_numpy()
        np.testing.assert_allclose(shares, 1.0 / 3.0, atol=0.04)
        assert fit.method == "laplace"
        assert SEVERAL_MODES_NOTE.format(3) in fit.notes
        checks = fit.checks().set_index("check")["level"]
        assert {"rhat", "curvature", "approximation"}.isdisjoint(checks[checks != "ok"].index)


@pytest.mark.slow
def test_a_proper_mode_has_no_others_beside_it() -> None:
    rows = [(judge, f"u{item}", "ab"[item % 2]) for judge in "xyz" for item in range(6)]
    table = pd.DataFrame(rows, columns=["judge", "item", "label"])
    fit = voirdire.fit(table, seed=0)
    assert not any("explanations" in note for note in fit.notes)
