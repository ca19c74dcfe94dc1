"""Knowledge of each group of items that can be compared, from a fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voirdire.decide.prospects import expected_loss
from voirdire.errors import InputError
from voirdire.infer.posterior import integrated_scores
from voirdire.kinds.fit import Fit
from voirdire.kinds.results import rank_values
from voirdire.tables.encode import level_positions
from voirdire.typing import Floats

#: Quantities by the name that conditions have for them: the field, and whether large values mean much is known.
QUANTITIES = {
    "p_best": ("p_best", True),
    "loss": ("loss", False),
    "width(ranks)": ("width", False),
    "accuracy": ("accuracy", True),
}


@dataclass(frozen=True)
class Known:
    """Knowledge of one group.

    Attributes
    ----------
    best : str
        The item that is most likely the best.
    p_best : float
        Probability that it is.
    loss : float
        By how much (log-odds) the best is expected to be better than the item that one would choose.
    width : float
        Ranks between the ends of an item's interval, of the item of which least is known.
    accuracy : float
        Share of the pairs that the fit is expected to order rightly.
    """

    best: str
    p_best: float
    loss: float
    width: float
    accuracy: float


def summarise_groups(fit: Fit, groups: Sequence[Sequence[str]]) -> list[Known]:
    """Summarise what is known of each group, from a fit's draws.

    Parameters
    ----------
    fit : Fit
        With scores and draws.
    groups : sequence of sequence of str
        Items that can be compared, group by group; items without an answer so far are left out.

    Raises
    ------
    InputError
        The fit has no scores or no draws, or nothing was answered in a group.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> table = pd.DataFrame({"judge": "a", "first": "x", "second": "y", "winner": ["x"] * 40 + ["y"] * 2})
    >>> found = summarise_groups(fit(table, model="bradley-terry"), [["x", "y"]])[0]
    >>> found.best, found.p_best > 0.95, found.width
    ('x', True, 0.0)
    """
    values = fit.posterior.values
    if values is None:
        raise InputError(
            f"method {fit.method!r} has no draws, so nothing tells what is known; take 'laplace'"
        )
    draws = np.asarray(integrated_scores(fit.problem.density, values))
    draws = draws.reshape(-1, draws.shape[-1])
    found = []
    for group in groups:
        place = level_positions(group, fit.problem.items)
        items = [item for item, code in zip(group, place, strict=True) if code >= 0]
        if not items:
            raise InputError(f"nothing was answered about {', '.join(group[:3])}; see missing.csv")
        found.append(_summarise_group(items, draws[:, place[place >= 0]], fit.prob))
    return found


def _summarise_group(items: Sequence[str], draws: Floats, prob: float) -> Known:
    rank = rank_values(draws)
    p_best = (rank == 1).mean(axis=0)
    low, high = np.quantile(rank, [0.5 * (1 - prob), 0.5 * (1 + prob)], axis=0, method="inverted_cdf")
    sure = [
        np.abs((draws[:, [one]] > draws[:, one + 1 :]).mean(axis=0) - 0.5) + 0.5
        for one in range(len(items) - 1)
    ]
    best = int(p_best.argmax())
    return Known(
        items[best],
        float(p_best[best]),
        float(expected_loss(draws).min()),
        float((high - low).max()),
        float(np.concatenate(sure).mean()) if sure else 1.0,
    )
