"""A crowd of 5,000 judges is fitted by its mode within 1 GB, whatever they gave."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import re, sys
from pathlib import Path
import numpy as np, pandas as pd, voirdire

rng = np.random.default_rng(0)
n, kind = 50_000, sys.argv[1]
judge = [f"j{k}" for k in rng.integers(0, 5_000, n)]
if kind == "votes":
    a = rng.integers(0, 50, n)
    b = (a + rng.integers(1, 50, n)) % 50
    first = rng.random(n) < 1 / (1 + np.exp(-(a - b) / 20))
    sides = {"first": [f"i{k}" for k in a], "second": [f"i{k}" for k in b]}
    table = pd.DataFrame({"judge": judge, **sides, "winner": np.where(first, "first", "second")})
else:
    item = rng.integers(0, 2_000, n)
    wrong = (rng.random(n) < 0.3) * rng.integers(1, 3, n)
    answer = {
        "labels": {"label": ["abc"[k] for k in (item + wrong) % 3]},
        "scores": {"score": np.clip(np.round(3 + (item % 5 - 2) * 0.7 + rng.normal(size=n)), 1, 5).astype(int)},
    }[kind]
    table = pd.DataFrame({"judge": judge, "item": [f"i{k}" for k in item], **answer})
    table = table.drop_duplicates(["judge", "item"])
voirdire.fit(table, method="map").as_dict()
print(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["votes", "scores", "labels"])
def test_five_thousand_judges_within_a_gigabyte(kind: str) -> None:
    done = subprocess.run(  # a process of its own: its memory is that of this fit
        [sys.executable, "-W", "ignore", "-c", SCRIPT, kind], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) * 1024 < 1e9
