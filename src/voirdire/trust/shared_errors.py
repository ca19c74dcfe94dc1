"""Errors that judges share, pair by pair, where residuals of single judges say nothing.

Weight of one answer beside those of the judge's family.

The answers of m judges whose residuals correlate by rho hold as much information about their mean as
m / (1 + (m - 1) rho) independent ones (Kish 1965, the design effect), so each counts for 1 / (1 + (m - 1) rho) of
one in the likelihood. rho is the mean residual correlation within the family at the mode where each family counts as
one judge: where its members counted in full, they would be the consensus that is taken out, with all that they share.
Below zero rho counts as none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from voirdire.model.problem import Problem
from voirdire.tables.families import family_codes
from voirdire.trust.residuals import Residuals
from voirdire.typing import Bools, Floats, Ints

MIN_STANDARD_ERRORS = 3.0  # standard errors of a correlation of residuals that is no chance


@dataclass(frozen=True, eq=False)
class SharedErrors:
    """Products of errors of every two judges; takes the place of :class:`voirdire.trust.residuals.Residuals`.

    Attributes
    ----------
    judges : int array, shape (judges,)
        Which judges of the problem these are.
    index_a, index_b : int array, shape (pairs,)
        Places among ``judges``.
    products, variance : array, shape (pairs, units)
        D / sqrt(V_j V_k) and its variance; 0 where they cannot be had.
    known : bool array, shape (pairs, units)
        Where they can.
    """

    judges: Ints
    index_a: Ints
    index_b: Ints
    products: Floats
    variance: Floats
    known: Bools

    @property
    def comparison_count(self) -> int:
        """Number of units: items under criteria."""
        return int(self.products.shape[1])

    def sums(self) -> tuple[Floats, Floats, Floats]:
        """T, its variance and its scale, as of :meth:`.Residuals.sums`."""
        size = len(self.judges)
        totals = np.zeros((3, size, size))
        for t, variance, scale in self.resampled(np.ones((1, self.comparison_count))):
            totals[:, self.index_a, self.index_b] = t[:, 0], variance[:, 0], scale[:, 0]
        t, variance, scale = totals + totals.swapaxes(1, 2)
        return t, variance, scale

    def resampled(self, weights: Floats) -> Iterator[tuple[Floats, Floats, Floats]]:
        """T, its variance and its scale, as of :meth:`.Residuals.resampled`; all pairs at once."""
        t, variance, scale = (part @ weights.T for part in (self.products, self.variance, self.known))
        # a copy among the others takes its own part from the products of both: below zero is no dependence of these two
        t = np.maximum(t, -np.sqrt(variance))
        yield t, variance, np.maximum(scale, np.abs(t))


def equal_family_weights(problem: Problem, families: dict[str, str]) -> Floats:
    """Answer weight of each judge with which every family counts as one judge, shape (judges,)."""
    codes = family_codes(families, problem.judges)
    return np.asarray(1.0 / np.bincount(codes)[codes])


def family_answer_weight(
    problem: Problem, families: dict[str, str], found: Residuals | SharedErrors
) -> Floats:
    """Answer weight of each judge, shape (judges,); 1 for judges without a family.

    Parameters
    ----------
    families : dict
        Family of every judge.
    found : Residuals or SharedErrors
        At the mode where each family counts as one judge.

    Examples
    --------
    A judge and its two copies beside three others:

    >>> from voirdire.infer.mode import find_mode
    >>> from voirdire.infer.posterior import Posterior
    >>> from voirdire.kinds.votes.problem import encode_votes
    >>> from voirdire.simulate import Copycat, OneCoin, simulate_votes
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.kinds.votes.trust import vote_residuals
    >>> from voirdire.tables.votes import read_votes
    >>> panel = {"a": OneCoin(0.7), "b": Copycat("a"), "c": Copycat("a")}
    >>> panel |= {"d": OneCoin(0.8), "e": OneCoin(0.9), "f": OneCoin(0.9)}
    >>> problem = encode_votes(load_model("crowd-bt"), read_votes(simulate_votes(panel, 12, 1).votes))
    >>> families = {"a": "A", "b": "A", "c": "A", "d": "d", "e": "e", "f": "f"}
    >>> mode = Posterior(problem.density, find_mode(problem).x, None)
    >>> family_answer_weight(problem, families, vote_residuals(problem, mode)).round(1).tolist()
    [0.3, 0.3, 0.3, 1.0, 1.0, 1.0]
    """
    codes, (t, _, scale) = family_codes(families, problem.judges), found.sums()
    out = np.ones(len(problem.judges))
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        rows = np.flatnonzero(np.isin(found.judges, members))
        if len(rows) < 2:
            continue
        off_diagonal = ~np.eye(len(rows), dtype=bool)
        total = float(scale[np.ix_(rows, rows)][off_diagonal].sum())
        rho = float(t[np.ix_(rows, rows)][off_diagonal].sum()) / total if total > 0 else 0.0
        out[members] = 1.0 / (1.0 + (len(members) - 1) * min(max(rho, 0.0), 1.0))
    return out


def copy_answer_weight(
    problem: Problem, families: dict[str, str], found: Residuals | SharedErrors, copied: float
) -> Floats:
    """Answer weight of each judge beside those of its family that repeat its answers, shape (judges,); 1 without such.

    Parameters
    ----------
    families : dict
        Family of every judge.
    found : Residuals or SharedErrors
        At a mode that knows what families share.
    copied : float
        Correlation of residuals from which a judge repeats another, where it is clear of chance.

    Examples
    --------
    A judge and its copy in a family of three:

    >>> from voirdire.infer.mode import find_mode
    >>> from voirdire.infer.posterior import Posterior
    >>> from voirdire.kinds.votes.problem import encode_votes
    >>> from voirdire.simulate import Copycat, OneCoin, simulate_votes
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.kinds.votes.trust import vote_residuals
    >>> from voirdire.tables.votes import read_votes
    >>> panel = {"a": OneCoin(0.7), "b": Copycat("a"), "c": OneCoin(0.8), "d": OneCoin(0.9), "e": OneCoin(0.9)}
    >>> problem = encode_votes(load_model("crowd-bt"), read_votes(simulate_votes(panel, 12, 1).votes))
    >>> families = {"a": "A", "b": "A", "c": "A", "d": "d", "e": "e"}
    >>> mode = Posterior(problem.density, find_mode(problem).x, None)
    >>> copy_answer_weight(problem, families, vote_residuals(problem, mode), 0.7).round(1).tolist()
    [0.5, 0.5, 1.0, 1.0, 1.0]
    """
    codes, (t, variance, scale) = family_codes(families, problem.judges)[found.judges], found.sums()
    rho = np.divide(t, scale, out=np.zeros(t.shape), where=scale > 0)
    repeats = (codes[:, None] == codes) & ~np.eye(len(codes), dtype=bool)
    repeats &= (rho > copied) & (t > MIN_STANDARD_ERRORS * np.sqrt(variance))
    out = np.ones(len(problem.judges))
    out[found.judges] = 1.0 / (1.0 + np.where(repeats, np.minimum(rho, 1.0), 0.0).sum(axis=1))
    return out
