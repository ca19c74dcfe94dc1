"""The verb ``metaeval``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.agreement import compare_metrics, human_ceiling
from voirdire.agreement.correlation.people import combine_score_tables
from voirdire.agreement.correlation.verb import metaeval as correlate
from voirdire.cli import console
from voirdire.cli.agree import QUESTIONS, Adjustment, Interval, single_given_option
from voirdire.cli.options import Cluster
from voirdire.cli.reading import TableOptions, add_table_options, split_commas
from voirdire.cli.results import call_verb, check_output_path, print_metrics, print_rows, save_result_rows
from voirdire.fit.store import load
from voirdire.report.metric_table import write_metric_table
from voirdire.settings import PROB
from voirdire.tables.run_folders import run_folder

if TYPE_CHECKING:
    import pandas as pd


class Level(StrEnum):
    """Grouping of scores before they are correlated."""

    pooled = "pooled"
    context = "context"
    system = "system"


class Unit(StrEnum):
    """Unit that is resampled."""

    item = "item"
    context = "context"
    system = "system"
    both = "both"


class Average(StrEnum):
    """Average of the coefficients of contexts."""

    mean = "mean"
    fisher = "fisher"


@add_table_options("kind", "positive", "levels")
def metaeval(
    table: Annotated[
        list[Path],
        typer.Argument(
            metavar="SCORES...",
            readable=False,
            help="Scores as CSV, Parquet or JSONL: judge, score, and item or context and system (and criterion); or "
            "folders of runs of collect, or of fits, whose ranking is the metric. Several are named by protocol or "
            "file.",
        ),
    ],
    human: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B,...",
            help="The judge who is people; of several, annotators, the mean is taken. Repeatable.",
        ),
    ] = None,
    humans: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            readable=False,
            help="People's scores: item, score (and judge, criterion, context).",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B,...", help="Judges to examine; repeatable. Default: all others."),
    ] = None,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measures",
            "--measure",
            metavar="A,B,...",
            help="Coefficients; repeatable. Default: those of the level.",
        ),
    ] = None,
    level: Annotated[
        Level, typer.Option(help="Over all items, within contexts, or over systems.")
    ] = Level.pooled,
    average: Annotated[Average, typer.Option(help="How contexts are averaged.")] = Average.mean,
    unit: Annotated[
        Unit | None,
        typer.Option(help="What is resampled (default: item, context, or both for level system)."),
    ] = None,
    compare: Annotated[
        bool,
        typer.Option(
            "--compare",
            rich_help_panel=QUESTIONS,
            help="Which of two metrics agrees better: paired bootstrap, permutation test, Williams' test.",
        ),
    ] = False,
    ceiling: Annotated[
        bool,
        typer.Option(
            "--ceiling",
            rich_help_panel=QUESTIONS,
            help="How well any metric can do: each --human against the mean of the others.",
        ),
    ] = False,
    adjustment: Annotated[
        Adjustment | None, typer.Option(help="With --compare: how p-values are adjusted (default: holm).")
    ] = None,
    permutations: Annotated[
        int | None, typer.Option(help="With --compare: rearrangements (default: 10000).")
    ] = None,
    phase: Annotated[
        str | None, typer.Option(metavar="NAME", help="The phase to use, if there are phases.")
    ] = None,
    draws: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            readable=False,
            help="Posterior draws of metrics: scores whose column run numbers the draws.",
        ),
    ] = None,
    interval: Annotated[Interval, typer.Option(help="Kind of interval.")] = Interval.percentile,
    resamples: Annotated[int, typer.Option(help="Number of resamples.")] = 10_000,
    prob: Annotated[float, typer.Option(help="Probability of the intervals.")] = PROB,
    seed: Annotated[int, typer.Option(help="Seed of the resamples.")] = 0,
    jobs: Annotated[int, typer.Option(help="Threads that share the work.")] = 1,
    cluster: Cluster = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", readable=False, help="Save the rows to this new or empty folder."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace rows saved in --out.")] = False,
    table_: Annotated[
        bool,
        typer.Option(
            "--table",
            help="Metrics by criteria and coefficients as papers print them, the best marked, ~ where one cannot be "
            "told from it.",
        ),
    ] = False,
    table_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            readable=False,
            help="Write that table to a new .html, .tex, .md or .csv file.",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")] = False,
    *,
    reading: TableOptions,
) -> None:
    """Correlate the scores of metrics and judges with those of people, with bootstrap intervals."""

    check_output_path(out, overwrite)
    question = single_given_option({"--compare": compare, "--ceiling": ceiling})
    if table_ and (json or question):
        raise typer.BadParameter(f"--table is not for {'--json' if json else question}")
    if table_file is not None and question:
        raise typer.BadParameter(f"--table-file is not for {question}")
    plain = TableOptions(replace(reading.how, where=None, people=()))  # beside_people has rows left out
    tables: list[Any] = [_read_metric(one, plain, humans) for one in table]
    scores, where = tables[0], reading.how.where
    human = split_commas(human) or list(reading.how.people)
    run = len(table) == 1 and run_folder(table[0]) is not None
    if humans is not None or len(table) > 1 or where or run:
        scores, named = combine_score_tables(tables, plain.people(humans), phase=phase, where=where)
        human, phase = human or named, None
    if not human:
        raise typer.BadParameter("say who are people: --human NAME, a judge of the table, or --humans FILE")
    people = "people" if humans is not None and len(human) > 1 else " and ".join(human)
    questions: dict[str, tuple[Callable[..., pd.DataFrame], str]] = {
        "": (correlate, f"Agreement with {people}"),
        "--compare": (compare_metrics, f"Which metric agrees better with {people}"),
        "--ceiling": (human_ceiling, "Agreement of people with each other"),
    }
    verb, title = questions[question]
    found = call_verb(
        verb,
        (scores, human),
        {
            "--measures": ("measures", split_commas(measures) or None),
            "--metric": ("metrics", split_commas(metric) or None),
            "--level": ("level", level),
            "--average": ("average", average),
            "--adjustment": ("adjustment", adjustment),
            "--permutations": ("permutations", permutations),
            "--unit": ("unit", unit),
            "--interval": ("interval", interval),
            "--phase": ("phase", phase),
            "--draws": ("draws", draws),
        },
        {"resamples": resamples, "prob": prob, "seed": seed, "jobs": jobs, "client": cluster},
        question,
    )
    if table_:
        print_metrics(found, title)
    else:
        print_rows(found, f"{title}, {100 * prob:g}% intervals", json, partner=bool(question))
    if table_file is not None:
        console.print_saved(write_metric_table(found, table_file, title), json)
    if out is not None:
        asked: dict[str, Any] = {
            "table": ", ".join(one.name for one in table),
            "human": human,
            "level": level,
            "average": average,
        }
        asked |= {"question": question or None, "unit": unit, "phase": phase, "interval": interval}
        asked |= {"resamples": resamples, "prob": prob, "seed": seed}
        save_result_rows(found, out, "metaeval", asked, overwrite, json)


def _read_metric(path: Path, reading: TableOptions, humans: Path | None) -> Any:
    """A table or a run as it is read; of the folder of a fit the scores of its ranking, under the folder's name."""
    if not path.is_dir() or run_folder(path) is not None:
        return reading.table(path, [humans])
    fit: Any = load(path)
    return fit.ranking()[["item", "score"]].assign(judge=path.name)
