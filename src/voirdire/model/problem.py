"""A model and a table in the form required by inference.

The check of a fit: a level, a number and a sentence on a possible problem and its remedy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from voirdire.model.density import Data, LogDensity
from voirdire.model.specs import Model
from voirdire.model.target_answers import TargetAnswers
from voirdire.typing import Ints

Level = Literal["ok", "warn", "fail"]


_MAX_NAMED = 5  # largest number of names listed in a sentence


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
        One sentence, with the remedy where the level is not "ok".
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
    """List the first few names and the number of the others, with the matching verb."""
    shown = ", ".join(names[:_MAX_NAMED])
    remaining = len(names) - _MAX_NAMED
    text = f"{shown} and {remaining} more" if remaining > 0 else shown
    return f"{text} {'is' if len(names) == 1 else 'are'}" if verb else text


PANEL, TARGET = "panel", "target"
FEWER_PARAMETERS = "use method='map' (Fit.bootstrap gives intervals of votes then), or fewer items or judges"


@dataclass(frozen=True, eq=False)
class Problem:
    """One model and one table of any kind, ready for inference: votes (:class:`VotesProblem`), labels or scores.

    ``about`` is the target of the results: the panel, or people; None where it was not specified, and scores are the
    panel's. ``target_answers`` are people's answers where they inform the panel's discrepancy and are not in the
    density.
    """

    density: LogDensity
    data: Data
    judges: tuple[str, ...]
    criteria: tuple[str, ...]
    items: tuple[str, ...]
    judge_votes: Ints
    about: str | None = field(default=None, kw_only=True)
    target_answers: TargetAnswers | None = field(default=None, kw_only=True)

    @property
    def unit(self) -> tuple[float, float]:
        """Zero of strengths on the scale of the results, and the size of one unit there: 0 and 1 for log-odds."""
        return 0.0, 1.0

    @property
    def fewer_parameters(self) -> str:
        """Remedy where there are too many parameters for memory."""
        return FEWER_PARAMETERS

    @property
    def model(self) -> Model:
        """The model."""
        return self.density.model

    def part(self, data: str) -> Any:
        """The problem, or its part, for one kind of data; None where it has none of that kind."""
        return self if data == self.model.data else None

    def orientation_check(self, mass: float, at_mode: bool = False) -> Check:
        """Check the posterior mass of the twins, which only the prior (and people) distinguish.

        Parameters
        ----------
        mass : float
        at_mode : bool
            True where it was computed at the mode only.
        """
        raise NotImplementedError(f"model {self.model.name} has no twins")

    def independent_parts(self) -> tuple[Problem, ...]:
        """Problems with independent posteriors that together have all parameters and answers.

        Empty where the problem cannot be divided.
        """
        return ()

    def check_can_compile(self) -> None:
        """Refuse tables that are too large to compile, as NUTS requires; most are accepted."""

    @property
    def coords(self) -> dict[str, list[str]]:
        """Names of the levels of each dimension."""
        return {"judge": list(self.judges), "criterion": list(self.criteria), "item": list(self.items)}
