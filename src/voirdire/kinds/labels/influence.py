"""Influence of judges on the class of items: class probabilities without a judge's labels.

With the shares and rates of the fit, the labels n_i,k of judge k on item i are left out by Bayes' rule,

    log P(j | the others' labels of i) = log P(j and all labels of i) - sum_l n_i,k,l log rate_k,j,l + constant,

so that one pass over the labels serves for all judges. Rates and shares stay those of the whole table: an
approximation, which is rough with three judges or fewer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.kinds.labels.states import leave_judge_out
from voirdire.model.problem import Check
from voirdire.model.terms.confusion import log_softmax
from voirdire.model.terms.term import Values
from voirdire.tables.labels import Labels
from voirdire.typing import Floats, Ints

MAX_DECIDED_SHARE = 0.1  # largest share of items with a class that depends on one judge
MAX_SAMPLED_ITEMS = 100_000  # largest number of items examined in large tables
BATCH_PAIRS = 500_000  # pairs of an item and a judge in memory


class KnownLabels(NamedTuple):
    """Labels by each judge on each item: one row per pair of unit and judge.

    Attributes
    ----------
    unit, judge : int array, shape (pairs,)
    counts : array, shape (pairs, labels)
    """

    unit: Ints
    judge: Ints
    counts: Floats


def labels_given(problem: LabelsProblem, units: Ints | None = None) -> KnownLabels:
    """Pairs of units and judges with their labels; only units in ``units``, if given.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> rows = [("a", "x", "no"), ("a", "x", "yes"), ("b", "x", "yes")]
    >>> fit = voirdire.fit(pd.DataFrame(rows, columns=["judge", "item", "label"]), method="map")
    >>> labels_given(fit.problem).counts.tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    judges, unit = len(problem.judges), label_units(problem)
    judge, label = problem.table.judge, problem.answer_codes(problem.table)
    if units is not None:
        is_named = np.isin(unit, units)
        unit, judge, label = unit[is_named], judge[is_named], label[is_named]
    pairs, row = np.unique(unit * judges + judge, return_inverse=True)
    counts = np.zeros((len(pairs), len(problem.labels)))
    np.add.at(counts, (row, label), 1.0)
    return KnownLabels(pairs // judges, pairs % judges, counts)


def label_units(problem: LabelsProblem) -> Ints:
    """The unit (item and criterion) of every label of the table."""
    item_count, table = max(len(problem.items), 1), problem.table
    unit_codes = problem.unit_criterion * item_count + problem.unit_item
    key, size = table.criterion * item_count + table.item, item_count * len(problem.criteria)
    if size > 4 * len(key) + 1000:
        return np.searchsorted(unit_codes, key)
    position = np.zeros(size, dtype=np.int64)
    position[unit_codes] = np.arange(len(unit_codes))
    return np.asarray(position[key])


def count_labels(problem: LabelsProblem, table: Labels, judges: int) -> Floats:
    """Counts of labels by item (under a criterion), judge (if there are several) and label, (units, judges, labels)."""
    counts = np.zeros((len(problem.unit_item), judges, len(problem.labels)))
    judge = table.judge if judges > 1 else table.judge * 0
    np.add.at(counts, (label_units(problem), judge, problem.answer_codes(table)), 1.0)
    return counts


def beliefs_without_judge(problem: LabelsProblem, values: Values, pairs: KnownLabels) -> tuple[Floats, Floats]:
    """Beliefs about the class and the judge's label of each pair, given the other judges' labels.

    Log P(class and the others' labels) up to a constant per pair, shape (pairs, classes), and P(label of the judge),
    shape (pairs, labels).
    """
    density = problem.density
    if density.shares_errors:
        return _beliefs_with_shared_errors(problem, values, pairs)
    log, joint = density.rates(values, np), density.joint(values, problem.data, np)[problem.unit_row]
    other_belief, label_probability = (np.empty((len(pairs.judge), problem.classes)), np.empty_like(pairs.counts))
    for start in range(0, len(pairs.judge), BATCH_PAIRS):
        batch = slice(start, start + BATCH_PAIRS)
        judge_log = log[pairs.judge[batch] if len(log) > 1 else pairs.judge[batch] * 0]
        other_belief[batch] = joint[pairs.unit[batch]] - np.einsum("pl,pjl->pj", pairs.counts[batch], judge_log)
        belief = np.exp(log_softmax(other_belief[batch], problem.classes, np))
        label_probability[batch] = np.einsum("pj,pjl->pl", belief, np.exp(judge_log))
    return other_belief, label_probability


def _beliefs_with_shared_errors(problem: LabelsProblem, values: Values, pairs: KnownLabels) -> tuple[Floats, Floats]:
    density, row = problem.density, problem.unit_row[pairs.unit]
    other_belief = np.empty((len(row), problem.classes))
    label_probability = np.empty((len(row), len(problem.labels)))
    for k in np.unique(pairs.judge):
        rows = pairs.judge == k
        state, label = leave_judge_out(density, values, problem.data, int(k))
        if density.has_grades:
            state = state @ np.exp(density.log_class_by_value(values, np))
        other_belief[rows], label_probability[rows] = (np.log(np.maximum(state, 1e-300))[row[rows]], label[row[rows]])
    return other_belief, label_probability


def count_decided_units(problem: LabelsProblem, posterior: Posterior, units: Ints | None = None) -> Ints:
    """Number of units (or of those in ``units``) with a class that would change without each judge, shape (judges,)."""
    values, pairs = posterior.central_values, labels_given(problem, units)
    beliefs, _ = beliefs_without_judge(problem, values, pairs)
    joint = problem.density.joint(values, problem.data, np)[problem.unit_row][pairs.unit]
    changed = beliefs.argmax(axis=1) != joint.argmax(axis=1)
    return np.bincount(pairs.judge, changed, len(problem.judges)).astype(np.int64)


def influence_check(problem: LabelsProblem, posterior: Posterior, seed: int = 0) -> list[Check]:
    """Check whether the classes of many items depend on one judge; an empty list without latent classes."""
    if not problem.density.latent or len(problem.judges) < 2:
        return []
    size, sample, sample_note = len(problem.unit_item), None, ""
    if problem.is_sparse and size > MAX_SAMPLED_ITEMS:
        sample = np.random.default_rng(seed).choice(size, MAX_SAMPLED_ITEMS, replace=False)
        size, sample_note = MAX_SAMPLED_ITEMS, f" (drawn at random from {size:,})"
    count = count_decided_units(problem, posterior, sample)
    judge = int(count.argmax())
    share = float(count[judge] / size)
    if share <= MAX_DECIDED_SHARE:
        fact = f"At most {count[judge]} of {size} classes{sample_note} depend on one judge ({problem.judges[judge]})."
        if not count[judge]:
            fact = f"None of {size} classes{sample_note} depends on a single judge."
        return [Check("influence", "ok", share, fact)]
    message = (
        f"Without {problem.judges[judge]} {count[judge]} of {size} items{sample_note} would have another class. More "
        "judges on the items in doubt would make them depend less on one."
    )
    return [Check("influence", "warn", share, message)]
