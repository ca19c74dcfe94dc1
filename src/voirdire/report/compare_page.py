"""Page of a comparison of fits: rankings, predictions, and reliability of the judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.report.compare import MIN_COMMON_ITEMS, Comparison
from voirdire.report.figures.rows import draw_parts
from voirdire.report.figures.side_by_side import Floats, legend_height, rows_comparing_runs
from voirdire.report.html import minus_sign
from voirdire.report.page import Block, Figure, Page, Section, Text, isolate_name, title_with_names
from voirdire.report.table import is_missing, make_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

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
