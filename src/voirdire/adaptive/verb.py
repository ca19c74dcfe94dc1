"""The verb ``collect`` with ``--until``: ask until enough is known.

Figure of what is known against what was spent: a line for each quantity over the questions asked, and the bounds.
"""

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
    """An SVG file: for each quantity that the request bounds, or all where it bounds none.

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
        for ax, name in zip(
            figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0], names, strict=True
        ):
            values = [row[QUANTITIES[name].field] for row in course.rounds]
            ax.plot(spent, values, color=BLUE, marker="o", markersize=3)
            if name in bounds:
                ax.axhline(bounds[name], color=ORANGE, linewidth=1)
            ax.set_ylabel(_TITLES[name])
            ax.set_ylim(0, 1.02 if name in ("p_best", "accuracy") else None)
            ax.set_xlim(0, None)
        ax.set_xlabel("expected cost of what was asked" if priced else "comparisons asked")
    svg = to_svg(figure, "rounds")
    for colour, variable in COLOUR_VARIABLES.items():  # a file of its own has no page to take them from
        svg = svg.replace(f"var(--{variable})", colour)
    return svg


@dataclass(frozen=True, eq=False)
class Until:
    """Result of a run, and what is known by it.

    Attributes
    ----------
    collected : Collected
        As :func:`voirdire.collect.collect` returns it.
    request : Request
    course : Course
        What was known after each round.
    """

    collected: Collected
    request: Request
    course: Course

    @property
    def verdict(self) -> str:
        """Outcome of the run, in words."""
        conditions = " and ".join(str(condition) for condition in self.request.until)
        rounds = self.course.rounds
        asked_text = (
            f"{rounds[-1]['asked']} comparisons in {len(rounds)} rounds" if rounds else "no comparisons"
        )
        if self.course.reached:
            return f"{conditions}: known after {asked_text}"
        if self.collected.stopped:
            return f"{conditions}: not known yet, after {asked_text}"
        return f"{conditions}: not known, though everything was asked ({asked_text}); take more judges or repeats"

    def as_dict(self) -> dict[str, Any]:
        """Return it in the shape of ``voirdire collect --until ... --json``."""
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

    The start links all items by comparisons and asks every judge. After each round the votes so far are fitted (by
    laplace), and the next round has the comparisons, across judges and pairs, that are expected to tell most for what
    they cost: about which item is best, or about the ranking, as the condition asks. Texts of different contexts are
    not compared; the condition must hold in each context, and nothing more is asked in those in which it does.

    Everything is as in :func:`voirdire.collect.collect` otherwise: a run that was stopped goes on with the same folder
    and ends with the same tables, and a run with another condition or design goes on from what was answered. Beside
    the tables stand ``rounds.csv`` and ``rounds.svg``: what was known after each round, for what it cost.

    Parameters
    ----------
    panel, items, protocol, out
        As :func:`voirdire.collect.collect`; the protocol is pairwise or maple.
    until : str
        When to stop: ``"p_best >= 0.95"`` (probability that the item which seems best is the best), ``"loss <= 0.02"``
        (log-odds by which the best is expected to be better than what one would choose), ``"width(ranks) <= 2"`` (ranks
        between the ends of every item's interval), ``"accuracy >= 0.9"`` (share of pairs expected to be in the right
        order); joined by ``and``.
    design : "adaptive", "cyclic" or "random"
        How comparisons are chosen after the start: what tells most; neighbours on a ring first, then those two apart,
        judges in turn; at random.
    model : str or path, optional
        Of the fits, as :func:`voirdire.fit` takes it.
    count : int, optional
        Comparisons of a round; by default an eighth of those asked so far, and at least 8.
    seed : int
        Of the design and of the fits.
    **settings
        ``max_cost``, ``max_calls``, ``options`` and all else that :func:`voirdire.collect.collect` takes.

    Returns
    -------
    Until

    Raises
    ------
    InputError
        All that is wrong with the request, before the first question.

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
