"""Figures with one row per name, which may be drawn in parts side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from voirdire.report.figure_style import empty_figure, figure_style

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
