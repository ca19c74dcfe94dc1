"""Dependence of judges of labels: errors that coincide more than those of independent judges.

Given the classes and the matrices, judges err independently. With the class z_i of item i drawn from its posterior, let
r_ki be the number of right labels of judge k on i minus its expectation n_ki p_k, with p_k = P(z_i | z_i, judge k), and
v_ki = n_ki p_k (1 - p_k) its variance. Sums of products of two judges' residuals are the realised discrepancies of
:mod:`voirdire.trust.residuals`; tests and the effective number of judges are the same as for votes
(:mod:`voirdire.trust.dependence`). As the classes are estimated from the labels, the dependence of a clique that
dominates the consensus is partly hidden.
"""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior, thinned_draws
from voirdire.kinds.answers import sample_categorical
from voirdire.kinds.labels.influence import label_units as units_of
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.kinds.labels.states import draw_states_and_rates, expand_units
from voirdire.kinds.labels.wide_residuals import wide_residuals
from voirdire.model.problem import Check
from voirdire.model.terms.confusion import log_softmax
from voirdire.model.terms.reliability import Values
from voirdire.trust.dependence import alike_pairs_in_words, most_alike, pairwise_dependence
from voirdire.trust.residuals import RESIDUAL_DRAWS, Residuals, examined_judges
from voirdire.typing import Floats, Ints

SIGNIFICANCE_LEVEL = 0.01  # familywise, over all pairs of judges


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
    similar = most_alike(dependence, SIGNIFICANCE_LEVEL)
    if not similar:
        return [
            Check("dependence", "ok", dependence.size, f"{summary}: none err together more than the model expects.")
        ]
    pairs = alike_pairs_in_words([problem.judges[judge] for judge in residuals.judges], similar)
    if not dependence.matters:
        message = dependence.minor_message(f"{pairs} are right and wrong together", f"{count} judges{subset_note}")
        return [Check("dependence", "ok", dependence.size, message)]
    weight_note = "many times over" if dependence.size < 0.5 * count else "more than once"
    item_words = "more items" if (problem.known >= 0).any() else "items"
    message = (
        f"{summary}: {pairs} are right and wrong together far more than independent judges. Their "
        f"shared mistakes count as evidence {weight_note}: drop copies, name families (families=, --families), and "
        f"pass {item_words} of known class (anchors=..., --anchors)."
    )
    return [Check("dependence", "fail" if dependence.high < 0.5 * count else "warn", dependence.size, message)]
