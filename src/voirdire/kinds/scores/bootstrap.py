"""Scores drawn with replacement; see :mod:`voirdire.kinds.bootstrap`."""

from __future__ import annotations

import numpy as np

from voirdire.errors import InputError
from voirdire.kinds.bootstrap import resample_weights
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.model.density import Data


def resample_scores(problem: ScoresProblem, rng: np.random.Generator) -> Data:
    """The tables of a problem with as many opinions, drawn with replacement; of the same shapes each time.

    Raises
    ------
    InputError
        The model pools scores before it looks at them.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> scores = pd.DataFrame({"judge": ["a", "b"], "item": ["x", "x"], "score": [1, 2]})
    >>> problem = voirdire.fit(scores, method="map").problem
    >>> float(resample_scores(problem, np.random.default_rng(0))["scores"]["weight"].sum())
    2.0
    """
    if "judge" not in problem.data["scores"]:
        raise InputError(
            f"bootstrap() needs a model of single scores; the intervals of {problem.model.name} say already where "
            "another panel's value would lie"
        )
    return {name: resample_weights(part, problem.answer_weight, rng) for name, part in problem.data.items()}
