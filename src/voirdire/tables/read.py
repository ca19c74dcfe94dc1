"""Read the named columns of a table, whatever it is kept in."""

from __future__ import annotations

import os
from collections.abc import Sequence

from voirdire.notices import give_notice
from voirdire.tables.answer_table import AnswerTable
from voirdire.tables.cells import Cells, as_narwhals, choose_columns, column_cells
from voirdire.tables.columns import find_roles
from voirdire.tables.files import file_header, read_file, relation_columns
from voirdire.tables.formats.conversion_report import (
    column_name_mapping,
    converted_column_names,
    foreign_cells,
    imported_cells,
    imported_column_names,
    original_column_names,
    report_column_roles,
)
from voirdire.tables.formats.frames import opened_frame
from voirdire.tables.formats.imported import Imported
from voirdire.tables.formats.long_counts import count_column
from voirdire.tables.formats.long_table import DEFAULT_JUDGE, is_votes_without_judge, missing_judge_note
from voirdire.tables.formats.tables import has_known_layout
from voirdire.tables.grouped import matching_files
from voirdire.tables.problems import Problems
from voirdire.tables.reading import Reading, read_as
from voirdire.tables.run_folders import ANSWERS, run_folder, run_results


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
        (:mod:`voirdire.tables.formats.conversion_report`), or any dataframe that narwhals knows
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
    names = () if "judge" not in required else own_column_names(table, problems)
    if not is_votes_without_judge(names, find_roles(names)):
        return _read_any_table(table, required, optional, problems)
    cells = _read_any_table(table, [name for name in required if name != "judge"], optional, problems)
    give_notice(missing_judge_note(os.fspath(table) if isinstance(table, str | os.PathLike) else "table"))
    return {"judge": [DEFAULT_JUDGE] * max(map(len, cells.values()), default=0), **cells}


def _read_any_table(
    table: object, required: Sequence[str], optional: Sequence[str] | None, problems: Problems
) -> Cells:
    if isinstance(table, Imported):
        return imported_cells(table, required, optional, problems)
    if not isinstance(table, str | os.PathLike):
        return _read_frame(table, required, optional, problems)
    path = os.fspath(table)
    run = run_folder(path)
    if run is not None and (answer := next((one for one in ANSWERS if one in required), None)):
        cells = run_results(run, answer)
        return {name: cells[name] for name in choose_columns(list(cells), required, optional, problems)}
    found = foreign_cells(path, required, optional, problems)
    return read_file(path, required, optional, problems) if found is None else found


def _read_frame(
    table: object, required: Sequence[str], optional: Sequence[str] | None, problems: Problems
) -> Cells:
    import narwhals as nw

    frame, names = as_narwhals(table, problems)
    if (found := _import_other_layout(table, names)) is not None:
        return imported_cells(found, required, optional, problems)
    roles = column_name_mapping(names, required, optional)
    under = {name: column for column, name in roles.items()}
    wanted = choose_columns([under.get(name, name) for name in names], required, optional, problems)
    report_column_roles("table", roles)
    places = [roles.get(name, name) for name in wanted]
    if isinstance(frame, nw.LazyFrame):
        if frame.implementation.is_duckdb():
            cells = relation_columns(frame.to_native(), places)
            return {name: cells[place] for name, place in zip(wanted, places, strict=True)}
        polars = frame.implementation.is_polars()
        frame = frame.select(places).collect(backend="polars" if polars else "pandas")
    return {name: column_cells(frame[place]) for name, place in zip(wanted, places, strict=True)}


def _import_other_layout(table: object, names: Sequence[str]) -> Imported | None:
    """A dataframe in another layout than one row an answer; None where its columns are those of answers, or unknown."""
    roles = find_roles(names)
    plain = roles.get("score", "score") == "score" and set(ANSWERS) & roles.keys()
    if plain and count_column(names, roles) is None:
        return None
    with opened_frame(table) as source:
        known = has_known_layout(source, roles)
    return read_as(table, Reading()) if known else None


def own_column_names(table: object, problems: Problems) -> tuple[str, ...]:
    """The columns of a dataframe or of a file that is a table, under their own names."""
    if isinstance(table, Imported):
        return ()
    if not isinstance(table, str | os.PathLike):
        return tuple(as_narwhals(table, problems)[1])
    return original_column_names(os.fspath(table))


def columns_among(table: object, among: Sequence[str] | None, problems: Problems) -> list[str]:
    """Those of some columns (None: of all) that a table has, without reading its rows where that can be done.

    Examples
    --------
    >>> import pandas as pd
    >>> columns_among(pd.DataFrame({"judge": ["a"], "note": ["x"]}), ["judge", "winner"], Problems("votes"))
    ['judge']
    """
    if isinstance(table, AnswerTable):
        return choose_columns(table.column_names, [], among, problems)
    if isinstance(table, Imported):
        return choose_columns(imported_column_names(table), [], among, problems)
    if not isinstance(table, str | os.PathLike):
        found = as_narwhals(table, problems)[1]
        known = _import_other_layout(table, found)
        if known is not None:
            return choose_columns(imported_column_names(known), [], among, problems)
        under = {name: column for column, name in column_name_mapping(found, [], among or ()).items()}
        return choose_columns([under.get(name, name) for name in found], [], among, problems)
    path = os.fspath(table)
    run = run_folder(path)
    names = converted_column_names(path) if run is None else run.tables()
    if names is None:
        names = file_header(matching_files(path, problems)[0], problems)
    return choose_columns(names, [], among, problems)
