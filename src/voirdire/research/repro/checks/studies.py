"""Figures from our simulation studies: their results, as kept in ``simulations/`` or in a paper's ``runs/``."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

from voirdire.errors import InputError
from voirdire.model.specs import locate
from voirdire.research.repro.checks.base import Check, Context, Found, Settings
from voirdire.research.repro.tables import Cell


@cache
def _results(path: Path) -> tuple[dict[str, str], ...]:
    if not path.is_file():
        raise InputError(
            f"{path} is not there: voirdire simulate {path.parent.name} --out DIR makes it (make studies: all of them)"
        )
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def rows_of(study: str) -> tuple[dict[str, str], ...]:
    """The rows of a study's results; a study of a paper's ``runs/`` is called ``<system>/<study>``.

    Raises
    ------
    InputError
        The study has not been run.

    Examples
    --------
    >>> rows_of("rq3")[0]["measure"]
    'items'
    """
    system, _, name = study.rpartition("/")
    folder = locate("paper_repro") / system / "runs" / name if system else locate("simulations") / name
    return _results(folder / "results.csv")


def study(context: Context, cell: Cell, settings: Settings) -> Found:
    """The mean over the study's replicates of the measure that the figure's keys name.

    ``row`` maps columns of the results to entries; ``from`` maps columns of the results to columns of the published
    table; ``names`` gives entries of the results for entries of the published table that are called otherwise.
    """
    names = settings.get("names", {})
    wanted = dict(settings.get("row", {}))
    for column, key in settings.get("from", {}).items():
        entry = cell.by[key]
        wanted[column] = names.get(entry, entry)
    return _mean(settings["study"], wanted)


def drop(context: Context, cell: Cell, settings: Settings) -> Found:
    """How much the mean of the measure falls when ``count`` of the judges ``added`` join, from none."""
    row = dict(settings.get("row", {}))
    before = _mean(settings["study"], row | {"added": "none", "count": "0"})
    after = _mean(settings["study"], row | {"added": settings["added"], "count": str(settings["count"])})
    assert isinstance(before.value, float)
    assert isinstance(after.value, float)
    return Found(before.value - after.value, note=f"{before.note}; with them {after.note}")


def falls(context: Context, cell: Cell, settings: Settings) -> Found:
    """``falls`` if that drop is more than two Monte Carlo errors (of two independent means), else ``holds``."""
    found = drop(context, cell, settings)
    row = dict(settings.get("row", {}))
    errors = [
        float(_one(settings["study"], row | {"added": added, "count": str(count)})["mcse"])
        for added, count in (("none", 0), (settings["added"], settings["count"]))
    ]
    error = float(sum(one**2 for one in errors) ** 0.5)
    assert isinstance(found.value, float)
    note = f"drop {found.value:.3f}, Monte Carlo error {error:.3f}"
    return Found("falls" if found.value > 2 * error else "holds", note=note)


def study_order(context: Context, cell: Cell, settings: Settings) -> Found:
    """Entries of the column ``by`` by falling ``statistic`` (mean, best_share), as "a > b"; ``first`` of them."""
    rows = [one for one in rows_of(settings["study"]) if _matches(one, settings.get("row", {}))]
    names = settings.get("names", {})
    only = settings.get("only")
    statistic = settings.get("statistic", "mean")
    ranked = sorted(rows, key=lambda one: -float(one[statistic]))
    called = [names.get(one[settings["by"]], one[settings["by"]]) for one in ranked]
    called = [name for name in called if only is None or name in only]
    figures = ", ".join(f"{float(one[statistic]):.3f}" for one in ranked)
    return Found(" > ".join(called[: settings.get("first", len(called))]), note=f"{statistic} {figures}")


def _mean(name: str, wanted: Settings) -> Found:
    row = _one(name, wanted)
    note = f"{row['n']} replicates, Monte Carlo error {float(row['mcse']):.4f}"
    return Found(float(row["mean"]), note=note)


def _one(name: str, wanted: Settings) -> dict[str, str]:
    rows = [one for one in rows_of(name) if _matches(one, wanted)]
    if len(rows) != 1:
        raise InputError(
            f"study {name}: {dict(wanted)} means {len(rows)} rows of its results; it must mean one"
        )
    return rows[0]


def _matches(row: dict[str, str], wanted: Settings) -> bool:
    return all(row[column] == str(entry) for column, entry in wanted.items())


STUDIES = {
    "study": Check(study, ("study",), ("row", "from", "names")),
    "drop": Check(drop, ("study", "added", "count"), ("row",)),
    "falls": Check(falls, ("study", "added", "count"), ("row",)),
    "study-order": Check(study_order, ("study", "by"), ("row", "names", "statistic", "first", "only")),
}
