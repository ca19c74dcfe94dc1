"""Answers of a fit of labels, item by item, with held-out and leave-one-out probabilities of labels.

All labels of an item depend on its class, which is summed out, so an answer is the labels of one item. Held-out labels
are those that the model has not seen; see :mod:`voirdire.kinds.answers`. Leave-one-out probabilities of a judge's label
are given the other judges' labels of the item.
"""

from __future__ import annotations

import math

import numpy as np

from voirdire.infer.mode import find_mode
from voirdire.infer.posterior import TOLERANCE, Posterior, thinned_draws
from voirdire.kinds.answers import Answers, Calibration, PredictionScores, map_over_draws, score_predictions
from voirdire.kinds.labels.influence import beliefs_without_judge, labels_given
from voirdire.kinds.labels.layout import sum_by_item
from voirdire.kinds.labels.problem import LabelsProblem, encode_labels
from voirdire.kinds.labels.response_probabilities import check_answer_probabilities, label_probabilities
from voirdire.model.terms.reliability import Values
from voirdire.typing import Bools, Floats


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
