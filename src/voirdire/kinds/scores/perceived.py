"""Items as judges perceive them under criteria, on either kind of scale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from voirdire.kinds.scores.layout import ScoresLayout
from voirdire.model.panel_density import sum_of_terms
from voirdire.model.terms import RATERS
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.reliability import Values
from voirdire.model.terms.severity import total_severity


def item_strengths(values: Values, about: Mapping[str, Array], xp: Any = np) -> Array:
    """theta_c,i + u_c,i,x of each answer, shape (..., answers); u is 0 of context -1, and of models without contexts.

    Parameters
    ----------
    about : dict of str to int array, shape (answers,)
        Codes: criterion and item, and context where the model tells contexts apart.

    Examples
    --------
    >>> values = {"strength": np.array([[1.0, -1.0]]), "context_strength": np.array([[[0.5, 0.25], [0.0, 0.0]]])}
    >>> about = {"criterion": np.zeros(2, dtype=int), "item": np.array([0, 0]), "context": np.array([1, -1])}
    >>> item_strengths(values, about).tolist()
    [1.25, 1.0]
    """
    criterion, item = about["criterion"], about["item"]
    strength = values["strength"][..., criterion, item]
    if "context_strength" not in values:
        return strength
    u = values["context_strength"]
    u = xp.concatenate([u, 0.0 * u[..., :1]], axis=-1)  # the last, -1, is of no context
    return strength + u[..., criterion, item, about["context"]]


def perceived_strengths(
    density: ScoresLayout,
    values: Values,
    panel: Mapping[str, Array],
    about: Mapping[str, Array],
    xp: Any = np,
) -> Array:
    """Worth of an item as a judge sees it, of each answer, elementwise; a_k is 1 where judges are alike.

    a_k (theta_c,i + u_c,i,x + taste_k,i + own_k,c,i + shared_f(k),i) - severity, and what added terms are.

    Parameters
    ----------
    panel : dict of array
        ``group`` of every judge, shape (judges,), and ``numbers`` of added terms, by row.
    about : dict of str to int array, shape (answers,)
        As of :func:`item_strengths`, and judge, and what added terms are of.

    Returns
    -------
    array, shape (..., answers)
        Leading axes of the values (draws) are kept. In the unit of strengths.
    """
    judge, criterion, item = about["judge"], about["criterion"], about["item"]
    strength = item_strengths(values, about, xp)
    if "taste" in values:
        strength = strength + values["taste"][..., judge, item]
    if "judge_item_effect" in values:
        strength = strength + values["judge_item_effect"][..., judge, criterion, item]
    if "family_item" in values:
        family = np.array(density.families)[judge]
        shared = values["family_item"][..., np.maximum(family, 0), item]
        strength = strength + (family >= 0) * shared
    seen = RATERS[density.model.reliability.kind].perceived_strength(values, strength, judge, xp)
    if "severity" in values:
        seen = seen - total_severity(values, panel["group"])[..., judge]
    if "severity_criterion" in values:
        seen = seen - values["severity_criterion"][..., criterion, judge]
    numbers = panel["numbers"][about["numbers"]] if "numbers" in about else None
    return seen + sum_of_terms(density.added, values, about, numbers)
