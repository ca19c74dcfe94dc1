"""The verb ``metaeval``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from voirdire.agreement import compare_metrics, human_ceiling
from voirdire.agreement.correlation.people import combine_score_tables
from voirdire.agreement.correlation.verb import metaeval as correlate
from voirdire.cli import console
from voirdire.cli.agree import Adjustment, Interval, Measures, single_given_option
from voirdire.cli.options import declare_options
from voirdire.cli.reading import TableOptions, split_commas
from voirdire.cli.results import call_verb, check_output_path, print_metrics, print_rows, save_result_rows
from voirdire.fit.store import load
from voirdire.report.metric_table import check_metric_file, write_metric_table
from voirdire.settings import PROB
from voirdire.tables.run_folders import run_folder

if TYPE_CHECKING:
    import pandas as pd

Level = Literal["pooled", "context", "system"]
Unit = Literal["item", "context", "system", "both"]
Average = Literal["mean", "fisher"]


@declare_options("kind", "positive", "levels")
def metaeval(
    table: list[Path],
    *,
    human: list[str] | None = None,
    humans: Path | None = None,
    metric: list[str] | None = None,
    measures: Measures = None,
    level: Level = "pooled",
    average: Average = "mean",
    unit: Unit | None = None,
    compare: bool = False,
    ceiling: bool = False,
    adjustment: Adjustment | None = None,
    permutations: int | None = None,
    phase: str | None = None,
    draws: Path | None = None,
    interval: Interval = "percentile",
    resamples: int = 10000,
    prob: float = PROB,
    seed: int = 0,
    jobs: int = 1,
    cluster: str | None = None,
    out: Path | None = None,
    overwrite: bool = False,
    table_: Annotated[bool, typer.Option("--table")] = False,
    table_file: Path | None = None,
    json: bool = False,
    reading: TableOptions,
) -> None:
    """Correlate the scores of metrics and judges with those of people, with bootstrap intervals.

    Parameters
    ----------
    table : SCORES...
        Scores as CSV, Parquet or JSONL: judge, score, and item or context and system (and criterion); or folders of
        runs of collect, or of fits (the metric is the fit's ranking). Several inputs are named by protocol or file.
    human : A,B,...
        Judges who are people; of several, the mean is used. Repeatable.
    humans : FILE
        People's scores: item, score (and judge, criterion, context).
    metric : A,B,...
        Judges to examine; repeatable. Default: all others.
    measures : A,B,...
        Coefficients; repeatable. Default: those of the level.
    level
        Correlate over all items, within contexts, or over systems.
    average
        Average over contexts: of the coefficients, or by Fisher's z.
    unit
        Resampled unit (default: context, or both for level system; item if no context has several items).
    adjustment
        With --compare: adjustment of p-values (default: holm).
    permutations
        With --compare: number of permutations (default: 10000).
    phase : NAME
        The phase to use, if there are phases.
    draws : FILE
        Posterior draws of metrics: scores whose column run numbers the draws.
    interval
        Kind of interval.
    seed
        Seed of the resamples.
    out : DIR
        Save the rows to this new or empty folder.
    overwrite
        Replace rows saved in --out.
    table_
        Print a table for a paper: metrics by criteria and coefficients; the best is marked, ~ marks those not
        distinguishable from it.
    table_file : FILE
        Write that table to a new .html, .tex, .md or .csv file.

    Questions
    ---------
    compare
        Compare pairs of metrics: paired bootstrap, permutation test, Williams' test.
    ceiling
        Human ceiling: correlation of each --human with the mean of the others.
    """

    check_output_path(out, overwrite)
    question = single_given_option({"--compare": compare, "--ceiling": ceiling})
    if table_ and (json or question):
        raise typer.BadParameter(f"--table is not for {'--json' if json else question}")
    if table_file is not None and question:
        raise typer.BadParameter(f"--table-file is not for {question}")
    if table_file is not None:
        check_metric_file(table_file)
    table_options = TableOptions(replace(reading.reading, where=None, people=()))  # combine_score_tables filters rows
    tables: list[Any] = [_read_metric(path, table_options, humans) for path in table]
    scores, row_filter = tables[0], reading.reading.where
    human = split_commas(human) or list(reading.reading.people)
    run = len(table) == 1 and run_folder(table[0]) is not None
    if humans is not None or len(table) > 1 or row_filter or run:
        scores, people_names = combine_score_tables(tables, table_options.people(humans), phase=phase, where=row_filter)
        human, phase = human or people_names, None
    if not human:
        raise typer.BadParameter("say who are people: --human NAME, a judge of the table, or --humans FILE")
    people = "people" if humans is not None and len(human) > 1 else " and ".join(human)
    questions: dict[str, tuple[Callable[..., pd.DataFrame], str]] = {
        "": (correlate, f"Agreement with {people}"),
        "--compare": (compare_metrics, f"Which metric agrees better with {people}"),
        "--ceiling": (human_ceiling, "Agreement of people with each other"),
    }
    verb, title = questions[question]
    options: dict[str, Any] = {"measures": split_commas(measures) or None, "metrics": split_commas(metric) or None}
    options |= {"level": level, "average": average, "adjustment": adjustment, "permutations": permutations}
    options |= {"unit": unit, "interval": interval, "phase": phase, "draws": draws}
    resampling = {"resamples": resamples, "prob": prob, "seed": seed, "jobs": jobs, "client": cluster}
    rows = call_verb(verb, (scores, human), options, resampling, question)
    resampled_unit = str(rows["unit"].iloc[0])
    if table_:
        print_metrics(rows, title)
    else:
        units_text = {"both": "contexts and systems"}.get(resampled_unit, f"{resampled_unit}s")
        heading = f"{title}, {100 * prob:g}% intervals by resampling {units_text}"
        print_rows(rows, heading, json, partner=bool(question))
    if table_file is not None:
        console.print_saved(write_metric_table(rows, table_file, title), json)
    if out is not None:
        names = ", ".join(path.name for path in table)
        settings: dict[str, Any] = {"table": names, "human": human, "level": level, "average": average}
        settings |= {"question": question or None, "unit": resampled_unit, "phase": phase, "interval": interval}
        settings |= {"resamples": resamples, "prob": prob, "seed": seed}
        save_result_rows(rows, out, "metaeval", settings, overwrite, json)


def _read_metric(path: Path, reading: TableOptions, humans: Path | None) -> Any:
    """Read a table or a run; for a fit's folder, the scores of its ranking with the folder's name as judge."""
    if not path.is_dir() or run_folder(path) is not None:
        return reading.table(path, [humans])
    fit: Any = load(path)
    return fit.ranking()[["item", "score"]].assign(judge=path.name)
