"""JSON on stdout: tables of any length as one object."""

from __future__ import annotations

import json

import numpy as np
import pytest

from voirdire.cli import console
from voirdire.kinds.columns import to_records


@pytest.mark.parametrize("rows", [0, 3, 7, 8])
def test_long_tables_are_written_as_short_ones(
    rows: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "_JSON_BLOCK_ROWS", 3)
    result = {"name": 'a "b"', "items": [{"item": f"i{n}", "score": n / 7} for n in range(rows)], "nothing": None}
    console.print_json(result)
    assert capsys.readouterr().out == json.dumps(result) + "\n"
    console.print_json({})
    assert capsys.readouterr().out == "{}\n"


def test_records_are_plain_numbers() -> None:
    columns = {
        "item": np.array(["a", "b"], dtype=object),
        "n": np.array([1, 2], dtype=np.int32),
        "score": np.array([0.5, np.nan]),
        "known": np.array([True, False]),
    }
    found = to_records(columns)
    assert found == [
        {"item": "a", "n": 1, "score": 0.5, "known": True},
        {"item": "b", "n": 2, "score": None, "known": False},
    ]
    assert [type(value) for value in found[0].values()] == [str, int, float, bool]
