"""Figures of a fit as blocks of its page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.report import figures
from voirdire.report.figure_style import empty_figure, figure_style
from voirdire.report.figures import predictive
from voirdire.report.figures.rows import Rows, draw_parts
from voirdire.report.page import Block, Figure, Text

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

    from voirdire.kinds.fit import Fit
    from voirdire.kinds.kind import Kind


def figure_blocks(
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
        figures.check_figure(fit, kind)
    except InputError as error:
        yield Text(f"{title}: {'; '.join(error.problems)}.", "note")
        return
    how = figures.KINDS[kind]
    found = rows or how.rows

    def draw_figure() -> Sequence[Drawing]:
        if found is not None:
            return draw_parts(found(fit), figures.LEGEND if kind == "position" else 0.0)
        with figure_style():
            whole = empty_figure(*how.size(fit))
            how.draw(fit, whole.subplots())
        return [whole]

    yield Figure(kind, title, caption, draw_figure)


def calibration_blocks(fit: Fit) -> Iterator[Block]:
    """Figures that show whether probabilities mean what they say; of votes and scores, one figure for each."""
    for name, kind in _figure_kinds(fit, "calibration"):
        said, about = kind.page_words, "" if kind is fit.kind else f" of {kind.name}"
        more = said.seen.format(method=fit.method) if fit.posterior.draws is None else ""
        yield from figure_blocks(fit, name, f"Are the probabilities{about} right?", said.binned + more)


def predictive_check_blocks(fit: Fit) -> Iterator[Block]:
    """The posterior predictive check: how many shares lie outside, in words, and the figure; one for each table."""
    for name, kind in _figure_kinds(fit, "ppc"):
        yield from _shares_check_blocks(fit, name, kind)


def _figure_kinds(fit: Fit, name: str) -> Iterator[tuple[str, Kind[Any, Any]]]:
    """The figure of each kind of answers in a fit, by its name, and the kind."""
    for number, (kind, _) in enumerate(fit.kind.parts(fit.problem)):
        yield f"{name}-{kind.name}" if number else name, kind


def _shares_check_blocks(fit: Fit, name: str, kind: Kind[Any, Any]) -> Iterator[Block]:
    title, said = f"Does the fit give {kind.name} like these?", kind.page_words
    try:
        figures.check_figure(fit, name)
    except InputError as error:
        yield Text(f"{title} {'; '.join(error.problems)}.", "note")
        return
    found = predictive.predicted_shares(fit, kind.name)
    outside, size = int(found.is_outside.sum()), found.is_outside.size
    rest = len(found.rows) - predictive.MOST if found.columns else 0
    yield from figure_blocks(
        fit,
        name,
        title,
        f"{said.shares}, and the {100 * fit.prob:g}% range of {kind.name} drawn from the fit. {outside} of {size} "
        f"{said.told} lie outside their range (orange diamonds); chance alone puts about {(1 - fit.prob) * size:.2g} "
        "there, or fewer, as the fit has seen them"
        + (
            f": the model misses something about these {said.whose}."
            if outside > _expected_outside(size, 1 - fit.prob)
            else "."
        )
        + (
            f" Shown are the {predictive.MOST} of {len(found.rows)} judges that are furthest off."
            if rest > 0
            else ""
        ),
        lambda fit: predictive.predictive_rows(fit, found),
    )


def _expected_outside(size: int, share: float) -> float:
    """The number of shares outside that chance alone exceeds in one fit of a hundred, as if they were independent."""
    from scipy.stats import binom

    return float(binom.ppf(0.99, size, share))
