"""Check of a saved fit's arrays against its tables: codes within their names, rows of one length, finite numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

_CODES = {
    "judge": "judges",
    "criterion": "criteria",
    "item": "items",
    "first": "items",
    "second": "items",
    "context": "contexts",
    "row_context": "contexts",
    "system": "systems",
    "run": "runs",
    "phase": "phases",
    "label": "labels",
    "group": "groups",
    "details_group": "groups",
}
_OF_NONE = ("group", "details_group", "known")  # codes that may be -1
_NEEDED = {
    "votes": ("judge", "criterion", "first", "second", "counts"),
    "rated": ("judge", "criterion", "item"),
}
WITHOUT_DRAWS = ("map", "adam")  # methods that give a mode alone
_OUTCOMES = 3  # first won, second won, tie
_PER_VOTE = ("row_outcome", "row_context", "details_degree", "details_group", "details_time")


def wrong_arrays(arrays: Mapping[str, Any], tables: Mapping[str, Any], method: str) -> list[str]:
    """List what is wrong with arrays, a sentence each.

    Parameters
    ----------
    arrays : mapping of str to array
        As stored: ``centre``, ``draws``, and columns named by their table, such as ``votes_judge``.
    tables : mapping
        Names that the codes of each table stand for.
    method : str
        How the fit was made; by some there are no draws.

    Examples
    --------
    >>> names = {"scores": {"has_items": True, "judges": ["a"], "criteria": ["overall"], "items": ["x", "y"]}}
    >>> codes = {f"scores_{name}": np.zeros(2, int) for name in ("judge", "criterion")}
    >>> wrong_arrays(codes | {"scores_item": np.array([0, 7]), "centre": np.zeros(3)}, names, "map")
    ['scores_item holds codes from 0 to 7, of 2 items']
    """
    if "centre" not in arrays:
        return ["centre is missing"]
    found = list(_number_problems(arrays, method))
    for key, names in tables.items():
        if isinstance(names, Mapping) and "judges" in names:
            start = f"{key}_"
            own = {name[len(start) :]: value for name, value in arrays.items() if name.startswith(start)}
            found += [f"{start}{said}" for said in _table_problems(own, names)]
    if "known" in arrays and "classes" in tables:
        found += _code_problems("known", arrays["known"], len(tables["classes"]), "classes", -1)
        asked = [arrays[name] for name in ("labels_criterion", "labels_item") if name in arrays]
        units = len(set(zip(*(codes.ravel().tolist() for codes in asked), strict=False)))
        if arrays["known"].size != units:
            found.append(f"known has {arrays['known'].size} entries, of {units} items")
    return found


def _number_problems(arrays: Mapping[str, Any], method: str) -> Iterator[str]:
    centre, draws = arrays["centre"], arrays.get("draws")
    if not np.isfinite(centre).all():
        yield "centre holds numbers that are none"
    if draws is None and method not in WITHOUT_DRAWS:
        yield f"draws are missing, of a fit by {method}"
    if draws is not None:
        if draws.ndim != 3 or draws.shape[2:] != centre.shape or draws.size == 0:
            yield f"draws have the shape {draws.shape}, of {centre.size} parameters"
        elif not np.isfinite(draws).all():
            yield "draws hold numbers that are none"


def _table_problems(own: Mapping[str, Any], names: Mapping[str, Any]) -> Iterator[str]:
    details = names.get("details") or {}
    further = names.get("further") or {}
    rated = "has_items" in names
    sides = () if rated else (2,)  # a vote has numbers of both its items
    shape = (*sides, len(further.get("covariates") or ()))
    yield from _covariate_column_problems(own, shape, further.get("factors") or {})
    known = {key: names.get(key) or details.get(key) or () for key in _CODES.values()}
    needed = _NEEDED["rated" if rated else "votes"]
    if names.get("contexts") and not rated:
        needed = (*needed, "row_cell", "row_outcome", "row_context")
    missing = [name for name in needed if name not in own]
    if missing:
        yield f"{missing[0]} is missing"
        return
    limits = {name: (len(known[of]), of, -(name in _OF_NONE)) for name, of in _CODES.items()}
    limits |= {"row_outcome": (_OUTCOMES, "outcomes", 0), "row_cell": (own["judge"].size, "cells", 0)}
    for name, value in own.items():
        if name in limits:
            yield from _code_problems(name, value, *limits[name])
        elif name == "counts":
            whole = value.dtype.kind in "iu" and value.ndim == 2 and value.shape[1] == _OUTCOMES
            if not (whole and value.size and value.min() >= 0 and value.sum(axis=1).min() > 0):
                yield f"{name} are no numbers of answers"
        elif not np.isfinite(value).all():
            yield f"{name} holds numbers that are none"
    of_votes = () if rated else (*_PER_VOTE, "further_covariate", "further_factor")
    apart = (*of_votes, "row_cell", "further_units")
    of_rows = [name for name in own if name not in apart]
    for base, names_of in (("row_cell", of_votes), ("judge", of_rows)):
        length = {np.shape(own[name])[:1] for name in (*names_of, base) if name in own}
        if len(length) > 1:
            yield f"{base} and what goes with it have different lengths"


def _covariate_column_problems(
    own: Mapping[str, Any], shape: tuple[int, ...], factors: Mapping[str, Any]
) -> Iterator[str]:
    shapes = [np.shape(own.get(name, ())) for name in ("further_units", "further_covariate")]
    if shape[-1] and (shapes[0] != shape[-1:] or shapes[1][1:] != shape):
        yield f"further columns are not those of {shape[-1]} covariates"
    code = own.get("further_factor", np.zeros((1, 0), dtype=np.int64))
    if code.ndim != 2 or code.shape[1] != len(factors):
        yield f"further columns are not those of {len(factors)} factors"
        return
    for at, (name, levels) in enumerate(factors.items()):
        yield from _code_problems(name, code[:, at], len(levels), "levels", -1)


def _code_problems(name: str, value: Any, n: int, of: str, least: int) -> Iterator[str]:
    if value.ndim != 1 or value.dtype.kind not in "iu" or value.size == 0:
        yield f"{name} is no column of codes ({value.dtype}, shape {value.shape})"
    elif value.min() < least or value.max() >= n:
        yield f"{name} holds codes from {value.min()} to {value.max()}, of {n} {of}"
