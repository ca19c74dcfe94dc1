"""Methods: one file each, with ``NAME`` (as the page calls it), ``USES_KNOWN`` and ``answer``.

``answer(task)`` gives the probability of each class: a DataFrame indexed by the items of ``task.questions`` with the
columns ``task.classes``. Where a method has no answer it raises :class:`CannotError` with the reason, in a few words.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd


class CannotError(Exception):
    """The method has no answer for this task."""


def shares(counts: pd.DataFrame) -> pd.DataFrame:
    """Shares of votes, smoothed by one vote that is spread over the classes."""
    return (counts + 1 / counts.shape[1]).div(counts.sum(axis=1) + 1, axis=0)


def sides(task: Any, p_first: Any) -> pd.DataFrame:
    """The probability of the first side as that of both."""
    first = np.asarray(p_first, float)
    return pd.DataFrame({"first": first, "second": 1 - first}, index=task.questions.index)[task.classes]


def as_shown(votes: pd.DataFrame) -> pd.DataFrame:
    """Votes with what was shown first as the first."""
    shown = votes["shown"]
    turned = votes["winner"].map({"first": "second", "second": "first", "tie": "tie"})
    return votes.assign(
        first=votes["first"].where(shown, votes["second"]),
        second=votes["second"].where(shown, votes["first"]),
        winner=votes["winner"].where(shown, turned),
    )[["judge", "context", "first", "second", "winner"]]


def duels(task: Any) -> pd.DataFrame:
    """Votes between the compared things by name, as shown, what is known added as one more judge's."""
    if task.votes is None:
        raise CannotError("ranks, and knows no classes")
    known = task.questions.loc[task.known.index].assign(judge="people", winner=task.known)
    votes = as_shown(task.votes)
    return pd.concat([votes, known.reset_index()[list(votes)]], ignore_index=True)


def by_strength(task: Any, strength: dict[str, float]) -> pd.DataFrame:
    """Bradley-Terry's probabilities of strengths in log-odds; what was never compared has the mean."""
    value = pd.Series(strength, dtype=float)
    lead = [task.questions[side].map(value).fillna(value.mean()) for side in ("first", "second")]
    return sides(task, 1 / (1 + np.exp(-(lead[0] - lead[1]).clip(-30, 30))))


def peer(task_name: str, **tables: pd.DataFrame) -> Any:
    """What another package answers, in its own environment (``benchmarks/peers/worker.py``)."""
    import json

    python = os.environ.get("VOIRDIRE_PEERS", str(Path(__file__).parents[3] / ".venv-peers/bin/python"))
    if not Path(python).exists():
        raise CannotError("not installed: make peers")
    worker = Path(__file__).parents[2] / "peers" / "worker.py"
    with tempfile.TemporaryDirectory() as folder:
        for name, table in tables.items():
            table.to_csv(Path(folder) / f"{name}.csv", index=False)
        done = subprocess.run(
            [python, "-W", "ignore", str(worker), task_name, str(Path(folder) / f"{next(iter(tables))}.csv")],
            input="0\n", capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode:
        raise CannotError(f"failed: {done.stderr.strip().splitlines()[-1][:120]}")
    return json.loads(done.stdout)["result"]


def classed(task: Any) -> pd.DataFrame:
    """Labels for methods that know classes alone: ties and answers that are no class are left out."""
    said = task.labels[task.labels["label"].isin(task.classes)].drop_duplicates(["item", "judge"])
    if said.empty:
        raise CannotError("nobody has labelled these items")
    return said


def of_peer(task: Any, found: dict[str, dict[str, float]]) -> pd.DataFrame:
    """P(class) of every item as another package gave it; of an item without labels, all alike."""
    table = pd.DataFrame.from_dict(found, orient="index").rename(columns=str)
    table = table.reindex(index=task.questions.index, columns=task.classes)
    return table.fillna(0.0).where(table.notna().any(axis=1), 1 / len(task.classes))
