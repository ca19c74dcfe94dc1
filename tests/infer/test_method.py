"""The point that a fit shows: the mode, unless hardly any draw comes near it."""

from __future__ import annotations

import numpy as np
import pandas as pd

import voirdire
from voirdire.infer.by_laplace import _posterior_centre
from voirdire.kinds import kind_of


def test_a_typical_mode_is_shown() -> None:
    draws = np.random.default_rng(0).normal([1.0, -2.0], [1.0, 0.1], (1, 4000, 2))
    mode = np.array([1.5, -2.05])  # half a standard deviation off each
    assert _posterior_centre(mode, draws) is mode


def test_one_in_a_corner_gives_way_to_the_mean() -> None:
    draws = np.random.default_rng(0).normal([1.0, -2.0], [1.0, 0.1], (1, 4000, 2))
    found = _posterior_centre(np.array([1.0, -2.2]), draws)  # two standard deviations off
    np.testing.assert_allclose(found, draws.mean(axis=(0, 1)))


def test_what_is_shown_lies_inside_its_interval() -> None:
    """Of raters who agree so little that the mode of all parameters is far from most draws."""
    rng = np.random.default_rng(3)
    theta = rng.normal(0.0, 0.5, 80)
    rows = [
        (f"j{k}", f"i{i}", 1 + int((theta[i] + rng.logistic() > np.array([-1.5, 0.0, 1.5])).sum()))
        for k in range(3)
        for i in range(80)
    ]
    table = pd.DataFrame(rows, columns=["judge", "item", "score"])
    fit = voirdire.fit(table, model="rating-severity")
    shown = {"items": "score", "criteria": "weight", "cutpoints": "cutpoint", "groups": "severity"}
    for name, make in kind_of(fit.problem).results.items():
        found = make(fit.problem, fit.posterior, fit.prob)
        for low in (column for column in found if column.endswith("low") and "rank" not in column):
            value = found[low.removesuffix("_low") if low != "low" else shown[name]]
            known = ~np.isnan(found[low])
            assert (found[low][known] <= value[known]).all(), (name, low)
            assert (value[known] <= found[low.replace("low", "high")][known]).all(), (name, low)
