"""Figures that follow from other printed figures: means, standard deviations, differences, percentages, sums."""

from __future__ import annotations

import numpy as np

from voirdire_repro.checks.base import Check, Context, Found, Settings, related_cells, single_figure
from voirdire_repro.tables import Cell


def mean(context: Context, cell: Cell, settings: Settings) -> Found:
    """Compute the mean of the cells that differ from the figure's cell in the column ``over``."""
    return Found(float(np.mean([figure.value for figure in related_cells(context, cell, settings)])))


def sd(context: Context, cell: Cell, settings: Settings) -> Found:
    """Compute the standard deviation of the same cells, with ``divisor`` n or n - 1."""
    values = [figure.value for figure in related_cells(context, cell, settings)]
    return Found(float(np.std(values, ddof={"n": 0, "n-1": 1}[settings["divisor"]])))


def pooled_sd(context: Context, cell: Cell, settings: Settings) -> Found:
    """Compute the sd over all runs from the printed mean m_g and sd s_g of groups of ``runs`` runs each.

    With G groups of r runs: variance = (sum (r - 1) s_g^2 + r sum (m_g - m)^2) / (G r - 1).
    """
    parts = {}
    for statistic in ("mean", "sd"):
        where = {**settings.get("where", {}), "statistic": statistic}
        parts[statistic] = np.array(
            [figure.value for figure in related_cells(context, cell, {**settings, "where": where})]
        )
    means, runs = parts["mean"], settings["runs"]
    within = (runs - 1) * (parts["sd"] ** 2).sum()
    between = runs * ((means - means.mean()) ** 2).sum()
    return Found(float(np.sqrt((within + between) / (len(means) * runs - 1))))


def same(context: Context, cell: Cell, settings: Settings) -> Found:
    """Return the same figure from another cell."""
    cells = related_cells(context, cell, settings)
    if len(cells) != 1:
        return Found(float("nan"), note=f"{len(cells)} cells instead of one")
    return Found(cells[0].value)


def complement(context: Context, cell: Cell, settings: Settings) -> Found:
    """Compute 100 minus the sum of the cells that differ in ``over``: shares in percent that sum to 100."""
    return Found(100 - sum(figure.value for figure in related_cells(context, cell, settings)))


def difference(context: Context, cell: Cell, settings: Settings) -> Found:
    """Compute the first of ``of`` minus the second, times ``times`` (100 for percentage points)."""
    first, second = (single_figure(context, spec) for spec in settings["of"])
    return Found((first - second) * settings.get("times", 1))


def percent_more(context: Context, cell: Cell, settings: Settings) -> Found:
    """Compute the percentage by which the first of ``of`` is above the second."""
    first, second = (single_figure(context, spec) for spec in settings["of"])
    return Found(100 * (first / second - 1))


def percent(context: Context, cell: Cell, settings: Settings) -> Found:
    """Compute the first of ``of`` in percent of the second."""
    first, second = (single_figure(context, spec) for spec in settings["of"])
    return Found(100 * first / second)


def total(context: Context, cell: Cell, settings: Settings) -> Found:
    """Compute the sum of ``of``, each times its number in ``times`` (default 1)."""
    figures = [single_figure(context, spec) for spec in settings["of"]]
    times = settings.get("times", [1] * len(figures))
    return Found(float(sum(a * b for a, b in zip(figures, times, strict=True))))


def mean_of(context: Context, cell: Cell, settings: Settings) -> Found:
    """Compute the mean of the cells of ``table`` that ``where`` selects."""
    cells = context.tables[settings["table"]].select_cells(settings.get("where", {}))
    return Found(float(np.mean([figure.value for figure in cells])))


def centre(context: Context, cell: Cell, settings: Settings) -> Found:
    """Compute the middle of the printed interval, which is nearly symmetric for a share of many items."""
    ends = [
        figure.value
        for end in ("low", "high")
        for figure in related_cells(context, cell, {"where": {"statistic": end}})
    ]
    return Found(sum(ends) / 2)


def order(context: Context, cell: Cell, settings: Settings) -> Found:
    """List entries of the column ``by`` of the cells that ``where`` selects, largest figure first: "a > b > c"."""
    cells = context.tables[settings["table"]].select_cells(settings.get("where", {}))
    ranked = sorted(cells, key=lambda figure: -figure.value)
    names = [figure.by[settings["by"]] for figure in ranked]
    return Found(" > ".join(names[: settings.get("first", len(names))]))


def times_best(context: Context, cell: Cell, settings: Settings) -> Found:
    """Count the rows (cells that differ in the column ``by`` only) where ``entry`` has the largest figure, also tied.

    With ``majority`` the result is "majority" if these are more than half of the rows, else "minority".
    """
    cells = context.tables[settings["table"]].select_cells(settings.get("where", {}))
    rows: dict[tuple[tuple[str, str], ...], list[Cell]] = {}
    for figure in cells:
        key = tuple(pair for pair in figure.keys if pair[0] not in (settings["by"], *settings.get("ignore", [])))
        rows.setdefault(key, []).append(figure)
    sign = -1 if settings.get("smallest") else 1
    best = 0
    for row in rows.values():
        top = max(sign * figure.value for figure in row)
        best += any(sign * figure.value == top and figure.by[settings["by"]] == settings["entry"] for figure in row)
    note = f"{best} of {len(rows)}"
    if settings.get("majority"):
        return Found("majority" if 2 * best > len(rows) else "minority", note=note)
    return Found(float(best), note=note)


def rises(context: Context, cell: Cell, settings: Settings) -> Found:
    """Count the rows where the figure with the entry ``to`` of the column ``by`` is above that with ``start``."""
    table = context.tables[settings["table"]]
    where, by = settings.get("where", {}), settings["by"]
    after = {
        tuple(p for p in figure.keys if p[0] != by): figure.value
        for figure in table.select_cells(where | {by: settings["to"]})
    }
    before = {
        tuple(p for p in figure.keys if p[0] != by): figure.value
        for figure in table.select_cells(where | {by: settings["start"]})
    }
    return Found(float(sum(after[key] > before[key] for key in before)), note=f"of {len(before)}")


def below(context: Context, cell: Cell, settings: Settings) -> Found:
    """Count the cells that ``where`` selects with a figure below ``bound``."""
    cells = context.tables[settings["table"]].select_cells(settings.get("where", {}))
    return Found(float(sum(figure.value < settings["bound"] for figure in cells)), note=f"of {len(cells)}")


ARITHMETIC = {
    "mean": Check(mean, ("over",), ("table", "where")),
    "sd": Check(sd, ("over", "divisor"), ("table", "where")),
    "pooled-sd": Check(pooled_sd, ("over", "runs", "table"), ("where",)),
    "same": Check(same, (), ("table", "where", "over")),
    "complement": Check(complement, ("over",), ("table", "where")),
    "difference": Check(difference, ("of",), ("times",)),
    "percent-more": Check(percent_more, ("of",)),
    "percent": Check(percent, ("of",)),
    "total": Check(total, ("of",), ("times",)),
    "mean-of": Check(mean_of, ("table",), ("where",)),
    "centre": Check(centre),
    "order": Check(order, ("table", "by"), ("where", "first")),
    "times-best": Check(times_best, ("table", "by", "entry"), ("where", "smallest", "ignore", "majority")),
    "below": Check(below, ("table", "bound"), ("where",)),
    "rises": Check(rises, ("table", "by", "start", "to"), ("where",)),
}
