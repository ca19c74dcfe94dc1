"""Damaged and odd files of every tool end in a table or in one error, never in a traceback."""

from __future__ import annotations

import copy
import gzip
import io
import json
import re
import shutil
import traceback
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from case_options import reading_of

import voirdire
from voirdire import InputError
from voirdire.collect import read_items
from voirdire.notices import listen_for_notes
from voirdire.tables import read_table
from voirdire.tables.formats.conversion_report import import_files
from voirdire.tables.formats.registry import formats_by_name

FAST, FULL = 3, 30  # mutations of a fixture
Rng = np.random.Generator

#: What may stand in the place of any value of JSON.
ODD: tuple[Any, ...] = (
    None, [], {}, "", 0, -1, 1.5, True, "text", [None], [[]], {"": None}, {"a": {"b": []}}, ["x", 1], 10**400, 1e300,
    float("nan"), float("inf"), "\ud800", "\0", "1_0", " x ", "first", "9" * 400, [1] * 50, {"id": [], "name": {}},
)  # fmt: skip


_NESTED = re.compile('"nested ([0-9]+)"')  # which Python cannot hold itself


def cases(shared: Path) -> list[Path]:
    found = sorted(path.parent for path in (shared / "formats").glob("*/*/case.json"))
    if not found:
        pytest.skip("no files of tools in VOIRDIRE_SHARED")
    return found


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all values in a document."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*path, key))


def changed(rng: Rng, document: Any) -> Any:
    """A document in which one value is another, gone, twice, or deeper."""
    document = copy.deepcopy(document)
    found = list(places(document))
    # most values are deep in long lists; what is near the root matters as much
    depth = int(rng.integers(0, 1 + max(map(len, found))))
    near = [path for path in found if len(path) <= max(depth, 1)] or found
    path = near[int(rng.integers(len(near)))]
    odd = copy.deepcopy(ODD[int(rng.integers(len(ODD)))])
    if not path:
        return [odd, [document], {"data": document}, [document, document]][int(rng.integers(4))]
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    key, how = path[-1], int(rng.integers(6))
    if how == 0:
        del holder[key]
    elif how == 1 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    elif how == 2:
        holder[key] = f"nested {rng.choice([1, 3, 300, 900, 5000])}"
    elif how == 3 and isinstance(holder, dict):
        holder[f"{key}x"] = holder.pop(key)
    elif how == 4 and isinstance(holder, dict):
        for name in list(holder):
            holder[name] = None
    else:
        holder[key] = odd
    return document


def documents(text: str) -> tuple[list[Any], bool] | None:
    """The JSON of a file, and whether it is one a line; None for what is no JSON."""
    try:
        return [json.loads(text)], False
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()], True
    except ValueError:
        return None


def structural(rng: Rng, data: bytes) -> bytes:
    """A file of JSON with some values changed; a table with some cells changed; anything else with bits flipped."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return flipped(rng, data)
    found = documents(text)
    if found is None:
        return cells(rng, text)
    values, lines = found
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(values)))
        values[at] = changed(rng, values[at])
    whole = _NESTED.sub(lambda found: "[" * int(found[1]) + "]" * int(found[1]), "\n".join(map(json.dumps, values)))
    if rng.random() < 0.1:  # a key twice
        whole = whole.replace("{", '{"id": 1, "id": 2, ', 1)
    return (whole if lines else whole + "\n").encode("utf-8", "surrogatepass")


def cells(rng: Rng, text: str) -> bytes:
    lines = text.splitlines()
    mark = max(",\t;", key=lines[0].count)
    for _ in range(int(rng.integers(1, 4))):
        at = 0 if rng.random() < 0.3 else int(rng.integers(len(lines)))
        row = lines[at].split(mark)
        place = int(rng.integers(len(row)))
        odd = ODD[int(rng.integers(len(ODD)))]
        row[place] = [row[place - 1], "", '"', "1_0", str(odd), "<<<<<<< HEAD", "=cmd()"][int(rng.integers(7))]
        lines[at] = mark.join(row)
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def flipped(rng: Rng, data: bytes) -> bytes:
    whole = bytearray(data)
    for _ in range(int(rng.integers(1, 20))):
        whole[int(rng.integers(len(whole)))] ^= 1 << int(rng.integers(8))
    return bytes(whole)


def cut(rng: Rng, data: bytes) -> bytes:
    return data[: int(rng.integers(len(data)))]


def doubled(rng: Rng, data: bytes) -> bytes:
    begin, end = sorted(int(rng.integers(len(data) + 1)) for _ in range(2))
    return data[:end] + data[begin:end] + data[end:]


def spliced(rng: Rng, data: bytes) -> bytes:
    at = int(rng.integers(len(data) + 1))
    odd = [b"\n<<<<<<< HEAD\n", b"\0", b"\xff\xfe", b",,", b"]", b'"', b"{", b"\xed\xa0\x80", b"NaN", b"9" * 5000]
    return data[:at] + odd[int(rng.integers(len(odd)))] + data[at:]


def in_member(rng: Rng, data: bytes, folder: Path) -> bytes:
    """An archive with a member changed, damaged, or gone."""
    path = folder / "member.zip"
    path.write_bytes(data)
    try:
        with zipfile.ZipFile(path) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, NotImplementedError):
        return flipped(rng, data)
    name = list(parts)[int(rng.integers(len(parts)))]
    how = int(rng.integers(4))
    if how == 0:
        del parts[name]
    else:
        parts[name] = (structural, structural, cut)[how - 1](rng, parts[name] or b"{}")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return path.read_bytes()


def wrapped(rng: Rng, data: bytes) -> bytes:
    """A file packed, perhaps damaged before or after."""
    import pyarrow

    if rng.random() < 0.5:
        data = structural(rng, data)
    packed = gzip.compress(data) if rng.random() < 0.5 else pyarrow.Codec("zstd").compress(data, asbytes=True)
    return [packed, cut(rng, packed), flipped(rng, packed), packed + b"more"][int(rng.integers(4))]


MUTATIONS: tuple[Callable[[Rng, bytes], bytes], ...] = (
    structural, structural, structural, structural, flipped, cut, doubled, spliced, wrapped,
)  # fmt: skip
ENDINGS = (".json", ".jsonl", ".csv", ".tsv", ".xlsx", ".parquet", ".eval", ".gz", "")


def mutated(rng: Rng, folder: Path, copy_of: Path) -> list[Path]:
    """The files of a case with one of them changed, perhaps under another name."""
    about = json.loads((folder / "case.json").read_text())
    shutil.rmtree(copy_of, ignore_errors=True)
    copy_of.mkdir()
    files = [copy_of / name for name in about["files"]]
    for name in about["files"]:
        shutil.copyfile(folder / name, copy_of / name)
    at = int(rng.integers(len(files)))
    data = files[at].read_bytes()
    if data.startswith(b"PK") and rng.random() < 0.7:
        data = in_member(rng, data, copy_of)
    else:
        data = MUTATIONS[int(rng.integers(len(MUTATIONS)))](rng, data)
    if rng.random() < 0.3:
        files[at].unlink()
        files[at] = files[at].with_suffix(ENDINGS[int(rng.integers(len(ENDINGS)))])
    files[at].write_bytes(data)
    return files


def ways(rng: Rng, folder: Path, files: list[Path]) -> Iterator[Callable[[], object]]:
    """How files are read: as the case says, as one of another tool, and by a fit."""
    about = json.loads((folder / "case.json").read_text())
    yield lambda: voirdire.read(files, **reading_of(about))
    tool = list(formats_by_name())[int(rng.integers(len(formats_by_name())))]
    yield lambda: voirdire.read(files, tool)
    yield lambda: import_files(files, files[0].parent / "tables")
    yield from (partial(read_table, path) for path in files)
    yield lambda: read_items(files[0])


def failure(way: Callable[[], object]) -> str | None:
    """What a way of reading raises that is no error of ours; nothing where it reads, or refuses with a sentence."""
    try:
        with listen_for_notes(lambda _: None):
            way()
    except InputError as error:
        return "" if str(error) else "an error that says nothing"
    except Exception:
        return "".join(traceback.format_exc().splitlines(True)[-12:])
    return None


def failures(shared: Path, folder_of_copies: Path, number: int) -> tuple[list[str], int]:
    """What went wrong, and how many files were read."""
    found, read = [], 0
    for folder in cases(shared):
        name = f"{folder.parent.name}/{folder.name}"
        for seed in range(number):
            rng = np.random.default_rng([seed, sum(name.encode())])
            files = mutated(rng, folder, folder_of_copies / "case")
            for way in ways(rng, folder, files):
                said = failure(way)
                read += said is None
                found += [f"{name} {seed}: {said}"] if said else []
    return found, read


def test_damaged_files_end_in_a_table_or_an_error(shared: Path, tmp_path: Path) -> None:
    found, read = failures(shared, tmp_path, FAST)
    assert not found, "\n".join(found[:5])
    assert read > 0


@pytest.mark.long
@pytest.mark.slow
def test_many_damaged_files_end_in_a_table_or_an_error(shared: Path, tmp_path: Path) -> None:
    found, read = failures(shared, tmp_path, FULL)
    assert not found, f"{len(found)}: " + "\n".join(found[:5])
    assert read > 0


def odd_attribute(rng: Rng, data: bytes) -> bytes:
    """XML with an attribute that is another."""
    found = re.findall(b'"[^"]*"', data)
    if not found:
        return data
    new = [b'""', b'"x"', b'"-1"', b'"99999999999999999999"', b'"1e9"', b'"A1"'][int(rng.integers(6))]
    return data.replace(found[int(rng.integers(len(found)))], new, 1)


def in_part(rng: Rng, data: bytes) -> bytes:
    """A spreadsheet with a part changed, damaged, or gone."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = list(parts)[int(rng.integers(len(parts)))]
    how = int(rng.integers(6))
    if how == 0:
        del parts[name]
    else:
        parts[name] = (odd_attribute, odd_attribute, flipped, cut, doubled)[how - 1](rng, parts[name])
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for part, content in parts.items():
            archive.writestr(part, content)
    return whole.getvalue()


def damaged_tables(folder: Path, number: int) -> tuple[list[str], int]:
    """As :func:`failures`, of a spreadsheet and of Parquet files."""
    table = pd.DataFrame(
        {"judge": ["a", "b"] * 20, "item": [f"x{at // 2}" for at in range(40)], "score": np.arange(40) / 3}
    )
    table["time"] = pd.Timestamp("2026-01-31 12:00")
    table.to_excel(folder / "plain.xlsx", index=False)
    table.to_parquet(folder / "plain.parquet")
    table.to_parquet(folder / "zstd.parquet", compression="zstd")
    found, read = [], 0
    for name in ("plain.xlsx", "plain.parquet", "zstd.parquet"):
        data = (folder / name).read_bytes()
        path = folder / f"damaged{Path(name).suffix}"
        for seed in range(number):
            rng = np.random.default_rng(seed)
            within = name == "plain.xlsx" and rng.random() < 0.7
            how = in_part if within else (flipped, cut, doubled, spliced)[int(rng.integers(4))]
            path.write_bytes(how(rng, data))
            for way in (partial(voirdire.read, path), partial(read_table, path)):
                said = failure(way)
                read += said is None
                found += [f"{name} {seed}: {said}"] if said else []
    return found, read


@pytest.mark.slow
def test_damaged_spreadsheets_and_parquet_end_in_a_table_or_an_error(tmp_path: Path) -> None:
    found, read = damaged_tables(tmp_path, 12)
    assert not found, "\n".join(found[:5])
    assert read > 0


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("count", [80, pytest.param(400, marks=pytest.mark.long)])
def test_many_damaged_spreadsheets_and_parquet(tmp_path: Path, count: int) -> None:
    found, read = damaged_tables(tmp_path, count)
    assert not found, f"{len(found)}: " + "\n".join(found[:5])
    assert read > 0
