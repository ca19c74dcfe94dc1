"""Win rate: how often a judge finds an item the better one of a pair.

Of the n units in which the item takes part, with W wins, L losses and T ties,

- ties left out    W / (W + L)
- ties not won     W / n
- ties half won    (W + T / 2) / n

All units are resampled, ties too: how many a sample holds is part of the uncertainty.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from voirdire.agreement.engine.statistic import CountStatistic, FloatArray, ratio_or_nan
from voirdire.errors import InputError

Ties: TypeAlias = Literal["left out", "not won", "half won"]


def win_rate(
    won: NDArray[np.bool_], lost: NDArray[np.bool_], tied: NDArray[np.bool_], ties: Ties
) -> CountStatistic:
    """Win rate of one item by one judge.

    Parameters
    ----------
    won, lost, tied : bool array, shape (units,)
        Outcomes; units in which the item takes no part, or that the judge did not answer, are False in all.
    ties : {"left out", "not won", "half won"}
        What a tie is worth.

    Returns
    -------
    CountStatistic
        Undefined where every unit is a tie, if ties are left out.

    Raises
    ------
    InputError
        If `ties` is not known.

    Examples
    --------
    >>> won, lost, tied = np.eye(3, dtype=bool)[[0, 0, 1, 2]].T
    >>> [win_rate(won, lost, tied, t).values(np.ones((1, 4))).round(4).tolist() for t in get_args(Ties)]
    [[0.6667], [0.5], [0.625]]
    """
    if ties not in get_args(Ties):
        raise InputError(f"ties {ties!r} is not known; give one of {', '.join(get_args(Ties))}")
    features = np.column_stack([won, lost, tied]).astype(float)

    def rate_of_totals(t: FloatArray) -> FloatArray:
        if ties == "left out":
            return ratio_or_nan(t[..., 0], t[..., 0] + t[..., 1])
        return ratio_or_nan(t[..., 0] + (t[..., 2] / 2 if ties == "half won" else 0), t.sum(axis=-1))

    return CountStatistic(features, rate_of_totals)
