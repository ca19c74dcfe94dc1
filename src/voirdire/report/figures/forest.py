"""Forests: one row per name, a mark at the value and a line over its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from voirdire.report.figures.style import BLUE, GRID, LETTERS, MUTED, RED, name_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from voirdire.result import Fit

Floats = npt.NDArray[np.float64]

ROW = 0.19  # inches


def forest(
    ax: Axes,
    names: Sequence[object],
    value: Floats,
    low: Floats,
    high: Floats,
    *,
    colours: Sequence[str] | None = None,
    markers: Sequence[str] | None = None,
    groups: Sequence[int] = (),
    reference: float | None = None,
    letters: int = LETTERS,
) -> None:
    """Draw values with intervals, the first name on top.

    Parameters
    ----------
    value, low, high : array, shape (rows,)
        NaN where there is none.
    colours, markers : sequence of str, optional
        One per row.
    groups : sequence of int
        Rows of every other group stand on a band.
    reference : float, optional
        Where a dashed line stands.
    letters : int
        Longest name before its middle is left out.
    """
    rows = np.arange(len(names))
    if len(set(groups)) > 1:
        for row, group in enumerate(groups):
            if group % 2 == 0:
                ax.axhspan(row - 0.5, row + 0.5, color=GRID, alpha=0.55, linewidth=0)
    ax.grid(axis="x")
    if reference is not None:
        ax.axvline(reference, color=MUTED, linewidth=1.0, linestyle=(0, (4, 3)))
    from matplotlib.ticker import MaxNLocator

    each = [BLUE] * len(names) if colours is None else list(colours)
    marks = ["o"] * len(names) if markers is None else list(markers)
    size = 4.6 if len(names) <= 80 else 3.6
    for colour, mark in dict.fromkeys(zip(each, marks, strict=True)):
        here = np.array([(c, m) == (colour, mark) for c, m in zip(each, marks, strict=True)])
        sure = here & ~np.isnan(low)
        ax.hlines(rows[sure], low[sure], high[sure], color=colour, linewidth=1.6, alpha=0.75)
        ax.plot(value[here], rows[here], mark, color=colour, markersize=size, markeredgewidth=0)
    name_rows(ax, names, letters)
    ax.margins(x=0.03)
    ax.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))


def ranking(fit: Fit, ax: Axes) -> None:
    """Scores of the items with intervals, best first; bands set off groups that can be told apart."""
    from voirdire.report.groups import groups

    found = fit.ranking()
    forest(
        ax,
        found["item"].tolist(),
        *(found[name].to_numpy(dtype=float) for name in ("score", "low", "high")),
        groups=groups(fit) or (),
    )
    ax.set_xlabel("score")


def judges(fit: Fit, ax: Axes) -> None:
    """Reliability of the judges with intervals, most reliable first."""
    judge_rows(ax, fit, reliability_order(fit))
    ax.set_xlabel("reliability")


def reliability_order(fit: Fit) -> npt.NDArray[np.int64]:
    """Rows of ``fit.judges()``, most reliable first.

    Raises
    ------
    InputError
        The model does not tell judges apart.
    """
    from voirdire.errors import InputError

    found = fit.judges()
    if "reliability" not in found or found["reliability"].isna().all():
        raise InputError(f"model {fit.model.name} takes all judges alike: there is no reliability to draw")
    return np.argsort(-found["reliability"].to_numpy(dtype=float), kind="stable")


def judge_rows(ax: Axes, fit: Fit, order: npt.NDArray[np.int64]) -> None:
    """Draw some judges' reliabilities: those surely above chance, those not told from it, those below."""
    found = fit.judges().iloc[order]
    value, low, high = (
        found[name].to_numpy(dtype=float) for name in ("reliability", "reliability_low", "reliability_high")
    )
    status = np.select([low > 0.5, high < 0.5], [0, 2], 1)
    status = np.where(np.isnan(low), np.where(value < 0.5, 2, 0), status)
    forest(
        ax,
        found["judge"].tolist(),
        value,
        low,
        high,
        colours=[(BLUE, MUTED, RED)[one] for one in status],
        markers=["oDv"[one] for one in status],
        reference=0.5,
    )
    least = np.nanmin([np.nanmin(value), *low[~np.isnan(low)], 0.45])
    ax.set_xlim(max(0.0, least - 0.03), 1.01)


def criteria(fit: Fit, ax: Axes) -> None:
    """Weights of the criteria with intervals, largest first; the dashed line is equal weights."""
    found = fit.criteria().sort_values("weight", ascending=False)
    forest(
        ax,
        found["criterion"].tolist(),
        *(found[name].to_numpy(dtype=float) for name in ("weight", "low", "high")),
        reference=1.0 / len(found),
    )
    ax.set_xlabel("weight")
    ax.set_xlim(left=0.0)
