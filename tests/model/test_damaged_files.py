"""Model and study files that were damaged or written by an enemy are read, or refused with a message."""

from __future__ import annotations

import contextlib
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from voirdire.errors import InputError
from voirdire.model import load_model, specification_folder
from voirdire_studies import load_study

VALUES = (
    "-1",
    "0",
    "1e309",
    "-1e308",
    "nan",
    "inf",
    "9" * 400,
    "true",
    '""',
    '"x"',
    "[]",
    "[1, 2]",
    "{}",
    "1979-05-27",
)
DEEP = ("[" * 3000, "a = " + "[" * 3000 + "]" * 3000, "a" + ".b" * 3000 + " = 1", '"\\ud800" = 1', "\x00", "\udcff")


def damaged(text: str, rng: random.Random) -> bytes:
    """A file with a value replaced, a line gone or doubled, a key misspelt, bytes turned, or something odd put in."""
    lines = text.splitlines()
    at = rng.randrange(len(lines))
    kind = rng.randrange(7)
    if kind == 0:
        lines[at] = re.sub(r"=.*", f"= {rng.choice(VALUES)}", lines[at])
    elif kind == 1:
        del lines[at]
    elif kind == 2:
        lines.insert(at, lines[rng.randrange(len(lines))])
    elif kind == 3:
        lines[at] = lines[at].replace(rng.choice("abcdeinorst"), "zz", 1)
    elif kind == 4:
        lines.insert(at, rng.choice(DEEP))
    elif kind == 5:
        lines[at] = f"[{rng.choice(('strength', 'reliability', 'ties', 'truth', 'x.y'))}]"
    raw = bytearray("\n".join(lines).encode("utf-8", "surrogateescape" if kind == 4 else "strict"))
    if kind == 6:
        for _ in range(rng.randint(1, 5)):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
    return bytes(raw)


@pytest.mark.parametrize("count", [40, pytest.param(250, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("kind", "pattern", "load"), [("models", "*.toml", load_model), ("simulations", "*/study.toml", load_study)]
)
def test_a_damaged_file_is_read_or_refused(
    kind: str, pattern: str, load: Callable[[Path], Any], count: int, tmp_path: Path
) -> None:
    files = sorted(specification_folder(kind).glob(pattern))
    rng = random.Random(11)
    read = 0
    for number in range(count):
        source = rng.choice(files)
        place = tmp_path / f"{number}" / source.name
        place.parent.mkdir()
        place.write_bytes(damaged(source.read_text(encoding="utf-8"), rng))
        with contextlib.suppress(InputError):
            load(place)
            read += 1
    assert read < 0.75 * count  # the damage is felt
