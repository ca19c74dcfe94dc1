"""Figures of saved agreement: coefficients with intervals, and a matrix of all pairs of judges.

Grouped bars show one measure in several phases, for example before and after a debate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from voirdire.report.figure_style import (
    MUTED,
    SERIES_COLOURS,
    figure_of_axes,
    name_label,
    name_rows,
    one_colour_map,
    single_axes,
    write_cells,
)
from voirdire.report.figures.forest import draw_forest
from voirdire.report.figures.heat import name_columns
from voirdire.report.figures.rows import rows_height
from voirdire.report.page import shorten_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_HATCHES = ("", "///", "...", "xxx")


def phase_bars(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw one group of bars per set of judges and criterion, one bar per phase, with intervals.

    Parameters
    ----------
    rows : sequence of mapping
        Rows of one measure with the phase as ``level``; rows of differences ("after - before") are left out.
    """
    phases = [level for level in dict.fromkeys(row["level"] for row in rows) if level is not None]
    changes = {f"{after} - {before}" for after in phases for before in phases}
    phases = [level for level in phases if level not in changes]
    keys = list(dict.fromkeys((tuple(row["judges"]), row["criterion"]) for row in rows))
    row_of = {(tuple(row["judges"]), row["criterion"], row["level"]): row for row in rows}
    with single_axes(max(4.5, 1.6 + 0.75 * len(keys)), 3.4) as ax:
        ax.grid(axis="y")
        width = 0.8 / len(phases)
        for number, phase in enumerate(phases):
            position = np.arange(len(keys)) + (number - 0.5 * (len(phases) - 1)) * width
            value, low, high = (
                np.array([row_of.get((*key, phase), {}).get(part) for key in keys], dtype=float)
                for part in ("value", "low", "high")
            )
            colour, hatch = SERIES_COLOURS[number % len(SERIES_COLOURS)], _HATCHES[number % len(_HATCHES)]
            bar_style: dict[str, Any] = {"color": colour, "alpha": 0.8, "hatch": hatch, "edgecolor": "white"}
            ax.bar(position, value, 0.92 * width, label=str(number), **bar_style)
            ax.vlines(position, low, high, color=MUTED, linewidth=1.4)
        names = [_row_name(judges, criterion, keys) for judges, criterion in keys]
        rotation = {"rotation": 35, "ha": "right"} if len(keys) > 3 else {}
        ax.set_xticks(range(len(keys)), names, parse_math=False, **rotation)  # type: ignore[arg-type]
        ax.axhline(0.0, color=MUTED, linewidth=0.8)
        handles = ax.get_legend_handles_labels()[0]
        texts = [name_label(phase) for phase in phases]
        ax.legend(handles, texts, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=len(phases))
    return figure_of_axes(ax)


def _row_name(judges: tuple[str, ...], criterion: Any, keys: Sequence[tuple[tuple[str, ...], Any]]) -> str:
    judge_text = ", ".join(judges) if len(judges) <= 2 else f"{len(judges)} judges"
    several = len({judge_names for judge_names, _ in keys}) > 1
    parts = [judge_text] if several or criterion is None else []
    return name_label(" · ".join([*parts, *([str(criterion)] if criterion is not None else [])]))


Row: TypeAlias = Mapping[str, Any]
RowJudges: TypeAlias = Callable[[Row], Sequence[str]]

MAX_FOREST_ROWS = 60  # rows that a forest shows
_MAX_LETTERS = 40
_MAX_NAMED_JUDGES = 45  # maximum number of judges for names of the columns of a matrix
_MAX_NUMBERED_JUDGES = 15  # maximum number of judges for numbers in the cells


def draw_coefficients(shown: Sequence[Row], rows: Sequence[Row], title: str, row_judges: RowJudges) -> Figure:
    """Draw a forest of values with intervals.

    Parameters
    ----------
    shown : sequence of mapping
        Rows to draw, in this order.
    rows : sequence of mapping
        All rows of the coefficient; rows are named by the columns that differ among them.
    title : str
    row_judges : callable
        Function that returns the judges of a row.
    """
    varying = [key for key in ("criterion", "level") if len({str(row[key]) for row in rows}) > 1]
    judges_differ = len({tuple(row_judges(row)) for row in rows}) > 1 or not varying

    def row_label(row: Row) -> str:
        judges = list(row_judges(row)) if judges_differ else []
        extra = [str(row[key]) for key in varying if row[key] is not None]
        if len(judges) > 3:
            judges = [f"{len(judges)} judges"]
        # each name is shortened by itself, so that the names of two rows remain different
        letters = max(8, _MAX_LETTERS // max(1, len(judges) + len(extra)) - 2)
        if len(", ".join(judges)) + sum(map(len, extra)) + 3 > _MAX_LETTERS:
            judges, extra = ([shorten_name(name, letters) for name in part] for part in (judges, extra))
        return " · ".join([", ".join(judges)] * judges_differ + extra)

    with single_axes(6.0, rows_height(len(shown))) as ax:
        ends = (np.array([row[key] for row in shown], dtype=float) for key in ("value", "low", "high"))
        draw_forest(ax, [row_label(row) for row in shown], *ends, letters=_MAX_LETTERS)
        ax.set_xlabel(title)
    return figure_of_axes(ax)


def pair_matrix(pairs: Sequence[Row], names: Sequence[str]) -> Figure:
    """Draw a symmetric matrix of one value per pair of judges; blank where there is none."""
    size = len(names)
    index = {name: position for position, name in enumerate(names)}
    values = np.full((size, size), np.nan)
    for row in pairs:
        a, b = (index[name] for name in row["judges"])
        values[a, b] = values[b, a] = row["value"]
    low, high = min(0.0, float(np.nanmin(values))), max(1.0, float(np.nanmax(values)))
    side = min(8.0, 1.4 + 0.24 * size)
    with single_axes(side + 1.6, side + 0.9) as ax:
        ax.imshow(values, cmap=one_colour_map(), vmin=low, vmax=high, interpolation="none")
        name_rows(ax, names)
        name_columns(ax, names if size <= _MAX_NAMED_JUDGES else ())
        if size <= _MAX_NUMBERED_JUDGES:
            write_cells(ax, "{:z.2f}", values, (np.nan_to_num(values, nan=low) - low) / (high - low))
    return figure_of_axes(ax)
