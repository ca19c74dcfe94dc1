"""Figures with one row per name, in parts side by side, and the comparison of several fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from voirdire.report.figure_style import (
    GRID,
    MARKERS,
    SERIES_COLOURS,
    empty_figure,
    figure_style,
    name_label,
    name_rows,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW_HEIGHT = 0.19  # inches
FIGURE_WIDTH = 5.1  # inches: two figures fill the width of a page, one that of a phone
_NARROW_WIDTH = 3.6  # inches: three figures fill the width of a page
_ROWS_PER_PART = 45  # maximum number of rows of a part, with up to three parts


@dataclass(frozen=True)
class RowFigure:
    """Figure of ``count`` rows; ``draw`` draws a slice of them, always on the same scale.

    ``above`` is the height in inches of headings above the rows.
    """

    count: int
    draw: Callable[[Axes, slice], None]
    above: float = 0.0


def rows_height(count: int) -> float:
    """Return the height in inches of ``count`` rows and the axis below them."""
    return 0.9 + ROW_HEIGHT * count


def draw_parts(rows: RowFigure, extra: float = 0.0) -> Sequence[Figure]:
    """Draw the rows as one figure, or as up to three with equal numbers of rows.

    Parameters
    ----------
    rows : RowFigure
    extra : float
        Inches above the rows, for a legend.
    """
    part_count = min(3, max(1, -(-rows.count // _ROWS_PER_PART)))
    part_rows = -(-rows.count // part_count)
    drawings = []
    with figure_style():
        for start in range(0, rows.count, part_rows):
            figure = empty_figure(
                FIGURE_WIDTH if part_count < 3 else _NARROW_WIDTH, extra + rows.above + rows_height(part_rows)
            )
            ax = figure.subplots()
            rows.draw(ax, slice(start, min(start + part_rows, rows.count)))
            ax.set_ylim(part_rows - 0.5, -0.5)  # rows of all parts are at the same heights
            drawings.append(figure)
    return drawings


def axis_limits(*values: npt.NDArray[np.float64], margin: float = 0.03) -> tuple[float, float]:
    """Return the ends of an axis that holds all these values except NaN, with a margin (share of their range).

    Examples
    --------
    >>> axis_limits(np.array([0.0, np.nan]), np.array([1.0, 2.0]), margin=0.5)
    (-1.0, 3.0)
    """
    finite = np.concatenate([column[~np.isnan(column)] for column in values])
    low, high = float(finite.min()), float(finite.max())
    padding = margin * (high - low) or 0.5
    return low - padding, high + padding


Floats = npt.NDArray[np.float64]

_MARK_SPREAD = 0.5  # share of a row over which marks with intervals are spread


def rows_comparing_runs(
    names: Sequence[object], runs: Sequence[str], value: Floats, ends: tuple[Floats, Floats] | None, title: str
) -> RowFigure:
    """Make rows with a mark per run: on one line joined by a bar, or below each other where they have intervals.

    Parameters
    ----------
    names : sequence, shape (rows,)
    runs : sequence of str
    value : array, shape (rows, runs)
        Values; NaN where a run has none.
    ends : pair of arrays, shape (rows, runs), optional
        Low and high ends of the intervals.
    title : str
        Title of the axis.
    """
    span = axis_limits(value, *(ends or ()))
    offset = 0.0 if ends is None or len(runs) < 2 else _MARK_SPREAD / (len(runs) - 1)

    def draw_rows(ax: Axes, part: slice) -> None:
        rows = np.arange(len(names[part]), dtype=float)
        ax.grid(axis="x")
        if ends is None:
            ax.hlines(rows, np.nanmin(value[part], 1), np.nanmax(value[part], 1), color=GRID, linewidth=4.0)
        handles = []
        for number in range(len(runs)):
            colour, mark = SERIES_COLOURS[number % len(SERIES_COLOURS)], MARKERS[number % len(MARKERS)]
            height = rows + offset * (number - 0.5 * (len(runs) - 1))
            if ends is not None:
                low, high = (end[part, number] for end in ends)
                ax.hlines(height, low, high, color=colour, linewidth=1.2, alpha=0.75)
            # marks on one line become smaller, so that a covered mark is visible around the later ones
            size = max(9.0 - 2.6 * number, 2.0) if ends is None else 3.4
            handles += ax.plot(value[part, number], height, mark, color=colour, markersize=size, markeredgewidth=0)
        name_rows(ax, names[part])
        ax.set_xlim(span)
        ax.set_xlabel(title)
        texts = [name_label(run) for run in runs]
        ax.legend(handles, texts, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=_legend_columns(runs))

    return RowFigure(len(names), draw_rows)


def legend_height(runs: Sequence[str]) -> float:
    """Return the height in inches of the legend above the rows.

    Examples
    --------
    >>> legend_height(["one", "two"]), legend_height(["a run of a long name"] * 3)
    (0.3, 0.7)
    """
    return (1 + 2 * -(-len(runs) // _legend_columns(runs))) / 10


def _legend_columns(runs: Sequence[str]) -> int:
    """Return the number of columns of the legend, at most three; it has about 2.6 inches."""
    widest = 0.45 + 0.075 * max(len(name_label(run)) for run in runs)
    return max(1, min(3, len(runs), int(2.6 / widest)))
