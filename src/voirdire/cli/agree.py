"""The verb ``agree``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from voirdire.cli.options import Cluster
from voirdire.cli.reading import TableOptions, add_table_options, split_commas
from voirdire.cli.results import call_verb, check_output_path, print_rows, save_result_rows
from voirdire.settings import PROB
from voirdire.tables.numbers import read_number

if TYPE_CHECKING:
    import pandas as pd

QUESTIONS = "Questions"


class Unit(StrEnum):
    """Unit that is resampled."""

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
    analytic = "analytic"
    t = "t"
    wilson = "wilson"
    normal = "normal"


class Adjustment(StrEnum):
    """Adjustment of p-values of many comparisons."""

    holm = "holm"
    bh = "bh"


class Repeats(StrEnum):
    """Way in which several answers of one judge about one thing become one."""

    majority = "majority"
    swap = "swap"
    mean = "mean"
    error = "error"


@add_table_options()
def agree(
    table: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE",
            readable=False,
            help="Votes (judge, first, second, winner), scores (judge, item, score) or labels (judge, item, label) "
            "as CSV, Parquet or JSONL, or any file that import takes.",
        ),
    ],
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measures",
            "--measure",
            metavar="A,B,...",
            help="Measures; repeatable. Default: those that suit the table.",
        ),
    ] = None,
    judge: Annotated[
        list[str] | None, typer.Option(metavar="A,B,...", help="Judges to compare; repeatable. Default: all.")
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
    repeats: Annotated[
        Repeats | None,
        typer.Option(help="How repeated answers are combined (default: majority; scores: mean)."),
    ] = None,
    hold: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|FILE,...",
            help="Votes: win rates with this held fixed, such as length: columns NAME_first and NAME_second, or a "
            "table with item (and context); repeatable.",
        ),
    ] = None,
    experts: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B,...",
            rich_help_panel=QUESTIONS,
            help="Judges who are experts; repeatable. Every other judge against their majority, against any of them, "
            "and how it misses.",
        ),
    ] = None,
    leave_one_out: Annotated[
        bool | None,
        typer.Option(
            "--leave-one-out",
            rich_help_panel=QUESTIONS,
            help="With --experts: each left-out expert and each judge against the majority of the rest.",
        ),
    ] = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B,...",
            rich_help_panel=QUESTIONS,
            help="Which of two judges (or prompts) agrees better with this one, or with the majority of several; "
            "repeatable.",
        ),
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            rich_help_panel=QUESTIONS,
            help="Labels: how well judges find what this one says (precision, sensitivity, specificity, F1).",
        ),
    ] = None,
    swap: Annotated[
        bool,
        typer.Option(
            "--swap",
            rich_help_panel=QUESTIONS,
            help="Votes: how often judges change their answer with the order shown.",
        ),
    ] = False,
    reference: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B,...",
            rich_help_panel=QUESTIONS,
            help="With --swap: agreement with this judge, or the majority of several, where the answer changed and "
            "where it did not; repeatable.",
        ),
    ] = None,
    runs: Annotated[
        bool,
        typer.Option(
            "--runs",
            rich_help_panel=QUESTIONS,
            help="How much a judge's scores vary between runs, or how often its votes and labels change.",
        ),
    ] = False,
    phases: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="BEFORE AFTER",
            rich_help_panel=QUESTIONS,
            help="Scores: agreement in two phases, such as before and after a debate.",
        ),
    ] = None,
    gate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CRITERION=SCORE",
            rich_help_panel=QUESTIONS,
            help="Scores: how many items reach this score by this criterion; repeatable, and then also by all.",
        ),
    ] = None,
    between: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="A B",
            rich_help_panel=QUESTIONS,
            help="Scores: mean scores of two systems, as in an A/B test; with --gate their pass rates.",
        ),
    ] = None,
    adjustment: Annotated[
        Adjustment | None,
        typer.Option(help="With --compare and --between: how p-values are adjusted (default: holm)."),
    ] = None,
    permutations: Annotated[
        int | None, typer.Option(help="With --compare: rearrangements of the swap test (default: 10000).")
    ] = None,
    unit: Annotated[Unit | None, typer.Option(help="What is resampled (default: item).")] = None,
    humans: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            readable=False,
            rich_help_panel=QUESTIONS,
            help="Human answers to a random part of the units, the same columns without judge: estimates what "
            "humans would say of all of them, and how often judges agree.",
        ),
    ] = None,
    interval: Annotated[
        AnyInterval | None,
        typer.Option(
            help="Kind of interval (default: percentile; analytic: in closed form; with --humans t, wilson, normal, "
            "percentile and basic, by default wilson of rates and t of means)."
        ),
    ] = None,
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
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")] = False,
    *,
    reading: TableOptions,
) -> None:
    """Measure how well judges agree, with each other, with experts or with humans: coefficients with intervals.

    At most one of the questions below is asked at a time; without one, all judges are compared.
    """

    check_output_path(out, overwrite)
    experts, compare, reference, hold = map(split_commas, (experts, compare, reference, hold))
    asked: dict[str, Any] = {
        "--experts": experts,
        "--compare": compare,
        "--truth": truth,
        "--swap": swap,
        "--runs": runs,
    }
    if reading.how.people and not any((experts, compare, truth, humans)):
        experts, reading = list(reading.how.people), TableOptions(dataclasses.replace(reading.how, people=()))
        asked["--experts"] = experts
    asked |= {"--phases": phases, "--humans": humans}
    asked |= {"--between": between} if between else {"--gate": gate}
    question = single_given_option(asked)
    for name, given, of in (
        ("--leave-one-out", leave_one_out, "--experts"),
        ("--reference", reference, "--swap"),
    ):
        if given and question != of:
            raise typer.BadParameter(f"{name} is for {of}")
    with_experts = leave_one_expert_out if leave_one_out else expert_agreement
    questions: dict[str, tuple[Callable[..., pd.DataFrame], tuple[Any, ...], str]] = {
        "": (agreement, (), "Agreement"),
        "--humans": (partial(agreement, humans=reading.people(humans)), (), "what humans would say"),
        "--experts": (with_experts, (experts,), "Agreement with experts"),
        "--compare": (compare_judges, (compare,), "Which judge agrees better"),
        "--truth": (detection, (truth,), f"Detection of what {truth} says"),
        "--swap": (swap_consistency, (reference or None,), "Answers in both orders"),
        "--runs": (run_to_run, (), "Change between runs"),
        "--phases": (phase_change, phases or (), "Agreement in two phases"),
        "--gate": (pass_rates, (read_thresholds(gate or ()),), "Pass rates"),
        "--between": (compare_systems, (*(between or ()), read_thresholds(gate or ()) or None), "A/B test"),
    }
    verb, first, title = questions[question]
    given = reading.table(table, [humans])
    found = call_verb(
        verb,
        (given, *first),
        {
            "--measures": ("measures", split_commas(measures) or None),
            "--judge": ("judges", split_commas(judge) or None),
            "--against": ("against", against),
            "--pairs": ("pairs", pairs),
            "--levels": ("levels", reading.levels),
            "--repeats": ("repeats", repeats),
            "--hold": ("hold", hold[0] if len(hold) == 1 else hold or None),
            "--adjustment": ("adjustment", adjustment),
            "--permutations": ("permutations", permutations),
            "--unit": ("unit", unit),
            "--interval": ("interval", interval),
        },
        {"resamples": resamples, "prob": prob, "seed": seed, "jobs": jobs, "client": cluster},
        question,
    )
    for note in found.attrs.get("notes", ()):
        console.print_note(note)
    print_rows(found, f"{title}, {100 * prob:g}% intervals", json)
    if out is not None:
        settings: dict[str, Any] = {"resamples": resamples, "prob": prob, "seed": seed}
        settings |= {"question": question or None, "unit": unit or "item", "interval": interval}
        settings |= {
            "table": table.name,
            "against": against,
            "humans": None if humans is None else humans.name,
        }
        save_result_rows(found, out, "agree", settings, overwrite, json)


def single_given_option(asked: dict[str, Any]) -> str:
    """The option that is given; empty without one, and a usage error where there are two."""
    given = [name for name, value in asked.items() if value]
    if len(given) > 1:
        raise typer.BadParameter(f"{given[0]} and {given[1]} are two questions; ask one at a time")
    return given[0] if given else ""


def read_thresholds(gate: Iterable[str]) -> dict[str, float]:
    """Read ``criterion=score`` options."""
    found = {}
    for one in gate:
        criterion, _, score = one.rpartition("=")
        try:
            found[criterion] = float(read_number(score.strip()))
        except ValueError:
            criterion = ""
        if not criterion:
            raise typer.BadParameter(f"--gate {one!r} is not CRITERION=SCORE, such as safe=4")
    return found
