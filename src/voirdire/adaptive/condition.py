"""When enough is known: "p_best >= 0.95", "width(ranks) <= 2", "loss <= 0.02", joined by "and"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from voirdire.adaptive.known import QUANTITIES, Known
from voirdire.errors import InputError
from voirdire.tables.problems import nearest_name

_PART = re.compile(r"\s*(?P<name>[\w()\s-]*?)\s*(?P<sign>[<>]=?|=+|≥|≤)\s*(?P<bound>\S+)\s*")
_LARGEST = {"p_best": 1.0, "accuracy": 1.0}
_EXAMPLES = {"p_best": "0.95", "loss": "0.02", "width(ranks)": "2", "accuracy": "0.9"}


@dataclass(frozen=True)
class Condition:
    """One bound on what is known.

    Examples
    --------
    >>> met = Known("x", p_best=0.97, loss=0.01, width=1.0, accuracy=0.9)
    >>> Condition("p_best", 0.95).is_met(met), Condition("width(ranks)", 0.0).is_met(met)
    (True, False)
    """

    quantity: str
    bound: float

    def is_met(self, known: Known) -> bool:
        """True if enough is known of a group."""
        field, large = QUANTITIES[self.quantity]
        value = float(getattr(known, field))
        return value >= self.bound if large else value <= self.bound

    def __str__(self) -> str:
        return f"{self.quantity} {'>=' if QUANTITIES[self.quantity][1] else '<='} {self.bound:g}"


def read_conditions(text: str) -> tuple[Condition, ...]:
    """Read conditions that must all hold.

    Raises
    ------
    InputError
        A part cannot be read, its quantity is unknown (the nearest is named), its sign points the wrong way or its
        bound can never be met; all problems at once.

    Examples
    --------
    >>> [str(one) for one in read_conditions("p_best >= 0.95 and width(ranks)<=2")]
    ['p_best >= 0.95', 'width(ranks) <= 2']
    >>> read_conditions("pbest >= 0.95")
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: until: quantity 'pbest' is unknown; did you mean 'p_best'?
    """
    found: list[Condition] = []
    problems: list[str] = []
    for part in re.split(r"\band\b|,|&&?", text):
        try:
            found.append(_read_condition(part))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError([f"until: {problem}" for problem in problems])
    return tuple(found)


def _read_condition(part: str) -> Condition:
    read = _PART.fullmatch(part)
    if read is None:
        raise InputError(f"{part.strip()!r} is no condition; write for example 'p_best >= 0.95'")
    name = re.sub(r"\s+", "", read["name"])
    if name not in QUANTITIES:
        near = nearest_name(name, list(QUANTITIES)) or f"; there are {', '.join(QUANTITIES)}"
        raise InputError(f"quantity {name!r} is unknown{near}")
    large = QUANTITIES[name][1]
    right, sign = (">=" if large else "<="), read["sign"]
    if sign not in ((">=", ">", "≥") if large else ("<=", "<", "≤")):
        raise InputError(
            f"'{name} {sign} {read['bound']}' holds where little is known; write '{name} {right} {_EXAMPLES[name]}'"
        )
    try:
        bound = float(read["bound"])
    except ValueError:
        raise InputError(
            f"{read['bound']!r} is no number; write for example '{name} {right} {_EXAMPLES[name]}'"
        ) from None
    most = _LARGEST.get(name)
    if not 0 <= bound < float("inf") or (most is not None and bound >= most):
        between = "of at least 0" if most is None else f"from 0 to below {most:g}"
        raise InputError(f"{name} {right} {read['bound']}: the bound must be a number {between}")
    return Condition(name, bound)


def unmet_conditions(wanted: Iterable[Condition], known: Known) -> list[Condition]:
    """Those that do not hold."""
    return [one for one in wanted if not one.is_met(known)]
