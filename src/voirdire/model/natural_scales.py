"""Names, units and definitions of a model's quantities, on the scale of estimation and on the natural scale.

Naming rule: values are estimated on the whole real line. A value that is the logarithm of a quantity is called
``log_`` and the quantity's name, and the log-odds of a probability ``logit_`` and its name; the name alone is the
quantity itself: ``logit_reliability`` and ``reliability``, ``log_weight`` and ``weight``. Units and definitions are in
``quantities.toml``.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from voirdire.settings import read_toml

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


QUANTITY_FACTS: dict[str, Fact] = {
    name: Fact(**fact) for name, fact in read_toml(Path(__file__).with_name("quantities.toml")).items()
}
