"""Repetition of simulations for claims: only the cells that claims use, with few replicates.

The stored results need hours; 20 replicates of the cells that claims use take minutes, and verdicts allow for their
Monte Carlo errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from voirdire_repro.checks import CHECKS, Context
from voirdire_repro.checks.studies import path_of, rows_of
from voirdire_repro.claims import System
from voirdire_repro.transcribed import studies_of
from voirdire_studies import Study, load_study, run_study

Row = Mapping[str, str]
#: Columns of results that identify the cell.
KEYS = ("panel", "added", "count", "design", "model", "optimiser", "measure")
CELL = KEYS[:4]
REPLICATES = 20


@dataclass
class _Seen(Mapping[str, Sequence[Row]]):
    """Stored results that record the rows that are read."""

    names: Sequence[str]
    used: dict[str, dict[tuple[str, ...], Row]] = field(default_factory=dict)

    def __getitem__(self, study: str) -> Sequence[Row]:
        return [_SeenRow(row, self.used.setdefault(study, {})) for row in rows_of(study)]

    def __iter__(self) -> Any:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


class _SeenRow(dict[str, str]):
    """Row that is recorded when its figures are read."""

    def __init__(self, row: Row, used: dict[tuple[str, ...], Row]) -> None:
        super().__init__(row)
        self._used = used

    def __getitem__(self, column: str) -> str:
        if column not in KEYS:
            self._used[tuple(self[key] for key in KEYS)] = dict(self)
        return super().__getitem__(column)


def used_rows(system: System) -> dict[str, list[Row]]:
    """Return the rows of stored results that the claims of a system use, by study.

    Examples
    --------
    >>> from voirdire_repro.claims import load_system
    >>> found = used_rows(load_system("maple"))
    >>> sorted(found), {row["model"] for row in found["rq1"]}
    (['ablation', 'maple/position', 'maple/spread', 'maple/targets', 'rq1', 'rq3'], {'maple'})
    """
    seen = _Seen(studies_of(system.claims))
    context = Context(system.tables, fetch=False, fresh=seen)
    for claim in system.claims:
        if claim.check.get("study"):
            for cell in claim.figures:
                CHECKS[claim.check["kind"]].compute(context, cell, claim.check)
    return {study: list(rows.values()) for study, rows in seen.used.items()}


def narrow_study(study: Study, rows: Sequence[Row]) -> Study:
    """Restrict a study to the panels, designs, models, optimisers and added judges of the rows."""
    own = dict(study.settings)
    for key, column in (("panels", "panel"), ("designs", "design")):
        own[key] = [entry for entry in own[key] if entry["name"] in {row[column] for row in rows}]
    for key, column in (("models", "model"), ("optimisers", "optimiser")):
        if key in own:
            own[key] = [entry for entry in own[key] if entry in {row[column] for row in rows}]
    if "added" in own:
        counts = {(row["added"], int(row["count"])) for row in rows}
        kept = [
            {**entry, "counts": [count for count in entry["counts"] if (entry["name"], count) in counts]}
            for entry in own["added"]
        ]
        own["added"] = [entry for entry in kept if entry["counts"]]
    return replace(study, settings=own)


def study_parts(study: Study, rows: Sequence[Row]) -> list[Study]:
    """Make studies with the cells of the rows, and with panels without added judges: one per panel and design.

    Examples
    --------
    >>> from voirdire_repro.claims import load_system
    >>> rows = used_rows(load_system("maple"))["maple/position"]
    >>> found = study_parts(load_study(path_of("maple/position").parent / "study.toml"), rows)
    >>> sum(len(part.study_cells()) for part in found)
    22
    """
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["panel"], row["design"]), []).append(row)
    return [narrow_study(study, own) for own in groups.values()]


def rerun(
    system: System,
    *,
    replicates: int = REPLICATES,
    jobs: int | None = 1,
    client: object = None,
    out: Path | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, list[Row]]:
    """Repeat the simulations that the claims of a system use.

    Parameters
    ----------
    system : System
    replicates : int
        Number of replicates; at most that of the study.
    jobs : int
        Number of processes.
    client : distributed.Client or str, optional
        Dask cluster instead of ``jobs``, or address of its scheduler.
    out : Path, optional
        Folder for finished batches, so that a stopped rerun can continue.
    progress : callable, optional
        Function of (study, batches done, all batches).

    Returns
    -------
    dict of str to list of rows
        Results by study, for ``judge_claims(fresh=)``.
    """
    results: dict[str, list[Row]] = {}
    for name, rows in used_rows(system).items():
        study = load_study(path_of(name).parent / "study.toml")
        study = study.with_replicates(min(replicates, study.replicates))
        results[name] = []
        for number, part in enumerate(split := study_parts(study, rows), start=1):
            label = name if len(split) == 1 else f"{name}, part {number} of {len(split)}"

            def tell_progress(done: int, of: int, label: str = label) -> None:
                if progress is not None:
                    progress(label, done, of)

            folder = None if out is None else out / f"{name.replace('/', '-')}-{number}"
            table = run_study(part, jobs=jobs, client=client, out=folder, progress=tell_progress).table
            results[name] += [{str(key): str(value) for key, value in row.items()} for row in table.to_dict("records")]
    return results
