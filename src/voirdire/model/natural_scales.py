"""Names, units and definitions of a model's quantities, on the scale of estimation and on the natural scale.

Naming rule: values are estimated on the whole real line. A value that is the logarithm of a quantity is called
``log_`` and the quantity's name, and the log-odds of a probability ``logit_`` and its name; the name alone is the
quantity itself: ``logit_reliability`` and ``reliability``, ``log_weight`` and ``weight``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

LOG_PREFIX, LOGIT_PREFIX = "log_", "logit_"
LOGIT_PARAMETERS = frozenset({"reliability", "reliability_deviation", "coin_first", "coin_second", "anchor", "common"})
LOG_PARAMETERS = frozenset(
    {"weight", "class_share", "confusion", "confusion_judge", "common_label", "tendency"}
    | {"tie", "tie_judge", "tie_context", "tie_judge_context", "tie_item"}
)
NATURAL_NAMES = {  # names that would clash with a dimension, or parameters that are not logarithms
    "log_gap": "cut_gap",
    "log_gap_judge": "cut_gap_judge",
    "raw_discrimination": "discrimination",
}
ARVIZ_DIMENSIONS = {"label": "given_label"}  # names that ArviZ 1 reserves for stacked variables
SCALE_UNIT = "scale"  # unit of the strengths: log-odds, or points of the scores


class Fact(NamedTuple):
    """Unit and definition of a quantity."""

    units: str
    definition: str


def dimension_names(dims: Iterable[str]) -> tuple[str, ...]:
    """Names of dimensions in PyMC and in ArviZ.

    Examples
    --------
    >>> dimension_names(("judge", "class", "label"))
    ('judge', 'class', 'given_label')
    """
    return tuple(ARVIZ_DIMENSIONS.get(name, name) for name in dims)


def estimated_name(parameter: str) -> str:
    """Name of a parameter on the scale of estimation.

    Examples
    --------
    >>> [estimated_name(name) for name in ("reliability", "weight", "log_spread", "strength")]
    ['logit_reliability', 'log_weight', 'log_spread', 'strength']
    """
    if parameter in LOGIT_PARAMETERS:
        return LOGIT_PREFIX + parameter
    return LOG_PREFIX + parameter if parameter in LOG_PARAMETERS else parameter


def natural_name(parameter: str) -> str:
    """Name of a parameter on its natural scale.

    Examples
    --------
    >>> [natural_name(name) for name in ("reliability", "weight", "log_spread", "strength", "log_gap")]
    ['reliability', 'weight', 'spread', 'strength', 'cut_gap']
    """
    return NATURAL_NAMES.get(parameter) or parameter.removeprefix(LOG_PREFIX)


def unit_and_definition(name: str, unit: str) -> Fact:
    """Unit and definition of a quantity on its natural scale.

    Parameters
    ----------
    name : str
    unit : str
        Unit of the strengths.

    Examples
    --------
    >>> unit_and_definition("spread", "log-odds").units, unit_and_definition("judge:length", "log-odds").definition
    ('log-odds', 'effect of the further term judge:length')
    """
    fact = QUANTITY_FACTS.get(name)
    if fact is None:
        word = name.removeprefix("effect:")
        spread = word.endswith("_spread")
        term = word.removesuffix("_spread")
        effect = "standard deviation of the effects" if spread else "effect"
        fact = Fact(SCALE_UNIT, f"{effect} of the further term {term}")
    return fact._replace(units=unit if fact.units == SCALE_UNIT else fact.units)


_PROBABILITY, _RATIO, _LOG_ODDS = "probability", "ratio", "log-odds"
QUANTITY_FACTS: dict[str, Fact] = {
    "score": Fact(SCALE_UNIT, "the item's integrated score: its strengths by criterion, weighted by the criteria"),
    "score_panel": Fact(SCALE_UNIT, "score about the panel"),
    "score_target": Fact(SCALE_UNIT, "score about the target (people)"),
    "score_in_context": Fact(SCALE_UNIT, "score of the item in each context, sum zero in each"),
    "system_score": Fact(SCALE_UNIT, "mean score of the system over the contexts that the fit is about"),
    "system_share": Fact("share", "share of the system's answers that are of the class"),
    "strength": Fact(SCALE_UNIT, "strength of the item by criterion"),
    "general": Fact(SCALE_UNIT, "part of an item's strength that is common to all criteria"),
    "context_strength": Fact(SCALE_UNIT, "additional strength of an item in a context, relative to all contexts"),
    "taste": Fact(SCALE_UNIT, "additional strength of an item for one judge"),
    "family_item": Fact(SCALE_UNIT, "additional strength of an item for all judges of a family"),
    "panel_error": Fact(SCALE_UNIT, "additional strength of an item for all judges, relative to people"),
    "level": Fact(SCALE_UNIT, "mean strength of the items by criterion"),
    "weight": Fact("share", "weight of the criterion in an item's score; weights sum to one"),
    "reliability": Fact(_PROBABILITY, "probability that the judge answers right"),
    "reliability_by_criterion": Fact(_PROBABILITY, "probability that the judge answers right under a criterion"),
    "informedness": Fact(
        "share", "reliability above guessing, (reliability - g) / (1 - g) with g that of a guess; 0 for a guess"
    ),
    "position_bias": Fact(_PROBABILITY, "preference for the item shown first: (e1 - e2) / 2 of the two coins"),
    "coin_first": Fact(_PROBABILITY, "probability of being right where the better item is shown first (e1)"),
    "coin_second": Fact(_PROBABILITY, "probability of being right where the better item is shown second (e2)"),
    "coin_mean": Fact(_LOG_ODDS, "log-odds of being right of the judge in the middle of the population"),
    "coin_spread": Fact(_LOG_ODDS, "standard deviation between judges of the log-odds of being right"),
    "p_right": Fact(_PROBABILITY, "probability of preferring the better of two items of typical difference"),
    "p_right_score": Fact(
        _PROBABILITY, "probability of scoring the better of two items of typical difference higher, ties counted half"
    ),
    "first_rate": Fact(_PROBABILITY, "share of first items among decided answers on a typical pair, both orders alike"),
    "tie_rate": Fact(_PROBABILITY, "probability of a tie on a typical pair"),
    "discrimination": Fact(_RATIO, "slope by which the judge perceives strengths; 1 is typical of the panel"),
    "discrimination_spread": Fact("log", "standard deviation between judges of the log of discrimination"),
    "shift": Fact(_LOG_ODDS, "log-odds that the judge adds: to the item shown first, or to cutpoints"),
    "shift_spread": Fact(_LOG_ODDS, "standard deviation of the shift between judges"),
    "vote_scale": Fact(_RATIO, "slope of votes by strengths, relative to that of scores"),
    "tie": Fact(_RATIO, "Davidson's nu: P(tie) = nu / (nu + 2) of equal items"),
    "tie_scale": Fact(
        _RATIO,
        "how fast ties become rare between items far apart: 1 in Davidson's model, 0 if ties are given at random",
    ),
    "tie_judge": Fact(_RATIO, "factor of nu of the judge"),
    "tie_context": Fact(_RATIO, "factor of nu of the context"),
    "tie_judge_context": Fact(_RATIO, "factor of nu of the judge in the context"),
    "tie_item": Fact(_RATIO, "factor of nu of the item"),
    "tie_spread": Fact("log", "standard deviation between judges of log nu"),
    "tie_context_spread": Fact("log", "standard deviation between contexts of log nu"),
    "tie_judge_context_spread": Fact("log", "standard deviation of log nu between judges in contexts"),
    "tie_item_spread": Fact("log", "standard deviation between items of log nu"),
    "spread": Fact(SCALE_UNIT, "standard deviation of the strengths of items by criterion"),
    "general_spread": Fact(SCALE_UNIT, "standard deviation of the part of strengths that is common to all criteria"),
    "context_spread": Fact(SCALE_UNIT, "standard deviation of an item's strength between contexts"),
    "taste_spread": Fact(SCALE_UNIT, "standard deviation of an item's strength between judges"),
    "family_spread": Fact(SCALE_UNIT, "standard deviation of an item's strength between families of judges"),
    "panel_error_spread": Fact(SCALE_UNIT, "standard deviation of the error that all judges share"),
    "severity": Fact(
        SCALE_UNIT, "amount that the judge subtracts from every item, including its group's; positive if severe"
    ),
    "severity_group": Fact(SCALE_UNIT, "amount that judges of the group subtract from every item"),
    "severity_criterion": Fact(SCALE_UNIT, "additional severity of the judge under the criterion"),
    "severity_spread": Fact(SCALE_UNIT, "standard deviation of severity between judges under a criterion"),
    "severity_people": Fact(SCALE_UNIT, "amount that people subtract from every item, by criterion"),
    "cutpoint": Fact(_LOG_ODDS, "strength at which one level of the scale ends and the next begins"),
    "cut_location": Fact(_LOG_ODDS, "middle of the cutpoints"),
    "cut_gap": Fact(_LOG_ODDS, "distance between neighbouring cutpoints"),
    "cut_gap_judge": Fact(_RATIO, "factor of the distance of cutpoints of the judge"),
    "noise": Fact(SCALE_UNIT, "standard deviation of the judge's scores around what it perceives"),
    "noise_criterion": Fact(SCALE_UNIT, "standard deviation of the judge's scores by criterion"),
    "noise_people": Fact(SCALE_UNIT, "standard deviation of people's scores around what they perceive"),
    "people": Fact(_RATIO, "discrimination of people, 1 for a typical judge"),
    "anchor": Fact(_PROBABILITY, "probability that people prefer the better item"),
    "judge_item_effect": Fact(
        SCALE_UNIT, "additional strength of an item for one judge under a criterion, in all its runs"
    ),
    "judge_item": Fact(SCALE_UNIT, "standard deviation of a judge's own view of an item, constant over its runs"),
    "variance_item": Fact("square of the scale", "variance of the judge's scores between items"),
    "variance_judge_item": Fact("square of the scale", "variance of the judge's own view of items"),
    "variance_run": Fact("square of the scale", "variance of the judge's scores from run to run"),
    "accuracy": Fact(_PROBABILITY, "probability of the right label, classes weighted by their shares"),
    "sensitivity": Fact(_PROBABILITY, "probability of naming the class that counts as a success where it is right"),
    "specificity": Fact(_PROBABILITY, "probability of naming the other class where that is right"),
    "confusion": Fact(_PROBABILITY, "probability of each label in an item of each class"),
    "class_share": Fact("share", "share of the class among items"),
    "tendency": Fact("share", "share of the label in the answers on an item"),
    "load": Fact(_LOG_ODDS, "strength of the effect that judges of a family share"),
    "sharpness": Fact(_RATIO, "slope of levels by an item's value, of the panel"),
    "sharpness_judge": Fact(_RATIO, "factor of the slope of the judge"),
    "common": Fact(_PROBABILITY, "probability that judges of the family have a common label"),
    "common_label": Fact("share", "share of each label among the family's common labels, by class"),
}
