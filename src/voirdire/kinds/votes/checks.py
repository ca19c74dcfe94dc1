"""Checks of a fit of votes: whether items can be compared, and what votes say of judges and criteria."""

from __future__ import annotations

from typing import Any

from voirdire.infer.posterior import Posterior
from voirdire.kinds.checks import below_chance, with_turned_judges
from voirdire.kinds.votes import adjusted, in_contexts
from voirdire.kinds.votes.over_time import over_time
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.kinds.votes.scale import scale
from voirdire.kinds.votes.trust import trust_checks
from voirdire.model.check import Check, listed
from voirdire.tables.graph import Connectivity, connectivity
from voirdire.trust.drift import drift


def comparisons(problem: VotesProblem) -> list[Check]:
    """Check whether items can be compared at all, and whether some win or lose everything."""
    criteria = problem.model.criteria == "separate"
    found = connectivity(problem.votes if criteria else _collapsed(problem))
    return [_connected(found), _separated(found)]


def unvoted_weights(problem: VotesProblem) -> list[Check]:
    """Warn if criterion weights do not rest on votes."""
    weights = problem.model.weights
    if weights is None or weights.kind != "votes" or problem.criteria_votes is not None:
        return []
    if len(problem.criteria) == 1:
        return []
    message = (
        "No votes on criteria were given: the weights and their intervals are the prior's alone, equal on average. "
        "Pass criteria=..., or use maple-fixed-weights to set them equal."
    )
    return [Check("weights", "warn", float(len(problem.criteria)), message)]


def _collapsed(problem: VotesProblem) -> Any:

    votes = problem.votes
    return votes.recoded(criteria=problem.criteria, criterion=votes.criterion * 0)


def _connected(found: list[Connectivity]) -> Check:
    broken = [graph for graph in found if len(graph.components) > 1]
    if not broken:
        return Check(
            "connectivity", "ok", 0.0, "Every item can be compared with every other through the votes."
        )
    graph = broken[0]
    apart = sorted(graph.components, key=len)
    count = len(graph.components)
    where = (
        ""
        if len(found) == 1
        else f" under criterion {graph.criterion!r} (and {len(broken) - 1} more criteria)"
    )
    message = (
        f"The comparison graph falls into {count} groups{where}, e.g. {listed(list(apart[0]), verb=False)} "
        "against the rest: no vote links them, so their relative strength is the prior's alone (wide intervals). "
        "Collect votes between the groups."
    )
    return Check("connectivity", "warn", float(max(len(g.components) for g in broken)), message)


def _separated(found: list[Connectivity]) -> Check:
    names = sorted({item for graph in found for item in (*graph.always_win, *graph.always_lose)})
    if not names:
        return Check("separation", "ok", 0.0, "No item wins or loses every vote.")
    message = (
        f"{listed(names)} winning or losing every vote (under some criterion): how far they stand out is set by "
        "the prior, not by the votes."
    )
    return Check("separation", "warn", float(len(names)), message)


def all_checks(
    problem: VotesProblem,
    posterior: Posterior,
    judges: dict[str, Any],
    found: list[Check],
    seed: int,
    chosen: str | None = None,
) -> list[Check]:
    """Checks that every fit makes, after those of its method."""
    return [
        *(with_turned_judges(entry, problem, judges) for entry in found),
        *comparisons(problem),
        *scale(problem, posterior),
        *unvoted_weights(problem),
        *(below_chance(problem, judges) if posterior.values is not None else []),
        *in_contexts.check(problem, posterior),
        *adjusted.checks(problem, posterior),
        *trust_checks(problem, posterior, judges, seed, chosen),
        *drift(over_time(problem, posterior), seed=seed),
    ]
