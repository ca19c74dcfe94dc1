"""Families: groups of judges that share a base model; their mistakes are not independent."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from voirdire.errors import InputError
from voirdire.tables.encode import encode_column
from voirdire.tables.problems import Problems, nearest_name
from voirdire.tables.ratings import known_names
from voirdire.tables.read import read_columns

Ints = npt.NDArray[np.int64]


def read_families(families: object, judges: Sequence[str], *, unit: str = "judge") -> dict[str, str]:
    """Read the family of each judge; a judge that is not named is a family of its own.

    Parameters
    ----------
    families : mapping, path or dataframe
        Judge to family, or a table with the columns ``judge`` and ``family``.
    judges : sequence of str
        The judges of the panel.
    unit : "judge" or "item"
        Members of the families, and the name of their column.

    Raises
    ------
    InputError
        A judge is not in the panel, or has two families.

    Examples
    --------
    >>> read_families({"a": "big", "b": "big"}, ["a", "b", "c"])
    {'a': 'big', 'b': 'big', 'c': 'c'}
    """
    problems = Problems("families" if unit == "judge" else f"{unit} families")
    pairs = _judges_with_families(families, problems, unit)
    family_of: dict[str, str] = {}
    for judge, family in pairs:
        if judge not in judges:
            hint = nearest_name(judge, list(judges)) or f"; known are {known_names(list(judges))}"
            problems.table(f"{unit} {judge!r} is none of the {len(judges)} {unit}s{hint}")
        elif family_of.setdefault(judge, family) != family:
            problems.table(f"{unit} {judge!r} is given families {family_of[judge]!r} and {family!r}; keep one")
    problems.raise_any()
    return {judge: family_of.get(judge, judge) for judge in judges}


def family_codes(families: Mapping[str, str], judges: Sequence[str]) -> Ints:
    """Code the family of each judge, shape (judges,).

    Examples
    --------
    >>> family_codes({"a": "big", "b": "small", "c": "big"}, ["a", "b", "c"])
    array([0, 1, 0])
    """
    names = sorted({families[judge] for judge in judges})
    return np.array([names.index(families[judge]) for judge in judges], dtype=np.int64)


def shared_families(families: Mapping[str, str], judges: Sequence[str]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Code the families of two or more judges; return the code of each judge (-1: alone) and the names of families.

    Both are empty where no family has two judges.

    Examples
    --------
    >>> shared_families({"a": "big", "b": "big", "c": "c"}, ("a", "b", "c"))
    ((0, 0, -1), ('big',))
    """
    count = Counter(families.get(judge, judge) for judge in judges)
    names = tuple(sorted(name for name, members in count.items() if members > 1))
    if not names:
        return (), ()
    family_code = {name: code for code, name in enumerate(names)}
    return tuple(family_code.get(families.get(judge, judge), -1) for judge in judges), names


def _judges_with_families(families: object, problems: Problems, unit: str) -> list[tuple[str, str]]:
    if isinstance(families, Mapping):
        return [(str(judge), str(family)) for judge, family in families.items()]
    if not (isinstance(families, str | os.PathLike) or hasattr(families, "columns") or hasattr(families, "schema")):
        raise InputError(
            f"families: {type(families).__name__} is neither a mapping of {unit} to family nor a table of both"
        )
    cells = read_columns(families, (unit, "family"), (), problems)
    columns = {name: encode_column(values, name, problems) for name, values in cells.items()}
    problems.raise_any()
    judge, family = columns[unit], columns["family"]
    return [
        (judge.levels[judge_code], family.levels[family_code])
        for judge_code, family_code in zip(judge.codes, family.codes, strict=True)
    ]
