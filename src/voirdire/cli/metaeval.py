"""The verb ``metaeval``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from voirdire.cli.agree import Interval


class Level(StrEnum):
    """How scores are grouped before they are correlated."""

    pooled = "pooled"
    context = "context"
    system = "system"


class Unit(StrEnum):
    """What is resampled."""

    item = "item"
    context = "context"
    system = "system"
    both = "both"


class Average(StrEnum):
    """How the coefficients of contexts are averaged."""

    mean = "mean"
    fisher = "fisher"


def metaeval(
    table: Annotated[
        Path,
        typer.Argument(
            metavar="SCORES",
            readable=False,
            help="Scores as CSV, Parquet or JSONL: judge, score, and item or context and system (and criterion).",
        ),
    ],
    human: Annotated[
        list[str],
        typer.Option(
            metavar="NAME", help="The judge who is people; repeat it for annotators, whose mean is taken."
        ),
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A judge to examine; repeatable. Default: all others."),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A coefficient; repeatable. Default: those of the level."),
    ] = None,
    level: Annotated[
        Level, typer.Option(help="Over all items, within contexts, or over systems.")
    ] = Level.pooled,
    average: Annotated[Average, typer.Option(help="How contexts are averaged.")] = Average.mean,
    unit: Annotated[
        Unit | None,
        typer.Option(help="What is resampled (default: item, context, or both for level system)."),
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
    prob: Annotated[float, typer.Option(help="Coverage of the intervals.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Seed of the resamples.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", readable=False, help="Save the rows to this new or empty folder."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace rows saved in --out.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")] = False,
) -> None:
    """Correlate the scores of metrics and judges with those of people, with bootstrap intervals."""
    from voirdire.agreement.correlation.verb import metaeval as run
    from voirdire.cli.results import check_out, emit_rows, keep_rows

    check_out(out, overwrite)
    found = run(
        table,
        human,
        metrics=metric,
        level=level.value,
        coefficients=measure,
        average=average.value,
        unit=None if unit is None else unit.value,
        interval=interval.value,
        resamples=resamples,
        prob=prob,
        seed=seed,
        phase=phase,
        draws=draws,
    )
    emit_rows(found, f"Agreement with {' and '.join(human)}, {100 * prob:g}% intervals", json, partner=False)
    if out is not None:
        asked: dict[str, Any] = {
            "table": table.name,
            "human": human,
            "level": level.value,
            "average": average.value,
        }
        asked |= {"unit": None if unit is None else unit.value, "phase": phase, "interval": interval.value}
        keep_rows(
            found,
            out,
            "metaeval",
            asked | {"resamples": resamples, "prob": prob, "seed": seed},
            overwrite,
            json,
        )
