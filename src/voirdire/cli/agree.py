"""The verb ``agree``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from voirdire.cli import console


class Unit(StrEnum):
    """What is resampled."""

    item = "item"
    context = "context"
    judge = "judge"
    both = "both"


class Interval(StrEnum):
    """Kind of bootstrap interval."""

    percentile = "percentile"
    basic = "basic"
    bca = "bca"
    studentised = "studentised"


class AnyInterval(StrEnum):
    """Kind of interval: by bootstrap, or of estimates with human answers."""

    percentile = "percentile"
    basic = "basic"
    bca = "bca"
    studentised = "studentised"
    t = "t"
    wilson = "wilson"
    normal = "normal"


class Repeats(StrEnum):
    """How several answers of one judge about one thing become one."""

    majority = "majority"
    swap = "swap"
    mean = "mean"
    error = "error"


def agree(
    table: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE",
            readable=False,
            help="Votes (judge, first, second, winner), scores (judge, item, score) or labels (judge, item, label) "
            "as CSV, Parquet or JSONL.",
        ),
    ],
    measure: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A measure; repeatable. Default: those that suit the table."),
    ] = None,
    judge: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A judge to compare; repeatable. Default: all.")
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Compare each judge with this one only, or with the majority of the others."
        ),
    ] = None,
    pairs: Annotated[
        bool | None,
        typer.Option("--pairs/--no-pairs", help="Compare judges two by two (default: up to 8 judges)."),
    ] = None,
    level: Annotated[
        list[str] | None,
        typer.Option(metavar="LEVEL", help="An answer there may be; repeat it for each, lowest first."),
    ] = None,
    repeats: Annotated[
        Repeats | None,
        typer.Option(help="How repeated answers are combined (default: majority; scores: mean)."),
    ] = None,
    unit: Annotated[Unit, typer.Option(help="What is resampled.")] = Unit.item,
    humans: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            readable=False,
            help="Human answers to a random part of the units, the same columns without judge: estimates what "
            "humans would say of all of them, and how often judges agree.",
        ),
    ] = None,
    interval: Annotated[
        AnyInterval | None,
        typer.Option(
            help="Kind of interval (default: percentile; with --humans, where t, wilson, normal, percentile and basic "
            "are offered, wilson of rates and t of means)."
        ),
    ] = None,
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
    """Measure how well judges agree, with each other or with humans: coefficients with intervals."""
    from voirdire.agreement.verb import agreement
    from voirdire.cli.results import check_out, emit_powered, emit_rows, keep_rows

    check_out(out, overwrite)
    found = agreement(
        table,
        measures=measure,
        judges=judge,
        against=against,
        pairs=pairs,
        levels=level,
        repeats=None if repeats is None else repeats.value,
        unit=unit.value,
        interval=None if interval is None else interval.value,
        resamples=resamples,
        prob=prob,
        seed=seed,
        humans=humans,
    )
    for note in found.attrs["notes"]:
        console.tell(note)
    if humans is not None:
        emit_powered(found, f"what humans would say, {100 * prob:g}% intervals", json)
    else:
        emit_rows(found, f"Agreement, {100 * prob:g}% intervals", json)
    if out is not None:
        asked = {"table": table.name, "against": against, "humans": None if humans is None else humans.name}
        asked |= {"unit": unit.value, "interval": None if interval is None else interval.value}
        keep_rows(
            found, out, "agree", asked | {"resamples": resamples, "prob": prob, "seed": seed}, overwrite, json
        )
