"""Reading of named columns of a table in any format."""

from __future__ import annotations

import os
from collections.abc import Sequence

from voirdire.notices import give_notice
from voirdire.tables.answer_table import AnswerTable
from voirdire.tables.cells import Cells, WantedColumns, as_narwhals, column_cells
from voirdire.tables.columns import find_roles
from voirdire.tables.files import file_header, read_file, relation_columns
from voirdire.tables.formats import conversion_report
from voirdire.tables.formats.frames import opened_frame
from voirdire.tables.formats.imported import Imported
from voirdire.tables.formats.long_counts import count_column
from voirdire.tables.formats.long_table import DEFAULT_JUDGE, is_votes_without_judge, missing_judge_note
from voirdire.tables.formats.tables import has_known_layout
from voirdire.tables.grouped import matching_files
from voirdire.tables.problems import Problems
from voirdire.tables.reading import Reading, read_as
from voirdire.tables.run_folders import TABLE_BY_ANSWER, run_folder, run_results


def read_columns(table: object, required: Sequence[str], optional: Sequence[str] | None, problems: Problems) -> Cells:
    """Read columns of a file or a dataframe as lists of cells, one per row.

    Only the named columns are read (or collected, from a lazy frame). With ``optional=None`` every column is read.

    Parameters
    ----------
    table : path or dataframe
        A ``.csv``, ``.parquet``, ``.jsonl`` or ``.ndjson`` file, a file of a tool or in another file format
        (:mod:`voirdire.tables.formats.conversion_report`), or any dataframe that narwhals knows
        (pandas, Polars eager and lazy, PyArrow, DuckDB relation, ...).
    required, optional : sequence of str
        Columns to read; ``optional=None`` for all. An absent required column is reported with the most similar name
        that is present.
    problems : Problems
        Receives the problems.

    Returns
    -------
    dict of str to sequence
        The cells of each column that is present. All have the same length.

    Raises
    ------
    InputError
        Immediately, if the table cannot be read at all.

    Examples
    --------
    >>> import pandas as pd
    >>> read_columns(pd.DataFrame({"judge": ["a"], "note": ["x"]}), ["judge"], ["run"], Problems("votes"))
    {'judge': ['a']}
    """
    names = () if "judge" not in required else own_column_names(table, problems)
    if not is_votes_without_judge(names):
        return _read_any_table(table, WantedColumns(required, optional, problems))
    others = [name for name in required if name != "judge"]
    cells = _read_any_table(table, WantedColumns(others, optional, problems))
    give_notice(missing_judge_note(os.fspath(table) if isinstance(table, str | os.PathLike) else "table"))
    return {"judge": [DEFAULT_JUDGE] * max(map(len, cells.values()), default=0), **cells}


def _read_any_table(table: object, wanted: WantedColumns) -> Cells:
    if isinstance(table, Imported):
        return conversion_report.imported_cells(table, wanted)
    if not isinstance(table, str | os.PathLike):
        return _read_frame(table, wanted)
    path = os.fspath(table)
    run = run_folder(path)
    if run is not None and (answer := next((name for name in TABLE_BY_ANSWER if name in wanted.required), None)):
        cells = run_results(run, answer)
        return {name: cells[name] for name in wanted.among(list(cells))}
    foreign = conversion_report.convert_foreign_file(path, wanted)
    return read_file(path, wanted) if foreign is None else foreign


def _read_frame(table: object, wanted: WantedColumns) -> Cells:
    import narwhals as nw

    frame, names = as_narwhals(table, wanted.problems)
    if (imported := _import_other_layout(table, names)) is not None:
        return conversion_report.imported_cells(imported, wanted)
    columns = wanted.by_role(names)
    conversion_report.report_column_roles("table", columns)
    if isinstance(frame, nw.LazyFrame):
        if frame.implementation.is_duckdb():
            cells = relation_columns(frame.to_native(), list(columns.values()))
            return {column: cells[name] for column, name in columns.items()}
        is_polars = frame.implementation.is_polars()
        frame = frame.select(list(columns.values())).collect(backend="polars" if is_polars else "pandas")
    return {column: column_cells(frame[name]) for column, name in columns.items()}


def _import_other_layout(table: object, names: Sequence[str]) -> Imported | None:
    """Import a dataframe in a known layout other than one row per answer; None for any other dataframe."""
    roles = find_roles(names)
    one_row_per_answer = roles.get("score", "score") == "score" and set(TABLE_BY_ANSWER) & roles.keys()
    if one_row_per_answer and count_column(names, roles) is None:
        return None
    with opened_frame(table) as source:
        is_known = has_known_layout(source, roles)
    return read_as(table, Reading()) if is_known else None


def own_column_names(table: object, problems: Problems) -> tuple[str, ...]:
    """List the columns of a dataframe or of a file that is a table, under the table's own names."""
    if isinstance(table, Imported):
        return ()
    if not isinstance(table, str | os.PathLike):
        return tuple(as_narwhals(table, problems)[1])
    return conversion_report.original_column_names(os.fspath(table))


def columns_among(table: object, among: Sequence[str] | None, problems: Problems) -> list[str]:
    """List the columns of ``among`` (None: all columns) that a table has, if possible without reading its rows.

    Examples
    --------
    >>> import pandas as pd
    >>> columns_among(pd.DataFrame({"judge": ["a"], "note": ["x"]}), ["judge", "winner"], Problems("votes"))
    ['judge']
    """
    wanted = WantedColumns([], among, problems)
    if isinstance(table, AnswerTable):
        return wanted.among(table.column_names)
    if isinstance(table, Imported):
        return wanted.among(conversion_report.imported_column_names(table))
    if not isinstance(table, str | os.PathLike):
        frame_names = as_narwhals(table, problems)[1]
        imported = _import_other_layout(table, frame_names)
        return (
            list(wanted.by_role(frame_names))
            if imported is None
            else wanted.among(conversion_report.imported_column_names(imported))
        )
    path = os.fspath(table)
    run = run_folder(path)
    names = conversion_report.converted_column_names(path) if run is None else run.tables()
    return wanted.among(file_header(matching_files(path, problems)[0], problems) if names is None else names)
