"""Classes of items beside people's: the majority, the best judge, crowd-kit's Dawid-Skene and GLAD, and ours.

With ``VOIRDIRE_BENCH_KEEP=FILE`` what is measured is kept in a file, where a later run goes on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from common import Peer, labelled, shared, show, small

import voirdire
from voirdire.typing import Floats, Ints

Row: TypeAlias = dict[str, Any]

BINS = 10
# labels, people's classes, classes among the labels, draws of known items by their number
TABLES: dict[str, tuple[str, str, list[str] | None, dict[int, int]]] = {
    "LLMJudge": ("llmjudge_dev_labels.csv", "llmjudge_dev_gold.csv", None, {50: 10, 200: 10}),
    "DICES-350": ("dices350_labels.csv", "dices350_expert.csv", ["No", "Yes"], {20: 100}),
    "LLMBar": ("llmbar_votes.csv", "llmbar_gold.csv", None, {}),
}
PEERS = {"crowd-kit DawidSkene": "dawid_skene_chances", "crowd-kit GLAD": "glad_chances"}
PANELS = 2 if small() else 12
HONEST, ITEMS, CLASSES = 8, 300, 3


def measured(chance: Floats, truth: Ints) -> dict[str, float]:
    """Accuracy, its mean over classes, how much surer than right, error of calibration, log loss."""
    chance = chance / chance.sum(axis=1, keepdims=True)
    best = chance >= chance.max(axis=1, keepdims=True) - 1e-9
    rows = np.arange(len(truth))
    right, sure = best[rows, truth] / best.sum(axis=1), chance.max(axis=1)
    part = np.minimum((sure * BINS).astype(int), BINS - 1)
    error = sum(abs((right - sure)[part == b].mean()) * (part == b).mean() for b in np.unique(part))
    return {
        "accuracy": float(right.mean()),
        "balanced": float(np.mean([right[truth == c].mean() for c in np.unique(truth)])),
        "too sure": float(sure.mean() - right.mean()),
        "calibration error": float(error),
        "log loss": float(-np.log(np.maximum(chance[rows, truth], 1e-12)).mean()),
    }


class Kept:
    """What was measured before, by a name."""

    def __init__(self) -> None:
        name = os.environ.get("VOIRDIRE_BENCH_KEEP")
        self.file = Path(name) if name else None
        self.rows: dict[str, list[Row]] = {}
        if self.file is not None and self.file.exists():
            for line in self.file.read_text(encoding="utf-8").splitlines():
                self.rows |= json.loads(line)

    def rows_of(self, name: str, measure: Callable[[], list[Row]]) -> list[Row]:
        if name not in self.rows:
            self.rows[name] = measure()
            if self.file is not None:
                with self.file.open("a", encoding="utf-8") as out:
                    out.write(json.dumps({name: self.rows[name]}) + "\n")
        return self.rows[name]


class Table:
    """A table of labels, with the classes that people gave."""

    def __init__(self, name: str) -> None:
        labels, gold, self.classes, self.draws = TABLES[name]
        self.name = name
        self.labels = labelled(pd.read_csv(shared(labels), dtype=str))[["judge", "item", "label"]]
        self.gold = labelled(pd.read_csv(shared(gold), dtype=str)).set_index("item")["label"]
        self.names = self.classes or sorted(set(self.labels["label"]))
        counts = pd.crosstab(self.labels["item"], self.labels["label"])
        self.shares = counts.reindex(columns=self.names, fill_value=0) + 1e-6
        self.by_judge = self.labels.drop_duplicates(["item", "judge"]).pivot(
            index="item", columns="judge", values="label"
        )

    def row(self, method: str, chance: pd.DataFrame, items: pd.Index, known: int = 0) -> Row:
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

    def peers(self, items: pd.Index) -> list[Row]:
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

    def without_known(self) -> list[Row]:
        every = self.gold.index
        return [
            self.row("majority", self.shares, every),
            self.row("best judge, by all people's labels", self.best_judge(every), every),
            *self.peers(every),
            self.row("voirdire", self.fitted(), every),
        ]

    def with_known(self, known: int, seed: int) -> list[Row]:
        every = self.gold.index
        some = every[np.random.default_rng(seed).permutation(len(every))[:known]]
        rest = every.difference(some, sort=False)
        people = self.gold[some].rename("label").reset_index()
        return [
            self.row("majority", self.shares, rest, known),
            self.row("best judge, by known items", self.best_judge(some), rest, known),
            self.row("voirdire", self.fitted(anchors=people), rest, known),
        ]


def tables_rows(kept: Kept) -> list[Row]:
    rows: list[Row] = []
    for name in TABLES:
        table = Table(name)
        rows += kept.rows_of(name, table.without_known)
        for known, draws in table.draws.items():
            drawn: list[Row] = []
            for seed in range(2 if small() else draws):
                drawn += kept.rows_of(f"{name}, {known} known, draw {seed}", partial(table.with_known, known, seed))
            means = pd.DataFrame(drawn).groupby(["table", "known", "method"], sort=False)
            errors = means["accuracy"].sem()
            rows += means.mean().assign(se=errors).reset_index().to_dict("records")
    return rows


def panel(seed: int) -> dict[str, tuple[pd.DataFrame, dict[str, str] | None]]:
    """Honest judges, with near-copies of one of them, and with a family that errs together: labels, families named.

    Judges are right on 0.6 to 0.85 of the items, else take one of the other classes. Copies say what the first judge
    says on 19 of 20 items. Of the family all say the same wrong class of one item in twelve, and else are as honest.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, CLASSES, ITEMS)

    def honest(count: int) -> Ints:
        right = rng.random((count, ITEMS)) < rng.uniform(0.6, 0.85, (count, 1))
        return np.where(right, truth, (truth + rng.integers(1, CLASSES, (count, ITEMS))) % CLASSES)

    said = honest(HONEST)
    copies = np.where(rng.random((3, ITEMS)) < 0.95, said[0], rng.integers(0, CLASSES, (3, ITEMS)))
    together = rng.random(ITEMS) < 1.0 / 12.0
    family = np.where(together, (truth + rng.integers(1, CLASSES, ITEMS)) % CLASSES, honest(6))
    names = {f"judge-{HONEST + k}": "family" for k in range(6)}
    return {
        "8 honest judges": (_rows(truth, said), None),
        "and three copies of one": (_rows(truth, np.concatenate([said, copies])), None),
        "and a family of six, unnamed": (_rows(truth, np.concatenate([said, family])), None),
        "and a family of six, named": (_rows(truth, np.concatenate([said, family])), names),
    }


def _rows(truth: Ints, said: Ints) -> pd.DataFrame:
    judge, item = np.indices(said.shape)
    table = pd.DataFrame({"judge": judge.ravel(), "item": item.ravel(), "label": said.ravel()})
    table["judge"] = [f"judge-{k}" for k in table["judge"]]
    table["truth"] = [f"class-{truth[i]}" for i in table["item"]]
    table["item"] = [f"item-{i}" for i in table["item"]]
    table["label"] = [f"class-{c}" for c in table["label"]]
    return table


def panel_rows(seed: int) -> list[Row]:
    rows = []
    names = [f"class-{c}" for c in range(CLASSES)]
    for table, (labels, families) in panel(seed).items():
        truth = labels.drop_duplicates("item").set_index("item")["truth"]
        code = np.array([names.index(label) for label in truth])
        counts = pd.crosstab(labels["item"], labels["label"]).reindex(truth.index)
        ways = {"majority": counts.to_numpy(float) + 1e-6}
        independent = {"voirdire, judges taken as independent": {"model": "hierarchical-dawid-skene"}}
        named = {"families": families} if families else {}
        for method, how in ({"voirdire": named} | ({} if named else independent)).items():
            found = voirdire.fit(labels.drop(columns="truth"), method="map", **how).classes()
            ways[method] = found.set_index("item").loc[truth.index, [f"p_{c}" for c in names]].to_numpy(float)
        rows += [{"table": table, "method": way, **measured(p, code)} for way, p in ways.items()]
    return rows


def copies_rows(kept: Kept) -> list[Row]:
    drawn = [
        {**row, "panel": seed}
        for seed in range(PANELS)
        for row in kept.rows_of(f"panel {seed}", partial(panel_rows, seed))
    ]
    frame = pd.DataFrame(drawn)
    first = frame[(frame["table"] == "8 honest judges") & (frame["method"] == "voirdire")].set_index("panel")
    rows = []
    for (table, method), group in frame.groupby(["table", "method"], sort=False):
        gap = group.set_index("panel")[["accuracy", "log loss"]] - first[["accuracy", "log loss"]]
        means = group.drop(columns=["table", "method", "panel"]).mean().to_dict()
        row = {"table": f"simulated: {table}", "known": 0, "method": method, **means}
        row["se"] = group["accuracy"].sem()
        row["accuracy less that of the honest alone"] = _with_error(gap["accuracy"])
        row["log loss less that of the honest alone"] = _with_error(gap["log loss"])
        rows.append(row)
    return rows


def _with_error(gap: pd.Series) -> str:
    return f"{gap.mean():.3f} ({gap.sem():.3f})"


kept = Kept()
rows = [*tables_rows(kept), *copies_rows(kept)]
columns = dict.fromkeys(key for row in rows for key in row)
rows = [
    {key: round(row[key], 3) if isinstance(row.get(key), float) else row.get(key, "") for key in columns}
    for row in rows
]
notes = [
    "Default models at the mode: of LLMJudge (33 judges, 1,715 passages, grades 0 to 3) ordered-labels, of DICES-350 "
    "hierarchical-dawid-skene with No and Yes as classes, of LLMBar's votes (one of two answers, asked in both orders, "
    "as label of the pair) whichever the default is; of simulated panels too. crowd-kit's methods with at most 100 "
    "iterations; on DICES-350 they are given No and Yes alone, and one label of each judge and item.",
    "With known items: mean over random draws (LLMJudge 10, DICES-350 100), on all other items; se is that of the "
    "accuracy over draws.",
    f"too sure: mean stated probability less accuracy. calibration error: {BINS} bins of the stated probability.",
    f"Simulated: {PANELS} panels of {ITEMS} items of three classes and {HONEST} judges who are right on 0.6 to 0.85 of "
    "them; copies say what the first says on 19 of 20 items; the family says the same wrong class of one item in "
    "twelve and else errs as the others do. In brackets standard errors of paired differences.",
]
show("Classes beside people's (LLMJudge, DICES-350, LLMBar), and copies of judges", rows, notes)
