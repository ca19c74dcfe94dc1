"""Judges whose answers have nearly nothing to do with the others', and how far answers tell items apart at all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voirdire.trust.families import HIGHEST, LEAST, factor_loads, families_by_answers, judge_signs
from voirdire.trust.residuals import Residuals
from voirdire.typing import Floats, Ints

NOISE = np.linspace(-0.15, 0.15, 7)  # loads of judges who answer nearly at random
SHARP = np.linspace(0.3, 0.95, 14)
USEFUL = np.concatenate([SHARP, -SHARP])  # who answers against the others tells as much
LIKE = 0.15  # sd of a useful judge's load from the middle one of the others'
ODDS = 7.0  # by which a judge must be noise rather than useful to be named
FEWEST = 3  # judges, no two of one family, of whom one can be told to be noise
DIVIDED = 100  # judges at most among whom families are sought: of more, copies are not the others


class Shared(NamedTuple):
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
    >>> (odds > ODDS).tolist()
    [False, False, False, False, True]
    """
    family = families_by_answers(found) if len(found.judges) <= DIVIDED else np.arange(len(found.judges))
    y, seen, voice = _mean_by_family(*_standardised_answers(found), family)
    shared = seen @ seen.T
    np.fill_diagonal(shared, 0.0)
    correlation = np.divide(y @ y.T, shared, out=np.zeros_like(shared), where=shared > 0)
    one_way = judge_signs(correlation)
    load = np.abs(factor_loads(correlation * np.outer(one_way, one_way), shared))
    weight = load / (1.0 - load**2)
    odds = np.zeros(len(y))
    for judge in range(len(y)) if len(y) >= FEWEST else ():
        others = one_way * weight * (np.arange(len(y)) != judge)
        told = np.abs(others) * load @ seen  # information of the others on each question
        both = (seen[judge] > 0.0) & (told > 0.0)
        if both.sum() < LEAST:
            continue
        mean = (others @ (y * seen))[both] / (1.0 + told[both])
        own = y[judge, both]
        scale = np.sqrt((own**2).sum() * (mean**2).sum())
        z = np.arctanh(np.clip(own @ mean / scale if scale > 0.0 else 0.0, -HIGHEST, HIGHEST))
        known = float(np.sqrt((told[both] / (1.0 + told[both])).mean()))
        count = independent_count(own, mean, found.one[both])
        typical = np.exp(-0.5 * ((np.abs(USEFUL) - np.median(np.delete(load, judge))) / LIKE) ** 2)
        ways = (NOISE, np.ones_like(NOISE)), (USEFUL, np.ones_like(USEFUL)), (USEFUL, typical)
        precision = max(count - 3.0, 1.0)
        noise, useful, like = (
            np.logaddexp.reduce(
                np.log(prior / prior.sum()) - 0.5 * (z - np.arctanh(some * known)) ** 2 * precision
            )
            for some, prior in ways
        )
        odds[judge] = np.exp(noise - np.logaddexp(useful, like) + np.log(2.0))
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


def shared_variance(found: Residuals) -> Shared | None:
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
    return Shared(float(products.sum()) / total, total**-0.5) if total else None


def _mean_by_family(y: Floats, seen: Floats, family: Ints) -> tuple[Floats, Floats, Ints]:
    """Mean answers of each family with a mean square of one, 1 where there are any, and the family of each judge."""
    voice = np.unique(family, return_inverse=True)[1]
    of = (voice == np.arange(voice.max(initial=-1) + 1)[:, None]).astype(float)
    count = of @ seen
    return *_with_unit_square(of @ (y * seen) / np.maximum(count, 1.0), (count > 0.0).astype(float)), voice


def _standardised_answers(found: Residuals) -> tuple[Floats, Floats]:
    """Answers of each judge with a mean square of one, and 1 where there are any."""
    return _with_unit_square(found.r[0], (found.v[0] > 0.0).astype(float))


def _with_unit_square(r: Floats, seen: Floats) -> tuple[Floats, Floats]:
    square = (r**2).sum(axis=1) / np.maximum(seen.sum(axis=1), 1.0)
    return r / np.sqrt(np.where(square > 0.0, square, 1.0))[:, None], seen
