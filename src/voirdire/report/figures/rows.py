"""Figures with one row per name, which may be drawn in parts that stand beside each other."""

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

ROW = 0.19  # inches
WIDTH = 5.1  # inches: two of them fill a page, one of them a phone
_NARROW = 3.6  # three of them fill a page
_PER_PART = 45  # rows beyond which a part gets another one beside it, up to three


@dataclass(frozen=True)
class Rows:
    """A figure of ``count`` rows; ``draw`` draws some of them, on the same scale whichever they are.

    ``above`` are the inches that what stands above the rows takes.
    """

    count: int
    draw: Callable[[Axes, slice], None]
    above: float = 0.0


def rows_height(count: int) -> float:
    """Inches that so many rows take, with the axis below them."""
    return 0.9 + ROW * count


def draw_parts(rows: Rows, extra: float = 0.0) -> Sequence[Figure]:
    """Drawings of the rows: one, or up to three of as many rows each.

    Parameters
    ----------
    rows : Rows
    extra : float
        Inches above the rows, for a legend.
    """
    number = min(3, max(1, -(-rows.count // _PER_PART)))
    each = -(-rows.count // number)
    found = []
    with figure_style():
        for start in range(0, rows.count, each):
            figure = empty_figure(WIDTH if number < 3 else _NARROW, extra + rows.above + rows_height(each))
            ax = figure.subplots()
            rows.draw(ax, slice(start, min(start + each, rows.count)))
            ax.set_ylim(each - 0.5, -0.5)  # rows of all parts stand at the same heights
            found.append(figure)
    return found


def axis_limits(*values: npt.NDArray[np.float64], margin: float = 0.03) -> tuple[float, float]:
    """Ends of an axis that holds all these values, NaN apart, with a margin.

    Examples
    --------
    >>> axis_limits(np.array([0.0, np.nan]), np.array([1.0, 2.0]), margin=0.5)
    (-1.0, 3.0)
    """
    known = np.concatenate([one[~np.isnan(one)] for one in values])
    low, high = float(known.min()), float(known.max())
    room = margin * (high - low) or 0.5
    return low - room, high + room
