"""Checks of a saved fit's arrays against its tables: valid codes, equal numbers of rows, finite numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

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
