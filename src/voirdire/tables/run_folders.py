"""Results of a run of `voirdire collect`: its tables in the final phase, by the judges of its panel."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voirdire.errors import InputError
from voirdire.layouts import read_json
from voirdire.notices import give_notice
from voirdire.tables.cells import Cells
from voirdire.tables.files import read_file
from voirdire.tables.formats.row_choice import condition_column, meets_condition, no_rows_message
from voirdire.tables.problems import Problems

FINAL = "final"
ANSWERS = {"winner": "votes", "score": "scores", "label": "labels"}


@dataclass(frozen=True)
class RunFolder:
    """A folder that a run wrote: its protocol and the names of its panel."""

    path: Path
    protocol: str
    judges: frozenset[str]

    def tables(self) -> list[str]:
        """The columns of answers of which there is a table."""
        return [column for column, name in ANSWERS.items() if (self.path / f"{name}.csv").is_file()]


def run_folder(path: str | os.PathLike[str]) -> RunFolder | None:
    """The run that is in a folder; None where there is none.

    Examples
    --------
    >>> run_folder("/") is None
    True
    """
    folder = Path(path)
    try:
        about = read_json(folder / "run.json")
        judges = frozenset(str(judge["name"]) for judge in about["judges"])
        return RunFolder(folder, str(about["protocol"]), judges)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def run_results(run: RunFolder, answer: str, phase: str | None = None, *, quiet: bool = False) -> Cells:
    """The rows of a run's table that are its results: of the final phase, and of its judges, not their agents.

    Parameters
    ----------
    answer : "winner", "score" or "label"
    phase : str, optional
        Another phase; its rows are those of all who speak in it.
    quiet : bool
        Whether nothing is said of what is left out.

    Returns
    -------
    dict of str to list
        All columns but ``phase``, and ``group`` where no row has one.

    Raises
    ------
    InputError
        There is no such table or phase.
    """
    path = run.path / f"{ANSWERS[answer]}.csv"
    if not path.is_file():
        raise InputError(
            f"run {str(run.path)!r} has no {path.name}; its tables are {', '.join(run.tables())}"
        )
    cells = read_file(str(path), ["judge", answer], None, Problems(path.name))
    whole = len(cells["judge"])
    kept = rows_of_phase(cells, phase, str(run.path))
    if phase is None:
        own = [judge in run.judges or "/" not in str(judge) for judge in kept["judge"]]
        kept = {name: [one for one, mine in zip(of, own, strict=True) if mine] for name, of in kept.items()}
    if not kept["judge"]:
        raise InputError(
            f"run {str(run.path)!r}: {path.name} has no result in its final phase; was it stopped?"
        )
    if len(kept["judge"]) < whole and not quiet:
        give_notice(
            f"{run.path}: {len(kept['judge']):,} of {whole:,} {ANSWERS[answer]} are results of {run.protocol} "
            f"({phase or FINAL}); the others are of phases or agents on the way (--phase names another)."
        )
    if "group" in kept and not any(kept["group"]):
        del kept["group"]
    return dict(kept)


def rows_of_phase(cells: Mapping[str, Any], phase: str | None, where: str) -> dict[str, list[object]]:
    """Rows of one phase, the final one by default, without the column; all rows where there are no phases.

    Raises
    ------
    InputError
        The phase is not there, or none is the final one.

    Examples
    --------
    >>> rows_of_phase({"judge": ["a", "b"], "phase": ["initial", "final"]}, None, "t")
    {'judge': ['b']}
    """
    columns = {name: list(of) for name, of in cells.items()}
    if "phase" not in columns:
        if phase is not None:
            raise InputError(f"{where}: phase {phase!r} is asked for, and there is no column 'phase'")
        return columns
    phases = columns.pop("phase")
    wanted = FINAL if phase is None else phase
    if wanted not in phases:
        known = ", ".join(map(repr, sorted(set(map(str, phases)))))
        raise InputError(f"{where}: phase {wanted!r} is not among {known}; name one with --phase (phase=)")
    return {
        name: [one for one, now in zip(of, phases, strict=True) if now == wanted]
        for name, of in columns.items()
    }


def filter_rows(cells: Mapping[str, Any], where: Mapping[str, str], table: str) -> dict[str, list[object]]:
    """Rows whose cells are what is asked for; where a name ends with ``!``, are not.

    Raises
    ------
    InputError
        A column is not there, or nothing is left.

    Examples
    --------
    >>> filter_rows({"judge": ["a", "b"], "topic": ["x", "y"]}, {"topic": "y"}, "t")
    {'judge': ['b'], 'topic': ['y']}
    """
    for column in map(condition_column, where):
        if column not in cells:
            raise InputError(
                f"{table}: there is no column {column!r}; its columns are {', '.join(map(repr, cells))}"
            )
    rows = len(next(iter(cells.values()), ()))
    kept = [
        row
        for row in range(rows)
        if all(
            meets_condition(name, str(cells[condition_column(name)][row]), value)
            for name, value in where.items()
        )
    ]
    if not kept:
        values = {name: Counter(map(str, cells[condition_column(name)])) for name in where}
        raise InputError(no_rows_message(table, where, values))
    return {name: [of[at] for at in kept] for name, of in cells.items()}
