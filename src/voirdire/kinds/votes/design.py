"""How votes lie over judges, criteria and items, and about how much they say of what is estimated in their units.

A vote that is decided says of the difference d = theta_first - theta_second about

    g^2 a^2 (16 + 4 pi a^2 s^2)^(-1/2)

(Fisher information), where the judge stretches differences by a and has informedness g (:meth:`.Reliability.worth`)
and strengths have the standard deviation s: with a = g = 1 it is the mean of p (1 - p) over d ~ Normal(0, 2 s^2), for
narrow and for wide s exactly so. Whether a vote is a tie says a little, too, also where the judge flips a coin.
Summed over the votes of a criterion these are the weights of a graph of items, whose Laplacian is the information
matrix of the strengths; its eigenvalues are those of the graph of votes times the mean information of a vote.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from voirdire.model.terms.arrays import Array
from voirdire.typing import Floats, Ints

TYPICAL = 0.6  # informedness, where that of the judges is not known yet
GROUPS = 8  # of eigenvalues that a criterion has at most
LARGEST = 1000  # items up to which eigenvalues are computed; of more the votes of each item take their place
STEP = 20  # to one part in which the share of ties is rounded
STEPS = 4  # per doubling to which counts are rounded, so that nearly the same tables share compiled functions


class Design(NamedTuple):
    """How the votes lie; empty where nothing is known of them.

    Attributes
    ----------
    votes : tuple of float
        Votes of each judge.
    tied : float
        Share of ties.
    spectrum : tuple of tuple of float
        For each criterion, eigenvalues of the graph of votes, the mean of equally many of them each.
    """

    votes: tuple[float, ...] = ()
    tied: float = 0.0
    spectrum: tuple[tuple[float, ...], ...] = ()

    def shares(self, judges: int) -> Floats:
        """Share of the votes that each judge has, shape (judges, 1)."""
        votes = np.array(self.votes or (1.0,) * judges)
        return np.asarray(votes / max(votes.sum(), 1e-300))[:, None]

    def each(self, judges: int) -> Floats:
        """Votes of each judge, shape (judges, 1)."""
        return np.array(self.votes or (1.0,) * judges)[:, None]

    @property
    def eigenvalues(self) -> Floats:
        """Shape (criteria or 1, groups)."""
        return np.array(self.spectrum or ((1.0,),))


UNKNOWN = Design()


def design_of(
    judge: Ints, criterion: Ints, first: Ints, second: Ints, outcomes: Floats, sizes: tuple[int, int, int]
) -> Design:
    """The design of counted votes.

    Parameters
    ----------
    judge, criterion, first, second : int array, shape (cells,)
    outcomes : array, shape (cells, 3)
        Counts of first, second and tie.
    sizes : (judges, criteria, items)

    Examples
    --------
    >>> zero = np.zeros(1, dtype=np.int64)
    >>> design_of(zero, zero, zero, zero + 1, np.array([[1, 1, 0]]), (1, 1, 2))
    Design(votes=(2.0,), tied=0.0, spectrum=((4.0,),))
    """
    judges, criteria, items = sizes
    counts = outcomes.sum(axis=1)
    spectra = []
    for c in range(criteria):
        here = criterion == c
        graph = (first[here], second[here], counts[here])
        eigenvalues = _eigenvalues(*graph, items) if items <= LARGEST else _degrees(*graph, items)
        parts = np.array_split(np.sort(eigenvalues), min(GROUPS, max(len(eigenvalues), 1)))
        spectra.append(tuple(_rounded(float(part.mean())) if part.size else 0.0 for part in parts))
    by_judge = np.bincount(judge, counts, judges)
    ties = float(outcomes[:, 2].sum())
    tied = float(np.clip(round(STEP * ties / counts.sum()), 1, STEP - 1)) / STEP if ties else 0.0
    return Design(tuple(map(_rounded, by_judge.tolist())), tied, tuple(spectra))


def _degrees(first: Ints, second: Ints, counts: Floats, items: int) -> Floats:
    return np.asarray(np.bincount(first, counts, items) + np.bincount(second, counts, items))


def _eigenvalues(first: Ints, second: Ints, counts: Floats, items: int) -> Floats:
    """All but the one of the constant vector, which sum-to-zero strengths leave out."""
    laplacian = np.diag(_degrees(first, second, counts, items))
    np.subtract.at(laplacian, (first, second), counts)
    np.subtract.at(laplacian, (second, first), counts)
    return np.asarray(np.maximum(np.linalg.eigvalsh(laplacian)[1:], 0.0))


def _rounded(count: float) -> float:
    """To the nearest of ``STEPS`` per doubling; almost nothing to zero."""
    return 0.0 if count < 1e-6 else 2.0 ** (round(STEPS * math.log2(count)) / STEPS)


def of_a_vote(worth: tuple[Array, Array], variance: Array, tied: float) -> Array:
    """About what one vote says of a difference, shape (..., judges or 1, criteria or 1).

    Parameters
    ----------
    worth : pair of array
        Stretch and informedness; see :meth:`.Reliability.worth`.
    variance : array, shape (..., 1, criteria)
        Of strengths.
    tied : float
        Share of votes that are ties.

    Examples
    --------
    >>> float(of_a_vote((1.0, 1.0), np.array(0.0), 0.0).round(4))
    0.25
    """
    stretch, informed = worth
    square = stretch * stretch
    decided = _decided(square * variance)
    return (1.0 - tied) * square * (informed * informed * decided + tied * (0.25 - decided))


def of_coins(variance: Array, tied: float, coins: int, xp: Any) -> Array:
    """About what one vote says of the log-odds of a judge's coins, shape (..., 1, coins).

    With informedness g and T the mean square of tanh(d / 2), a vote says (1 - g^2)^2 T / (4 (1 - g^2 T)) of the one
    coin, and half of that of the sum of two; of their difference as if the first T were 1. Judges are taken to have the
    informedness ``TYPICAL``: with that of the population in its place, its mean would be drawn to where votes say less.

    Parameters
    ----------
    variance : array, shape (..., 1, criteria)
    """
    square = TYPICAL**2
    said = (1.0 - 4.0 * _decided(variance)).mean(axis=-1, keepdims=True)
    each = 0.25 * (1.0 - tied) * (1.0 - square) ** 2 / (1.0 - square * said)
    if coins == 1:
        return each * said
    return 0.5 * xp.concatenate([each * said, each + 0.0 * said], axis=-1)


def _decided(variance: Array) -> Array:
    """About the mean of p (1 - p) over pairs, where strengths have a variance."""
    return (16.0 + 4.0 * math.pi * variance) ** -0.5
