"""What judges perceive of items under criteria, on either kind of scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.kinds.scores.layout import ScoresLayout
from voirdire.model.terms import RATERS
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.reliability import Values
from voirdire.model.terms.severity import severity_of


def perceived(
    density: ScoresLayout,
    values: Values,
    group: Array,
    judge: Array,
    criterion: Array,
    item: Array,
    xp: Any = np,
) -> Array:
    """a_k (theta_c,i + taste_k,i + shared_f(k),i) - severity of each answer, elementwise; a_k 1 where judges are alike.

    Parameters
    ----------
    group : int array, shape (judges,)
        Group of every judge.
    judge, criterion, item : int array, shape (answers,)

    Returns
    -------
    array, shape (..., answers)
        Leading axes of the values (draws) are kept. In the unit of strengths.
    """
    strength = values["strength"][..., criterion, item]
    if "taste" in values:
        strength = strength + values["taste"][..., judge, item]
    if "family_item" in values:
        family = np.array(density.families)[judge]
        shared = values["family_item"][..., np.maximum(family, 0), item]
        strength = strength + (family >= 0) * shared
    seen = RATERS[density.model.reliability.kind].perceived(values, strength, judge, xp)
    if "severity" in values:
        seen = seen - severity_of(values, group)[..., judge]
    if "severity_criterion" in values:
        seen = seen - values["severity_criterion"][..., criterion, judge]
    return seen
