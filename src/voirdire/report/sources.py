"""Content of the folder of a run: a saved fit, saved rows of ``agree`` or ``metaeval``, or a study."""

from __future__ import annotations

import csv
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.agreement.coefficients.rows import json_rows
from voirdire.errors import InputError
from voirdire.fit.store import load
from voirdire.folders import write_folder_atomically
from voirdire.layouts import FORMAT_VERSION, Layout, check_format, check_seal, read_json, recognise_json, with_seal
from voirdire.model.specs import specification_folder
from voirdire.settings import read_toml

if TYPE_CHECKING:
    import pandas as pd

    from voirdire.kinds.fit import Fit

ROW_KINDS = ("agree", "metaeval")
ROWS_LAYOUT = Layout(
    "saved rows", {"rows.json": recognise_json("rows"), "run.json": recognise_json("format", kind=ROW_KINDS)}
)
STUDY_TEXTS = ("title", "aim", "source")
_STUDY_TYPES = {"study": str, "seed": int, "replicates": int, "versions": dict, **dict.fromkeys(STUDY_TEXTS, str)}
_NUMERIC_COLUMNS = {"n", "mean", "sd", "mcse", "count"}
_SAVE_HINT = "save one with voirdire fit, agree, metaeval or simulate and --out DIR"


@dataclass(frozen=True)
class SavedRows:
    """Saved rows of agreement or meta-evaluation.

    Attributes
    ----------
    kind : "agree" or "metaeval"
    rows : tuple of mapping
        Rows as ``--json`` prints them, with further columns of the result.
    settings : mapping
        Settings of the call: prob, seed, resamples and so on.
    versions : mapping
    notes : tuple of str
    """

    kind: str
    rows: tuple[Mapping[str, Any], ...]
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class StudyRun:
    """Results of a simulation study: name, rows of its table, settings, versions.

    ``about`` has title, aim, source and finding where they are known.
    """

    name: str
    rows: tuple[Mapping[str, Any], ...]
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    about: Mapping[str, str] = field(default_factory=dict)


def save_rows(
    table: pd.DataFrame, folder: str | Path, kind: str, settings: Mapping[str, Any], *, overwrite: bool = False
) -> Path:
    """Save rows of agreement or meta-evaluation as ``rows.json`` and ``run.json`` in a folder, both or none.

    Parameters
    ----------
    table : pandas.DataFrame
        Result of `voirdire.agreement`, `voirdire.metaeval` or another function that gives such rows.
    folder : str or Path
    kind : "agree" or "metaeval"
    settings : mapping
        Settings of the call; JSON values.
    overwrite : bool
        True to replace rows saved there.

    Raises
    ------
    InputError
        The kind is unknown, or as in :func:`voirdire.folders.write_folder_atomically`.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> from voirdire.agreement.verb import agreement
    >>> table = pd.DataFrame({"judge": ["a", "b"] * 4, "item": [1, 1, 2, 2, 3, 3, 4, 4], "label": list("yyyynnny")})
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     folder = save_rows(agreement(table, resamples=50), parent + "/run", "agree", {"seed": 0})
    ...     read_run(folder).rows[0]["measure"]
    'agreement_rate'
    """
    if kind not in ROW_KINDS:
        raise InputError(f"kind {kind!r} is none of agree, metaeval")
    packages = ("voirdire", "numpy")
    run = {
        "format": FORMAT_VERSION,
        "kind": kind,
        "settings": dict(settings),
        "versions": {"python": platform.python_version()}
        | {package: metadata.version(package) for package in packages},
        "notes": list(table.attrs.get("notes", ())),
    }
    with write_folder_atomically(folder, ROWS_LAYOUT, overwrite=overwrite) as draft_folder:
        rows = json_rows(table, columns=list(table.columns))
        (draft_folder / "rows.json").write_text(json.dumps({"rows": rows}, allow_nan=False), encoding="utf-8")
        content = json.dumps(with_seal(run, draft_folder / "rows.json"), indent=1)
        (draft_folder / "run.json").write_text(content, encoding="utf-8")
    return Path(folder)


def read_run(folder: str | Path) -> Fit | SavedRows | StudyRun:
    """Read the run in a folder.

    Raises
    ------
    InputError
        The folder does not exist, holds no run, is half-written or damaged, or was made by a newer version.
    """
    run_folder = Path(folder)
    if not run_folder.exists():
        raise InputError(f"{run_folder}: there is no such folder; {_SAVE_HINT}")
    if not run_folder.is_dir():
        raise InputError(f"{run_folder}: is a file, not the folder of a run; {_SAVE_HINT}")
    try:
        file_names = {path.name for path in run_folder.iterdir()}
    except OSError as error:
        raise InputError(f"{run_folder}: cannot be read ({error.strerror})") from error
    if "run.json" not in file_names:
        if "batches.jsonl" in file_names:
            raise InputError(
                f"{run_folder}: the study here has not finished; voirdire simulate with this --out goes on"
            )
        if file_names & {"arrays.npz", "result.json", "rows.json", "results.csv"}:
            raise InputError(f"{run_folder}: a half-written run (run.json is missing); make it again")
        raise InputError(f"{run_folder}: no run is saved here; {_SAVE_HINT}")
    run = _read_json(run_folder, "run.json")
    if "study" in run:
        return _read_study(run_folder, run)
    if "kind" in run:
        return _read_rows(run_folder, run)

    return load(run_folder)


def _read_rows(folder: Path, run: Mapping[str, Any]) -> SavedRows:
    check_format(folder, run)
    if not (folder / "rows.json").is_file():
        raise InputError(f"{folder}: a half-written run (rows.json is missing); make it again")
    try:
        check_seal(run, folder / "rows.json")
        rows = _read_json(folder, "rows.json")["rows"]
        needed = {"measure", "judges", "value"}
        if not all(needed <= set(row) for row in rows):
            raise KeyError("measure")
        return SavedRows(run["kind"], tuple(rows), run["settings"], run["versions"], tuple(run["notes"]))
    except (LookupError, TypeError, ValueError, OSError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{folder}: the saved rows are damaged ({error}); make them again") from error


def _read_study(folder: Path, run: Mapping[str, Any]) -> StudyRun:
    if not (folder / "results.csv").is_file():
        raise InputError(f"{folder}: a half-written study (results.csv is missing); run it again")
    try:
        with (folder / "results.csv").open(encoding="utf-8", newline="") as file:
            header, *lines = csv.reader(file, strict=True)
        if any(len(line) != len(header) for line in lines) or len(set(header)) < len(header):
            raise ValueError("its lines do not have the same columns")
        rows: Sequence[dict[str, Any]] = [dict(zip(header, map(cell_value, line), strict=True)) for line in lines]
        non_numeric = {
            name for row in rows for name in _NUMERIC_COLUMNS & row.keys() if isinstance(row[name], str | bool)
        }
        if non_numeric:
            raise ValueError(f"{min(non_numeric)} is not a number")
        faults = [name for name, kind in _STUDY_TYPES.items() if not isinstance(run.get(name, kind()), kind)]
        if faults:
            raise ValueError(f"{faults[0]} in run.json is {run[faults[0]]!r}")
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{folder}: the saved study is damaged ({error}); run it again") from error
    if not rows:
        raise InputError(f"{folder}: results.csv holds no row; run the study again")
    settings = {key: run.get(key) for key in ("replicates", "seed")}
    return StudyRun(run["study"], tuple(rows), settings, run.get("versions", {}), _study_facts(run))


def _study_facts(run: Mapping[str, Any]) -> dict[str, str]:
    """Return title, aim, source and finding: from the run, else from the shipped study of that name."""
    facts = {key: str(run[key]) for key in STUDY_TEXTS if run.get(key)}
    path = specification_folder("simulations") / str(run["study"]) / "study.toml"
    if not path.is_file():
        return facts
    study = read_toml(path)
    shipped = {key: str(study[key]) for key in (*STUDY_TEXTS, "finding") if study.get(key)}
    if any(run.get(key) != study[key] for key in ("replicates", "seed")):
        shipped.pop("finding", None)  # the finding is valid for the replicates and seed of the shipped file only
    return shipped | facts


def cell_value(text: str | None) -> Any:
    """Convert a cell of a CSV file: to a number or a truth value if it is one, to None if it is empty.

    Examples
    --------
    >>> cell_value("0.5"), cell_value("20"), cell_value("True"), cell_value("maple"), cell_value("")
    (0.5, 20, True, 'maple', None)
    """
    if text is None or text == "":
        return None
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _read_json(folder: Path, name: str) -> Any:
    try:
        return read_json(folder / name)
    except (ValueError, OSError) as error:
        raise InputError(f"{folder}: {name} is damaged ({error}); make the run again") from error
