"""How well judges tell good items from bad ones when they give scores: all alike, or a discrimination each."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Protocol

from voirdire.terms.arrays import Array
from voirdire.terms.parameters import Parameter, TwoSided
from voirdire.terms.reliability import Values


class Raters(Protocol):
    """Interface of a term of scoring judges."""

    kind: ClassVar[str]
    keys: ClassVar[dict[str, str]]
    lifts: ClassVar[dict[str, Callable[[Values], Values]]]

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return the parameters and their priors, from the model file's numbers."""
        ...

    def perceived(self, values: Values, strength: Array, judge: Array) -> Array:
        """Return the strength of items as judges perceive it, elementwise."""
        ...


class AlikeRaters:
    """Every judge perceives the strength of an item as it is; judges differ in what they make of it.

    Examples
    --------
    >>> AlikeRaters().parameters({})
    ()
    """

    kind: ClassVar[str] = "alike-raters"
    keys: ClassVar[dict[str, str]] = {}
    lifts: ClassVar[dict[str, Callable[[Values], Values]]] = {}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return no parameters."""
        return ()

    def perceived(self, values: Values, strength: Array, judge: Array) -> Array:
        """Return the strengths."""
        return strength


class RaterDiscrimination:
    """Judge k perceives a_k theta: a large a_k tells items apart well, none at a_k = 0, and turns them round below.

    a_k ~ (1 - reversed) Normal(mean, sd) + reversed Normal(-mean, sd) (the discrimination of Samejima's graded response
    model, 1969, here of judges in the place of questions, and free to be negative). The likelihood does not
    change under theta -> -theta, a -> -a (a mirror); the prior, under which most judges are of use, tells them apart.

    Examples
    --------
    >>> RaterDiscrimination().parameters({"mean": 1.0, "sd": 0.5, "reversed": 0.1})[0].dims
    ('judge',)
    """

    kind: ClassVar[str] = "rater-discrimination"
    keys: ClassVar[dict[str, str]] = {"mean": "number", "sd": "positive", "reversed": "share"}
    lifts: ClassVar[dict[str, Callable[[Values], Values]]] = {
        "alike-raters": lambda values: {**values, "discrimination": 1.0},
    }

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``discrimination``, one per judge."""
        return (
            Parameter("discrimination", ("judge",), TwoSided(prior["mean"], prior["sd"], prior["reversed"])),
        )

    def perceived(self, values: Values, strength: Array, judge: Array) -> Array:
        """Return a_k theta."""
        return values["discrimination"][judge] * strength
