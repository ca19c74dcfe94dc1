"""The verb ``escalate``."""

from __future__ import annotations

from pathlib import Path

import typer

from voirdire.agreement.replace.estimate import required_people
from voirdire.cli import console
from voirdire.cli.options import ModelName, OutFile, declare_options
from voirdire.cli.reading import TableOptions
from voirdire.decide.escalate import Escalation, check_escalation
from voirdire.fit.store import load
from voirdire.fit.verb import fit
from voirdire.folders import write_file
from voirdire.report.output import check_new_file
from voirdire.settings import PROB
from voirdire.tables.detect import read_table
from voirdire.tables.people import split_people


@declare_options()
def escalate(
    table: Path,
    *,
    humans: list[Path] | None = None,
    error: float = 0.1,
    prob: float = PROB,
    cost_human: float | None = None,
    cost_error: float = 1.0,
    tolerance: float | None = None,
    model: ModelName = None,
    seed: int = 0,
    out: OutFile = None,
    json: bool = False,
    reading: TableOptions,
) -> None:
    """Choose the answers to accept, at a guaranteed agreement with people, and those to send to people.

    Parameters
    ----------
    table : TABLE|RUN
        The judges' answers: labels, votes or scores, or the folder of a saved fit.
    humans : FILE
        People's answers to a random sample of the judges' questions; repeatable. Or name people in the table by
        --people.
    error
        Largest acceptable share of accepted answers that differ from people's.
    prob
        Probability that this holds.
    cost_human
        Price of one human answer; minimises the total cost.
    cost_error
        Price of one error among accepted answers.
    tolerance
        Scores: largest difference from people's score that is no error, in points.
    seed
        Seed of the fit.
    out : FILE.csv
        Write the answers to a new file.
    """
    check_new_file(out)
    check_escalation(error, prob, cost_human, cost_error)
    saved, people = table.is_dir(), reading.people_tables(humans)
    if saved and model is not None:
        raise typer.BadParameter("--model: the saved fit has its own; leave it out, or give the table")
    answer_table = None if saved else reading.table(table, humans or [])
    judges, answers, levels = split_people(answer_table, (), reading.levels)
    people = required_people(people, answers)
    if saved:
        result = load(table)
    else:
        with console.progress_bar("Fitting"):
            result = fit(read_table(judges, levels=levels), model=model, seed=seed)
    costs = {"cost_human": cost_human, "cost_error": cost_error}
    escalation = result.escalate(people, error=error, prob=prob, tolerance=tolerance, **costs)
    if out is not None:
        write_file(out, escalation.items.to_csv(index=False))
        console.print_note(f"written to {out}")
    console.print_result(escalation.as_dict(), json, lambda: _show_escalation(escalation))


def _show_escalation(escalation: Escalation) -> None:
    console.print_sentence(escalation.sentence())
    if escalation.cost is not None:
        cost_words = {"advised": "as advised", "people": "by people alone", "panel": "by the panel alone"}
        console.print_sentence(
            "Expected cost: "
            + ", ".join(f"{cost:,.4g} {cost_words[key]}" for key, cost in escalation.cost.items())
            + "."
        )
    for note in escalation.notes:
        console.print_sentence(f"Note: {note}")
