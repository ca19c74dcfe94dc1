"""Probability of every label that a judge may give an item, by what is known of the item's class."""

from __future__ import annotations

import numpy as np

from voirdire.errors import InputError
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.kinds.labels.states import repeat_probabilities
from voirdire.model.terms.confusion import log_softmax
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats, Ints


def label_probabilities(problem: LabelsProblem, values: Values, rows: tuple[Ints, ...]) -> Floats:
    """P(label l) = sum_j P(j | the item's labels) rate_k,j,l of each row, shape (rows, labels).

    Of an item without labels under a criterion, the class has the criterion's shares.

    Parameters
    ----------
    rows : tuple of int array
        Judge, criterion and item of each row, in the problem's coding.

    Raises
    ------
    InputError
        The model knows no classes, from which labels could be predicted.
    """
    density, (judge, criterion, item) = problem.density, rows
    if not density.latent:
        raise InputError(f"model {problem.model.name} gives no probability of single labels; leave it out")
    wide = len(problem.items)
    known, unit = problem.unit_criterion * wide + problem.unit_item, criterion * wide + item
    place = np.minimum(np.searchsorted(known, unit), len(known) - 1)
    there = known[place] == unit
    if density.shares_errors:
        return _repeat_probabilities(
            problem, values, judge, criterion, np.where(there, problem.unit_row[place], -1)
        )
    joint = density.shares(values, np)[criterion]
    joint[there] = density.joint(values, problem.data, np)[problem.unit_row][place[there]]
    belief, rates = np.exp(log_softmax(joint, problem.classes, np)), np.exp(density.rates(values, np))
    found: Floats = np.einsum("rj,rjl->rl", belief, rates[judge if len(rates) > 1 else judge * 0])
    return found


def _repeat_probabilities(
    problem: LabelsProblem, values: Values, judge: Ints, criterion: Ints, row: Ints
) -> Floats:
    """P(label) of judges, given all labels of the items; ``row`` is -1 for items without any."""
    density, part = problem.density, problem.data["labels"]
    empty = {
        "counts": np.zeros((len(problem.criteria), part["counts"].shape[1])),
        "known": np.zeros((len(problem.criteria), problem.classes)),
        "criterion": np.arange(len(problem.criteria)),
        "weight": np.ones(len(problem.criteria)),
    }
    data = {"labels": {name: np.concatenate([part[name], more]) for name, more in empty.items()}}
    at = np.where(row < 0, len(part["counts"]) + criterion, row)
    found = np.empty((len(row), len(problem.labels)))
    for k, chance in repeat_probabilities(density, values, data):
        found[judge == k] = chance[at[judge == k]]
    return found


def check_answer_probabilities(problem: LabelsProblem) -> None:
    """Refuse models that know no classes.

    Raises
    ------
    InputError
    """
    if not problem.density.latent:
        raise InputError(f"model {problem.model.name} gives no probability of single labels: nothing to draw")
