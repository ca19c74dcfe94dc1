"""Votes as the fit expects them: probabilities of each cell by draw, replicated shares of wins, calibration bins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import some_draws
from voirdire.kinds.registry import kind_of, votes_of
from voirdire.kinds.votes.chances import probabilities
from voirdire.tables.votes import Votes
from voirdire.typing import Floats

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit

REPLICATES = 200
BINS = 10
_Z = 1.959964  # of Wilson's 95% intervals


def table_of(fit: Fit) -> Votes:
    """The votes of a fit.

    Raises
    ------
    InputError
        The fit has no votes, or its model pools them before it looks at them.
    """
    votes = fit.problem.part("votes")
    if votes is None or fit.model.pool != "none":
        raise InputError(f"model {fit.model.name} gives no probability of single votes: nothing to draw")
    found: Votes = votes.votes
    return found


def draws_of_cells(fit: Fit, most: int) -> list[Floats]:
    """Probability of (first, second, tie) in each cell of the votes, shape (cells, 3), for some draws.

    Parameters
    ----------
    fit : Fit
    most : int
        Number of draws, evenly spaced; the centre alone where there are none.
    """
    table_of(fit)
    votes = votes_of(fit.problem, "report")
    return [
        probabilities(votes.model, votes.density, [one], votes.coded_votes)
        for one in some_draws(fit.posterior, most)
    ]


def win_shares(fit: Fit) -> tuple[Floats, Floats]:
    """Share of wins of each item (a tie counts half), observed and in replicated tables of the same comparisons.

    Returns
    -------
    observed : array, shape (items,)
        NaN for an item that was never voted on (beside scores).
    drawn : array, shape (replicates, items)
        One table drawn from the fit for each draw of the posterior (for each of 200 repeats without draws).
    """
    votes = table_of(fit)
    size = len(votes.items)
    total = votes.counts.sum(axis=1)
    shown = np.bincount(votes.first, total, size) + np.bincount(votes.second, total, size)

    def shares(counts: Any) -> Floats:
        won = np.bincount(votes.first, counts[:, 0] + 0.5 * counts[:, 2], size)
        won += np.bincount(votes.second, counts[:, 1] + 0.5 * counts[:, 2], size)
        with np.errstate(invalid="ignore"):
            return np.asarray(won / shown)

    rng, problem = np.random.default_rng(fit.seed), votes_of(fit.problem, "report")
    draws = some_draws(fit.posterior, REPLICATES)
    draws = draws if len(draws) > 1 else draws * REPLICATES
    drawn = [shares(kind_of(problem).draw(problem, values, rng).counts) for values in draws]
    return shares(votes.counts), np.stack(drawn)


def calibration_bins(fit: Fit) -> dict[str, Floats]:
    """Ten bins of as many votes each by the predicted probability, with the share observed.

    Every vote counts twice, as an answer "first" and as an answer "second" with their own probabilities, so that the
    picture does not depend on which item stood first.

    Returns
    -------
    dict of array, shape (bins,)
        predicted, observed, low, high (Wilson), n (votes).
    """
    votes = table_of(fit)
    chance = np.mean(draws_of_cells(fit, REPLICATES), axis=0)
    total = votes.counts.sum(axis=1)
    predicted = np.concatenate([chance[:, 0], chance[:, 1]])
    hits = np.concatenate([votes.counts[:, 0], votes.counts[:, 1]]).astype(float)
    weight = np.concatenate([total, total]).astype(float)
    return binned(predicted, hits, weight)


def binned(predicted: Floats, hits: Floats, weight: Floats) -> dict[str, Floats]:
    """Ten bins of as many answers each by the predicted probability, with the share observed.

    Parameters
    ----------
    predicted, hits, weight : array, shape (cells,)
        Probability of an answer, how often it was given, and out of how many.

    Returns
    -------
    dict of array, shape (bins,)
        predicted, observed, low, high (Wilson), n (answers).

    Examples
    --------
    >>> found = binned(np.array([0.2, 0.8]), np.array([1.0, 3.0]), np.array([5.0, 5.0]))
    >>> found["observed"].tolist(), found["n"].tolist()
    ([0.2, 0.6], [5.0, 5.0])
    """
    order = np.argsort(predicted, kind="stable")
    place = (np.cumsum(weight[order]) - 0.5 * weight[order]) / weight.sum()
    bins = np.minimum((place * BINS).astype(int), BINS - 1)
    n = np.asarray(np.bincount(bins, weight[order], BINS), dtype=float)
    kept = n > 0
    n = n[kept]
    mean = np.bincount(bins, (predicted * weight)[order], BINS)[kept] / n
    share = np.bincount(bins, hits[order], BINS)[kept] / n
    low, high = wilson(share, n)
    return {"predicted": mean, "observed": share, "low": low, "high": high, "n": n}


def wilson(share: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Wilson's 95% interval of a share (Wilson 1927).

    Examples
    --------
    >>> low, high = wilson(np.array([0.5]), np.array([10.0]))
    >>> round(float(low[0]), 3), round(float(high[0]), 3)
    (0.237, 0.763)
    """
    scale = 1 + _Z**2 / n
    middle = (share + _Z**2 / (2 * n)) / scale
    half = _Z / scale * np.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    return middle - half, middle + half
