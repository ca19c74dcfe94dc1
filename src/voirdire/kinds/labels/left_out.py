"""Probability of each label by the other judges' labels of the item, from a fit of labels."""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior, some_draws
from voirdire.kinds.labels.influence import beliefs_without_judge, labels_given
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.kinds.shares import Calibration
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats

DRAWS = 50  # that calibration averages over


def label_calibration(problem: LabelsProblem, posterior: Posterior) -> Calibration:
    """Labels by the probability that the other judges' labels of the item give them, shape (pairs, labels).

    Of judge k's labels of item i, with n_i,m,l the labels of the others,

        P(l) = sum_j P(j | the others' labels of i) rate_k,j,l,
        P(j | the others' labels of i) ~ share_j prod_(m not k),l' rate_m,j,l' ^ n_i,m,l',

    averaged over draws of shares and rates, which are those of the whole table. Every answer counts once for each label
    there is, so that the picture does not depend on which label one asks for.
    """
    counts, chance = left_out(problem, some_draws(posterior, DRAWS))
    return Calibration(chance, counts, np.broadcast_to(counts.sum(axis=1, keepdims=True), counts.shape))


def left_out(problem: LabelsProblem, draws: list[Values]) -> tuple[Floats, Floats]:
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
