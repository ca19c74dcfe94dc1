"""Files that unpack to gigabytes are refused before they fill the memory; real tables that pack well are read."""

from __future__ import annotations

import gzip
import json
import struct
import subprocess
import sys
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from voirdire import InputError, read
from voirdire.tables import read_scores
from voirdire.tables.formats import failures
from voirdire.tables.formats.rows import Score
from voirdire.tables.formats.table_rows import Rows

pa = pytest.importorskip("pyarrow")
MB = 2**20
TIMES = 3000  # megabytes
MOST = 500  # megabytes of memory, of which Python with its libraries takes some 130

ROW = b'{"judge": "a", "item": "x", "score": 1},'
HEADER = b"judge,item,score\n"


def repeated(part: bytes) -> bytes:
    """A megabyte of something."""
    return part * (MB // len(part))


#: What a text begins with, goes on with for gigabytes, and ends with.
TEXTS = {
    "blanks": (b"[", repeated(b" "), b"]"),
    "zeros": (HEADER, repeated(b"\0"), b""),
    "one line": (HEADER, repeated(b"a"), b"\n"),
    "commas": (HEADER, repeated(b","), b""),
    "one text": (b'[{"judge":"', repeated(b"a"), b'"}]'),
    "lists in a record": (b'[{"judge":[', repeated(b"[],"), b"[]]}]"),
    "nesting": (b"[", repeated(b"["), b"]"),
    "an object": (b'{"testCases":"', repeated(b"a"), b'"}'),
    "lists in an object": (b'{"testCases":[', repeated(b"[],"), b"[]]}"),
}
SLOW = {
    "one field": (HEADER + b'"', repeated(b"\n"), b'"\n'),
    "empty lines": (HEADER, repeated(b"\n"), b""),
    "rows": (HEADER, repeated(b"a,x,1\n"), b""),
    "records": (b"[", repeated(ROW), ROW[:-1] + b"]"),
    "lines": (b"", repeated(ROW[:-1] + b"\n"), b""),
}


def deflated(begin: bytes, middle: bytes, times: int, end: bytes) -> bytes:
    """What packs a text, without packing all of it: parts that do not look back can be repeated."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    parts = [packer.compress(part) + packer.flush(zlib.Z_FULL_FLUSH) for part in (begin, middle)]
    return parts[0] + parts[1] * times + packer.compress(end) + packer.flush()


def gzipped(path: Path, begin: bytes, middle: bytes, end: bytes) -> Path:
    path.write_bytes(b"\x1f\x8b\x08" + b"\0" * 7 + deflated(begin, middle, TIMES, end) + b"\0" * 8)
    return path


def zstandard(path: Path, begin: bytes, middle: bytes, end: bytes) -> Path:
    frames = [pa.Codec("zstd").compress(part, asbytes=True) if part else b"" for part in (begin, middle, end)]
    path.write_bytes(frames[0] + frames[1] * TIMES + frames[2])
    return path


def packed(text: bytes) -> tuple[bytes, int, int]:
    """A member that is what it says."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(text) + packer.flush(), len(text), zlib.crc32(text)


def archive(path: Path, members: dict[str, tuple[bytes, int, int]]) -> Path:
    """A zip archive of members that are packed already, with what is said of their sizes and sums."""
    whole = directory = b""
    for name, (data, size, crc) in members.items():
        about = struct.pack("<5H3L", 20, 0, 8, 0, 0, crc, len(data), size)
        place = struct.pack("<5H2L", len(name), 0, 0, 0, 0, 0, len(whole))
        directory += b"PK\x01\x02" + struct.pack("<H", 20) + about + place + name.encode()
        whole += b"PK\x03\x04" + about + struct.pack("<2H", len(name), 0) + name.encode() + data
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, len(members), len(members), len(directory), len(whole), 0)
    path.write_bytes(whole + directory + end)
    return path


def log(path: Path, said: int | None = None) -> Path:
    """A log of Inspect with a sample of gigabytes."""
    about = {"task": "t", "model": "m", "scorers": [{"name": "g"}]}
    header = json.dumps({"version": 2, "status": "success", "eval": about}).encode()
    sample = deflated(b'{"id":1,"scores":{"g":{"value":"', repeated(b"a"), TIMES, b'"}}}')
    members = {"header.json": packed(header), "samples/1_epoch_1.json": (sample, said or TIMES * MB, 0)}
    return archive(path, members)


def workbook(path: Path, part: str, begin: bytes, middle: bytes, end: bytes, said: int | None = None) -> Path:
    """A spreadsheet of which one part has gigabytes."""
    import openpyxl

    openpyxl.Workbook().save(path)
    with zipfile.ZipFile(path) as plain:
        members = {name: packed(plain.read(name)) for name in plain.namelist()}
    members[part] = (deflated(begin, middle, TIMES, end), said or TIMES * MB, 0)
    return archive(path, members)


SHEET = "xl/worksheets/sheet1.xml"


def parquet(path: Path, cells: str, rows: int) -> Path:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT {cells} AS judge, 'x' AS item, 1 AS score FROM range({rows})) TO '{path}' "
            "(FORMAT parquet, COMPRESSION zstd)"
        )
    return path


BINARY: dict[str, Callable[[Path], Path]] = {
    "log.eval": log,
    "false sizes.eval": lambda path: log(path, 1000),
    "cells.xlsx": lambda path: workbook(path, SHEET, b"<worksheet><sheetData><row>", repeated(b"<c/>"), b"</row>"),
    "blanks.xlsx": lambda path: workbook(path, SHEET, b"<worksheet>", repeated(b" "), b"</worksheet>"),
    "false.xlsx": lambda path: workbook(path, SHEET, b"<worksheet>", repeated(b" "), b"</worksheet>", 1000),
    "styles.xlsx": lambda path: workbook(path, "xl/styles.xml", b"<styles>", repeated(b"<a/>"), b"</styles>"),
    "rows.parquet": lambda path: parquet(path, "'a'", 60_000_000),
    "cell.parquet": lambda path: parquet(path, "repeat('a', 40_000_000)", 3),
    "cells.parquet": lambda path: parquet(path, "repeat('a', 1_000_000)", 300),
}

PEAK = """
import sys, warnings
from pathlib import Path
import duckdb, pandas, pyarrow
import voirdire
from voirdire.tables.detect import read_table
warnings.simplefilter("ignore")
for path in sys.argv[1:]:
    for door in (voirdire.read, read_table):
        try:
            door(path)
            print("was read:", path)
        except voirdire.InputError as error:
            print("refused:", str(error)[:300])
status = Path("/proc/self/status").read_text()  # what resource says holds the memory of the process that began this one
print(next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")))
"""


def refused_within_memory(paths: list[Path]) -> None:
    """In a process of their own, both doors refuse all files within the memory there is."""
    if not Path("/proc/self/status").exists():
        pytest.skip("the memory of a process is read from /proc, which is not here")
    limit = "import resource; resource.setrlimit(resource.RLIMIT_DATA, (2**32, 2**32))\n"
    done = subprocess.run(
        [sys.executable, "-c", limit + PEAK, *map(str, paths)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    *said, peak = done.stdout.splitlines()
    assert len(said) == 2 * len(paths)
    assert all(line.startswith("refused: ") for line in said), said
    assert float(peak) <= MOST, said


@pytest.mark.parametrize("pack", [gzipped, zstandard])
def test_packed_texts_of_gigabytes(tmp_path: Path, pack: Callable[..., Path]) -> None:
    refused_within_memory([pack(tmp_path / f"{at}.gz", *text) for at, text in enumerate(TEXTS.values())])


#: Those of which gigabytes, or millions of rows, are read before they are refused.
LONGEST = [(zstandard, "rows"), (gzipped, "records"), (gzipped, "lines")]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    ("pack", "name"),
    [
        pytest.param(pack, name, marks=[pytest.mark.long] * ((pack, name) in LONGEST))
        for pack in (gzipped, zstandard)
        for name in SLOW
    ],
)
def test_packed_rows_of_gigabytes(tmp_path: Path, pack: Callable[..., Path], name: str) -> None:
    refused_within_memory([pack(tmp_path / "table", *SLOW[name])])


@pytest.mark.long
@pytest.mark.slow
def test_archives_spreadsheets_and_parquet_of_gigabytes(tmp_path: Path) -> None:
    refused_within_memory([make(tmp_path / name) for name, make in BINARY.items()])


def scores(path: Path, rows: int) -> Path:
    path.write_bytes(gzip.compress(HEADER + b"a,x,1\n" * rows, 9))
    return path


def test_the_bound_is_named_and_can_be_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "STREAMED_MINIMUM", 2**19)
    path = scores(tmp_path / "scores.csv.gz", 200_000)
    with pytest.raises(InputError, match=r"unpacks to more than [\d,]+ bytes; .* set VOIRDIRE_UNPACKED=20GB"):
        read_scores(path)
    monkeypatch.setenv("VOIRDIRE_UNPACKED", "1.21 MB")
    assert read_scores(path).rows == 200_000
    monkeypatch.setenv("VOIRDIRE_UNPACKED", "1190K")
    with pytest.raises(InputError, match="more than 1 MB"):
        read_scores(path)
    monkeypatch.setenv("VOIRDIRE_UNPACKED", "much")
    with pytest.raises(InputError, match="VOIRDIRE_UNPACKED: 'much' is no size; write for example 20GB"):
        read_scores(path)


@pytest.mark.slow
def test_a_table_that_packs_a_hundred_times_is_read(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    wins = rng.random(300_000) < 0.5
    lines = [b"a judge with quite a long name,a model that is called so by its makers,%d\n" % win for win in wins]
    text = HEADER + b"".join(lines)
    for name, packed in (
        ("s.csv.gz", gzip.compress(text, 9)),
        ("s.zst", pa.Codec("zstd").compress(text, asbytes=True)),
    ):
        path = tmp_path / name
        path.write_bytes(packed)
        assert len(text) > 50 * len(packed)
        assert read_scores(path).score.sum() == wins.sum()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.csv", "judge,item,score\na,x,1\n" + "a" * 50_000 + ",x,1\n"),
        ("s.csv", 'judge,item,score\na,x,1\n"' + "a\n" * 25_000 + '",x,1\n'),
        ("s.tsv", "judge\titem\tscore\na\tx\t1\n" + "a" * 50_000 + "\tx\t1\n"),
        ("s.jsonl", '{"judge": "a", "item": "x", "score": 1}\n{"judge": "' + "a" * 50_000 + '"}\n'),
        ("s.json", '[{"judge": "a", "item": "x", "score": 1}, {"judge": "' + "a" * 50_000 + '"}]'),
    ],
)
def test_lines_and_records_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    from voirdire.tables.formats import json_text, streams

    monkeypatch.setattr(json_text, "_CHUNK_CHARACTERS", 100)
    monkeypatch.setattr(streams, "_CHUNK_BYTES", 100)
    monkeypatch.setattr(failures, "MAX_RECORD_SIZE", 30_000)
    path = tmp_path / name
    path.write_text(text)
    for door in (read, read_scores):
        with pytest.raises(InputError, match="VOIRDIRE_UNPACKED"):
            door(path)
    monkeypatch.setattr(failures, "MAX_RECORD_SIZE", 60_000)
    read(path)


def test_objects_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.json"
    cases = [{"name": f"c{at}", "metricsData": [{"name": "m", "score": 1}]} for at in range(200)]
    path.write_text(json.dumps({"testCases": cases}))
    assert len(read(path).table) == 200
    monkeypatch.setattr(failures, "IN_MEMORY_MAXIMUM", 1000)
    with pytest.raises(InputError, match=r"is one object of more than 1,000 bytes; .* VOIRDIRE_UNPACKED"):
        read(path)


@pytest.mark.slow
def test_rows_that_are_kept_take_a_few_bytes_a_cell() -> None:
    """Texts that recur are kept once; as tuples rows of three cells take above a hundred bytes."""
    rows, count = Rows("scores"), 200_000
    tracemalloc.start()
    for n in range(count):
        rows.add(Score("".join(("judge", "-a")), "".join(("item-", str(n % 7))), 1.0))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept / count < 50
    frame = rows.frame()
    assert frame is not None
    assert list(frame) == ["judge", "item", "score"]
    assert (len(frame), frame["item"].nunique()) == (count, 7)
