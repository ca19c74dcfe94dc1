"""Human answers: a judge of whom it is known, before any vote, that it is mostly right."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from voirdire.model.terms.arrays import Array, log_sigmoid
from voirdire.model.terms.parameters import LogitBeta, Normal, Parameter
from voirdire.model.terms.reliability import Values
from voirdire.model.terms.ties import log_tie_parts


class Person:
    """One coin for all anchors together: P(first) = p sigmoid(d) + (1 - p) sigmoid(-d), p ~ Beta(a, b).

    The coin stays as it is where the panel is turned round, so that anchors break the mirror of the votes. Ties follow
    Davidson's model with the tie propensity of the typical judge.

    Examples
    --------
    >>> [p.name for p in Person().parameters({"a": 19.0, "b": 1.0})]
    ['anchor']
    """

    kind: ClassVar[str] = "person"
    says: ClassVar[str] = (
        "only in tables with human answers: P(first) = p sigmoid(d) + (1 - p) sigmoid(-d), p = "
        "sigmoid(anchor), d of the "
        "criterion asked about, else of the items' scores over all criteria; with ties P(tie) as of "
        "judges with log nu = tie"
    )
    keys: ClassVar[dict[str, str]] = {"a": "positive", "b": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``anchor``, the log-odds of p."""
        return (Parameter("anchor", (), LogitBeta(prior["a"], prior["b"], 0.0)),)

    def expected(self, prior: dict[str, float]) -> float:
        """Log-odds of p before anyone answered."""
        return math.log(prior["a"]) - math.log(prior["b"])

    def log_parts(
        self, values: Values, part: Mapping[str, Array], ties: bool, xp: Any
    ) -> list[tuple[Array, Array]]:
        """Log probability of each answer and the number of anchors that gave it; leading axes (draws) are kept.

        Parameters
        ----------
        values : dict
            With ``strength`` (..., criteria, items); the column one past the last criterion is the integrated score.
        part : dict
            ``criterion``, ``first``, ``second`` and ``counts`` (first, second, tie), one row per distinct comparison;
            ``context`` where people answered in contexts that the model tells apart.
        """
        strength, rows, items = values["strength"], part["criterion"], (part["first"], part["second"])
        whole = integrated(values, xp)
        theta = xp.concatenate([strength, whole[..., None, :]], axis=-2)
        d = theta[..., rows, items[0]] - theta[..., rows, items[1]]
        if "context" in part:
            u, context = values["context_strength"], part["context"]
            d = d + u[..., rows, items[0], context] - u[..., rows, items[1], context]
        right, wrong = (
            log_sigmoid(values["anchor"], xp)[..., None],
            log_sigmoid(-values["anchor"], xp)[..., None],
        )
        ahead, behind = log_sigmoid(d, xp), log_sigmoid(-d, xp)
        first = xp.logaddexp(right + ahead, wrong + behind)
        second = xp.logaddexp(right + behind, wrong + ahead)
        counts = part["counts"]
        parts = [(first, counts[..., 0]), (second, counts[..., 1])]
        if ties:
            tie, decided = log_tie_parts(values["tie"][..., None] + 0.0 * d, d, xp)
            parts += [(tie, counts[..., 2]), (decided, counts[..., 0] + counts[..., 1])]
        return parts


class NormalPerson(Person):
    """The same coin with log-odds of Normal(mean, sd), for models whose latent values are all normal.

    Those of Beta(19, 1) have the mean 3.5 and the standard deviation 1.3.

    Examples
    --------
    >>> NormalPerson().parameters({"mean": 3.5, "sd": 1.3})[0].prior
    Normal(mean=3.5, sd=1.3)
    """

    kind: ClassVar[str] = "normal-person"
    says: ClassVar[str] = (
        f"{Person.says}; d in the context that people were asked in, without u where none is named"
    )
    keys: ClassVar[dict[str, str]] = {"mean": "number", "sd": "positive"}
    lifts: ClassVar[dict[str, Callable[[Values], Values]]] = {"person": lambda values: values}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``anchor``, the log-odds of p."""
        return (Parameter("anchor", (), Normal(prior["mean"], prior["sd"])),)

    def expected(self, prior: dict[str, float]) -> float:
        """Log-odds of p before anyone answered."""
        return prior["mean"]


def integrated(values: Values, xp: Any) -> Array:
    """Score of each item over all criteria, sum_c softmax(w)_c theta_c,i, with equal weights where none are learned.

    Examples
    --------
    >>> import numpy as np
    >>> integrated({"strength": np.array([[1.0, -1.0], [3.0, -3.0]])}, np)
    array([ 2., -2.])
    """
    strength = values["strength"]
    if "weight" not in values:
        return strength.mean(axis=-2)
    raw = xp.exp(values["weight"] - values["weight"].max(axis=-1, keepdims=True))
    return (strength * (raw / raw.sum(axis=-1, keepdims=True))[..., None]).sum(axis=-2)
