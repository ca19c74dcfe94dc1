"""Checks of a fit of votes: comparability of items, scale of strengths, contrary judges, criteria.

Votes hardly identify the scale of strengths: good judges of similar items answer like poor judges of items far apart.

Panels that contradict themselves: every judge has a counterpart with exactly the reverse votes.

Two judges, or two groups of equal size, who always vote against each other do not show who is right. If winners and
losers of such a table are exchanged and the judges exchange names with their counterparts, the table is unchanged.
The posterior is therefore unchanged if strengths change sign and judges exchange their coins (the coin for the first
item with that for the second): neither side is better, and every item is at zero.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.checks import (
    CheckBasis,
    add_reversed_judges,
    below_chance_check,
    separation_check,
    under_some_criterion,
)
from voirdire.kinds.votes import groups, results
from voirdire.kinds.votes.layout import mirror_values
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.kinds.votes.trust import trust_checks
from voirdire.model.problem import Check, list_names
from voirdire.model.terms.parameters import LogExponential
from voirdire.tables.graph import Connectivity, graph_connectivity
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


SCALE_WARNING_SHARE = 0.5  # share of the prior's standard deviation
LOG_EXPONENTIAL_SD = np.pi / np.sqrt(6.0)  # sd of the logarithm of an exponential variable, of any rate


def scale_check(problem: VotesProblem, posterior: Posterior) -> list[Check]:
    """Check how well the votes identify the learned spread of strengths: its posterior sd as a share of its prior sd.

    The value is the standard deviation over draws of the logarithm of the spread, divided by pi / sqrt(6), the
    standard deviation under its exponential prior; the largest over criteria. With several criteria the spread is
    sqrt(s^2 + s_c^2), of strengths under all criteria alike and of those of one criterion; s and all s_c are parts of
    a scale with this prior (:class:`.LogDivided`). Where the share is above a half, the ends of the 90% interval of
    the spread differ by a factor of eight or more, and the prior says as much about the size of scores as the votes
    do. The order of items does not depend on it.
    """
    learned = any(isinstance(p.prior, LogExponential) for p in problem.density.parameters if p.name == "log_spread")
    if posterior.values is None or not learned:
        return []
    draws = np.asarray(posterior.values["log_spread"])
    if "log_general_spread" in posterior.values:
        draws = 0.5 * np.logaddexp(2.0 * draws, 2.0 * posterior.values["log_general_spread"][..., None])
    share = float(draws.std(axis=0).max()) / LOG_EXPONENTIAL_SD
    low, high = np.exp(np.quantile(draws.ravel(), [0.05, 0.95]))
    interval_text = f"(between {low:.2g} and {high:.2g} log-odds, 90%)"
    if share <= SCALE_WARNING_SHARE:
        return [Check("scale", "ok", share, f"The votes identify how far items are apart {interval_text}.")]
    message = (
        f"The votes hardly identify how far items are apart {interval_text}: it is confounded with the reliability of "
        "judges, so the size of scores and the reliability rest on the prior. The order of items does not depend on "
        "it. Collect more votes, on fewer pairs, or human answers."
    )
    return [Check("scale", "warn", share, message)]


def comparison_checks(problem: VotesProblem) -> list[Check]:
    """Check that votes link all items, and that no item wins or loses every vote."""
    criteria = problem.model.criteria == "separate"
    graphs = graph_connectivity(problem.votes if criteria else _collapse_criteria(problem))
    return [_connectivity_check(graphs), _separation_check(graphs)]


def weights_check(problem: VotesProblem) -> list[Check]:
    """Warn if criterion weights do not rest on votes."""
    weights = problem.model.weights
    if weights is None or weights.kind != "votes" or problem.criteria_votes is not None:
        return []
    if len(problem.criteria) == 1:
        return []
    message = (
        "No votes on criteria were given: the weights and their intervals are the prior's alone, equal on average. "
        "Pass criteria= (--criteria), or use maple-fixed-weights to set them equal."
    )
    return [Check("weights", "warn", float(len(problem.criteria)), message)]


def _collapse_criteria(problem: VotesProblem) -> Any:

    votes = problem.votes
    return votes.with_codes(criteria=problem.criteria, criterion=votes.criterion * 0)


def _connectivity_check(graphs: list[Connectivity]) -> Check:
    broken = [graph for graph in graphs if len(graph.components) > 1]
    if not broken:
        return Check("connectivity", "ok", 0.0, "Every item can be compared with every other through the votes.")
    graph = broken[0]
    components = sorted(graph.components, key=len)
    count = len(graph.components)
    location = "" if len(graphs) == 1 else f" under criterion {graph.criterion!r}{_more_criteria(len(broken) - 1)}"
    message = (
        f"The comparison graph falls into {count} groups{location}, e.g. {list_names(list(components[0]), verb=False)} "
        "against the rest: no vote links them, so their relative strength is the prior's alone (wide intervals). "
        "Collect votes between the groups."
    )
    return Check("connectivity", "warn", float(max(len(g.components) for g in broken)), message)


def _more_criteria(count: int) -> str:
    return f" (and {count} more {'criterion' if count == 1 else 'criteria'})" if count else ""


def _separation_check(graphs: list[Connectivity]) -> Check:
    names = sorted({item for graph in graphs for item in (*graph.always_win, *graph.always_lose)})
    under = under_some_criterion(len(graphs))
    return separation_check(names, "No item wins or loses every vote.", f"winning or losing every vote{under}", "votes")


def all_checks(problem: VotesProblem, basis: CheckBasis) -> list[Check]:
    """Make the checks of a fit of votes, after those of its method."""
    return [
        *(add_reversed_judges(entry, problem, basis.judges) for entry in basis.of_method),
        *comparison_checks(problem),
        *scale_check(problem, basis.posterior),
        *weights_check(problem),
        *(below_chance_check(problem, basis.judges) if basis.posterior.values is not None else []),
        *groups.contexts_check(problem, basis.posterior),
        *results.effect_checks(problem, basis.posterior),
        *trust_checks(problem, basis),
    ]
