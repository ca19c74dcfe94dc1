"""The prior of standard deviations that are parts of one scale."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.integrate import dblquad

from voirdire.infer.latent_gaussian.division import Division
from voirdire.kinds import encode_votes
from voirdire.kinds.votes.density import VotesDensity
from voirdire.model import draw_from_prior, load_model
from voirdire.model.terms.parameters import LogExponential
from voirdire.model.terms.structure import LogDivided
from voirdire.tables import read_votes

PRIOR = LogDivided(0.3, others="log_spread")
LOGS = np.array([[0.2, -1.0, 1.5, 0.7], [-40.0, 2.0, -3.0, 0.0]])


def joint(spreads: np.ndarray) -> float:
    """Density of the logarithms: of the mean times sqrt(2), of the parts given it, and the Jacobians of both."""
    n, total = len(spreads), spreads.sum()
    of_mean = stats.expon.logpdf(np.sqrt(2.0) * total / n, scale=1.0 / PRIOR.rate) + np.log(np.sqrt(2.0) / n)
    of_parts = stats.dirichlet.logpdf(spreads / total, np.ones(n)) - (n - 1) * np.log(total)
    return float(of_mean + of_parts + np.log(spreads).sum())


def test_with_independent_priors_it_is_the_joint_density() -> None:
    own = LogExponential(PRIOR.rate).log_density(LOGS, np).sum(axis=-1)
    found = own + PRIOR.log_division(LOGS, 4, np).sum(axis=-1)
    assert found == pytest.approx([joint(np.exp(logs)) for logs in LOGS], rel=1e-12)


def test_the_joint_density_has_the_mass_of_one() -> None:
    def density(y: float, x: float) -> float:
        logs = np.array([x, y])
        own = LogExponential(PRIOR.rate).log_density(logs, np).sum()
        return float(np.exp(own + PRIOR.log_division(logs, 2, np).sum()))

    mass, _ = dblquad(density, -18.0, 6.0, -18.0, 6.0, epsabs=1e-7)
    assert mass == pytest.approx(1.0, abs=1e-5)


def test_its_slope_is_that_of_the_density() -> None:
    for k, step in enumerate(1e-6 * np.eye(4)):
        ahead, behind = (PRIOR.log_division(LOGS + sign * step, 4, np).sum(axis=-1) for sign in (1, -1))
        assert PRIOR.slope(LOGS)[:, k] == pytest.approx((ahead - behind) / 2e-6, rel=1e-6, abs=1e-8)


def test_parts_that_are_held_still_count() -> None:
    hyper = np.array([0.9, *LOGS[0]])
    whole = Division(PRIOR, np.arange(1, 5), np.zeros(0))
    kept = np.array([True, True, False, True, True])
    part = whole.with_fixed(kept, hyper)
    log, slope = part.log_density(hyper[kept]), part.slope(hyper[kept])
    assert log == pytest.approx(whole.log_density(hyper))
    assert slope == pytest.approx(whole.slope(hyper)[kept])
    assert slope[0] == 0.0


@pytest.mark.parametrize("criteria", [2, pytest.param(6, marks=pytest.mark.slow)])
def test_however_many_criteria_the_scale_is_exponential(criteria: int) -> None:
    """As drawn for calibration studies; the total under a criterion is as far apart as of one criterion alone."""
    density = VotesDensity(load_model("maple-tastes"), 3, criteria, 4, False)
    rng = np.random.default_rng(criteria)
    drawn = [density.values(draw_from_prior(density, rng), np) for _ in range(4000)]
    spreads = np.exp([[*values["log_spread"], values["log_general_spread"]] for values in drawn])
    scale = np.sqrt(2.0) * spreads.mean(axis=1)
    assert stats.kstest(scale, stats.expon(scale=1 / 0.3).cdf).pvalue > 0.01
    share = spreads[:, 0] / spreads.sum(axis=1)
    assert stats.kstest(share, stats.beta(1, criteria).cdf).pvalue > 0.01
    under_one = np.log(np.hypot(spreads[:, 0], spreads[:, -1])).mean()
    assert under_one == pytest.approx(np.log(1 / 0.3) - np.euler_gamma, abs=0.12)


def test_the_search_has_the_prior_of_the_density() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"judge": rng.choice(["a", "b"], 60), "first": "x", "second": "y"})
    table = table.assign(criterion=rng.choice(["p", "q", "r"], 60), winner=rng.choice(["x", "y"], 60))
    problem = encode_votes(load_model("maple-tastes"), read_votes(table))
    field = problem.density.latent_model(problem.data)
    spreads = [p for p in problem.density.parameters if p.name in ("log_spread", "log_general_spread")]
    hyper = rng.normal(size=len(field.hypers))
    other = hyper.copy()
    at = [i for i, h in enumerate(field.hypers) if h.name.split("[")[0] in {p.name for p in spreads}]
    other[at] = LOGS[0]
    gap = field.hyper_prior(other)[0] - field.hyper_prior(hyper)[0]
    assert gap == pytest.approx(joint(np.exp(other[at])) - joint(np.exp(hyper[at])))
