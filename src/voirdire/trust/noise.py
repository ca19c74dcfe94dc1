"""Judges whose answers have nearly nothing to do with the others', and how far answers tell items apart at all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voirdire.trust.families import (
    MAX_CORRELATION,
    MIN_SHARED_QUESTIONS,
    factor_loads,
    families_by_answers,
    judge_signs,
)
from voirdire.trust.residuals import Residuals
from voirdire.typing import Floats, Ints

NOISE_LOADS = np.linspace(-0.15, 0.15, 7)  # loads of judges who answer nearly at random
SHARP_LOADS = np.linspace(0.3, 0.95, 14)
USEFUL_LOADS = np.concatenate([SHARP_LOADS, -SHARP_LOADS])  # who answers against the others tells as much
LOAD_SD = 0.15  # sd of a useful judge's load from the middle one of the others'
MIN_NOISE_ODDS = 7.0  # by which a judge must be noise rather than useful to be named
MIN_JUDGES = 3  # judges, no two of one family, of whom one can be told to be noise
MAX_DIVIDED_JUDGES = 100  # judges at most among whom families are sought: of more, copies are not the others


class SharedVariance(NamedTuple):
    """Share of the variance of single answers that all judges see in items, with its standard error without any."""

    share: float
    error: float


def noise_odds(found: Residuals) -> Floats:
    """Odds that each judge answers nearly at random, shape (judges,): 0 of one who shares too few questions.

    A judge's answers are correlated with the mean of the others', weighed by what their loads say of them; of a judge
    with the load a that is a c, c how well that mean shows what all see. The likelihood of the correlation (Fisher's)
    under loads near 0 is compared with that under useful ones (half of them evenly, half like the others'). A judge
    who answers against the others is no noise. A family of judges who answer alike (copies) counts as one, by the mean
    of its answers: else it would be the others, beside whom an independent judge looks like noise.

    Parameters
    ----------
    found : Residuals
        Where all items are alike (:func:`.families.posterior_with_equal_items`).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=60) + rng.normal(size=(5, 60))
    >>> y[4] = rng.normal(size=60)
    >>> items, none, flat = np.arange(60), np.zeros(0, dtype=np.int64), np.zeros((1, 5))
    >>> odds = noise_odds(Residuals(np.arange(5), y[None], np.ones_like(y)[None], flat, flat, items, none, none))
    >>> (odds > MIN_NOISE_ODDS).tolist()
    [False, False, False, False, True]
    """
    family = (
        families_by_answers(found)
        if len(found.judges) <= MAX_DIVIDED_JUDGES
        else np.arange(len(found.judges))
    )
    y, seen, voice = _mean_by_family(*_standardised_answers(found), family)
    shared = seen @ seen.T
    np.fill_diagonal(shared, 0.0)
    correlation = np.divide(y @ y.T, shared, out=np.zeros_like(shared), where=shared > 0)
    signs = judge_signs(correlation)
    load = np.abs(factor_loads(correlation * np.outer(signs, signs), shared))
    weight = load / (1.0 - load**2)
    odds = np.zeros(len(y))
    for judge in range(len(y)) if len(y) >= MIN_JUDGES else ():
        other_weights = signs * weight * (np.arange(len(y)) != judge)
        information = np.abs(other_weights) * load @ seen  # information of the others on each question
        is_shared = (seen[judge] > 0.0) & (information > 0.0)
        if is_shared.sum() < MIN_SHARED_QUESTIONS:
            continue
        mean = (other_weights @ (y * seen))[is_shared] / (1.0 + information[is_shared])
        answers = y[judge, is_shared]
        scale = np.sqrt((answers**2).sum() * (mean**2).sum())
        z = np.arctanh(
            np.clip(answers @ mean / scale if scale > 0.0 else 0.0, -MAX_CORRELATION, MAX_CORRELATION)
        )
        reliability = float(np.sqrt((information[is_shared] / (1.0 + information[is_shared])).mean()))
        count = independent_count(answers, mean, found.index_a[is_shared])
        typical = np.exp(-0.5 * ((np.abs(USEFUL_LOADS) - np.median(np.delete(load, judge))) / LOAD_SD) ** 2)
        load_priors = (
            (NOISE_LOADS, np.ones_like(NOISE_LOADS)),
            (USEFUL_LOADS, np.ones_like(USEFUL_LOADS)),
            (USEFUL_LOADS, typical),
        )
        precision = max(count - 3.0, 1.0)
        noise, useful, similar = (
            np.logaddexp.reduce(
                np.log(prior / prior.sum()) - 0.5 * (z - np.arctanh(loads * reliability)) ** 2 * precision
            )
            for loads, prior in load_priors
        )
        odds[judge] = np.exp(noise - np.logaddexp(useful, similar) + np.log(2.0))
    return np.asarray(odds[voice])


def independent_count(one: Floats, other: Floats, item: Ints) -> float:
    """Number of independent questions that tell as much of a correlation as these, some of which are about one item.

    Answers to m questions about an item have 1 + (m - 1) i_one i_other times the variance in the mean of their products
    (i the correlation of two answers about an item: Kish 1965's design effect, of a product).

    Examples
    --------
    >>> item = np.repeat(np.arange(10), 6)
    >>> same = np.repeat([1.0, -1.0], 30)
    >>> round(independent_count(same, same, item))
    10
    """
    code = np.unique(item, return_inverse=True)[1]
    count = np.bincount(code)
    pairs = float((count * (count - 1.0)).sum())
    if not pairs:
        return float(len(one))
    within = [
        float((np.bincount(code, y) ** 2 - np.bincount(code, y**2)).sum()) / pairs / float((y**2).mean())
        for y in (one, other)
    ]
    size = pairs / len(one)  # questions beside each about its item
    return len(one) / (1.0 + size * float(np.prod(np.clip(within, 0.0, 1.0))))


def shared_variance(found: Residuals) -> SharedVariance | None:
    """Mean correlation of single answers of two judges to one question; None where no two answer the same.

    Parameters
    ----------
    found : Residuals
        Where all items are alike.
    """
    y, seen = _standardised_answers(found)
    # of each question the products of all pairs: the square of the sum less the squares
    products = 0.5 * (y.sum(axis=0) ** 2 - (y**2).sum(axis=0))
    pairs = 0.5 * seen.sum(axis=0) * (seen.sum(axis=0) - 1.0)
    total = float(pairs.sum())
    return SharedVariance(float(products.sum()) / total, total**-0.5) if total else None


def _mean_by_family(y: Floats, seen: Floats, family: Ints) -> tuple[Floats, Floats, Ints]:
    """Mean answers of each family with a mean square of one, 1 where there are any, and the family of each judge."""
    voice = np.unique(family, return_inverse=True)[1]
    member = (voice == np.arange(voice.max(initial=-1) + 1)[:, None]).astype(float)
    count = member @ seen
    return *_with_unit_square(
        member @ (y * seen) / np.maximum(count, 1.0), (count > 0.0).astype(float)
    ), voice


def _standardised_answers(found: Residuals) -> tuple[Floats, Floats]:
    """Answers of each judge with a mean square of one, and 1 where there are any."""
    return _with_unit_square(found.r[0], (found.v[0] > 0.0).astype(float))


def _with_unit_square(r: Floats, seen: Floats) -> tuple[Floats, Floats]:
    square = (r**2).sum(axis=1) / np.maximum(seen.sum(axis=1), 1.0)
    return r / np.sqrt(np.where(square > 0.0, square, 1.0))[:, None], seen
