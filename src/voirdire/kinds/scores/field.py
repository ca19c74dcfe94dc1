"""A model of scores with tastes of judges and of families as a field.

Scores of one judge and item by a criterion depend on a few sums.

The sums are what the judge perceives less the middle of the cutpoints, and the logarithms of the gaps between these.
Given judges and cutpoints items are independent; given strengths and cutpoints, judges are: whichever makes the cheaper
factor are the blocks of the matrix of second derivatives.

Latent strengths and severities have no sum of zero; the location has what they are on average. So its prior is wider
here than in the density by the variance of those means: 9 + s^2 / items + 1 / judges in the place of 9.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.nested.answers import Answers
from voirdire.infer.nested.field import Field
from voirdire.infer.nested.latent import Places, flat_of, groups_of, latent_of
from voirdire.infer.nested.pattern import COMMON, Pattern
from voirdire.kinds.scores.layout import ScoresLayout
from voirdire.model.density import Data
from voirdire.model.terms.cumulative import log_every_level
from voirdire.model.terms.cutpoints import spread
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats, Ints

TOLD = {"judge", "group", "criterion", "gap"}  # of what many scores tell
LARGEST = 4e8  # numbers that a factor may take


def field_of(density: ScoresLayout, data: Data) -> Field:
    """The field of a density and its table.

    Raises
    ------
    InputError
        Its factor would take too much memory.
    """
    groups, hypers = groups_of(density, TOLD)
    places = Places(density)
    index, coefficients, predictor, counts = _cells(density, data, places)
    patterns = [
        Pattern(block, index, coefficients, predictor)
        for block in (places.block("item"), places.block("judge"))
        if block.max(initial=COMMON) > COMMON
    ]
    pattern = min(patterns, key=lambda pattern: pattern.work)
    if pattern.numbers > LARGEST:
        raise InputError(
            f"{pattern.size:,} latent values of {density.judges:,} judges and {density.items:,} items: their factor "
            f"would take {8 * pattern.numbers / 1e9:.2g} GB; name a model without tastes, such as rating-severity"
        )
    return Field(
        groups,
        hypers,
        pattern,
        Answers(_chances(density), [counts.T]),
        lambda x: latent_of(density, _apart(density.values(x, np))),
        lambda x, hyper: flat_of(density, x, hyper, _centred),
        near_normal=True,
    )


def _cells(density: ScoresLayout, data: Data, places: Places) -> tuple[Ints, Floats, Ints, Floats]:
    """Distinct (judge, criterion, item): places of what their scores depend on, coefficients, sums, and counts."""
    part, group = data["scores"], data["panel"]["group"]
    unit = (part["judge"] * density.criteria + part["criterion"]) * density.items + part["item"]
    units, row = np.unique(unit, return_inverse=True)
    counts = np.zeros((len(units), density.levels))
    np.add.at(counts, (row, part["level"]), part["weight"])
    judge, rest = units // (density.criteria * density.items), units % (density.criteria * density.items)
    criterion, item = rest // density.items, rest % density.items
    family = np.array(density.families or [-1] * density.judges)[judge]
    shared = places.of("family_item", np.maximum(family, 0), item)
    parts = [
        (0, 1.0, places.of("strength", criterion, item)),
        (0, 1.0, places.of("general", item)),
        (0, 1.0, places.of("taste", judge, item)),
        (0, 1.0, np.where(family >= 0, shared, places.size)),
        (0, -1.0, places.of("severity", judge)),
        (0, -1.0, places.of("severity_group", group[judge])),
        (0, -1.0, places.of("cut_location", criterion)),
    ]
    for gap in range(density.levels - 2):
        parts.append((1 + gap, 1.0, places.of("log_gap", criterion, 0 * criterion + gap)))
    parts = [one for one in parts if (one[2] < places.size).any()]
    index = np.stack([place for _, _, place in parts], axis=1)
    coefficients = np.where(index < places.size, np.array([sign for _, sign, _ in parts]), 0.0)
    return index, coefficients, np.array([kind for kind, _, _ in parts]), counts


def _chances(density: ScoresLayout) -> Any:
    """Of the sums of each cell, log probabilities of every level."""

    def chances(sums: Any, xp: Any) -> list[tuple[Any, ...]]:
        perceived = sums[..., 0, :]
        gaps = [sums[..., 1 + gap, :] for gap in range(density.levels - 2)]
        cuts = spread(0.0 * perceived, xp.stack(gaps, axis=-1) if gaps else None, density.levels, xp)
        return [tuple(log_every_level(perceived, cuts, density.levels, xp))]

    return chances


def _apart(values: Values) -> Values:
    """With the differences of strengths from what their items are worth under all criteria alike."""
    if "general" not in values:
        return values
    return {**values, "strength": values["strength"] - values["general"][..., None, :]}


def _centred(values: Values) -> Values:
    """Strengths and severities with sum zero; the location of the cutpoints takes what they are on average."""
    found = dict(values)
    strength = values["strength"]
    if "general" in values:
        found["general"] = values["general"] - values["general"].mean(axis=-1, keepdims=True)
        strength = strength + values["general"][..., None, :]
    found["cut_location"] = values["cut_location"] - strength.mean(axis=-1)
    found["strength"] = strength - strength.mean(axis=-1, keepdims=True)
    for name in ("severity", "severity_group"):
        if name in values:
            mean = values[name].mean(axis=-1, keepdims=True)
            found["cut_location"] = found["cut_location"] + mean
            found[name] = values[name] - mean
    return found
