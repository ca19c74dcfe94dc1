"""Forests: one row per name, a mark at the value and a line over its interval."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from voirdire.errors import InputError
from voirdire.report.figure_style import BLUE, GRID, LETTERS, MUTED, RED, name_rows
from voirdire.report.figures.rows import Rows, axis_limits

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from voirdire.kinds.fit import Fit

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
    letters: int = LETTERS,
) -> None:
    """Draw values with intervals, the first name on top.

    Parameters
    ----------
    value, low, high : array, shape (rows,)
        NaN where there is none.
    colours, markers : sequence of str, optional
        One per row.
    bands : sequence of bool
        Rows that stand on a band.
    reference : float, optional
        Where a dashed line stands.
    letters : int
        Longest name before its middle is left out.
    """
    from matplotlib.ticker import MaxNLocator

    rows = np.arange(len(names))
    for row in np.flatnonzero(bands):
        ax.axhspan(row - 0.5, row + 0.5, color=GRID, alpha=0.55, linewidth=0)
    ax.grid(axis="x")
    if reference is not None:
        ax.axvline(reference, color=MUTED, linewidth=1.0, linestyle=(0, (4, 3)))
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


def ranking_rows(fit: Fit) -> Rows:
    """Scores of the items with intervals, best first; those that share the first place stand on a band."""
    return _score_rows(fit, fit.ranking(), "item")


def system_rows(fit: Fit) -> Rows:
    """Scores of systems over contexts, likewise.

    Raises
    ------
    InputError
        The fit is not about systems, or it is not known of labels which is better.
    """
    found = fit.systems()
    if "score" not in found:
        raise InputError(
            "systems have no scores: it is not known which class is better; name it (positive=, --positive)"
        )
    return _score_rows(fit, found, "system")


def _score_rows(fit: Fit, found: pd.DataFrame, name: str) -> Rows:
    columns = _value_columns(found, "score", "low", "high")
    first = () if fit.decision is None else fit.decision.first
    title = f"score ({fit.kind.unit(fit.problem)})"
    bands = [one in first for one in found[name]]
    return _forest_rows(found[name], columns, axis_limits(*columns), title, bands=bands)


def _forest_rows(
    names: Iterable[object],
    columns: tuple[Floats, ...],
    ends: tuple[float, float],
    title: str,
    reference: float | None = None,
    **marks: Sequence[Any],
) -> Rows:
    """Rows of a forest: ``marks`` are arguments of :func:`draw_forest` with one entry a row."""
    listed = list(names)

    def draw_rows(ax: Axes, part: slice) -> None:
        shown: dict[str, Any] = {key: value[part] for key, value in marks.items()}
        draw_forest(ax, listed[part], *(one[part] for one in columns), reference=reference, **shown)
        ax.set_xlim(ends)
        ax.set_xlabel(title)

    return Rows(len(listed), draw_rows)


def judge_rows(fit: Fit) -> Rows:
    """Reliability of the judges with intervals, most reliable first; the dashed line is chance.

    Judges who are surely better than chance, not told from it, and worse have colours and marks of their own.
    """
    found = fit.judges().iloc[reliability_order(fit)]
    value, low, high = _value_columns(found, "reliability", "reliability_low", "reliability_high")
    line = chance_reliability(fit)
    status = np.select([low > line, high < line], [0, 2], 1)
    status = np.where(np.isnan(low), np.where(value < line, 2, 0), status)
    least = float(np.nanmin([*value, *low[~np.isnan(low)], line - 0.05]))

    colours = [(BLUE, MUTED, RED)[one] for one in status]
    markers = ["oDv"[one] for one in status]
    ends = (max(0.0, least - 0.03), 1.01)
    columns = (value, low, high)
    return _forest_rows(found["judge"], columns, ends, "reliability", line, colours=colours, markers=markers)


def severity_rows(fit: Fit) -> Rows:
    """Severity of the judges with intervals, the most severe first; the dashed line is the panel's middle.

    Raises
    ------
    InputError
        The model knows no severity.
    """
    found = fit.judges()
    if "severity" not in found or found["severity"].isna().all():
        raise InputError(f"model {fit.model.name} knows no severity; models of scores do")
    found = found.sort_values("severity", ascending=False, kind="stable")
    columns = _value_columns(found, "severity", "severity_low", "severity_high")
    title = f"severity ({fit.kind.unit(fit.problem)})"
    return _forest_rows(found["judge"], columns, axis_limits(*columns), title, 0.0)


def chance_reliability(fit: Fit) -> float:
    """Reliability of a judge whose answers say nothing: a half, or one over the number of classes."""
    return 1.0 / getattr(fit.problem, "classes", 2)


def reliability_order(fit: Fit) -> npt.NDArray[np.int64]:
    """Rows of ``fit.judges()``, most reliable first.

    Raises
    ------
    InputError
        The model does not tell judges apart.
    """
    found = fit.judges()
    if "reliability" not in found or found["reliability"].isna().all():
        raise InputError(f"model {fit.model.name} takes all judges alike: there is no reliability to draw")
    return np.argsort(-found["reliability"].to_numpy(dtype=float), kind="stable")


def criterion_rows(fit: Fit) -> Rows:
    """Weights of the criteria with intervals, largest first; the dashed line is equal weights."""
    found = fit.criteria().sort_values("weight", ascending=False)
    return _probability_rows(found, "criterion", "weight", "weight", reference=1.0 / len(found))


def share_rows(fit: Fit) -> Rows:
    """Shares of the classes with intervals, by criterion."""
    found = fit.shares()
    several = len(set(found["criterion"])) > 1
    named = [f"{c} · {k}" if several else k for c, k in zip(found["criterion"], found["class"], strict=True)]
    return _probability_rows(found.assign(named=named), "named", "share", "share of the items")


def _probability_rows(
    found: pd.DataFrame, name: str, value: str, title: str, reference: float | None = None
) -> Rows:
    """A forest of probabilities from zero on."""
    columns = _value_columns(found, value, "low", "high")
    return _forest_rows(found[name], columns, (0.0, axis_limits(*columns)[1]), title, reference)


def _value_columns(found: pd.DataFrame, *names: str) -> tuple[Floats, ...]:
    return tuple(found[name].to_numpy(dtype=float) for name in names)
