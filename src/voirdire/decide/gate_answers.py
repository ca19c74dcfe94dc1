"""Answers about two versions, paired, from two tables or from one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.decide.gate_pairs import ABOUT, Differences, Versions, pair_answers
from voirdire.decide.gate_values import VALUES, differences_of_votes
from voirdire.errors import InputError
from voirdire.tables.answer_table import AnswerTable
from voirdire.tables.detect import read_table
from voirdire.tables.problems import nearest_name
from voirdire.tables.ratings import known_names
from voirdire.typing import Floats

if TYPE_CHECKING:
    import pandas as pd

SIDES = ("NEW", "OLD")


def read_differences(
    new: object,
    old: object,
    versions: Versions,
    *,
    positive: object = None,
    levels: Sequence[object] | None = None,
    name: str = "table",
    scale_from: Differences | None = None,
) -> Differences:
    """Read two tables, or one with both versions, and pair them.

    Parameters
    ----------
    new, old, positive, levels
        As in :func:`voirdire.decide.gate.gate`.
    versions : Versions
    name : str
        Name of the table in messages, where one table has both versions.
    scale_from : Differences, optional
        Other differences with the same labels or scale.

    Raises
    ------
    InputError
        A table is wrong, the tables are of different kinds, or they have no question or no judge in common.

    Examples
    --------
    >>> import pandas as pd
    >>> old = pd.DataFrame({"judge": "gpt", "item": [1, 2, 3], "label": ["pass", "fail", "pass"]})
    >>> found = read_differences(old.assign(label="pass"), old, Versions())
    >>> found.units, found.values.tolist(), found.scale
    (('1', '2', '3'), [0.0, 1.0, 0.0], (0.0, 1.0))
    """
    if old is None:
        answers = _read_answers(new, levels, name)
        _check_positive([answers], positive if scale_from is None else None)
        if answers.compares_items:
            return differences_of_votes(answers, versions)
        if answers.system is None:
            raise InputError(
                f"{name}: there is no column 'system' that says which version each row is about; give it, or two "
                "tables NEW and OLD"
            )
        sides = [_version_rows(answers, version) for version in versions.check_names(answers.systems).values()]
    else:
        tables = [_read_answers(table, levels, side) for side, table in zip(SIDES, (new, old), strict=True)]
        if any(answers.compares_items for answers in tables):
            raise InputError(
                "votes compare the two versions already: give one table of votes, with --new NAME and --old NAME"
            )
        new_side, old_side = (answers.data for answers in tables)
        if new_side != old_side:
            raise InputError(f"NEW has {new_side} and OLD has {old_side}; give two tables of one kind")
        _check_positive(tables, positive)
        version_names = (versions.new, versions.old)
        sides = [_select_version(*arguments) for arguments in zip(tables, version_names, SIDES, strict=True)]
        versions = _version_names(sides, versions)
    known = () if scale_from is None else scale_from.known
    values, meaning = VALUES[sides[0].data](sides, positive, levels, known)
    new_side, old_side = (_answer_frame(answers, value) for answers, value in zip(sides, values, strict=True))
    return pair_answers(new_side, old_side, meaning, versions)


def _read_answers(table: object, levels: Sequence[object] | None, name: str) -> Any:
    answers = read_table(table, levels=levels, name=name)
    if answers.has_levels and answers.members is not None:
        raise InputError(f"{name}: its labels are sets, and a gate takes one label an item; choose one of them")
    return answers


def _version_rows(table: Any, version: str) -> Any:
    return table.subset(table.system == table.systems.index(version))


def _select_version(table: Any, version: str | None, side: str) -> Any:
    """Rows of one version: the whole table, or the rows of the named system."""
    if version is not None and table.systems:
        if version not in table.systems:
            raise InputError(
                f"{side}: {version!r} is none of its systems {known_names(table.systems)}"
                f"{nearest_name(version, table.systems)}"
            )
        return _version_rows(table, version)
    if len(table.systems) > 1:
        raise InputError(
            f"{side} has several systems ({known_names(table.systems)}); say which is meant: --{side.lower()} NAME"
        )
    return table


def _check_positive(tables: Sequence[AnswerTable], positive: object) -> None:
    """Raise where a good label is named and the tables have no labels."""
    if positive is not None and not any(table.has_levels for table in tables):
        raise InputError(
            f"positive {positive!r} names a good label, and the tables have {tables[0].data}, compared as they are; "
            "leave it out"
        )


def _version_names(sides: Sequence[Any], versions: Versions) -> Versions:
    """Names of the versions in two tables where they exist and differ, else "new" and "old"."""
    names = [
        name or (side.systems[0] if len(side.systems) == 1 else None)
        for name, side in zip((versions.new, versions.old), sides, strict=True)
    ]
    if names[0] == names[1]:
        return Versions("new", "old")
    return Versions(names[0] or "new", names[1] or "old")


def _answer_frame(table: Any, value: Floats) -> pd.DataFrame:
    import pandas as pd

    plural = {"criterion": "criteria"}
    columns: dict[str, Any] = {"judge": np.array(table.judges, dtype=object)[table.judge]}
    present = {"criterion": table.has_criteria, "item": table.has_items}
    for name in ABOUT:
        code = getattr(table, name)
        if code is not None and present.get(name, True):
            columns[name] = np.array(getattr(table, plural.get(name, f"{name}s")), dtype=object)[code]
    time = np.zeros(table.rows) if table.time is None else table.time
    return pd.DataFrame({**columns, "value": value, "time": time, "place": np.arange(table.rows)})
