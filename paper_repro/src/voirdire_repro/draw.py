"""Drawing of published figures: bars, points and lines, with the source of their numbers."""

from __future__ import annotations

import csv
import runpy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire.errors import InputError
from voirdire_repro.claims import System
from voirdire_repro.tables import Table
from voirdire_repro.verdicts import CURVES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colours of Okabe and Ito, which colour-blind readers can distinguish.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")


def figures(system: System, folder: Path, results: Path | None = None) -> list[Path]:
    """Draw a paper's figures into a folder by ``draw`` of its ``reproduce.py``; return the sorted paths.

    ``results`` is the folder that ``voirdire repro --run`` has written, for figures with results of our runs.

    Raises
    ------
    InputError
        The paper's folder has no ``reproduce.py``.
    """
    program = system.folder / "reproduce.py"
    if not program.is_file():
        raise InputError(f"{system.folder}: there is no reproduce.py that draws figures of {system.paper}")
    runpy.run_path(str(program))["draw"](system, folder, results)
    return sorted(folder.glob(f"{system.system}-*.png"))


def curve(system: System, claim: str, results: Path | None) -> dict[int, float]:
    """Return values of a claim in one of our runs, by number of iterations or runs; empty if there are none."""
    for path in [] if results is None else sorted((results / system.system).glob(f"*/{CURVES}")):
        with path.open(encoding="utf-8", newline="") as file:
            own = {int(r["tried"]): float(r["value"]) for r in csv.DictReader(file) if r["claim"] == claim}
        if own:
            return own
    return {}


def canvas(rows: int = 1, columns: int = 1, width: float = 7.0, height: float = 3.6) -> tuple[Figure, list[Axes]]:
    """Make an empty figure (size in inches) without a display, and return it with its axes, row by row."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False)
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=7)
    return figure, list(axes.flat)


def save(figure: Figure, path: Path, source: str) -> None:
    """Write the picture with the source of its numbers (the paper or our run) below it."""
    figure.supxlabel(source, fontsize=7, color="#555555", wrap=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def grouped_bars(axis: Axes, groups: Sequence[str], series: Mapping[str, Sequence[float | None]], label: str) -> None:
    """Draw bars side by side, one colour per series; without a bar where a series has None for a group."""
    wide = 0.8 / len(series)
    for number, (name, values) in enumerate(series.items()):
        places = [k + (number - (len(series) - 1) / 2) * wide for k in range(len(groups))]
        drawn = [(place, value) for place, value in zip(places, values, strict=True) if value is not None]
        axis.bar(
            [place for place, _ in drawn],
            [value for _, value in drawn],
            wide,
            label=name,
            color=COLOURS[number % len(COLOURS)],
        )
    axis.set_xticks(range(len(groups)), groups, rotation=25, ha="right", fontsize=7)
    axis.set_ylabel(label, fontsize=8)
    axis.tick_params(axis="y", labelsize=7)


def points(
    axis: Axes, groups: Sequence[str], series: Mapping[str, Sequence[tuple[float, float, float]]], label: str
) -> None:
    """Draw values with whiskers (value, low, high) side by side, one colour per series."""
    wide = 0.6 / len(series)
    for number, (name, values) in enumerate(series.items()):
        places = [k + (number - (len(series) - 1) / 2) * wide for k in range(len(groups))]
        middle, low, high = zip(*values, strict=True)
        colour = COLOURS[number % len(COLOURS)]
        axis.plot(places, middle, "o", markersize=5, color=colour, label=name)
        axis.vlines(places, low, high, color=colour)
    axis.set_xticks(range(len(groups)), groups, rotation=25, ha="right", fontsize=7)
    axis.set_ylabel(label, fontsize=8)
    axis.grid(axis="y", linewidth=0.3)


def unprinted(axis: Axes, place: float, text: str = "not\nprinted") -> None:
    """Mark a position where the paper shows a point without printing its number."""
    low, high = axis.get_ylim()
    axis.text(place, low + 0.06 * (high - low), text, ha="center", fontsize=7, color="#777777")


def column(table: Table, by: str, order: Sequence[str], **where: object) -> list[float | None]:
    """Return figures of a table in the order of the entries of the column ``by``; None for missing figures.

    Examples
    --------
    >>> from voirdire_repro import load_system
    >>> column(load_system("maple").tables["table1"], "panel", ["60-100", "none"], quantity="targets")
    [0.997, None]
    """
    value_by_entry = {cell.by[by]: cell.value for cell in table.select_cells(where)}
    return [value_by_entry.get(entry) for entry in order]
