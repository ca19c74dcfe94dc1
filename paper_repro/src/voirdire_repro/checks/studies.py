"""Figures from results of our simulation studies in ``simulations/`` or in a paper's ``runs/``."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from voirdire.errors import InputError
from voirdire.model.specs import specification_folder
from voirdire_repro.checks.base import Check, Context, Found, Settings
from voirdire_repro.tables import Cell


@cache
def _read_results(path: Path) -> tuple[dict[str, str], ...]:
    if not path.is_file():
        raise InputError(
            f"{path} is not there: voirdire simulate {path.parent.name} --out DIR makes it (make studies: all of them)"
        )
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def path_of(study: str) -> Path:
    """Return the results file of a study; a study in a paper's ``runs/`` is named ``<system>/<study>``.

    Examples
    --------
    >>> path_of("rq3").name
    'results.csv'
    """
    system, _, name = study.rpartition("/")
    folder = (
        specification_folder("paper_repro") / system / "runs" / name
        if system
        else specification_folder("simulations") / name
    )
    return folder / "results.csv"


def rows_of(study: str) -> tuple[dict[str, str], ...]:
    """Return the rows of a study's stored results.

    Raises
    ------
    InputError
        The study has not been run.

    Examples
    --------
    >>> rows_of("rq3")[0]["measure"]
    'items'
    """
    return _read_results(path_of(study))


def _study_rows(context: Context, name: str) -> tuple[Mapping[str, str], ...]:
    """Return new results of a study if there are any, else the stored ones."""
    return tuple(context.fresh[name]) if name in context.fresh else rows_of(name)


def study(context: Context, cell: Cell, settings: Settings) -> Found:
    """Return the mean over replicates of the measure of a study for the figure's keys.

    ``row`` maps columns of the results to entries; ``from`` maps columns of the results to columns of the published
    table; ``names`` maps entries of the published table to entries of the results with other names.
    """
    names = settings.get("names", {})
    wanted = dict(settings.get("row", {}))
    for column, key in settings.get("from", {}).items():
        entry = cell.by[key]
        wanted[column] = names.get(entry, entry)
    return _study_mean(context, settings["study"], wanted)


def drop(context: Context, cell: Cell, settings: Settings) -> Found:
    """Compute the drop of the mean of the measure from no added judges to ``count`` judges of the kind ``added``."""
    row = dict(settings.get("row", {}))
    before = _study_mean(context, settings["study"], row | {"added": "none", "count": "0"})
    after = _study_mean(context, settings["study"], row | {"added": settings["added"], "count": str(settings["count"])})
    assert isinstance(before.value, float)
    assert isinstance(after.value, float)
    error = (before.error**2 + after.error**2) ** 0.5
    value = before.value - after.value
    margin = f"{value:.3f} ± {error:.3f}"
    return Found(value, note=f"{before.note}; with them {after.note}", error=error, margin=margin)


def falls(context: Context, cell: Cell, settings: Settings) -> Found:
    """Return ``falls`` if the drop exceeds two Monte Carlo errors (of two independent means), else ``holds``."""
    measured_drop = drop(context, cell, settings)
    assert isinstance(measured_drop.value, float)
    note = f"drop {measured_drop.value:.3f}, Monte Carlo error {measured_drop.error:.3f}"
    return Found(
        "falls" if measured_drop.value > 2 * measured_drop.error else "holds", note=note, margin=measured_drop.margin
    )


def study_order(context: Context, cell: Cell, settings: Settings) -> Found:
    """List the ``first`` entries of the column ``by`` by falling ``statistic`` (mean, best_share), as "a > b"."""
    rows = [row for row in _study_rows(context, settings["study"]) if _row_matches(row, settings.get("row", {}))]
    names = settings.get("names", {})
    only = settings.get("only")
    statistic = settings.get("statistic", "mean")
    ranked = sorted(rows, key=lambda row: -float(row[statistic]))
    called = [names.get(row[settings["by"]], row[settings["by"]]) for row in ranked]
    called = [name for name in called if only is None or name in only]
    figures = ", ".join(f"{float(row[statistic]):.3f}" for row in ranked)
    return Found(" > ".join(called[: settings.get("first", len(called))]), note=f"{statistic} {figures}")


def _study_mean(context: Context, name: str, wanted: Settings) -> Found:
    row = _single_row(context, name, wanted)
    note = f"{row['n']} replicates, Monte Carlo error {float(row['mcse']):.4f}"
    return Found(float(row["mean"]), note=note, error=float(row["mcse"]))


def _single_row(context: Context, name: str, wanted: Settings) -> Mapping[str, str]:
    rows = [row for row in _study_rows(context, name) if _row_matches(row, wanted)]
    if len(rows) != 1:
        raise InputError(f"study {name}: {dict(wanted)} means {len(rows)} rows of its results; it must mean one")
    return rows[0]


def _row_matches(row: Mapping[str, str], wanted: Settings) -> bool:
    return all(row[column] == str(entry) for column, entry in wanted.items())


STUDIES = {
    "study": Check(study, ("study",), ("row", "from", "names")),
    "drop": Check(drop, ("study", "added", "count"), ("row",)),
    "falls": Check(falls, ("study", "added", "count"), ("row",)),
    "study-order": Check(study_order, ("study", "by"), ("row", "names", "statistic", "first", "only")),
}
