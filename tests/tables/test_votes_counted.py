"""Tables counted where they are: the same counts as read row by row, whatever holds them; wrong ones are refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from voirdire import fit, load
from voirdire.errors import InputError
from voirdire.tables import Votes, grouped, read_votes
from voirdire.tables.counts import CountedVotes

SIZE = 3000


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    items = np.array(["m 1", "m,2", 'm"3"', "4"])
    first = rng.integers(0, 4, SIZE)
    second = (first + rng.integers(1, 4, SIZE)) % 4
    outcome = np.array(["first", "second", "tie", ""], dtype=object)[rng.integers(0, 4, SIZE)]
    named = items[np.where(rng.random(SIZE) < 0.5, first, second)]
    return pd.DataFrame(
        {
            "judge": rng.choice(["ann", "bob"], SIZE),
            "first": items[first],
            "second": items[second],
            "winner": np.where(outcome == "", named, outcome),
            "criterion": rng.choice(["clear", "true"], SIZE),
            "context": rng.integers(0, 50, SIZE).astype(str),
            "note": "x\ny",
        }
    )


@pytest.fixture(autouse=True)
def every_file_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouped, "MIN_GROUPED_BYTES", 1)


def same(counted: Votes, expected: Votes) -> None:
    assert isinstance(counted, CountedVotes)
    for name in ("judges", "criteria", "items", "has_criteria", "rows"):
        assert getattr(counted, name) == getattr(expected, name)
    for name in ("judge", "criterion", "first", "second", "counts"):
        np.testing.assert_array_equal(getattr(counted, name), getattr(expected, name))
    # the rows that are made up have the same counts
    again = np.zeros_like(expected.counts)
    np.add.at(again, (counted.row_cell, counted.row_outcome), 1)
    np.testing.assert_array_equal(again, expected.counts)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("files", [1, 3])
def test_files_are_counted_as_they_are_read(table: pd.DataFrame, tmp_path: Path, ending: str, files: int) -> None:
    write = {"csv": lambda part, path: part.to_csv(path, index=False), "parquet": pl_write}[ending]
    for number, rows in enumerate(np.array_split(np.arange(SIZE), files)):
        write(table.iloc[rows], tmp_path / f"part{number}.{ending}")
    path = tmp_path / (f"part0.{ending}" if files == 1 else f"*.{ending}")
    same(read_votes(path, rows=False), read_votes(table))


def pl_write(part: pd.DataFrame, path: Path) -> None:
    pl.from_pandas(part).write_parquet(path)


def test_lazy_frames_are_counted_by_their_engine(table: pd.DataFrame) -> None:
    expected = read_votes(table)
    same(read_votes(pl.from_pandas(table).lazy(), rows=False), expected)
    with duckdb.connect() as connection:
        same(read_votes(connection.from_df(table), rows=False), expected)


def test_frames_in_memory_keep_their_rows(table: pd.DataFrame) -> None:
    for frame in (table, pl.from_pandas(table), read_votes(table)):
        assert not isinstance(read_votes(frame, rows=False), CountedVotes)


def test_codes_of_a_long_column_are_those_of_a_short_one(table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    from voirdire.tables import cells

    plain = read_votes(table)
    monkeypatch.setattr(cells, "MIN_CODED_ROWS", 1)
    coded = read_votes(table)
    for name in ("judge", "criterion", "first", "second", "counts", "row_cell", "row_outcome", "row_context"):
        np.testing.assert_array_equal(getattr(coded, name), getattr(plain, name))
    holed = table.assign(judge=table["judge"].where(table.index != 7))
    with pytest.raises(InputError, match=r"^votes: row 8: judge is empty$"):
        read_votes(holed)


@pytest.mark.filterwarnings("ignore:Dask support is moving out of Narwhals:FutureWarning")
def test_a_dask_cluster_counts(table: pd.DataFrame) -> None:
    frames = pytest.importorskip("dask.dataframe")
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
    )
    with cluster, distributed.Client(cluster):
        same(read_votes(frames.from_pandas(table, npartitions=3), rows=False), read_votes(table))


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_spark_counts(table: pd.DataFrame) -> None:
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed: make test-slow installs it")
    from shutil import which

    if which("java") is None:
        pytest.skip("no Java here: apt-get install default-jre-headless")
    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}
    spark = sql.SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
    try:
        same(read_votes(spark.createDataFrame(table), rows=False), read_votes(table))
    finally:
        spark.stop()


def test_a_fit_of_a_counted_table_is_that_of_its_rows(table: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    table.to_csv(path, index=False)
    counted = fit(path, model="maple-position", method="map")
    plain = fit(table, model="maple-position", method="map")
    assert any("counted where it is" in note for note in counted.notes)
    pd.testing.assert_frame_equal(counted.ranking(), plain.ranking())
    pd.testing.assert_frame_equal(counted.judges(), plain.judges())
    again = load(counted.save(tmp_path / "run"))
    assert isinstance(again.problem.votes, CountedVotes)
    pd.testing.assert_frame_equal(again.ranking(), counted.ranking())


def test_no_vote_needs_its_row_for_a_fit(tmp_path: Path, table: pd.DataFrame) -> None:
    path = tmp_path / "votes.csv"
    table.to_csv(path, index=False)
    found = fit(path, model="crowd-bt-position", method="laplace")
    found.as_dict()
    assert not {"row_cell", "row_outcome"} & set(vars(found.problem.votes))


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown winner": ({"winner": "frist"}, r"3,000 rows: winner 'frist' is neither .* did you mean 'first'"),
    "an empty judge": ({"judge": ""}, "3,000 rows: judge is empty"),
    "white space": ({"judge": "ann "}, "3,000 rows: judge 'ann ' has white space"),
    "the same item": ({"first": "4", "second": "4", "winner": "first"}, "3,000 rows: first and second are both '4'"),
}


@pytest.mark.parametrize("name", BAD)
def test_wrong_rows_are_named_with_their_number(table: pd.DataFrame, tmp_path: Path, name: str) -> None:
    change, message = BAD[name]
    table.assign(**change).to_csv(tmp_path / "v.csv", index=False)
    with pytest.raises(InputError, match=message):
        read_votes(tmp_path / "v.csv", rows=False)


def test_wrong_files_are_named(table: pd.DataFrame, tmp_path: Path) -> None:
    good, bad = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pl_write(table, good)
    pattern = str(tmp_path / "*.parquet")

    def refused(message: str) -> None:
        with pytest.raises(InputError, match=message) as caught:
            read_votes(pattern, rows=False)
        assert len(caught.value.problems) == 1

    bad.write_bytes(good.read_bytes()[:-200])
    refused(r"b\.parquet.*is it whole")
    bad.write_bytes(b"")
    refused(r"b\.parquet' is empty; remove it")
    pl_write(table.drop(columns="winner"), bad)
    refused(r"b\.parquet'.*column 'winner' is missing")
    pl.from_pandas(table).with_columns(judge=pl.concat_list("judge")).write_parquet(bad)
    refused(r"b\.parquet'.*column 'judge' is of type VARCHAR\[\], which is not a name; write it as text")
    pl_write(table.drop(columns="criterion"), bad)
    refused(r"b\.parquet': has the columns judge, first, second, winner, context, but .*a\.parquet' has judge")
    with pytest.raises(InputError, match=r"no file matches .*; check the folder and the pattern"):
        fit(str(tmp_path / "none" / "*.parquet"))
    (tmp_path / "c.txt").write_text("judge")
    with pytest.raises(InputError, match=r"c\.txt' matches, but only \.parquet, \.csv can be read"):
        fit(str(tmp_path / "*"))


def test_wrong_lines_of_a_csv_are_named(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text("judge,first,second,winner\na,x,y,first\na,x,y\n")
    with pytest.raises(InputError, match=r"^votes: line 3: 3 fields, where the header has 4$"):
        read_votes(path, rows=False)
    path.write_bytes("judge,first,second,winner\nå,x,y,first\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"v\.csv' is not UTF-8: line 2 has the byte 0xe5; save it as UTF-8"):
        read_votes(path, rows=False)
    path.write_text("a;b\n1;2\n")
    with pytest.raises(InputError, match="the header 'a;b' has no commas; separate the columns by commas"):
        read_votes(path, rows=False)


def test_a_remote_frame_without_the_columns_is_refused(table: pd.DataFrame) -> None:
    lazy = pl.from_pandas(table).lazy().rename({"judge": "Judge"})
    with pytest.raises(InputError, match="column 'judge' is missing; did you mean 'Judge'"):
        read_votes(lazy, rows=False)
    broken = pl.from_pandas(table).lazy().with_columns(judge=pl.col("winner").cast(pl.Int64))
    with pytest.raises(InputError, match="the lazy frame cannot be evaluated: InvalidOperationError"):
        read_votes(broken, rows=False)


def test_an_amount_of_memory_that_is_none_is_refused(
    table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.to_csv(tmp_path / "v.csv", index=False)
    monkeypatch.setenv(grouped.MEMORY_VARIABLE, "much")
    with pytest.raises(InputError, match="VOIRDIRE_MEMORY: 'much' is not an amount of memory"):
        read_votes(tmp_path / "v.csv", rows=False)


PEAK = """
import resource, sys, duckdb, numpy, voirdire
from voirdire.tables.votes import read_votes
from voirdire.tables import grouped
read_votes(sys.argv[1], rows=False)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
votes = read_votes(sys.argv[2], rows=False)
print(votes.rows, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


@pytest.mark.long
@pytest.mark.slow
def test_memory_stays_bounded_on_a_file_of_ten_times_the_limit(tmp_path: Path) -> None:
    limit, rows = 70, 9_000_000  # megabytes; the file has ten times as many
    with duckdb.connect() as connection:
        for name, size in (("small", 100_000), ("big", rows)):
            connection.execute(
                f"COPY (SELECT 'a judge of the panel ' || (hash(i) % 50) AS judge, "
                f"'a model that is called ' || (hash(i + 1) % 100) AS first, "
                f"'a model that is called ' || (100 + hash(i + 2) % 100) AS second, 'first' AS winner "
                f"FROM range({size}) t(i)) TO '{tmp_path}/{name}.csv'"
            )
    assert (tmp_path / "big.csv").stat().st_size >= 10 * limit * 1e6
    code = PEAK.replace("read_votes(sys.argv[1]", "grouped.MIN_GROUPED_BYTES = 1; read_votes(sys.argv[1]", 1)
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "small.csv"), str(tmp_path / "big.csv")],
        env={**os.environ, grouped.MEMORY_VARIABLE: f"{limit}MB"},
        capture_output=True,
        text=True,
        check=True,
    )
    (tmp_path / "big.csv").unlink()
    counted, more = done.stdout.split()
    assert int(counted) == rows
    # beyond the peak of a file of 100,000 rows, whose share of the memory was in use already
    assert float(more) < limit
