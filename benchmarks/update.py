"""LLMFAO's votes with a hundredth of them new: the fit brought up to date, beside a new fit, in processor's time."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from common import median, shared, show, small

import voirdire

TURNS = 1 if small() else 2
NEW = 132  # of 13,209 votes
QUICK = 2000  # votes of a small run

table = pd.read_csv(shared("llmfao_votes.csv"))
if small():
    table = table.sample(QUICK, random_state=0, ignore_index=True)
rng = np.random.default_rng(0)
is_new = np.isin(np.arange(len(table)), rng.choice(len(table), NEW * len(table) // 13_209, replace=False))


def processor(command: list[str]) -> float:
    """Processor's seconds of a whole process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def beside(one: voirdire.Fit, other: voirdire.Fit) -> tuple[float, float]:
    """Largest distance of scores in standard deviations, and the mean ratio of widths of intervals."""
    a, b = (found.ranking().set_index("item").sort_index() for found in (one, other))
    return (
        float(((a["score"] - b["score"]) / b["sd"]).abs().max()),
        float(((a["high"] - a["low"]) / (b["high"] - b["low"])).mean()),
    )


in_python: dict[str, list[float]] = {"new": [], "update": []}
commands: dict[str, list[float]] = {"new": [], "update": []}
wholes = []
with tempfile.TemporaryDirectory() as folder:
    place = Path(folder)
    table.to_csv(place / "all.csv", index=False)
    table[is_new].to_csv(place / "new.csv", index=False)
    old = voirdire.fit(table[~is_new])
    old.save(place / "run")
    voirdire_command = [sys.executable, "-m", "voirdire"]
    for turn in range(TURNS):
        start = time.process_time()
        wholes.append(voirdire.fit(table, seed=turn + 1))
        middle = time.process_time()
        updated = old.update(table[is_new])
        in_python["new"].append(middle - start)
        in_python["update"].append(time.process_time() - middle)
        ways = {
            "new": ["fit", str(place / "all.csv"), "--out", str(place / f"whole{turn}"), "--json"],
            "update": ["update", str(place / "run"), str(place / "new.csv"), "--out", str(place / f"up{turn}")],
        }
        for name, words in ways.items():
            commands[name].append(processor([*voirdire_command, *words]))
far, width = beside(updated, wholes[0])
rows: list[dict[str, object]] = [
    {
        "work": work,
        "new fit, CPU s": round(median(times["new"]), 1),
        "update, CPU s": round(median(times["update"]), 1),
        "ratio (median of turns)": median([b / a for a, b in zip(times["new"], times["update"], strict=True)]),
        "largest distance of scores, sd": round(far, 2),
        "width of intervals, ratio": round(width, 3),
    }
    for work, times in (("in Python", in_python), ("whole command, saved", commands))
]
notes = [
    f"{len(table):,} votes in contexts, {int(is_new.sum())} of them new, drawn at random; {updated.model.name}, "
    f"{updated.method}; {next(note for note in updated.notes if 'draws of the fit' in note or 'anew' in note)}",
    "The command reads, fits or updates, makes all checks and tables, and saves; both sides make the same checks.",
]
if len(wholes) > 1:
    far, width = beside(wholes[1], wholes[0])
    notes.append(
        f"Two new fits of different seeds: scores at most {far:.2f} sd apart, intervals {width:.3f} times as wide."
    )
show("A fit brought up to date with a hundredth more votes (LLMFAO)", rows, notes)
