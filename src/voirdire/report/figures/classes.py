"""Figures of fits of labels: classes of the least certain items, and confusion matrices of the judges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.report.figure_style import (
    GRID,
    colour_key,
    name_label,
    name_rows,
    one_colour_map,
    write_above,
    write_cells,
)
from voirdire.report.figures.forest import reliability_order
from voirdire.report.figures.heat import name_columns
from voirdire.report.figures.rows import ROW_HEIGHT

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from voirdire.kinds.fit import Fit
    from voirdire.kinds.labels.problem import LabelsProblem

MAX_ITEMS = 40  # items shown
_MAX_NUMBERED_CELLS = 300  # maximum number of cells with numbers in them
_COLOUR_SCALE = ((0.0, 0.5, 1.0), ("0", "0.5", "1"), "probability")


def labels_problem(fit: Fit) -> LabelsProblem:
    """Return the problem of a fit of labels.

    Raises
    ------
    InputError
        The fit is of another kind of data.
    """
    problem: LabelsProblem | None = fit.problem.part("labels")
    if problem is None:
        raise InputError(f"this figure is for fits of labels; a fit of {fit.kind.words} has none")
    return problem


def least_certain_items(fit: Fit) -> pd.DataFrame:
    """Return at most 40 items with the least certain class, without items whose class people gave."""
    table: pd.DataFrame = fit.classes()
    return table[~table["known"].astype(bool)].sort_values("probability", kind="stable").head(MAX_ITEMS)


def draw_classes(fit: Fit, ax: Axes) -> None:
    """Draw the probability of every class, for the least certain items."""
    table = least_certain_items(fit)
    problem = labels_problem(fit)
    names = list(problem.labels[: problem.classes])
    probability = table[[f"p_{name}" for name in names]].to_numpy(dtype=float)
    colours = one_colour_map()
    ax.imshow(probability, cmap=colours, vmin=0, vmax=1, aspect="auto", interpolation="none")
    _write_numbers(ax, probability)
    items = table["item"].astype(str)
    if "criterion" in table:
        items = items + " · " + table["criterion"].astype(str)
    name_rows(ax, items.tolist())
    name_columns(ax, names)
    colour_key(ax, colours, *_COLOUR_SCALE)


def draw_confusion(fit: Fit, ax: Axes) -> None:
    """Draw the probability of every label given every class, one row per judge, the most reliable on top."""
    problem = labels_problem(fit)
    judges, labels, size = list(problem.judges), list(problem.labels), problem.classes
    values = fit.confusion()["probability"].to_numpy(dtype=float).reshape(len(judges), size * len(labels))
    order = reliability_order(fit)
    colours = one_colour_map()
    ax.imshow(values[order], cmap=colours, vmin=0, vmax=1, aspect="auto", interpolation="none")
    _write_numbers(ax, values[order])
    name_rows(ax, [judges[row] for row in order])
    name_columns(ax, labels * size)
    for block in range(1, size):
        ax.axvline(block * len(labels) - 0.5, color=GRID, linewidth=2.5)
    for block in range(size):
        middle = block * len(labels) + 0.5 * (len(labels) - 1)
        head = f"it is {name_label(labels[block], max(4, min(14, 6 * len(labels) - 6)))}"
        write_above(ax, head, middle, ha="center", fontsize=8.5)
    ax.set_xlabel("label given")


def classes_size(fit: Fit) -> tuple[float, float]:
    """Return width and height of :func:`draw_classes` in inches."""
    return 2.4 + 0.75 * labels_problem(fit).classes, 1.4 + ROW_HEIGHT * len(least_certain_items(fit))


def confusion_size(fit: Fit) -> tuple[float, float]:
    """Return width and height of :func:`draw_confusion` in inches."""
    problem = labels_problem(fit)
    width = 2.2 + 0.42 * problem.classes * len(problem.labels)
    return min(8.0, width), 1.5 + min(ROW_HEIGHT * len(problem.judges), 14.0)


def _write_numbers(ax: Axes, values: Any) -> None:
    if values.size <= _MAX_NUMBERED_CELLS:
        write_cells(ax, "{:.2f}", values, values)
