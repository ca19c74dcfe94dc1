"""Bars side by side: one measure in several phases, as before and after a debate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.report.figures.style import MUTED, SERIES, empty_figure, figure_style, name_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HATCHES = ("", "///", "...", "xxx")


def phase_bars(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """One group of bars per judges and criterion, one bar per phase, with intervals.

    Parameters
    ----------
    rows : sequence of mapping
        Rows of one measure whose ``level`` is the phase; rows of differences ("after - before") are left out.
    """
    phases = [level for level in dict.fromkeys(row["level"] for row in rows) if level is not None]
    changes = {f"{after} - {before}" for after in phases for before in phases}
    phases = [level for level in phases if level not in changes]
    keys = list(dict.fromkeys((tuple(row["judges"]), row["criterion"]) for row in rows))
    at = {(tuple(row["judges"]), row["criterion"], row["level"]): row for row in rows}
    with figure_style():
        figure = empty_figure(max(4.5, 1.6 + 0.75 * len(keys)), 3.4)
        ax = figure.subplots()
        ax.grid(axis="y")
        width = 0.8 / len(phases)
        for number, phase in enumerate(phases):
            place = np.arange(len(keys)) + (number - 0.5 * (len(phases) - 1)) * width
            value, low, high = (
                np.array([_row_value(at.get((*key, phase)), part) for key in keys])
                for part in ("value", "low", "high")
            )
            colour, hatch = SERIES[number % len(SERIES)], _HATCHES[number % len(_HATCHES)]
            ax.bar(
                place,
                value,
                0.92 * width,
                color=colour,
                alpha=0.8,
                hatch=hatch,
                edgecolor="white",
                label=str(number),
            )
            ax.vlines(place, low, high, color=MUTED, linewidth=1.4)
        names = [_row_name(judges, criterion, keys) for judges, criterion in keys]
        turned = {"rotation": 35, "ha": "right"} if len(keys) > 3 else {}
        ax.set_xticks(range(len(keys)), names, parse_math=False, **turned)  # type: ignore[arg-type]
        ax.axhline(0.0, color=MUTED, linewidth=0.8)
        handles = ax.get_legend_handles_labels()[0]
        texts = [name_label(phase) for phase in phases]
        ax.legend(handles, texts, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=len(phases))
    return figure


def _row_value(row: Mapping[str, Any] | None, part: str) -> float:
    return float("nan") if row is None or row[part] is None else float(row[part])


def _row_name(judges: tuple[str, ...], criterion: Any, keys: Sequence[tuple[tuple[str, ...], Any]]) -> str:
    who = ", ".join(judges) if len(judges) <= 2 else f"{len(judges)} judges"
    several = len({one for one, _ in keys}) > 1
    parts = [who] if several or criterion is None else []
    return name_label(" · ".join([*parts, *([str(criterion)] if criterion is not None else [])]))
