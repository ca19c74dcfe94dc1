"""The verb ``plan``."""

from __future__ import annotations

import json as jsonlib
from typing import Annotated

import typer

from voirdire.cli import console
from voirdire.cli.simulate import readable
from voirdire.errors import InputError
from voirdire.tables.numbers import read_number


def plan(
    judge: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=RELIABILITY[:PRICE]",
            help="An expected judge: its reliability (above 0.5) and its price per vote; repeatable.",
        ),
    ],
    items: Annotated[int, typer.Option(help="Number of items.")],
    criteria: Annotated[int, typer.Option(help="Number of criteria.")] = 1,
    target: Annotated[float, typer.Option(help="Wanted share of rightly ordered pairs of items.")] = 0.9,
    price: Annotated[float, typer.Option(help="Price per vote of judges without one of their own.")] = 1.0,
    spread: Annotated[float, typer.Option(help="Expected sd of the items' strengths, in log-odds.")] = 1.0,
    replicates: Annotated[int, typer.Option(help="Simulated panels per candidate.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed.")] = 0,
    jobs: Annotated[int, typer.Option(help="Processes.")] = 1,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")] = False,
) -> None:
    """Plan a collection: the votes a wanted precision needs, split into judges, pairs and repeats."""
    from voirdire.research.plan import plan as run

    with console.progress("Planning") as progress:
        found = run(
            _judges(judge, price),
            items=items,
            criteria=criteria,
            target=target,
            price=price,
            spread=spread,
            replicates=replicates,
            seed=seed,
            jobs=jobs,
            progress=progress,
        )
    if json:
        rows = jsonlib.loads(found.table.to_json(orient="records", double_precision=15))
        best = next((row for row in rows if row["reached"]), None)
        console.emit({"target": target, "seed": seed, "replicates": replicates, "best": best, "rows": rows})
    else:
        print(readable(found.table))
        print(console.plain(str(found)))


def _judges(given: list[str], price: float) -> dict[str, dict[str, float]]:
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
