"""Figures of predictive checks (calibration, shares of wins and answers), and of the draws."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from voirdire.infer.diagnose import worst_element
from voirdire.infer.mirror import fold_draws
from voirdire.kinds.idata import to_inference_data
from voirdire.report.figure_style import (
    BLUE,
    GRID,
    INK,
    MUTED,
    ORANGE,
    SERIES_COLOURS,
    name_label,
    name_rows,
    write_above,
)
from voirdire.report.figures.rows import RowFigure
from voirdire.report.ppc import answers_of_kind, calibration_bins, replicated_shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from voirdire.kinds.fit import Fit


def draw_trace(fit: Fit, ax: Axes) -> None:
    """Draw the chains, after warm-up, of the value with the largest R-hat."""
    name, chains, rhat = worst_element(to_inference_data(fit, with_answers=False))
    for number, chain in enumerate(chains):
        colour = SERIES_COLOURS[number % len(SERIES_COLOURS)]
        ax.plot(chain, color=colour, linewidth=0.6, alpha=0.75)
    ax.grid(axis="y")
    ax.set_xlabel("draw")
    ax.set_title(f"{name}: R-hat {rhat:.3f}, {len(chains)} chains", fontsize=9)


def draw_orientation_histogram(fit: Fit, ax: Axes) -> None:
    """Draw a histogram of the prior density of each draw with all strengths reversed, divided by that of the draw."""
    density = fit.problem.density
    assert fit.posterior.draws is not None
    ratio = fold_draws(density, fit.posterior.draws, fit.problem.data)[1].ravel()
    log_ratio = np.log10(np.maximum(ratio, 1e-300))
    ax.hist(log_ratio, bins=40, color=BLUE, alpha=0.8, linewidth=0)
    ax.axvline(0.0, color=ORANGE, linewidth=1.5)
    ax.grid(axis="y")
    ax.set_xlim(min(-1.0, float(log_ratio.min()) * 1.05), max(0.15, -0.03 * float(log_ratio.min())))
    ax.set_yticks([])
    ax.set_xlabel(
        f"log10 of prior({fit.kind.page_words.prior_argument}) / prior, by draw; at 0 both are as probable", color=MUTED
    )


Floats = npt.NDArray[np.float64]


MAX_JUDGES = 40  # judges shown
_MAX_HEAD_LETTERS = 16  # letters of a column's name


@dataclass(frozen=True)
class PredictedShares:
    """Share of wins of items (votes) or of each answer of judges (scores, labels), and its range in replicated tables.

    Attributes
    ----------
    rows : list of str
        Items in the order of the ranking, or judges: the most reliable first, else the most severe first.
    columns : list of str
        Answers; empty for votes.
    observed, low, high : array, shape (rows,) or (rows, columns)
        Shares and ends of their range, which holds ``fit.prob`` of the tables drawn from the fit.
    """

    rows: list[str]
    columns: list[str]
    observed: Floats
    low: Floats
    high: Floats

    @property
    def is_outside(self) -> npt.NDArray[np.bool_]:
        """Mask of the observed shares outside their range; shape as ``observed``."""
        return (self.observed < self.low) | (self.observed > self.high)


def predicted_shares(fit: Fit, answer_kind: str | None = None) -> PredictedShares:
    """Compute shares of wins of the items, or shares of the judges' answers.

    Parameters
    ----------
    fit : Fit
    answer_kind : "votes", "scores" or "labels", optional
        Kind of answers; by default the votes where the fit has votes and scores.

    Raises
    ------
    InputError
        The model gives no probability of single answers.
    """
    (names, columns, (observed,)), (_, _, drawn) = replicated_shares(fit, answer_kind)
    low, high = np.quantile(drawn, [0.5 * (1 - fit.prob), 0.5 * (1 + fit.prob)], axis=0)
    index = {name: position for position, name in enumerate(names) if not np.isnan(observed[position]).any()}
    row_names = [name for name in (_judge_order(fit) if columns else fit.ranking()["item"]) if name in index]
    order = [index[name] for name in row_names]
    return PredictedShares(row_names, columns, observed[order], low[order], high[order])


def _judge_order(fit: Fit) -> list[str]:
    """Return the judges, the most reliable first; the most severe first where the model has no reliability."""
    judges = fit.judges()
    for name in ("reliability", "severity"):
        if name in judges and not judges[name].isna().all():
            judges = judges.sort_values(name, ascending=False, kind="stable")
            break
    return list(judges["judge"])


def predictive_rows(fit: Fit, computed: PredictedShares | None = None, answer_kind: str | None = None) -> RowFigure:
    """Make rows of the posterior predictive check: observed shares, and those of tables drawn from the fit.

    Votes: each item's share of wins (a tie counts half). Scores and labels: the shares of each judge's answers, one
    column per level or label, for at most 40 judges, those furthest outside their ranges. Bars hold ``fit.prob`` of
    the drawn tables.

    Parameters
    ----------
    fit : Fit
    computed : PredictedShares, optional
        Result of :func:`predicted_shares`; computed if not given.
    answer_kind : str, optional
        As in :func:`predicted_shares`.
    """
    shares = predicted_shares(fit, answer_kind) if computed is None else computed
    if not shares.columns:
        return RowFigure(len(shares.rows), partial(_ppc_rows, shares))
    shares = _furthest_rows(shares)
    return RowFigure(
        len(shares.rows), partial(_ppc_columns, shares), 0.4 if _are_headings_tilted(shares.columns) else 0.0
    )


def _are_headings_tilted(columns: list[str]) -> bool:
    """Return True if the names of columns are too long for horizontal text."""
    return max(len(name_label(name, _MAX_HEAD_LETTERS)) for name in columns) > 28 // len(columns)


def _furthest_rows(shares: PredictedShares) -> PredictedShares:
    """Return the 40 rows that are furthest outside their ranges, in their original order."""
    gap = np.maximum(shares.low - shares.observed, shares.observed - shares.high).max(axis=1)
    row_index = np.sort(np.argsort(-gap, kind="stable")[:MAX_JUDGES])
    parts = (shares.observed[row_index], shares.low[row_index], shares.high[row_index])
    return PredictedShares([shares.rows[row] for row in row_index], shares.columns, *parts)


def _ppc_columns(shares: PredictedShares, ax: Axes, part: slice) -> None:
    """Draw one column per answer, each with an axis from zero to the largest share of all columns."""
    max_share = max(float(shares.observed.max()), float(shares.high.max()))
    width = 1.25 * max_share
    count, tilted = len(shares.columns), _are_headings_tilted(shares.columns)
    for column, name in enumerate(shares.columns):
        left_edge = column * width
        ax.axvline(left_edge, color=GRID, linewidth=1.0)
        observed, low, high = (values[part, column] for values in (shares.observed, shares.low, shares.high))
        _draw_shares(ax, left_edge + observed, left_edge + low, left_edge + high, shares.is_outside[part, column])
        head, look = name_label(name, _MAX_HEAD_LETTERS), {"rotation_mode": "anchor", "fontsize": 8.0}
        if tilted:
            write_above(ax, head, left_edge, ha="left", rotation=25, **look)
        else:
            write_above(ax, head, left_edge + 0.5 * max_share, ha="center", rotation=0, **look)
    name_rows(ax, shares.rows[part])
    starts = np.arange(count) * width
    ax.set_xticks([*starts, starts[-1] + max_share], ["0"] * len(starts) + [f"{max_share:.2g}"])
    ax.set_xlim(-0.05 * max_share, starts[-1] + 1.05 * max_share)
    ax.set_xlabel("share of the judge's answers")


def _ppc_rows(shares: PredictedShares, ax: Axes, part: slice) -> None:
    ax.grid(axis="x")
    _draw_shares(ax, shares.observed[part], shares.low[part], shares.high[part], shares.is_outside[part])
    name_rows(ax, shares.rows[part])
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel("share of wins")


def _draw_shares(ax: Axes, observed: Floats, low: Floats, high: Floats, outside: npt.NDArray[np.bool_]) -> None:
    rows = np.arange(len(observed))
    ax.hlines(rows, low, high, color=BLUE, linewidth=5.0, alpha=0.35)
    for chosen, colour, mark in ((~outside, INK, "o"), (outside, ORANGE, "D")):
        ax.plot(observed[chosen], rows[chosen], mark, color=colour, markersize=4, markeredgewidth=0)


def draw_calibration(fit: Fit, ax: Axes, answer_kind: str | None = None) -> None:
    """Draw the observed share of answers by their predicted probability, with Wilson's 95% intervals."""
    bins, kind = calibration_bins(fit, answer_kind), answers_of_kind(fit, answer_kind)[0]
    ax.grid()
    ax.plot([0, 1], [0, 1], color=MUTED, linewidth=1.0, linestyle=(0, (4, 3)))
    ax.vlines(bins["predicted"], bins["low"], bins["high"], color=BLUE, linewidth=1.6, alpha=0.75)
    ax.plot(bins["predicted"], bins["observed"], "o", color=BLUE, markersize=5, markeredgewidth=0)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_aspect("equal")
    ax.spines["bottom"].set_color(GRID)
    ax.set_xlabel(kind.page_words.calibration_axis)
    ax.set_ylabel("share observed")
