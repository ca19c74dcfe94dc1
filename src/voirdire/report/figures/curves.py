"""Curves: robustness against the number of judges added, and a measure of a judge over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.report.figure_style import (
    MARKERS,
    MUTED,
    SERIES_COLOURS,
    empty_figure,
    figure_of_axes,
    figure_style,
    name_label,
    name_rows,
    single_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = Mapping[str, Any]

_NORMAL_QUANTILE = 1.96


def draw_robustness(rows: Sequence[Row]) -> Figure:
    """Draw one panel per kind of added judge and design, one line per model: mean and its 95% Monte Carlo band.

    Parameters
    ----------
    rows : sequence of mapping
        Rows of one measure of a recovery study: added, count, design, model, mean, mcse.
    """
    from matplotlib.ticker import MaxNLocator

    kinds = [kind for kind in dict.fromkeys(row["added"] for row in rows) if kind != "none"]
    designs = list(dict.fromkeys(row["design"] for row in rows))
    models = list(dict.fromkeys(row["model"] for row in rows))
    with figure_style():
        figure = empty_figure(max(4.5, 2.35 * len(kinds)), 0.9 + 2.1 * len(designs))
        panels = figure.subplots(len(designs), len(kinds), sharex=True, sharey=True, squeeze=False)
        for (line, column), ax in np.ndenumerate(panels):
            panel_rows = [
                row for row in rows if row["design"] == designs[line] and row["added"] in ("none", kinds[column])
            ]
            _draw_curves(ax, panel_rows, models)
            if line == 0:
                ax.set_title(name_label(kinds[column]), fontsize=9, parse_math=False)
            if line == len(designs) - 1:
                ax.set_xlabel("judges added")
                ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
            if column == 0:
                ax.set_ylabel(name_label(designs[line]), parse_math=False)
        handles = []
        for k, width in enumerate(_line_widths(len(models))):
            line_style = {"color": SERIES_COLOURS[k % 6], "linewidth": width, "linestyle": _line_style(k)}
            handles += panels[0, 0].plot([], [], MARKERS[k % 6], markersize=4, **line_style)
        texts = [name_label(model) for model in models]
        figure.legend(handles, texts, loc="outside upper left", ncols=min(4, len(models)))
    return figure


def _draw_curves(ax: Axes, rows: Sequence[Row], models: Sequence[str]) -> None:
    ax.grid()
    for number, (model, width) in enumerate(zip(models, _line_widths(len(models)), strict=True)):
        line = sorted((row for row in rows if row["model"] == model), key=lambda row: row["count"])
        if not line:
            continue
        x, y, error = (np.array([row[key] for row in line], dtype=float) for key in ("count", "mean", "mcse"))
        colour, mark = SERIES_COLOURS[number % 6], MARKERS[number % 6]
        ax.fill_between(
            x, y - _NORMAL_QUANTILE * error, y + _NORMAL_QUANTILE * error, color=colour, alpha=0.2, linewidth=0
        )
        line_style = {"linewidth": width, "linestyle": _line_style(number), "markersize": 2.6 + 0.6 * width}
        ax.plot(x, y, mark, color=colour, markeredgewidth=0, **line_style)


def _line_style(number: int) -> Any:
    return "-" if number % 2 == 0 else (0, (5, 2))


def _line_widths(count: int) -> list[float]:
    """Return decreasing line widths of series: where lines coincide, the first is visible on both sides of the last."""
    return [float(width) for width in np.linspace(3.6 if count > 1 else 1.6, 1.2, count)]


def draw_cells(rows: Sequence[Row], names: Sequence[str], value: str, error: str, reference: float | None) -> Figure:
    """Draw one row per cell of a study: value with its 95% Monte Carlo interval, one mark per series.

    Parameters
    ----------
    rows : sequence of mapping
        Rows of the study with a further column ``series``.
    names : sequence of str
        Name of each row; rows with the same name are on one line.
    value, error : str
        Keys of the value and of its Monte Carlo standard error.
    reference : float or None
        Position of a dashed line.
    """
    lines = list(dict.fromkeys(names))
    series = list(dict.fromkeys(row["series"] for row in rows))
    with single_axes(6.8, 1.1 + 0.22 * len(lines)) as ax:
        ax.grid(axis="x")
        if reference is not None:
            ax.axvline(reference, color=MUTED, linewidth=1.0, linestyle=(0, (4, 3)))
        handles = []
        for number, name_of_series in enumerate(series):
            shift = 0.0 if len(series) == 1 else 0.5 * (number / (len(series) - 1) - 0.5)
            series_rows = [
                (name, row) for name, row in zip(names, rows, strict=True) if row["series"] == name_of_series
            ]
            y = np.array([lines.index(name) + shift for name, _ in series_rows])
            x, e = (np.array([row[key] for _, row in series_rows], dtype=float) for key in (value, error))
            colour = SERIES_COLOURS[number % 6]
            ax.hlines(y, x - _NORMAL_QUANTILE * e, x + _NORMAL_QUANTILE * e, color=colour, linewidth=1.6, alpha=0.75)
            handles += ax.plot(x, y, MARKERS[number % 6], color=colour, markersize=4, markeredgewidth=0)
        name_rows(ax, lines)
        if len(series) > 1:
            texts = [name_label(name_of_series) for name_of_series in series]
            ax.legend(handles, texts, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=min(4, len(series)))
    return figure_of_axes(ax)


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
