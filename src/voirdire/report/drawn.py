"""Figures of a fit as blocks of its page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from voirdire.errors import InputError
from voirdire.report import figures
from voirdire.report.figures import predictive
from voirdire.report.figures.rows import Rows, parts
from voirdire.report.figures.style import drawing, look
from voirdire.report.page import Block, Figure, Text
from voirdire.report.possible import check

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

    from voirdire.result import Fit


def figure(
    fit: Fit, kind: str, title: str, caption: str, rows: Callable[[Fit], Rows] | None = None
) -> Iterator[Block]:
    """A figure where this fit has one, else a remark why there is none.

    Parameters
    ----------
    fit : Fit
    kind, title, caption : str
    rows : callable, optional
        What gives the rows, instead of the kind's own.
    """
    try:
        check(fit, kind)
    except InputError as error:
        yield Text(f"{title}: {'; '.join(error.problems)}.", "note")
        return
    how = figures.KINDS[kind]
    found = rows or how.rows

    def draw() -> Sequence[Drawing]:
        if found is not None:
            return parts(found(fit), figures.LEGEND if kind == "position" else 0.0)
        with look():
            whole = drawing(*how.size(fit))
            how.draw(fit, whole.subplots())
        return [whole]

    yield Figure(kind, title, caption, draw)


def shares_of_wins(fit: Fit) -> Iterator[Block]:
    """The posterior predictive check: how many items lie outside, in words, and the figure."""
    title = "Does the fit give votes like these?"
    try:
        check(fit, "ppc")
    except InputError as error:
        yield Text(f"{title} {'; '.join(error.problems)}.", "note")
        return
    found = predictive.shares(fit)
    outside, size = int(found.outside.sum()), len(found.items)
    yield from figure(
        fit,
        "ppc",
        title,
        f"Share of wins of every item (a tie counts half), and the {100 * fit.prob:g}% range of votes drawn from the "
        f"fit. {outside} of {size} items lie outside their range (orange diamonds), where the range leads one to "
        f"expect about {(1 - fit.prob) * size:.2g}"
        + (": the model misses something about these items." if outside > _many(size, 1 - fit.prob) else "."),
        lambda fit: predictive.ppc(fit, found),
    )


def _many(size: int, share: float) -> float:
    """The number of items outside that chance alone exceeds in one fit of a hundred, taking items as independent."""
    from scipy.stats import binom

    return float(binom.ppf(0.99, size, share))
