"""A table as a task: what judges say of items, what is true of them, and what a method may see.

A ``table.toml`` says where a table is and what its columns mean; see ``README.md``. Whatever its kind, a task asks for
the class of each item: a label, or, of votes and of scores that are compared, which of two sides is the better.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

SIDES = ("first", "second")
KEYS = {
    "title", "kind", "file", "join", "dataset", "columns", "where", "gold", "held_out", "classes", "levels",
    "known", "licence", "cite", "says", "why",
}  # fmt: skip


class WrongTableError(ValueError):
    """A ``table.toml`` or its files are wrong; the message names the place and the remedy."""


@dataclass(frozen=True)
class Task:
    """What a method gets.

    Attributes
    ----------
    labels : DataFrame
        Columns item, judge, label: what the panel says of the items in question (of sides: ``first``, ``second`` and
        ``tie``); empty where items are of prompts that no judge has seen.
    votes : DataFrame or None
        Columns judge, item, context, first, second, winner (a side or ``tie``), where items are pairs; ``first`` and
        ``second`` as the item has them, whatever was shown first, which ``shown`` says (True: as the item has them).
    questions : DataFrame
        Indexed by item; of pairs the columns context, first, second.
    gold : Series
        Item to class.
    known : Series
        The part of ``gold`` that a method may see; empty at first.
    classes : list of str
    ordered : bool
        Whether classes are levels in order.
    scores : DataFrame or None
        Columns item, judge, score: of pairs of scored items the difference of the two.
    """

    name: str
    labels: pd.DataFrame
    votes: pd.DataFrame | None
    questions: pd.DataFrame
    gold: pd.Series
    known: pd.Series
    classes: list[str]
    ordered: bool = False
    scores: pd.DataFrame | None = None

    @cached_property
    def counts(self) -> pd.DataFrame:
        """How often each class was said of each item; a tie is half of either side."""
        found = pd.crosstab(self.labels["item"], self.labels["label"]).astype(float)
        if "tie" in found and self.votes is not None:
            for side in SIDES:
                found[side] = found.get(side, 0.0) + found["tie"] / 2
        return found.reindex(index=self.questions.index, columns=self.classes, fill_value=0.0)

    @property
    def clusters(self) -> pd.Series:
        """Item to what it stands or falls with: its context where there are several, else itself."""
        contexts = self.questions.get("context", pd.Series(dtype=object))
        return contexts if len(set(contexts)) > 1 else pd.Series(self.questions.index, index=self.questions.index)

    def with_known(self, items: pd.Index) -> Task:
        """The same task with some items known."""
        return replace(self, known=self.gold[items])


@dataclass(frozen=True)
class Table:
    """A ``table.toml`` and the folder that holds it."""

    name: str
    folder: Path
    settings: dict[str, Any]

    @property
    def title(self) -> str:
        return str(self.settings.get("title", self.name))

    @property
    def known(self) -> list[int]:
        """How many items are known, in turn."""
        return [int(one) for one in self.settings.get("known", [0] if self.halves else [0, 20, 50, 200])]

    @property
    def halves(self) -> bool:
        """Whether half of the contexts is asked about, and the other half is seen."""
        return "held_out" in self.settings

    def task(self, draw: int = 0) -> Task:
        """Read the table; of halves the draw says which."""
        kind = self.settings["kind"]
        rows = self._rows(self.settings)
        if kind == "labels":
            return self._of_labels(rows)
        votes = _compared(rows) if kind == "scores" else _paired(rows)
        return self._of_halves(votes, draw) if self.halves else self._of_pairs(votes)

    def votes(self) -> pd.DataFrame | None:
        """All votes of the panel, where there are any; of scores that are compared, who is ahead."""
        if self.settings["kind"] == "labels":
            return None
        rows = self._rows(self.settings)
        votes = _compared(rows) if self.settings["kind"] == "scores" else _paired(rows)
        return votes if self.halves else self._gold(votes)[0]

    def _rows(self, settings: dict[str, Any]) -> pd.DataFrame:
        """The rows of a file with the columns named as here: a judge may be several columns."""
        rows = self._read(settings)
        if "join" in settings:
            rows = rows.merge(self._read({"file": settings["join"]}), validate="many_to_one")
        for column, wanted in settings.get("where", {}).items():
            rows = rows[rows[_there(rows, column, self)].isin([str(one) for one in _several(wanted)])]
        found = {}
        for ours, theirs in settings.get("columns", {}).items():
            parts = [self._column(rows, str(one)) for one in _several(theirs)]
            found[ours] = parts[0] if len(parts) == 1 else parts[0].str.cat(parts[1:], sep="/")
        return rows.assign(**found).reset_index(drop=True)

    def _column(self, rows: pd.DataFrame, what: str) -> pd.Series:
        """A column by its name, ``=text`` for the same in every row, or the side by ``NUMBERS > LIMIT``."""
        if what.startswith("="):
            return pd.Series(what[1:], index=rows.index)
        column, _, limit = what.partition(" > ")
        found = rows[_there(rows, column, self)]
        if not limit:
            return found
        ahead = pd.to_numeric(found) - float(limit)
        return pd.Series(np.select([ahead > 0, ahead < 0], ["first", "second"], "tie"), index=rows.index)

    def _read(self, settings: dict[str, Any]) -> pd.DataFrame:
        if "dataset" in settings:
            from voirdire import datasets

            data = datasets.load(settings["dataset"], folder=os.environ.get("VOIRDIRE_DATA"))
            return data.table.astype(str)
        shared = Path(os.environ.get("VOIRDIRE_SHARED", Path(__file__).resolve().parents[3] / "shared"))
        places = [self.folder / settings["file"], shared / "data" / settings["file"]]
        for path in places:
            if path.is_file():
                return pd.read_csv(path, dtype=str, keep_default_na=False)
        raise WrongTableError(
            f"{self.folder.name}: no file {settings['file']} in {' or '.join(str(path.parent) for path in places)}: "
            "put it beside table.toml, or name the folder of published tables in VOIRDIRE_SHARED"
        )

    def _gold(self, rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
        """What the panel says, and what is true: rows of another file, or of a judge that is left out."""
        gold = self.settings["gold"]
        if "file" in gold:
            return rows, self._rows(gold)
        mine = np.ones(len(rows), bool)
        for column, wanted in gold.get("where", {}).items():
            mine &= rows[_there(rows, column, self)].isin([str(one) for one in _several(wanted)]).to_numpy()
        out = mine.copy()
        for column in gold.get("without", list(gold["where"])[:1]):  # nor any other row of that judge
            out |= rows[column].isin(rows.loc[mine, column].unique()).to_numpy()
        if not mine.any():
            raise WrongTableError(f"{self.folder.name}: [gold] where {gold['where']} is true of no row")
        return rows[~out], rows[mine]

    def _of_labels(self, rows: pd.DataFrame) -> Task:
        panel, gold = self._gold(rows)
        classes = [str(one) for one in self.settings.get("classes", sorted(gold["label"].unique()))]
        true = gold.drop_duplicates("item").set_index("item")["label"]
        true = true[true.isin(classes) & true.index.isin(panel["item"])]
        questions = pd.DataFrame(index=true.index)
        if "context" in panel:
            questions["context"] = panel.drop_duplicates("item").set_index("item")["context"]
        ordered = bool(self.settings.get("levels", False))
        scores = panel[["item", "judge"]].assign(score=pd.to_numeric(panel["label"], errors="coerce"))
        return Task(
            self.name,
            panel[["item", "judge", "label"]].reset_index(drop=True),
            None,
            questions,
            true,
            true.iloc[:0],
            classes,
            ordered,
            scores if ordered and scores["score"].notna().all() else None,
        )

    def _of_pairs(self, rows: pd.DataFrame) -> Task:
        panel, gold = self._gold(rows)
        if "file" in self.settings["gold"]:
            gold = _paired(gold)
        # a pair that was answered in both orders counts if the answers agree
        lean = gold["winner"].map({"first": 1, "second": -1, "tie": 0}).groupby(gold["item"], sort=False).mean()
        true = pd.Series(np.where(lean > 0, "first", "second"), index=lean.index)[lean.abs() == 1]
        true = true[true.index.isin(panel["item"])]
        questions = gold.drop_duplicates("item").set_index("item").loc[true.index, ["context", "first", "second"]]
        asked = panel[panel["item"].isin(true.index)]
        if asked.duplicated(["item", "judge"]).mean() > 0.2:  # asked in both orders: each order is a judge
            asked = asked.assign(judge=asked["judge"] + np.where(asked["shown"], "", " (turned)"))
        asked = asked.drop_duplicates(["item", "judge"])
        return Task(
            self.name,
            asked[["item", "judge"]].assign(label=asked["winner"]).reset_index(drop=True),
            panel.reset_index(drop=True),
            questions,
            true,
            true.iloc[:0],
            list(SIDES),
            scores=None if "score" not in asked else asked[["item", "judge", "score"]],
        )

    def _of_halves(self, rows: pd.DataFrame, draw: int) -> Task:
        contexts = np.array(sorted(rows["context"].unique()))
        seen = np.random.default_rng([7, draw]).permutation(contexts)[: len(contexts) // 2]
        there = rows["context"].isin(seen)
        asked = rows[~there & rows["winner"].isin(SIDES)]
        asked = asked.assign(item=asked["item"] + "|" + asked.groupby("item").cumcount().astype(str))
        asked = asked.set_index("item")
        return Task(
            self.name,
            rows.iloc[:0][["item", "judge"]].assign(label=""),
            rows[there].reset_index(drop=True),
            asked[["context", "first", "second"]],
            asked["winner"],
            asked["winner"].iloc[:0],
            list(SIDES),
        )


def _several(value: object) -> list[Any]:
    return list(value) if isinstance(value, list) else [value]


def _there(rows: pd.DataFrame, column: str, table: Table) -> str:
    if column not in rows:
        raise WrongTableError(f"{table.folder.name}: no column {column!r}; there are {', '.join(rows.columns)}")
    return column


def _paired(rows: pd.DataFrame) -> pd.DataFrame:
    """Votes with the unordered pair (in its context) as the item, its sides by name."""
    context = rows["context"] if "context" in rows else pd.Series("", index=rows.index)
    shown = rows["first"] <= rows["second"]
    winner = rows["winner"].where(rows["winner"].isin([*SIDES, "tie"]))
    winner = winner.where(winner.notna(), np.where(rows["winner"] == rows["first"], "first", "second"))
    turned = winner.map({"first": "second", "second": "first", "tie": "tie"})
    first, second = rows["first"].where(shown, rows["second"]), rows["second"].where(shown, rows["first"])
    return pd.DataFrame(
        {
            "judge": rows.get("judge", pd.Series("people", index=rows.index)),
            "item": context + "|" + first + "|" + second,
            "context": context,
            "first": first,
            "second": second,
            "winner": winner.where(shown, turned),
            "shown": shown,
        }
    )


def _compared(rows: pd.DataFrame) -> pd.DataFrame:
    """Scores as votes: each judge compares the systems of a context by its scores of them."""
    score = pd.to_numeric(rows["score"])
    wide = rows.assign(score=score).pivot_table(index=["judge", "context"], columns="system", values="score")
    parts = []
    for first, second in combinations(sorted(wide.columns), 2):
        ahead = (wide[first] - wide[second]).dropna()
        winner = np.select([ahead > 0, ahead < 0], ["first", "second"], "tie")
        found = ahead.index.to_frame(index=False)
        parts.append(found.assign(first=first, second=second, winner=winner, score=ahead.to_numpy(), shown=True))
    votes = pd.concat(parts, ignore_index=True)
    votes["item"] = votes["context"] + "|" + votes["first"] + "|" + votes["second"]
    # what else is known of a judge, such as whose scores they are
    more = [column for column in rows if column not in votes and rows.groupby("judge")[column].nunique().max() == 1]
    return votes.merge(rows.drop_duplicates("judge")[["judge", *more]], on="judge")


def read(folder: Path) -> Table:
    """One folder's ``table.toml``.

    Raises
    ------
    WrongTableError
        There is none, it is no TOML, or a key is missing or unknown.
    """
    path = folder / "table.toml"
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise WrongTableError(f"{path}: {error}") from None
    unknown = sorted(set(settings) - KEYS)
    if unknown:
        raise WrongTableError(f"{path}: unknown key {unknown[0]!r}; there are {', '.join(sorted(KEYS))}")
    if settings.get("kind") not in ("labels", "votes", "scores"):
        raise WrongTableError(f"{path}: kind must be labels, votes or scores")
    if "file" not in settings and "dataset" not in settings:
        raise WrongTableError(f"{path}: name a file, or a dataset that voirdire.datasets knows")
    if ("gold" in settings) == ("held_out" in settings):
        raise WrongTableError(f"{path}: say what is true, by [gold] or by [held_out]")
    return Table(folder.name, folder, settings)


def tables(*roots: Path) -> list[Table]:
    """All tables of some folders, by name: each folder holds folders with a ``table.toml``, or is one."""
    found = [path.parent for root in roots for path in (*root.glob("table.toml"), *root.glob("*/table.toml"))]
    if not found:
        raise WrongTableError(f"no table.toml in {', '.join(map(str, roots))}")
    return sorted((read(folder) for folder in found), key=lambda table: table.name)
