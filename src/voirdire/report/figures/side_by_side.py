"""Figure that compares several fits: one row per name, one mark per fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from voirdire.report.figure_style import GRID, MARKERS, SERIES_COLOURS, name_label, name_rows
from voirdire.report.figures.rows import RowFigure, axis_limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
