"""Probabilities of labels, and answers of a fit, item by item, with held-out and leave-one-out probabilities.

All labels of an item depend on its class, which is summed out, so an answer is the labels of one item. Held-out labels
are those that the model has not seen; see :mod:`voirdire.kinds.answers`. Leave-one-out probabilities of a judge's label
are given the other judges' labels of the item.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.mode import find_mode
from voirdire.infer.outcomes import Outcome
from voirdire.infer.posterior import TOLERANCE, Posterior, thinned_draws
from voirdire.kinds.answers import (
    Answers,
    Calibration,
    PredictionScores,
    map_over_draws,
    sample_categorical,
    score_predictions,
)
from voirdire.kinds.labels.influence import beliefs_without_judge, count_labels, label_units, labels_given
from voirdire.kinds.labels.layout import sum_by_item
from voirdire.kinds.labels.problem import LabelsProblem, encode_labels
from voirdire.kinds.labels.states import draw_states_and_rates, expand_units, repeat_probabilities
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.confusion import log_softmax
from voirdire.model.terms.term import Values
from voirdire.tables.labels import Labels
from voirdire.typing import Bools, Floats, Ints


def label_probabilities(problem: LabelsProblem, values: Values, rows: tuple[Ints, ...]) -> Floats:
    """P(label l) = sum_j P(j | the item's labels) rate_k,j,l of each row, shape (rows, labels).

    For an item without labels under a criterion, class probabilities are the shares of the criterion.

    Parameters
    ----------
    rows : tuple of int array
        Judge, criterion and item of each row, in the problem's coding.

    Raises
    ------
    InputError
        The model has no classes to predict labels from.
    """
    density, (judge, criterion, item) = problem.density, rows
    if not density.latent:
        raise InputError(f"model {problem.model.name} gives no probability of single labels; leave it out")
    item_count = len(problem.items)
    unit_codes, unit = problem.unit_criterion * item_count + problem.unit_item, criterion * item_count + item
    position = np.minimum(np.searchsorted(unit_codes, unit), len(unit_codes) - 1)
    is_known = unit_codes[position] == unit
    if density.shares_errors:
        return _repeat_probabilities(
            problem, values, judge, criterion, np.where(is_known, problem.unit_row[position], -1)
        )
    joint = density.shares(values, np)[criterion]
    joint[is_known] = density.joint(values, problem.data, np)[problem.unit_row][position[is_known]]
    belief, rates = np.exp(log_softmax(joint, problem.classes, np)), np.exp(density.rates(values, np))
    result: Floats = np.einsum("rj,rjl->rl", belief, rates[judge if len(rates) > 1 else judge * 0])
    return result


def _repeat_probabilities(problem: LabelsProblem, values: Values, judge: Ints, criterion: Ints, row: Ints) -> Floats:
    """P(label) of judges given all labels of the items, (rows, labels); ``row`` is -1 for items without labels."""
    density, part = problem.density, problem.data["labels"]
    empty = {
        "counts": np.zeros((len(problem.criteria), part["counts"].shape[1])),
        "known": np.zeros((len(problem.criteria), problem.classes)),
        "criterion": np.arange(len(problem.criteria)),
        "weight": np.ones(len(problem.criteria)),
    }
    data = {"labels": {name: np.concatenate([part[name], added]) for name, added in empty.items()}}
    item_row = np.where(row < 0, len(part["counts"]) + criterion, row)
    probabilities = np.empty((len(row), len(problem.labels)))
    for k, chance in repeat_probabilities(density, values, data):
        probabilities[judge == k] = chance[item_row[judge == k]]
    return probabilities


def check_answer_probabilities(problem: LabelsProblem) -> None:
    """Refuse models without classes.

    Raises
    ------
    InputError
    """
    if not problem.density.latent:
        raise InputError(f"model {problem.model.name} gives no probability of single labels: nothing to draw")


def draw_labels(problem: LabelsProblem, values: Values, rng: np.random.Generator, *, anew: bool = False) -> Labels:
    """Simulate the labels of a problem under one set of values.

    Parameters
    ----------
    anew : bool
        True to draw classes from their shares, as for new items; by default they are drawn from P(class | the item's
        labels).
    """
    density, table, part = problem.density, problem.table, problem.data["labels"]
    judge, unit = table.judge, label_units(problem)
    seen = {"labels": part | {"counts": part["counts"] * 0 if anew else part["counts"]}}
    if density.shares_errors:
        of_unit = expand_units(seen, problem.unit_row)  # items with the same labels are drawn separately
        probabilities = np.empty((len(judge), density.labels))
        for k, rates in draw_states_and_rates(density, values, of_unit, rng)[1]:
            probabilities[judge == k] = rates[unit[judge == k]]
    elif density.latent:
        joint = density.joint(values, seen, np)[problem.unit_row]
        drawn_class = sample_categorical(np.exp(log_softmax(joint, problem.classes, np)), rng)
        rates = np.exp(density.rates(values, np))
        probabilities = rates[judge if len(rates) > 1 else judge * 0, drawn_class[unit]]
    else:
        probabilities = np.exp(log_softmax(values["tendency"], density.labels, np))[problem.unit_row[unit]]
    code = np.array([table.labels.index(label) for label in problem.labels])
    return replace(table, label=code[sample_categorical(probabilities, rng)])


def label_outcomes(problem: LabelsProblem) -> list[Outcome]:
    """List the outcomes: counts of labels by item, judge and label (over all judges if they are alike)."""
    density, part, row = problem.density, problem.data["labels"], problem.unit_row
    unit_data = {name: array[row] for name, array in part.items() if name != "weight"} | {"weight": np.ones(len(row))}
    judges = part["counts"].shape[1] // len(problem.labels)

    def log_probability(value: Any, values: Values, xp: Any) -> Array:
        counts = value.reshape((len(row), judges * len(problem.labels)))
        ((array, weight),) = density.log_parts(values, {"labels": unit_data | {"counts": counts}}, xp)
        return array * weight

    def draw_counts(values: Values, rng: np.random.Generator) -> Floats:
        return count_labels(problem, draw_labels(problem, values, rng, anew=True), judges)

    return [Outcome("labels", count_labels(problem, problem.table, judges), log_probability, draw_counts)]


def score_held_out(problem: LabelsProblem, held_out: Bools) -> PredictionScores:
    """Log probability of held-out labels of a problem, from a fit that has not seen them.

    Raises
    ------
    InputError
        The model has no classes to predict labels from.
    """
    check_answer_probabilities(problem)
    return score_predictions(predict_held_out(problem, held_out), problem.answer_codes(problem.table)[held_out])


def predict_held_out(problem: LabelsProblem, held_out: Bools, tolerance: float = TOLERANCE) -> Floats:
    """Probability of every label in held-out rows, from the mode of a fit that has not seen them; (rows, labels).

    Parameters
    ----------
    held_out : bool array, shape (rows,)
        True for held-out rows.
    tolerance : float
        Gradient at which the search for the mode stops.
    """
    table = problem.table
    classes, families = problem.labels[: problem.classes], problem.families
    seen = encode_labels(problem.model, table.subset(~held_out), classes=classes, families=families)
    values = seen.density.values(find_mode(seen, tolerance=tolerance).x, np)
    return label_probabilities(seen, values, (table.judge[held_out], table.criterion[held_out], table.item[held_out]))


CALIBRATION_DRAWS = 50  # draws that calibration averages over


def label_calibration(problem: LabelsProblem, posterior: Posterior) -> Calibration:
    """Calibration of labels by their probability given the other judges' labels of the item, shape (pairs, labels).

    For judge k's labels of item i, with n_i,m,l the counts of labels by the other judges m,

        P(l) = sum_j P(j | the others' labels of i) rate_k,j,l,
        P(j | the others' labels of i) ~ share_j prod_(m not k),l' rate_m,j,l' ^ n_i,m,l',

    averaged over draws of the shares and rates of the whole table. Every answer counts once for each possible label, so
    that no label is singled out.
    """
    counts, chance = leave_one_out_probabilities(problem, thinned_draws(posterior, CALIBRATION_DRAWS))
    return Calibration(chance, counts, np.broadcast_to(counts.sum(axis=1, keepdims=True), counts.shape))


def leave_one_out_probabilities(problem: LabelsProblem, draws: list[Values]) -> tuple[Floats, Floats]:
    """Counts of each judge's labels of an item, and their probabilities given the other judges' labels of the item.

    Returns
    -------
    counts, probability : array, shape (pairs of item and judge, labels)
    """
    pairs = labels_given(problem)
    total = np.zeros_like(pairs.counts)
    for values in draws:
        total += beliefs_without_judge(problem, values, pairs)[1]
    return pairs.counts, total / len(draws)


MAX_TABLE_NUMBERS = 10**6  # table entries above which each draw takes too long


def label_answers(problem: LabelsProblem) -> list[Answers]:
    """List the answers: the labels of each item (under each criterion), represented by the most frequent one.

    Empty if the model has no classes, or the table is large.
    """
    density, part = problem.density, problem.data["labels"]
    if not density.latent or math.prod(part["counts"].shape) > MAX_TABLE_NUMBERS:
        return []

    def log_probability(values: Values) -> Floats:
        return np.asarray(density.log_parts(values, problem.data, np)[0][0])

    units = np.array(problem.items)[problem.unit_item]
    about = {"item": units, "criterion": np.array(problem.criteria)[problem.unit_criterion]}
    majority_label = sum_by_item(part["counts"], len(problem.labels)).argmax(axis=1)
    return [
        Answers("labels", map_over_draws(log_probability), problem.unit_row, majority_label[problem.unit_row], about)
    ]
