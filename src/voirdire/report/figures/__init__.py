"""Figures of a fit, for ``fit.plot(kind, ax=None)`` and for its page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError
from voirdire.report.figure_style import figure_style
from voirdire.report.figures import classes, forest, heat, predictive
from voirdire.report.figures.rows import FIGURE_WIDTH, RowFigure, rows_height
from voirdire.report.pair_agreement import observed_over_expected
from voirdire.report.ppc import answers_of_kind
from voirdire.settings import nearest_word

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from voirdire.kinds.fit import Fit


LEGEND_HEIGHT = 0.3  # inches above the rows for a legend


@dataclass(frozen=True)
class FigureKind:
    """Function that draws a figure on an axes, and the size (width, height) of the figure in inches.

    ``check`` raises an `InputError` with the reason where there is nothing to draw. ``rows`` is set for figures with
    one row per name, which a page draws in parts.
    """

    draw: Callable[[Fit, Axes], None]
    size: Callable[[Fit], tuple[float, float]]
    check: Callable[[Fit], object]
    rows: Callable[[Fit], RowFigure] | None = None


def _item_count(fit: Fit) -> int:
    return len(fit.ranking())


def _prediction_row_count(fit: Fit) -> int:
    return _judge_row_count(fit) if fit.problem.part("votes") is None else _item_count(fit)


def _judge_count(fit: Fit) -> int:
    return len(fit.judges())


def _judge_row_count(fit: Fit) -> int:
    return min(_judge_count(fit), predictive.MAX_JUDGES)


def _row_figure_kind(
    rows: Callable[[Fit], RowFigure],
    count: Callable[[Fit], int],
    check: Callable[[Fit], object] = lambda fit: None,
    extra: float = 0.0,
) -> FigureKind:
    def draw_rows(fit: Fit, ax: Axes) -> None:
        rows(fit).draw(ax, slice(None))

    return FigureKind(draw_rows, lambda fit: (6.4, extra + rows_height(count(fit))), check, rows)


def _square_size(count: int) -> tuple[float, float]:
    side = min(8.0, 1.2 + 0.17 * count)
    return side + 1.8, side + 1.0


def _check_rank_probability(fit: Fit) -> None:
    fit.ranking()
    if fit.posterior.values is None:
        raise InputError("ranks have probabilities only where there are draws; fit with laplace or nuts")


def _check_position(fit: Fit) -> None:
    forest.position_order(fit)
    if order := fit.kind.fixed_order(fit.problem):
        raise InputError(f"position bias cannot be estimated from these data: {order}")


def _check_strengths(fit: Fit) -> None:
    if len(fit.criteria()) < 2:
        raise InputError("there is only one criterion: its strengths are the ranking")


def _check_agreement(fit: Fit) -> None:
    if len(fit.problem.judges) < 2:
        raise InputError("there is one judge, so nobody to agree with")
    ratio = observed_over_expected(fit).log_ratio
    if np.isnan(ratio[~np.eye(len(ratio), dtype=bool)]).all():
        raise InputError("no two judges voted often enough on the same comparisons")


def _check_trace(fit: Fit) -> None:
    if fit.posterior.draws is None or len(fit.posterior.draws) < 2:
        raise InputError(f"method {fit.method!r} has no chains to trace; fit with method='nuts'")


def _check_mirror(fit: Fit) -> None:
    if not fit.problem.density.has_mirror:
        raise InputError(f"model {fit.model.name} has no mirrored twin: its orientation is certain")
    if fit.posterior.draws is None:
        raise InputError(f"method {fit.method!r} has no draws; fit with method='laplace' or 'nuts'")


def _check_classes(fit: Fit) -> None:
    if fit.classes()["known"].all():
        raise InputError("the class of every item is known")


def _check_confusion(fit: Fit) -> None:
    if not len(fit.confusion()):
        raise InputError(f"model {fit.model.name} has no classes behind the labels: judges have no matrices")
    forest.reliability_order(fit)


def _check_shares(fit: Fit) -> None:
    if not len(fit.shares()):
        raise InputError(f"model {fit.model.name} has no classes behind the labels: they have no shares")


_SCORES: dict[str, Any] = {"answer_kind": "scores"}
FIGURE_KINDS: dict[str, FigureKind] = {
    "ranking": _row_figure_kind(forest.ranking_rows, _item_count),
    "judges": _row_figure_kind(forest.judge_rows, _judge_count, forest.reliability_order),
    "position": _row_figure_kind(forest.position_rows, _judge_count, _check_position, LEGEND_HEIGHT),
    "criteria": _row_figure_kind(forest.criterion_rows, lambda fit: len(fit.criteria())),
    "strengths": FigureKind(heat.draw_strengths, heat.strengths_size, _check_strengths),
    "rank-probability": FigureKind(heat.draw_rank_probability, heat.ranks_size, _check_rank_probability),
    "agreement": FigureKind(heat.draw_agreement, lambda fit: _square_size(_judge_count(fit)), _check_agreement),
    "calibration": FigureKind(predictive.draw_calibration, lambda fit: (4.2, 4.2), answers_of_kind),
    "ppc": _row_figure_kind(predictive.predictive_rows, _prediction_row_count, answers_of_kind),
    "calibration-scores": FigureKind(
        partial(predictive.draw_calibration, **_SCORES), lambda fit: (4.2, 4.2), partial(answers_of_kind, **_SCORES)
    ),
    "ppc-scores": _row_figure_kind(
        partial(predictive.predictive_rows, **_SCORES), _judge_row_count, partial(answers_of_kind, **_SCORES)
    ),
    "trace": FigureKind(predictive.draw_trace, lambda fit: (FIGURE_WIDTH, 2.6), _check_trace),
    "mirror": FigureKind(predictive.draw_orientation_histogram, lambda fit: (FIGURE_WIDTH, 2.2), _check_mirror),
    "severity": _row_figure_kind(forest.severity_rows, _judge_count, forest.severity_rows),
    "classes": FigureKind(classes.draw_classes, classes.classes_size, _check_classes),
    "confusion": FigureKind(classes.draw_confusion, classes.confusion_size, _check_confusion),
    "shares": _row_figure_kind(forest.share_rows, lambda fit: len(fit.shares()), _check_shares),
    "systems": _row_figure_kind(forest.system_rows, lambda fit: len(fit.systems()), forest.system_rows),
}


def _canonical_figure_name(fit: Fit, kind: str) -> str:
    """Return voirdire's name of a figure; ``kind`` may be ArviZ's name of it ("forest", "plot_trace")."""
    name = kind.removeprefix("plot_")
    if name == "forest":
        return "ranking" if hasattr(fit, "ranking") else "judges"
    name = "calibration" if name == "ppc_pava" else name
    return name if name in FIGURE_KINDS else kind


def plot(fit: Fit, kind: str, ax: Axes | None = None) -> Axes:
    """Draw one figure of a fit.

    Parameters
    ----------
    fit : Fit
    kind : str
        One of "ranking", "judges" (reliability), "position", "criteria" (weights), "strengths" (items by criteria),
        "rank-probability", "agreement" (judges by judges, observed over expected), "calibration", "ppc", "trace" and
        "mirror"; of labels "classes" (of the items that are least sure), "confusion", "shares" (of the classes),
        "judges", "calibration", "ppc", "trace" and "mirror"; of scores "severity" of the judges and those of votes;
        "systems" for scores or labels of systems over contexts. For votes and scores together, "calibration" and "ppc"
        are about the votes, "calibration-scores" and "ppc-scores" about the scores. ArviZ's names are accepted, too,
        with or without "plot_": "forest" (the ranking; of labels the judges), "trace", "ppc", "ppc_pava" (calibration).
    ax : matplotlib Axes, optional
        Axes to draw on; by default a new figure of pyplot, with a size that suits the number of rows.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        The kind is unknown, or this fit has no such figure (a trace of a Laplace fit, for example).

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 3, "second": "y", "winner": ["x", "x", "y"]})
    >>> ax = plot(fit(table, model="bradley-terry"), "ranking")
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['x', 'y']
    >>> import matplotlib.pyplot
    >>> matplotlib.pyplot.close(ax.figure)
    """
    kind = _canonical_figure_name(fit, kind)
    if kind not in FIGURE_KINDS:
        raise InputError(f"kind {kind!r}{nearest_word(kind, FIGURE_KINDS)} is none of {', '.join(FIGURE_KINDS)}")
    FIGURE_KINDS[kind].check(fit)
    if ax is None:
        import matplotlib.pyplot as plt

        # before figure_style: a notebook sets its own settings with the first figure, and figure_style would undo them
        figure = plt.figure(figsize=FIGURE_KINDS[kind].size(fit), layout="constrained", facecolor="white")
    with figure_style():
        axes = figure.add_subplot() if ax is None else ax
        FIGURE_KINDS[kind].draw(fit, axes)
    return axes
