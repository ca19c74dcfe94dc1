"""Files of tools with keys missing and values of other kinds: rows or one error, whatever is changed."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from voirdire import InputError, read

VALUES: tuple[Any, ...] = (
    None, "", "x", "4", 0, -1.5, float("nan"), True, [], {}, [None], ["a", "b"], [[1]], {"a": {"b": []}}, "a;b",
    "é\u2028", 10**400,
)  # fmt: skip
CHANGES = 40


def slots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a document: the object or list and the key."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from slots(value[key])


def changed(text: str, chance: random.Random) -> str:
    """The text with one to three places deleted or changed."""
    is_lines = text.startswith("{") and text.count("\n") >= 1
    if not text.startswith(("{", "[")):
        mark = "\t" if "\t" in text else ","
        cells = [line.split(mark) for line in text.splitlines()]
        row = chance.randrange(len(cells))
        cells[row][chance.randrange(len(cells[row]))] = str(chance.choice(VALUES)).replace("\n", " ")[:50]
        return "\n".join(mark.join(line) for line in cells)
    document = [json.loads(line) for line in text.splitlines()] if is_lines else json.loads(text)
    document = copy.deepcopy(document)
    for _ in range(chance.randint(1, 3)):
        where, key = chance.choice(list(slots(document)))
        try:
            if chance.random() < 0.3:
                del where[key]
            else:
                where[key] = copy.deepcopy(chance.choice(VALUES))
        except (KeyError, IndexError):
            continue
        if not list(slots(document)):
            break
    return "\n".join(map(json.dumps, document)) if is_lines else json.dumps(document)


@pytest.mark.parametrize("forced", [False, True])
def test_rows_or_one_error(tool_files: dict[str, list[tuple[str, str]]], tmp_path: Path, forced: bool) -> None:
    chance = random.Random(42)
    for tool, files in tool_files.items():
        for name, text in files:
            path = tmp_path / name
            for _ in range(CHANGES):
                made = changed(text, chance)
                path.write_text(made, encoding="utf-8")
                try:
                    found = read(path, tool if forced else None)
                except InputError:
                    continue
                for table in (found.votes, found.scores, found.labels):
                    if table is not None:
                        assert table.iloc[:, :3].notna().all().all(), made
