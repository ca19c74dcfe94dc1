"""Checks of a fit of scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds import checks
from voirdire.kinds.scores.concordance import human_concordance_check
from voirdire.kinds.scores.judge_ranges import judge_ranges_check
from voirdire.kinds.scores.missing_terms import missing_terms_check
from voirdire.kinds.scores.over_time import over_time
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.kinds.scores.random_judges import estimate_randomness
from voirdire.kinds.scores.residuals import residuals_by_scale
from voirdire.kinds.scores.systems import rival_systems
from voirdire.model.check import Check, list_names
from voirdire.trust.checks import check_dependent_judges, check_influence
from voirdire.trust.drift import check_drift
from voirdire.trust.noise import ODDS


def all_checks(
    problem: ScoresProblem,
    posterior: Posterior,
    judges: dict[str, Any],
    found: list[Check],
    seed: int = 0,
    chosen: str | None = None,
) -> list[Check]:
    """Checks that every fit of scores makes, after those of its method."""
    own = [
        connectivity_check(problem),
        *constant_judges_check(problem),
        *judge_ranges_check(problem),
        separation_check(problem),
        *unknown_error_check(problem),
        *weights_check(problem),
    ]
    own += [*missing_terms_check(problem), *human_concordance_check(problem, seed)]
    if posterior.values is not None:
        own += checks.below_chance_check(problem, judges)
    if problem.model.pool == "none":
        own += check_dependent_judges(problem, residuals_by_scale(problem, posterior), seed)
        own += score_information_check(problem, posterior)
        own += (
            check_influence(problem, posterior, rival_systems(problem, posterior))
            if own[0].level == "ok"
            else []
        )
    own += check_drift(over_time(problem, posterior), seed=seed)
    return [*(checks.add_reversed_judges(entry, problem, judges) for entry in found), *own]


def score_information_check(problem: ScoresProblem, posterior: Posterior) -> list[Check]:
    """Check whether scores tell items apart at all, and whether those of every judge do."""
    found = estimate_randomness(problem, posterior)
    if found is None:  # the noise of every judge is learned
        return []
    checked = []
    if found.shared is not None:
        share = found.shared.share
        said, so = f"{100 * max(share, 0.0):.0f}% of the variance of single scores is what judges share", "."
        if not found.told:
            so = (
                ", which is not told from nothing: these scores do not tell items apart. Ask for something that judges "
                "can see alike, or compare items side by side."
            )
        checked.append(Check("reliability", "ok" if found.told else "warn", share, said + so))
    if found.odds is not None:
        names = [problem.judges[judge] for judge in np.flatnonzero(found.odds > ODDS)]
        message = (
            f"{list_names(names)} scoring items nearly at random beside the others: leave such a judge out, or read "
            "its prompt and answers."
            if names
            else "No judge scores items at random beside the others."
        )
        checked.append(Check("noise", "warn" if names else "ok", float(len(names)), message))
    return checked


def connectivity_check(problem: ScoresProblem) -> Check:
    """Check whether judges can be compared with each other through the items that they score."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    table, size = problem.table, len(problem.judges)
    nodes = size + len(problem.items)
    edges = coo_array((np.ones(table.rows), (table.judge, size + table.item)), shape=(nodes, nodes))
    count, group = connected_components(edges, directed=False)
    scoring = np.unique(table.judge)
    count = len(np.unique(group[scoring]))
    if count == 1:
        return Check(
            "connectivity",
            "ok",
            0.0,
            "Every judge is linked with every other by items that both have scored.",
        )
    smallest = min(np.unique(group[scoring]), key=lambda part: (group[scoring] == part).sum())
    names = [problem.judges[k] for k in scoring if group[k] == smallest]
    message = (
        f"The judges fall into {count} groups without a common item, e.g. {list_names(names, verb=False)} against the "
        "rest: the scores do not say whether their items are worse or they are more severe; the prior decides. Let "
        "judges of different groups score some of the same items."
    )
    return Check("connectivity", "warn", float(count), message)


def constant_judges_check(problem: ScoresProblem) -> list[Check]:
    """Judges that gave one score to everything."""
    table = problem.table
    so = "and the judge's severity is set by the prior alone. Leave the judge out, or read its answers."
    return checks.constant_judges(table.judges, table.judge, table.score, "score", so)


def separation_check(problem: ScoresProblem) -> Check:
    """Items all of whose scores stand at one end of the scale."""
    table, scale = problem.table, problem.scale
    shape = (len(problem.criteria), len(problem.items))
    low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
    np.minimum.at(low, (table.criterion, table.item), table.score)
    np.maximum.at(high, (table.criterion, table.item), table.score)
    at = ((low == scale.high) | (high == scale.low)).sum(axis=0) > 0
    names = [problem.items[item] for item in np.flatnonzero(at)]
    if not names:
        return Check("separation", "ok", 0.0, "No item has all its scores at one end of the scale.")
    message = (
        f"{list_names(names)} scored at one end of the scale by all judges (under some criterion): how far they stand "
        "out is set by the prior, not by the scores."
    )
    return Check("separation", "warn", float(len(names)), message)


def unknown_error_check(problem: ScoresProblem) -> list[Check]:
    """Warn if a baseline cannot estimate how much judges disagree."""
    known = problem.data["scores"].get("known")
    if known is None or known.all():
        return []
    message = (
        "No item was scored by two judges (of one group) under some criterion, so how much a mean of scores varies "
        "from panel to panel is unknown: its intervals span the scale. Let a second judge score some items."
    )
    return [Check("error", "warn", float((known == 0).sum()), message)]


def weights_check(problem: ScoresProblem, instead: str = "rating-discrimination") -> list[Check]:
    """Warn if criterion weights rest on nothing; ``instead`` is the model that counts criteria equally."""
    weights, density = problem.model.weights, problem.density
    if weights is None or weights.kind != "votes" or density.voted or density.given or density.criteria == 1:
        return []
    message = (
        "Neither votes on criteria nor weights were given: criteria count equally. Pass criteria=..., or take "
        f"{instead}, which is the same then."
    )
    return [Check("weights", "warn", float(density.criteria), message)]
