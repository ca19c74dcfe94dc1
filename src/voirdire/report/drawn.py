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

    from voirdire.kinds.fit import Fit


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


_SHARES = {
    "votes": "Share of wins of every item (a tie counts half)",
    "scores": "Share of each level among a judge's scores, one column per level, on the same scale",
    "labels": "Share of each label among those a judge gave, one column per label, on the same scale",
}
_BINNED = {
    "votes": "Votes in ten bins by the probability that the fit gives them, and the share that came out (95% "
    "intervals). On the diagonal, probabilities mean what they say; these are the votes that were fitted.",
    "scores": "Scores in ten bins by the probability of exceeding a level that all other scores give them, each score "
    "once for every level but the highest, and the share that did (95% intervals). On the diagonal, probabilities mean "
    "what they say.",
    "labels": "Labels in ten bins by the probability that the other judges' labels of the item give them, and the "
    "share that was given (95% intervals). On the diagonal, probabilities mean what they say.",
}


def calibration(fit: Fit) -> Iterator[Block]:
    """Whether probabilities mean what they say; of votes and scores, one figure for each."""
    for of in _tables(fit):
        seen = of == "scores" and fit.posterior.draws is None
        more = (
            f" Method {fit.method!r} has no draws to leave a score out with: here it has seen them all."
            if seen
            else ""
        )
        about = f" of {of}" if fit.model.data == "joint" else ""
        title = f"Are the probabilities{about} right?"
        yield from figure(fit, _kind(fit, "calibration", of), title, _BINNED[of] + more)


def predictive_shares(fit: Fit) -> Iterator[Block]:
    """The posterior predictive check: how many shares lie outside, in words, and the figure; one for each table."""
    for of in _tables(fit):
        yield from _shares_of(fit, of)


def _tables(fit: Fit) -> tuple[str, ...]:
    return ("votes", "scores") if fit.model.data == "joint" else (fit.model.data,)


def _kind(fit: Fit, name: str, of: str) -> str:
    return name if of == predictive.default(fit) else f"{name}-{of}"


def _shares_of(fit: Fit, of: str) -> Iterator[Block]:
    title, kind = f"Does the fit give {of} like these?", _kind(fit, "ppc", of)
    try:
        check(fit, kind)
    except InputError as error:
        yield Text(f"{title} {'; '.join(error.problems)}.", "note")
        return
    found = predictive.shares(fit, of)
    outside, size = int(found.outside.sum()), found.outside.size
    told, whose = ("items", "items") if of == "votes" else ("shares", "judges")
    rest = len(found.rows) - predictive.MOST if of != "votes" else 0
    yield from figure(
        fit,
        kind,
        title,
        f"{_SHARES[of]}, and the {100 * fit.prob:g}% range of {of} drawn from the fit. {outside} of {size} {told} "
        f"lie outside their range (orange diamonds); chance alone puts about {(1 - fit.prob) * size:.2g} there, or "
        "fewer, as the fit has seen them"
        + (
            f": the model misses something about these {whose}."
            if outside > _many(size, 1 - fit.prob)
            else "."
        )
        + (
            f" Shown are the {predictive.MOST} of {len(found.rows)} judges that are furthest off."
            if rest > 0
            else ""
        ),
        lambda fit: predictive.ppc(fit, found),
    )


def _many(size: int, share: float) -> float:
    """The number of shares outside that chance alone exceeds in one fit of a hundred, as if they were independent."""
    from scipy.stats import binom

    return float(binom.ppf(0.99, size, share))
