"""Family of answers: probabilities of answers as functions of a few predictors.

A predictor is a sum of latent values (:mod:`voirdire.model.design`). An answer may be to several questions at once:
which of two items is better, and whether they are tied.
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
    """Log likelihood of each cell, shape (..., cells), with slopes and second derivatives by pairs u <= v.

    Attributes
    ----------
    value : array
    slope : list of array
        Slope by each predictor.
    second : dict of (int, int) to array
        Second derivatives; missing pairs are zero.
    """

    value: Floats
    slope: list[Floats]
    second: PairDerivatives


class ClosedForm(NamedTuple):
    """Derivatives of the log likelihood of cells in closed form.

    Attributes
    ----------
    value_slopes : callable
        Takes one array for each predictor (which broadcast), counts and the array namespace; gives the log likelihood
        of each cell, shape (..., cells), and a list of its slopes by each predictor.
    log_likelihoods : callable
        Takes the same arrays and counts; gives the log likelihood of each cell.
    curved : callable
        Takes the same arguments; gives :class:`CellDerivatives`.
    information : callable
        Takes the same arguments; gives the expected information of the answers, by pairs u <= v.
    bend : callable
        Takes the same arguments and covariances, shape (cells, predictors, predictors); gives half the gradient of the
        sum of their products with the information; see
        :meth:`voirdire.infer.latent_gaussian.answers.Answers.bend`.
    """

    value_slopes: Callable[[Sequence[Any], Any, Any], tuple[Any, list[Any]]]
    log_likelihoods: Callable[[Sequence[Floats], Any], Floats]
    curved: Callable[[Sequence[Floats], Any], CellDerivatives]
    information: Callable[[Sequence[Floats], Any], PairDerivatives]
    bend: Callable[[Sequence[Floats], Any, Floats], Floats]


def refuse_alternatives(eta: Any, xp: Any) -> list[tuple[Any, ...]]:
    """Raise, in place of the alternatives of a family that has too many of them."""
    raise TypeError("what is answered is no count of a few alternatives")


@dataclass(frozen=True)
class Family:
    """A family of answers.

    Attributes
    ----------
    name : str
    predictors : tuple of str
        Name of each predictor.
    log_probabilities : callable, optional
        Takes predictors, shape (..., predictors, cells), and the array namespace; gives for each question a tuple of
        the log probabilities of its alternatives, shape (..., cells) each. Those of a cell depend only on its
        predictors.
    closed_form : ClosedForm, optional
        Derivatives; without them automatic differentiation is used.
    parts : callable, optional
        For answers other than counts of a few alternatives: takes predictors, the answers, shape (..., cells), and the
        array namespace; gives log probabilities, shape (..., cells), and their weights, shape (cells,).
    cost : float
        Computing time relative to an alternative of a family with counts.

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
        """Log probabilities of the answers, shape (..., cells), each with its count, shape (cells,).

        Parameters
        ----------
        eta : array, shape (..., predictors, cells)
        answers : array
            Counts, shape (questions, alternatives, cells), or the input of :attr:`parts`.
        xp : module
        """
        if self.parts is not None:
            return self.parts(eta, answers, xp)
        return [
            (log, answers[question][alternative])
            for question, alternatives in enumerate(self.log_probabilities(eta, xp))
            for alternative, log in enumerate(alternatives)
        ]
