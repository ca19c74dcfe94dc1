"""A latent Gaussian model of scores with tastes of judges and of families.

Scores of a judge and item under a criterion depend on a few sums: the perceived strength, and further sums by the form
of scores. On an ordered scale these are the middle of the cutpoints and the logarithms of their gaps; on a continuous
scale the level of the scores and log noise, which is learned as spreads are. Given judges and cutpoints, items are
independent; given strengths and cutpoints, judges are; given all other values, strengths in different contexts are.
The dimension with the cheapest factor gives the blocks of the Hessian.

Latent strengths and severities do not sum to zero; their means move into the location. So the prior of the location is
wider than in the density by the variance of these means: for cutpoints 9 + s^2 / items + 1 / judges instead of 9.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from voirdire.infer.latent_gaussian.joined_answers import AnsweredSums, join_answered_sums
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.panel import build_latent_model
from voirdire.kinds.criteria_votes import sums_of_criteria_votes
from voirdire.kinds.scores.layout import ScoreCells, ScoresLayout
from voirdire.model.density import Data
from voirdire.model.design import LatentPositions, Term, build_design
from voirdire.model.terms.term import Values

#: Terms of the perceived strength.
PERCEPTION_TERMS = (
    Term("strength", ("criterion", "item"), 0),
    Term("general", ("item",), 0),
    Term("context_strength", ("criterion", "item", "context"), 0),
    Term("taste", ("judge", "item"), 0),
    Term("family_item", ("family", "item"), 0),
    Term("severity", ("judge",), 0, sign=-1.0),
    Term("severity_group", ("group",), 0, sign=-1.0),
    Term("severity_criterion", ("criterion", "judge"), 0, sign=-1.0),
)


def build_scores_model(
    density: ScoresLayout, data: Data, cells: Callable[[ScoresLayout, Data], ScoreCells]
) -> LatentGaussianModel:
    """Build the latent Gaussian model of a density and its table; ``cells`` depends on the form of the scores.

    Raises
    ------
    InputError
        The factor of the Hessian would take too much memory.
    """
    places = LatentPositions(density)
    form = cells(density, data)
    sums = sums_of_scores(density, data, form, places)
    if density.voted:
        sums = join_answered_sums([sums, sums_of_criteria_votes(data["criteria"], places)], places.size)
    return build_latent_model(
        density,
        sums,
        [places.block(dim) for dim in ("item", "judge", "context")],
        "name a model without tastes, such as rating-severity, or rating-continuous for scores between levels",
        well_identified=form.well_identified,
        to_latent=lambda values: subtract_general(values, form.location),
        to_density=lambda values: centre_values(values, form.location, form.sign),
        near_normal=True,
    )


def sums_of_scores(density: ScoresLayout, data: Data, form: ScoreCells, places: LatentPositions) -> AnsweredSums:
    """Sums of latent values, at ``places``, that scores depend on."""
    panel = data["panel"]
    group = panel["group"]
    judge, families = form.codes.factors["judge"], np.array(density.families or [-1] * density.judges)
    factors = {
        **form.codes.factors,
        "family": np.where(judge < 0, -1, families[judge]),
        "group": np.where(judge < 0, -1, group[judge]),
    }
    cells = replace(form.codes, factors=factors)
    if "numbers" in factors:
        cells = replace(cells, numbers=panel["numbers"][factors["numbers"]])
    judge_item_term = Term("judge_item_effect", places.dims.get("judge_item_effect", ()), 0)
    terms = [*PERCEPTION_TERMS, judge_item_term, *form.terms, *density.added]
    design, learned = (build_design(terms, cells, layout) for layout in (places, places.of_learned))
    return AnsweredSums(design.used, form.answers, form.predictors, learned)


def subtract_general(values: Values, location: str) -> Values:
    """Replace strengths by their differences from the general strengths and the level."""
    strength = values["strength"]
    if "general" in values:
        strength = strength - values["general"][..., None, :]
    if location == "level":
        strength = strength - values["level"][..., :, None]
    return {**values, "strength": strength}


def centre_values(values: Values, location: str, sign: float) -> Values:
    """Centre strengths and severities at zero; their means move into the location."""
    centred = dict(values)
    strength = values["strength"]
    if "general" in values:
        centred["general"] = values["general"] - values["general"].mean(axis=-1, keepdims=True)
        strength = strength + values["general"][..., None, :]
    level = values[location] + sign * strength.mean(axis=-1)
    for name in ("severity", "severity_group", "severity_criterion"):
        if name in values:
            mean = values[name].mean(axis=-1, keepdims=True)
            by_criterion = mean[..., 0] if name == "severity_criterion" else mean
            level = level - sign * by_criterion
            centred[name] = values[name] - mean
            if "severity_people" in centred:
                centred["severity_people"] = centred["severity_people"] - by_criterion
    centred[location] = level
    strength = strength - strength.mean(axis=-1, keepdims=True)
    # with a level, strengths include the location
    centred["strength"] = strength + level[..., :, None] if location == "level" else strength
    return centred
