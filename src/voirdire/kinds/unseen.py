"""Latent values without answers, such as the taste of a judge for an item about which it has not answered.

In posterior draws these values vary by their spreads. At the mode they are zero, which would make predictions too
certain. Predictions at the mode therefore draw them with the spreads at the mode.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from voirdire.infer.posterior import MAX_DRAWS, Posterior, thinned_draws
from voirdire.model.terms.parameters import Spread
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats, Ints

MAX_DRAW_NUMBERS = 3e7  # largest number of values in all draws; there are at least twenty draws


def predictive_draws(posterior: Posterior, seen: Mapping[str, Ints], questions: Mapping[str, Ints]) -> list[Values]:
    """Make the values for predictions: some posterior draws, or the mode with draws of values without answers.

    Parameters
    ----------
    posterior : Posterior
    seen, questions : mapping of str to int array
        Codes of the table's answers, and of the questions, by dimension of the parameters; -1 for any level.
    """
    draws = thinned_draws(posterior)
    if posterior.draws is not None:
        return draws
    (mode,) = draws
    spreads = {
        parameter.name: unseen * np.exp(parameter.prior.log_sd(mode))
        for parameter in posterior.density.parameters
        if isinstance(parameter.prior, Spread)
        and {*parameter.dims} <= questions.keys()
        and (unseen := _unseen_cells(mode[parameter.name].shape, parameter.dims, seen, questions)).any()
    }
    if not spreads:
        return draws
    rng, size = np.random.default_rng(0), sum(sd.size for sd in spreads.values())
    drawn: list[Values] = []
    for _ in range(int(np.clip(MAX_DRAW_NUMBERS / size, 20, MAX_DRAWS)) // 2):
        deviations = {name: sd * rng.standard_normal(sd.shape) for name, sd in spreads.items()}
        drawn += [
            mode | {name: mode[name] + sign * deviation for name, deviation in deviations.items()}
            for sign in (1.0, -1.0)
        ]
    return drawn


def _unseen_cells(
    shape: tuple[int, ...], dims: tuple[str, ...], seen: Mapping[str, Ints], questions: Mapping[str, Ints]
) -> Floats:
    """Make a mask in the shape of a parameter: 1 at cells with questions and without answers, else 0."""
    mask = np.zeros(shape)
    for codes, value in ((questions, 1.0), (seen, 0.0)):
        index = np.stack([codes[dim] for dim in dims])
        mask[tuple(index[:, (index >= 0).all(axis=0)])] = value
    return mask
