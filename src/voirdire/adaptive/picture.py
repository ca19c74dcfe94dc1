"""Figure of what is known against what was spent: a line for each quantity over the questions asked, and the bounds."""

from __future__ import annotations

from voirdire.adaptive.known import QUANTITIES
from voirdire.adaptive.rounds import Course, Request
from voirdire.report.figures.style import BLUE, ORANGE, VARIABLES, empty_figure, figure_style
from voirdire.report.figures.svg import to_svg

_TITLES = {
    "p_best": "probability that the\nfirst item is the best",
    "loss": "expected loss (log-odds)",
    "width(ranks)": "widest interval of ranks",
    "accuracy": "pairs expected to be\nin the right order",
}


def draw_course(course: Course, request: Request) -> str:
    """An SVG file: for each quantity that the request bounds, or all where it bounds none.

    Examples
    --------
    >>> rows = [{"asked": 8, "cost": 8.0, "p_best": 0.4, "loss": 0.5, "width": 3.0, "accuracy": 0.8}]
    >>> draw_course(Course(rounds=rows), Request()).startswith("<svg")
    True
    """
    bounds = {one.quantity: one.bound for one in request.until}
    names = list(bounds or QUANTITIES)
    priced = [row["cost"] for row in course.rounds] != [float(row["asked"]) for row in course.rounds]
    spent = [row["cost" if priced else "asked"] for row in course.rounds]
    with figure_style():
        figure = empty_figure(5.1, 0.6 + 1.7 * len(names))
        for ax, name in zip(
            figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0], names, strict=True
        ):
            values = [row[QUANTITIES[name][0]] for row in course.rounds]
            ax.plot(spent, values, color=BLUE, marker="o", markersize=3)
            if name in bounds:
                ax.axhline(bounds[name], color=ORANGE, linewidth=1)
            ax.set_ylabel(_TITLES[name])
            ax.set_ylim(0, 1.02 if name in ("p_best", "accuracy") else None)
            ax.set_xlim(0, None)
        ax.set_xlabel("expected cost of what was asked" if priced else "comparisons asked")
    svg = to_svg(figure, "rounds")
    for colour, variable in VARIABLES.items():  # a file of its own has no page to take them from
        svg = svg.replace(f"var(--{variable})", colour)
    return svg
