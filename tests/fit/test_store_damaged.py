"""Saved runs that were damaged or tampered with: one message, never a traceback, and never another result."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from voirdire import InputError, agreement, fit, load
from voirdire.layouts import with_seal
from voirdire.report.sources import SavedRows, read_run, save_rows

VOTES = pd.DataFrame({"judge": ["a", "b"] * 3, "first": ["x"] * 6, "second": "y", "winner": ["x", "x", "y"] * 2})
LABELS = pd.DataFrame({"judge": ["a", "b"] * 4, "item": [1, 1, 2, 2, 3, 3, 4, 4], "label": list("yyyynnny")})
CONTENT = [b"", b"[" * 100_000, b'"\\ud800"', b"\xff\xfe", b"null", b"1e999", b"-1", b'{"format": 1}', b"\0" * 100]


def mutated(rng: np.random.Generator, content: bytes) -> bytes:
    """Content with bytes changed, cut, doubled or put in, or other content."""
    at, end = sorted(rng.integers(0, len(content), 2).tolist())
    kind = rng.integers(0, 5)
    if kind == 0:
        return content[:at] + bytes([content[at] ^ int(rng.integers(1, 256))]) + content[at + 1 :]
    if kind == 1:
        return content[:at]
    if kind == 2:
        return content[:at] + content[end + 1 :]
    chosen = CONTENT[rng.integers(0, len(CONTENT))]
    return chosen if kind == 3 else content[:at] + chosen + content[at:]


def mutate(tmp_path: Path, number: int) -> None:
    """Mutated fits and rows are refused with a message, or are as they were saved."""
    fits = [fit(VOTES, model="crowd-bt", method="map"), fit(LABELS, model="one-coin-label", method="map")]
    runs = [one.save(tmp_path / str(place)) for place, one in enumerate(fits)]
    runs.append(save_rows(agreement(LABELS, resamples=20), tmp_path / "rows", "agree", {"seed": 0}))
    expected: list[object] = [one.as_dict() for one in fits]
    rows = read_run(runs[2])
    assert isinstance(rows, SavedRows)
    rng, refused = np.random.default_rng(0), 0
    for _ in range(number):
        which = int(rng.integers(0, 3))
        files = [path for path in sorted(runs[which].iterdir()) if path.name != "result.json"]
        path = files[rng.integers(0, len(files))]
        before = path.read_bytes()
        path.write_bytes(mutated(rng, before))
        try:
            found = read_run(runs[which])
        except InputError:
            refused += 1
        else:
            assert found == rows if isinstance(found, SavedRows) else found.as_dict() == expected[which]
        path.write_bytes(before)
    assert refused > number / 2


def test_mutated_runs_are_refused_with_a_message(tmp_path: Path) -> None:
    mutate(tmp_path, 100)


@pytest.mark.slow
def test_five_hundred_mutated_runs_are_refused_with_a_message(tmp_path: Path) -> None:
    mutate(tmp_path, 500)


def test_arrays_that_unpack_to_more_than_a_fit_are_not_unpacked(tmp_path: Path) -> None:
    from voirdire.fit.store import _read_arrays

    with (
        zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("centre.npy", "w", force_zip64=True) as file,
    ):
        for _ in range(40):
            file.write(bytes(2**23))
    with pytest.raises(ValueError, match="unpacks to 320 MB"):
        _read_arrays(tmp_path / "a.npz")
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (2**40,)})
    with zipfile.ZipFile(tmp_path / "b.npz", "w") as archive:
        archive.writestr("centre.npy", header.getvalue() + bytes(80))
    with pytest.raises(ValueError, match=r"array 'centre\.npy' is not what its header says"):
        _read_arrays(tmp_path / "b.npz")


def test_a_tampered_number_is_noticed(tmp_path: Path) -> None:
    folder = fit(VOTES, model="crowd-bt", method="map").save(tmp_path / "run")
    run = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(run | {"prob": 0.5}))
    with pytest.raises(InputError, match=r"the saved fit is damaged \(ValueError: it is not as it was saved\)"):
        load(folder)


CHANGES: list[tuple[str, Any, str]] = [
    ("votes_first", lambda a: a + 999, "votes_first holds codes from 999 to 999, of 2 items"),
    ("votes_judge", lambda a: a - 5, "votes_judge holds codes from -5 to -4, of 2 judges"),
    ("votes_row_cell", lambda a: a + 0.5, r"votes_row_cell is not a column of codes \(float64, shape \(6,\)\)"),
    ("votes_second", lambda a: a[:-1], "votes_judge and what goes with it have different lengths"),
    ("votes_counts", lambda a: -a, "votes_counts are not numbers of answers"),
    ("votes_criterion", None, "votes_criterion is missing"),
    ("centre", lambda a: a * np.nan, "centre holds numbers that are not finite"),
    ("centre", None, "centre is missing"),
    ("draws", lambda a: a[..., :-1], r"draws have the shape \(1, 4000, 2\), of 3 parameters"),
    ("draws", None, "draws are missing, of a fit by laplace"),
]


@pytest.mark.parametrize(("name", "change", "said"), CHANGES)
def test_sealed_arrays_that_are_not_of_the_tables(tmp_path: Path, name: str, change: Any, said: str) -> None:
    place = fit(VOTES, model="crowd-bt", method="laplace").save(tmp_path / "run")
    run = json.loads((place / "run.json").read_text())
    del run["sha256"]
    arrays = dict(np.load(place / "arrays.npz"))
    if change is None:
        del arrays[name]
    else:
        arrays[name] = change(arrays[name])
    np.savez_compressed(place / "arrays.npz", **arrays)
    (place / "run.json").write_text(json.dumps(with_seal(run, place / "arrays.npz")))
    with pytest.raises(InputError, match=rf"run: the saved fit is damaged \(arrays.npz: {said}\); save it again$"):
        load(place)


def labels_of(tmp_path: Path) -> Path:
    rows = [(j, f"i{n}", c, "yes" if n % 2 else "no") for j in "abc" for n in range(8) for c in ("p", "q")]
    table = pd.DataFrame(rows, columns=["judge", "item", "criterion", "label"])
    return fit(table, method="map").save(tmp_path / "run")


def test_a_fit_of_labels_by_several_criteria_is_read_back(tmp_path: Path) -> None:
    place = labels_of(tmp_path)
    assert len(load(place).as_dict()["items"]) == 16


def test_known_classes_are_those_of_every_item_and_criterion(tmp_path: Path) -> None:
    place = labels_of(tmp_path)
    run = json.loads((place / "run.json").read_text())
    del run["sha256"]
    arrays = dict(np.load(place / "arrays.npz"))
    arrays["known"] = arrays["known"][:8]
    np.savez_compressed(place / "arrays.npz", **arrays)
    (place / "run.json").write_text(json.dumps(with_seal(run, place / "arrays.npz")))
    with pytest.raises(InputError, match="known has 8 entries, of 16 items"):
        load(place)
