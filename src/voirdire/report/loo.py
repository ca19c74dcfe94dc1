"""Expected log predictive density of fits on their own votes, by Pareto-smoothed importance sampling.

For each vote y_i, elpd_i = log p(y_i | all other votes), estimated from the posterior draws by ArviZ's PSIS-LOO
(Vehtari, Gelman and Gabry 2017, Statistics and Computing 27). A comparison sums the differences of two fits over the
votes; its standard error is sqrt(n) times their standard deviation. Votes of one judge on one comparison with the same
answer have the same elpd_i, so each distinct vote is computed once and counted with its multiplicity.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from voirdire.errors import InputError
from voirdire.infer.diagnose import psis_loo
from voirdire.kinds.registry import votes_of
from voirdire.kinds.votes.response_probabilities import cell_probabilities
from voirdire.report.ppc import votes_of_fit

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit

Floats = npt.NDArray[np.float64]

MAX_DRAWS = 1000  # maximum number of draws, evenly spaced
MAX_PARETO_K = 0.7  # Pareto shape above which importance sampling is unreliable


@dataclass(frozen=True, eq=False)
class Pointwise:
    """elpd, lppd and Pareto shape of each vote, shape (votes,)."""

    elpd: Floats
    lppd: Floats
    k: Floats


def pointwise_loo(fit: Fit) -> Pointwise:
    """Compute PSIS-LOO of every vote on items.

    Raises
    ------
    InputError
        The fit has no draws, or gives no probability of single votes.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 9, "second": "y", "winner": ["x"] * 6 + ["y"] * 3})
    >>> pointwise_loo(fit(table, model="bradley-terry")).elpd.shape
    (9,)
    """
    votes = votes_of_fit(fit)
    if fit.posterior.draws is None:
        raise InputError(f"method {fit.method!r} has no draws; fit with laplace or nuts")
    problem = votes_of(fit.problem, "loo")
    chains, length = fit.posterior.draws.shape[:2]
    values = fit.problem.density.values(fit.posterior.draws[:, :: max(1, -(-chains * length // MAX_DRAWS))], np)
    table = problem.coded_votes
    cell, outcome = np.nonzero(votes.counts)
    size = values["strength"].shape[:2]
    log_likelihood = np.empty((*size, len(cell)))
    for draw in np.ndindex(*size):
        draw_values = {name: value[draw] for name, value in values.items()}
        log_likelihood[draw] = np.log(
            cell_probabilities(problem.model, problem.density, [draw_values], table)[cell, outcome]
        )
    with warnings.catch_warnings():
        # no warning needed: the number of votes with a large shape is part of the result
        warnings.filterwarnings("ignore", "Estimated shape parameter of Pareto", UserWarning)
        elpd, k = psis_loo(log_likelihood, {"strength": values["strength"]})
    lppd = np.logaddexp.reduce(log_likelihood.reshape(-1, len(cell)), axis=0) - np.log(size[0] * size[1])
    counts = votes.counts[cell, outcome]
    return Pointwise(*(np.repeat(part, counts) for part in (elpd, lppd, k)))


def comparison_rows(loo_by_run: Mapping[str, Pointwise]) -> list[dict[str, Any]]:
    """Return rows of a comparison, best first: run, elpd and se, p, difference from the best and its se, bad_k.

    Parameters
    ----------
    loo_by_run : mapping of str to Pointwise
        PSIS-LOO by run, of the same votes in the same order.

    Examples
    --------
    >>> one = Pointwise(np.array([-0.5, -0.7]), np.array([-0.4, -0.6]), np.array([0.1, 0.9]))
    >>> two = Pointwise(np.array([-0.75, -0.95]), np.array([-0.5, -0.5]), np.array([0.1, 0.1]))
    >>> rows = comparison_rows({"a": one, "b": two})
    >>> [(row["run"], round(row["difference"], 3), round(row["difference_se"], 3)) for row in rows]
    [('a', 0.0, 0.0), ('b', -0.5, 0.0)]
    """
    best = max(loo_by_run, key=lambda name: float(loo_by_run[name].elpd.sum()))
    rows = [
        {
            "run": name,
            "elpd": float(pointwise.elpd.sum()),
            "se": _sum_error(pointwise.elpd),
            "p": float((pointwise.lppd - pointwise.elpd).sum()),
            "difference": float((pointwise.elpd - loo_by_run[best].elpd).sum()),
            "difference_se": _sum_error(pointwise.elpd - loo_by_run[best].elpd),
            "bad_k": int((pointwise.k > MAX_PARETO_K).sum()),
        }
        for name, pointwise in loo_by_run.items()
    ]
    return sorted(rows, key=lambda row: -float(str(row["elpd"])))


def _sum_error(values: Floats) -> float:
    """Return the standard error of a sum of independent terms, sqrt(n var) with divisor n - 1."""
    return float(np.sqrt(len(values)) * values.std(ddof=1)) if len(values) > 1 else float("nan")
