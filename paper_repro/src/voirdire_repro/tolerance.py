"""Tolerance of our figures: two standard errors of the published figure, from what it was computed of.

A claim's ``tolerance`` is a number, or one of

    { items = 1 }                           so many of the judged items, for shares of counted items
    { correlation = 102 }                   a coefficient over so many items
    { correlation = 16, contexts = 100 }    the mean over contexts of coefficients over so many items each
    { share = 50 }                          a percentage of so many items
    { samples = 10 }                        the mean, sd or count of firsts over so many samples, whose sd is printed
    { spread = 360 }                        the mean over so many items of a score's sd over repetitions

Standard errors: of Pearson's r (1 - r^2) / sqrt(n - 1), of Spearman's sqrt(1 + r^2 / 2) times that (Bonett and Wright
2000), of Kendall's tau (1 - tau^2) sqrt(0.437 / (n - 4)) (Fieller, Hartley and Pearson 1957); of a share p
sqrt(p (1 - p) / n); of a mean of two independent series of m samples sd sqrt(2 / m), of their sds sd / sqrt(m - 1);
of the difference of two mean sds sqrt(2 p (1 - p) / (3 n)), where a share p of the n items differ by one level in one
of three repetitions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from voirdire_repro.tables import Cell, Table

#: Keys of a tolerance that is no number, by the first of them.
FORMS = {
    "items": ("items",),
    "correlation": ("correlation", "contexts"),
    "share": ("share",),
    "samples": ("samples",),
    "spread": ("spread",),
}
_ERRORS = 2
_AVERAGE = "average"
#: The sd, over three repetitions, of a score that is by one level another in one of them.
_STEP = 1 / math.sqrt(3)


def own_error(how: Mapping[str, float], table: Table, cell: Cell) -> float:
    """Two standard errors of a published figure.

    Parameters
    ----------
    how : mapping
        A tolerance of one of the forms above, save ``items``.
    table : Table
        The figure's, where its sd may stand.
    cell : Cell

    Examples
    --------
    >>> cell = Cell("t", (("coefficient", "pearson"),), "0.5")
    >>> round(own_error({"correlation": 101}, Table("t", "", ("coefficient",), (cell,)), cell), 3)
    0.15
    """
    if "correlation" in how:
        error = _of_correlation(cell.by.get("coefficient", "spearman"), cell.value, how["correlation"])
        return _ERRORS * error / math.sqrt(how.get("contexts", 1))
    if "share" in how:
        return _of_share(how["share"], table, cell)
    if "spread" in how:
        return _of_spread(how["spread"], table, cell)
    return _of_samples(how["samples"], table, cell)


def is_vacuous(how: Mapping[str, float], published: float, tolerance: float) -> bool:
    """True if a judge that knows nothing would come within the tolerance: of a coefficient or a spread, if 0 does.

    Examples
    --------
    >>> is_vacuous({"correlation": 102}, 0.1, 0.19), is_vacuous({"correlation": 102}, 0.4, 0.17)
    (True, False)
    >>> is_vacuous({"share": 50}, 1.0, 14.0)
    False
    """
    return ("correlation" in how or "spread" in how) and abs(published) <= tolerance


def _of_correlation(name: str, value: float, n: float) -> float:
    if name == "kendall":
        return (1 - value**2) * math.sqrt(0.437 / (n - 4))
    pearson = (1 - value**2) / math.sqrt(n - 1)
    return pearson * math.sqrt(1 + value**2 / 2) if name == "spearman" else pearson


def _of_share(n: float, table: Table, cell: Cell) -> float:
    """Of a share in percent, an end of its interval, the mean of several or their sd."""
    sets = 1
    if cell.by.get("dataset") == _AVERAGE:
        keys = {key: entry for key, entry in cell.by.items() if key != "dataset"}
        sets = sum(figure.by["dataset"] != _AVERAGE for figure in table.select_cells(keys | {"statistic": "value"}))
    if cell.by.get("statistic") == "sd":
        return _ERRORS * cell.value / math.sqrt(2 * (sets - 1))
    # a share near 0 or 1 has at least the error of one item
    share = min(max(cell.value / 100, 1 / n), 1 - 1 / n)
    return 100 * _ERRORS * math.sqrt(share * (1 - share) / (n * sets))


def _of_spread(n: float, table: Table, cell: Cell) -> float:
    """Of one criterion, or of the mean over all of them."""
    sets = 1
    if cell.by.get("criterion") == _AVERAGE:
        sets = len({figure.by["criterion"] for figure in table.cells} - {_AVERAGE})
    share = min(max(cell.value / _STEP, 1 / (n * sets)), 1.0)
    return _ERRORS * _STEP * math.sqrt(2 * max(share * (1 - share), 1 / (n * sets)) / (n * sets))


def _of_samples(m: float, table: Table, cell: Cell) -> float:
    if cell.by["statistic"] == "top1":
        share = cell.value / m
        return _ERRORS * math.sqrt(2 * m * share * (1 - share))
    sd = table.select_cells({**cell.by, "statistic": "sd"})[0].value
    return _ERRORS * sd * (math.sqrt(2 / m) if cell.by["statistic"] == "mean" else 1 / math.sqrt(m - 1))
