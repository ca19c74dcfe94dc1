"""Labels item by item, as a class that all of an item's labels depend on is summed out.

Probability of labels that a model has not seen; see :mod:`voirdire.kinds.answers`.

Probability of each label by the other judges' labels of the item, from a fit of labels.
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


def score_held_out(whole: LabelsProblem, here: Bools) -> PredictionScores:
    """Log probability of some labels of a problem, of a fit that has not seen them.

    Raises
    ------
    InputError
        The model knows no classes, from which labels could be predicted.
    """
    check_answer_probabilities(whole)
    return score_predictions(predict_held_out(whole, here), whole.answer_codes(whole.table)[here])


def predict_held_out(whole: LabelsProblem, here: Bools, tolerance: float = TOLERANCE) -> Floats:
    """Probability of every label in some rows, of a fit at the mode that has not seen these; shape (some, labels).

    Parameters
    ----------
    here : bool array, shape (rows,)
    tolerance : float
        Gradient at which the search for the mode is stopped.
    """
    table = whole.table
    classes, families = whole.labels[: whole.classes], whole.families
    seen = encode_labels(whole.model, table.subset(~here), classes=classes, families=families)
    values = seen.density.values(find_mode(seen, tolerance=tolerance).x, np)
    return label_probabilities(seen, values, (table.judge[here], table.criterion[here], table.item[here]))


CALIBRATION_DRAWS = 50  # that calibration averages over


def label_calibration(problem: LabelsProblem, posterior: Posterior) -> Calibration:
    """Labels by the probability that the other judges' labels of the item give them, shape (pairs, labels).

    Of judge k's labels of item i, with n_i,m,l the labels of the others,

        P(l) = sum_j P(j | the others' labels of i) rate_k,j,l,
        P(j | the others' labels of i) ~ share_j prod_(m not k),l' rate_m,j,l' ^ n_i,m,l',

    averaged over draws of shares and rates, which are those of the whole table. Every answer counts once for each label
    there is, so that the picture does not depend on which label one asks for.
    """
    counts, chance = leave_one_out_probabilities(problem, thinned_draws(posterior, CALIBRATION_DRAWS))
    return Calibration(chance, counts, np.broadcast_to(counts.sum(axis=1, keepdims=True), counts.shape))


def leave_one_out_probabilities(problem: LabelsProblem, draws: list[Values]) -> tuple[Floats, Floats]:
    """Counts of the labels that each judge gave to an item, and their probability by the others' labels of the item.

    Returns
    -------
    counts, chance : array, shape (pairs of item and judge, labels)
    """
    pairs = labels_given(problem)
    total = np.zeros_like(pairs.counts)
    for values in draws:
        total += beliefs_without_judge(problem, values, pairs)[1]
    return pairs.counts, total / len(draws)


MAX_TABLE_NUMBERS = 10**6  # numbers of the table beyond which each draw takes too long


def label_answers(problem: LabelsProblem) -> list[Answers]:
    """The labels of each item (under each criterion), of which the most frequent stands for all.

    None where the model knows no classes, or the table is large.
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
        Answers(
            "labels",
            map_over_draws(log_probability),
            problem.unit_row,
            majority_label[problem.unit_row],
            about,
        )
    ]
