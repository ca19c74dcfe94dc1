"""Results of a run of `voirdire collect`: answers of the judges of its panel in the final phase."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Any

from voirdire.errors import InputError
from voirdire.layouts import read_json
from voirdire.notices import give_notice
from voirdire.tables.cells import Cells, WantedColumns
from voirdire.tables.files import read_file
from voirdire.tables.formats.row_choice import condition_column, meets_condition, no_rows_message
from voirdire.tables.problems import Problems

FINAL_PHASE = "final"
TABLE_BY_ANSWER = {"winner": "votes", "score": "scores", "label": "labels"}


@dataclass(frozen=True)
class RunFolder:
    """A folder that a run wrote: its path, its protocol and the names of its judges."""

    path: Path
    protocol: str
    judges: frozenset[str]

    def tables(self) -> list[str]:
        """List the columns of answers of the tables in the folder."""
        return [column for column, name in TABLE_BY_ANSWER.items() if (self.path / f"{name}.csv").is_file()]


def run_folder(path: str | os.PathLike[str]) -> RunFolder | None:
    """Read the description of the run in a folder; None without a run.

    Examples
    --------
    >>> run_folder("/") is None
    True
    """
    folder = Path(path)
    try:
        description = read_json(folder / "run.json")
        judges = frozenset(str(judge["name"]) for judge in description["judges"])
        return RunFolder(folder, str(description["protocol"]), judges)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def run_results(run: RunFolder, answer: str, phase: str | None = None, *, quiet: bool = False) -> Cells:
    """Read the results of a run: rows of the final phase by its judges, without those of their agents.

    Parameters
    ----------
    answer : "winner", "score" or "label"
        Column of answers of the table.
    phase : str, optional
        Another phase; its rows are those of all judges and agents in it.
    quiet : bool
        Whether the notice about rows that are left out is suppressed.

    Returns
    -------
    dict of str to list
        All columns but ``phase``, and ``group`` where no row has one.

    Raises
    ------
    InputError
        There is no such table or phase.
    """
    path = run.path / f"{TABLE_BY_ANSWER[answer]}.csv"
    if not path.is_file():
        raise InputError(f"run {str(run.path)!r} has no {path.name}; its tables are {', '.join(run.tables())}")
    cells = read_file(str(path), WantedColumns(["judge", answer], None, Problems(path.name)))
    total = len(cells["judge"])
    kept = select_phase_rows(cells, phase, str(run.path))
    if phase is None:
        kept = _take_rows(kept, [judge in run.judges or "/" not in str(judge) for judge in kept["judge"]])
    if not kept["judge"]:
        raise InputError(f"run {str(run.path)!r}: {path.name} has no result in its final phase; was it stopped?")
    if len(kept["judge"]) < total and not quiet:
        give_notice(
            f"{run.path}: {len(kept['judge']):,} of {total:,} {TABLE_BY_ANSWER[answer]} are results of {run.protocol} "
            f"({phase or FINAL_PHASE}); the others are of earlier phases or of agents (--phase names another phase)."
        )
    if "group" in kept and not any(kept["group"]):
        del kept["group"]
    return dict(kept)


def select_phase_rows(cells: Mapping[str, Any], phase: str | None, table_name: str) -> dict[str, list[object]]:
    """Select the rows of one phase (by default the final one), without the column of phases; all rows without phases.

    Raises
    ------
    InputError
        The phase does not occur.

    Examples
    --------
    >>> select_phase_rows({"judge": ["a", "b"], "phase": ["initial", "final"]}, None, "t")
    {'judge': ['b']}
    """
    columns = {name: list(column) for name, column in cells.items()}
    if "phase" not in columns:
        if phase is not None:
            raise InputError(f"{table_name}: phase {phase!r} is asked for, and there is no column 'phase'")
        return columns
    phases = columns.pop("phase")
    wanted = FINAL_PHASE if phase is None else phase
    if wanted not in phases:
        present = ", ".join(map(repr, sorted(set(map(str, phases)))))
        raise InputError(f"{table_name}: phase {wanted!r} is not among {present}; name one with --phase (phase=)")
    return _take_rows(columns, [row_phase == wanted for row_phase in phases])


def _take_rows(cells: Mapping[str, Any], chosen: Sequence[bool]) -> dict[str, list[object]]:
    return {name: list(compress(column, chosen)) for name, column in cells.items()}


def filter_rows(cells: Mapping[str, Any], where: Mapping[str, str], table: str) -> dict[str, list[object]]:
    """Select the rows that meet the conditions of ``where``; a name that ends with ``!`` excludes its value.

    Raises
    ------
    InputError
        A column is absent, or no row is left.

    Examples
    --------
    >>> filter_rows({"judge": ["a", "b"], "topic": ["x", "y"]}, {"topic": "y"}, "t")
    {'judge': ['b'], 'topic': ['y']}
    """
    for column in map(condition_column, where):
        if column not in cells:
            raise InputError(f"{table}: there is no column {column!r}; its columns are {', '.join(map(repr, cells))}")
    tested = {name: [*map(str, cells[condition_column(name)])] for name in where}
    chosen = [
        all(meets_condition(name, tested[name][row], value) for name, value in where.items())
        for row in range(len(next(iter(cells.values()), ())))
    ]
    if not any(chosen):
        raise InputError(no_rows_message(table, where, {name: Counter(texts) for name, texts in tested.items()}))
    return _take_rows(cells, chosen)
