"""Dependence of judges of labels: errors that coincide more than those of independent judges.

Given the classes and the matrices, judges err independently. With the class z_i of item i drawn from its posterior, let
r_ki be the number of right labels of judge k on i minus its expectation n_ki p_k, with p_k = P(z_i | z_i, judge k), and
v_ki = n_ki p_k (1 - p_k) its variance. Sums of products of two judges' residuals are the realised discrepancies of
:mod:`voirdire.trust.residuals`; tests and the effective number of judges are the same as for votes
(:mod:`voirdire.trust.dependence`). As the classes are estimated from the labels, the dependence of a clique that
dominates the consensus is partly hidden, and the effective number of judges is an upper bound.

In panels, score tests (:mod:`.labels.pair_scores`) replace these tests. Judges form a group where pairs agree beyond
the difficulty of items, and the group does not agree with the other judges as well (``MAX_AGREEMENT_WITH_OTHERS``),
as it would on items that are hard for all. A group that shares mistakes and a group that alone sees the right class
give the same labels.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist

import numpy as np

from voirdire.infer.posterior import Posterior, thinned_draws
from voirdire.kinds.answers import sample_categorical
from voirdire.kinds.labels.families import families_by_answers
from voirdire.kinds.labels.influence import label_units as units_of
from voirdire.kinds.labels.pair_scores import PairScores, pair_scores
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.kinds.labels.states import draw_states_and_rates, expand_units
from voirdire.kinds.labels.wide_residuals import wide_residuals
from voirdire.model.problem import Check, Level, list_names
from voirdire.model.terms.confusion import log_softmax
from voirdire.model.terms.term import Values
from voirdire.trust.dependence import Correlations, Dependence, alike_pairs_in_words, most_alike, pairwise_dependence
from voirdire.trust.residuals import RESIDUAL_DRAWS, Residuals, examined_judges
from voirdire.typing import Floats, Ints

SIGNIFICANCE_LEVEL = 0.01  # familywise, over all pairs of judges
DIFFICULTY_LEVEL = 0.005  # significance level of the difficulty of items
MAX_AGREEMENT_WITH_OTHERS = 1.64  # largest score of a group's agreement with the other judges
MIN_GROUP_DISTANCE = 0.5  # smallest distance of the label shares of a group and of the others on items that are named
MAX_NAMED_ITEMS = 3


def label_residuals(problem: LabelsProblem, posterior: Posterior, rng: np.random.Generator) -> Residuals:
    """Numbers of right labels minus their expectation; of very many judges those with most labels.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> rows = [(judge, f"i{n}", "ab"[n % 2]) for judge in "xyz" for n in range(6)]
    >>> table = pd.DataFrame(rows, columns=["judge", "item", "label"])
    >>> fit = voirdire.fit(table, method="map")
    >>> label_residuals(fit.problem, fit.posterior, np.random.default_rng(0)).r.shape
    (1, 3, 6)
    """
    density, table = problem.density, problem.table
    units, size = len(problem.unit_item), len(problem.judges)
    chosen = examined_judges(problem.judge_votes, units)
    unit = units_of(problem)
    label = problem.answer_codes(table)
    r, v = [], []
    for values in thinned_draws(posterior, RESIDUAL_DRAWS) if density.shares_errors else ():
        counts = np.bincount(table.judge * units + unit, minlength=size * units).reshape(size, units)
        parts = _residuals_given_effects(problem, values, counts, unit, label, rng)
        r.append(parts[0][chosen])
        v.append(parts[1][chosen])
    row = np.full(size, -1)
    row[chosen] = np.arange(len(chosen))
    is_chosen = row[table.judge] >= 0
    cell, shape = row[table.judge[is_chosen]] * units + unit[is_chosen], (len(chosen), units)
    counts = np.bincount(cell, minlength=len(chosen) * units).reshape(shape)
    for values in () if density.shares_errors else thinned_draws(posterior, RESIDUAL_DRAWS):
        belief = np.exp(log_softmax(density.joint(values, problem.data, np), problem.classes, np))
        drawn_class = sample_categorical(belief[problem.unit_row], rng)
        rates = np.exp(density.rates(values, np))
        right = np.diagonal(rates[..., : problem.classes], axis1=-2, axis2=-1)  # (judges or 1, classes)
        p = np.broadcast_to(right, (size, problem.classes))[np.ix_(chosen, drawn_class)]
        right_counts = np.bincount(cell, (label == drawn_class[unit])[is_chosen], len(chosen) * units).reshape(shape)
        r.append(right_counts - counts * p)
        v.append(counts * p * (1.0 - p))
    zeros, empty = np.zeros((len(r), len(chosen))), np.zeros(0, dtype=np.int64)
    return Residuals(chosen, np.stack(r), np.stack(v), zeros, zeros, empty, empty, empty)


def _shared_units(problem: LabelsProblem) -> bool:
    """True if some item (under one criterion) has labels of two judges."""
    one_judge = np.zeros(len(problem.unit_item), dtype=np.int64)
    unit, judge = units_of(problem), problem.table.judge
    one_judge[unit] = judge
    return bool((one_judge[unit] != judge).any())


def _residuals_given_effects(
    problem: LabelsProblem, values: Values, counts: Ints, unit: Ints, place: Ints, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Residuals and variances of judges, shape (judges, units), given the state of items and family effects.

    Residuals are those of the number of right labels; for ordered labels, those of the sum of levels.
    """
    density, table = problem.density, problem.table
    state, rates = draw_states_and_rates(density, values, expand_units(problem.data, problem.unit_row), rng)
    score = np.eye(len(problem.labels))[state] if not density.has_grades else np.arange(len(problem.labels))[None]
    r, v = np.zeros_like(counts, dtype=float), np.zeros_like(counts, dtype=float)
    score_row = np.arange(len(state)) if not density.has_grades else np.zeros(len(state), dtype=np.int64)
    for k, chance in rates:
        mean = (chance * score).sum(axis=1)
        of_judge = table.judge == k
        score_sum = np.bincount(unit[of_judge], score[score_row[unit[of_judge]], place[of_judge]], len(state))
        r[k] = score_sum - counts[k] * mean
        v[k] = counts[k] * np.maximum((chance * score**2).sum(axis=1) - mean**2, 0.0)  # negative by rounding only
    return r, v


def dependence_check(problem: LabelsProblem, posterior: Posterior, seed: int) -> list[Check]:
    """Check whether judges' errors coincide more than the model expects, with the effective number of judges."""
    if not problem.density.latent or len(problem.judges) < 2:
        return []
    if not _shared_units(problem):
        message = (
            "No item has labels of two judges, so nothing tells whether judges err together. Let two judges label "
            "some items."
        )
        return [Check("dependence", "warn", None, message)]
    rng = np.random.default_rng(seed)
    wide_sums = wide_residuals(problem, posterior, rng) if problem.is_sparse else None
    residuals = label_residuals(problem, posterior, rng) if wide_sums is None else wide_sums
    dependence = pairwise_dependence(residuals, rng)
    count = len(residuals.judges)
    subset_note = (
        f" of {len(problem.judges):,} (with most labels)"
        if wide_sums is not None and count < len(problem.judges)
        else ""
    )
    summary = (
        f"{count} judges{subset_note} carry as much information as about {dependence.size:.0f} independent judges "
        f"(90% interval {dependence.low:.0f} to {dependence.high:.0f}"
    )
    units = len(problem.unit_item)
    is_sampled = wide_sums is not None and wide_sums.units < units
    summary += (
        f"; by {wide_sums.units:,} of {units:,} items, drawn at random)"
        if wide_sums is not None and is_sampled
        else ")"
    )
    item_words = "more items" if (problem.known >= 0).any() else "items"
    scores = pair_scores(problem, posterior, rng)
    if scores is not None:
        return [_panel_check(problem, dependence, scores, summary, item_words)]
    similar = most_alike(dependence, SIGNIFICANCE_LEVEL)
    if not similar:
        return [_independent(dependence, summary)]
    pairs = alike_pairs_in_words([problem.judges[judge] for judge in residuals.judges], similar)
    if not dependence.matters:
        message = dependence.minor_message(f"{pairs} are right and wrong together", f"{count} judges{subset_note}")
        return [Check("dependence", "ok", dependence.size, message)]
    message = (
        f"{summary}: {pairs} are right and wrong together far more than independent judges. Their "
        f"shared mistakes count as evidence {_times_counted(dependence)}: drop copies, name families (families=, "
        f"--families), and pass {item_words} of known class (anchors=..., --anchors)."
    )
    return [Check("dependence", _warning_level(dependence), dependence.size, message)]


def _independent(dependence: Dependence, summary: str) -> Check:
    return Check("dependence", "ok", dependence.size, f"{summary}: none err together more than the model expects.")


def _times_counted(dependence: Dependence) -> str:
    return "many times over" if dependence.size < 0.5 * len(dependence.z) else "more than once"


def _warning_level(dependence: Dependence) -> Level:
    return "fail" if dependence.high < 0.5 * len(dependence.z) else "warn"


def _panel_check(
    problem: LabelsProblem, dependence: Dependence, scores: PairScores, summary: str, item_words: str
) -> Check:
    """Name groups of judges that err together, or say that groups and difficult items cannot be distinguished."""
    is_difficult = scores.difficulty > -NormalDist().inv_cdf(DIFFICULTY_LEVEL)
    groups = [
        group
        for group in _groups(replace(dependence, z=scores.beyond_difficulty))
        if len(group) < len(problem.judges) and scores.between(group) < MAX_AGREEMENT_WITH_OTHERS
    ]
    if not groups:
        if not is_difficult and not most_alike(replace(dependence, z=scores.z), SIGNIFICANCE_LEVEL):
            return _independent(dependence, summary)
        # copies that are taken for the class leave no residuals, but answer alike
        family_of = families_by_answers(problem)
        families = np.array([family_of.get(judge, judge) for judge in problem.judges])
        members = [np.flatnonzero(families == name) for name in dict.fromkeys(families.tolist())]
        groups = [group for group in members if 1 < len(group) < len(problem.judges)]
    size_note = f"{summary}: " if dependence.matters else ""
    remedy = (
        "name judges of one base model or prompt as a family (families=, --families). If you know of none, pass "
        f"{item_words} of known class (anchors=..., --anchors)"
    )
    if groups:
        groups_named = [" and ".join(problem.judges[judge] for judge in group) for group in groups]
        items = list_names(_disputed_items(problem, groups[0]), verb=False)
        such_as = f", such as {items}, on which {groups_named[0]} differ from the others" if items else ""
        message = (
            f"{size_note}{'; '.join(groups_named)} are right and wrong together far more than independent judges. They "
            "share mistakes, or the other judges do; labels cannot tell which. Shared mistakes count as evidence "
            f"{_times_counted(dependence)}, and intervals of accuracy are too narrow: {remedy}{such_as}: there judges "
            "who share mistakes are wrong."
        )
        return Check("dependence", _warning_level(dependence), dependence.size, message)
    message = (
        f"{size_note}Judges are right and wrong on the same items far more than independent judges. Items differ in "
        "difficulty, or some judges share mistakes; labels cannot tell which. Shared mistakes count as evidence "
        f"{_times_counted(dependence)}: {remedy}, drawn at random."
    )
    return Check("dependence", _warning_level(dependence), dependence.size, message)


def _groups(correlations: Correlations) -> list[Ints]:
    """Judges linked by pairs that agree too much, as positions; the most similar judges first."""
    pairs = most_alike(correlations, SIGNIFICANCE_LEVEL)
    group = np.arange(len(correlations.z))
    for first, second in pairs:
        group[group == group[second]] = group[first]
    return [np.flatnonzero(group == code) for code in dict.fromkeys(group[[first for first, _ in pairs]].tolist())]


def _disputed_items(problem: LabelsProblem, group: Ints) -> list[str]:
    """Names of the items on which judges of a group and the others differ most."""
    shape = (2, len(problem.unit_item), len(problem.labels))
    shares = np.zeros(shape)
    side = np.isin(problem.table.judge, group).astype(int)
    np.add.at(shares, (side, units_of(problem), problem.answer_codes(problem.table)), 1.0)
    total = shares.sum(axis=2, keepdims=True)
    shares /= np.maximum(total, 1.0)
    distance = 0.5 * np.abs(shares[0] - shares[1]).sum(axis=1) * (total > 0).all(axis=0)[:, 0] * (problem.known < 0)
    order = np.argsort(-distance, kind="stable")
    disputed = problem.unit_item[order[distance[order] > MIN_GROUP_DISTANCE]]
    return [problem.items[item] for item in dict.fromkeys(disputed.tolist())][:MAX_NAMED_ITEMS]
