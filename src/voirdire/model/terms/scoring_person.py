"""People who score items: one more rater, who keeps an orientation of its own where the panel is turned round."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from voirdire.model.terms.arrays import Array
from voirdire.model.terms.parameters import Normal, Parameter
from voirdire.model.terms.reliability import Values


class ScoringPeople(Protocol):
    """Interface of a term of people who score."""

    kind: ClassVar[str]
    keys: ClassVar[dict[str, str]]
    lifts: ClassVar[dict[str, Callable[[Values], Values]]]

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return the parameters and their priors, from the model file's numbers."""
        ...

    def perceived_strength(self, values: Values, strength: Array, criterion: Array, xp: Any) -> Array:
        """Return what people perceive of each strength, shape (..., scores); leading axes (draws) are kept."""
        ...


class PersonAsJudge:
    """People perceive theta_c,i - severity_people_c, as a judge does; severity_people ~ Normal(0, severity_sd).

    People's severity is not in the sum of the judges' severities, so that it says how severe people are beside the
    panel. It is their own under each criterion: else a panel that is lenient under one alone would lift or lower the
    anchored items there.

    Examples
    --------
    >>> PersonAsJudge().parameters({"severity_sd": 1.0})[0].dims
    ('criterion',)
    """

    kind: ClassVar[str] = "person-as-judge"
    keys: ClassVar[dict[str, str]] = {"severity_sd": "positive"}
    lifts: ClassVar[dict[str, Callable[[Values], Values]]] = {}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``severity_people``, one per criterion."""
        return (Parameter("severity_people", ("criterion",), Normal(0.0, prior["severity_sd"])),)

    def perceived_strength(self, values: Values, strength: Array, criterion: Array, xp: Any) -> Array:
        """Return theta less people's severity."""
        return strength - values["severity_people"][..., criterion]


class ScoringPerson(PersonAsJudge):
    """People perceive a_people theta_c,i - severity_people_c, log a_people ~ Normal(mean, sd).

    As a_people > 0 it stays as it is where every strength and every judge's discrimination changes sign, so that
    anchors break the mirror of the scores.

    Examples
    --------
    >>> import numpy as np
    >>> values = {"log_people": np.log(2.0), "severity_people": np.array([0.5])}
    >>> ScoringPerson().perceived_strength(values, np.array([1.0, -1.0]), np.array([0, 0]), np).tolist()
    [1.5, -2.5]
    """

    kind: ClassVar[str] = "scoring-person"
    keys: ClassVar[dict[str, str]] = {"mean": "number", "sd": "positive", "severity_sd": "positive"}
    lifts: ClassVar[dict[str, Callable[[Values], Values]]] = {
        "person-as-judge": lambda values: {**values, "log_people": 0.0},
    }

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``log_people``, one number, and ``severity_people``."""
        return (
            Parameter("log_people", (), Normal(prior["mean"], prior["sd"])),
            *super().parameters(prior),
        )

    def perceived_strength(self, values: Values, strength: Array, criterion: Array, xp: Any) -> Array:
        """Return a_people theta less people's severity."""
        return super().perceived_strength(
            values, xp.exp(values["log_people"])[..., None] * strength, criterion, xp
        )


class NoisyPerson(PersonAsJudge):
    """People's scores scatter around theta_c,i - severity_people_c with standard deviation exp(log_noise_people).

    ``log_noise_people`` ~ Normal(mean, sd), in parts of the scale's length, as of judges
    (:class:`voirdire.model.terms.raters.RaterNoise`).

    Examples
    --------
    >>> [p.name for p in NoisyPerson().parameters({"mean": -2.1, "sd": 0.5, "severity_sd": 0.15})]
    ['log_noise_people', 'severity_people']
    """

    kind: ClassVar[str] = "noisy-person"
    keys: ClassVar[dict[str, str]] = {"mean": "number", "sd": "positive", "severity_sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``log_noise_people``, one number, and ``severity_people``."""
        return (
            Parameter("log_noise_people", (), Normal(prior["mean"], prior["sd"])),
            *super().parameters(prior),
        )
