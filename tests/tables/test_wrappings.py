"""The same table in every wrapping is the same table: random votes, scores and labels against the plain CSV."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from voirdire import InputError
from voirdire.notices import listen_for_notes
from voirdire.tables import read_labels, read_scores, read_votes

FAST, FULL = 30, 300
Rng = np.random.Generator
Rows = list[dict[str, Any]]

READERS: dict[str, Callable[[object], Any]] = {"votes": read_votes, "scores": read_scores, "labels": read_labels}

#: Names that some reader or writer takes for something else.
PLAIN = ["ann", "bob", "gpt-4", "é", "東京", "a b", "x.y", "Ω", "I'm", "a/b"]
ODD = [
    'say "a"', "a,b", "a;b", "a\tb", "two\nlines", "cr\rlf\r\n", "first", "tie", "007", "1.0", "1e3", "1_0", "=1+1",
    "#N/A", "_x0041_", "\u2028", "\x1c", "|", "True", "nan?", "0", "-5", "[1]", '{"a": 1}', "2026-01-31", "<b>",
    "\ufeff", "e\u0301", "'", "\\", "NA", "null", " spaced", "spaced ", "", " ", "None", "a" * 400,
]  # fmt: skip
NUMBERS: list[Any] = [1, 2, 0, -3, 7.0, 2.5, 0.1, 1e-7, 1e20, 2**40, -0.0, 123456789.125]


def names(rng: Rng, size: int, odd: float) -> list[Any]:
    """Distinct names: text, or numbers, or truth values, or any of these."""
    kind = rng.choice(["text", "numbers", "whole", "mixed"], p=[0.6, 0.15, 0.15, 0.1])
    if kind == "whole":
        return [int(one) for one in rng.choice(1000, size, replace=False)]
    pool: list[Any] = NUMBERS if kind == "numbers" else list(PLAIN)
    if kind == "text":
        pool += [one for one in ODD if rng.random() < odd]
    if kind == "mixed":
        pool += [*NUMBERS, True, False]
    return [pool[at] for at in rng.choice(len(pool), min(size, len(pool)), replace=False)]


def random_table(rng: Rng) -> tuple[str, Rows]:
    """A table of a kind, with columns that may be missing here or there, appear late, or mean nothing."""
    kind = str(rng.choice(list(READERS)))
    odd = float(rng.choice([0.0, 0.1, 0.4], p=[0.4, 0.4, 0.2]))
    fault = float(rng.choice([0.0, 0.03, 0.2], p=[0.6, 0.3, 0.1]))
    size = int(rng.integers(1, 25))
    judges, items, classes = names(rng, 4, odd), names(rng, 5, odd), names(rng, 3, odd)
    optional: dict[str, list[Any]] = {
        "criterion": names(rng, 2, odd), "context": names(rng, 3, odd), "run": [1, 2, 3], "system": names(rng, 2, odd),
        "time": [["2026-01-31", "2026-02-01T12:00:00"], [1, 2.5], ["7"]][int(rng.integers(3))],
        "order": ["unknown", "shown"], "degree": [0.5, 1, "0.75", 0.9], "group": ["g", "h", ""],
        "note": [*ODD, *NUMBERS, None], "Judge": PLAIN, "": ["x", 1], 'a "b", c\n': PLAIN,
    }  # fmt: skip
    chosen = [name for name in optional if rng.random() < 0.25]
    rows: Rows = []
    for _ in range(size):
        row: dict[str, Any] = {"judge": pick(rng, judges)}
        if kind == "votes":
            pair = [items[at] for at in rng.choice(len(items), 2, replace=False)]
            row |= {"first": pair[0], "second": pair[1]}
            row["winner"] = pick(rng, ["first", "second", "tie", pair[0], pair[1]])
        else:
            row["item"] = pick(rng, items)
            row |= {"score": pick(rng, NUMBERS)} if kind == "scores" else {"label": pick(rng, classes)}
        row |= {name: pick(rng, optional[name]) for name in chosen}
        rows.append({name: None if rng.random() < fault / 3 else cell for name, cell in row.items()})
    order = [list(rows[0])[at] for at in rng.permutation(len(rows[0]))]
    return kind, [{name: row[name] for name in order} for row in rows]


def pick(rng: Rng, among: list[Any]) -> Any:
    return among[int(rng.integers(len(among)))]


def text(cell: Any) -> str:
    return "" if cell is None else str(cell)


def separated(rows: Rows, mark: str = ",") -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=mark, lineterminator="\n")
    writer.writerow(rows[0])
    writer.writerows([text(cell) for cell in row.values()] for row in rows)
    return stream.getvalue().encode()


def lines(rows: Rows) -> bytes:
    """Objects without the keys that have no value, so that columns appear late."""
    return "\n".join(
        json.dumps({name: cell for name, cell in row.items() if cell is not None}, ensure_ascii=False) for row in rows
    ).encode()


def lists(rows: Rows) -> list[list[Any]]:
    return [list(rows[0]), *(list(row.values()) for row in rows)]


def zstandard(data: bytes) -> bytes:
    packed: bytes = pa.Codec("zstd").compress(data, asbytes=True)
    return packed


def excel(path: Path, rows: Rows) -> Path:
    """A spreadsheet as those programs write it: letters that XML cannot hold are escaped."""
    book = openpyxl.Workbook()
    for number, row in enumerate(lists(rows), start=1):
        for place, cell in enumerate(row, start=1):
            if isinstance(cell, str):
                cell = re.sub("_(?=x[0-9A-Fa-f]{4}_)", "_x005F_", cell)
                cell = re.sub("[\x00-\x08\x0b-\x1f]", lambda found: f"_x{ord(found[0]):04X}_", cell)
            target = book.active.cell(number, place, cell)
            if isinstance(cell, str):
                target.data_type = "s"  # neither a formula nor an error
    book.save(path)
    return path


def uniform(rows: Rows) -> dict[str, list[Any]]:
    """Columns whose cells are of one type, as text where they are not."""
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    for name, cells in columns.items():
        kinds = {type(cell) for cell in cells if cell is not None}
        if len(kinds) > 1 and kinds != {int, float}:
            columns[name] = [None if cell is None else text(cell) for cell in cells]
        elif kinds == {int, float}:
            columns[name] = [None if cell is None else float(cell) for cell in cells]
    return columns


def parquet(path: Path, rows: Rows) -> Path:
    pq.write_table(pa.table({name: pa.array(cells) for name, cells in uniform(rows).items()}), path)
    return path


def wrappings(folder: Path, rows: Rows) -> Iterator[tuple[str, object]]:
    """A table in every wrapping."""
    late, named = lines(rows), lists(rows)
    contents = {
        "csv.gz": gzip.compress(separated(rows)),
        "csv.zst": zstandard(separated(rows)),
        "with a mark.csv": b"\xef\xbb\xbf" + separated(rows),
        "tsv": separated(rows, "\t"),
        "semicolons.csv": separated(rows, ";"),
        "txt": separated(rows, "|"),
        "json": json.dumps(rows).encode(),
        "indented.json": json.dumps(rows, indent=2).encode(),
        "json.gz": gzip.compress(json.dumps(rows).encode()),
        "jsonl": late,
        "jsonl.gz": gzip.compress(late),
        "jsonl.zst": zstandard(late),
        "late.json": b"[" + b",".join(late.split(b"\n")) + b"]",
        "lists.jsonl": "\n".join(map(json.dumps, named)).encode(),
        "lists.json": json.dumps(named).encode(),
    }
    for name, data in contents.items():
        path = folder / f"table.{name}"
        path.write_bytes(data)
        yield name, path
    yield "xlsx", excel(folder / "table.xlsx", rows)
    yield "parquet", parquet(folder / "table.parquet", rows)
    yield "pandas", pd.DataFrame(rows, dtype=object)
    yield ("pandas text", pd.DataFrame({name: [text(cell) for cell in cells] for name, cells in uniform(rows).items()}))
    yield "polars", pl.DataFrame(uniform(rows))


def codes(kind: str, table: object) -> dict[str, Any] | str:
    """What a reader makes of a table, or what it says against it."""
    try:
        with listen_for_notes(lambda _: None):
            found = READERS[kind](table)
    except InputError as error:
        return str(error)
    held = {field.name: getattr(found, field.name) for field in fields(found)}
    details = held.pop("details", None)
    if details is not None:
        held |= {"degree": details.degree, "when": details.time}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in held.items()}


def differences(folder: Path, number: int) -> tuple[list[str], int]:
    """Wrappings that are read otherwise than the plain CSV, and how many tables are read at all."""
    found, read = [], 0
    for seed in range(number):
        kind, rows = random_table(np.random.default_rng(seed))
        path = folder / "plain.csv"
        path.write_bytes(separated(rows))
        want = codes(kind, path)
        read += isinstance(want, dict)
        for name, table in wrappings(folder, rows):
            have = codes(kind, table)
            if name == "xlsx" and not list(rows[0])[-1] and isinstance(have, str):
                continue  # a sheet has no end but its header's: cells behind it are refused, never left out
            if isinstance(have, dict) != isinstance(want, dict) or (have != want and isinstance(want, dict)):
                found.append(f"{seed} {kind} {name}\n  {have}\n  {want}\n  {rows[:3]}")
    return found, read


@pytest.mark.slow
def test_random_tables_are_the_same_in_every_wrapping(tmp_path: Path) -> None:
    found, read = differences(tmp_path, FAST)
    assert not found, f"{len(found)}:\n" + "\n".join(found[:3])
    assert FAST / 4 < read < FAST


@pytest.mark.long
@pytest.mark.slow
def test_many_random_tables_are_the_same_in_every_wrapping(tmp_path: Path) -> None:
    found, read = differences(tmp_path, FULL)
    assert not found, f"{len(found)}:\n" + "\n".join(found[:3])
    assert FULL / 4 < read < FULL
