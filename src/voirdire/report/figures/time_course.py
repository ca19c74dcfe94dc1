"""Figure of a measure of one judge over time, with a detected change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.report.figure_style import MUTED, SERIES_COLOURS, figure_of_axes, single_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_change_point(row: Mapping[str, Any]) -> Figure:
    """Draw means of blocks as points, and the means before and after the change as lines.

    Parameters
    ----------
    row : mapping
        Measure with a change, from the result of :func:`voirdire.decide.watch.watch`.
    """
    with single_axes(6.4, 2.8) as ax:
        ax.grid(axis="y")
        block_ends = np.cumsum([block["n"] for block in row["course"]])
        middle = block_ends - np.array([block["n"] for block in row["course"]]) / 2
        ax.plot(middle, [block["mean"] for block in row["course"]], "o", color=SERIES_COLOURS[0], markersize=4)
        change_point = row["since_value"]
        ax.hlines(row["before"], 0, change_point, color=MUTED, linewidth=1.6)
        ax.hlines(row["after"], change_point, block_ends[-1], color=SERIES_COLOURS[1], linewidth=1.6)
        ax.axvspan(row["since_value_low"], row["since_value_high"], color=MUTED, alpha=0.15, linewidth=0)
        ax.set_xlabel("answers")
        ax.set_ylabel(row["measure"].replace("_", " "))
    return figure_of_axes(ax)
