"""rating-severity without judges' effects is the ordered logit of statsmodels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import voirdire

# a prior so wide that the mode is the maximum of the likelihood, and judges of no severity
FLAT = {"strength": {"sd": 1e4}, "severity": {"sd": 1e-3}, "cutpoints": {"sd": 1e4, "gap_sd": 1e4}}


def test_the_mode_is_that_of_the_ordered_logit(simulate: Callable[..., tuple[pd.DataFrame, pd.DataFrame]]) -> None:
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    judges, items = 40, 6
    table, _ = simulate([0.0] * judges, items, seed=3, sd=1.0)
    fit = voirdire.fit(table.drop(columns="run"), model="rating-severity", method="map", priors=FLAT)
    names = sorted(table["item"].unique())
    dummies = np.array([[item == name for name in names[1:]] for item in table["item"]], dtype=float)
    reference = OrderedModel(table["score"].to_numpy(), dummies, distr="logit")
    # one row a score, in statsmodels' own parametrisation: the first threshold and logs of increments
    found = reference.fit(method="bfgs", disp=False, gtol=1e-9, maxiter=2000)
    theta = np.append(0.0, found.params[:-4])
    cuts = reference.transform_threshold_params(found.params)[1:-1] - theta.mean()
    strength = fit.strengths().set_index("item")["strength"]
    np.testing.assert_allclose(strength[names], theta - theta.mean(), atol=1e-4)
    np.testing.assert_allclose(fit.cutpoints()["cutpoint"], cuts, atol=1e-4)
    density, data = fit.problem.density, fit.problem.data
    likelihood = density.log_likelihood(fit.posterior.central_values, data, np)
    assert likelihood == pytest.approx(found.llf, abs=1e-3)
    assert np.abs(fit.judges()["severity"]).max() < 1e-4
