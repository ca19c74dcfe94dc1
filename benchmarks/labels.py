"""Classes of items beside people's: the majority, the best judge, crowd-kit's Dawid-Skene and GLAD, and ours."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from common import Peer, shared, show, small

import voirdire
from voirdire.typing import Floats, Ints

DRAWS = 2 if small() else int(os.environ.get("VOIRDIRE_BENCH_DRAWS", "10"))
BINS = 10
TABLES: dict[str, tuple[str, str, list[str] | None, tuple[int, ...]]] = {
    "LLMJudge": ("llmjudge_dev_labels.csv", "llmjudge_dev_gold.csv", None, (50, 200)),
    "DICES-350": ("dices350_labels.csv", "dices350_expert.csv", ["No", "Yes"], (20,)),
}
PEERS = {"crowd-kit DawidSkene": "dawid_skene_chances", "crowd-kit GLAD": "glad_chances"}


def measured(chance: Floats, truth: Ints) -> dict[str, float]:
    """Accuracy, its mean over classes, how much surer than right, error of calibration, log loss."""
    chance = chance / chance.sum(axis=1, keepdims=True)
    best = chance >= chance.max(axis=1, keepdims=True) - 1e-9
    rows = np.arange(len(truth))
    right, sure = best[rows, truth] / best.sum(axis=1), chance.max(axis=1)
    part = np.minimum((sure * BINS).astype(int), BINS - 1)
    error = sum(abs((right - sure)[part == b].mean()) * (part == b).mean() for b in np.unique(part))
    return {
        "accuracy": right.mean(),
        "balanced": np.mean([right[truth == c].mean() for c in np.unique(truth)]),
        "too sure": sure.mean() - right.mean(),
        "calibration error": error,
        "log loss": -np.log(np.maximum(chance[rows, truth], 1e-12)).mean(),
    }


class Table:
    """A table of labels, with the classes that people gave."""

    def __init__(self, name: str) -> None:
        labels, gold, self.classes, self.known = TABLES[name]
        self.name, self.file = name, shared(labels)
        self.labels = pd.read_csv(self.file, dtype=str)
        self.gold = pd.read_csv(shared(gold), dtype=str).set_index("item")["label"]
        self.names = self.classes or sorted(set(self.labels["label"]))
        counts = pd.crosstab(self.labels["item"], self.labels["label"])
        self.shares = counts.reindex(columns=self.names, fill_value=0) + 1e-6
        self.by_judge = self.labels.drop_duplicates(["item", "judge"]).pivot(
            index="item", columns="judge", values="label"
        )

    def row(self, method: str, chance: pd.DataFrame, items: pd.Index, known: int = 0) -> dict[str, object]:
        found = chance.reindex(index=items, columns=self.names, fill_value=0.0).to_numpy(float) + 1e-12
        truth = np.array([self.names.index(label) for label in self.gold[items]])
        return {"table": self.name, "known": known, "method": method, **measured(found, truth)}

    def fitted(self, **how: Any) -> pd.DataFrame:
        found = voirdire.fit(self.labels, method="map", classes=self.classes, **how).classes()
        columns = {f"p_{name}": name for name in self.names}
        return found.set_index("item")[list(columns)].rename(columns=columns)

    def best_judge(self, items: pd.Index) -> pd.DataFrame:
        """The labels of the judges that are most often right about some items, as probabilities."""
        right = self.by_judge.loc[items].eq(self.gold[items], axis=0).mean()
        said = self.by_judge[right.index[right == right.max()]]
        return pd.DataFrame({name: said.eq(name).mean(axis=1) for name in self.names}) + 1e-3 * self.shares

    def peers(self, items: pd.Index) -> list[dict[str, object]]:
        rows = []
        with TemporaryDirectory() as folder:
            file = Path(folder) / "labels.csv"
            part = self.labels[self.labels["label"].isin(self.names)]
            part.drop_duplicates(["item", "judge"]).to_csv(file, index=False)
            for name, task in PEERS.items():
                peer = Peer(task, file)
                rows.append(self.row(name, pd.DataFrame(peer.run()[1]).T, items))
                peer.close()
        return rows


def rows_of(table: Table) -> list[dict[str, object]]:
    every = table.gold.index
    found = [
        table.row("majority", table.shares, every),
        table.row("best judge, by all people's labels", table.best_judge(every), every),
        *table.peers(every),
        table.row("voirdire", table.fitted(), every),
    ]
    for known in table.known:
        drawn: list[dict[str, object]] = []
        for seed in range(DRAWS):
            some = every[np.random.default_rng(seed).permutation(len(every))[:known]]
            rest = every.difference(some, sort=False)
            people = table.gold[some].rename("label").reset_index()
            drawn.append(table.row("majority", table.shares, rest, known))
            drawn.append(table.row("best judge, by known items", table.best_judge(some), rest, known))
            drawn.append(table.row("voirdire", table.fitted(anchors=people), rest, known))
        means = pd.DataFrame(drawn).groupby(["table", "known", "method"], sort=False)
        errors = means["accuracy"].std() / np.sqrt(DRAWS)
        found += means.mean().assign(se=errors).reset_index().to_dict("records")
    return found


rows = [row for name in TABLES for row in rows_of(Table(name))]
columns = dict.fromkeys(key for row in rows for key in row)
rows = [
    {
        key: round(float(row[key]), 3) if isinstance(row.get(key), float) else row.get(key)  # type: ignore[arg-type]
        for key in columns
    }
    for row in rows
]
notes = [
    "Default models at the mode, of LLMJudge ordered-labels, of DICES-350 hierarchical-dawid-skene with No and Yes as "
    "classes. crowd-kit's methods with at most 100 iterations; on DICES-350 they are given No and Yes alone.",
    f"With known items: mean of {DRAWS} random draws, on all other items; se is that of the accuracy over draws.",
    f"too sure: mean stated probability less accuracy. calibration error: {BINS} bins of the stated probability.",
]
show("Classes beside people's (LLMJudge, DICES-350)", rows, notes)
