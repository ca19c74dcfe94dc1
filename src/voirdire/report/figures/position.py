"""Position bias: how often each judge is right when the better item stands first, and when it stands second."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.errors import InputError
from voirdire.report.figures.style import BLUE, GRID, MUTED, ORANGE, name_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from voirdire.result import Fit


def position(fit: Fit, ax: Axes) -> None:
    """Dumbbells: reliability plus and minus position bias, the most biased judges on top."""
    position_rows(ax, fit, position_order(fit))


def position_order(fit: Fit) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Rows of ``fit.judges()``, the most biased first.

    Raises
    ------
    InputError
        The model knows no position bias.
    """
    found = fit.judges()
    if "position_bias" not in found or found["position_bias"].isna().all():
        raise InputError(
            f"model {fit.model.name} knows no position bias; a model whose name ends in -position does"
        )
    return np.argsort(-np.abs(found["position_bias"].to_numpy(dtype=float)), kind="stable")


def position_rows(
    ax: Axes, fit: Fit, order: np.ndarray[tuple[int], np.dtype[np.int64]], *, legend: bool = True
) -> None:
    """Draw some judges' dumbbells."""
    found = fit.judges().iloc[order]
    reliability, bias = (found[name].to_numpy(dtype=float) for name in ("reliability", "position_bias"))
    first, second = np.clip(reliability + bias, 0, 1), np.clip(reliability - bias, 0, 1)
    rows = np.arange(len(found))
    ax.grid(axis="x")
    ax.axvline(0.5, color=MUTED, linewidth=1.0, linestyle=(0, (4, 3)))
    ax.hlines(rows, first, second, color=GRID, linewidth=4.0)
    ax.plot(first, rows, "o", color=BLUE, markersize=4.8, markeredgewidth=0)
    ax.plot(second, rows, "s", color=ORANGE, markersize=4.4, markeredgewidth=0)
    name_rows(ax, found["judge"].tolist())
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel("probability of picking the better item when it is shown …")
    if not legend:
        return
    handles = [
        ax.plot([], [], mark, color=colour, markersize=5, markeredgewidth=0)[0]
        for mark, colour in (("o", BLUE), ("s", ORANGE))
    ]
    ax.legend(
        handles, ["first", "second"], loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=8
    )
