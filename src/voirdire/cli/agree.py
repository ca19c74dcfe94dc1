"""The verb ``agree``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from voirdire.agreement import (
    compare_judges,
    compare_systems,
    detection,
    expert_agreement,
    leave_one_expert_out,
    phase_change,
    run_to_run,
    swap_consistency,
)
from voirdire.agreement import gate as pass_rates
from voirdire.agreement.verb import agreement
from voirdire.cli import console
from voirdire.cli.options import declare_options
from voirdire.cli.reading import TableOptions, split_commas
from voirdire.cli.results import call_verb, check_output_path, print_rows, save_result_rows
from voirdire.settings import PROB
from voirdire.tables.numbers import read_number

if TYPE_CHECKING:
    import pandas as pd


Measures = Annotated[list[str] | None, typer.Option("--measures", "--measure")]
Unit = Literal["item", "context", "judge", "both"]
Interval = Literal["percentile", "basic", "bca", "studentised"]
AnyInterval = Literal["percentile", "basic", "bca", "studentised", "analytic", "t", "wilson", "normal"]
Adjustment = Literal["holm", "bh"]
Repeats = Literal["majority", "swap", "mean", "error"]


@declare_options()
def agree(
    table: Path,
    *,
    measures: Measures = None,
    judge: list[str] | None = None,
    against: str | None = None,
    pairs: bool | None = None,
    repeats: Repeats | None = None,
    hold: list[str] | None = None,
    experts: list[str] | None = None,
    leave_one_out: bool = False,
    compare: list[str] | None = None,
    truth: str | None = None,
    swap: bool = False,
    reference: list[str] | None = None,
    runs: bool = False,
    phases: tuple[str, str] | None = None,
    gate: list[str] | None = None,
    between: tuple[str, str] | None = None,
    adjustment: Adjustment | None = None,
    permutations: int | None = None,
    unit: Unit | None = None,
    humans: Path | None = None,
    interval: AnyInterval | None = None,
    resamples: int = 10000,
    prob: float = PROB,
    seed: int = 0,
    jobs: int = 1,
    cluster: str | None = None,
    out: Path | None = None,
    overwrite: bool = False,
    json: bool = False,
    reading: TableOptions,
) -> None:
    """Measure the agreement of judges with each other, with experts or with humans: coefficients with intervals.

    Give at most one of the questions below; without one, all judges are compared.

    Parameters
    ----------
    table : TABLE
        Votes (judge, first, second, winner), scores (judge, item, score) or labels (judge, item, label) as CSV, Parquet
        or JSONL, or any file that import takes.
    measures : A,B,...
        Measures; repeatable. Default: those that suit the table.
    repeats
        Combination of repeated answers (default: majority; scores: mean).
    hold : NAME|FILE,...
        Votes: win rates adjusted for a covariate such as length: columns NAME_first and NAME_second, or a table with
        item (and context); repeatable.
    adjustment
        With --compare and --between: adjustment of p-values (default: holm).
    permutations
        With --compare: permutations of the swap test (default: 10000).
    unit
        Resampled unit (default: item).
    interval
        Kind of interval (default: percentile; analytic: in closed form; with --humans t, wilson, normal, percentile and
        basic, by default wilson for rates and t for means).
    seed
        Seed of the resamples.
    out : DIR
        Save the rows to this new or empty folder.
    overwrite
        Replace rows saved in --out.

    Judges to compare
    -----------------
    judge : A,B,...
        Judges to use; repeatable. Default: all.
    against : NAME
        Compare each judge with this one only; majority: with the majority of the others.
    pairs
        Compare each pair of judges (default: up to 8 judges).

    Questions
    ---------
    experts : A,B,...
        Judges who are experts; repeatable. Compares every other judge with their majority and with any of them, and
        counts its kinds of errors.
    leave_one_out
        With --experts: compare each left-out expert and each judge with the majority of the other experts.
    compare : A,B,...
        Compare two judges (or prompts): which agrees better with this judge, or with the majority of several;
        repeatable.
    truth : NAME
        Labels: detection of this judge's labels by the others (precision, sensitivity, specificity, F1).
    swap
        Votes: share of answers that change with the order shown.
    reference : A,B,...
        With --swap: agreement with this judge, or the majority of several, for changed and for unchanged answers;
        repeatable.
    runs
        Variation of a judge's scores between runs, or share of its votes and labels that change.
    phases : BEFORE AFTER
        Scores: agreement in two phases, such as before and after a debate.
    gate : CRITERION=SCORE
        Scores: share of items that reach this score on this criterion; repeatable, then also on all criteria.
    between : A B
        Scores: difference of the mean scores of two systems, as in an A/B test; with --gate of their pass rates.
    humans : FILE
        Human answers to a random sample of the units, the same columns without judge. Estimates the human result on
        all units, and the judges' agreement with humans.
    """

    check_output_path(out, overwrite)
    experts, compare, reference, hold = map(split_commas, (experts, compare, reference, hold))
    panel = "--experts"
    if reading.reading.people and not any((experts, compare, truth, humans)):
        experts, reading = (list(reading.reading.people), TableOptions(dataclasses.replace(reading.reading, people=())))
        panel = "--people"
    question_options: dict[str, Any] = {panel: experts, "--compare": compare, "--truth": truth, "--swap": swap}
    question_options |= {"--runs": runs, "--phases": phases, "--humans": humans}
    question_options |= {"--between": between} if between else {"--gate": gate}
    question = single_given_option(question_options)
    for name, is_given, question_of in (
        ("--leave-one-out", leave_one_out, panel),
        ("--reference", reference, "--swap"),
    ):
        if is_given and question != question_of:
            raise typer.BadParameter(f"{name} is for {question_of}")
    with_experts = leave_one_expert_out if leave_one_out else expert_agreement
    questions: dict[str, tuple[Callable[..., pd.DataFrame], tuple[Any, ...], str]] = {
        "": (agreement, (), "Agreement"),
        "--humans": (partial(agreement, humans=reading.people(humans)), (), "what humans would say"),
        panel: (with_experts, (experts,), "Agreement with experts"),
        "--compare": (compare_judges, (compare,), "Which judge agrees better"),
        "--truth": (detection, (truth,), f"Detection of what {truth} says"),
        "--swap": (swap_consistency, (reference or None,), "Answers in both orders"),
        "--runs": (run_to_run, (), "Change between runs"),
        "--phases": (phase_change, phases or (), "Agreement in two phases"),
        "--gate": (pass_rates, (read_thresholds(gate or ()),), "Pass rates"),
        "--between": (compare_systems, (*(between or ()), read_thresholds(gate or ()) or None), "A/B test"),
    }
    verb, arguments, title = questions[question]
    judge_table = reading.table(table, [humans])
    options: dict[str, Any] = {"measures": split_commas(measures) or None, "judges": split_commas(judge) or None}
    options |= {"against": against, "pairs": pairs, "levels": reading.levels, "repeats": repeats}
    options |= {"hold": hold[0] if len(hold) == 1 else hold or None, "adjustment": adjustment}
    options |= {"permutations": permutations, "unit": unit, "interval": interval}
    resampling = {"resamples": resamples, "prob": prob, "seed": seed, "jobs": jobs, "client": cluster}
    coefficients = call_verb(verb, (judge_table, *arguments), options, resampling, question)
    for note in coefficients.attrs.get("notes", ()):
        console.print_note(note)
    print_rows(coefficients, f"{title}, {100 * prob:g}% intervals", json)
    if out is not None:
        settings: dict[str, Any] = {"resamples": resamples, "prob": prob, "seed": seed}
        settings |= {"question": question or None, "unit": unit or "item", "interval": interval}
        settings |= {"table": table.name, "against": against, "humans": None if humans is None else humans.name}
        save_result_rows(coefficients, out, "agree", settings, overwrite, json)


def single_given_option(options: dict[str, Any]) -> str:
    """Return the name of the given option, empty without one; raise a usage error for two."""
    given_names = [name for name, value in options.items() if value]
    if len(given_names) > 1:
        raise typer.BadParameter(f"{given_names[0]} and {given_names[1]} are two questions; ask one at a time")
    return given_names[0] if given_names else ""


def read_thresholds(gate: Iterable[str]) -> dict[str, float]:
    """Parse ``CRITERION=SCORE`` options."""
    thresholds = {}
    for text in gate:
        criterion, _, score = text.rpartition("=")
        try:
            thresholds[criterion] = float(read_number(score.strip()))
        except ValueError:
            criterion = ""
        if not criterion:
            raise typer.BadParameter(f"--gate {text!r} is not CRITERION=SCORE, such as safe=4")
    return thresholds
