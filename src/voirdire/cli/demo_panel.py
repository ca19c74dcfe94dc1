"""The embedded panel, fitted: what the command ``voirdire demo`` shows.

Two very small language models and four rules compare 12 texts (``voirdire.datasets.load("demo")``). What is true of
the judges is not known, but who wrote the texts graded them: the ranking can be held against the grades.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.datasets import load
from voirdire.datasets.convert import demo_items
from voirdire.fit.store import LAYOUT
from voirdire.fit.verb import fit
from voirdire.folders import new_folder
from voirdire.kinds.fit import Fit
from voirdire.layouts import Layout, exactly, text_with

if TYPE_CHECKING:
    import pandas as pd

SEED = 0
REPORT = "report.html"
MODEL, BASELINE = "maple-tastes", "majority-vote"
PANEL = ("gemma-0.3", "gemma-1.0", "smollm-0.3", "smollm-1.0", "longer", "rare-words", "noise-1", "noise-2")


@dataclass(frozen=True, eq=False)
class Demo:
    """The panel's votes, the fit, and what both are compared with.

    Attributes
    ----------
    votes, criteria_votes, items : pandas.DataFrame
        What the panel answered, and the texts with their grades (12 is best).
    fit : Fit
        ``maple-tastes`` by Laplace, with intervals of 90%; the default method goes on by chains.
    baseline : Fit
        The majority vote of each pair, by its mode.
    """

    votes: pd.DataFrame
    criteria_votes: pd.DataFrame
    items: pd.DataFrame
    fit: Fit
    baseline: Fit

    def grades(self) -> dict[str, int]:
        """Each text's grade."""
        return dict(zip(self.items["id"], self.items["grade"].astype(int).tolist(), strict=True))

    def graded_ranks(self) -> dict[str, int]:
        """Each text's rank by its grade, 1 for the best."""
        grades = self.grades()
        return {item: place for place, item in enumerate(sorted(grades, key=lambda i: -grades[i]), start=1)}

    def judges(self) -> list[dict[str, Any]]:
        """Per judge, counted from its votes: how often it picked the first text, and the one graded higher."""
        grades = self.grades()
        first = self.votes["first"].map(grades) > self.votes["second"].map(grades)
        picked = self.votes["winner"] == "first"
        counted = self.votes.assign(picked=picked, graded=picked == first).groupby("judge")
        rates = counted[["picked", "graded"]].mean()
        return [
            {"judge": str(judge), "first_rate": float(row["picked"]), "as_graded": float(row["graded"])}
            for judge, row in rates.iterrows()
        ]

    def measures(self) -> dict[str, float]:
        """Concordance of both fits' scores with the grades: the share of pairs of texts in the graded order."""
        from voirdire.agreement.coefficients.concordance import concordance_index

        grades = self.grades()

        def grade_concordance(fitted: Fit) -> float:
            found = {row["item"]: row["score"] for row in fitted.as_dict()["items"]}
            return concordance_index([found[name] for name in grades], list(grades.values()))

        return {
            "concordance": grade_concordance(self.fit),
            "concordance_majority": grade_concordance(self.baseline),
        }

    def save(self, folder: str | Path, *, overwrite: bool = False) -> Path:
        """Write ``votes.csv``, ``criteria.csv``, ``items.csv``, the saved fit ``fit/`` and ``report.html``.

        The folder appears whole or not at all.

        Raises
        ------
        InputError
            As :func:`voirdire.folders.new_folder`.
        """
        with new_folder(folder, layout(), overwrite=overwrite) as place:
            for name, text in _table_texts(self.votes, self.criteria_votes, self.items).items():
                (place / name).write_text(text, encoding="utf-8", newline="\n")
            self.fit.save(place / "fit")
            self.fit.report(place / REPORT)
        return Path(folder)

    def as_dict(self) -> dict[str, Any]:
        """Return the fit's result with the grades and what was counted, as ``voirdire demo --json``."""
        grades = [{"item": item, "grade": grade} for item, grade in self.grades().items()]
        return self.fit.as_dict() | {
            "graded": grades,
            "counted": self.judges(),
            "measures": self.measures(),
        }


def run(seed: int = SEED, progress: Callable[[int, int, str], None] | None = None) -> Demo:
    """Fit the embedded panel's votes.

    Parameters
    ----------
    seed : int
        Of the draws.
    progress : callable, optional
        As :func:`voirdire.fit.fit` calls it.

    Examples
    --------
    >>> demo = run()
    >>> demo.fit.model.name, len(demo.grades())
    ('maple-tastes', 12)
    """
    votes, on_criteria, items = _demo_tables()
    fitted = fit(votes, on_criteria, model=MODEL, method="laplace", seed=seed, progress=progress)
    return Demo(votes, on_criteria, items, fitted, fit(votes, model=BASELINE, method="map"))


def layout() -> Layout:
    """Content of a folder of the demo. A table that has been changed is not the demo's any more.

    Examples
    --------
    >>> layout().what
    'the demo'
    """
    tables = {name: exactly(text) for name, text in _table_texts(*_demo_tables()).items()}
    page = text_with("<!doctype html>", 'content="voirdire ')
    return Layout("the demo", {**tables, "fit": LAYOUT, REPORT: page})


def _demo_tables() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    data = load("demo")
    assert data.criteria_votes is not None  # the panel voted on its criteria
    return data.table, data.criteria_votes, demo_items()


def _table_texts(*tables: pd.DataFrame) -> dict[str, str]:
    names = ("votes.csv", "criteria.csv", "items.csv")
    return {name: table.to_csv(index=False) for name, table in zip(names, tables, strict=True)}
