"""The verb ``collect`` with ``--until``: ask until enough is known; and a figure of the progress against the cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from voirdire.adaptive.progress import QUANTITIES
from voirdire.adaptive.protocol_filter import RoundProtocol
from voirdire.adaptive.rounds import Course, Request, check_request, group_summaries
from voirdire.collect.plan import Plan
from voirdire.collect.protocol import Protocol
from voirdire.collect.run import ROUNDS_FILE, ROUNDS_PLOT, Collected, collect
from voirdire.errors import InputError
from voirdire.folders import write_file
from voirdire.report.figure_style import BLUE, COLOUR_VARIABLES, ORANGE, empty_figure, figure_style, to_svg

_TITLES = {
    "p_best": "probability that the\nfirst item is the best",
    "loss": "expected loss (log-odds)",
    "width(ranks)": "widest interval of ranks",
    "accuracy": "pairs expected to be\nin the right order",
}


def plot_progress(course: Course, request: Request) -> str:
    """Plot each quantity with a bound in the request (all, without bounds) against the cost, as an SVG file.

    Examples
    --------
    >>> rows = [{"asked": 8, "cost": 8.0, "p_best": 0.4, "loss": 0.5, "width": 3.0, "accuracy": 0.8}]
    >>> plot_progress(Course(rounds=rows), Request()).startswith("<svg")
    True
    """
    bounds = {condition.quantity: condition.bound for condition in request.until}
    names = list(bounds or QUANTITIES)
    priced = [row["cost"] for row in course.rounds] != [float(row["asked"]) for row in course.rounds]
    spent = [row["cost" if priced else "asked"] for row in course.rounds]
    with figure_style():
        figure = empty_figure(5.1, 0.6 + 1.7 * len(names))
        for ax, name in zip(figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0], names, strict=True):
            values = [row[QUANTITIES[name].field] for row in course.rounds]
            ax.plot(spent, values, color=BLUE, marker="o", markersize=3)
            if name in bounds:
                ax.axhline(bounds[name], color=ORANGE, linewidth=1)
            ax.set_ylabel(_TITLES[name])
            ax.set_ylim(0, 1.02 if name in ("p_best", "accuracy") else None)
            ax.set_xlim(0, None)
        ax.set_xlabel("expected cost of what was asked" if priced else "comparisons asked")
    svg = to_svg(figure, "rounds")
    for colour, variable in COLOUR_VARIABLES.items():  # a separate file has no page that defines the variables
        svg = svg.replace(f"var(--{variable})", colour)
    return svg


@dataclass(frozen=True, eq=False)
class Until:
    """Result of an adaptive run.

    Attributes
    ----------
    collected : Collected
        Result of :func:`voirdire.collect.collect`.
    request : Request
        Settings of the rounds.
    course : Course
        Progress after each round.
    """

    collected: Collected
    request: Request
    course: Course

    @property
    def verdict(self) -> str:
        """Outcome of the run, in words."""
        conditions = " and ".join(str(condition) for condition in self.request.until)
        rounds = self.course.rounds
        asked_text = f"{rounds[-1]['asked']} comparisons in {len(rounds)} rounds" if rounds else "no comparisons"
        if self.course.reached:
            return f"{conditions}: known after {asked_text}"
        if self.collected.stopped:
            return f"{conditions}: not known yet, after {asked_text}"
        return f"{conditions}: not known, though everything was asked ({asked_text}); take more judges or repeats"

    def as_dict(self) -> dict[str, Any]:
        """Return the result in the form of ``voirdire collect --until ... --json``."""
        return {
            **self.collected.as_dict(),
            "until": [str(condition) for condition in self.request.until],
            "design": self.request.design,
            "reached": self.course.reached,
            "verdict": self.verdict,
            "known": group_summaries(self.course),
            "rounds": self.course.rounds,
        }


def collect_until(
    panel: str | Path | Mapping[str, Any],
    items: object,
    protocol: str,
    out: str | Path,
    *,
    until: str,
    design: str = "adaptive",
    model: str | Path | None = None,
    count: int | None = None,
    seed: int = 0,
    **settings: Any,
) -> Until:
    """Ask a panel of language models round by round, until enough is known.

    The starting questions connect all items and ask every judge. After each round the votes so far are fitted (by
    laplace). The next round has the comparisons of any judges and pairs with the largest expected information for
    their cost, on the best item or on the ranking, depending on the condition. Texts of different contexts are not
    compared. The condition must hold in each context; contexts where it holds get no further questions.

    Otherwise the run is as in :func:`voirdire.collect.collect`: a stopped run continues with the same folder and ends
    with the same tables, and a run with another condition or design reuses the answers. The folder also gets
    ``rounds.csv`` and ``rounds.svg`` with the progress and the cost after each round.

    Parameters
    ----------
    panel, items, protocol, out
        As in :func:`voirdire.collect.collect`; the protocol is pairwise or maple.
    until : str
        Conditions to stop, joined by ``and``: ``"p_best >= 0.95"`` (probability that the leading item is the best),
        ``"loss <= 0.02"`` (expected loss in log-odds of the chosen item against the best), ``"width(ranks) <= 2"``
        (largest width of an item's interval of ranks), ``"accuracy >= 0.9"`` (expected share of pairs in the right
        order).
    design : "adaptive", "cyclic" or "random"
        Choice of comparisons after the start: by expected information; neighbours on a ring first, then items two
        apart, with judges in turn; at random.
    model : str or path, optional
        Model of the fits, as in :func:`voirdire.fit`.
    count : int, optional
        Number of comparisons per round; by default an eighth of those asked so far, and at least 8.
    seed : int
        Seed of the design and of the fits.
    **settings
        ``max_cost``, ``max_calls``, ``options`` and other arguments of :func:`voirdire.collect.collect`.

    Returns
    -------
    Until
        Result of the run.

    Raises
    ------
    InputError
        For an invalid request, with every problem found, before the first question.

    Examples
    --------
    >>> collect_until("panel.toml", "items.csv", "pairwise", "out", until="p_bets > 0.9")
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: until: quantity 'p_bets' is unknown; did you mean 'p_best'?
    """
    request = check_request(until, design, model, count, seed)
    protocols: list[RoundProtocol] = []

    def wrap_protocol(plan: Plan) -> Plan:
        protocols.append(RoundProtocol(plan, request))
        return replace(plan, protocol=cast(Protocol, protocols[0]))

    collected = collect(panel, items, protocol, out, through=wrap_protocol, **settings)
    course = protocols[0].course
    if course.rounds:
        import pandas as pd

        try:
            write_file(collected.folder / ROUNDS_FILE, pd.DataFrame(course.rounds).to_csv(index=False))
            write_file(collected.folder / ROUNDS_PLOT, plot_progress(course, request))
        except OSError as error:
            raise InputError(f"output folder {out}: cannot be written ({error.strerror or error})") from error
    return Until(collected, request, course)
