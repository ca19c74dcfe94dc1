"""Probability of labels that a model has not seen; see :mod:`voirdire.kinds.held_out`."""

from __future__ import annotations

import numpy as np

from voirdire.infer.mode import find_mode
from voirdire.infer.posterior_mode import TOLERANCE
from voirdire.kinds.held_out import Seen, score_predictions
from voirdire.kinds.labels.chances import check_single, label_probabilities
from voirdire.kinds.labels.problem import LabelsProblem, encode_labels
from voirdire.typing import Bools, Floats


def held_out(whole: LabelsProblem, here: Bools) -> Seen:
    """Log probability of some labels of a problem, of a fit that has not seen them.

    Raises
    ------
    InputError
        The model knows no classes, from which labels could be predicted.
    """
    check_single(whole)
    return score_predictions(predict_held_out(whole, here), whole.given(whole.table)[here])


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
