"""Judges whose answers are almost unrelated to the others', and the share of variance common to all judges."""

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

NOISE_LOADS = np.linspace(-0.15, 0.15, 7)  # loads of judges who answer almost at random
SHARP_LOADS = np.linspace(0.3, 0.95, 14)
USEFUL_LOADS = np.concatenate([SHARP_LOADS, -SHARP_LOADS])  # answers opposed to the others' are equally informative
LOAD_SD = 0.15  # standard deviation of a useful judge's load about the others' median
MIN_NOISE_ODDS = 7.0  # smallest odds of noise against a useful judge for a report
EVEN_ODDS_JUDGES = (
    15  # largest number of judges with even prior odds of noise; in more, as many noisy judges are expected
)
MIN_JUDGES = 3  # smallest number of judges of different families for the detection of noise
MAX_DIVIDED_JUDGES = 100  # largest number of judges for a search for families: in more, copies are a minority


class SharedVariance(NamedTuple):
    """Common share of the variance of single answers over judges, with its standard error under a share of zero."""

    share: float
    error: float


def noise_odds(residuals: Residuals) -> Floats:
    """Odds that each judge answers almost at random, shape (judges,): 0 for judges with too few shared questions.

    A judge's answers are correlated with the mean of the others', weighted by the information in their loads. For a
    judge with the load a the expected correlation is a c, with c the correlation of that mean with the common factor.
    The likelihood of the correlation (Fisher's) under loads near 0 is compared with that under useful ones (half of
    them uniform, half similar to the others'). A judge whose answers oppose the others' is not noise. A family of
    similar judges (copies) counts as one, with the mean of its answers: otherwise it would dominate the others' mean,
    and an independent judge would look like noise. Prior odds are even in panels of up to 15 judges and fall with the
    number of judges in larger ones, where otherwise more judges would be named by chance.

    Parameters
    ----------
    residuals : Residuals
        Residuals with equal items (:func:`.families.posterior_with_equal_items`).

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
        families_by_answers(residuals)
        if len(residuals.judges) <= MAX_DIVIDED_JUDGES
        else np.arange(len(residuals.judges))
    )
    y, seen, voice = _mean_by_family(*_standardised_answers(residuals), family)
    shared = seen @ seen.T
    np.fill_diagonal(shared, 0.0)
    correlation = np.divide(y @ y.T, shared, out=np.zeros_like(shared), where=shared > 0)
    signs = judge_signs(correlation)
    load = np.abs(factor_loads(correlation * np.outer(signs, signs), shared))
    weight = load / (1.0 - load**2)
    odds, prior_odds = np.zeros(len(y)), min(1.0, EVEN_ODDS_JUDGES / max(len(y), 1))
    for judge in range(len(y)) if len(y) >= MIN_JUDGES else ():
        other_weights = signs * weight * (np.arange(len(y)) != judge)
        information = np.abs(other_weights) * load @ seen  # information of the others on each question
        is_shared = (seen[judge] > 0.0) & (information > 0.0)
        if is_shared.sum() < MIN_SHARED_QUESTIONS:
            continue
        mean = (other_weights @ (y * seen))[is_shared] / (1.0 + information[is_shared])
        answers = y[judge, is_shared]
        scale = np.sqrt((answers**2).sum() * (mean**2).sum())
        z = np.arctanh(np.clip(answers @ mean / scale if scale > 0.0 else 0.0, -MAX_CORRELATION, MAX_CORRELATION))
        reliability = float(np.sqrt((information[is_shared] / (1.0 + information[is_shared])).mean()))
        count = independent_count(answers, mean, residuals.index_a[is_shared])
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
        odds[judge] = np.exp(noise - np.logaddexp(useful, similar) + np.log(2.0)) * prior_odds
    return np.asarray(odds[voice])


def independent_count(first: Floats, second: Floats, item: Ints) -> float:
    """Number of independent questions with equal information on a correlation, where several may be about one item.

    With m questions about an item, the variance of the mean of products is 1 + (m - 1) i_first i_second times as large
    (i the correlation of two answers about an item: Kish 1965's design effect, for a product).

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
        return float(len(first))
    within = [
        float((np.bincount(code, y) ** 2 - np.bincount(code, y**2)).sum()) / pairs / float((y**2).mean())
        for y in (first, second)
    ]
    size = pairs / len(first)  # other questions about the same item, for each question
    return len(first) / (1.0 + size * float(np.prod(np.clip(within, 0.0, 1.0))))


def shared_variance(residuals: Residuals) -> SharedVariance | None:
    """Mean correlation of two judges' single answers to one question; None without shared questions.

    Parameters
    ----------
    residuals : Residuals
        Residuals with equal items.
    """
    y, seen = _standardised_answers(residuals)
    # sum over all pairs of the products at each question: half of the squared sum minus the sum of squares
    products = 0.5 * (y.sum(axis=0) ** 2 - (y**2).sum(axis=0))
    pairs = 0.5 * seen.sum(axis=0) * (seen.sum(axis=0) - 1.0)
    total = float(pairs.sum())
    return SharedVariance(float(products.sum()) / total, total**-0.5) if total else None


def _mean_by_family(y: Floats, answered: Floats, family: Ints) -> tuple[Floats, Floats, Ints]:
    """Mean answers of each family with a mean square of one, 1 where there are answers, and each judge's family."""
    voice = np.unique(family, return_inverse=True)[1]
    member = (voice == np.arange(voice.max(initial=-1) + 1)[:, None]).astype(float)
    count = member @ answered
    return *_with_unit_square(member @ (y * answered) / np.maximum(count, 1.0), (count > 0.0).astype(float)), voice


def _standardised_answers(residuals: Residuals) -> tuple[Floats, Floats]:
    """Answers of each judge with a mean square of one, and 1 where there are answers."""
    return _with_unit_square(residuals.r[0], (residuals.v[0] > 0.0).astype(float))


def _with_unit_square(r: Floats, answered: Floats) -> tuple[Floats, Floats]:
    square = (r**2).sum(axis=1) / np.maximum(answered.sum(axis=1), 1.0)
    return r / np.sqrt(np.where(square > 0.0, square, 1.0))[:, None], answered
