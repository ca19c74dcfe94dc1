"""Comparison of fits: rank correlations, shifts of items, leave-one-out predictions; and its page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError, raise_problems
from voirdire.kinds.fit import Fit
from voirdire.kinds.registry import votes_of
from voirdire.report import loo
from voirdire.report.figures.rows import Floats, draw_parts, legend_height, rows_comparing_runs
from voirdire.report.html import minus_sign
from voirdire.report.page import Block, Figure, Page, Section, Text, isolate_name, title_with_names
from voirdire.report.sources import read_run
from voirdire.report.table import is_missing, make_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

    from voirdire.kinds.fit import Fit

MIN_COMMON_ITEMS = 3  # minimum number of common items for a rank correlation


@dataclass(frozen=True)
class Comparison:
    """Comparison of two or more fits.

    Attributes
    ----------
    runs : dict of str to str
        Model and method of each run.
    first : dict of str to tuple
        Items that share the first place, for each run that has a decision.
    correlations : list of dict
        Per pair of runs: a, b, items in common, spearman and kendall_tau_b of their scores (None where undefined).
    items : list of dict
        Per item: its score and rank in each run (among the items common to all runs), and shift, the largest minus the
        smallest of its ranks.
    loo : list of dict
        Per run: elpd, se, difference from the best and its se, as in :func:`.loo.comparison_rows`; empty if undefined.
    judges : list of dict
        Per judge: reliability in each run with its interval.
    notes : list of str
        Comparisons that were not possible, with the reason.
    """

    runs: dict[str, str]
    first: dict[str, tuple[str, ...]]
    correlations: list[dict[str, Any]]
    items: list[dict[str, Any]]
    loo: list[dict[str, Any]]
    judges: list[dict[str, Any]]
    notes: list[str]

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as plain Python, in the shape of ``voirdire compare --json``."""
        runs = [
            {"run": name, "fit": model, "first": list(self.first.get(name, ())) or None}
            for name, model in self.runs.items()
        ]
        parts = {"correlations": self.correlations, "items": self.items, "loo": self.loo, "judges": self.judges}
        return {"runs": runs, **parts, "notes": self.notes}


def read_fits(folders: Sequence[str | Path]) -> dict[str, Fit]:
    """Read saved fits, named by their folders.

    Raises
    ------
    InputError
        There are fewer than two folders, one is given twice, or one holds no fit.
    """
    if len(folders) < 2:
        raise InputError("comparing takes two runs or more; name further folders")
    paths = [Path(folder) for folder in folders]
    repeated = {str(path) for path in paths if sum(path.resolve() == other.resolve() for other in paths) > 1}
    if repeated:
        raise InputError(f"{min(repeated)} is given twice; give each run once")
    folder_names = [path.name for path in paths]
    names = folder_names if len(set(folder_names)) == len(folder_names) else [str(path) for path in paths]
    fits = {}
    for name, path in zip(names, paths, strict=True):
        run = read_run(path)
        if not isinstance(run, Fit):
            raise InputError(f"{path}: holds no fit; compare takes folders that voirdire fit saved")
        fits[name] = run
    return fits


def compare_fits(fits: Mapping[str, Fit]) -> Comparison:
    """Compare fits of the same items.

    Parameters
    ----------
    fits : mapping of str to Fit

    Raises
    ------
    InputError
        There are fewer than two fits, one is a fit of labels, or two have no item in common.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> votes = pd.DataFrame({"judge": "a", "first": list("xyx") * 3, "second": list("yzz") * 3, "winner": "first"})
    >>> both = {name: fit(votes, model=name, method="map") for name in ("bradley-terry", "crowd-bt")}
    >>> compare_fits(both).correlations[0]["spearman"]
    1.0
    """
    if len(fits) < 2:
        raise InputError("comparing takes two fits or more")
    items = {name: fit.as_dict()["items"] for name, fit in fits.items()}
    problems = [
        f"{name}: a fit of {fits[name].model.data} has no scores of items, by which fits are compared; leave it out, "
        "or compare models by cross_validate() and labels by voirdire board"
        for name, rows in items.items()
        if any("score" not in row for row in rows)
    ]
    raise_problems(problems)
    scores = {name: {row["item"]: row["score"] for row in rows} for name, rows in items.items()}
    problems = [
        f"{a} and {b} have no item in common; compare fits of the same items"
        for a, b in combinations(fits, 2)
        if not set(scores[a]) & set(scores[b])
    ]
    raise_problems(problems)
    notes: list[str] = []
    runs = {name: f"{fit.model.name} by {fit.method}" for name, fit in fits.items()}
    correlations = [_rank_correlation(a, b, scores[a], scores[b]) for a, b in combinations(fits, 2)]
    first = {name: fit.decision.first for name, fit in fits.items() if fit.decision is not None}
    parts = _item_shifts(scores, notes), _compare_loo(fits, notes), _compare_judges(fits, notes)
    return Comparison(runs, first, correlations, *parts, notes)


def _rank_correlation(a: str, b: str, scores_a: Mapping[str, float], scores_b: Mapping[str, float]) -> dict[str, Any]:
    from scipy.stats import kendalltau, spearmanr

    common = sorted(set(scores_a) & set(scores_b))
    x, y = [scores_a[item] for item in common], [scores_b[item] for item in common]
    defined = len(common) >= MIN_COMMON_ITEMS and len(set(x)) > 1 and len(set(y)) > 1
    row: dict[str, Any] = {"a": a, "b": b, "items": len(common)}
    row["spearman"] = float(spearmanr(x, y).statistic) if defined else None
    row["kendall_tau_b"] = float(kendalltau(x, y).statistic) if defined else None
    return row


def _item_shifts(scores: Mapping[str, Mapping[str, float]], notes: list[str]) -> list[dict[str, Any]]:
    common = set.intersection(*(set(item_scores) for item_scores in scores.values()))
    uncommon = set.union(*(set(item_scores) for item_scores in scores.values())) - common
    if uncommon:
        notes.append(
            f"{len(uncommon)} items are not in all runs: ranks and shifts are among the {len(common)} that are."
        )
    ranks = {
        run: {item: rank for rank, item in enumerate(sorted(common, key=lambda i: (-item_scores[i], i)), start=1)}
        for run, item_scores in scores.items()
    }
    rows = []
    for item in sorted(common, key=lambda i: next(iter(ranks.values()))[i]):
        item_ranks = {run: ranks[run][item] for run in scores}
        row: dict[str, Any] = {"item": item} | {f"rank {run}": rank for run, rank in item_ranks.items()}
        row |= {"shift": max(item_ranks.values()) - min(item_ranks.values())}
        rows.append(row | {f"score {run}": scores[run][item] for run in scores})
    return rows


def _compare_loo(fits: Mapping[str, Fit], notes: list[str]) -> list[dict[str, Any]]:
    pointwise: dict[str, loo.Pointwise] = {}
    reference: Fit | None = None
    for name, fit in fits.items():
        try:
            if reference is not None and not _same_votes(reference, fit):
                notes.append(
                    f"{name}: its answers are not those of the other fits, or it alone tells contexts apart (or does "
                    "not), so predictions are not compared; cross_validate compares models of one table."
                )
                continue
            pointwise[name] = loo.pointwise_loo(fit)
            reference = reference or fit
        except InputError as error:
            notes.append(f"{name}: no leave-one-out prediction, {error}.")
    if len(pointwise) < 2:
        return []
    if any(fits[name].method == "laplace" for name in pointwise):
        notes.append("Leave-one-out predictions of fits by laplace take its draws as those of the posterior.")
    return loo.comparison_rows(pointwise)


def _same_votes(fit_a: Fit, fit_b: Fit) -> bool:
    """Return True if two fits have the same votes."""
    a, b = (votes_of(fit.problem, "compare").votes for fit in (fit_a, fit_b))
    names = ("judges", "criteria", "items")
    codes = ("judge", "criterion", "first", "second", "counts")
    return all(getattr(a, key) == getattr(b, key) for key in names) and all(
        np.array_equal(getattr(a, key), getattr(b, key)) for key in codes
    )


def _compare_judges(fits: Mapping[str, Fit], notes: list[str]) -> list[dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for run, fit in fits.items():
        judge_rows = fit.as_dict()["judges"]
        if all(is_missing(row.get("reliability")) for row in judge_rows):
            notes.append(f"{run}: {fit.model.name} takes all judges alike, so it has no reliabilities.")
            continue
        for row in judge_rows:
            judge_row = rows.setdefault(row["judge"], {"judge": row["judge"]})
            for suffix in ("", "_low", "_high"):
                judge_row[f"{run}{suffix}"] = row[f"reliability{suffix}"]
    order = next((run for run in fits if any(run in row for row in rows.values())), "")
    return sorted(rows.values(), key=lambda row: (-(row.get(order) or 0.0), row["judge"]))


Row = Mapping[str, Any]
MAX_NAMED = 5  # items named in a sentence


def compare_page(comparison: Comparison) -> Page:
    """Make the page of a comparison."""
    sections = [
        Section("alike", "Do they rank alike?", "Ranking", tuple(_ranking_blocks(comparison))),
        Section("predict", "Which predicts better?", "Prediction", tuple(_prediction_blocks(comparison))),
        Section("judges", "Do they trust the same judges?", "Judges", tuple(_reliability_blocks(comparison))),
    ]
    if comparison.notes:
        sections.append(Section("notes", "What was not compared", "Notes", tuple(map(Text, comparison.notes))))
    tiles = tuple((f"Run {number}", run, model) for number, (run, model) in enumerate(comparison.runs.items(), 1))
    title = title_with_names("Comparison of fits", (row["item"] for row in comparison.items), "items")
    return Page(title, f"{len(comparison.runs)} runs.", tuple(sections), tiles)


def _ranking_blocks(comparison: Comparison) -> Iterator[Block]:
    shifted = [row for row in comparison.items if row["shift"] > 0]
    if shifted:
        largest = max(shifted, key=lambda row: row["shift"])
        places = "1 place" if largest["shift"] == 1 else f"{largest['shift']} places"
        yield Text(
            f"{len(shifted)} of {len(comparison.items)} items differ in rank; "
            f"{isolate_name(largest['item'])} moves most, by {places}.",
            "lead",
        )
    else:
        yield Text(f"All {len(comparison.items)} items stand in the same order.", "lead")
    for run, first in comparison.first.items():
        more_text = f" and {len(first) - MAX_NAMED} more" if len(first) > MAX_NAMED else ""
        yield Text(f"First in {isolate_name(run)}: {', '.join(map(isolate_name, first[:MAX_NAMED]))}{more_text}.")
    heads = {"spearman": "Spearman's rho", "kendall_tau_b": "Kendall's tau-b"}
    reason = f"undefined: fewer than {MIN_COMMON_ITEMS} items in common, or all scores alike"
    yield make_table(
        "correlations",
        "Rank correlation of the scores",
        comparison.correlations,
        heads=heads,
        decimals={"spearman": 3, "kendall_tau_b": 3},
        missing=dict.fromkeys(heads, reason),
    )
    runs = list(comparison.runs)
    yield Figure("ranks", "Ranks", "Each item's rank in every run.", lambda: _draw_ranks(comparison.items, runs))
    yield make_table("items", "Items, in the order of the first run", comparison.items)


def _prediction_blocks(comparison: Comparison) -> Iterator[Block]:
    if not comparison.loo:
        yield Text("Predictions cannot be compared; the notes say why.", "lead")
        return
    best, second = comparison.loo[:2]
    clear = abs(second["difference"]) > 2 * second["difference_se"]
    yield Text(
        f"{isolate_name(best['run'])} predicts votes left out best; {isolate_name(second['run'])} follows, "
        f"{'clearly behind' if clear else 'not clearly behind'}: {minus_sign(format(second['difference'], '.1f'))} in "
        f"log density, with a standard error of {second['difference_se']:.1f}.",
        "lead",
    )
    yield make_table(
        "loo",
        "Leave-one-out log predictive density (PSIS-LOO), best first",
        comparison.loo,
        heads={"p": "effective parameters", "difference_se": "its se", "bad_k": "k above 0.7"},
        decimals=dict.fromkeys(("elpd", "se", "p", "difference", "difference_se"), 1),
        notes=("Votes with a Pareto k above 0.7 are predicted from too few draws; with many, numbers are uncertain.",),
    )


def _reliability_blocks(comparison: Comparison) -> Iterator[Block]:
    if not comparison.judges:
        yield Text("None of the models tells judges apart.", "lead")
        return
    runs = [run for run in comparison.runs if any(not is_missing(row.get(run)) for row in comparison.judges)]
    yield Figure(
        "reliability",
        "Reliability",
        "Reliability of every judge in each run with its interval, in the order of the first run. Each model defines "
        "it in its own way (averaged over both positions or not, on the pairs seen or on a typical one), so a judge "
        "can have different reliabilities in two runs although its answers are the same.",
        lambda: _draw_reliabilities(comparison.judges, runs),
    )
    yield make_table("reliability", "Reliability of the judges with intervals", comparison.judges)


def _draw_ranks(items: Sequence[Row], runs: Sequence[str]) -> Sequence[Drawing]:
    ranks = np.array([[row[f"rank {run}"] for run in runs] for row in items], dtype=float)
    rows = rows_comparing_runs([row["item"] for row in items], runs, ranks, None, "rank")
    return draw_parts(rows, legend_height(runs))


def _draw_reliabilities(judges: Sequence[Row], runs: Sequence[str]) -> Sequence[Drawing]:
    def reliability_column(end: str) -> Floats:
        return np.array([[row.get(f"{run}{end}") for run in runs] for row in judges], dtype=float)

    names = [row["judge"] for row in judges]
    value, low, high = (reliability_column(end) for end in ("", "_low", "_high"))
    rows = rows_comparing_runs(names, runs, value, (low, high), "reliability, as each model defines it")
    return draw_parts(rows, legend_height(runs))
