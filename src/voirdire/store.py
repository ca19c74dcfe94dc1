"""Save a fit to a folder and read it back whole."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from voirdire.checks import Check
from voirdire.errors import InputError
from voirdire.fit import Fit
from voirdire.posterior import Posterior
from voirdire.problem import pose
from voirdire.specs import Model, Reduction, Section
from voirdire.tables.votes import Votes

FORMAT = 1
_CODES = ("judge", "criterion", "first", "second", "counts", "row_cell", "row_outcome", "row_context")
_NAMES = ("judges", "criteria", "items", "contexts", "has_criteria")


def save(fit: Fit, folder: str | Path, *, overwrite: bool = False) -> Path:
    """Write a fit to a folder: ``result.json`` (as ``fit --json``), ``run.json`` and ``arrays.npz``.

    Everything is written to a temporary folder beside it, which is then renamed: the folder appears whole or not at
    all.

    Raises
    ------
    InputError
        The folder exists and is not empty (and ``overwrite`` is not set), or cannot be written.
    """
    arrays: dict[str, Any] = {"centre": fit.posterior.centre}
    if fit.posterior.draws is not None:
        arrays["draws"] = fit.posterior.draws
    arrays |= {f"stat_{name}": value for name, value in fit.sample_stats.items()}
    tables = {"votes": fit.problem.votes, "criteria": fit.problem.criteria_votes}
    names: dict[str, Any] = {}
    for key, votes in tables.items():
        if votes is not None:
            names[key] = {name: getattr(votes, name) for name in _NAMES}
            codes = {name: getattr(votes, name) for name in _CODES}
            arrays |= {f"{key}_{name}": value for name, value in codes.items() if value is not None}
    run = {
        "format": FORMAT,
        "model": asdict(fit.model),
        "method": fit.method,
        "sampler": fit.sampler,
        "seed": fit.seed,
        "prob": fit.prob,
        "seconds": fit.seconds,
        "versions": fit.versions,
        "notes": fit.notes,
        "method_checks": [check.as_dict() for check in fit.method_checks],
        "tables": names,
    }
    with new_folder(folder, overwrite=overwrite) as place:
        (place / "result.json").write_text(json.dumps(fit.as_dict(), indent=1), encoding="utf-8")
        (place / "run.json").write_text(json.dumps(run, indent=1), encoding="utf-8")
        np.savez_compressed(place / "arrays.npz", **arrays)
    return Path(folder)


def load(folder: str | Path) -> Fit:
    """Read a fit that :func:`save` wrote.

    Raises
    ------
    InputError
        The folder is no saved fit, is incomplete, or was written by a newer version.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from voirdire.fit import fit
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 3, "second": "y", "winner": ["x", "x", "y"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = fit(table, model="bradley-terry").save(folder + "/run")
    ...     load(folder + "/run").ranking()["item"].tolist()
    ['x', 'y']
    """
    place = Path(folder)
    for name in ("run.json", "arrays.npz"):
        if not (place / name).is_file():
            raise InputError(
                f"{place}: no saved fit here ({name} is missing); save one with Fit.save or fit --out"
            )
    try:
        run = json.loads((place / "run.json").read_text(encoding="utf-8"))
        with np.load(place / "arrays.npz", allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except (ValueError, OSError, EOFError, KeyError) as error:
        raise InputError(f"{place}: the saved fit cannot be read ({error}); save it again") from error
    if run.get("format") != FORMAT:
        raise InputError(
            f"{place}: written in format {run.get('format')!r}, this version reads {FORMAT}; upgrade voirdire"
        )
    votes = _votes(run["tables"]["votes"], arrays, "votes")
    on_criteria = (
        _votes(run["tables"]["criteria"], arrays, "criteria") if "criteria" in run["tables"] else None
    )
    problem = pose(_model(run["model"]), votes, on_criteria)
    posterior = Posterior(problem.program, arrays["centre"], arrays.get("draws"))
    stats = {name.removeprefix("stat_"): value for name, value in arrays.items() if name.startswith("stat_")}
    return Fit(
        problem,
        posterior,
        run["method"],
        run["sampler"],
        run["seed"],
        run["prob"],
        run["seconds"],
        run["versions"],
        tuple(Check(**entry) for entry in run["method_checks"]),
        tuple(run["notes"]),
        stats,
    )


@contextmanager
def new_folder(folder: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a temporary folder that becomes ``folder`` if the block ends well, and vanishes if it does not.

    Raises
    ------
    InputError
        ``folder`` is a file, or holds something and ``overwrite`` is not set, or its parent cannot be written.
    """
    target = Path(folder)
    check_new_folder(target, overwrite=overwrite)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise InputError(f"output folder {target}: cannot be written ({error.strerror})") from error
    try:
        yield place
        if target.exists():
            shutil.rmtree(target)
        os.replace(place, target)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def check_new_folder(folder: str | Path, *, overwrite: bool = False) -> None:
    """Raise InputError where :func:`new_folder` would, before any work is done."""
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise InputError(f"output folder {target}: is a file; name a folder")
    if target.is_dir() and any(target.iterdir()) and not overwrite:
        raise InputError(
            f"output folder {target}: is not empty; name another or pass --overwrite (overwrite=True)"
        )


def _votes(names: dict[str, Any], arrays: dict[str, Any], key: str) -> Votes:
    content: dict[str, Any] = {name: arrays.get(f"{key}_{name}") for name in _CODES}
    content |= {name: tuple(value) if isinstance(value, list) else value for name, value in names.items()}
    return Votes(**content)


def _model(content: dict[str, Any]) -> Model:
    sections = {
        name: None
        if content[name] is None
        else Section(content[name]["kind"], _pairs(content[name]["prior"]))
        for name in ("strength", "reliability", "ties", "weights")
    }
    rest = {
        "reduces_to": tuple(Reduction(**entry) for entry in content["reduces_to"]),
        "overrides": tuple(tuple(entry) for entry in content["overrides"]),
    }
    return Model(**{**content, **sections, **rest})


def _pairs(prior: list[list[Any]]) -> tuple[tuple[str, float], ...]:
    return tuple((key, float(value)) for key, value in prior)
