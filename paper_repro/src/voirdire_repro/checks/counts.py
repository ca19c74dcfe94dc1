"""Figures from counts: a printed share of n items gives a whole number of items, and counts give intervals."""

from __future__ import annotations

from functools import cache

import numpy as np

from voirdire.agreement.coefficients.preferences import win_rate
from voirdire.agreement.engine.resample import bootstrap
from voirdire.agreement.engine.statistic import mean_over_units
from voirdire.agreement.experts.reference import detection
from voirdire.simulate.votes import simulate_counts
from voirdire_repro.checks.base import Check, Context, Found, Settings, related_cells, single_figure
from voirdire_repro.tables import Cell

RESAMPLES, SEED, PROB = 10_000, 0, 0.95  # as published: most papers give 95% intervals


def share(context: Context, cell: Cell, settings: Settings) -> Found:
    """Compute the percentage of a whole number of n items nearest to the printed one; n by the column ``by``."""
    n = _item_count(cell, settings)
    return Found(100 * round(cell.value * n / 100) / n, 100 / n)


def interval(context: Context, cell: Cell, settings: Settings) -> Found:
    """Compute an end (statistic ``low`` or ``high``) of the percentile bootstrap interval of a share of n items."""
    n = _item_count(cell, settings)
    (value,) = related_cells(context, cell, {"where": {"statistic": "value"}})
    ends = _share_interval(round(value.value * n / 100), n)
    return Found(100 * ends[cell.by["statistic"] == "high"], 100 / n)


def win_share(context: Context, cell: Cell, settings: Settings) -> Found:
    """Compute a win rate without ties, or an end of its interval, from the shares in another table.

    With W wins and L losses among n items: W / (W + L), or L / (W + L) for the other side; all items are resampled.
    """
    counts, n = _outcome_counts(context, cell, settings)
    wins, losses, ties = counts
    if cell.by["summariser"] == settings["other"]:
        wins, losses = losses, wins
    statistic = cell.by["statistic"]
    if statistic == "value":
        return Found(100 * wins / (wins + losses), 100 / n)
    ends = win_interval(wins, losses, ties)
    assert ends is not None
    return Found(100 * ends[statistic == "high"], 100 / n)


def mixture(context: Context, cell: Cell, settings: Settings) -> Found:
    """Compute a rate over all n items from the rates of two kinds of items and the share of the first kind."""
    n = _item_count(cell, settings)

    def rate_of(**where: str) -> float:
        return related_cells(context, cell, {"where": where, "over": None})[0].value

    part = round(rate_of(**settings["part"]) * n / 100)
    first = round(rate_of(**settings["first"]) * part / 100)
    second = round(rate_of(**settings["second"]) * (n - part) / 100)
    return Found(100 * (first + second) / n, 100 / n)


def part_share(context: Context, cell: Cell, settings: Settings) -> Found:
    """Compute a rate among one kind of items, from a whole number of items, nearest to the printed rate.

    The number of items of that kind among n follows from ``part``, the printed share of items with the property (with
    ``without``, of the items without it).
    """
    n = _item_count(cell, settings)
    part = round(related_cells(context, cell, {"where": settings["part"]})[0].value * n / 100)
    if settings.get("without"):
        part = n - part
    return Found(100 * round(cell.value * part / 100) / part, 100 / part, note=f"of {part}")


def detection_figure(context: Context, cell: Cell, settings: Settings) -> Found:
    """Compute accuracy, or macro-averaged precision, sensitivity or F1, or an end of its interval, from four counts.

    Specificity is that of the class to detect.
    """
    counts = tuple(settings["counts"][cell.by[settings["by"]]])
    measure = cell.by["measure"]
    values = _detection_measures(counts)[measure.lower()]
    return Found(100 * values[("value", "low", "high").index(cell.by["statistic"])])


def requests(context: Context, cell: Cell, settings: Settings) -> Found:
    """Count the votes of K judges on all pairs of N items by C criteria and on all pairs of criteria in our design.

    In closed form this is K (C N (N - 1) / 2 + C (C - 1) / 2).
    """
    judges, items, criteria = (settings[key] for key in ("judges", "items", "criteria"))
    panel = simulate_counts(
        [{"kind": "random", "count": judges}],
        items=items,
        criteria=criteria,
        design={"kind": "all-pairs", "order": "fixed"},
        seed=SEED,
    )
    assert panel.criteria_votes is not None
    return Found(float(len(panel.votes.judge) + len(panel.criteria_votes.judge)))


def _item_count(cell: Cell, settings: Settings) -> int:
    n = settings["n"]
    return int(n[cell.by[settings["by"]]] if isinstance(n, dict) else n)


def _outcome_counts(context: Context, cell: Cell, settings: Settings) -> tuple[tuple[int, int, int], int]:
    n = _item_count(cell, settings)
    where = {key: cell.by[key] for key in ("dataset", "judge")} | settings.get("where", {})
    shares = [
        single_figure(context, {"table": settings["table"], **where, "outcome": o}) for o in ("win", "loss", "tie")
    ]
    wins, losses, ties = (round(percentage * n / 100) for percentage in shares)
    return (wins, losses, ties), wins + losses + ties


@cache
def _share_interval(hits: int, n: int) -> tuple[float, float]:
    estimate = bootstrap(
        [mean_over_units(np.ones(n, bool), np.arange(n) < hits)], resamples=RESAMPLES, prob=PROB, seed=SEED
    )[0]
    return _known_ends(estimate.interval.low, estimate.interval.high)


@cache
def win_interval(wins: int, losses: int, ties: int) -> tuple[float, float] | None:
    """Compute the 95% percentile interval of wins over wins and losses, all items resampled; None for one item.

    Examples
    --------
    >>> low, high = win_interval(18, 12, 17)
    >>> 0.4 < low < 18 / 30 < high < 0.8
    True
    """
    outcome = np.repeat([0, 1, 2], [wins, losses, ties])
    statistic = win_rate(outcome == 0, outcome == 1, outcome == 2, "left out")
    estimate = bootstrap([statistic], resamples=RESAMPLES, prob=PROB, seed=SEED)[0]
    return _known_ends(estimate.interval.low, estimate.interval.high) if len(outcome) > 1 else None


@cache
def _detection_measures(counts: tuple[int, int, int, int]) -> dict[str, tuple[float, float, float]]:
    import pandas as pd

    hits, misses, alarms, rejections = counts
    truth = np.repeat(["false", "true"], [hits + misses, alarms + rejections])
    predicted = np.repeat(["false", "true", "false", "true"], [hits, misses, alarms, rejections])
    n = len(truth)
    table = pd.DataFrame({"judge": np.repeat(["people", "model"], n), "item": [*range(n)] * 2})
    rows = detection(
        table.assign(label=[*truth, *predicted]), "people", empty="zero", resamples=RESAMPLES, prob=PROB, seed=SEED
    )
    measures = {}
    for row in rows.to_dict("records"):
        wanted = "false" if row["measure"] == "specificity" else "macro"
        if row["measure"] == "accuracy" or row["level"] == wanted:
            measures[row["measure"]] = (float(row["value"]), float(row["low"]), float(row["high"]))
    return measures


def _known_ends(low: float | None, high: float | None) -> tuple[float, float]:
    assert low is not None
    assert high is not None
    return low, high


COUNTS = {
    "share": Check(share, ("n",), ("by",)),
    "interval": Check(interval, ("n",), ("by",)),
    "win-share": Check(win_share, ("n", "table", "other"), ("by", "where")),
    "mixture": Check(mixture, ("n", "part", "first", "second"), ("by",)),
    "part-share": Check(part_share, ("n", "part"), ("by", "without")),
    "detection": Check(detection_figure, ("counts", "by")),
    "requests": Check(requests, ("judges", "items", "criteria")),
}
