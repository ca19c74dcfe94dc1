"""Position bias: each judge's probability of being right when the better item is first, and when it is second."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from voirdire.errors import InputError
from voirdire.report.figure_style import BLUE, GRID, MUTED, ORANGE, name_rows
from voirdire.report.figures.rows import RowFigure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from voirdire.kinds.fit import Fit


def position_rows(fit: Fit) -> RowFigure:
    """Make rows of dumbbells: reliability plus and minus position bias, the most biased judges on top."""
    judges = fit.judges().iloc[position_order(fit)]
    reliability, bias = (judges[name].to_numpy(dtype=float) for name in ("reliability", "position_bias"))
    names = judges["judge"].tolist()
    first, second = np.clip(reliability + bias, 0, 1), np.clip(reliability - bias, 0, 1)

    def draw_rows(ax: Axes, part: slice) -> None:
        rows = np.arange(len(names[part]))
        ax.grid(axis="x")
        ax.axvline(0.5, color=MUTED, linewidth=1.0, linestyle=(0, (4, 3)))
        ax.hlines(rows, first[part], second[part], color=GRID, linewidth=4.0)
        ax.plot(first[part], rows, "o", color=BLUE, markersize=4.8, markeredgewidth=0, label="shown first")
        ax.plot(second[part], rows, "s", color=ORANGE, markersize=4.4, markeredgewidth=0, label="shown second")
        name_rows(ax, names[part])
        ax.set_xlim(-0.02, 1.02)
        ax.set_xlabel("probability of picking the better item")
        ax.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=2, fontsize=8, handletextpad=0.2)

    return RowFigure(len(judges), draw_rows)


def position_order(fit: Fit) -> npt.NDArray[np.int64]:
    """Return the order of the rows of ``fit.judges()``, the most biased first; shape (judges,).

    Raises
    ------
    InputError
        The model has no position bias.
    """
    judges = fit.judges()
    if "position_bias" not in judges or judges["position_bias"].isna().all():
        raise InputError(f"model {fit.model.name} knows no position bias; a model whose name ends in -position does")
    return np.argsort(-np.abs(judges["position_bias"].to_numpy(dtype=float)), kind="stable")
