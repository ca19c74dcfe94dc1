"""Power-scaling: the closed form of normal posteriors, and ArviZ's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from voirdire.infer import to_arviz
from voirdire.trust.prior import POWER_STEP, power_sensitivity, symmetric_distance


@pytest.mark.parametrize(("mean", "share"), [(0.0, 1.0), (0.0, 0.3), (2.0, 0.5), (-1.0, 0.1)])
def test_a_normal_posterior_moves_as_its_conjugate_prior_says(mean: float, share: float) -> None:
    x = stats.norm.ppf((np.arange(40_000) + 0.5) / 40_000)  # the posterior is standard normal
    found = power_sensitivity(x, -0.5 * share * (x - mean) ** 2)
    # raised to a the posterior is normal with precision 1 + share (a - 1)
    moved = []
    for a in (1 / (1 + POWER_STEP), 1 + POWER_STEP):
        precision = 1 + share * (a - 1)
        there = stats.norm(share * (a - 1) * mean / precision, precision**-0.5)
        weights = np.diff(np.append(0.0, np.append(there.cdf(0.5 * (x[1:] + x[:-1])), 1.0)))
        moved.append(symmetric_distance(x, weights))
    assert found == pytest.approx(np.mean(moved) / np.log2(1 + POWER_STEP), rel=0.05)


def test_it_is_that_of_arviz() -> None:
    import arviz as az

    if not hasattr(az, "psens"):
        pytest.skip("this ArviZ has it in another place")
    rng = np.random.default_rng(1)
    x = rng.gamma(4.0, size=(4, 500))
    log = -0.3 * x + np.log(x)
    groups = {"posterior": {"x": ((), x)}, "log_prior": {"x": ((), log)}}
    theirs = float(az.psens(to_arviz(groups, {}), component="prior")["x"])
    assert power_sensitivity(x.ravel(), log.ravel()) == pytest.approx(theirs, rel=1e-6)


def test_what_does_not_move_has_none() -> None:
    x = np.random.default_rng(0).normal(size=200)
    assert power_sensitivity(x, np.zeros(200)) == 0.0
    assert power_sensitivity(np.ones(200), x) == 0.0
