"""CSV that DuckDB reads as Python does: without quotation marks, and all of whose lines end alike.

A row is then a line, and a field what stands between commas. Whether all rows have as many fields as the header is told
by the commas of the whole file; where DuckDB refuses a line, or leaves one out, Python reads it and says what is wrong.
"""

from __future__ import annotations

import codecs
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from voirdire.tables.cells import Cells, Coded
from voirdire.tables.csv_file import check_text
from voirdire.tables.parquet_file import coded_texts, duckdb_connection, exact_path

LARGE = 1 << 23  # bytes from which it is worth it to begin with DuckDB


def commas_of_rows(file: Path, width: int) -> int | None:
    """How many commas stand below a header of so many columns; None where Python must read the file.

    Raises
    ------
    InputError
        It is no text that is UTF-8.
    """
    found = check_text(file)
    with open(file, "rb") as stream:
        begins = stream.read(5).removeprefix(codecs.BOM_UTF8)[:1] not in (b"\r", b"\n", b"")
    return found.commas - width + 1 if found.plain and width > 1 and begins else None


def plain_csv(path: str, folder: str | Path, width: int) -> str:
    """The table function of such a file; its columns are c0, c1, ..."""
    columns = ", ".join(f"c{place}: 'VARCHAR'" for place in range(width))
    # large buffers would take a small share of the memory for themselves
    size = "max_line_size = 2000000, buffer_size = 8000000, compression = 'none', hive_partitioning = false"
    how = "header = true, auto_detect = false, delim = ',', quote = '', escape = '', strict_mode = true"
    return f"read_csv({exact_path(path, folder)}, {how}, {size}, columns = {{{columns}}})"


def plain_cells(file: Path, names: Sequence[str], wanted: Sequence[str]) -> Cells | None:
    """Cells of some columns of a large file, as codes; None where Python must read it."""
    if os.path.getsize(file) < LARGE or (commas := commas_of_rows(file, len(names))) is None:
        return None
    import duckdb

    cells = [f"c{names.index(name)}" for name in wanted]
    chosen = ", ".join(f"coalesce({cell}, '') {cell}" for cell in cells)
    with tempfile.TemporaryDirectory(prefix="voirdire-") as folder, duckdb_connection(folder) as connection:
        try:
            connection.execute(
                f"CREATE TEMP TABLE t AS SELECT {chosen} FROM {plain_csv(str(file), folder, len(names))}"
            )
        except duckdb.Error:  # which Python says better
            return None
        (rows,) = connection.execute("SELECT count(*) FROM t").fetchone()
        if rows * (len(names) - 1) != commas:
            return None
        found: dict[str, Coded | None] = {
            name: coded_texts(connection, "t", cell) for name, cell in zip(wanted, cells, strict=True)
        }
    known: Cells = {name: column for name, column in found.items() if column is not None}
    return known if len(known) == len(wanted) else None
