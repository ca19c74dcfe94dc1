"""Posterior predictive checks: calibration, shares of wins, shares of judges' answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from voirdire.report.figure_style import BLUE, GRID, INK, MUTED, ORANGE, name_label, name_rows
from voirdire.report.figures.rows import RowFigure
from voirdire.report.ppc import answers_of_kind, calibration_bins, replicated_shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from voirdire.kinds.fit import Fit

Floats = npt.NDArray[np.float64]


MAX_JUDGES = 40  # judges shown
_MAX_HEAD_LETTERS = 16  # letters of a column's name


@dataclass(frozen=True)
class PredictedShares:
    """Share of wins of items (votes) or of each answer of judges (scores, labels), and its range in tables drawn.

    Attributes
    ----------
    rows : list of str
        Items in the order of the ranking, or judges: the most reliable first, else the most severe.
    columns : list of str
        Answers; empty for votes.
    observed, low, high : array, shape (rows,) or (rows, columns)
        The range holds ``fit.prob`` of the tables drawn from the fit.
    """

    rows: list[str]
    columns: list[str]
    observed: Floats
    low: Floats
    high: Floats

    @property
    def is_outside(self) -> npt.NDArray[np.bool_]:
        """True where an observed share lies outside its range."""
        return (self.observed < self.low) | (self.observed > self.high)


def predicted_shares(fit: Fit, of: str | None = None) -> PredictedShares:
    """Shares of wins of the items, or shares of the judges' answers.

    Parameters
    ----------
    fit : Fit
    of : "votes", "scores" or "labels", optional
        Which answers; of votes and scores, by default the votes.

    Raises
    ------
    InputError
        The model gives no probability of single answers.
    """
    (names, columns, (observed,)), (_, _, drawn) = replicated_shares(fit, of)
    low, high = np.quantile(drawn, [0.5 * (1 - fit.prob), 0.5 * (1 + fit.prob)], axis=0)
    index = {name: position for position, name in enumerate(names) if not np.isnan(observed[position]).any()}
    row_names = [name for name in (_judge_order(fit) if columns else fit.ranking()["item"]) if name in index]
    order = [index[name] for name in row_names]
    return PredictedShares(row_names, columns, observed[order], low[order], high[order])


def _judge_order(fit: Fit) -> list[str]:
    """Judges, the most reliable first; the most severe where the model takes all as equally reliable."""
    judges = fit.judges()
    for name in ("reliability", "severity"):
        if name in judges and not judges[name].isna().all():
            judges = judges.sort_values(name, ascending=False, kind="stable")
            break
    return list(judges["judge"])


def predictive_rows(fit: Fit, found: PredictedShares | None = None, of: str | None = None) -> RowFigure:
    """Posterior predictive check: observed shares, and those of tables drawn from the fit.

    Of votes each item's share of wins (a tie counts half), of scores and labels the shares of each judge's answers, one
    column for each level or label; of many judges the 40 whose answers are furthest from those drawn. Bars hold
    ``fit.prob`` of the tables drawn.

    Parameters
    ----------
    fit : Fit
    found : PredictedShares, optional
        What :func:`predicted_shares` gave, where it is at hand.
    of : str, optional
        As of :func:`predicted_shares`.
    """
    shares = predicted_shares(fit, of) if found is None else found
    if not shares.columns:
        return RowFigure(len(shares.rows), partial(_ppc_rows, shares))
    shares = _furthest_rows(shares)
    return RowFigure(
        len(shares.rows), partial(_ppc_columns, shares), 0.4 if _heads_tilted(shares.columns) else 0.0
    )


def _heads_tilted(columns: list[str]) -> bool:
    """True where names of columns are too long to stand beside each other."""
    return max(len(name_label(name, _MAX_HEAD_LETTERS)) for name in columns) > 28 // len(columns)


def _furthest_rows(found: PredictedShares) -> PredictedShares:
    """The 40 rows that are furthest outside their ranges, in the order that they have."""
    gap = np.maximum(found.low - found.observed, found.observed - found.high).max(axis=1)
    row_index = np.sort(np.argsort(-gap, kind="stable")[:MAX_JUDGES])
    parts = (found.observed[row_index], found.low[row_index], found.high[row_index])
    return PredictedShares([found.rows[row] for row in row_index], found.columns, *parts)


def _ppc_columns(found: PredictedShares, ax: Axes, part: slice) -> None:
    """One column for each answer, from no share on its left to the largest share of all on its right."""
    max_share = max(float(found.observed.max()), float(found.high.max()))
    width = 1.25 * max_share
    count, tilted = len(found.columns), _heads_tilted(found.columns)
    for column, name in enumerate(found.columns):
        left_edge = column * width
        ax.axvline(left_edge, color=GRID, linewidth=1.0)
        observed, low, high = (values[part, column] for values in (found.observed, found.low, found.high))
        _draw_shares(
            ax, left_edge + observed, left_edge + low, left_edge + high, found.is_outside[part, column]
        )
        ax.annotate(
            name_label(name, _MAX_HEAD_LETTERS),
            (left_edge if tilted else left_edge + 0.5 * max_share, 1.0),
            xytext=(0, 4),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="left" if tilted else "center",
            rotation=25 if tilted else 0,
            rotation_mode="anchor",
            fontsize=8.0,
            parse_math=False,
        )
    name_rows(ax, found.rows[part])
    starts = np.arange(count) * width
    ax.set_xticks([*starts, starts[-1] + max_share], ["0"] * len(starts) + [f"{max_share:.2g}"])
    ax.set_xlim(-0.05 * max_share, starts[-1] + 1.05 * max_share)
    ax.set_xlabel("share of the judge's answers")


def _ppc_rows(found: PredictedShares, ax: Axes, part: slice) -> None:
    ax.grid(axis="x")
    _draw_shares(ax, found.observed[part], found.low[part], found.high[part], found.is_outside[part])
    name_rows(ax, found.rows[part])
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel("share of wins")


def _draw_shares(
    ax: Axes, observed: Floats, low: Floats, high: Floats, outside: npt.NDArray[np.bool_]
) -> None:
    rows = np.arange(len(observed))
    ax.hlines(rows, low, high, color=BLUE, linewidth=5.0, alpha=0.35)
    for chosen, colour, mark in ((~outside, INK, "o"), (outside, ORANGE, "D")):
        ax.plot(observed[chosen], rows[chosen], mark, color=colour, markersize=4, markeredgewidth=0)


def draw_calibration(fit: Fit, ax: Axes, of: str | None = None) -> None:
    """Answers by their predicted probability: the share that was given. Intervals are Wilson's, of 95%."""
    bins, kind = calibration_bins(fit, of), answers_of_kind(fit, of)[0]
    ax.grid()
    ax.plot([0, 1], [0, 1], color=MUTED, linewidth=1.0, linestyle=(0, (4, 3)))
    ax.vlines(bins["predicted"], bins["low"], bins["high"], color=BLUE, linewidth=1.6, alpha=0.75)
    ax.plot(bins["predicted"], bins["observed"], "o", color=BLUE, markersize=5, markeredgewidth=0)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_aspect("equal")
    ax.spines["bottom"].set_color(GRID)
    ax.set_xlabel(kind.page_words.probability)
    ax.set_ylabel("share observed")
