"""Interfaces of the terms in model files: of all terms, and of reliability.

Interface of reliability terms: the answer of a judge as a function of a difference in strength.

A term is written once, elementwise, for NumPy, JAX and PyTensor. Its inputs are the priors' numbers in
the model file, differences ``d`` per pair and index arrays per observation, never a table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from voirdire.model.terms.arrays import Array, log_sigmoid, logistic_sigmoid
from voirdire.model.terms.parameters import Parameter


class Term:
    """A term of a model file; by default without numbers and parameters.

    Attributes
    ----------
    kind : str
        Its name in model files.
    keys : dict
        Numbers of its prior, with the rule for each.
    says : str
        Additions to the model's equation, for the model's card.
    """

    kind: ClassVar[str]
    keys: ClassVar[dict[str, str]] = {}
    says: ClassVar[str] = ""

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return the parameters and their priors, from the model file's numbers."""
        return ()


AnyTerm = TypeVar("AnyTerm", bound=Term)


def by_kind(*terms: AnyTerm) -> dict[str, AnyTerm]:
    """Index terms by their names in model files."""
    return {term.kind: term for term in terms}


Values = dict[str, Array]


@dataclass(frozen=True)
class Observations:
    """Index arrays of distinct (judge, pair, outcome) triples, shape (observations,) each.

    ``outcome`` is 0 where the first item was chosen and 1 where the second was; ``criterion`` is the
    column of the criterion, or ``criteria`` (one past the last) for votes on the criteria themselves.
    """

    judge: Array
    pair: Array
    outcome: Array
    criterion: Array
    judges: int
    criteria: int


class Reliability(Term, ABC):
    """Interface of a reliability term."""

    position_aware: ClassVar[bool] = False

    def scaled_difference(self, values: Values, d: Array, judge: Array, pair: Array, xp: Any) -> Array:
        """Return the difference perceived by the judge, which determines ties, shape of ``judge``: unchanged."""
        return d[..., pair]

    @abstractmethod
    def log_decided(self, values: Values, d: Array, obs: Observations, xp: Any) -> Array:
        """Return log P(outcome | no tie) of each observation."""

    def mirror_values(self, values: Values) -> Values | None:
        """Return the values with the same likelihood when every strength changes sign, or None."""
        return None


def log_chosen_probability(d: Array, obs: Observations, xp: Any) -> Array:
    """Log Bradley-Terry probability of the chosen item, log sigmoid(d) or log sigmoid(-d), per observation.

    Computed once per pair and gathered: there are far fewer pairs than observations.
    """
    outcomes = xp.concatenate([log_sigmoid(d, xp), log_sigmoid(-d, xp)], axis=-1)
    return outcomes[..., obs.pair + obs.outcome * d.shape[-1]]


def log_two_coin_probability(
    logit_first: Array, logit_second: Array, index: Array, d: Array, obs: Observations, xp: Any
) -> Array:
    """Log probability of the outcome under two coins on top of Bradley-Terry.

    P(first) = e1 s(d) + (1 - e2) s(-d) and P(second) = (1 - e1) s(d) + e2 s(-d), with s the logistic function,
    e1 = s(``logit_first``) and e2 = s(``logit_second``). Each is a sum of two non-negative products of factors
    that are accurate to full relative precision, so no probability needs clipping.

    Parameters
    ----------
    logit_first, logit_second : array, shape (..., coins)
        Log-odds of a right answer where the first (second) item is the better one.
    index : integer array, shape (observations,)
        Coin of each observation.
    """
    size = logit_first.shape[-1]
    if_first = xp.concatenate([logistic_sigmoid(logit_first, xp), logistic_sigmoid(-logit_first, xp)], axis=-1)
    if_second = xp.concatenate([logistic_sigmoid(-logit_second, xp), logistic_sigmoid(logit_second, xp)], axis=-1)
    coin = index + obs.outcome * size
    right, wrong = (logistic_sigmoid(gap, xp)[..., obs.pair] for gap in (d, -d))
    return xp.log(if_first[..., coin] * right + if_second[..., coin] * wrong)
