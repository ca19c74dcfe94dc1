"""Posterior predictive checks: replicated tables, and bins of answers by their probability.

A replicated table has the judges, items and questions of the original table; its answers are drawn (``draw`` of its
kind) from one draw of the posterior.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import thinned_draws
from voirdire.kinds.answers import Shares
from voirdire.kinds.kind import Kind
from voirdire.kinds.registry import votes_of
from voirdire.kinds.votes.response_probabilities import cell_probabilities
from voirdire.tables.counts import Votes
from voirdire.typing import Floats

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit

REPLICATES = 200
BIN_COUNT = 10


def answers_of_kind(fit: Fit, answer_kind: str | None = None) -> tuple[Kind[Any, Any], Any]:
    """Return a kind of answers of a fit and its problem; by default the first kind.

    Raises
    ------
    InputError
        The fit has no such answers, or gives no probability of single ones.
    """
    for kind, problem in fit.kind.parts(fit.problem):
        if answer_kind is None or answer_kind == kind.name:
            kind.check_single(problem)
            return kind, problem
    raise InputError(f"model {fit.model.name} is one of {fit.model.data}: there are no {answer_kind}")


def replicated_shares(fit: Fit, answer_kind: str | None = None) -> tuple[Shares, Shares]:
    """Compute shares of answers of a kind, observed and in 200 replicated tables; see :func:`answers_of_kind`.

    One table is drawn for each draw of the posterior, or 200 from the centre where there are no draws.
    """
    (kind, problem), rng = answers_of_kind(fit, answer_kind), np.random.default_rng(fit.seed)
    draws = thinned_draws(fit.posterior, REPLICATES)
    draws = draws if len(draws) > 1 else draws * REPLICATES
    tables = [kind.draw(problem, values, rng) for values in draws]
    return kind.shares(problem, [kind.table_of(problem)]), kind.shares(problem, tables)


def calibration_bins(fit: Fit, answer_kind: str | None = None) -> dict[str, Floats]:
    """Group answers in ten bins by the probability that the fit gives them; see :func:`bin_answers`."""
    kind, problem = answers_of_kind(fit, answer_kind)
    return bin_answers(*(values.ravel() for values in kind.calibration(problem, fit.posterior)))


def votes_of_fit(fit: Fit) -> Votes:
    """Return the votes of a fit.

    Raises
    ------
    InputError
        The fit has no votes, or its model pools them.
    """
    part = fit.problem.part("votes")
    if part is None or fit.model.pool != "none":
        raise InputError(f"model {fit.model.name} gives no probability of single votes: nothing to draw")
    votes: Votes = part.votes
    return votes


def cell_probability_draws(fit: Fit, max_draws: int) -> list[Floats]:
    """Compute probabilities of (first, second, tie) in each cell of the votes, shape (cells, 3), for some draws.

    Parameters
    ----------
    fit : Fit
    max_draws : int
        Maximum number of draws, evenly spaced; without draws, the centre is used.
    """
    votes_of_fit(fit)
    votes = votes_of(fit.problem, "report")
    return [
        cell_probabilities(votes.model, votes.density, [values], votes.coded_votes)
        for values in thinned_draws(fit.posterior, max_draws)
    ]


def bin_answers(predicted: Floats, hits: Floats, weight: Floats) -> dict[str, Floats]:
    """Group answers in ten bins of equal size by predicted probability, with the observed share.

    Parameters
    ----------
    predicted, hits, weight : array, shape (cells,)
        Probability of an answer, number of times it was given, and number of opportunities.

    Returns
    -------
    dict of array, shape (bins,)
        predicted, observed, low, high (Wilson), n (answers).

    Examples
    --------
    >>> found = bin_answers(np.array([0.2, 0.8]), np.array([1.0, 3.0]), np.array([5.0, 5.0]))
    >>> found["observed"].tolist(), found["n"].tolist()
    ([0.2, 0.6], [5.0, 5.0])
    """
    from statsmodels.stats.proportion import proportion_confint

    order = np.argsort(predicted, kind="stable")
    quantile = (np.cumsum(weight[order]) - 0.5 * weight[order]) / weight.sum()
    bins = np.minimum((quantile * BIN_COUNT).astype(int), BIN_COUNT - 1)
    n = np.asarray(np.bincount(bins, weight[order], BIN_COUNT), dtype=float)
    filled = n > 0
    n = n[filled]
    mean = np.bincount(bins, (predicted * weight)[order], BIN_COUNT)[filled] / n
    observed = np.bincount(bins, hits[order], BIN_COUNT)[filled]
    low, high = proportion_confint(observed, n, method="wilson")
    return {"predicted": mean, "observed": observed / n, "low": low, "high": high, "n": n}
