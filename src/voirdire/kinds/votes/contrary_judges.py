"""Panels that contradict themselves: every judge has a counterpart with exactly the reverse votes.

Two judges, or two groups of equal size, who always vote against each other do not show who is right. If winners and
losers of such a table are exchanged and the judges exchange names with their counterparts, the table is unchanged.
The posterior is therefore unchanged if strengths change sign and judges exchange their coins (the coin for the first
item with that for the second): neither side is better, and every item is at zero.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.votes.layout import mirror_values
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.typing import Floats, Ints

JUDGE_PARAMETERS = {"reliability", "coin_first", "coin_second", "tie_judge"}  # parameters that the judges exchange
OTHER_PARAMETERS = {"strength", "weight", "tie"} | {
    f"log_{name}" for name in ("spread", "coin_mean", "coin_spread", "tie_spread", "tie_scale")
}


def contrary_judge_order(problem: VotesProblem) -> Ints | None:
    """Find the counterpart of each judge: reverse votes with equal weight, shape (judges,).

    None if a judge has no counterpart, or if other answers (anchors, scores, votes on criteria) are known.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> rows = [(judge, n, "z", n if judge == "a" else "z") for judge in "ab" for n in "xy"]
    >>> table = pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])
    >>> contrary_judge_order(voirdire.fit(table, model="crowd-bt", method="map").problem)
    array([1, 0])
    >>> contrary_judge_order(voirdire.fit(table.head(3), model="crowd-bt", method="map").problem) is None
    True
    """
    density, votes = problem.density, problem.votes
    if problem.anchors is not None or problem.criteria_votes is not None or problem.beside_scores:
        return None
    if not density.parameter_slices.keys() <= JUDGE_PARAMETERS | OTHER_PARAMETERS:
        return None
    first, second, _ = (np.bincount(votes.first, outcome_counts) for outcome_counts in votes.counts.T)
    if (first != second).any():
        return None  # excludes most tables quickly
    weight = np.ones(len(votes.judges)) if problem.answer_weight is None else problem.answer_weight
    judge_votes: list[dict[tuple[int, ...], list[float]]] = [{} for _ in votes.judges]
    cells = np.column_stack([votes.criterion, votes.first, votes.second]).tolist()
    weighed = (votes.counts * weight[votes.judge, None]).tolist()
    for judge, cell, counts in zip(votes.judge.tolist(), cells, weighed, strict=True):
        judge_votes[judge][tuple(cell)] = counts
    unmatched, order = list(range(len(judge_votes))), []
    for answers in judge_votes:
        reversed_answers = {cell: [lost, won, tie] for cell, (won, lost, tie) in answers.items()}
        partner = next((judge for judge in unmatched if judge_votes[judge] == reversed_answers), None)
        if partner is None:
            return None
        unmatched.remove(partner)
        order.append(partner)
    return np.array(order)


def symmetrise_posterior(problem: VotesProblem, posterior: Posterior) -> Posterior:
    """Return the posterior; for a panel that contradicts itself, half of its draws and their mirror images."""
    order = None if posterior.draws is None else contrary_judge_order(problem)
    if posterior.draws is None or order is None:
        return posterior
    half = posterior.draws[:, : posterior.draws.shape[1] // 2]
    draws = np.concatenate([half, _mirror_draws(problem, half, order)], axis=1)
    return replace(posterior, draws=draws, centre=draws.mean(axis=(0, 1)))


def _mirror_draws(problem: VotesProblem, x: Floats, order: Ints) -> Floats:
    """Reverse the sign of strengths and exchange the coins of counterparts, in flat vectors, shape (..., size)."""
    values = dict(problem.density.values(x, np))
    values |= mirror_values(problem.density, values) | {name: values[name] for name in {"weight"} & values.keys()}
    values |= {name: values[name][..., order] for name in JUDGE_PARAMETERS & values.keys()}
    if "coin_first" in values:
        values["coin_first"], values["coin_second"] = values["coin_second"], values["coin_first"]
    return np.asarray(problem.density.flat(values, np))
