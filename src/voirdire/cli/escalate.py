"""The verb ``escalate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from voirdire.cli import complete, console
from voirdire.cli.reading import TableOptions, add_table_options
from voirdire.errors import InputError
from voirdire.fit.store import load
from voirdire.fit.verb import fit
from voirdire.folders import write_file
from voirdire.settings import PROB
from voirdire.tables.detect import read_table
from voirdire.tables.people import join_people_answers, split_people


@add_table_options()
def escalate(
    table: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE|RUN",
            readable=False,
            help="The judges' answers: labels, votes or scores, or the folder of a saved fit.",
        ),
    ],
    humans: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            readable=False,
            help="People's answers to a random sample of what judges answered; repeatable. Or --people names judges of "
            "the table.",
        ),
    ] = None,
    error: Annotated[
        float, typer.Option(help="Largest share of accepted answers that people would give otherwise.")
    ] = 0.1,
    prob: Annotated[float, typer.Option(help="Probability that this holds.")] = PROB,
    cost_human: Annotated[
        float | None, typer.Option(help="Price of one of people's answers: accept what costs least in all.")
    ] = None,
    cost_error: Annotated[float, typer.Option(help="Price of an error among accepted answers.")] = 1.0,
    tolerance: Annotated[
        float | None, typer.Option(help="Of scores: points that people's score may be away.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME|FILE", help="As of fit.", autocompletion=complete.matching_models),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the fit.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", metavar="FILE.csv", readable=False, help="Write the answers to a new file."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")] = False,
    *,
    reading: TableOptions,
) -> None:
    """Choose which answers to accept, at a guaranteed agreement with people, and which to send to people."""
    if out is not None and out.exists():
        raise InputError(f"{out} exists already; give the name of a new file")
    saved, people = table.is_dir(), reading.people_tables(humans)
    if saved and model is not None:
        raise typer.BadParameter("--model: the saved fit has its own; leave it out, or give the table")
    read = None if saved else reading.table(table, humans or [])
    judges, answers, levels = split_people(read, (), reading.levels)
    people = join_people_answers(people, answers)
    if people is None:
        raise InputError(
            "say who are people: their answers (--humans FILE), or judges of the table (--people NAMES)"
        )
    if saved:
        result = load(table)
    else:
        with console.progress_bar("Fitting"):
            result = fit(read_table(judges, levels=levels), model=model, seed=seed)
    costs = {"cost_human": cost_human, "cost_error": cost_error}
    found = result.escalate(people, error=error, prob=prob, tolerance=tolerance, **costs)
    if out is not None:
        write_file(out, found.items.to_csv(index=False))
        console.print_note(f"written to {out}")
    if json:
        console.print_json(found.as_dict())
        return
    console.print_sentence(found.sentence())
    if found.cost is not None:
        named = {"advised": "as advised", "people": "by people alone", "panel": "by the panel alone"}
        console.print_sentence(
            "Expected cost: " + ", ".join(f"{found.cost[key]:,.4g} {of}" for key, of in named.items()) + "."
        )
    for note in found.notes:
        console.print_sentence(f"Note: {note}")
