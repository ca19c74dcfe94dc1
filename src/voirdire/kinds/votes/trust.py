"""Checks of votes that the fitted model does not explain, each with a level, a number and a remedy.

Residuals of judges' answers by comparison; see :mod:`.trust.residuals`.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from voirdire.infer.posterior import Posterior, integrated_scores, thinned_draws
from voirdire.kinds.checks import CheckBasis, names_check
from voirdire.kinds.votes.comparisons import Comparisons, collect_comparisons, decided_comparisons
from voirdire.kinds.votes.contexts import cell_contexts
from voirdire.kinds.votes.position import position_check, position_effects_check, unknown_position_check
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.kinds.votes.response_probabilities import cell_probabilities
from voirdire.model.problem import Check, list_names
from voirdire.model.specs import model_names
from voirdire.model.terms.term import Values
from voirdire.tables import graph
from voirdire.tables.graph import pair_keys
from voirdire.tables.votes import TIED
from voirdire.trust.checks import SIGNIFICANCE_LEVEL, check_dependent_judges, check_influence
from voirdire.trust.dependence import MAX_SHOWN_PAIRS
from voirdire.trust.residuals import RESIDUAL_DRAWS, Residuals, examined_judges
from voirdire.typing import Floats, Ints


def vote_residuals(problem: VotesProblem, posterior: Posterior) -> Residuals:
    """Compute residuals of answers at some draws of a posterior (at its centre if it has none).

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 4, "second": "y", "winner": ["x", "x", "y", "x"]})
    >>> found = fit(table, model="bradley-terry", method="map")
    >>> vote_residuals(found.problem, found.posterior).r.shape
    (1, 1, 1)
    """
    votes = problem.coded_votes
    separate = problem.model.criteria == "separate"
    questions, context = pair_keys(votes, criteria=separate), cell_contexts(votes)
    if context is not None:  # a pair is another question in each context
        questions = questions * len(votes.contexts) + context
    keys, column = np.unique(questions, return_inverse=True)
    examined = examined_judges(problem.judge_votes, len(keys))
    row = np.full(len(problem.judges), -1)
    row[examined] = np.arange(len(examined))
    kept = row[votes.judge] >= 0
    cell = row[votes.judge][kept] * len(keys) + column[kept]
    total = votes.counts.sum(axis=1)
    net = (votes.counts[:, 0] - votes.counts[:, 1]).astype(float)
    sign = np.where(votes.first > votes.second, -1.0, 1.0)
    shape = (len(examined), len(keys))
    r, v, first, first_variance = [], [], [], []
    for values in thinned_draws(posterior, RESIDUAL_DRAWS):
        p = cell_probabilities(problem.model, problem.density, [values], votes)
        mean, variance = p[:, 0] - p[:, 1], p[:, 0] + p[:, 1] - (p[:, 0] - p[:, 1]) ** 2
        residual, spread = net - total * mean, total * variance
        r.append(np.bincount(cell, (sign * residual)[kept], shape[0] * shape[1]).reshape(shape))
        v.append(np.bincount(cell, spread[kept], shape[0] * shape[1]).reshape(shape))
        first.append(np.bincount(row[votes.judge][kept], residual[kept], len(examined)))
        first_variance.append(np.bincount(row[votes.judge][kept], spread[kept], len(examined)))
    size = len(votes.items)
    pairs = keys if context is None else keys // len(votes.contexts)
    about = (pairs // size % size, pairs % size, pairs // size**2)
    return Residuals(examined, np.stack(r), np.stack(v), np.stack(first), np.stack(first_variance), *about)


MIN_MISFIT = 1.5  # squared residuals, in units of their expectation


MAX_IDENTICAL_SHARE = 0.97  # share of a judge's answers that are the same under two criteria


MIN_SHARED_ANSWERS = 50  # smallest number of answers under both criteria for that share


MAX_CORRELATION = 0.9  # correlation of strengths under two criteria


TIES_SD = 0.7  # standard deviation in 72 simulated tables of 300 to 3,000 votes with ties of Davidson's model


def trust_checks(problem: VotesProblem, basis: CheckBasis) -> list[Check]:
    """Make all checks that compare votes with their expectation under the fitted model."""
    checks = [] if problem.anchors is None else [human_agreement_check(problem, basis.posterior)]
    checks += same_criteria_check(problem, basis.posterior)
    if problem.model.pool == "majority":
        return checks
    residuals = vote_residuals(problem, basis.posterior)
    disconnected = any(len(groups) > 1 for groups in graph.graph_components(problem.votes))
    has_people = problem.anchors is not None or problem.target_answers is not None
    return [
        *checks,
        *check_dependent_judges(
            problem, residuals, basis.seed, basis.chosen, lambda: pairs_to_ask(problem, has_human_answers=has_people)
        ),
        *(
            unknown_position_check(problem)
            or [*position_check(problem, residuals, basis.judges), *position_effects_check(problem, basis.posterior)]
        ),
        *splitting_items_check(problem, residuals),
        *ties_check(problem, basis.posterior),
        *([] if disconnected else check_influence(problem, basis.posterior)),
    ]


def splitting_items_check(problem: VotesProblem, residuals: Residuals) -> list[Check]:
    """Check for items that some judges like and others dislike more than the model expects.

    S_ki is the sum of judge k's residuals over the comparisons of item i, positive for i, and V_ki its variance. If
    judges differ in reliability alone, sum_k S_ki^2 is near sum_k V_ki, with a variance of about 2 sum_k V_ki^2. There
    is no check for a single judge.
    """
    if len(residuals.judges) < 2:
        return []
    size = len(problem.items)
    square, variance = item_moments(residuals, size)
    expected = variance.sum(axis=0)
    misfit = square / np.maximum(expected, 1e-12)
    z = (square - expected) / np.sqrt(np.maximum(2.0 * (variance**2).sum(axis=0), 1e-12))
    bound = -NormalDist().inv_cdf(SIGNIFICANCE_LEVEL / max(size, 1))
    split = np.flatnonzero((z > bound) & (misfit > MIN_MISFIT) & (expected > 2.0))
    split = split[np.argsort(-misfit[split], kind="stable")]
    names = [problem.items[i] for i in split]
    return [
        names_check(
            "judge-item-interaction",
            names,
            "No item divides the judges more than the model expects.",
            f"{list_names(names)} dividing the judges more than their reliability explains: they may be good in one "
            "way and bad in another. Read what judges said, or ask about criteria apart.",
        )
    ]


def ties_check(problem: VotesProblem, posterior: Posterior) -> list[Check]:
    """Check for ties that are more common between items far apart than the model expects.

    The value is the sum of (ties - expected ties) x over all questions, at the centre of the posterior, in standard
    deviations. x is the clearness of a question, less its mean over the judge's questions weighted by the variance of
    ties. A fit adapts to ties, so that the standard deviation of the value under Davidson's model is only ``TIES_SD``;
    a learned scale of ties cannot adapt to more than ties at random, so that the value of these has the standard
    deviation 1.
    """
    votes = problem.coded_votes
    if not votes.counts[:, TIED].any():
        return []
    p = cell_probabilities(problem.model, problem.density, [posterior.central_values], votes)
    total, tie = votes.counts.sum(axis=1), p[:, TIED]
    weight = total * tie * (1.0 - tie)
    clear = np.abs(p[:, 0] - p[:, 1]) / (1.0 - tie)
    judges = len(problem.judges)
    mean = np.bincount(votes.judge, weight * clear, judges) / np.maximum(
        np.bincount(votes.judge, weight, judges), 1e-12
    )
    x = clear - mean[votes.judge]
    z = float((x * (votes.counts[:, TIED] - total * tie)).sum() / np.sqrt(max((weight * x**2).sum(), 1e-12)))
    sd = 1.0 if problem.density.has_tie_scale else TIES_SD
    if z <= sd * NormalDist().inv_cdf(1.0 - SIGNIFICANCE_LEVEL):
        return []
    message = (
        "Ties are more common between items far apart than the model expects. The model takes a tie as a sign of close "
        f"items, so scores may be too near to each other, and their intervals too narrow. {_ties_remedy(problem)}"
    )
    return [Check("ties", "warn", z, message)]


def _ties_remedy(problem: VotesProblem) -> str:
    """Name the model most like that of a fit which learns a scale of ties; without one, a fit without ties."""
    if problem.density.has_tie_scale or problem.beside_scores:
        return "Compare a fit without the votes that are ties (--where winner!=tie)."
    names, name = model_names(), problem.model.name
    like = [learned for learned in (f"learned-{name}", f"learned-{name}-position") if learned in names]
    other = "learned-maple-position" if problem.model.criteria == "separate" else "learned-bradley-terry"
    return f"Fit {[*like, other][0]}, which learns how much ties depend on closeness."


def item_moments(residuals: Residuals, items: int) -> tuple[Floats, Floats]:
    """Compute sums over judges of S_ki^2, shape (items,), and V_ki, shape (judges, items), both averaged over draws.

    Only sums by judge and item are in memory, for one draw at a time: a matrix of comparisons and items would take
    80 GB for 1,000,000 comparisons of 10,000 items.

    Examples
    --------
    Of two comparisons, a with b and b with c, one judge prefers a and c, each by 1 more than expected:

    >>> left = Residuals(
    ...     np.arange(1), np.array([[[1.0, -1.0]]]), np.ones((1, 1, 2)), np.zeros((1, 1)), np.ones((1, 1)),
    ...     np.array([0, 1]), np.array([1, 2]), np.zeros(2, dtype=np.int64),
    ... )
    >>> square, variance = item_moments(left, 3)
    >>> square.tolist(), variance.tolist()
    ([1.0, 4.0, 1.0], [[1.0, 2.0, 1.0]])
    """
    judges = residuals.r.shape[1]
    start = items * np.arange(judges)[:, None]
    first_cell, second_cell = (start + residuals.index_a).ravel(), (start + residuals.index_b).ravel()

    def sum_by_cell(x: Floats, place: Ints) -> Floats:
        sums = np.bincount(place, x.ravel(), judges * items).reshape(judges, items)
        return np.asarray(sums, dtype=np.float64)

    square = np.zeros(items)
    for r in residuals.r:
        square += ((sum_by_cell(r, first_cell) - sum_by_cell(r, second_cell)) ** 2).sum(axis=0)
    v = residuals.v.mean(axis=0)
    return square / len(residuals.r), sum_by_cell(v, first_cell) + sum_by_cell(v, second_cell)


def same_criteria_check(problem: VotesProblem, posterior: Posterior) -> list[Check]:
    """Check for criteria that rank all items alike, or under which every judge answers alike."""
    if posterior.values is None or len(problem.criteria) < 2 or len(problem.items) < 3:
        return []
    strength = posterior.values["strength"]
    pairs = []
    for first in range(len(problem.criteria)):
        for second in range(first + 1, len(problem.criteria)):
            a, b = strength[:, first], strength[:, second]
            product = (a * b).sum(axis=1)
            correlation = product / np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
            if (
                np.quantile(correlation, 0.05) > MAX_CORRELATION
                or _identical_share(problem, first, second) > MAX_IDENTICAL_SHARE
            ):
                pairs.append(f"{problem.criteria[first]} and {problem.criteria[second]}")
    ok_message = "Every two criteria rank the items differently."
    message = (
        f"{list_names(pairs, verb=False)} rank the items alike: judges do not distinguish them. "
        "Merge them, or define them more sharply."
    )
    return [names_check("criteria", pairs, ok_message, message)]


def _identical_share(problem: VotesProblem, first: int, second: int) -> float:
    """Share of equal answers among comparisons that a judge made under both criteria; 0 if there are too few."""
    votes = problem.votes
    size = len(votes.items)
    keys = (votes.judge * size + votes.first) * size + votes.second
    rows = [np.flatnonzero(votes.criterion == code) for code in (first, second)]
    _, a, b = np.intersect1d(keys[rows[0]], keys[rows[1]], return_indices=True)
    first_counts, second_counts = votes.counts[rows[0][a]], votes.counts[rows[1][b]]
    total = np.minimum(first_counts.sum(axis=1), second_counts.sum(axis=1)).sum()
    return float(np.minimum(first_counts, second_counts).sum() / total) if total >= MIN_SHARED_ANSWERS else 0.0


def human_agreement_check(problem: VotesProblem, posterior: Posterior) -> Check:
    """Check that the majority of the judges agrees with people; where it does not, also the scores."""
    assert problem.anchors is not None
    criteria = problem.anchors.votes.has_criteria and problem.votes.has_criteria
    comparisons = collect_comparisons(problem.coded_votes, criteria=criteria)
    rows, answers = decided_comparisons(comparisons, problem.anchors, criteria=criteria)
    side = np.sign(np.sign(comparisons.mean_answers[:, rows]).sum(axis=0)) * answers
    right, decided = int((side > 0).sum()), int((side != 0).sum())
    if not decided:
        message = (
            "No anchor is on a pair that the judges decided, so anchors do not show which judges are reliable. Answer "
            "such pairs."
        )
        return Check("anchors", "warn", None, message)
    share = right / decided
    from scipy import stats

    interval = stats.binomtest(right, decided).proportion_ci(0.9, method="wilson")
    split = len(side) - decided
    summary = (
        f"The majority of the judges agrees with people on {right} of {decided} anchors ({share:.0%}, 90% interval "
        f"{interval.low:.0%} to {interval.high:.0%}{f'; the judges are split on {split} more' if split else ''})"
    )
    if interval.low > 0.5:
        return Check("anchors", "ok", share, f"{summary}.")
    if interval.high < 0.5:
        by_scores = answers * _score_differences(comparisons, rows, posterior, criteria=criteria)
        scored, followed = int((by_scores != 0).sum()), int((by_scores > 0).sum())
        advice = "Trust what rests on the anchors, not the consensus."
        if 2 * followed < scored:
            advice = (
                f"The scores still follow the judges (they agree with people on {followed} of {scored}): under the "
                "prior so many bad judges are less likely than so many wrong answers of people. Collect more answers "
                "of people; anchor_mode='cut' (--anchor-mode cut) learns the reliability of judges from people alone."
            )
        return Check("anchors", "fail", share, f"{summary}: worse than chance. {advice}")
    message = f"{summary}, which is not clearly different from chance. {pairs_to_ask(problem, has_human_answers=True)}."
    return Check("anchors", "warn", share, message)


def _score_differences(comparisons: Comparisons, rows: Ints, posterior: Posterior, *, criteria: bool) -> Floats:
    """Score of the one item less that of the other, shape (rows,); under the criterion of the row if ``criteria``."""
    density = posterior.density

    def scores(values: Values) -> dict[str, Floats]:
        overall = integrated_scores(density, values)[..., None, :]
        return {"score": density.item_strengths(values) if criteria else overall}

    score = posterior.summarise_quantities(scores, 0.9)["score"].point
    criterion = comparisons.criterion[rows] if criteria else 0
    return np.asarray(score[criterion, comparisons.item_a[rows]] - score[criterion, comparisons.item_b[rows]])


def pairs_to_ask(problem: VotesProblem, *, has_human_answers: bool = False) -> str:
    """Advice to ask people about the pairs on which judges disagree most."""
    comparisons = collect_comparisons(problem.coded_votes, criteria=False)
    side = np.sign(comparisons.mean_answers)
    voters = np.abs(side).sum(axis=0)
    order = np.lexsort((-voters, np.abs(side.sum(axis=0)) / np.maximum(voters, 1)))[:MAX_SHOWN_PAIRS]
    names = [f"{problem.items[comparisons.item_a[i]]} against {problem.items[comparisons.item_b[i]]}" for i in order]
    answers, ending = ("more", "") if has_human_answers else ("human answers", " and pass them as anchors")
    return f"Collect about 20 {answers} on pairs where judges disagree, such as {', '.join(names)}{ending}"
