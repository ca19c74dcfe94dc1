"""Cost of moves of draws by Hamiltonian Monte Carlo, estimated before anything is compiled."""

from __future__ import annotations

import numpy as np

from voirdire.infer.derivatives import Derivatives
from voirdire.model.problem import Problem

MAX_MIXTURE_WORK = 60_000  # multiplications of one density of a mixture above which moves take minutes
MAX_WORK = 140_000  # the same for other models, in numbers (:attr:`.Derivatives.work`)


def moves_affordable(problem: Problem) -> bool:
    """Return True if the moves of one fit take seconds, not minutes.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.kinds.labels.problem import encode_labels
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.labels import read_labels
    >>> rows = [("a", "x", "yes"), ("b", "x", "no"), ("a", "y", "yes"), ("b", "y", "no")]
    >>> table = read_labels(pd.DataFrame(rows, columns=["judge", "item", "label"]))
    >>> moves_affordable(encode_labels(load_model("hierarchical-dawid-skene"), table))
    True
    """
    if not problem.density.mixture:
        return Derivatives(problem.density, problem.data).work <= MAX_WORK
    cells = sum(np.size(column) for part in problem.data.values() for column in part.values())
    levels = problem.density.sizes.get("class", 1)
    return problem.density.size**2 + levels * cells <= MAX_MIXTURE_WORK
