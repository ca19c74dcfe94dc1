"""Draws of one table's posterior as latent values of a larger table that contains it.

New judges, items and contexts have, given the old answers, their prior at the spreads of each draw. Values that sum to
zero get a mean again: answers do not identify it, so it is drawn from its prior.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd

from voirdire.infer.latent_gaussian.answers import Answers
from voirdire.infer.latent_gaussian.latent_priors import UNSKEWED_SHARE
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.model.design import LEARNED_PRIORS
from voirdire.model.problem import Problem
from voirdire.model.terms.parameters import Parameter
from voirdire.tables.encode import level_positions
from voirdire.typing import Floats, Ints

LIKELIHOOD_TOLERANCE = 1e-6  # relative difference up to which log likelihoods are equal
MAX_ROUNDS = 100  # rounds of rejection sampling: all but one in 2^100 values of a skewed prior are accepted


class ExtendedDraws(NamedTuple):
    """Old draws as latent values of a new table.

    Attributes
    ----------
    old, new : LatentGaussianModel
        Models of the same latent values: with the old answers alone, and with all answers.
    x : array, shape (draws, size)
        Latent values of the new table.
    hyper : array, shape (draws, hypers)
        Logarithms of spreads.
    """

    old: LatentGaussianModel
    new: LatentGaussianModel
    x: Floats
    hyper: Floats

    @property
    def new_answer_share(self) -> float:
        """Share of all answers that are new."""
        old, new = (np.sum(field.counted.counts) for field in (self.old, self.new))
        return 1.0 - float(old / new)


def extend_draws(old: Problem, draws: Floats, new: Problem, rng: np.random.Generator) -> ExtendedDraws | None:
    """Extend draws, shape (draws, size), flat and of one orientation, to a table that contains the old one.

    Returns None where the new table needs other parameters, or lacks old answers or has changed them.
    """
    old_model, new_model = old.density.latent_model(old.data), new.density.latent_model(new.data)
    positions = _latent_places(old, new)
    old_names, new_names = ([spread.name for spread in model.hypers] for model in (old_model, new_model))
    if positions is None or old_names != new_names:
        return None
    old_answers_model = _embed_answers(old_model, new_model, positions)
    if old_answers_model is None:
        return None
    x, hyper = old_model.latent(draws)
    x = _draw_means(old, old_model, x, hyper, rng)
    latent = np.empty((len(x), new_model.size))
    latent[:, positions] = x
    new_positions = np.setdiff1d(np.arange(new_model.size), positions)
    latent[:, new_positions] = _draw_prior(new_model, hyper, new_positions, rng)
    old_value, embedded_value = (
        float(field.answers.value_gradient(field.predictors(values[0], hyper[0]))[0])
        for field, values in ((old_model, x), (old_answers_model, latent))
    )
    if not math.isclose(old_value, embedded_value, rel_tol=LIKELIHOOD_TOLERANCE):
        return None
    return ExtendedDraws(old_answers_model, new_model, latent, hyper)


def _latent_parameters(problem: Problem) -> list[Parameter]:
    return [p for p in problem.density.parameters if not isinstance(p.prior, LEARNED_PRIORS)]


def _latent_places(old: Problem, new: Problem) -> Ints | None:
    """Find the positions of the old latent values among the new ones; None where any is missing."""
    old_parameters, new_parameters = _latent_parameters(old), _latent_parameters(new)
    if [(p.name, p.dims) for p in old_parameters] != [(p.name, p.dims) for p in new_parameters]:
        return None
    positions, start = [], 0
    for old_parameter, new_parameter in zip(old_parameters, new_parameters, strict=True):
        shape = new_parameter.shape(new.density.sizes)
        axis_levels = [
            level_positions(old.coords[dim], new.coords[dim]) if dim in new.coords else np.arange(size)
            for dim, size in zip(old_parameter.dims, old_parameter.shape(old.density.sizes), strict=True)
        ]
        if any((levels < 0).any() for levels in axis_levels):
            return None
        grid = np.arange(int(np.prod(shape))).reshape(shape)
        positions.append(start + grid[np.ix_(*axis_levels)].ravel())
        start += grid.size
    return np.concatenate(positions)


def _embed_answers(
    old: LatentGaussianModel, new: LatentGaussianModel, positions_in_new: Ints
) -> LatentGaussianModel | None:
    """Put the old answers into the new model, in place of all answers; None where the new table lacks old cells."""
    if not (isinstance(old.answers, Answers) and isinstance(new.answers, Answers)):
        return None
    if old.pattern.kinds != new.pattern.kinds:
        return None
    # cells with the same sums have the same key: sums of random numbers, one for each latent value
    number = np.random.default_rng(0).standard_normal(new.size)
    positions = _match_rows(_cell_keys(old, number[positions_in_new]), _cell_keys(new, number))
    if positions is None:
        return None
    old_counts, new_counts = np.asarray(old.answers.counts), np.asarray(new.answers.counts)
    if old_counts.shape[:-1] != new_counts.shape[:-1]:
        return None
    counts = np.zeros_like(new_counts)
    counts[..., positions] = old_counts
    return replace(new, answers=new.answers.with_counts(counts))


def _cell_keys(model: LatentGaussianModel, number: Floats) -> Floats:
    """Compute a row of numbers for each cell, shape (cells, 2 * predictors), equal where cells have the same sums."""
    sums = [model.pattern.linear_predictors(values).T for values in (number, number**2)]
    return np.asarray(np.round(np.concatenate(sums, axis=1), 6) + 0.0)


def _match_rows(old: Floats, new: Floats) -> Ints | None:
    """Match each row of ``old`` to an equal row of ``new``, each used once; None where a row has no match."""
    if old.shape[1] != new.shape[1]:
        return None
    code = np.unique(np.concatenate([new, old]), axis=0, return_inverse=True)[1].ravel()
    # equal rows are numbered, so that no two have the same key
    new_keys, old_keys = (
        pd.MultiIndex.from_arrays([part, pd.Series(part).groupby(part).cumcount()])
        for part in (code[: len(new)], code[len(new) :])
    )
    positions = np.asarray(new_keys.get_indexer(old_keys))
    return None if (positions < 0).any() else positions


def _draw_means(
    problem: Problem, model: LatentGaussianModel, x: Floats, hyper: Floats, rng: np.random.Generator
) -> Floats:
    """Add means drawn from their prior to the latent values whose sum is zero in the density."""
    widths = model.expand_group_values(np.exp(model.group_priors(hyper).log_spread))
    x, parameters = x.copy(), _latent_parameters(problem)
    shapes = [p.shape(problem.density.sizes) for p in parameters]
    edges = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])
    for p, shape, (start, end) in zip(parameters, shapes, pairwise(edges), strict=True):
        if not p.zero_sum or start == end:
            continue
        rows = x[:, start:end].reshape(len(x), -1, shape[-1])
        width = widths[:, start:end].reshape(rows.shape)[..., :1]
        mean = width / np.sqrt(shape[-1]) * rng.standard_normal((*rows.shape[:2], 1))
        x[:, start:end] = (rows - rows.mean(axis=-1, keepdims=True) + mean).reshape(len(x), -1)
    return x


def _draw_prior(model: LatentGaussianModel, hyper: Floats, positions: Ints, rng: np.random.Generator) -> Floats:
    """Draw some latent values from their prior at the spreads of each draw, shape (draws, values)."""
    from scipy.special import ndtr

    priors = model.group_priors(hyper)
    mean, width = (model.expand_group_values(part)[:, positions] for part in (priors.mean, np.exp(priors.log_spread)))
    share = np.repeat([group.reversed for group in model.groups], model.sizes)[positions]
    x: Floats = mean + width * rng.standard_normal(mean.shape)
    rejected = np.broadcast_to(share != UNSKEWED_SHARE, x.shape)
    largest = np.maximum(share, 1.0 - share)
    for _ in range(MAX_ROUNDS):
        # a skewed prior is the normal one times r + (1 - 2 r) Phi(x), which is at most ``largest``
        rejected = rejected & (rng.random(x.shape) * largest > share + (1.0 - 2.0 * share) * ndtr(x))
        if not rejected.any():
            break
        x[rejected] = (mean + width * rng.standard_normal(x.shape))[rejected]
    return x
