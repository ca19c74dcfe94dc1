"""Draws of one table's posterior as latent values of a table that holds it and has more answers.

Values of judges, items and contexts that are new have, given the old answers, their prior with the spreads of each
draw. Values of sum zero get a mean again, which no answer tells and which is drawn from its prior.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from voirdire.infer.latent_gaussian.answers import Answers
from voirdire.infer.latent_gaussian.latent_priors import PLAIN
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.model.design import LEARNED
from voirdire.model.problem import Problem
from voirdire.model.terms.parameters import Parameter
from voirdire.tables.encode import level_positions
from voirdire.typing import Floats, Ints

CLOSE = 1e-6  # of log likelihoods that are the same, relative
TRIES = 100  # rounds in which all but one in 2^100 values of a skewed prior are drawn


class ExtendedDraws(NamedTuple):
    """Old draws as latent values of a new table.

    Attributes
    ----------
    old, new : LatentGaussianModel
        Of the same latent values: with the old answers alone, and with all of them.
    x : array, shape (draws, size)
    hyper : array, shape (draws, hypers)
    """

    old: LatentGaussianModel
    new: LatentGaussianModel
    x: Floats
    hyper: Floats

    @property
    def new_answer_share(self) -> float:
        """Share of the answers that are new."""
        old, new = (np.sum(field.counted.counts) for field in (self.old, self.new))
        return 1.0 - float(old / new)


def extend_draws(old: Problem, draws: Floats, new: Problem, rng: np.random.Generator) -> ExtendedDraws | None:
    """Carry draws, shape (draws, size), flat and of one orientation, to a table that holds the old one.

    None where the new table calls for other parameters, or does not hold the old answers as they were.
    """
    before, after = old.density.latent_model(old.data), new.density.latent_model(new.data)
    at = _latent_places(old, new)
    if at is None or [one.name for one in before.hypers] != [one.name for one in after.hypers]:
        return None
    alone = _embed_answers(before, after, at)
    if alone is None:
        return None
    x, hyper = before.latent(draws)
    x = _draw_means(old, before, x, hyper, rng)
    whole = np.empty((len(x), after.size))
    whole[:, at] = x
    fresh = np.setdiff1d(np.arange(after.size), at)
    whole[:, fresh] = _draw_prior(after, hyper, fresh, rng)
    before_at, alone_at = (
        float(field.answers.value_gradient(field.predictors(values[0], hyper[0]))[0])
        for field, values in ((before, x), (alone, whole))
    )
    if not math.isclose(before_at, alone_at, rel_tol=CLOSE):
        return None
    return ExtendedDraws(alone, after, whole, hyper)


def _latent_parameters(problem: Problem) -> list[Parameter]:
    return [p for p in problem.density.parameters if not isinstance(p.prior, LEARNED)]


def _latent_places(old: Problem, new: Problem) -> Ints | None:
    """Places that the old latent values have among the new ones; None where some have none."""
    before, after = _latent_parameters(old), _latent_parameters(new)
    if [(p.name, p.dims) for p in before] != [(p.name, p.dims) for p in after]:
        return None
    found, start = [], 0
    for was, now in zip(before, after, strict=True):
        shape = now.shape(new.density.sizes)
        along = [
            level_positions(old.coords[dim], new.coords[dim]) if dim in new.coords else np.arange(size)
            for dim, size in zip(was.dims, was.shape(old.density.sizes), strict=True)
        ]
        if any((place < 0).any() for place in along):
            return None
        grid = np.arange(int(np.prod(shape))).reshape(shape)
        found.append(start + grid[np.ix_(*along)].ravel())
        start += grid.size
    return np.concatenate(found)


def _embed_answers(
    old: LatentGaussianModel, new: LatentGaussianModel, at: Ints
) -> LatentGaussianModel | None:
    """The new field with the old answers alone; None where the new table does not hold their cells."""
    if not (isinstance(old.answers, Answers) and isinstance(new.answers, Answers)):
        return None
    if old.pattern.kinds != new.pattern.kinds:
        return None
    # cells of the same sums have the same key: random numbers of latent values, summed as the cell sums these
    number = np.random.default_rng(0).standard_normal(new.size)
    places = _match_rows(_cell_keys(old, number[at]), _cell_keys(new, number))
    if places is None:
        return None
    was, now = np.asarray(old.answers.counts), np.asarray(new.answers.counts)
    if was.shape[:-1] != now.shape[:-1]:
        return None
    counts = np.zeros_like(now)
    counts[..., places] = was
    return replace(new, answers=new.answers.with_counts(counts))


def _cell_keys(model: LatentGaussianModel, number: Floats) -> Floats:
    """A row of numbers for each cell, shape (cells, 2 * predictors), equal where cells have the same sums."""
    sums = [model.pattern.linear_predictors(each).T for each in (number, number**2)]
    return np.asarray(np.round(np.concatenate(sums, axis=1), 6) + 0.0)


def _match_rows(old: Floats, new: Floats) -> Ints | None:
    """For each row of ``old`` a row of ``new`` with the same numbers, each taken once; None where one has none."""
    if old.shape[1] != new.shape[1]:
        return None
    code = np.unique(np.concatenate([new, old]), axis=0, return_inverse=True)[1].ravel()
    theirs, mine = (_number_repeats(part) for part in (code[: len(new)], code[len(new) :]))
    order = np.lexsort(theirs[::-1])
    most = len(code) + 1
    known = theirs[0][order] * most + theirs[1][order]
    wanted = mine[0] * most + mine[1]
    place = np.searchsorted(known, wanted)
    if (place >= len(known)).any() or (known[place] != wanted).any():
        return None
    return np.asarray(order[place])


def _number_repeats(code: Ints) -> tuple[Ints, Ints]:
    """Codes, and how many of the same come before each."""
    order = np.argsort(code, kind="stable")
    starts = np.flatnonzero(np.diff(code[order], prepend=-1))
    count = np.arange(len(code)) - np.repeat(starts, np.diff(np.append(starts, len(code))))
    before = np.empty(len(code), dtype=np.int64)
    before[order] = count
    return code, before


def _draw_means(
    problem: Problem, model: LatentGaussianModel, x: Floats, hyper: Floats, rng: np.random.Generator
) -> Floats:
    """Latent values whose sum is zero in the density, about means that are drawn."""
    widths = model.expand_group_values(np.exp(model.group_priors(hyper).log_spread))
    x, parameters = x.copy(), _latent_parameters(problem)
    shapes = [p.shape(problem.density.sizes) for p in parameters]
    edges = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])
    for p, shape, (start, end) in zip(parameters, shapes, pairwise(edges), strict=True):
        if not p.zero_sum or start == end:
            continue
        rows = x[:, start:end].reshape(len(x), -1, shape[-1])
        wide = widths[:, start:end].reshape(rows.shape)[..., :1]
        mean = wide / np.sqrt(shape[-1]) * rng.standard_normal((*rows.shape[:2], 1))
        x[:, start:end] = (rows - rows.mean(axis=-1, keepdims=True) + mean).reshape(len(x), -1)
    return x


def _draw_prior(model: LatentGaussianModel, hyper: Floats, at: Ints, rng: np.random.Generator) -> Floats:
    """Draws of some latent values from their prior, given the spreads of each, shape (draws, values)."""
    from scipy.special import ndtr

    here = model.group_priors(hyper)
    middle, width = (model.expand_group_values(part)[:, at] for part in (here.mean, np.exp(here.log_spread)))
    share = np.repeat([group.reversed for group in model.groups], model.sizes)[at]
    x: Floats = middle + width * rng.standard_normal(middle.shape)
    left = np.broadcast_to(share != PLAIN, x.shape)
    most = np.maximum(share, 1.0 - share)
    for _ in range(TRIES):
        # a skewed prior is the normal one times r + (1 - 2 r) Phi(x), at most its largest value
        left = left & (rng.random(x.shape) * most > share + (1.0 - 2.0 * share) * ndtr(x))
        if not left.any():
            break
        x[left] = (middle + width * rng.standard_normal(x.shape))[left]
    return x
