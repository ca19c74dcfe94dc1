"""Human answers: a judge that is known in advance to be mostly right.

People who score items are another rater, whose orientation is fixed when the panel's is reversed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from voirdire.model.terms.arrays import Array, log_sigmoid
from voirdire.model.terms.parameters import LogitBeta, LogNormal, Normal, Parameter
from voirdire.model.terms.term import Term, Values
from voirdire.model.terms.ties import log_tie_parts


class PersonAsJudge(Term):
    """People perceive theta_c,i - severity_people_c, as a judge does; severity_people ~ Normal(0, severity_sd).

    People's severity is not in the sum of the judges' severities: it is relative to the
    panel. It is separate for each criterion; otherwise a panel that is lenient under one criterion only would shift the
    anchored items there.

    Examples
    --------
    >>> PersonAsJudge().parameters({"severity_sd": 1.0})[0].dims
    ('criterion',)
    """

    kind: ClassVar[str] = "person-as-judge"
    keys: ClassVar[dict[str, str]] = {"severity_sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``severity_people``, one per criterion."""
        return (Parameter("severity_people", ("criterion",), Normal(0.0, prior["severity_sd"])),)

    def perceived_strength(self, values: Values, strength: Array, criterion: Array, xp: Any) -> Array:
        """Return people's perception of each strength, shape (..., scores): theta minus their severity."""
        return strength - values["severity_people"][..., criterion]


class ScoringPerson(PersonAsJudge):
    """People perceive a_people theta_c,i - severity_people_c, log a_people ~ Normal(mean, sd).

    a_people > 0 does not change when every strength and every judge's discrimination changes sign, so that
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

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``log_people``, one number, and ``severity_people``."""
        return (Parameter("log_people", (), Normal(prior["mean"], prior["sd"])), *super().parameters(prior))

    def perceived_strength(self, values: Values, strength: Array, criterion: Array, xp: Any) -> Array:
        """Return a_people theta minus people's severity."""
        return super().perceived_strength(values, xp.exp(values["log_people"])[..., None] * strength, criterion, xp)


class NoisyPerson(PersonAsJudge):
    """People's scores scatter around theta_c,i - severity_people_c with standard deviation exp(log_noise_people).

    ``log_noise_people`` ~ Normal(mean, sd), relative to the scale's length, as for judges
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
        return (Parameter("log_noise_people", (), LogNormal(prior["mean"], prior["sd"])), *super().parameters(prior))


class Person(Term):
    """One coin for all anchors together: P(first) = p sigmoid(d) + (1 - p) sigmoid(-d), p ~ Beta(a, b).

    The coin does not change when the panel is reversed, so that anchors break the mirror of the votes. Ties follow
    Davidson's model with the tie propensity of the typical judge.

    Examples
    --------
    >>> [p.name for p in Person().parameters({"a": 19.0, "b": 1.0})]
    ['anchor']
    """

    kind: ClassVar[str] = "person"
    says: ClassVar[str] = (
        "only in tables with human answers: P(first) = p sigmoid(d) + (1 - p) sigmoid(-d), p = sigmoid(anchor), d of "
        "the criterion asked about, else of the items' scores over all criteria; with ties P(tie) as of judges with "
        "log nu = tie"
    )
    keys: ClassVar[dict[str, str]] = {"a": "positive", "b": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``anchor``, the log-odds of p."""
        return (Parameter("anchor", (), LogitBeta(prior["a"], prior["b"], 0.0)),)

    def expected(self, prior: dict[str, float]) -> float:
        """Prior mean of p, as log-odds."""
        return math.log(prior["a"]) - math.log(prior["b"])

    def log_parts(self, values: Values, part: Mapping[str, Array], ties: bool, xp: Any) -> list[tuple[Array, Array]]:
        """Log probability of each answer and its number of anchors; leading axes (draws) are kept.

        Parameters
        ----------
        values : dict
            With ``strength`` (..., criteria, items); the column after the last criterion is the integrated score.
        part : dict
            ``criterion``, ``first``, ``second`` and ``counts`` (first, second, tie), one row per distinct comparison;
            ``context`` where people answered in contexts of the model.
        """
        first, second, strength = part["first"], part["second"], values["strength"]
        gap = strength[..., first] - strength[..., second]
        if "context" in part:
            u, context = values["context_strength"], part["context"]
            gap = gap + u[..., first, context] - u[..., second, context]
        overall = mean_over_criteria(gap, values, xp)[..., None, :]
        d = xp.concatenate([gap, overall], axis=-2)[..., part["criterion"], np.arange(len(first))]
        tie = [values[name][..., None] for name in ("tie", "log_tie_scale") if ties and name in values]
        logs = person_log_probabilities(d, values["anchor"][..., None], tie, xp)
        counts = part["counts"]
        answer_counts = [counts[..., 0], counts[..., 1], counts[..., 2], counts[..., 0] + counts[..., 1]]
        return list(zip([log for question in logs for log in question], answer_counts, strict=False))


def person_log_probabilities(d: Array, anchor: Array, tie: Sequence[Array], xp: Any) -> list[tuple[Array, Array]]:
    """Log probabilities that people choose first and second, and with ties those of a tie and of none.

    Parameters
    ----------
    d : array
        Differences of the compared quantity.
    anchor : array
        Log-odds of p, broadcasting with ``d``.
    tie : sequence of array
        log nu and possibly the logarithm of the scale of ties; empty without ties.

    Examples
    --------
    >>> logs = person_log_probabilities(np.array([0.0]), np.array([3.0]), [], np)[0]
    >>> [np.exp(log).round(3).tolist() for log in logs]
    [[0.5], [0.5]]
    """
    right, wrong = log_sigmoid(anchor, xp), log_sigmoid(-anchor, xp)
    ahead, behind = log_sigmoid(d, xp), log_sigmoid(-d, xp)
    decided = xp.logaddexp(right + ahead, wrong + behind), xp.logaddexp(right + behind, wrong + ahead)
    scale = xp.exp(tie[1]) if len(tie) > 1 else 1.0
    return [decided, log_tie_parts(tie[0] + 0.0 * d, d, xp, scale)] if tie else [decided]


class NormalPerson(Person):
    """The same coin with log-odds of Normal(mean, sd), for models with only normal latent values.

    The log-odds of a Beta(19, 1) probability have the mean 3.5 and the standard deviation 1.3.

    Examples
    --------
    >>> NormalPerson().parameters({"mean": 3.5, "sd": 1.3})[0].prior
    Normal(mean=3.5, sd=1.3)
    """

    kind: ClassVar[str] = "normal-person"
    says: ClassVar[str] = f"{Person.says}; d in the context that people were asked in, without u where none is named"
    keys: ClassVar[dict[str, str]] = {"mean": "number", "sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``anchor``, the log-odds of p."""
        return (Parameter("anchor", (), Normal(prior["mean"], prior["sd"])),)

    def expected(self, prior: dict[str, float]) -> float:
        """Prior mean of the log-odds of p."""
        return prior["mean"]


def softmax_shares(weight: Array, axis: int, xp: Any) -> Array:
    """Softmax of weights along an axis."""
    raw = xp.exp(weight - weight.max(axis=axis, keepdims=True))
    return raw / raw.sum(axis=axis, keepdims=True)


def mean_over_criteria(by_criterion: Array, values: Values, xp: Any) -> Array:
    """Means over criteria by their weights, or equal weights where none are learned, of values (..., criteria, items).

    Examples
    --------
    >>> mean_over_criteria(np.array([[1.0, -1.0], [3.0, -3.0]]), {}, np)
    array([ 2., -2.])
    """
    if "weight" not in values:
        return by_criterion.mean(axis=-2)
    return (by_criterion * softmax_shares(values["weight"], -1, xp)[..., None]).sum(axis=-2)
