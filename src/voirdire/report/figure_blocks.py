"""Figures of a fit as blocks of its page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.report import figures
from voirdire.report.figure_style import empty_figure, figure_style
from voirdire.report.figures import predictive
from voirdire.report.figures.rows import RowFigure, draw_parts
from voirdire.report.page import Block, Figure, Text

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

    from voirdire.kinds.fit import Fit
    from voirdire.kinds.kind import Kind


def figure_blocks(
    fit: Fit, kind: str, title: str, caption: str, rows: Callable[[Fit], RowFigure] | None = None
) -> Iterator[Block]:
    """Yield a figure where this fit has one, else a remark with the reason why it has none.

    Parameters
    ----------
    fit : Fit
    kind, title, caption : str
    rows : callable, optional
        Function that gives the rows; by default that of the kind of figure.
    """
    figure_kind = figures.FIGURE_KINDS[kind]
    try:
        figure_kind.check(fit)
    except InputError as error:
        yield Text(f"{title}: {'; '.join(error.problems)}.", "note")
        return
    row_function = rows or figure_kind.rows

    def draw_figure() -> Sequence[Drawing]:
        if row_function is not None:
            return draw_parts(row_function(fit), figures.LEGEND_HEIGHT if kind == "position" else 0.0)
        with figure_style():
            figure = empty_figure(*figure_kind.size(fit))
            figure_kind.draw(fit, figure.subplots())
        return [figure]

    yield Figure(kind, title, caption, draw_figure)


def calibration_blocks(fit: Fit) -> Iterator[Block]:
    """Yield the calibration figures; for a fit of votes and scores, one for each of the two."""
    for name, kind in _figure_kinds(fit, "calibration"):
        words, title_end = kind.page_words, "" if kind is fit.kind else f" of {kind.name}"
        seen_note = words.no_draws_note.format(method=fit.method) if fit.posterior.draws is None else ""
        yield from figure_blocks(
            fit, name, f"Are the probabilities{title_end} right?", words.calibration_caption + seen_note
        )


def predictive_check_blocks(fit: Fit) -> Iterator[Block]:
    """Yield the posterior predictive check, one per table: figure, and number of shares outside their range."""
    for name, kind in _figure_kinds(fit, "ppc"):
        yield from _shares_check_blocks(fit, name, kind)


def _figure_kinds(fit: Fit, name: str) -> Iterator[tuple[str, Kind[Any, Any]]]:
    """Yield the name of the figure and the kind, for each kind of answers in a fit."""
    for number, (kind, _) in enumerate(fit.kind.parts(fit.problem)):
        yield f"{name}-{kind.name}" if number else name, kind


def _shares_check_blocks(fit: Fit, name: str, kind: Kind[Any, Any]) -> Iterator[Block]:
    title, words = f"Does the fit give {kind.name} like these?", kind.page_words
    try:
        figures.FIGURE_KINDS[name].check(fit)
    except InputError as error:
        yield Text(f"{title} {'; '.join(error.problems)}.", "note")
        return
    shares = predictive.predicted_shares(fit, kind.name)
    outside, size = int(shares.is_outside.sum()), shares.is_outside.size
    hidden = len(shares.rows) - predictive.MAX_JUDGES if shares.columns else 0
    yield from figure_blocks(
        fit,
        name,
        title,
        f"{words.shares_caption}, and the {100 * fit.prob:g}% range of {kind.name} drawn from the fit. {outside} of "
        f"{size} {words.shares_rows} lie outside their range (orange diamonds); chance alone puts about "
        f"{(1 - fit.prob) * size:.2g} there, or fewer, as the fit has seen them"
        + (
            f": the model misses something about these {words.shares_owners}."
            if outside > _expected_outside(size, 1 - fit.prob)
            else "."
        )
        + (
            f" Shown are the {predictive.MAX_JUDGES} of {len(shares.rows)} judges that are furthest off."
            if hidden > 0
            else ""
        ),
        lambda fit: predictive.predictive_rows(fit, shares),
    )


def _expected_outside(size: int, share: float) -> float:
    """Return the 99% quantile of the number of shares outside by chance alone, as if shares were independent."""
    from scipy.stats import binom

    return float(binom.ppf(0.99, size, share))
