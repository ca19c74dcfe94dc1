"""A path that is there is that file, and tables are read alike row by row and counted where they are."""

from __future__ import annotations

import datetime as dt
import decimal
import gzip
import os
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from counted_votes import drop_order_and_contexts

from voirdire import InputError
from voirdire.notices import listen_for_notes
from voirdire.tables import Votes, grouped, read_table, read_votes
from voirdire.tables.counts import CountedVotes

FIELDS = ("judges", "criteria", "items", "has_criteria", "rows")
CODES = ("judge", "criterion", "first", "second", "counts")


def both(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Votes | None, Votes | None, list[str]]:
    """What both readers make of a file (nothing where it is refused), and what they say."""
    found, said = [], []
    for large in (2**60, 1):
        monkeypatch.setattr(grouped, "MIN_GROUPED_BYTES", large)
        try:
            with listen_for_notes(lambda _: None):  # what a column is taken for
                found.append(read_votes(path, rows=False))
        except InputError as error:
            found.append(None)
            said.append(str(error))
    return found[0], found[1], said


def assert_alike(path: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether both readers read the file; that they agree."""
    small, large, said = both(path, monkeypatch)
    if small is None or large is None:
        assert small is large, (path.read_bytes()[:400], said)
        return False
    assert isinstance(large, CountedVotes)
    for name in FIELDS:
        assert getattr(large, name) == getattr(small, name), name
    for name in CODES:
        np.testing.assert_array_equal(getattr(large, name), getattr(small, name), err_msg=name)
    return True


# Letters that mean something to a reader of CSV, and some that mean something to DuckDB or to Python.
ODD = [*"\",\n\r\t' \\;|#\u00a0\u2028\x0b\x85é0.", "\r\n", '""', "\ufeff", "NULL", "first", "1e5", "\0", "\x1c"]


def random_field(rng: np.random.Generator, names: list[str]) -> str:
    kind = rng.random()
    if kind < 0.6:
        return str(rng.choice(names))
    if kind < 0.85:
        text = "".join(rng.choice(ODD + names) for _ in range(rng.integers(0, 4)))
        return '"' + text.replace('"', '""') + '"'
    return "".join(rng.choice(ODD + names) for _ in range(rng.integers(0, 3)))


def random_csv(rng: np.random.Generator) -> bytes:
    """A table as text: from one that any reader reads to one that has every fault there is."""
    fault = rng.choice([0.0, 0.02, 0.2], p=[0.4, 0.4, 0.2])
    columns = ["judge", "first", "second", "winner"]
    columns += [str(name) for name in rng.choice(["note", "note", "Judge", "", "criterion", "context"], 2)]
    columns = [columns[place] for place in rng.permutation(len(columns))][: rng.integers(5, 7)]
    if rng.random() < 0.9:
        columns += [name for name in ("judge", "first", "second", "winner") if name not in columns]
    end = str(rng.choice(["\n", "\r\n", "\r"], p=[0.6, 0.3, 0.1]))
    style = rng.choice(["bare", "quoted", "mixed"])

    def written(text: str) -> str:
        quote = style == "quoted" or (style == "mixed" and rng.random() < 0.3)
        quote = quote or any(mark in text for mark in ',"\r\n')
        return '"' + text.replace('"', '""') + '"' if quote else text

    def cell(column: str) -> str:
        if rng.random() < fault:
            return random_field(rng, ["a", "b", "x"])
        if column == "judge":
            return written(str(rng.choice(["ann", "bob", "7", "7.0", "é"])))
        if column in ("first", "second"):
            return written("x y" if column == "first" else str(rng.choice(["z", "10", "w"])))
        if column == "winner":
            return written(str(rng.choice(["first", "second", "tie", "x y"])))
        if column == "note":
            return written(str(rng.choice(["", "a,b", 'say "a"', "two\nlines", "plain", " spaced "])))
        return written(str(rng.choice(["clear", "true", "2026-01-31", "0010"])))

    rows = [",".join(map(written, columns))]
    for _ in range(rng.integers(0, 8)):
        cells = [cell(column) for column in columns]
        if rng.random() < fault:
            cells = cells[:-1] if rng.random() < 0.5 else [*cells, ""]
        rows.append(",".join(cells))
        if rng.random() < fault:
            rows.append(str(rng.choice(["", " ", ",", '"'])))
    ends = [str(rng.choice(["\n", "\r\n", "\r"])) if rng.random() < fault / 4 else end for _ in rows]
    ends[-1] = "" if rng.random() < 0.2 else end
    data = "".join(map("".join, zip(rows, ends, strict=True))).encode()
    if rng.random() < 0.15:
        data = b"\xef\xbb\xbf" + data
    if rng.random() < 0.1:
        data = end.encode() + data
    if rng.random() < fault:
        place = int(rng.integers(0, len(data)))
        data = data[:place] + bytes([int(rng.integers(0, 256))]) + data[place + 1 :]
    return data


VALUES: dict[str, tuple[Any, list[Any]]] = {
    "text": (pa.string(), ["a", "b c", "é", "7", "7.0", 'q"', "NULL ", "0010"]),
    "plain": (pa.string(), ["a", "b", "c"]),
    "long": (pa.large_string(), ["a", "b", "c"]),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), ["a", "b", "c"]),
    "whole": (pa.int64(), [1, 2, 2**60, -3]),
    "byte": (pa.uint8(), [0, 7, 255]),
    "double": (pa.float64(), [1.0, 0.1, 1e300, 2.5e-8, -0.0, 1e16, float(2**53 + 2), 123456789.125]),
    "single": (pa.float32(), [0.1, 1.0, 3.4e38, 16777216.0]),
    "half": (pa.float16(), [1.5, 2.0]),
    "truth": (pa.bool_(), [True, False]),
    "date": (pa.date32(), [dt.date(2026, 1, 31), dt.date(1, 1, 1)]),
    "time": (pa.timestamp("us"), [dt.datetime(2026, 1, 31), dt.datetime(2026, 1, 31, 1, 2, 3, 500)]),
    "zone": (pa.timestamp("us", tz="Europe/Rome"), [dt.datetime(2026, 1, 31), dt.datetime(2026, 7, 1, 12)]),
    "clock": (pa.time64("us"), [dt.time(1, 2, 3), dt.time(1, 2, 3, 400)]),
    "decimal": (pa.decimal128(9, 2), [decimal.Decimal("1.10"), decimal.Decimal("2.00")]),
    "bytes": (pa.binary(), [b"a", b"\xff"]),
    "list": (pa.list_(pa.int64()), [[1], [2]]),
}


def random_parquet(rng: np.random.Generator, path: Path) -> None:
    rows = int(rng.integers(0, 8))
    faulty = rng.random() < 0.2

    def column(kind: str) -> pa.Array:
        of, values = VALUES[kind]
        cells = [values[place] for place in rng.integers(0, len(values), rows)]
        if faulty and rng.random() < 0.3:
            cells = [None if rng.random() < 0.3 else cell for cell in cells]
            if kind in ("double", "single"):
                cells = [float(rng.choice([np.nan, np.inf])) if rng.random() < 0.3 else cell for cell in cells]
        return pa.array(cells, of)

    kinds = list(VALUES)[: len(VALUES) if faulty else -2]
    names = ["judge", "first", "second", "winner"]
    columns = [column(str(rng.choice(kinds))), pa.array(["x"] * rows), column("plain"), None]
    if rng.random() < 0.3:
        first, second = (column(str(rng.choice(kinds))) for _ in range(2))
        columns[1:3] = [first, second]
    columns[3] = pa.array([str(rng.choice(["first", "second", "tie"])) for _ in range(rows)], pa.string())
    for name in rng.choice(["criterion", "Judge", "judge", "note", "JUDGE"], 2, p=[0.4, 0.2, 0.05, 0.25, 0.1]):
        names.append(str(name))
        columns.append(column(str(rng.choice(kinds))))
    order = rng.permutation(len(names))
    table = pa.Table.from_arrays([columns[at] for at in order], names=[names[at] for at in order])
    pq.write_table(table, path)


def agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Random tables are read alike; a good part of them is read at all."""
    path, read = tmp_path / "v.csv", 0
    for seed in range(number):
        rng = np.random.default_rng(seed)
        if seed % 2:
            path = path.with_suffix(".parquet")
            random_parquet(rng, path)
        else:
            path = path.with_suffix(".csv")
            path.write_bytes(random_csv(rng))
        read += assert_alike(path, monkeypatch)
    assert number / 4 < read < number


def through_both_doors(tmp_path: Path, number: int) -> None:
    """A CSV is the same table under its own name and under that of a file whose content must tell what it is."""
    read = 0
    for seed in range(number):
        data = random_csv(np.random.default_rng(seed))
        found: list[Votes | None] = []
        for name, content in (("v.csv", data), ("v.txt", data), ("v.gz", gzip.compress(data))):
            path = tmp_path / name
            path.write_bytes(content)
            try:
                with listen_for_notes(lambda _: None):
                    found.append(read_votes(path))
            except InputError:
                found.append(None)
        plain, *others = found
        read += plain is not None
        for other in others:
            if plain is None or other is None:
                assert plain is other, data
                continue
            for name in (*FIELDS, "contexts", *CODES, "row_cell", "row_outcome", "row_context"):
                np.testing.assert_array_equal(getattr(other, name), getattr(plain, name), err_msg=name)
    assert number / 6 < read < number


def test_a_csv_is_the_same_under_any_name(tmp_path: Path) -> None:
    through_both_doors(tmp_path, 60)


@pytest.mark.long
@pytest.mark.slow
def test_a_thousand_csvs_are_the_same_under_any_name(tmp_path: Path) -> None:
    through_both_doors(tmp_path, 1000)


@pytest.mark.slow
def test_random_tables_are_read_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agree(tmp_path, monkeypatch, 25)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("count", [250, pytest.param(2000, marks=pytest.mark.long)])
def test_many_random_tables_are_read_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    agree(tmp_path, monkeypatch, count)


HEAD = "judge,first,second,winner\n"
TABLES = {
    "pandas' index": ",judge,first,second,winner\n0,a,x,y,first\n1,a,x,y,tie\n",
    "extra columns of one name": "note,judge,first,note,second,winner\nn,a,x,,y,first\n",
    "names that differ in case": "JUDGE,judge,first,second,winner\nb,a,x,y,first\n",
    "a comma too many": HEAD + "a,x,y,first,\na,x,y,first\n",
    "a comma too many, one too few": HEAD + "a,x,y,first,\na,x,first\n",
    "a space before a quotation mark": HEAD + 'a, "x",y,first\n',
    "lines that end differently": HEAD + "a,x,y,first\r\na,x,y,tie\n",
    "lines that end in CR": (HEAD + "a,x,y,first\na,x,y,tie\n").replace("\n", "\r"),
    "a blank line first": "\n" + HEAD + "a,x,y,first\n",
    "only a header": HEAD,
    "a header without its end": HEAD[:-1],
    "a byte order mark": "\ufeff" + HEAD + "a,x,y,first\n",
    "a quoted header after it": '\ufeff"judge",first,second,winner\na,x,y,first\n',
    "line breaks in a cell": HEAD + 'a,x,"y\n\r\nz",first\n',
    "a mark within a cell": HEAD + 'a,x"x"x,y,first\n',
    "a mark left open": HEAD + 'a,x,"y,first\n',
    "a zero byte": HEAD + "a,x\0,y,first\n",
    "a long cell": HEAD + f"a,x,{'y' * 3_000_000},first\n",
    "nothing": "",
    "one column": "winner\nfirst\n",
    "the mark of a missing value": HEAD + "NA,x,y,first\n,x,y,first\n",
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_that_were_read_differently(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "v.csv"
    path.write_bytes(TABLES[name].encode())
    assert_alike(path, monkeypatch)
    small, _, said = both(path, monkeypatch)
    if small is None and "is not CSV" not in said[0]:
        # lines are named by both, rows counted where they are only counted
        assert said[0] == said[1] or "row" in said[1]
    frame = (str(part) for part in (tmp_path / "v.csv", tmp_path / "*.csv"))
    assert len({_answer(lambda path=path: read_votes(path, rows=False)) for path in frame}) == 1


def _answer(read: Any) -> str:
    try:
        return str(read().counts.tolist())
    except InputError:
        return "refused"


def test_a_relation_is_counted_as_it_is_read() -> None:
    with duckdb.connect() as connection:
        relation = connection.sql(
            "SELECT date '2026-01-31' AS judge, 1.50::DECIMAL(9, 2) AS first, true AS second, 'first' AS winner, "
            "0.1::FLOAT AS criterion FROM range(3)"
        )
        large, small = read_votes(relation, rows=False), drop_order_and_contexts(read_votes(relation))
    assert isinstance(large, CountedVotes)
    assert large.judges == small.judges == ("2026-01-31",)
    assert large.items == small.items == ("1.50", "True")
    assert (large.criteria, large.counts.tolist()) == (small.criteria, [[3, 0, 0]])


# What paths are made of: letters, and what means something to a shell, to DuckDB or to Python's glob.
PARTS = ["a", "b", "1", "*", "**", "?", "[", "]", "[1]", "[ab]", "[!a]", "\\", "'", '"', "{a,b}", "é", " ", "~", "%20"]
PARTS += ["winner=tie", "judge=EVE", "s3:", "http:", "-", "=", ";", "$HOME", "\n", "#", ",", "(", ".", ".."]


def random_name(rng: np.random.Generator) -> str:
    return "".join(rng.choice(PARTS) for _ in range(rng.integers(1, 4)))


def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Many files beside each other, each with its own judge: each path reads its own, however it is read."""
    rng = np.random.default_rng(1)
    made: dict[Path, str] = {}
    while len(made) < number:
        folder = tmp_path.joinpath(*(random_name(rng) for _ in range(rng.integers(0, 3))))
        path = folder / (random_name(rng) + str(rng.choice([".csv", ".parquet", ".CSV"])))
        judge = f"judge {len(made)}"
        table = {"judge": [judge], "first": ["x"], "second": ["y"], "winner": ["first"]}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if path.exists():
                continue
            if path.suffix == ".parquet":
                pq.write_table(pa.table(table), str(path))
            else:
                pd.DataFrame(table).to_csv(path, index=False)
        except OSError:
            continue  # a folder has that name
        made[path] = judge
    monkeypatch.chdir(tmp_path)
    for number, (path, judge) in enumerate(made.items()):
        given = os.path.relpath(path) if number % 2 and ".." not in path.parts else str(path)
        for large in (2**60, 1):
            monkeypatch.setattr(grouped, "MIN_GROUPED_BYTES", large)
            found = read_votes(given, rows=False)
            assert (found.judges, found.counts.tolist()) == ((judge,), [[1, 0, 0]]), given
        assert read_table(given, rows=False).judges == (judge,)


def test_a_path_is_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths(tmp_path, monkeypatch, 12)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("count", [120, pytest.param(1000, marks=pytest.mark.long)])
def test_many_paths_are_their_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    paths(tmp_path, monkeypatch, count)


def test_a_path_that_is_missing_is_no_other_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a1.csv").write_text(HEAD + "a,x,y,first\n")
    for large in (2**60, 1):
        monkeypatch.setattr(grouped, "MIN_GROUPED_BYTES", large)
        for read in (read_votes, read_table):
            with pytest.raises(InputError, match=r"a\[1\]\.csv' does not exist"):
                read(tmp_path / "a[1].csv", rows=False)


def test_patterns_take_folders_that_are_there_by_their_names(tmp_path: Path) -> None:
    for place, folder in enumerate(("data[1]", "data1", "we*rd", "weird", "judge=EVE")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "v.csv").write_text(HEAD + f"{place},x,y,first\n")
    for folder, judges in (
        ("data[1]", "0"),
        ("data1", "1"),
        ("we*rd", "2"),
        ("judge=EVE", "4"),
        ("we?rd", "23"),
        ("*", "01234"),
    ):
        assert read_votes(tmp_path / folder / "*.csv", rows=False).judges == tuple(judges), folder
    assert read_votes(tmp_path / "**" / "v.csv", rows=False).judges == tuple("01234")


def test_files_of_several_types_are_counted_as_each_is_read(tmp_path: Path) -> None:
    table = pa.table({"first": ["x"], "second": ["y"], "winner": ["first"]})
    kinds: list[Any] = [pa.array([True]), pa.array([1]), pa.array([1.5]), pa.array(["1"]), pa.array([2**60 + 1])]
    for place, judge in enumerate(kinds):
        pq.write_table(table.append_column("judge", judge), tmp_path / f"{place}.parquet")
    (tmp_path / "5.csv").write_text(HEAD + '"1",x,y,tie\n')
    (tmp_path / "6.csv").write_text(HEAD + "1.0,x,y,tie\n")
    found = read_votes(tmp_path / "*", rows=False)
    assert found.judges == ("1", "1.5", "1152921504606846977", "True")
    assert found.counts.tolist() == [[2, 0, 2], [1, 0, 0], [1, 0, 0], [1, 0, 0]]
    (tmp_path / "7.csv").write_text(HEAD + '"",x,y,tie\n')
    with pytest.raises(InputError, match="votes: 1 row: judge is empty"):
        read_votes(tmp_path / "*", rows=False)
