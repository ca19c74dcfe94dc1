"""Archives packed with zstandard, as Inspect writes its logs now."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from pathlib import Path

import pytest

from voirdire import InputError, read
from voirdire.tables.formats.archive import member_bytes

pyarrow = pytest.importorskip("pyarrow")


def packed(path: Path, members: dict[str, bytes], method: int = 93) -> Path:
    """An archive of stored zstandard frames whose headers say what they are."""
    frames = {name: pyarrow.Codec("zstd").compress(text, asbytes=True) for name, text in members.items()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, frame in frames.items():
            archive.writestr(name, frame)
        places = {info.filename: info.header_offset for info in archive.infolist()}
        central = archive.start_dir
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02", central - 4 if central > 4 else 0)
    for name, text in members.items():
        for start, to in ((places[name], 8), (at, 10)):
            struct.pack_into("<H", data, start + to, method)
            struct.pack_into("<L", data, start + to + 6, zlib.crc32(text))
            struct.pack_into("<L", data, start + to + 14, len(text))
        at += 46 + len(name)
    path.write_bytes(data)
    return path


def test_members_are_unpacked_and_checked(tmp_path: Path) -> None:
    whole = {"a.json": b"{}" * 5000, "b.json": "ä".encode()}
    path = packed(tmp_path / "log.zip", whole)
    with zipfile.ZipFile(path) as archive:
        assert {name: member_bytes(archive, name) for name in whole} == whole
    data = bytearray(path.read_bytes())
    data[data.index(b"a.json") + 8] ^= 0xFF
    path.write_bytes(data)
    with zipfile.ZipFile(path) as archive, pytest.raises(zipfile.BadZipFile):
        member_bytes(archive, "a.json")
    with (
        zipfile.ZipFile(packed(tmp_path / "odd.zip", whole, 97)) as archive,
        pytest.raises(InputError, match="packed by method 97"),
    ):
        member_bytes(archive, "a.json")


def test_a_log_packed_so_is_read(tmp_path: Path) -> None:
    about = {"task": "t", "model": "m", "config": {}, "scorers": [{"name": "g"}]}
    header = {"version": 2, "status": "success", "eval": about}
    samples = {
        f"samples/s{at}_epoch_1.json": {"id": f"s{at}", "epoch": 1, "scores": {"g": {"value": value}}}
        for at, value in enumerate("CI")
    }
    members = {"header.json": header, **samples}
    path = packed(tmp_path / "log.eval", {name: json.dumps(of).encode() for name, of in members.items()})
    found = read(path)
    assert found.table["label"].tolist() == ["C", "I"]
