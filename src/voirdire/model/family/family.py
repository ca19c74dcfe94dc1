"""Family of answers: how the probabilities of answers depend on a few predictors.

A predictor is a sum of latent values (:mod:`voirdire.model.design`). An answer may be to several questions at once: of
two items which is better, and whether they are tied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from voirdire.typing import Floats

LogProbabilities = Callable[[Any, Any], list[tuple[Any, ...]]]
OutcomeParts = Callable[[Any, Any, Any], list[tuple[Any, Any]]]
PairDerivatives = dict[tuple[int, int], Floats]


class CellDerivatives(NamedTuple):
    """Log likelihood of each cell, shape (..., cells), its slopes and second derivatives by pairs u <= v.

    Attributes
    ----------
    value : array
    slope : list of array
        By each predictor.
    second : dict of (int, int) to array
        Those of pairs that are missing are zero.
    """

    value: Floats
    slope: list[Floats]
    second: PairDerivatives


class ClosedForm(NamedTuple):
    """Derivatives of the log likelihood of cells in closed form.

    Attributes
    ----------
    value_gradient : callable
        Of predictors, shape (..., predictors, cells), counts and the array namespace: log likelihood of each cell,
        shape (..., cells), and its gradient.
    log_likelihoods : callable
        Of one array a predictor, and counts: the log likelihood of each cell. The arrays broadcast.
    slopes : callable
        Of the same, its slopes by each predictor.
    curved : callable
        Of the same, :class:`CellDerivatives`.
    information : callable
        Of the same, what answers say on average, by pairs u <= v.
    bend : callable
        Of the same and covariances, shape (cells, predictors, predictors), half the gradient of the sum of their
        products with the information; see :meth:`voirdire.infer.latent_gaussian.answers.Answers.bend`.
    """

    value_gradient: Callable[[Any, Any, Any], tuple[Any, Any]]
    log_likelihoods: Callable[[Sequence[Floats], Any], Floats]
    slopes: Callable[[Sequence[Floats], Any], list[Floats]]
    curved: Callable[[Sequence[Floats], Any], CellDerivatives]
    information: Callable[[Sequence[Floats], Any], PairDerivatives]
    bend: Callable[[Sequence[Floats], Any, Floats], Floats]


def refuse_alternatives(eta: Any, xp: Any) -> list[tuple[Any, ...]]:
    """Stand for the alternatives of a family that has too many of them."""
    raise TypeError("what is answered is no count of a few alternatives")


@dataclass(frozen=True)
class Family:
    """A family of answers.

    Attributes
    ----------
    name : str
    predictors : tuple of str
        What each predictor is.
    log_probabilities : callable, optional
        Of predictors, shape (..., predictors, cells), and the array namespace: for each question a tuple of the log
        probabilities of its alternatives, shape (..., cells) each. Those of a cell depend on its predictors alone.
    closed_form : ClosedForm, optional
        Derivatives; without them they are found by automatic differentiation.
    parts : callable, optional
        Where answers are no counts of a few alternatives: of predictors, what was answered, shape (..., cells), and the
        array namespace, log probabilities, shape (..., cells), and how often each counts, shape (cells,).
    cost : float
        Time that an alternative takes, beside one of a few that are counted.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.model.family.two_coin import two_coin_family
    >>> family = two_coin_family(ties=False)
    >>> family.predictors
    ('difference', 'coin of the first', 'coin of the second')
    >>> np.exp(family.log_probabilities(np.array([[0.0], [9.0], [9.0]]), np)[0]).round(2).ravel().tolist()
    [0.5, 0.5]
    """

    name: str
    predictors: tuple[str, ...]
    log_probabilities: LogProbabilities = refuse_alternatives
    closed_form: ClosedForm | None = None
    parts: OutcomeParts | None = None
    cost: float = 1.0

    def log_parts(self, eta: Any, answers: Any, xp: Any) -> list[tuple[Any, Any]]:
        """Log probabilities of what was answered, shape (..., cells), each with how often it counts, shape (cells,).

        Parameters
        ----------
        eta : array, shape (..., predictors, cells)
        answers : array
            Counts, shape (questions, alternatives, cells), or what :attr:`parts` reads.
        xp : module
        """
        if self.parts is not None:
            return self.parts(eta, answers, xp)
        return [
            (log, answers[question][alternative])
            for question, alternatives in enumerate(self.log_probabilities(eta, xp))
            for alternative, log in enumerate(alternatives)
        ]
