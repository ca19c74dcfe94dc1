"""Progress of each group of comparable items, from a fit, and conditions to stop.

Conditions have forms such as "p_best >= 0.95", "width(ranks) <= 2", "loss <= 0.02", joined by "and".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from voirdire.decide.choice_cost import expected_loss
from voirdire.errors import InputError
from voirdire.infer.posterior import integrated_scores
from voirdire.kinds.fit import Fit
from voirdire.kinds.results import rank_values
from voirdire.tables.encode import level_positions
from voirdire.tables.problems import nearest_name
from voirdire.typing import Floats

_PART = re.compile(r"\s*(?P<name>[\w()\s-]*?)\s*(?P<sign>[<>]=?|=+|≥|≤)\s*(?P<bound>\S+)\s*")


class Quantity(NamedTuple):
    """A quantity of conditions.

    ``field`` is its field in `GroupProgress`, ``large`` is True if large values are good, ``limit`` the upper limit of
    bounds (exclusive), ``example`` a reasonable bound.
    """

    field: str
    large: bool
    limit: float
    example: str


#: Quantities by their name in conditions.
QUANTITIES = {
    "p_best": Quantity("p_best", True, 1.0, "0.95"),
    "loss": Quantity("loss", False, float("inf"), "0.02"),
    "width(ranks)": Quantity("width", False, float("inf"), "2"),
    "accuracy": Quantity("accuracy", True, 1.0, "0.9"),
}


@dataclass(frozen=True)
class GroupProgress:
    """Progress of one group.

    Attributes
    ----------
    best : str
        The item with the largest probability of being the best.
    p_best : float
        Probability that it is the best.
    loss : float
        Expected loss (log-odds) of choosing one item instead of the best; that of the item with the least loss.
    width : float
        Largest width of an item's interval of ranks.
    accuracy : float
        Expected share of pairs in the right order.
    """

    best: str
    p_best: float
    loss: float
    width: float
    accuracy: float


def summarise_item_groups(fit: Fit, groups: Sequence[Sequence[str]]) -> list[GroupProgress]:
    """Summarise the progress of each group, from a fit's draws.

    Parameters
    ----------
    fit : Fit
        Fit with scores and draws.
    groups : sequence of sequence of str
        Groups of comparable items; items without an answer are left out.

    Raises
    ------
    InputError
        If the fit has no scores or no draws, or a group has no answer.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> table = pd.DataFrame({"judge": "a", "first": "x", "second": "y", "winner": ["x"] * 40 + ["y"] * 2})
    >>> found = summarise_item_groups(fit(table, model="bradley-terry"), [["x", "y"]])[0]
    >>> found.best, found.p_best > 0.95, found.width
    ('x', True, 0.0)
    """
    values = fit.posterior.values
    if values is None:
        raise InputError(f"method {fit.method!r} has no draws, so progress cannot be measured; take 'laplace'")
    draws = np.asarray(integrated_scores(fit.problem.density, values))
    draws = draws.reshape(-1, draws.shape[-1])
    summaries = []
    for group in groups:
        place = level_positions(group, fit.problem.items)
        items = [item for item, code in zip(group, place, strict=True) if code >= 0]
        if not items:
            raise InputError(f"nothing was answered about {', '.join(group[:3])}; see missing.csv")
        summaries.append(_summarise_group(items, draws[:, place[place >= 0]], fit.prob))
    return summaries


def _summarise_group(items: Sequence[str], draws: Floats, prob: float) -> GroupProgress:
    rank = rank_values(draws)
    p_best = (rank == 1).mean(axis=0)
    low, high = np.quantile(rank, [0.5 * (1 - prob), 0.5 * (1 + prob)], axis=0, method="inverted_cdf")
    certainty = [
        np.abs((draws[:, [index]] > draws[:, index + 1 :]).mean(axis=0) - 0.5) + 0.5 for index in range(len(items) - 1)
    ]
    best = int(p_best.argmax())
    return GroupProgress(
        items[best],
        float(p_best[best]),
        float(expected_loss(draws).min()),
        float((high - low).max()),
        float(np.concatenate(certainty).mean()) if certainty else 1.0,
    )


@dataclass(frozen=True)
class Condition:
    """One bound on a quantity.

    Examples
    --------
    >>> met = GroupProgress("x", p_best=0.97, loss=0.01, width=1.0, accuracy=0.9)
    >>> Condition("p_best", 0.95).is_met(met), Condition("width(ranks)", 0.0).is_met(met)
    (True, False)
    """

    quantity: str
    bound: float

    def is_met(self, progress: GroupProgress) -> bool:
        """True if the condition holds for a group."""
        quantity = QUANTITIES[self.quantity]
        value = float(getattr(progress, quantity.field))
        return value >= self.bound if quantity.large else value <= self.bound

    def __str__(self) -> str:
        return f"{self.quantity} {'>=' if QUANTITIES[self.quantity].large else '<='} {self.bound:g}"


def read_conditions(text: str) -> tuple[Condition, ...]:
    """Read conditions that must all hold.

    Raises
    ------
    InputError
        For every part that cannot be read, has an unknown quantity (the nearest is named), a sign in the wrong
        direction, or a bound that can never be met.

    Examples
    --------
    >>> [str(one) for one in read_conditions("p_best >= 0.95 and width(ranks)<=2")]
    ['p_best >= 0.95', 'width(ranks) <= 2']
    >>> read_conditions("pbest >= 0.95")
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: until: quantity 'pbest' is unknown; did you mean 'p_best'?
    """
    conditions: list[Condition] = []
    problems: list[str] = []
    for part in re.split(r"\band\b|,|&&?", text):
        try:
            conditions.append(_read_condition(part))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError([f"until: {problem}" for problem in problems])
    return tuple(conditions)


def _read_condition(part: str) -> Condition:
    match = _PART.fullmatch(part)
    if match is None:
        raise InputError(f"{part.strip()!r} is no condition; write for example 'p_best >= 0.95'")
    name = re.sub(r"\s+", "", match["name"])
    if name not in QUANTITIES:
        hint = nearest_name(name, list(QUANTITIES)) or f"; there are {', '.join(QUANTITIES)}"
        raise InputError(f"quantity {name!r} is unknown{hint}")
    _, large, limit, example = QUANTITIES[name]
    direction, sign = (">=" if large else "<="), match["sign"]
    example = f"{name} {direction} {example}"
    if sign not in ((">=", ">", "≥") if large else ("<=", "<", "≤")):
        raise InputError(f"'{name} {sign} {match['bound']}' holds where little is known; write '{example}'")
    try:
        bound = float(match["bound"])
    except ValueError:
        raise InputError(f"{match['bound']!r} is no number; write for example '{example}'") from None
    if not 0 <= bound < limit:
        range_text = f"from 0 to below {limit:g}" if large else "of at least 0"
        raise InputError(f"{name} {direction} {match['bound']}: the bound must be a number {range_text}")
    return Condition(name, bound)


def unmet_conditions(wanted: Iterable[Condition], progress: GroupProgress) -> list[Condition]:
    """Conditions that do not hold."""
    return [condition for condition in wanted if not condition.is_met(progress)]
