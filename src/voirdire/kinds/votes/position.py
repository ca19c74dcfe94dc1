"""Checks of position bias: judges that prefer a position, and tables in which position and item are confounded."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.checks import names_check
from voirdire.kinds.votes.contexts import cell_contexts
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.kinds.votes.response_probabilities import cell_probabilities
from voirdire.model.panel_density import POSITION
from voirdire.model.problem import Check, list_names
from voirdire.model.terms import RELIABILITY
from voirdire.tables import graph
from voirdire.tables.graph import pair_keys
from voirdire.trust.checks import SIGNIFICANCE_LEVEL
from voirdire.trust.residuals import Residuals
from voirdire.typing import Floats, Ints

MIN_BIAS = 0.1  # share of first picks beyond a half: position changes one answer in ten
GROUP_SD = 0.8  # sd of the check of items and positions in simulated tables of the models, 0.7 to 0.9
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
    """Check for effects of position that the model leaves out: those of items, and of judges in contexts.

    e_q is the number of choices of the first item minus that of the second among the votes on pair q, less its
    expectation at the centre of the posterior, and v_q its variance; q is a pair of a judge in a context where the
    groups are judges in contexts. With the sums over the pairs of group g, the value is

        z = sum_g ((sum_q e_q)^2 - sum_q e_q^2) / sqrt(2 sum_g ((sum_q v_q)^2 - sum_q v_q^2)) / max(1, sum e^2 / sum v)

    a score test of a variance of zero (Lin 1997, Biometrika 84) that uses products of different pairs only: answers
    that differ more between pairs than the model expects have no effect on its mean. Its bound is that of a
    standardised chi-squared variable with as many degrees of freedom as there are groups, times ``GROUP_SD``,
    because a fit adapts to the votes. Items are checked only where contexts raise nothing, whose terms may explain what
    items seem to gain.
    """
    votes, items = problem.coded_votes, len(problem.items)
    if not problem.model.position_aware:
        return []
    known = [{*row.factors} for row in problem.model.terms if POSITION in row.factors]
    p = cell_probabilities(problem.model, problem.density, [posterior.central_values], votes)
    total, mean = votes.counts.sum(axis=1), p[:, 0] - p[:, 1]
    e = votes.counts[:, 0] - votes.counts[:, 1] - total * mean
    v = total * (p[:, 0] + p[:, 1] - mean**2)
    key, context = pair_keys(votes, criteria=False), cell_contexts(votes)
    if context is not None and not any("context" in factors for factors in known):
        group = votes.judge * len(votes.contexts) + context
        pairs, pair = np.unique(np.stack([group, key]), axis=1, return_inverse=True)
        z = _excess_products(pairs[0], _sums(pair, e), _sums(pair, v))
        if z > 0.0:
            message = (
                "Judges prefer the item shown first in some contexts and the second in others, which the model takes "
                "as noise: it predicts answers worse than it could, and intervals may be too narrow. "
            )
            rows = f"{POSITION}:judge", f"{POSITION}:judge:context"
            return [Check("context-position", "warn", z, message + _remedy(problem, *rows))]
    if any("item" in factors for factors in known):
        return []
    pairs, pair = np.unique(key, return_inverse=True)
    item = np.concatenate([pairs // items % items, pairs % items])
    z = _excess_products(item, np.tile(_sums(pair, e), 2), np.tile(_sums(pair, v), 2))
    if z <= 0.0:
        return []
    message = (
        "Some items gain more from being shown first than others, which the model takes as noise: scores may be too "
        "close to each other, and their intervals too narrow. "
    )
    return [Check("item-position", "warn", z, message + _remedy(problem, f"{POSITION}:item"))]


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
