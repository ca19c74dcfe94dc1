"""Probability of every label that a judge may give an item, by what is known of the item's class."""

from __future__ import annotations

import numpy as np

from voirdire.errors import InputError
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.model.terms.confusion import log_softmax
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats, Ints


def chances(problem: LabelsProblem, values: Values, rows: tuple[Ints, ...]) -> Floats:
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
    joint = density.shares(values, np)[criterion]
    joint[there] = density.joint(values, problem.data, np)[problem.unit_row][place[there]]
    belief, rates = np.exp(log_softmax(joint, problem.classes, np)), np.exp(density.rates(values, np))
    found: Floats = np.einsum("rj,rjl->rl", belief, rates[judge if len(rates) > 1 else judge * 0])
    return found


def check_single(problem: LabelsProblem) -> None:
    """Refuse models that know no classes.

    Raises
    ------
    InputError
    """
    if not problem.density.latent:
        raise InputError(f"model {problem.model.name} gives no probability of single labels: nothing to draw")
