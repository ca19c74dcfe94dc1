"""Residuals (judges' answers minus the model's expectation), and errors shared by pairs of judges.

For judge k and comparison p (an unordered pair under a criterion), with +1 for one item, -1 for the other and 0
for a tie, let r_kp be the sum of the judge's answers minus its expectation, and v_kp its variance, both given the
parameters. Given the true parameters, judges are independent: r_jp r_kp has mean zero and variance v_jp v_kp, so that

    T_jk = sum_p r_jp r_kp,   z_jk = T_jk / sqrt(sum_p v_jp v_kp),   rho_jk = T_jk / sum_p sqrt(v_jp v_kp)

are a standard normal test of excess agreement between two judges, and its size: a posterior
predictive check by a realised discrepancy (Gelman, Meng and Stern 1996, Statistica Sinica 6), similar to Yen's Q3 of
item response theory (1984). They are averaged over posterior draws; because the draws depend on the votes, the test is
conservative.

Errors shared by pairs of judges, where residuals of single judges are uninformative, and weights of answers.

The answers of m judges with the residual correlation rho have as much information about their mean as
m / (1 + (m - 1) rho) independent ones (Kish 1965, the design effect), so that each has the weight 1 / (1 + (m - 1) rho)
in the likelihood. rho is the mean residual correlation within the family, at least zero, at the mode where each family
counts as one judge: with full weight its members would dominate the consensus, and their shared errors would not be
in the residuals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from voirdire.model.problem import Problem
from voirdire.tables.families import family_codes
from voirdire.typing import Bools, Floats, Ints

RESIDUAL_DRAWS = 16
MAX_CELLS = 4_000_000  # largest number of judges times comparisons
MAX_JUDGES = 1_000  # largest number of judges, because all pairs are compared


def examined_judges(answers: Ints, comparisons: int) -> Ints:
    """Judges to examine: all who answered, in larger tables those with most answers; in ascending order.

    Parameters
    ----------
    answers : int array, shape (judges,)
        Number of answers of each judge.
    comparisons : int

    Examples
    --------
    >>> examined_judges(np.array([5, 0, 7]), 10).tolist(), examined_judges(np.array([5, 6, 7]), 2_000_000).tolist()
    ([0, 2], [1, 2])
    """
    judge_count = max(2, min(MAX_CELLS // max(comparisons, 1), MAX_JUDGES))
    order = np.argsort(-answers, kind="stable")[:judge_count]
    return np.asarray(np.sort(order[answers[order] > 0]))


@dataclass(frozen=True, eq=False)
class Residuals:
    """Residual answers, one set per draw.

    Attributes
    ----------
    judges : int array, shape (judges,)
        Positions of the rows' judges in the problem.
    r, v : array, shape (draws, judges, comparisons)
        Residuals and variances; 0 where a judge did not answer.
    first, first_variance : array, shape (draws, judges)
        Number of first items chosen minus its expectation, and its variance.
    index_a, index_b : int array, shape (comparisons,)
        Items of each comparison; for scores only the first array.
    criterion : int array, shape (comparisons,)
        Empty for scores.
    """

    judges: Ints
    r: Floats
    v: Floats
    first: Floats
    first_variance: Floats
    index_a: Ints
    index_b: Ints
    criterion: Ints

    @property
    def comparison_count(self) -> int:
        """Number of comparisons."""
        return int(self.r.shape[2])

    def combined_with(self, other: Residuals) -> Residuals:
        """Append residuals of other answers, for the judges of both; items and first places are those of ``self``."""
        judges = np.union1d(self.judges, other.judges)

        def among_all(part: Residuals, name: str) -> Floats:
            array: Floats = getattr(part, name)
            padded = np.zeros((len(array), len(judges), *array.shape[2:]))
            padded[:, np.searchsorted(judges, part.judges)] = array
            return padded

        r, v = (np.concatenate([among_all(part, n) for part in (self, other)], axis=2) for n in ("r", "v"))
        first = among_all(self, "first"), among_all(self, "first_variance")
        return Residuals(judges, r, v, *first, self.index_a, self.index_b, self.criterion)

    @cached_property
    def _variance_roots(self) -> Floats:
        return np.sqrt(self.v)

    def pair_statistics(self) -> tuple[Floats, Floats, Floats]:
        """T, its variance and its scale, shape (judges, judges) each, averaged over draws."""
        draws = zip(self.r, self.v, self._variance_roots, strict=True)
        t, var, scale = np.mean([[part @ part.T for part in parts] for parts in draws], axis=0)
        return t, var, scale

    def resampled(self, weights: Floats) -> Iterator[tuple[Floats, Floats, Floats]]:
        """T, its variance and its scale under weights of comparisons, each pair of judges once, in batches.

        It uses the first draw, and for each judge only the comparisons that it answered.

        Parameters
        ----------
        weights : array, shape (resamples, comparisons)
            Weight of each comparison.

        Yields
        ------
        three arrays, shape (pairs, resamples)
        """
        judges = self.r.shape[1]
        for i in range(judges - 1):
            answered = np.flatnonzero(self.v[0, i])
            r, v, root = (part[0][:, answered] for part in (self.r, self.v, self._variance_roots))
            counts = weights[:, answered].T
            step = max(1, MAX_CELLS // max(len(answered), 1))
            for start in range(i + 1, judges, step):
                others = slice(start, start + step)
                t, var, scale = (part[others] * part[i] @ counts for part in (r, v, root))
                yield t, var, scale


MIN_STANDARD_ERRORS = 3.0  # smallest clear correlation of residuals, in standard errors


@dataclass(frozen=True, eq=False)
class SharedErrors:
    """Products of errors of every two judges, as a replacement of :class:`voirdire.trust.residuals.Residuals`.

    Attributes
    ----------
    judges : int array, shape (judges,)
        Positions of the judges in the problem.
    index_a, index_b : int array, shape (pairs,)
        Positions in ``judges``.
    products, variance : array, shape (pairs, units)
        D / sqrt(V_j V_k) and its variance; 0 where unavailable.
    known : bool array, shape (pairs, units)
        True where available.
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

    def pair_statistics(self) -> tuple[Floats, Floats, Floats]:
        """T, its variance and its scale, as in :meth:`.Residuals.pair_statistics`."""
        size = len(self.judges)
        totals = np.zeros((3, size, size))
        for t, variance, scale in self.resampled(np.ones((1, self.comparison_count))):
            totals[:, self.index_a, self.index_b] = t[:, 0], variance[:, 0], scale[:, 0]
        t, variance, scale = totals + totals.swapaxes(1, 2)
        return t, variance, scale

    def resampled(self, weights: Floats) -> Iterator[tuple[Floats, Floats, Floats]]:
        """T, its variance and its scale, as in :meth:`.Residuals.resampled`; all pairs at once."""
        t, variance, scale = (part @ weights.T for part in (self.products, self.variance, self.known))
        # copies among the other judges bias products downwards: below zero is no dependence of a pair
        t = np.maximum(t, -np.sqrt(variance))
        yield t, variance, np.maximum(scale, np.abs(t))


def equal_family_weights(problem: Problem, families: dict[str, str]) -> Floats:
    """Answer weight of each judge, shape (judges,), with a total weight of one for each family."""
    codes = family_codes(families, problem.judges)
    return np.asarray(1.0 / np.bincount(codes)[codes])


def family_answer_weight(problem: Problem, families: dict[str, str], residuals: Residuals | SharedErrors) -> Floats:
    """Answer weight of each judge, shape (judges,); 1 for judges without a family.

    Parameters
    ----------
    families : dict
        Family of every judge.
    residuals : Residuals or SharedErrors
        Residuals at the mode where each family counts as one judge.

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
    codes, (t, _, scale) = family_codes(families, problem.judges), residuals.pair_statistics()
    out = np.ones(len(problem.judges))
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        rows = np.flatnonzero(np.isin(residuals.judges, members))
        if len(rows) < 2:
            continue
        off_diagonal = ~np.eye(len(rows), dtype=bool)
        total = float(scale[np.ix_(rows, rows)][off_diagonal].sum())
        rho = float(t[np.ix_(rows, rows)][off_diagonal].sum()) / total if total > 0 else 0.0
        out[members] = 1.0 / (1.0 + (len(members) - 1) * min(max(rho, 0.0), 1.0))
    return out


def copy_answer_weight(
    problem: Problem, families: dict[str, str], residuals: Residuals | SharedErrors, min_correlation: float
) -> Floats:
    """Answer weight of each judge, shape (judges,), reduced for judges of one family with repeated answers; else 1.

    Parameters
    ----------
    families : dict
        Family of every judge.
    residuals : Residuals or SharedErrors
        Residuals at a mode of a model with shared family effects.
    min_correlation : float
        Smallest correlation of residuals of judges that repeat each other's answers, if clear of chance.

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
    codes, (t, variance, scale) = family_codes(families, problem.judges)[residuals.judges], residuals.pair_statistics()
    rho = np.divide(t, scale, out=np.zeros(t.shape), where=scale > 0)
    repeats = (codes[:, None] == codes) & ~np.eye(len(codes), dtype=bool)
    repeats &= (rho > min_correlation) & (t > MIN_STANDARD_ERRORS * np.sqrt(variance))
    out = np.ones(len(problem.judges))
    out[residuals.judges] = 1.0 / (1.0 + np.where(repeats, np.minimum(rho, 1.0), 0.0).sum(axis=1))
    return out
