"""Fits beside each other: do they rank alike, which items move, which predicts better, which judges do they trust?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError
from voirdire.report import loo
from voirdire.report.page import Block, Figure, Page, Section, Text, named
from voirdire.report.table import is_missing, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

    from voirdire.result import Fit

_FEW = 3  # common items below which a rank correlation says nothing


@dataclass(frozen=True)
class Comparison:
    """Fits compared.

    Attributes
    ----------
    runs : dict of str to str
        Each run's model and method.
    correlations : list of dict
        Per pair of runs: a, b, items in common, spearman and kendall_tau_b of their scores (None where undefined).
    items : list of dict
        Per item: its score and rank in each run (among the items of all runs), and shift, how far its ranks lie apart.
    loo : list of dict
        Per run: elpd, se, difference from the best and its se, as :func:`.loo.table`; empty where not defined.
    judges : list of dict
        Per judge: reliability in each run with interval.
    notes : list of str
        What could not be compared, and why.
    """

    runs: dict[str, str]
    correlations: list[dict[str, Any]]
    items: list[dict[str, Any]]
    loo: list[dict[str, Any]]
    judges: list[dict[str, Any]]
    notes: list[str]

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as plain Python, in the shape of ``voirdire compare --json``."""
        runs = [{"run": name, "fit": what} for name, what in self.runs.items()]
        parts = {
            "correlations": self.correlations,
            "items": self.items,
            "loo": self.loo,
            "judges": self.judges,
        }
        return {"runs": runs, **parts, "notes": self.notes}


def read_fits(folders: Sequence[str | Path]) -> dict[str, Fit]:
    """Read saved fits, named by their folders.

    Raises
    ------
    InputError
        Fewer than two, one given twice, or a folder that holds no fit.
    """
    from voirdire.report.sources import read_run
    from voirdire.result import Fit

    if len(folders) < 2:
        raise InputError("comparing takes two runs or more; name further folders")
    paths = [Path(folder) for folder in folders]
    twice = {str(path) for path in paths if sum(path.resolve() == other.resolve() for other in paths) > 1}
    if twice:
        raise InputError(f"{min(twice)} is given twice; give each run once")
    short = [path.name for path in paths]
    names = short if len(set(short)) == len(short) else [str(path) for path in paths]
    found = {}
    for name, path in zip(names, paths, strict=True):
        run = read_run(path)
        if not isinstance(run, Fit):
            raise InputError(f"{path}: holds no fit; compare takes folders that voirdire fit saved")
        found[name] = run
    return found


def compare(fits: Mapping[str, Fit]) -> Comparison:
    """Compare fits of the same items.

    Parameters
    ----------
    fits : mapping of str to Fit

    Raises
    ------
    InputError
        Fewer than two fits, or two of them have no item in common.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit import fit
    >>> votes = pd.DataFrame({"judge": "a", "first": list("xyx") * 3, "second": list("yzz") * 3, "winner": "first"})
    >>> both = {name: fit(votes, model=name, method="map") for name in ("bradley-terry", "crowd-bt")}
    >>> compare(both).correlations[0]["spearman"]
    1.0
    """
    if len(fits) < 2:
        raise InputError("comparing takes two fits or more")
    scores = {
        name: {row["item"]: row["score"] for row in fit.as_dict()["items"]} for name, fit in fits.items()
    }
    problems = [
        f"{a} and {b} have no item in common; compare fits of the same items"
        for a, b in combinations(fits, 2)
        if not set(scores[a]) & set(scores[b])
    ]
    if problems:
        raise InputError(problems)
    notes: list[str] = []
    runs = {name: f"{fit.model.name} by {fit.method}" for name, fit in fits.items()}
    correlations = [_correlation(a, b, scores[a], scores[b]) for a, b in combinations(fits, 2)]
    return Comparison(
        runs, correlations, _items(scores, notes), _loo(fits, notes), _judges(fits, notes), notes
    )


def _correlation(a: str, b: str, one: Mapping[str, float], two: Mapping[str, float]) -> dict[str, Any]:
    from scipy.stats import kendalltau, spearmanr

    both = sorted(set(one) & set(two))
    x, y = [one[item] for item in both], [two[item] for item in both]
    defined = len(both) >= _FEW and len(set(x)) > 1 and len(set(y)) > 1
    row: dict[str, Any] = {"a": a, "b": b, "items": len(both)}
    row["spearman"] = float(spearmanr(x, y).statistic) if defined else None
    row["kendall_tau_b"] = float(kendalltau(x, y).statistic) if defined else None
    return row


def _items(scores: Mapping[str, Mapping[str, float]], notes: list[str]) -> list[dict[str, Any]]:
    common = set.intersection(*(set(one) for one in scores.values()))
    rest = set.union(*(set(one) for one in scores.values())) - common
    if rest:
        notes.append(
            f"{len(rest)} items are not in all runs: ranks and shifts are among the {len(common)} that are."
        )
    ranks = {
        run: {item: place for place, item in enumerate(sorted(common, key=lambda i: (-one[i], i)), start=1)}
        for run, one in scores.items()
    }
    rows = []
    for item in sorted(common, key=lambda i: next(iter(ranks.values()))[i]):
        places = {run: ranks[run][item] for run in scores}
        row: dict[str, Any] = {"item": item} | {f"rank {run}": place for run, place in places.items()}
        row |= {"shift": max(places.values()) - min(places.values())}
        rows.append(row | {f"score {run}": scores[run][item] for run in scores})
    return rows


def _loo(fits: Mapping[str, Fit], notes: list[str]) -> list[dict[str, Any]]:
    known: dict[str, loo.Pointwise] = {}
    first: Fit | None = None
    for name, fit in fits.items():
        try:
            if first is not None and not _same_votes(first, fit):
                notes.append(f"{name}: not of the same votes as the others, so predictions are not compared.")
                continue
            known[name] = loo.pointwise(fit)
            first = first or fit
        except InputError as error:
            notes.append(f"{name}: no leave-one-out prediction, {error}.")
    if len(known) < 2:
        return []
    if any(fits[name].method == "laplace" for name in known):
        notes.append("Leave-one-out predictions of fits by laplace take its draws as those of the posterior.")
    return loo.table(known)


def _same_votes(one: Fit, two: Fit) -> bool:
    """Whether two fits are of the same votes."""
    from voirdire.kinds import votes_problem

    a, b = (votes_problem(fit.problem, "compare").votes for fit in (one, two))
    names = ("judges", "criteria", "items")
    codes = ("judge", "criterion", "first", "second", "counts")
    return all(getattr(a, key) == getattr(b, key) for key in names) and all(
        np.array_equal(getattr(a, key), getattr(b, key)) for key in codes
    )


def _judges(fits: Mapping[str, Fit], notes: list[str]) -> list[dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for run, fit in fits.items():
        found = fit.as_dict()["judges"]
        if all(is_missing(row.get("reliability")) for row in found):
            notes.append(f"{run}: {fit.model.name} takes all judges alike, so it has no reliabilities.")
            continue
        for row in found:
            made = rows.setdefault(row["judge"], {"judge": row["judge"]})
            for end in ("", "_low", "_high"):
                made[f"{run}{end}"] = row[f"reliability{end}"]
    order = next((run for run in fits if any(run in row for row in rows.values())), "")
    return sorted(rows.values(), key=lambda row: (-(row.get(order) or 0.0), row["judge"]))


def compare_page(found: Comparison) -> Page:
    """The comparison as a page."""
    sections = [
        Section("alike", "Do they rank alike?", "Ranking", tuple(_alike(found))),
        Section("predict", "Which predicts better?", "Prediction", tuple(_predicts(found))),
        Section("judges", "Do they trust the same judges?", "Judges", tuple(_trusts(found))),
    ]
    if found.notes:
        sections.append(Section("notes", "What was not compared", "Notes", tuple(map(Text, found.notes))))
    tiles = tuple((f"Run {number}", run, what) for number, (run, what) in enumerate(found.runs.items(), 1))
    return Page("Comparison of fits", f"{len(found.runs)} runs.", tuple(sections), tiles)


def _alike(found: Comparison) -> Iterator[Block]:
    moved = [row for row in found.items if row["shift"] > 0]
    if moved:
        far = max(moved, key=lambda row: row["shift"])
        places = "1 place" if far["shift"] == 1 else f"{far['shift']} places"
        yield Text(
            f"{len(moved)} of {len(found.items)} items stand elsewhere; {named(far['item'])} moves most, by {places}.",
            "lead",
        )
    else:
        yield Text(f"All {len(found.items)} items stand in the same order.", "lead")
    heads = {"spearman": "Spearman's rho", "kendall_tau_b": "Kendall's tau-b"}
    why = f"undefined: fewer than {_FEW} items in common, or all scores alike"
    yield table(
        "correlations",
        "Rank correlation of the scores",
        found.correlations,
        heads=heads,
        decimals={"spearman": 3, "kendall_tau_b": 3},
        missing=dict.fromkeys(heads, why),
    )
    runs = list(found.runs)
    yield Figure("ranks", "Ranks", "Each item's rank in every run.", lambda: [_ranks(found.items, runs)])
    yield table("items", "Items, in the order of the first run", found.items)


def _predicts(found: Comparison) -> Iterator[Block]:
    if not found.loo:
        yield Text("Predictions cannot be compared; the notes say why.", "lead")
        return
    best, second = found.loo[:2]
    clear = abs(second["difference"]) > 2 * second["difference_se"]
    yield Text(
        f"{named(best['run'])} predicts votes left out best; {named(second['run'])} follows, "
        f"{'clearly behind' if clear else 'not clearly behind'}: {second['difference']:.1f} in log density, "
        f"with a standard error of {second['difference_se']:.1f}.",
        "lead",
    )
    yield table(
        "loo",
        "Leave-one-out log predictive density (PSIS-LOO), best first",
        found.loo,
        heads={"p": "effective parameters", "difference_se": "its se", "bad_k": "k above 0.7"},
        decimals=dict.fromkeys(("elpd", "se", "p", "difference", "difference_se"), 1),
        notes=(
            "Votes with a Pareto k above 0.7 are predicted from too few draws: of many, the numbers waver.",
        ),
    )


def _trusts(found: Comparison) -> Iterator[Block]:
    if not found.judges:
        yield Text("None of the models tells judges apart.", "lead")
        return
    yield table("reliability", "Reliability of the judges with intervals", found.judges)


def _ranks(items: Sequence[Mapping[str, Any]], runs: Sequence[str]) -> Drawing:
    from voirdire.report.figures.rows import ROW
    from voirdire.report.figures.style import GRID, MARKERS, SERIES, drawing, label, look, name_rows

    with look():
        figure = drawing(6.8, 1.1 + ROW * len(items))
        ax = figure.subplots()
        ax.grid(axis="x")
        places = np.array([[row[f"rank {run}"] for run in runs] for row in items], dtype=float)
        rows = np.arange(len(items))
        ax.hlines(rows, places.min(axis=1), places.max(axis=1), color=GRID, linewidth=4.0)
        handles = []
        for number in range(len(runs)):
            colour, mark = SERIES[number % len(SERIES)], MARKERS[number % len(MARKERS)]
            size = 6.0 - 0.6 * min(number, 5)
            handles += ax.plot(
                places[:, number], rows, mark, color=colour, markersize=size, markeredgewidth=0
            )
        name_rows(ax, [row["item"] for row in items])
        ax.set_xlabel("rank")
        texts = [label(run) for run in runs]
        ax.legend(handles, texts, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=min(4, len(runs)))
    return figure
