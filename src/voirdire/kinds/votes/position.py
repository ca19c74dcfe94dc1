"""Checks of position bias: judges that prefer a position, and tables in which position and item are confounded."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.checks import names_check
from voirdire.kinds.votes.contexts import cell_contexts
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.kinds.votes.response_probabilities import ComparisonCodes, cell_probabilities, strength_differences
from voirdire.model.panel_density import POSITION
from voirdire.model.problem import Check, list_names
from voirdire.model.terms import RELIABILITY
from voirdire.model.terms.arrays import logistic_sigmoid
from voirdire.tables import graph
from voirdire.tables.graph import pair_keys
from voirdire.trust.checks import SIGNIFICANCE_LEVEL
from voirdire.trust.residuals import Residuals
from voirdire.typing import Floats, Ints

MIN_BIAS = 0.1  # share of first picks beyond a half: position changes one answer in ten
GROUP_SD = (
    0.8  # sd of the value in simulated tables of the models: of items 0.7 to 0.9, of judges in contexts 0.5 to 0.8
)
MIN_PROBABILITY = 1e-12  # of an answer that the model takes for impossible
MIN_BOTH_ORDERS_SHARE = 0.9  # share of a judge's pairs in both orders from which the other orders add nothing


def presentation_order_rule(problem: VotesProblem) -> str | None:
    """Describe the rule by which items were shown first, where it confounds position bias with strength; else None.

    People's answers, or a pair shown in both orders, separate the two.
    """
    return None if problem.anchors is not None else graph.fixed_order_rule(problem.votes)


def unknown_position_check(problem: VotesProblem) -> list[Check]:
    """Warn where position bias is confounded with strength; empty where it is not."""
    order = presentation_order_rule(problem)
    if order is None:
        return []
    message = (
        f"Position bias cannot be told: {order}, so that preference for an item and for its position are confounded, "
        "and the estimates rest on the prior. Show pairs in both orders."
    )
    return [Check("position", "warn", None, message)]


def position_check(problem: VotesProblem, residuals: Residuals, judges: dict[str, Any]) -> list[Check]:
    """Check for judges whose answers depend on which item is shown first."""
    if RELIABILITY[problem.model.reliability.kind].position_aware:
        low, high = (np.asarray(judges[f"position_bias_{end}"], dtype=float) for end in ("low", "high"))
        biased = np.flatnonzero(np.fmax(low, -high) > MIN_BIAS)
        if np.isnan(low).all():
            return []
        if not len(biased):
            return [Check("position", "ok", 0.0, f"No judge's position bias is clearly beyond {MIN_BIAS}.")]
        names = [problem.judges[k] for k in biased]
        both_orders = both_orders_shares(problem)[biased]
        message = f"{list_names(names)} clearly biased by position; the model allows for it. " + (
            "They saw their pairs in both orders already, so that no item gains by it; replace them if their "
            "answers are too unreliable."
            if (both_orders >= MIN_BOTH_ORDERS_SHARE).all()
            else "Show these judges every pair in both orders, or replace them."
        )
        return [Check("position", "warn", float(len(biased)), message)]
    variance = residuals.first_variance.mean(axis=0)
    z = residuals.first.mean(axis=0) / np.sqrt(np.maximum(variance, 1e-12))
    size = residuals.first.mean(axis=0) / np.maximum(problem.judge_votes[residuals.judges], 1)
    bound = -NormalDist().inv_cdf(0.5 * SIGNIFICANCE_LEVEL / max(len(z), 1))
    biased = np.flatnonzero((np.abs(z) > bound) & (np.abs(size) > MIN_BIAS) & (variance > 2.0))
    names = [problem.judges[k] for k in residuals.judges[biased]]
    remedy = (
        "say which item was shown first (a column order, or --order shown where it is that of the columns), or show "
        "pairs in both orders"
        if problem.votes.order_unknown
        else "use crowd-bt-position or maple-position"
    )
    message = (
        f"{list_names(names)} picking one position far more often than model {problem.model.name} allows for, which "
        f"biases strengths; {remedy}."
    )
    ok_message = "No judge picks a position more often than the model expects."
    return [names_check("position", names, ok_message, message, "fail")]


def position_effects_check(problem: VotesProblem, posterior: Posterior) -> list[Check]:
    """Check for effects of position that the model leaves out: of judges in contexts, of judges, or of items.

    With e_q the score of a shift towards the first item on pair q, and v_q its variance, the value is, with the sums
    over the pairs of group g,

        z = sum_g ((sum_q e_q)^2 - sum_q e_q^2) / sqrt(2 sum_g ((sum_q v_q)^2 - sum_q v_q^2)) / max(1, sum e^2 / sum v)

    a score test of a variance of zero (Lin 1997, Biometrika 84) that uses products of different pairs only: answers
    that differ more between pairs than the model expects have no effect on its mean. Its bound is that of a
    standardised chi-squared variable with as many degrees of freedom as there are groups, times ``GROUP_SD``,
    because a fit adapts to the votes.

    - Items: e_q is the number of choices of the first item minus that of the second, less its expectation at the centre
      of the posterior.
    - Judges in contexts: of judges with coins e_q is :func:`_shift_scores`, less the judge's mean (v_q times the sum of
      its e over the sum of its v), because the prior moves coins of judges with few votes.
    - Judges: :func:`_judge_shift_value`.

    Only the first check that fires is returned, because its terms may explain what the others see.
    """
    votes, items = problem.coded_votes, len(problem.items)
    if not problem.model.position_aware:
        return []
    known = [term.factors for term in problem.density.added if not term.contrast]
    p = cell_probabilities(problem.model, problem.density, [posterior.central_values], votes)
    total, mean = votes.counts.sum(axis=1), p[:, 0] - p[:, 1]
    e, v = votes.counts[:, 0] - votes.counts[:, 1] - total * mean, total * (p[:, 0] + p[:, 1] - mean**2)
    key, context = pair_keys(votes, criteria=False), cell_contexts(votes)
    shift = _shift_scores(problem, posterior, p) if "coin_first" in posterior.central_values else None
    if context is not None and not any("context" in factors for factors in known):
        score, variance = (e, v) if shift is None else (shift.score, shift.variance)
        mean_score = _sums(votes.judge, score) / np.maximum(_sums(votes.judge, variance), 1e-12)
        group = votes.judge * len(votes.contexts) + context
        pairs, pair = np.unique(np.stack([group, key]), axis=1, return_inverse=True)
        deviation = score - variance * mean_score[votes.judge]
        z = _excess_products(pairs[0], _sums(pair, deviation), _sums(pair, variance))
        if z > 0.0:
            rows = f"{POSITION}:judge", f"{POSITION}:judge:context"
            words = (
                "prefer the item shown first in some contexts and the second in others, which the model takes as noise"
            )
            return [Check("context-position", "warn", z, _judges_message(words, problem, *rows))]
    if shift is not None and not any("judge" in factors for factors in known):
        z = _judge_shift_value(problem, shift)
        if z > 0.0:
            words = "prefer the item shown first where items are close rather than always, which coins do not describe"
            return [Check("judge-position", "warn", z, _judges_message(words, problem, f"{POSITION}:judge"))]
    if any("item" in factors for factors in known):
        return []
    pairs, pair = np.unique(key, return_inverse=True)
    item = np.concatenate([pairs // items % items, pairs % items])
    z = _excess_products(item, np.tile(_sums(pair, e), 2), np.tile(_sums(pair, v), 2))
    if z <= 0.0:
        return []
    message = (
        "Some items gain more from being shown first than others, which the model takes as noise: scores may be off, "
        "and their intervals too narrow. "
    )
    return [Check("item-position", "warn", z, message + _remedy(problem, f"{POSITION}:item"))]


def _judges_message(words: str, problem: VotesProblem, *rows: str) -> str:
    consequence = "scores may be too far apart, predictions worse than they could be, and intervals too narrow"
    return f"Judges {words}: {consequence}. {_remedy(problem, *rows)}"


class _ShiftScores(NamedTuple):
    """Scores of a shift of a judge's log-odds towards the first item, shape (cells,) each.

    ``s`` is sigmoid(d); ``deviation`` is (n_first - n P) / (P (1 - P)), and ``weight`` n / (P (1 - P)).
    """

    s: Floats
    deviation: Floats
    weight: Floats
    score: Floats
    variance: Floats


def _shift_scores(problem: VotesProblem, posterior: Posterior, p: Floats) -> _ShiftScores:
    """Derivative of the log likelihood by d of each cell, and its variance.

    P = P(first | no tie) = 1 - e2 + (e1 + e2 - 1) s with s = sigmoid(d), and n votes of the cell are no ties.
    """
    votes, values = problem.coded_votes, posterior.central_values
    comparisons = ComparisonCodes.of_cells(problem.model, votes)
    s = np.asarray(logistic_sigmoid(strength_differences(problem.density, values, comparisons), np))
    first = np.clip(p[:, 0] / np.maximum(p[:, 0] + p[:, 1], MIN_PROBABILITY), MIN_PROBABILITY, 1.0 - MIN_PROBABILITY)
    n = votes.counts[:, :2].sum(axis=1)
    deviation, weight = (part / (first * (1.0 - first)) for part in (votes.counts[:, 0] - n * first, n))
    informedness = sum(logistic_sigmoid(values[name], np) for name in ("coin_first", "coin_second")) - 1.0
    slope = informedness[votes.judge] * s * (1.0 - s)
    return _ShiftScores(s, deviation, weight, slope * deviation, slope**2 * weight)


def _judge_shift_value(problem: VotesProblem, shift: _ShiftScores) -> float:
    """Square of the test of a shift of each judge's log-odds towards the first item, where it is beyond its bound.

    P changes with a shift as s (1 - s), and with the judge's coins as s and as 1 - s. r is the residual of s (1 - s) on
    these two, with weights n / (P (1 - P)) over the judge's cells. The value is the sum over judges of

        (sum r (n_first - n P) / (P (1 - P)))^2 / max(sum n r^2 / (P (1 - P)), sum over groups of squared sums)

    chi-squared with a degree of freedom for each judge if there are no shifts; 0 within the bound. Groups are contexts,
    or without these pairs.
    """
    votes, judges = problem.coded_votes, len(problem.judges)
    r = np.zeros(len(shift.s))
    for k in range(judges):
        own = votes.judge == k
        s = shift.s[own]
        basis = np.sqrt(shift.weight[own])[:, None] * np.stack([s, 1.0 - s, s * (1.0 - s)], axis=1)
        by_s, by_rest = np.linalg.lstsq(basis[:, :2], basis[:, 2], rcond=None)[0]
        r[own] = s * (1.0 - s) - by_s * s - by_rest * (1.0 - s)
    score, context = r * shift.deviation, cell_contexts(votes)
    question = pair_keys(votes, criteria=False) if context is None else context
    groups, group = np.unique(np.stack([votes.judge, question]), axis=1, return_inverse=True)
    between = np.bincount(groups[0], _sums(group, score) ** 2, judges)
    variance = np.maximum(np.bincount(votes.judge, shift.weight * r**2, judges), between)
    from scipy import stats

    z2 = float((np.bincount(votes.judge, score, judges) ** 2 / np.maximum(variance, 1e-12)).sum())
    return z2 if z2 > stats.chi2.isf(SIGNIFICANCE_LEVEL, judges) else 0.0


def _sums(code: Ints, values: Floats) -> Floats:
    """Sum of the values of each code."""
    return np.asarray(np.bincount(code.ravel(), values), dtype=float)


def _excess_products(group: Ints, e: Floats, v: Floats) -> float:
    """Value of :func:`position_effects_check` where it is beyond its bound; else 0.

    Parameters
    ----------
    group : int array, shape (rows,)
    e, v : array, shape (rows,)
        Deviation and variance of each pair, once for each group that it belongs to.
    """
    _, code = np.unique(group, return_inverse=True)
    s, e2, w, v2 = (_sums(code, x) for x in (e, e**2, v, v**2))
    variance = 2.0 * (w**2 - v2).sum()
    if variance <= 0.0:
        return 0.0
    from scipy import stats

    z = float((s**2 - e2).sum() / np.sqrt(variance) / max(1.0, (e**2).sum() / v.sum()))
    bound = (stats.chi2.isf(SIGNIFICANCE_LEVEL, len(s)) - len(s)) / np.sqrt(2.0 * len(s))
    return z if z > GROUP_SD * bound else 0.0


def _remedy(problem: VotesProblem, *rows: str) -> str:
    """Name the sum of terms that has those of a model, and further rows."""
    if problem.beside_scores or not problem.votes.has_rows:
        return "Show every pair in both orders."
    density = problem.density
    terms = ["item", *["item:context"] * bool(density.contexts), *["judge:item"] * density.tastes]
    terms += [*(row.words for row in problem.model.terms), *rows]
    return f'Fit --terms "{" + ".join(terms)}" (terms=), which learns it.'


def both_orders_shares(problem: VotesProblem) -> Floats:
    """Share of each judge's pairs (in a context) seen in both orders, shape (judges,); NaN without votes.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> rows = [("a", "x", "y", "x"), ("a", "y", "x", "y"), ("a", "x", "z", "x"), ("b", "x", "y", "x")]
    >>> table = pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])
    >>> both_orders_shares(voirdire.fit(table, method="map").problem).tolist()
    [0.5, 0.0]
    """
    votes = problem.coded_votes
    questions, context = pair_keys(votes, criteria=True), cell_contexts(votes)
    if context is not None:
        questions = questions * len(votes.contexts) + context
    pairs, column = np.unique(questions, return_inverse=True)
    keys, row = np.unique(votes.judge * len(pairs) + column, return_inverse=True)
    seen = np.zeros((2, len(keys)), dtype=bool)
    seen[(votes.first > votes.second).astype(np.int64), row] = True
    judge, judges = keys // len(pairs), len(problem.judges)
    count, both_orders = np.bincount(judge, minlength=judges), np.bincount(judge, seen.all(axis=0), judges)
    return np.asarray(np.where(count > 0, both_orders / np.maximum(count, 1), np.nan))
