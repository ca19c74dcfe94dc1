"""Does the model give votes like those that were cast? Calibration, and shares of wins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from voirdire.report.figures.rows import Rows
from voirdire.report.figures.style import BLUE, GRID, INK, MUTED, ORANGE, name_rows
from voirdire.report.replicated import calibration_bins, win_shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from voirdire.result import Fit

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Shares:
    """Items in the order of the ranking: share of wins, and the range of it in tables drawn from the fit."""

    items: list[str]
    observed: Floats
    low: Floats
    high: Floats

    @property
    def outside(self) -> npt.NDArray[np.bool_]:
        """Whether an item's observed share lies outside its range."""
        return (self.observed < self.low) | (self.observed > self.high)


def shares(fit: Fit) -> Shares:
    """Shares of wins of the items; the range holds ``fit.prob`` of the tables drawn."""
    observed, drawn = win_shares(fit)
    low, high = np.quantile(drawn, [0.5 * (1 - fit.prob), 0.5 * (1 + fit.prob)], axis=0)
    found = fit.ranking()["item"].tolist()
    index = {item: place for place, item in enumerate(fit.problem.items)}
    order = [index[item] for item in found]
    return Shares(found, observed[order], low[order], high[order])


def ppc(fit: Fit, found: Shares | None = None) -> Rows:
    """Posterior predictive check: each item's share of wins, and that of votes drawn from the fit.

    A tie counts half. Bars hold ``fit.prob`` of the tables drawn.

    Parameters
    ----------
    fit : Fit
    found : Shares, optional
        What :func:`shares` gave, where it is at hand.
    """
    known = shares(fit) if found is None else found
    rows = partial(_ppc_rows, known)
    return Rows(len(known.items), rows)


def _ppc_rows(found: Shares, ax: Axes, part: slice) -> None:
    names, observed, low, high = found.items[part], found.observed[part], found.low[part], found.high[part]
    rows = np.arange(len(names))
    ax.grid(axis="x")
    ax.hlines(rows, low, high, color=BLUE, linewidth=5.0, alpha=0.35)
    outside = found.outside[part]
    for here, colour, mark in ((~outside, INK, "o"), (outside, ORANGE, "D")):
        ax.plot(observed[here], rows[here], mark, color=colour, markersize=4, markeredgewidth=0)
    name_rows(ax, names)
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel("share of wins")


def calibration(fit: Fit, ax: Axes) -> None:
    """Votes by their predicted probability of "first": the share that was. Intervals are Wilson's, of 95%."""
    bins = calibration_bins(fit)
    ax.grid()
    ax.plot([0, 1], [0, 1], color=MUTED, linewidth=1.0, linestyle=(0, (4, 3)))
    ax.vlines(bins["predicted"], bins["low"], bins["high"], color=BLUE, linewidth=1.6, alpha=0.75)
    ax.plot(bins["predicted"], bins["observed"], "o", color=BLUE, markersize=5, markeredgewidth=0)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_aspect("equal")
    ax.spines["bottom"].set_color(GRID)
    ax.set_xlabel("predicted probability of “first” or “second”")
    ax.set_ylabel("share observed")
