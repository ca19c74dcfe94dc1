"""Runner of studies: parallel batches, each stored when finished; interruptions do not change the resulting table."""

from __future__ import annotations

import hashlib
import json
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.folders import check_resumed_folder, lock_folder, write_file
from voirdire.layouts import Layout, recognise_json, recognise_text
from voirdire.parallel import run_parallel
from voirdire_studies.study import Study, load_study

if TYPE_CHECKING:
    import pandas as pd

JOURNAL = "batches.jsonl"
#: The first replicate of every cell, so that a later version can be held against what made the results.
FIRST = "first.csv"
LAYOUT = Layout(
    "a study",
    {
        JOURNAL: recognise_text('{"study": ', '"sha256": '),
        "results.csv": recognise_text("", "mcse"),
        FIRST: recognise_text("", "replicate"),
        "run.json": recognise_json("study", "seed", "replicates", "versions"),
    },
)


@dataclass(frozen=True, eq=False)
class StudyResult:
    """Result of a study.

    Attributes
    ----------
    study : Study
    table : pandas.DataFrame
        One row per cell, model and measure: n, mean, sd, mcse (Monte Carlo standard error of the mean), and more by
        kind of study.
    replicates : pandas.DataFrame
        One row per replicate, in a fixed order.
    seconds : float
        Time of this run (batches found on disk take none).
    """

    study: Study
    table: pd.DataFrame
    replicates: pd.DataFrame
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Return the result in the shape of ``voirdire simulate --json``."""
        rows = json.loads(self.table.to_json(orient="records", double_precision=15))
        return {
            "study": self.study.name,
            "replicates": self.study.replicates,
            "seed": self.study.seed,
            "seconds": round(self.seconds, 3),
            "rows": rows,
        }


def run_study(
    study: str | Path | Study,
    *,
    replicates: int | None = None,
    jobs: int | None = 1,
    client: object = None,
    out: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> StudyResult:
    """Run a simulation study.

    Parameters
    ----------
    study : str, path or Study
        Name of a shipped study, study file, or checked study.
    replicates : int, optional
        Number of replicates; by default that of the file.
    jobs : int or None
        Number of processes, by joblib. None uses an active ``joblib.parallel_config``.
    client : distributed.Client or str, optional
        Dask cluster instead of ``jobs``, or address of its scheduler.
    out : path, optional
        Folder for the journal of finished batches, ``results.csv``, ``first.csv`` (every cell's first replicate) and
        ``run.json`` (title, aim, source, seed, replicates, day, versions). A run that was stopped goes on from there
        and ends with the same table.
    progress : callable, optional
        Called with (batches done, batches in all).

    Raises
    ------
    InputError
        A fault of the study file or the request, a cluster that cannot be used, or a folder that holds another
        study's batches or anything else, or that another run is writing to.

    Examples
    --------
    >>> result = run_study("rq1", replicates=1)  # doctest: +SKIP
    """
    checked = (study if isinstance(study, Study) else load_study(study)).with_replicates(replicates)
    if out is None:
        return _run_units(checked, jobs, client, None, progress)
    journal = _Journal(checked, Path(out))
    with lock_folder(out):
        return _run_units(checked, jobs, client, journal, progress)


def _run_units(
    checked: Study,
    jobs: int | None,
    client: object,
    journal: _Journal | None,
    progress: Callable[[int, int], None] | None,
) -> StudyResult:
    start = time.perf_counter()
    # before anything takes time: a signal leaves a folder with its journal, or none
    done: dict[str, list[dict[str, Any]]] = journal.read_batches() if journal is not None else {}
    import pandas as pd

    kind = _kind_module(checked)
    work = kind.units(checked)
    left = [unit for unit in work if _unit_key(unit) not in done]
    if progress is not None:
        progress(len(work) - len(left), len(work))
    for unit, rows in run_parallel(partial(kind.run, checked), left, jobs, client):
        done[_unit_key(unit)] = rows
        if journal is not None:
            journal.add_batch(_unit_key(unit), rows)
        if progress is not None:
            progress(len(done), len(work))
    rows = [row for unit in work for row in done[_unit_key(unit)]]
    frame = pd.DataFrame(rows)
    result = StudyResult(checked, kind.aggregate(checked, frame), frame, time.perf_counter() - start)
    if journal is not None:
        folder = journal.path.parent
        write_file(folder / "results.csv", result.table.to_csv(index=False, lineterminator="\n"))
        if "replicate" in frame:
            first = frame[frame["replicate"] == 0]
            write_file(folder / FIRST, first.to_csv(index=False, lineterminator="\n"))
        record = {
            "study": checked.name,
            "title": checked.title,
            "aim": checked.aim,
            "source": checked.source,
            "seed": checked.seed,
            "replicates": checked.replicates,
            "made": datetime.now(UTC).date().isoformat(),
            "versions": _package_versions(),
        }
        write_file(folder / "run.json", json.dumps(record, indent=1) + "\n")
    return result


def _package_versions() -> dict[str, str]:
    packages = ("voirdire", "numpy", "jax", "numpyro", "scipy")
    return {"python": platform.python_version()} | {name: metadata.version(name) for name in packages}


def _kind_module(study: Study) -> ModuleType:
    return import_module(f"voirdire_studies.{study.kind.replace('-', '_')}")


def _unit_key(unit: Any) -> str:
    return json.dumps(unit)


class _Journal:
    """Journal of finished batches, one JSON line each, after a first line that identifies the study."""

    def __init__(self, study: Study, folder: Path) -> None:
        # what was found is written once it is done, and changes nothing that is simulated
        settings = {key: value for key, value in study.settings.items() if key != "finding"}
        content = json.dumps([study.name, study.kind, study.seed, study.replicates, settings], sort_keys=True)
        self.head = {"study": study.name, "sha256": hashlib.sha256(content.encode()).hexdigest()}
        self.path = folder / JOURNAL
        check_resumed_folder(folder, LAYOUT, JOURNAL)
        with self._writing_errors():
            folder.mkdir(parents=True, exist_ok=True)

    def read_batches(self) -> dict[str, list[dict[str, Any]]]:
        """Read finished batches; an incomplete last line is dropped and run again."""
        if not self.path.exists():
            write_file(self.path, json.dumps(self.head) + "\n")
            return {}
        try:
            lines = self.path.read_text(encoding="utf-8").split("\n")
            whole, cut = lines[:-1], lines[-1]
            entries = [json.loads(line) for line in whole]
            if not entries or entries[0] != self.head:
                raise InputError(
                    f"output folder {self.path.parent}: holds batches of another study or other settings; name a new "
                    "folder"
                )
            done = {str(entry["unit"]): list(entry["rows"]) for entry in entries[1:]}
        except InputError:
            raise
        except (OSError, ValueError, TypeError, LookupError, RecursionError) as error:
            raise InputError(
                f"{self.path}: the finished batches are damaged ({error}); remove the line or name a new folder"
            ) from error
        if cut:
            write_file(self.path, "\n".join(whole) + "\n")
        return done

    def add_batch(self, key: str, rows: list[dict[str, Any]]) -> None:
        """Append a finished batch."""
        with self._writing_errors(), self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"unit": key, "rows": rows}) + "\n")

    @contextmanager
    def _writing_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise InputError(f"output folder {self.path.parent}: cannot be written ({error.strerror})") from error
