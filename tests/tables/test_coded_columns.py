"""Long columns of text in Parquet files: read as codes, with the cells that rows have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from voirdire.errors import InputError
from voirdire.tables import parquet_file
from voirdire.tables.cells import CODED, Coded
from voirdire.tables.labels import read_labels
from voirdire.tables.parquet_file import parquet_cells, parquet_rows


@pytest.fixture
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    judge, item, label = rng.integers(0, 9, CODED), rng.integers(0, 3_000, CODED), rng.integers(0, 3, CODED)
    columns = {
        "judge": [f"jürgen {k}" for k in judge],
        "item": [f"i{i}" for i in item],
        "run": rng.integers(0, 3, CODED),
    }
    return pd.DataFrame({**columns, "label": np.array(["a", "b", "it's"])[label]})


def test_codes_have_the_cells_of_the_rows(table: pd.DataFrame, tmp_path: Path) -> None:
    table.loc[[3, 70], "item"] = None
    path = str(tmp_path / "labels.parquet")
    table.to_parquet(path)
    names = ["label", "run", "judge", "item"]
    cells = parquet_cells(path, names)
    rows = [row for some in parquet_rows(path, names) for row in some]
    assert list(cells) == names
    assert [type(cells[name]) is Coded for name in names] == [True, False, True, True]
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
    assert not isinstance(cells["item"], Coded)
    assert cells["item"] == table["item"].tolist()
