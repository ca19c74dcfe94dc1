"""Selection of rows of a table or of a run, by phase and by values of columns."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from voirdire.tables.problems import Problems
from voirdire.tables.read import columns_among, read_columns
from voirdire.tables.run_folders import TABLE_BY_ANSWER, filter_rows, run_folder, run_results, select_phase_rows

if TYPE_CHECKING:
    import pandas as pd


def select_rows(
    table: object,
    phase: str | None = None,
    where: Mapping[str, str] | None = None,
    *,
    answer: str | None = None,
    quiet: bool = False,
) -> pd.DataFrame:
    """Select the rows of a phase (by default the final one, if the table has phases) with some values.

    Parameters
    ----------
    table : path, folder of a run, or dataframe
    phase : str, optional
    where : mapping of str to str, optional
        Required value of each column.
    answer : "winner", "score" or "label", optional
        Column of answers of the table to use; by default the only one.

    Raises
    ------
    InputError
        No row is left, or several tables are possible.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": "a", "item": ["x", "y"], "score": 1, "phase": ["initial", "final"]})
    >>> select_rows(table)["item"].tolist()
    ['y']
    """
    import pandas as pd

    problems = Problems("table")
    if answer is None:
        present = columns_among(table, list(TABLE_BY_ANSWER), problems)
        if len(present) != 1:
            kinds = " and ".join(TABLE_BY_ANSWER[column] for column in present) or "no answers"
            problems.stop(f"it holds {kinds}; give the table that is meant")
        (answer,) = present
    is_path = isinstance(table, str | os.PathLike)
    name = os.fspath(table) if isinstance(table, str | os.PathLike) else "table"
    run = run_folder(name) if is_path else None
    if run is not None:
        cells: dict[str, Any] = dict(run_results(run, answer, phase, quiet=quiet))
    else:
        cells = select_phase_rows(read_columns(table, [answer], None, problems), phase, name)
        problems.raise_any()
    return pd.DataFrame(filter_rows(cells, where or {}, name))
