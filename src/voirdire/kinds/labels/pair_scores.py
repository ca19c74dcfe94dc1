"""Score tests of independent errors of judges of labels, for panels.

Given the class z of an item, the labels of judges j and k are independent. With the residuals r_kl(z) of the counts of
label l, the score of their dependence is

    S_jk = sum_i E[ sum_l r_ijl(z) r_ikl(z) | labels of i ],

the derivative of the log likelihood in the direction of equal labels. The parameters are estimated from the same
labels, and move towards judges who share errors. So S_jk is replaced by its residual from a regression on the scores of
the parameters, item by item (C(alpha) test: Neyman 1959; for models of latent classes as the bivariate residuals of
Oberski, van Kollenburg and Vermunt 2013). The regression, variances and skewness come from items simulated from the
fitted model. Sums over few items are skewed, so z solves t = z + skewness (z^2 - 1) / 6 for their standard score t
(Cornish and Fisher 1938).

Where items differ in difficulty, all pairs agree too often. The sum over pairs of the products of residuals of right
labels is the score of an effect of the item on the log-odds of every judge. With that sum in the regression too, pairs
are compared with the mean of all pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voirdire.infer.mode import find_mode
from voirdire.infer.posterior import Posterior
from voirdire.kinds.answers import sample_categorical
from voirdire.kinds.labels.influence import label_units
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.model.terms.confusion import log_softmax
from voirdire.trust.dependence import MIN_VARIANCE
from voirdire.typing import Floats, Ints

MAX_PARAMETERS = 400  # largest number of judges x classes x labels
SIMULATED_ITEMS = 4000
CHUNK_ITEMS = 4000  # items whose scores are computed at once
MIN_SKEWNESS = 1e-3  # smaller ones would lose digits
REGULARISATION = 1.0  # added to the information of each parameter


@dataclass(frozen=True, eq=False)
class PairScores:
    """Scores of the dependence of pairs of judges, without the part that parameters explain.

    Attributes
    ----------
    z, beyond_difficulty : array, shape (judges, judges)
        Standard normal where judges err independently, 0 where two judges share too little; ``beyond_difficulty`` also
        standard normal where items differ in difficulty.
    difficulty : float
        The same for the difficulty of items.
    scores, covariance : array, shape (pairs,) and (pairs, pairs)
        Sums of the scores of pairs, and their covariance.
    """

    z: Floats
    beyond_difficulty: Floats
    difficulty: float
    scores: Floats
    covariance: Floats

    def between(self, group: Ints) -> float:
        """Standard normal score of the dependence of judges in ``group`` on the other judges."""
        inside = np.isin(np.arange(len(self.z)), group)
        first, second = np.triu_indices(len(self.z), 1)
        is_between = inside[first] != inside[second]
        variance = max(self.covariance[np.ix_(is_between, is_between)].sum(), MIN_VARIANCE)
        return float(self.scores[is_between].sum() / np.sqrt(variance))


def pair_scores(problem: LabelsProblem, posterior: Posterior, rng: np.random.Generator) -> PairScores | None:
    """Test all pairs of judges; None for more than ``MAX_PARAMETERS`` and for models of ordered or shared errors.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=200)
    >>> said = [np.where(rng.random(200) < 0.8, truth, 1 - truth) for _ in range(5)]
    >>> rows = [(f"j{k}", f"i{n}", "ny"[y]) for k, row in enumerate([*said, said[0]]) for n, y in enumerate(row)]
    >>> table = pd.DataFrame(rows, columns=["judge", "item", "label"])
    >>> fit = voirdire.fit(table, method="map", families={})
    >>> pair_scores(fit.problem, fit.posterior, np.random.default_rng(0)).z.shape
    (6, 6)
    """
    density, judges, labels = problem.density, len(problem.judges), len(problem.labels)
    if density.shares_errors or problem.is_sparse or judges * problem.classes * labels > MAX_PARAMETERS:
        return None
    values = density.values(find_mode(problem, start=posterior.centre).x, np)
    rates = np.broadcast_to(np.exp(density.rates(values, np)), (judges, problem.classes, labels))
    log_share = density.shares(values, np)[problem.unit_criterion]
    units = len(problem.unit_item)
    belief = np.exp(log_softmax(density.joint(values, problem.data, np)[problem.unit_row], problem.classes, np))
    drawn_units = np.arange(units) if units <= SIMULATED_ITEMS else rng.choice(units, SIMULATED_ITEMS, replace=False)
    unit = label_units(problem)
    order = np.argsort(unit, kind="stable")
    bounds = np.searchsorted(unit[order], np.arange(0, units + CHUNK_ITEMS, CHUNK_ITEMS))
    sums: list[tuple[Floats, ...]] = []
    totals = np.zeros((units, judges))
    for chunk, start in enumerate(range(0, units, CHUNK_ITEMS)):
        rows, items = order[bounds[chunk] : bounds[chunk + 1]], slice(start, start + CHUNK_ITEMS)
        counts = np.zeros((len(belief[items]), judges, labels))
        np.add.at(
            counts, (unit[rows] - start, problem.table.judge[rows], problem.answer_codes(problem.table)[rows]), 1.0
        )
        totals[items] = counts.sum(axis=-1)
        parts = _item_scores(belief[items], counts, rates, np.exp(log_share[items]))
        sums.append(tuple(part.sum(axis=0) for part in parts))
    parameters, pairs, difficulty = (np.sum(part, axis=0) for part in zip(*sums, strict=True))
    row = np.tile(drawn_units, -(-SIMULATED_ITEMS // len(drawn_units)))
    state = sample_categorical(np.exp(log_share[row]), rng)
    drawn = rng.multinomial(totals.astype(int)[row], rates[:, state].swapaxes(0, 1)).astype(float)
    log = log_share[row] + np.einsum("nkl,kjl->nj", drawn, np.log(rates))
    known = problem.known[row]
    log[known >= 0] = np.where(np.eye(problem.classes)[state[known >= 0]] > 0, 0.0, -np.inf)
    drawn_belief = np.exp(log_softmax(log, problem.classes, np))
    drawn_scores = _item_scores(drawn_belief, drawn, rates, np.exp(log_share[row]))
    z, scores, covariance = _test_scores((parameters, pairs), (drawn_scores[0], drawn_scores[1]), units)
    total = _test_scores((parameters, difficulty), (drawn_scores[0], drawn_scores[2]), units)[0]
    own, drawn_own = np.hstack([parameters, difficulty]), np.hstack([drawn_scores[0], drawn_scores[2]])
    beyond = _test_scores((own, pairs), (drawn_own, drawn_scores[1]), units)[0]
    return PairScores(
        _as_matrix(z, judges), _as_matrix(beyond, judges), float(total[0]), scores=scores, covariance=covariance
    )


def _item_scores(belief: Floats, counts: Floats, rates: Floats, share: Floats) -> tuple[Floats, Floats, Floats]:
    """Scores of parameters, (items, parameters), of pairs, (items, pairs), and of difficulty, (items, 1).

    Parameters
    ----------
    belief, share : array, shape (items, classes)
        P(class | labels) and P(class).
    counts : array, shape (items, judges, labels)
    rates : array, shape (judges, classes, labels)
    """
    items, classes = belief.shape
    residual = (counts[:, :, None, :] - counts.sum(axis=-1)[:, :, None, None] * rates).swapaxes(1, 2)
    weighted = belief[:, :, None, None] * residual
    first, second = np.triu_indices(len(rates), 1)
    products = weighted.swapaxes(1, 2).reshape(items, len(rates), -1) @ np.moveaxis(residual, 2, 3).reshape(
        items, -1, len(rates)
    )
    right = np.diagonal(residual[..., :classes], axis1=1, axis2=3)  # (items, judges, classes)
    total = 0.5 * (belief[:, None] * (right.sum(axis=1, keepdims=True) ** 2 - (right**2).sum(axis=1, keepdims=True)))
    parameters = np.hstack([belief - share, weighted.reshape(items, -1)])
    return parameters, products[:, first, second], total.sum(axis=2)


def _test_scores(own: tuple[Floats, Floats], drawn: tuple[Floats, Floats], units: int) -> tuple[Floats, Floats, Floats]:
    """Standard normal scores, (scores,), sums of scores without the part explained by parameters, and their covariance.

    Parameters
    ----------
    own : two arrays, shape (parameters,) and (scores,)
        Sums of the scores of the table's items.
    drawn : two arrays, shape (items, parameters) and (items, scores)
        Scores of simulated items.
    """
    information = drawn[0].T @ drawn[0] / len(drawn[0]) + np.eye(drawn[0].shape[1]) * REGULARISATION / units
    slope = np.linalg.solve(information, drawn[0].T @ drawn[1] / len(drawn[0]))
    total = own[1] - own[0] @ slope
    unexplained = drawn[1] - drawn[0] @ slope
    unexplained -= unexplained.mean(axis=0)
    covariance = unexplained.T @ unexplained / len(unexplained) * units
    is_tested = np.diag(covariance) >= MIN_VARIANCE
    sd = np.sqrt(np.where(is_tested, np.diag(covariance), 1.0))
    skewness = (unexplained**3).mean(axis=0) * units / sd**3
    return normal_scores(np.where(is_tested, total / sd, 0.0), skewness), total, covariance


def normal_scores(t: Floats, skewness: Floats) -> Floats:
    """Solve t = z + skewness (z^2 - 1) / 6 for z, which is standard normal up to the skewness of t.

    Parameters
    ----------
    t, skewness : array
        Standardised sums and their skewness, of the same shape.

    Examples
    --------
    >>> z, skewness = np.array([-1.0, 2.0]), np.array([0.3, 0.6])
    >>> normal_scores(z + skewness * (z**2 - 1.0) / 6.0, skewness).round(6).tolist()
    [-1.0, 2.0]
    """
    skewness = np.where(np.abs(skewness) < MIN_SKEWNESS, MIN_SKEWNESS, skewness)
    return np.asarray((np.sqrt(np.maximum(9.0 + skewness**2 + 6.0 * skewness * t, 0.0)) - 3.0) / skewness)


def _as_matrix(z: Floats, judges: int) -> Floats:
    """Scores of pairs as a symmetric matrix, shape (judges, judges)."""
    matrix = np.zeros((judges, judges))
    matrix[np.triu_indices(judges, 1)] = z
    return matrix + matrix.T
