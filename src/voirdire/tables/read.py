"""Read the named columns of a table, whatever it is kept in."""

from __future__ import annotations

import os
from collections.abc import Sequence

from voirdire.tables.cells import Cells, cells_of, choose, frame_of
from voirdire.tables.files import header, read_file, relation_columns
from voirdire.tables.formats.taken import foreign_cells, foreign_names
from voirdire.tables.grouped import files_of
from voirdire.tables.problems import Problems
from voirdire.tables.run_folders import ANSWERS, results, run_folder


def read_columns(
    table: object, required: Sequence[str], optional: Sequence[str] | None, problems: Problems
) -> Cells:
    """Read columns of a file or a dataframe as lists of cells, one per row.

    Only the named columns are read; all others stay where they are. Of a lazy frame only they are
    collected. With ``optional=None`` every column is read.

    Parameters
    ----------
    table : path or dataframe
        A ``.csv``, ``.parquet``, ``.jsonl`` or ``.ndjson`` file, one of a tool or of another wrapping
        (:mod:`voirdire.tables.formats.taken`), or any dataframe that narwhals knows
        (pandas, Polars eager and lazy, PyArrow, DuckDB relation, ...).
    required, optional : sequence of str
        Columns to read; ``optional=None`` for all. A required one that is absent is reported with the
        nearest name that is present.
    problems : Problems
        Where problems are reported.

    Returns
    -------
    dict of str to sequence
        The cells of each column that is present. All have the same length.

    Raises
    ------
    InputError
        At once, if the table cannot be read at all.

    Examples
    --------
    >>> import pandas as pd
    >>> read_columns(pd.DataFrame({"judge": ["a"], "note": ["x"]}), ["judge"], ["run"], Problems("votes"))
    {'judge': ['a']}
    """
    if isinstance(table, str | os.PathLike):
        path = os.fspath(table)
        run = run_folder(path)
        if run is not None and (answer := next((one for one in ANSWERS if one in required), None)):
            cells = results(run, answer)
            return {name: cells[name] for name in choose(list(cells), required, optional, problems)}
        found = foreign_cells(path, required, optional, problems)
        return read_file(path, required, optional, problems) if found is None else found
    return _read_frame(table, required, optional, problems)


def _read_frame(
    table: object, required: Sequence[str], optional: Sequence[str] | None, problems: Problems
) -> Cells:
    import narwhals as nw

    frame, names = frame_of(table, problems)
    wanted = choose(names, required, optional, problems)
    if isinstance(frame, nw.LazyFrame):
        if frame.implementation.is_duckdb():
            return relation_columns(frame.to_native(), wanted)
        polars = frame.implementation.is_polars()
        frame = frame.select(wanted).collect(backend="polars" if polars else "pandas")
    return {name: cells_of(frame[name]) for name in wanted}


def columns_among(table: object, among: Sequence[str], problems: Problems) -> list[str]:
    """Which of some columns a table has, without reading its rows where that can be done.

    Examples
    --------
    >>> import pandas as pd
    >>> columns_among(pd.DataFrame({"judge": ["a"], "note": ["x"]}), ["judge", "winner"], Problems("votes"))
    ['judge']
    """
    if not isinstance(table, str | os.PathLike):
        return choose(frame_of(table, problems)[1], [], among, problems)
    path = os.fspath(table)
    run = run_folder(path)
    names = foreign_names(path) if run is None else run.tables()
    if names is None:
        names = header(files_of(path, problems)[0], problems)
    return choose(names, [], among, problems)
