"""Storage of a fit in a folder, and checks of its arrays."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from voirdire import layouts
from voirdire.errors import InputError
from voirdire.folders import write_folder_atomically
from voirdire.infer.posterior import Posterior
from voirdire.kinds.fit import Fit
from voirdire.kinds.human import Anchored
from voirdire.kinds.kind import Packed
from voirdire.kinds.registry import find_kind, fit_class
from voirdire.model.problem import Check
from voirdire.model.specs import SECTION_NAMES, Model, Reduction, Section
from voirdire.model.target_answers import read_target_answers
from voirdire.model.term_rows import TermRow

_CODES = {name: f"{name}s" for name in ("judge", "item", "context", "system", "run", "phase", "label", "group")}
_CODES |= {"criterion": "criteria", "first": "items", "second": "items"}
_CODES |= {"row_context": "contexts", "details_group": "groups"}
_NULLABLE_CODES = ("group", "details_group", "known")  # codes that may be -1
_REQUIRED = {"votes": ("judge", "criterion", "first", "second", "counts"), "rated": ("judge", "criterion", "item")}
WITHOUT_DRAWS = ("map", "adam")  # methods that give a mode only
_OUTCOMES = 3  # first won, second won, tie
_VOTE_ARRAYS = ("row_outcome", "row_context", "details_degree", "details_group", "details_time")


def wrong_arrays(arrays: Mapping[str, Any], tables: Mapping[str, Any], method: str) -> list[str]:
    """List the problems of arrays, a sentence each.

    Parameters
    ----------
    arrays : mapping of str to array
        Stored arrays: ``centre``, ``draws``, and columns named by their table, such as ``votes_judge``.
    tables : mapping
        Names of the codes of each table.
    method : str
        Method of the fit; some methods have no draws.

    Examples
    --------
    >>> names = {"scores": {"has_items": True, "judges": ["a"], "criteria": ["overall"], "items": ["x", "y"]}}
    >>> codes = {f"scores_{name}": np.zeros(2, int) for name in ("judge", "criterion")}
    >>> wrong_arrays(codes | {"scores_item": np.array([0, 7]), "centre": np.zeros(3)}, names, "map")
    ['scores_item holds codes from 0 to 7, of 2 items']
    """
    if "centre" not in arrays:
        return ["centre is missing"]
    problems = list(_number_problems(arrays, method))
    for key, names in tables.items():
        if isinstance(names, Mapping) and "judges" in names:
            prefix = f"{key}_"
            table_arrays = {name[len(prefix) :]: value for name, value in arrays.items() if name.startswith(prefix)}
            problems += [f"{prefix}{problem}" for problem in _table_problems(table_arrays, names)]
    if "known" in arrays and "classes" in tables:
        problems += _code_problems("known", arrays["known"], len(tables["classes"]), "classes", -1)
        label_codes = [arrays[name] for name in ("labels_criterion", "labels_item") if name in arrays]
        units = len(set(zip(*(codes.ravel().tolist() for codes in label_codes), strict=False)))
        if arrays["known"].size != units:
            problems.append(f"known has {arrays['known'].size} entries, of {units} items")
    return problems


def _number_problems(arrays: Mapping[str, Any], method: str) -> Iterator[str]:
    centre, draws = arrays["centre"], arrays.get("draws")
    if not np.isfinite(centre).all():
        yield "centre holds numbers that are not finite"
    if draws is None and method not in WITHOUT_DRAWS:
        yield f"draws are missing, of a fit by {method}"
    if draws is not None:
        if draws.ndim != 3 or draws.shape[2:] != centre.shape or draws.size == 0:
            yield f"draws have the shape {draws.shape}, of {centre.size} parameters"
        elif not np.isfinite(draws).all():
            yield "draws hold numbers that are not finite"


def _table_problems(table_arrays: Mapping[str, Any], names: Mapping[str, Any]) -> Iterator[str]:
    details = names.get("details") or {}
    further = names.get("further") or {}
    rated = "has_items" in names
    sides = () if rated else (2,)  # a vote has covariates of both items
    shape = (*sides, len(further.get("covariates") or ()))
    yield from _covariate_column_problems(table_arrays, shape, further.get("factors") or {})
    names_by_group = {key: names.get(key) or details.get(key) or () for key in _CODES.values()}
    needed = _REQUIRED["rated" if rated else "votes"]
    if names.get("contexts") and not rated:
        needed = (*needed, "row_cell", "row_outcome", "row_context")
    missing = [name for name in needed if name not in table_arrays]
    if missing:
        yield f"{missing[0]} is missing"
        return
    limits = {name: (len(names_by_group[axis]), axis, -(name in _NULLABLE_CODES)) for name, axis in _CODES.items()}
    limits |= {"row_outcome": (_OUTCOMES, "outcomes", 0), "row_cell": (table_arrays["judge"].size, "cells", 0)}
    for name, value in table_arrays.items():
        if name in limits:
            yield from _code_problems(name, value, *limits[name])
        elif name == "counts":
            valid = value.dtype.kind in "iu" and value.ndim == 2 and value.shape[1] == _OUTCOMES
            if not (valid and value.size and value.min() >= 0 and value.sum(axis=1).min() > 0):
                yield f"{name} are not numbers of answers"
        elif not np.isfinite(value).all():
            yield f"{name} holds numbers that are not finite"
    vote_arrays = () if rated else (*_VOTE_ARRAYS, "further_covariate", "further_factor")
    excluded = (*vote_arrays, "row_cell", "further_units")
    cell_arrays = [name for name in table_arrays if name not in excluded]
    for base, members in (("row_cell", vote_arrays), ("judge", cell_arrays)):
        length = {np.shape(table_arrays[name])[:1] for name in (*members, base) if name in table_arrays}
        if len(length) > 1:
            yield f"{base} and what goes with it have different lengths"


def _covariate_column_problems(
    table_arrays: Mapping[str, Any], shape: tuple[int, ...], factors: Mapping[str, Any]
) -> Iterator[str]:
    shapes = [np.shape(table_arrays.get(name, ())) for name in ("further_units", "further_covariate")]
    if shape[-1] and (shapes[0] != shape[-1:] or shapes[1][1:] != shape):
        yield f"further columns are not those of {shape[-1]} covariates"
    code = table_arrays.get("further_factor", np.zeros((1, 0), dtype=np.int64))
    if code.ndim != 2 or code.shape[1] != len(factors):
        yield f"further columns are not those of {len(factors)} factors"
        return
    for column, (name, levels) in enumerate(factors.items()):
        yield from _code_problems(name, code[:, column], len(levels), "levels", -1)


def _code_problems(name: str, value: Any, n: int, levels_name: str, least: int) -> Iterator[str]:
    if value.ndim != 1 or value.dtype.kind not in "iu" or value.size == 0:
        yield f"{name} is not a column of codes ({value.dtype}, shape {value.shape})"
    elif value.min() < least or value.max() >= n:
        yield f"{name} holds codes from {value.min()} to {value.max()}, of {n} {levels_name}"


MAX_BYTES = 2**32  # most bytes of arrays to read
MAX_COMPRESSION = 200  # largest compression ratio of arrays beyond 256 MB
#: Fields of a fit that are stored unchanged.
_PLAIN_FIELDS = ("method", "asked", "sampler", "seed", "prob", "seconds", "versions", "notes", "families")

#: The files, with checks that distinguish them from other programs' files of the same name.
LAYOUT = layouts.Layout(
    "a saved fit",
    {
        "result.json": layouts.recognise_json("model", "method", "checks"),
        "run.json": layouts.recognise_json("format", "model", "method", "tables"),
        "arrays.npz": layouts.recognise_text("PK\x03\x04", "centre.npy"),
    },
)


def save(fit: Fit, folder: str | Path, *, overwrite: bool = False) -> Path:
    """Write a fit to a folder: ``result.json`` (as ``fit --json``), ``run.json`` and ``arrays.npz``.

    The folder appears complete or not at all; a folder to replace is kept if writing fails.

    Raises
    ------
    InputError
        If the folder is not empty (with ``overwrite``: holds anything but a saved fit), or cannot be written.
    """
    arrays: dict[str, Any] = {"centre": fit.posterior.centre}
    if fit.posterior.draws is not None:
        arrays["draws"] = fit.posterior.draws
    arrays |= {f"stat_{name}": value for name, value in fit.sample_stats.items()}
    packed = fit.kind.pack(fit.problem)
    arrays |= packed.arrays
    run = {
        "format": layouts.FORMAT_VERSION,
        "model": asdict(fit.model),
        **{name: getattr(fit, name) for name in _PLAIN_FIELDS},
        "method_checks": [check.as_dict() for check in fit.method_checks],
        **packed.sections,
        "about": fit.problem.about,
        "target_answers": None if (target_answers := fit.problem.target_answers) is None else target_answers.as_dict(),
        "anchored": None if fit.anchored is None else asdict(fit.anchored),
    }
    with write_folder_atomically(folder, LAYOUT, overwrite=overwrite) as place:
        result = json.dumps(fit.as_dict(), indent=1, allow_nan=False)
        (place / "result.json").write_text(result, encoding="utf-8")
        np.savez_compressed(place / "arrays.npz", **arrays)
        content = json.dumps(layouts.with_seal(run, place / "arrays.npz"), indent=1)
        (place / "run.json").write_text(content, encoding="utf-8")
    return Path(folder)


def load(folder: str | Path) -> Fit:
    """Read a fit that :func:`save` wrote.

    Raises
    ------
    InputError
        If the folder is not a saved fit, is incomplete, or was written by a newer version.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 3, "second": "y", "winner": ["x", "x", "y"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = fit(table, model="bradley-terry").save(folder + "/run")
    ...     load(folder + "/run").ranking()["item"].tolist()
    ['x', 'y']
    """
    place = Path(folder)
    for name in ("run.json", "arrays.npz"):
        if not (place / name).is_file():
            raise InputError(f"{place}: no saved fit here ({name} is missing); save one with Fit.save or fit --out")
    try:
        run = layouts.read_json(place / "run.json")
        layouts.check_format(place, run)
        layouts.check_seal(run, place / "arrays.npz")
    except InputError:
        raise
    except Exception as error:
        raise _damaged_error(place, error) from error
    try:
        return _build_fit(run, _read_arrays(place / "arrays.npz"))
    except Exception as error:  # damaged files may raise any error
        raise _damaged_error(place, error) from error


def _damaged_error(folder: Path, error: Exception) -> InputError:
    message = (str(error).splitlines() or [""])[0][:200]
    kind = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
    return InputError(f"{folder}: the saved fit is damaged ({kind}{message}); save it again")


def _read_arrays(path: Path) -> dict[str, Any]:
    """Read the arrays of a file after a check of their sizes against their headers and the limits of a fit."""
    with ZipFile(path) as archive:
        entries = archive.infolist()
        size = sum(entry.file_size for entry in entries)
        if size > MAX_BYTES or size > 2**28 + MAX_COMPRESSION * path.stat().st_size:
            raise ValueError(f"arrays.npz unpacks to {size / 2**20:,.0f} MB")
        for entry in entries:
            with archive.open(entry) as file:
                version = np.lib.format.read_magic(file)
                npy_format = np.lib.format
                read_header = (
                    npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
                )
                shape, _, dtype = read_header(file)
                if dtype.kind not in "biuf" or math.prod(shape) * dtype.itemsize != entry.file_size - file.tell():
                    raise ValueError(f"array {entry.filename!r} is not what its header says")
    # opened here, because np.load leaves a damaged file open
    with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def _build_fit(run: dict[str, Any], arrays: dict[str, Any]) -> Fit:
    model = _read_model(run["model"])
    if wrong := wrong_arrays(arrays, run["tables"], run["method"]):
        raise InputError(f"arrays.npz: {wrong[0]}")
    problem = find_kind(model.data).unpack(model, Packed(run, arrays))
    answers = read_target_answers(run.get("target_answers"))
    problem = replace(problem, about=run.get("about", problem.about), target_answers=answers)
    posterior = Posterior(problem.density, arrays["centre"], arrays.get("draws"))
    if posterior.centre.shape != (problem.density.size,):
        raise ValueError("the arrays are not those of the model")
    stats = {name.removeprefix("stat_"): value for name, value in arrays.items() if name.startswith("stat_")}
    return fit_class(model.data)(
        problem=problem,
        posterior=posterior,
        method_checks=tuple(Check(**entry) for entry in run["method_checks"]),
        sample_stats=stats,
        anchored=_read_anchored(run["anchored"]),
        **{name: run[name] for name in _PLAIN_FIELDS} | {"notes": tuple(run["notes"])},
    )


def _read_anchored(content: dict[str, Any] | None) -> Anchored | None:
    if content is None:
        return None
    rows = {name: tuple(content[name]) for name in ("methods", "pairs")}
    return Anchored(content["mode"], content["chosen"], **rows, over=content.get("over", ""))


def _read_model(content: dict[str, Any]) -> Model:
    sections = {
        name: None
        if content.get(name) is None
        else Section(content[name]["kind"], tuple((key, float(value)) for key, value in content[name]["prior"]))
        for name in SECTION_NAMES
    }
    lists = {
        "reduces_to": tuple(Reduction(**entry) for entry in content["reduces_to"]),
        "overrides": tuple(tuple(entry) for entry in content["overrides"]),
        "terms": tuple(TermRow(tuple(factors), rate, sd) for factors, rate, sd in content["terms"]),
    }
    return Model(**{**content, **sections, **lists})
