"""Forest plots: one row per name, a mark at the value and a line over its interval; and position bias."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from voirdire.errors import InputError
from voirdire.report.figure_style import BLUE, GRID, MAX_LETTERS, MUTED, ORANGE, RED, name_rows
from voirdire.report.figures.rows import RowFigure, axis_limits

if TYPE_CHECKING:
    import pandas as pd
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


Floats = npt.NDArray[np.float64]


def draw_forest(
    ax: Axes,
    names: Sequence[object],
    value: Floats,
    low: Floats,
    high: Floats,
    *,
    colours: Sequence[str] | None = None,
    markers: Sequence[str] | None = None,
    bands: Sequence[bool] = (),
    reference: float | None = None,
    letters: int = MAX_LETTERS,
) -> None:
    """Draw values with intervals, the first name on top.

    Parameters
    ----------
    value, low, high : array, shape (rows,)
        Values and ends of their intervals; NaN where there is none.
    colours, markers : sequence of str, optional
        One per row.
    bands : sequence of bool
        True for rows on a grey band.
    reference : float, optional
        Position of a dashed line.
    letters : int
        Longest name in letters; longer ones are shortened in the middle.
    """
    from matplotlib.ticker import MaxNLocator

    rows = np.arange(len(names))
    for row in np.flatnonzero(bands):
        ax.axhspan(row - 0.5, row + 0.5, color=GRID, alpha=0.55, linewidth=0)
    ax.grid(axis="x")
    if reference is not None:
        ax.axvline(reference, color=MUTED, linewidth=1.0, linestyle=(0, (4, 3)))
    row_colours = [BLUE] * len(names) if colours is None else list(colours)
    marks = ["o"] * len(names) if markers is None else list(markers)
    size = 4.6 if len(names) <= 80 else 3.6
    for colour, mark in dict.fromkeys(zip(row_colours, marks, strict=True)):
        in_style = np.array([(c, m) == (colour, mark) for c, m in zip(row_colours, marks, strict=True)])
        with_interval = in_style & ~np.isnan(low)
        ax.hlines(rows[with_interval], low[with_interval], high[with_interval], color=colour, linewidth=1.6, alpha=0.75)
        ax.plot(value[in_style], rows[in_style], mark, color=colour, markersize=size, markeredgewidth=0)
    name_rows(ax, names, letters)
    ax.margins(x=0.03)
    ax.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))


def ranking_rows(fit: Fit) -> RowFigure:
    """Make rows of scores of the items with intervals, best first; items that share the first place are on a band."""
    return _score_rows(fit, fit.ranking(), "item")


def system_rows(fit: Fit) -> RowFigure:
    """Make rows of scores of systems over contexts with intervals, best first.

    Raises
    ------
    InputError
        The fit is not about systems, or it is one of labels and the better class is not known.
    """
    systems = fit.systems()
    if "score" not in systems:
        raise InputError(
            "systems have no scores: it is not known which class is better; name it (positive=, --positive)"
        )
    return _score_rows(fit, systems, "system")


def _score_rows(fit: Fit, table: pd.DataFrame, name: str) -> RowFigure:
    columns = _value_columns(table, "score", "low", "high")
    leaders = () if fit.decision is None else fit.decision.first
    title = f"score ({fit.kind.unit(fit.problem)})"
    bands = [item in leaders for item in table[name]]
    return _forest_rows(table[name], columns, axis_limits(*columns), title, bands=bands)


def _forest_rows(
    names: Iterable[object],
    columns: tuple[Floats, ...],
    ends: tuple[float, float],
    title: str,
    reference: float | None = None,
    **marks: Sequence[Any],
) -> RowFigure:
    """Make rows of a forest: ``marks`` are arguments of :func:`draw_forest` with one entry per row."""
    row_names = list(names)

    def draw_rows(ax: Axes, part: slice) -> None:
        shown: dict[str, Any] = {key: value[part] for key, value in marks.items()}
        draw_forest(ax, row_names[part], *(column[part] for column in columns), reference=reference, **shown)
        ax.set_xlim(ends)
        ax.set_xlabel(title)

    return RowFigure(len(row_names), draw_rows)


def judge_rows(fit: Fit) -> RowFigure:
    """Make rows of the reliability of the judges with intervals, most reliable first; the dashed line is chance.

    Judges whose interval is above, around or below chance have different colours and marks.
    """
    judges = fit.judges().iloc[reliability_order(fit)]
    value, low, high = _value_columns(judges, "reliability", "reliability_low", "reliability_high")
    chance = chance_reliability(fit)
    status = np.select([low > chance, high < chance], [0, 2], 1)
    status = np.where(np.isnan(low), np.where(value < chance, 2, 0), status)
    lowest = float(np.nanmin([*value, *low[~np.isnan(low)], chance - 0.05]))

    colours = [(BLUE, MUTED, RED)[code] for code in status]
    markers = ["oDv"[code] for code in status]
    ends = (max(0.0, lowest - 0.03), 1.01)
    columns = (value, low, high)
    return _forest_rows(judges["judge"], columns, ends, "reliability", chance, colours=colours, markers=markers)


def severity_rows(fit: Fit) -> RowFigure:
    """Make rows of the severity of the judges with intervals, the most severe first; the dashed line is at zero.

    Raises
    ------
    InputError
        The model has no severity.
    """
    judges = fit.judges()
    if "severity" not in judges or judges["severity"].isna().all():
        raise InputError(f"model {fit.model.name} knows no severity; models of scores do")
    judges = judges.sort_values("severity", ascending=False, kind="stable")
    columns = _value_columns(judges, "severity", "severity_low", "severity_high")
    title = f"severity ({fit.kind.unit(fit.problem)})"
    return _forest_rows(judges["judge"], columns, axis_limits(*columns), title, 0.0)


def chance_reliability(fit: Fit) -> float:
    """Return the reliability of a judge who guesses: one half, or one over the number of classes."""
    return 1.0 / getattr(fit.problem, "classes", 2)


def reliability_order(fit: Fit) -> npt.NDArray[np.int64]:
    """Return the order of the rows of ``fit.judges()``, most reliable first; shape (judges,).

    Raises
    ------
    InputError
        The model has no reliability.
    """
    judges = fit.judges()
    if "reliability" not in judges or judges["reliability"].isna().all():
        raise InputError(f"model {fit.model.name} takes all judges alike: there is no reliability to draw")
    return np.argsort(-judges["reliability"].to_numpy(dtype=float), kind="stable")


def criterion_rows(fit: Fit) -> RowFigure:
    """Make rows of the weights of the criteria with intervals, largest first; the dashed line is equal weights."""
    criteria = fit.criteria().sort_values("weight", ascending=False)
    return _probability_rows(criteria, "criterion", "weight", "weight", reference=1.0 / len(criteria))


def share_rows(fit: Fit) -> RowFigure:
    """Make rows of the shares of the classes with intervals, by criterion."""
    shares = fit.shares()
    several = len(set(shares["criterion"])) > 1
    row_names = [f"{c} · {k}" if several else k for c, k in zip(shares["criterion"], shares["class"], strict=True)]
    return _probability_rows(shares.assign(named=row_names), "named", "share", "share of the items")


def _probability_rows(
    table: pd.DataFrame, name: str, value: str, title: str, reference: float | None = None
) -> RowFigure:
    """Make a forest of probabilities on an axis that begins at zero."""
    columns = _value_columns(table, value, "low", "high")
    return _forest_rows(table[name], columns, (0.0, axis_limits(*columns)[1]), title, reference)


def _value_columns(table: pd.DataFrame, *names: str) -> tuple[Floats, ...]:
    return tuple(table[name].to_numpy(dtype=float) for name in names)
