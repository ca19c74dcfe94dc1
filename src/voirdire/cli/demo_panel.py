"""The embedded panel of ``voirdire demo``, fitted without and with human answers.

Eight simulated judges compare 16 answers to one question (``voirdire.datasets.load("demo")``). Their errors are
correlated by design: four prefer long texts, and the longest texts are the worst. The grades of the texts are known,
so the pairs that a ranking has in the right order can be counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.datasets import load
from voirdire.fit.store import LAYOUT
from voirdire.fit.verb import fit
from voirdire.folders import write_folder_atomically
from voirdire.kinds.fit import Fit
from voirdire.layouts import Layout, Recognise, recognise_text

if TYPE_CHECKING:
    import pandas as pd

SEED = 0
REPORT_FILE = "report.html"
QUESTION = "A pan of oil is burning on the stove. What should I do?"


@dataclass(frozen=True, eq=False)
class Demo:
    """The panel's votes, human answers and texts, and the fits without and with human answers.

    Attributes
    ----------
    votes, people, texts : pandas.DataFrame
        The panel's votes (judge, first, second, winner), people's answers (first, second, winner), and the texts (item,
        grade, words, text; grade 3 is best).
    alone, helped : Fit
        Fits of the default model by Laplace, with 90% intervals. ``alone`` uses the votes only; ``helped`` also
        people's answers, which alone inform the judges' parameters (``anchor_mode="cut"``).
    without_panel : Fit
        Fit of people's answers only: the mode of ``bradley-terry``.
    """

    votes: pd.DataFrame
    people: pd.DataFrame
    texts: pd.DataFrame
    alone: Fit
    helped: Fit
    without_panel: Fit

    def grades(self) -> dict[str, int]:
        """Return the grade of each text, 0 to 3."""
        return dict(zip(self.texts["item"], self.texts["grade"].astype(int).tolist(), strict=True))

    def unasked_pairs(self) -> list[tuple[str, str]]:
        """Return the pairs of texts with different grades that people did not compare, the better text first."""
        grades = self.grades()
        asked_pairs = {frozenset(pair) for pair in zip(self.people["first"], self.people["second"], strict=True)}
        ordered = (sorted(pair, key=grades.__getitem__, reverse=True) for pair in combinations(grades, 2))
        return [(a, b) for a, b in ordered if grades[a] > grades[b] and frozenset((a, b)) not in asked_pairs]

    def measures(self) -> dict[str, float]:
        """Return the share of unasked pairs in the right order, by majority vote and by each fit.

        A tie counts half, as does a pair with a text that the fit has not seen.
        """
        winner = self.votes["first"].where(self.votes["winner"] == "first", self.votes["second"])
        loser = self.votes["second"].where(self.votes["winner"] == "first", self.votes["first"])
        wins = Counter(zip(winner, loser, strict=True))
        pairs = self.unasked_pairs()

        def order_credit(better: float, worse: float) -> float:
            return 1.0 if better > worse else 0.0 if better < worse else 0.5

        def share_right(fitted: Fit) -> float:
            score = {row["item"]: row["score"] for row in fitted.as_dict()["items"]}
            unseen = float("nan")
            return sum(order_credit(score.get(a, unseen), score.get(b, unseen)) for a, b in pairs) / len(pairs)

        return {
            "majority": sum(order_credit(wins[a, b], wins[b, a]) for a, b in pairs) / len(pairs),
            "alone": share_right(self.alone),
            "people": share_right(self.without_panel),
            "with_people": share_right(self.helped),
        }

    def save(self, folder: str | Path, *, overwrite: bool = False) -> Path:
        """Write the tables, the fit with people's answers (``fit/``) and its page (``report.html``).

        The folder appears complete or not at all.

        Raises
        ------
        InputError
            See :func:`voirdire.folders.write_folder_atomically`.
        """
        with write_folder_atomically(folder, demo_layout(), overwrite=overwrite) as draft_folder:
            for name, text in _csv_by_file_name(self.votes, self.people, self.texts).items():
                (draft_folder / name).write_text(text, encoding="utf-8", newline="\n")
            self.helped.save(draft_folder / "fit")
            self.helped.report(draft_folder / REPORT_FILE)
        return Path(folder)

    def as_dict(self) -> dict[str, Any]:
        """Return the fit with people's answers, the grades and `measures`, as ``voirdire demo --json`` prints them."""
        grades = [{"item": item, "grade": grade} for item, grade in self.grades().items()]
        measures = self.measures() | {"pairs": len(self.unasked_pairs())}
        return self.helped.as_dict() | {"alone": self.alone.as_dict(), "graded": grades, "measures": measures}


def fit_demo(seed: int = SEED, progress: Callable[[int, int, str], None] | None = None) -> Demo:
    """Fit the embedded panel's votes, without and with people's answers.

    Parameters
    ----------
    seed : int
        Seed of the draws.
    progress : callable, optional
        Progress callback; see :func:`voirdire.fit.fit`.
    """
    votes, people, texts = _demo_tables()
    alone = fit(votes, method="laplace", seed=seed, progress=progress)
    helped = fit(votes, anchors=people, anchor_mode="cut", method="laplace", seed=seed, progress=progress)
    without_panel = fit(people.assign(judge="people"), model="bradley-terry", method="map")
    return Demo(votes, people, texts, alone, helped, without_panel)


def demo_layout() -> Layout:
    """Return the expected content of a demo folder. A changed table does not match.

    Examples
    --------
    >>> demo_layout().title
    'the demo'
    """
    tables = {name: _content_matcher(text.encode()) for name, text in _csv_by_file_name(*_demo_tables()).items()}
    page = recognise_text("<!doctype html>", 'content="voirdire ')
    return Layout("the demo", {**tables, "fit": LAYOUT, REPORT_FILE: page})


def _content_matcher(data: bytes) -> Recognise:
    return lambda path: path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data


def _demo_tables() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    data = load("demo")
    assert data.gold is not None
    assert data.items is not None
    return data.table, data.gold, data.items


def _csv_by_file_name(*tables: pd.DataFrame) -> dict[str, str]:
    names = ("votes.csv", "people.csv", "texts.csv")
    return {name: table.to_csv(index=False) for name, table in zip(names, tables, strict=True)}
