"""Check of a fit: a level, a number and a plain sentence on what may be wrong and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Level = Literal["ok", "warn", "fail"]


_NAMED = 5  # names listed in a sentence before it only counts


@dataclass(frozen=True)
class Check:
    """One check.

    Parameters
    ----------
    check : str
        Its name, e.g. "orientation" or "rhat".
    level : "ok", "warn" or "fail"
    value : float or None
    message : str
        One sentence, with what to do where the level is not "ok".
    """

    check: str
    level: Level
    value: float | None
    message: str

    def as_dict(self) -> dict[str, Any]:
        """Return the check as a plain dictionary."""
        return asdict(self)


def worst_level(checks: Sequence[Check]) -> Level:
    """Return the worst level among the checks.

    Examples
    --------
    >>> worst_level([Check("a", "ok", 1.0, ""), Check("b", "warn", 2.0, "")])
    'warn'
    """
    order: list[Level] = ["ok", "warn", "fail"]
    return order[max((order.index(check.level) for check in checks), default=0)]


def list_names(names: list[str], verb: bool = True) -> str:
    """Return the first few names and how many more there are, with the verb that fits."""
    shown = ", ".join(names[:_NAMED])
    rest = len(names) - _NAMED
    text = f"{shown} and {rest} more" if rest > 0 else shown
    return f"{text} {'is' if len(names) == 1 else 'are'}" if verb else text
