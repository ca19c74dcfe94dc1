"""Runs of protocols that fill claims: collect, compute, write tables in the shape of the published ones.

``paper_repro/<system>/runs/<run>/run.toml`` holds ``title``, ``data`` (a loader of `voirdire.repro.items`, or
``columns`` with ``[columns]``), ``statistic``, ``[[scales]]`` (``low``, ``high``, ``criteria``) and ``[[parts]]``
(``name``, ``protocol``, ``options``, and ``fills``: tables with the keys of the cells); ``panel.toml`` beside it the
judges, named as in the tables.

    DIR/<system>/<run>/collected/...      items, people's scores, each part's journal and tables
    DIR/<system>/<run>/<table>.csv        what ``voirdire repro --results DIR`` reads
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

from voirdire.errors import InputError
from voirdire.repro.claims import System
from voirdire.repro.fill import STATISTICS
from voirdire.repro.items import LOADERS, columns
from voirdire.repro.job import Job


def run(
    system: System,
    name: str,
    *,
    data: Path | None = None,
    panel: Path | None = None,
    limit: int | None = None,
    out: Path | None = None,
) -> Path:
    """Collect, compute and write one run; a stopped one goes on with the same folder.

    Parameters
    ----------
    system : System
    name : str
        A folder of ``runs/`` with a ``run.toml``.
    data : Path, optional
        The data set's file.
    panel : Path, optional
        Instead of the run's ``panel.toml``.
    limit : int, optional
        Only the first contexts with so many items: a smoke test, kept apart from results (``<run>-smoke``).
    out : Path
        Where everything goes.

    Returns
    -------
    Path
        The run's folder.

    Raises
    ------
    InputError
        An unknown run, data that are not there, no ``out``, or what the collector refuses.
    """
    runs = system.folder / "runs"
    known = sorted(path.parent.name for path in runs.glob("*/run.toml"))
    if name not in known:
        raise InputError(f"unknown run {name!r}; {system.paper} has {', '.join(known) or 'none'}")
    if out is None:
        raise InputError("--out is missing; name a folder for the journal and the tables")
    spec = tomllib.loads((runs / name / "run.toml").read_text(encoding="utf-8"))
    loader = spec["data"]
    items, human = columns(data, spec["columns"]) if loader == "columns" else LOADERS[loader](data)
    if limit is not None:
        items = items.head(limit)
        human = human[human["item"].isin(items["id"])]
    folder = out / system.system / (f"{name}-smoke" if limit is not None else name)
    job = Job(system, spec, panel or runs / name / "panel.toml", folder, items, human)
    (folder / "collected").mkdir(parents=True, exist_ok=True)
    items.to_csv(folder / "collected" / "items.csv", index=False)
    human.to_csv(folder / "collected" / "human.csv", index=False)
    cells = STATISTICS[spec["statistic"]["kind"]](job)
    for table, rows in cells.items():
        _write(job, table, rows)
    if limit is not None:
        print(f"{system.paper}, {name}: smoke test of {len(items)} items, no result", file=sys.stderr)
    return folder


def _write(job: Job, name: str, rows: list[dict[str, Any]]) -> None:
    """The rows that the published table has, in its columns and order."""
    import csv

    published = job.system.tables[name]
    own = {tuple(str(row.get(column)) for column in published.columns): row["value"] for row in rows}
    with (job.folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow((*published.columns, "value"))
        for cell in published.cells:
            value = own.get(tuple(cell.by.values()))
            if value is not None and value == value:
                writer.writerow((*cell.by.values(), f"{value:.6g}"))
