"""Long columns of Parquet and CSV files: read as codes, with the cells that rows have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from voirdire.errors import InputError
from voirdire.tables import csv_file, parquet_file, read_labels
from voirdire.tables.cells import MIN_CODED_ROWS, CodedCells, WantedColumns
from voirdire.tables.files import read_file
from voirdire.tables.parquet_file import parquet_cells, parquet_rows
from voirdire.tables.problems import Problems


@pytest.fixture
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    judge, item, label = (
        rng.integers(0, 9, MIN_CODED_ROWS),
        rng.integers(0, 3_000, MIN_CODED_ROWS),
        rng.integers(0, 3, MIN_CODED_ROWS),
    )
    columns = {
        "judge": [f"jürgen {k}" for k in judge],
        "item": [f"i{i}" for i in item],
        "run": rng.integers(0, 3, MIN_CODED_ROWS),
    }
    return pd.DataFrame({**columns, "label": np.array(["a", "b", "it's"])[label]})


def test_codes_have_the_cells_of_the_rows(table: pd.DataFrame, tmp_path: Path) -> None:
    table.loc[[3, 70], "item"] = None
    table["run"] = table["run"].astype("Int32")
    table.loc[[5, 71], "run"] = None
    path = str(tmp_path / "labels.parquet")
    table.to_parquet(path)
    names = ["label", "run", "judge", "item"]
    cells = parquet_cells(path, names)
    rows = [row for some in parquet_rows(path, names) for row in some]
    assert list(cells) == names
    assert all(type(cells[name]) is CodedCells for name in names)
    for place, name in enumerate(names):
        assert list(cells[name]) == [row[place] for row in rows]


def test_a_file_is_read_as_its_dataframe(table: pd.DataFrame, tmp_path: Path) -> None:
    path, table = tmp_path / "labels.parquet", table.drop(columns="run")
    table.to_parquet(path)
    here, there = read_labels(path), read_labels(table)
    assert here.items == there.items
    np.testing.assert_array_equal(here.item, there.item)
    np.testing.assert_array_equal(here.label, there.label)
    table.loc[70, "item"] = None
    table.to_parquet(path)
    with pytest.raises(InputError, match="row 71: item is empty"):
        read_labels(path)


def test_texts_with_one_hash_are_read_by_rows(
    table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "labels.parquet")
    table.to_parquet(path)
    monkeypatch.setattr(parquet_file, "_HASH", "length")
    cells = parquet_cells(path, ["item", "label"])
    assert not isinstance(cells["item"], CodedCells)
    assert cells["item"] == table["item"].tolist()


def whole_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """Each judge about each item at most once."""
    return table.assign(item=(table.index // 7).astype("int16"), judge=table.index % 7).drop(columns="run")


def test_whole_numbers_are_the_names_that_a_dataframe_has(table: pd.DataFrame, tmp_path: Path) -> None:
    path, numbered = tmp_path / "labels.parquet", whole_numbers(table)
    numbered.to_parquet(path)
    here, there = read_labels(path), read_labels(numbered)
    assert (here.items, here.judges) == (there.items, there.judges)
    np.testing.assert_array_equal(here.item, there.item)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """CSV of any size by DuckDB, where that can read it."""
    monkeypatch.setattr(csv_file, "MIN_DUCKDB_BYTES", 1)


WRITTEN = {
    "plain": "judge,item,label\na,1,x\n\nb,2,\n",
    "ends": "judge,item,label\r\na,1,x\r\nb, 2,y",
    "mark": "\ufeffjudge,item,label\na,1,x\n",
    "wider": "judge,item,label\na,1,x\nb,2,y,z\n",
    "narrower": "judge,item,label\na,1,x\nb,2\n",
    "both": "judge,item,label\na,1,x\nb,2,y,z\nc,3\n",
    "quoted": 'judge,item,label\na,1,"x, y"\n',
    "missing": "judge,item,label\nNA,1.0,x\n ,null,x\n",
    "conflict": "judge,item,label\n<<<<<<< ours\na,1,x\n=======\na,1,y\n>>>>>>> theirs\n",
}


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_csv_is_read_as_by_rows(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same cells, and the same errors."""
    path = tmp_path / "labels.csv"
    path.write_bytes(text.encode())
    found = []
    for least in (1, 1 << 30):
        monkeypatch.setattr(csv_file, "MIN_DUCKDB_BYTES", least)
        problems = Problems("labels")
        try:
            cells = read_file(str(path), WantedColumns(["label", "judge"], ["item"], problems))
            found.append(({name: list(column) for name, column in cells.items()}, problems.table_sentences))
        except InputError as error:
            found.append(({}, error.problems))
    assert found[0] == found[1]


@pytest.mark.usefixtures("quick")
def test_csv_is_read_as_its_dataframe(table: pd.DataFrame, tmp_path: Path) -> None:
    path, table = tmp_path / "labels.csv", table.drop(columns="run")
    table.to_csv(path, index=False)
    cells = read_file(str(path), WantedColumns(["label", "item"], [], Problems("labels")))
    assert all(isinstance(column, CodedCells) for column in cells.values())
    here, there = read_labels(path), read_labels(table)
    for name in ("judges", "items", "labels"):
        assert getattr(here, name) == getattr(there, name)
    for name in ("judge", "item", "label"):
        np.testing.assert_array_equal(getattr(here, name), getattr(there, name))
