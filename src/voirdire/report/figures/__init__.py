"""Figures of a fit: ``fit.plot(kind, ax=None)``, and the same ones on the page."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from voirdire.errors import InputError
from voirdire.report.figures import forest, heat, position, predictive, sampler
from voirdire.report.figures.style import look
from voirdire.report.possible import check

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from voirdire.result import Fit


@dataclass(frozen=True)
class Kind:
    """What draws a figure on an axes, and how large the figure is by itself (inches)."""

    draw: Callable[[Fit, Axes], None]
    size: Callable[[Fit], tuple[float, float]]


def _items(fit: Fit) -> int:
    return len(fit.ranking())


def _rows(count: int) -> float:
    return 0.9 + forest.ROW * count


KINDS: dict[str, Kind] = {
    "ranking": Kind(forest.ranking, lambda fit: (6.4, _rows(_items(fit)))),
    "judges": Kind(forest.judges, lambda fit: (6.4, _rows(len(fit.judges())))),
    "position": Kind(position.position, lambda fit: (6.4, 0.3 + _rows(len(fit.judges())))),
    "criteria": Kind(forest.criteria, lambda fit: (6.4, _rows(len(fit.criteria())))),
    "strengths": Kind(
        heat.strengths,
        lambda fit: (max(4.5, 2.6 + 0.45 * len(fit.criteria())), 1.4 + min(0.19 * _items(fit), 11.0)),
    ),
    "rank-probability": Kind(
        heat.rank_probability,
        lambda fit: (7.0 if _items(fit) > 12 else 5.0, 1.2 + min(max(0.15 * _items(fit), 1.0), 10.0)),
    ),
    "agreement": Kind(heat.agreement, lambda fit: _square(len(fit.judges()))),
    "calibration": Kind(predictive.calibration, lambda fit: (4.2, 4.2)),
    "ppc": Kind(predictive.ppc, lambda fit: (6.4, _rows(_items(fit)))),
    "trace": Kind(sampler.trace, lambda fit: (6.4, 2.6)),
    "mirror": Kind(sampler.mirror, lambda fit: (6.4, 2.2)),
}


def _square(count: int) -> tuple[float, float]:
    side = min(8.0, 1.2 + 0.17 * count)
    return side + 1.8, side + 1.0


def plot(fit: Fit, kind: str, ax: Axes | None = None) -> Axes:
    """Draw one figure of a fit.

    Parameters
    ----------
    fit : Fit
    kind : str
        One of "ranking", "judges" (reliability), "position", "criteria" (weights), "strengths" (items by criteria),
        "rank-probability", "agreement" (judges by judges, observed over expected), "calibration", "ppc", "trace" and
        "mirror".
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure of pyplot, of a size that suits the number of rows.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        An unknown kind, or one that this fit has nothing for (a trace of a Laplace fit, say).

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit import fit
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 3, "second": "y", "winner": ["x", "x", "y"]})
    >>> ax = plot(fit(table, model="bradley-terry"), "ranking")
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['x', 'y']
    >>> import matplotlib.pyplot
    >>> matplotlib.pyplot.close(ax.figure)
    """
    if kind not in KINDS:
        near = difflib.get_close_matches(str(kind), KINDS, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise InputError(f"kind {kind!r}{hint} is none of {', '.join(KINDS)}")
    check(fit, kind)
    with look():
        if ax is not None:
            KINDS[kind].draw(fit, ax)
            return ax
        import matplotlib.pyplot as plt

        figure, made = plt.subplots(figsize=KINDS[kind].size(fit), layout="constrained")
        KINDS[kind].draw(fit, made)
        figure.set_facecolor("white")
    return made
