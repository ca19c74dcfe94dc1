"""Journals that were damaged, tampered with or taken away: one message, never anything else."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scripted_server import Reply, completion

from voirdire.collect import collect
from voirdire.errors import InputError

pytestmark = pytest.mark.usefixtures("toy_protocol")
ITEMS = pd.DataFrame({"id": ["a", "b", "c"], "text": ["x", "y", "z"]})
OPTIONS = {"rounds": 3, "logprobs": True}
#: What may stand in a cell instead of what was written.
CELLS: list[Any] = [
    None, 0, -1, 2**62, 1e308, float("inf"), "", "x", "{}", "[]", "null", "3", b"\xff", b"\0" * 9, "\0", "NaN",
    "[" * 100_000, '{"winner": 3}', '{"winner": "\\ud800"}', '{"winner": 1e400}', '{"winner": ' + "9" * 5000 + "}",
    '[["1", [["1", 5]]]]', '[["1", [["1", 1' + "0" * 400 + "]]]]", "[[]]", '[["1", 3]]', '{"winner": [[[[[]]]]]}',
]  # fmt: skip
TAMPERED = [
    "drop table answers",
    "drop table answers; create view answers as with recursive c(x) as (select 1 union all select x + 1 from c) "
    "select x as judge, x as key, x as hash, x as answer, x as missing, x as logprobs from c",
    "create trigger t before insert on answers begin select raise(abort, 'no'); end",
    "alter table answers rename column hash to digest",
    "alter table requests drop column cost",
    "create table more (x)",
    "delete from setting where part = 'format'",
    "update setting set value = '99' where part = 'format'",
    "update setting set value = x'ff' where part = 'format'",
    "update setting set value = cast(x'ff' as text) where part = 'judges'",
    "update answers set answer = cast(x'ed a0 80' as text)".replace(" a0 80", "a080"),
    "update answers set answer = null, missing = null",
    "update answers set missing = 'both'",
    "update requests set cost = 9e999",
    "update requests set tokens_in = 'x'",
    "pragma user_version = 7",
]


def whole(tmp_path: Path, serve: Callable[..., Any]) -> dict[str, Any]:
    """What a run that has ended was started with; its folder is ``whole``."""
    listed = [("1", -0.7, [("1", -0.7), ("2", -0.8)])]
    server = serve(lambda _: Reply(completion(json.dumps({"winner": 1}), logprobs=listed)))
    judge = {"name": "ann", "model": "m", "base_url": server.url}
    run = {"panel": {"judges": [judge], "backoff": 0.0}, "items": ITEMS, "protocol": "toy", "options": OPTIONS}
    collect(**run, out=tmp_path / "whole")
    return run


def mutate(path: Path, rng: np.random.Generator) -> None:
    """Change bytes, the length, or cells of a journal."""
    kind = rng.integers(3)
    if kind == 0:
        data = bytearray(path.read_bytes())
        for _ in range(rng.integers(1, 40)):
            data[rng.integers(len(data))] = rng.integers(256)
        path.write_bytes(data)
    elif kind == 1:
        data = path.read_bytes()
        cut, moved = sorted(int(place) for place in rng.integers(len(data), size=2))
        path.write_bytes([data[:cut], data[:cut] + data[moved:], data[moved:] + data[:cut]][rng.integers(3)])
    else:
        table = ("setting", "requests", "answers")[rng.integers(3)]
        with closing(sqlite3.connect(path)) as database, database:
            names = [row[1] for row in database.execute(f"pragma table_info({table})")]
            name, cell = names[rng.integers(len(names))], CELLS[rng.integers(len(CELLS))]
            some = f"update or ignore {table} set {name} = ? where abs(random()) % 3 = 0"
            with suppress(sqlite3.IntegrityError):
                database.execute(some, (cell,))


def outcome(**run: Any) -> tuple[str, Any]:
    """The message of a run that is refused, or what it gave."""
    try:
        return "", collect(**run)
    except InputError as error:
        return str(error), None


def survive(tmp_path: Path, run: dict[str, Any], rng: np.random.Generator, count: int) -> int:
    """How many of so many damaged journals were refused; each other one gave tables."""
    refused = 0
    for number in range(count):
        folder = tmp_path / f"m{number}"
        shutil.copytree(tmp_path / "whole", folder)
        mutate(folder / "journal.sqlite", rng)
        said, found = outcome(**run, out=folder, max_calls=0 if number % 4 else None)
        assert len(said) < 500
        assert "\n" not in said
        if found is None:
            refused += 1
        else:
            assert found.tables.get("votes", 0) + found.tables["missing"] == 9
        shutil.rmtree(folder)
    return refused


def test_damaged_journals_are_refused_with_one_message(tmp_path: Path, serve: Callable[..., Any]) -> None:
    run = whole(tmp_path, serve)
    assert survive(tmp_path, run, np.random.default_rng(1), 50) >= 10


@pytest.mark.long
@pytest.mark.slow
def test_two_hundred_and_fifty_damaged_journals(tmp_path: Path, serve: Callable[..., Any]) -> None:
    run = whole(tmp_path, serve)
    assert survive(tmp_path, run, np.random.default_rng(20262), 250) >= 50


def test_journals_that_were_tampered_with(tmp_path: Path, serve: Callable[..., Any]) -> None:
    run = whole(tmp_path, serve)
    for number, statements in enumerate(TAMPERED):
        folder = tmp_path / f"t{number}"
        shutil.copytree(tmp_path / "whole", folder)
        with closing(sqlite3.connect(folder / "journal.sqlite")) as database:
            database.executescript(statements)
        fine = any(part in statements for part in ("user_version", "tokens_in", "where part = 'format'"))
        said, found = outcome(**run, out=folder, max_calls=0)
        assert found is None or fine, statements
        assert said.startswith(("journal ", "the journal ")) or found is not None, said


def test_journals_that_are_no_files_or_cannot_be_written(tmp_path: Path, serve: Callable[..., Any]) -> None:
    run = whole(tmp_path, serve)
    files: list[tuple[str, Callable[[Path], object]]] = [
        ("journal.sqlite", lambda path: path.mkdir()),
        ("journal.sqlite", os.mkfifo),
        ("journal.sqlite", lambda path: path.symlink_to("/dev/full")),
        ("journal.sqlite", lambda path: path.symlink_to(path)),
        (".lock", os.mkfifo),
        (".lock", lambda path: path.mkdir()),
        ("votes.csv", lambda path: path.mkdir()),
    ]
    for number, (name, make) in enumerate(files):
        folder = tmp_path / f"f{number}"
        shutil.copytree(tmp_path / "whole", folder)
        (folder / name).unlink()
        make(folder / name)
        with pytest.raises(InputError):
            collect(**run, out=folder)


def test_a_folder_that_is_moved_away_under_a_run(tmp_path: Path, serve: Callable[..., Any]) -> None:
    folder = tmp_path / "o"

    def script(_: dict[str, Any]) -> Any:
        if folder.exists():
            folder.rename(tmp_path / "moved")
        return {"winner": 1}

    judge = {"name": "ann", "model": "m", "base_url": serve(script).url, "concurrency": 1}
    with pytest.raises(InputError, match=str(folder)):
        collect({"judges": [judge]}, ITEMS, "toy", folder)
