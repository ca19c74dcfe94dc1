"""What PyMC draws from a model's prior is distributed as what the program itself draws."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import stats

from voirdire.infer.pymc_model import pymc_model
from voirdire.kinds import kind_of
from voirdire.model import draw_from_prior

pytestmark = pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS:UserWarning")

DRAWS = 1200
LEVEL = 1e-4
# baselines pool answers before a model sees them
NOT_GENERATING = {(name, ties) for name in ("majority-vote", "mean-score", "median-score") for ties in (False, True)}


def statistics(drawn: dict[str, np.ndarray]) -> dict[str, float]:
    """Of each table the answers' first and second moments by their numbers, along the last axis but for points."""
    found = {}
    for name, of in drawn.items():
        number = of if name == "rankings" or of.ndim == 1 else of @ np.arange(of.shape[-1])
        found[f"mean of {name}"] = float(number[0].mean() if name == "rankings" else number.mean())
        found[f"variance of {name}"] = float(number[0].var() if name == "rankings" else number.var())
    return found


@pytest.mark.long
@pytest.mark.slow
def test_ranks_of_what_pymc_generates_are_uniform(case: Any) -> None:
    import pymc as pm

    density, outcomes = case.density, kind_of(case.problem).outcomes(case.problem)
    assert bool(outcomes) != ((case.name, case.ties) in NOT_GENERATING)
    if not outcomes:
        return
    with warnings.catch_warnings(), pymc_model(case.problem, outcomes):
        warnings.simplefilter("ignore")
        theirs = pm.sample_prior_predictive(DRAWS, random_seed=1)
        again = pm.sample_posterior_predictive(theirs.prior, random_seed=2, progressbar=False)
    rng = np.random.default_rng(3)
    ours = []
    for _ in range(5 * DRAWS):
        values = density.values(draw_from_prior(density, rng), np)
        ours.append(statistics({one.name: one.draw(values, rng) for one in outcomes}))
    for group in (theirs.prior_predictive, again.posterior_predictive):
        found = [
            statistics({one.name: np.asarray(group[one.name])[0, draw] for one in outcomes}) for draw in range(DRAWS)
        ]
        for statistic in ours[0]:
            # whether ranks of the ones among the others are uniform
            pair = [[one[statistic] for one in drawn] for drawn in (found, ours)]
            assert stats.ks_2samp(*pair).pvalue > LEVEL, statistic
