"""The verb ``plan``."""

from __future__ import annotations

import json as jsonlib
from pathlib import Path
from typing import Annotated, Any

import typer

from voirdire.cli import console
from voirdire.cli.options import About, AboutWhat, Anchors, Cluster
from voirdire.cli.reading import TableOptions, add_table_options
from voirdire.cli.simulate import readable_table
from voirdire.errors import InputError
from voirdire.fit.verb import fit
from voirdire.planning.apart import POWER, plan_to_distinguish
from voirdire.planning.rankings import plan_rankings
from voirdire.planning.votes import plan as run
from voirdire.tables.numbers import read_number


@add_table_options()
def plan(
    table: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[TABLE...]", readable=False, help="With --apart: a pilot, as fit takes it."),
    ] = None,
    apart: Annotated[
        str | None,
        typer.Option(
            metavar="A,B|top",
            help="How many more answers until these two items (top: the first two) are distinguishable.",
        ),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(
            help="With --apart: the smallest difference of scores that matters; to know of less will do."
        ),
    ] = None,
    about: AboutWhat = None,
    anchors: Anchors = None,
    items: Annotated[int | None, typer.Option(help="Number of items.")] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=RELIABILITY[:PRICE]",
            help="Of votes: an expected judge, its reliability (above 0.5) and its price per vote; repeatable.",
        ),
    ] = None,
    rankings: Annotated[
        int | None,
        typer.Option(metavar="SIZE", help="Plan rankings of so many items instead of votes."),
    ] = None,
    judges: Annotated[int | None, typer.Option(help="Of rankings: number of judges.")] = None,
    width: Annotated[
        float | None,
        typer.Option(help="Of rankings: wanted width of 90% intervals, in log-odds (default: 1)."),
    ] = None,
    contexts: Annotated[
        int | None, typer.Option(help="Of rankings: how many contexts (prompts) there may be.")
    ] = None,
    context_spread: Annotated[
        float | None,
        typer.Option(help="Of rankings: expected sd of an item between contexts, in log-odds."),
    ] = None,
    taste_spread: Annotated[
        float | None, typer.Option(help="Of rankings: expected sd of an item between judges, in log-odds.")
    ] = None,
    criteria: Annotated[int | None, typer.Option(help="Of votes: number of criteria (default: 1).")] = None,
    target: Annotated[
        float | None,
        typer.Option(help="Of votes: wanted share of rightly ordered pairs of items (default: 0.9)."),
    ] = None,
    price: Annotated[
        float, typer.Option(help="Price per ranking, or per vote of judges without one of their own.")
    ] = 1.0,
    spread: Annotated[float, typer.Option(help="Expected sd of the items' strengths, in log-odds.")] = 1.0,
    replicates: Annotated[
        int | None, typer.Option(help="Simulated panels per candidate (default: 20, of rankings 5).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed.")] = 0,
    jobs: Annotated[int | None, typer.Option(help="Of votes: processes (default: 1).")] = None,
    cluster: Cluster = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")] = False,
    *,
    reading: TableOptions,
) -> None:
    """Plan a collection: the answers that a wanted precision needs, or that make two items of a pilot differ."""
    asked = {"items": items, "judge": judge or None, "rankings": rankings, "judges": judges, "target": target}
    if apart is not None or table:
        _plan_from_pilot(
            table,
            apart,
            margin,
            about,
            anchors,
            [name for name, value in asked.items() if value is not None],
            seed,
            json,
            reading,
        )
        return
    if about is not None or anchors or margin is not None:
        option = "--margin" if margin is not None else "--anchors" if about is None else "--about"
        raise typer.BadParameter(f"{option} is for --apart and a pilot; leave it out")
    if items is None:
        raise typer.BadParameter(
            "--items is missing; say how many items there are, or give a pilot and --apart"
        )
    of_rankings: dict[str, Any] = {
        "judges": judges,
        "width": width,
        "contexts": contexts,
        "context_spread": context_spread,
        "taste_spread": taste_spread,
    }
    of_votes: dict[str, Any] = {"judge": judge or None, "criteria": criteria, "target": target, "jobs": jobs}
    of_votes["cluster"] = cluster
    others, kind = (of_rankings, "rankings") if rankings is None else (of_votes, "votes")
    if named := [f"--{name.replace('_', '-')}" for name, value in others.items() if value is not None]:
        raise typer.BadParameter(f"{', '.join(named)} is for {kind}; leave it out")
    replicates = (20 if rankings is None else 5) if replicates is None else replicates
    shared: dict[str, Any] = {"items": items, "price": price, "spread": spread, "seed": seed}
    shared["replicates"] = replicates
    with console.progress_bar("Planning") as progress:
        found: Any
        if rankings is None:
            if not judge:
                raise typer.BadParameter(
                    "--judge is missing; describe each expected judge, or plan --rankings"
                )

            of_votes.pop("judge")
            of_votes["client"] = of_votes.pop("cluster")
            how = {name: value for name, value in of_votes.items() if value is not None}
            found = run(_read_judges(judge, price), **shared, **how, progress=progress)
        else:
            if judges is None:
                raise typer.BadParameter("--judges is missing; say how many rank")

            how = {name: value for name, value in of_rankings.items() if value is not None}
            found = plan_rankings(**shared, **how, size=rankings, progress=progress)
    if json:
        rows = jsonlib.loads(found.table.to_json(orient="records", double_precision=15))
        best = next((row for row in rows if row["reached"]), None)
        wanted = {"target": found.target} if rankings is None else {"width": found.width}
        console.print_json({**wanted, "seed": seed, "replicates": replicates, "best": best, "rows": rows})
    else:
        print(readable_table(found.table))
        print(console.printable_text(str(found)))


def _plan_from_pilot(
    table: list[Path] | None,
    apart: str | None,
    margin: float | None,
    about: About | None,
    anchors: list[Path] | None,
    others: list[str],
    seed: int,
    json: bool,
    reading: TableOptions,
) -> None:
    """Plan from a pilot table."""

    if not table or apart is None:
        raise typer.BadParameter("--apart and a pilot table go together; give both, or neither")
    if others:
        raise typer.BadParameter(
            f"--{others[0]} is not for --apart, which has all from the pilot; leave it out"
        )
    given = reading.tables(table, anchors or [])
    with console.progress_bar("Fitting the pilot"):
        fitted = fit(
            given[0] if len(given) == 1 else given,
            method="laplace",
            seed=seed,
            anchors=reading.people_tables(anchors),
            levels=reading.levels,
            positive=reading.how.positive,
            about=None if about is None else about.value,
        )
        found = plan_to_distinguish(fitted, apart, margin=margin)
    if json:
        told = {"items": list(found.items), "distinguishable": found.distinguishable, "rows": found.rows}
        told |= {"margin": found.margin, "within": found.within}
        console.print_json({"apart": apart, "power": POWER, **told, "decision": fitted.decision.as_dict()})
    else:
        console.print_sentence(fitted.decision.sentence())
        console.print_sentence(str(found))


def _read_judges(given: list[str], price: float) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    problems = []
    for text in given:
        name, _, numbers = text.rpartition("=")
        reliability, colon, own = numbers.partition(":")
        try:
            values = {
                "reliability": float(read_number(reliability.strip())),
                "price": float(read_number(own.strip())) if colon else price,
            }
        except ValueError:
            values = {}
        if not name or not values:
            problems.append(
                f"--judge {text!r} is not NAME=RELIABILITY[:PRICE]; write for example gpt=0.8:0.002"
            )
        elif name in found:
            problems.append(f"--judge {name!r} is given twice; give it once")
        else:
            found[name] = values
    if problems:
        raise InputError(problems)
    return found
