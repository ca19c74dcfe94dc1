"""Fixed reliability: every judge answers by Bradley-Terry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from voirdire.model.terms.arrays import Array
from voirdire.model.terms.parameters import Parameter
from voirdire.model.terms.reliability import Observations, Values, log_chosen_probability


class Fixed:
    """P(first) = sigmoid(d) for every judge (Bradley and Terry 1952; MAPLE with eta fixed at 1).

    No parameters. Orientation is given by the likelihood, so there is no mirror.

    Examples
    --------
    >>> Fixed().parameters({})
    ()
    """

    kind: ClassVar[str] = "fixed"
    position_aware: ClassVar[bool] = False
    keys: ClassVar[dict[str, str]] = {}
    lifts: ClassVar[dict[str, Callable[[Values], Values]]] = {}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return no parameters."""
        return ()

    def scaled_difference(self, values: Values, d: Array, judge: Array, pair: Array, xp: Any) -> Array:
        """Return the difference itself."""
        return d[..., pair]

    def log_decided(self, values: Values, d: Array, obs: Observations, xp: Any) -> Array:
        """Return log sigmoid(d) or log sigmoid(-d)."""
        return log_chosen_probability(d, obs, xp)

    def worth(self, values: Values, xp: Any) -> tuple[Array, Array]:
        """Return ones."""
        return 1.0, 1.0

    def mirror_values(self, values: Values) -> Values | None:
        """Return None: the likelihood changes with the sign of the strengths."""
        return None
