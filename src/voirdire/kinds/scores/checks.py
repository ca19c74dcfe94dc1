"""Checks of a fit of scores.

One check names terms that the table supports and the model omits, if intervals are too narrow without them.

Another finds judges on a different scale, such as a metric from 0 to 1 among people's scores from 1 to 5. A model of
scores gives every judge a severity, and assumes the same unit for all. A judge's scores under a criterion are on a
different scale if their range is less than half or more than twice the range of all others, and most of them are
numbers that no other judge gave. A judge that uses a part of the others' levels is severe or lenient.
"""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds import checks
from voirdire.kinds.column_checks import effect_checks
from voirdire.kinds.scores import halo
from voirdire.kinds.scores.judge_checks import estimate_randomness, human_concordance_check
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.kinds.scores.residuals import residuals_by_scale
from voirdire.kinds.scores.systems import rival_systems
from voirdire.model.problem import Check, list_names
from voirdire.model.terms.raters import AlikeRaters
from voirdire.trust.checks import check_dependent_judges, check_influence
from voirdire.trust.noise import MIN_NOISE_ODDS
from voirdire.typing import Floats, Ints


def missing_terms_check(problem: ScoresProblem) -> list[Check]:
    """Warn of terms that the model omits, if any.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> rows = [(judge, item, context, 1 + (item == "x")) for judge in "ab" for item in "xyz" for context in "12"]
    >>> table = pd.DataFrame(rows, columns=["judge", "item", "context", "score"])
    >>> (check,) = missing_terms_check(voirdire.fit(table, model="rating-severity", method="map").problem)
    >>> check.message.partition(":")[0]
    'Items recur in 2 contexts, which the model does not tell apart'
    """
    messages = []
    contexts = 0 if problem.density.contexts else halo.count_recurring_contexts(problem.table)
    if contexts and not (problem.in_points and halo.has_one_score_per_context(problem.table)):
        messages.append(
            f"Items recur in {contexts} contexts, which the model does not tell apart: intervals hold for these "
            "contexts, and are too narrow for others. Call the column item system (--map system=item): systems are "
            "then compared over contexts like these."
        )
    halo_reason = halo.reason_without_continuous_halo if problem.in_points else halo.reason_without_halo
    if problem.anchors is not None and problem.model.taste is None:
        by_people = np.isin(np.arange(len(problem.items)), problem.anchors.table.item)
        if halo_reason(problem.table, by_people) is None:
            name = "rating-continuous-halo" if problem.in_points else "rating-halo"
            messages.append(
                "With human scores the judges' tastes for items (halo) are left out: a judge that scores an item under "
                f"several criteria counts as several, and intervals are too narrow. Fit {name}, too, and trust the "
                "wider intervals."
            )
    return [Check("missing-terms", "warn", float(len(messages)), " ".join(messages))] if messages else []


MAX_RANGE_RATIO = 2.0  # ratio of ranges above which scales differ
#: Share of a judge's scores that no other judge gave, above which its scale differs.
MIN_OWN_SHARE = 0.5
MIN_SCORES = 5  # scores that a judge needs for this check


def judge_ranges_check(problem: ScoresProblem) -> list[Check]:
    """Warn of judges whose scores are on another scale than those of the others.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> rows = [("ann", n, 1 + n % 5) for n in range(20)] + [("metric", n, n % 5 / 4 + 0.01) for n in range(20)]
    >>> scores = pd.DataFrame(rows, columns=["judge", "item", "score"])
    >>> result = fit(scores, model="mean-score")
    >>> [check.message.split(":")[0] for check in result.all_checks if check.check == "ranges"]
    ['Scores on different scales are treated as one scale']
    """
    table = problem.table
    ranges: dict[str, str] = {}
    for criterion, name in enumerate(table.criteria):
        rows = table.criterion == criterion
        for judge, (low, high) in _odd_ranges(table.judge[rows], table.score[rows], len(table.judges)).items():
            note = f" ({name})" if table.has_criteria else ""
            ranges.setdefault(table.judges[judge], f"{table.judges[judge]} {low:.3g} to {high:.3g}{note}")
    if not ranges:
        return _criterion_ranges_check(problem)
    examples = list_names(list(ranges.values()), verb=False)
    message = (
        f"Scores on different scales are treated as one scale: {examples}. Reliability and influence of "
        "judges then depend on the scale. Bring them to one scale, leave such a judge out, or compare "
        "rankings (voirdire metaeval)."
    )
    return [Check("ranges", "warn", float(len(ranges)), message)]


def _criterion_ranges_check(problem: ScoresProblem) -> list[Check]:
    """Warn of criteria on a different scale where scores of criteria are averaged unchanged."""
    table = problem.table
    if not problem.in_points:  # each criterion has its own cutpoints
        return []
    ranges = _odd_ranges(table.criterion, table.score, len(table.criteria))
    if not ranges:
        return []
    names = table.criteria
    examples = ", ".join(f"{names[code]} {low:.3g} to {high:.3g}" for code, (low, high) in ranges.items())
    message = (
        f"Criteria have different scales: {examples}. Their mean follows the widest scale, and counts higher as "
        "better. Take one (--where criterion=NAME), or bring them to one scale."
    )
    return [Check("ranges", "warn", float(len(ranges)), message)]


def _odd_ranges(judge: Ints, score: Floats, judges: int) -> dict[int, tuple[float, float]]:
    """Lowest and highest score, by judge number, of the judges on a different scale than the others."""
    low, high = np.full(judges, np.inf), np.full(judges, -np.inf)
    np.minimum.at(low, judge, score)
    np.maximum.at(high, judge, score)
    # the joint range of severe and lenient judges is wider than the range of each
    reach, widest = _largest_of_others(high) + _largest_of_others(-low), _largest_of_others(high - low)
    values, code = np.unique(score, return_inverse=True)
    givers = np.bincount(np.unique(code.astype(np.int64) * judges + judge) // judges, minlength=len(values))
    count, common = np.bincount(judge, minlength=judges), np.bincount(judge, givers[code] > 1, judges)
    differs = ((high - low) * MAX_RANGE_RATIO < widest) | (high - low > MAX_RANGE_RATIO * reach)
    enough = (count >= MIN_SCORES) & (high > low) & (reach > 0.0)  # reach is -inf without other judges
    odd = enough & differs & (common < (1.0 - MIN_OWN_SHARE) * count)
    return {int(index): (float(low[index]), float(high[index])) for index in np.flatnonzero(odd)}


def _largest_of_others(largest: Floats) -> Floats:
    """For each entry, the largest of all other entries."""
    if len(largest) < 2:
        return np.full(len(largest), -np.inf)
    second, first = np.sort(largest)[-2:]
    is_first = np.arange(len(largest)) == largest.argmax()
    return np.asarray(np.where(is_first, second, first))


def all_checks(problem: ScoresProblem, basis: checks.CheckBasis) -> list[Check]:
    """List the checks of a fit of scores: those of its method, then those of its scores."""
    of_judges = [connectivity_check(problem), *constant_judges_check(problem), *judge_ranges_check(problem)]
    entries = [*of_judges, separation_check(problem), *unknown_error_check(problem), *weights_check(problem)]
    entries += [*missing_terms_check(problem), *human_concordance_check(problem, basis.seed)]
    posterior = basis.posterior
    unit = "points" if problem.in_points else "log-odds"
    entries += effect_checks(problem, posterior, [problem.table], unit=unit)
    if posterior.values is not None:
        entries += checks.below_chance_check(problem, basis.judges)
    if problem.model.pool == "none":
        entries += check_dependent_judges(problem, residuals_by_scale(problem, posterior), basis.seed)
        entries += score_information_check(problem, posterior)
        if entries[0].level == "ok":
            entries += check_influence(problem, posterior, rival_systems(problem, posterior))
    return [*(checks.add_reversed_judges(entry, problem, basis.judges) for entry in basis.of_method), *entries]


def score_information_check(problem: ScoresProblem, posterior: Posterior) -> list[Check]:
    """Check that the scores, and the scores of every judge, distinguish items."""
    randomness = estimate_randomness(problem, posterior)
    if randomness is None:  # the noise of every judge is learned
        return []
    checked = []
    if randomness.shared is not None:
        share = randomness.shared.share
        summary, ending = (f"{100 * max(share, 0.0):.0f}% of the variance of single scores is shared by judges", ".")
        if not randomness.is_identified:
            ending = (
                ", which cannot be distinguished from 0%: these scores do not distinguish items. Ask for something "
                "that judges can see alike, or compare items side by side."
            )
        checked.append(Check("reliability", "ok" if randomness.is_identified else "warn", share, summary + ending))
    if randomness.odds is not None:
        names = [problem.judges[judge] for judge in np.flatnonzero(randomness.odds > MIN_NOISE_ODDS)]
        message = (
            f"{list_names(names)} scoring items nearly at random compared with the others: leave such a judge out, or "
            "read its prompt and answers."
        )
        ok_message = "No judge scores items at random."
        checked.append(checks.names_check("noise", names, ok_message, message))
    return checked


def connectivity_check(problem: ScoresProblem) -> Check:
    """Check that common items link all judges, so that their severities can be compared."""
    table, size = problem.table, len(problem.judges)
    group = checks.connected_groups(table.judge, table.item, size, len(problem.items))
    scoring = np.unique(table.judge)
    count = len(np.unique(group[scoring]))
    if count == 1:
        message = "Every judge is linked with every other by items that both have scored."
        return Check("connectivity", "ok", 0.0, message)
    smallest = min(np.unique(group[scoring]), key=lambda part: (group[scoring] == part).sum())
    names = [problem.judges[k] for k in scoring if group[k] == smallest]
    message = (
        f"The judges fall into {count} groups without a common item, e.g. {list_names(names, verb=False)} against the "
        "rest: the scores do not say whether their items are worse or they are more severe; the prior decides. Let "
        "judges of different groups score some of the same items."
    )
    return Check("connectivity", "warn", float(count), message)


def constant_judges_check(problem: ScoresProblem) -> list[Check]:
    """Warn of judges that gave the same score to everything."""
    table = problem.table
    effect = "and the judge's severity is set by the prior alone. Leave the judge out, or read its answers."
    return checks.constant_judges(table.judges, table.judge, table.score, "score", effect)


def separation_check(problem: ScoresProblem) -> Check:
    """Check for items with all their scores at one end of the scale."""
    table, scale = problem.table, problem.scale
    shape = (len(problem.criteria), len(problem.items))
    low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
    np.minimum.at(low, (table.criterion, table.item), table.score)
    np.maximum.at(high, (table.criterion, table.item), table.score)
    is_extreme = ((low == scale.high) | (high == scale.low)).sum(axis=0) > 0
    names = [problem.items[item] for item in np.flatnonzero(is_extreme)]
    note = checks.under_some_criterion(len(problem.criteria))
    ok_message = "No item has all its scores at one end of the scale."
    return checks.separation_check(names, ok_message, f"scored at one end of the scale by all judges{note}", "scores")


def unknown_error_check(problem: ScoresProblem) -> list[Check]:
    """Warn if a baseline cannot estimate how much judges disagree."""
    is_known = problem.data["scores"].get("known")
    if is_known is None or is_known.all():
        return []
    criterion_words = " under some criterion" if len(problem.criteria) > 1 else ""
    message = (
        f"No item was scored by two judges (of one group){criterion_words}, so how much a mean of scores varies "
        "from panel to panel is unknown: its intervals span the scale. Let a second judge score some items."
    )
    return [Check("error", "warn", float((is_known == 0).sum()), message)]


def weights_check(problem: ScoresProblem, instead: str = "rating-discrimination") -> list[Check]:
    """Warn if no data determine the criterion weights; ``instead`` names the model that counts criteria equally.

    Models in which all judges count alike have no such alternative: without votes on criteria their weights are equal.
    """
    model, density = problem.model, problem.density
    equal_judges = model.reliability.kind == AlikeRaters.kind or density.uses_marginal_likelihood
    if equal_judges or density.voted or density.fixed_weights or density.criteria == 1:
        return []
    if model.weights is None or model.weights.kind != "votes":
        return []
    message = (
        "Neither votes on criteria nor weights were given: criteria count equally. Pass criteria= (--criteria), or "
        f"take {instead}, which is the same then."
    )
    return [Check("weights", "warn", float(density.criteria), message)]
