"""Options that several verbs take, each with one text.

The packages beside this one, of studies and of published numbers: only the verbs of their own need them.
"""

from __future__ import annotations

import importlib
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from voirdire.errors import InputError
from voirdire.infer.method import FIRST_ANSWER


def load_companion(module: str) -> Any:
    """A module of ``voirdire_studies`` or ``voirdire_repro``.

    Raises
    ------
    InputError
        The package is not installed.

    Examples
    --------
    >>> load_companion("voirdire_studies").load_study("rq1").kind
    'recovery'
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise InputError(
            f"the package {package} is not installed; pip install voirdire brings it, as does make setup in a source "
            "tree"
        ) from None


class Over(StrEnum):
    """Contexts that scores are over."""

    new = "new"
    these = "these"


class About(StrEnum):
    """Subject of results."""

    target = "target"
    panel = "panel"


class Judges(StrEnum):
    """Kind of judges."""

    models = "models"
    people = "people"


class Order(StrEnum):
    """Knowledge of which item was shown first."""

    shown = "shown"
    unknown = "unknown"


AboutWhat = Annotated[
    About | None,
    typer.Option(
        help="Results about what the panel stands in for (truth, experts, people: of labels the default), or about the "
        "panel alone."
    ),
]
JudgesAre = Annotated[
    Judges | None,
    typer.Option(
        help="Of votes, scores and rankings: judges are language models, which stand in for people (--about target), "
        "or people (--about panel)."
    ),
]
Anchors = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        readable=False,
        help="People's answers to some comparisons: first, second, winner; or to some items: item, label; item, score; "
        "item, rank. Of several people: a column person, or one file each.",
    ),
]
OverContexts = Annotated[
    Over,
    typer.Option(
        help="Of answers in several contexts: scores over contexts like these, or over these alone."
    ),
]
OrderShown = Annotated[
    Order | None, typer.Option(help="Whether first was shown first; unknown: no model of positions.")
]
Covariates = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|NAME,...",
        help="What is held fixed when items are compared (length, style): a table with columns item, optionally "
        "context, and numbers; or names of which votes have columns NAME_first and NAME_second, scores and rankings "
        "NAME.",
    ),
]
Terms = Annotated[
    str | None,
    typer.Option(
        metavar="SUM",
        help="In the place of a model, of votes, scores and rankings: the sum that answers depend on, such as 'item + "
        "item:context + judge:item + judge:length': item, judge, context, criterion, run, time, group, family, "
        "covariates, columns of the table.",
    ),
]
ItemFamilies = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        readable=False,
        help="Families of items, columns item, family: with --families how much judges favour their own.",
    ),
]
WithoutOwnFamily = Annotated[
    bool,
    typer.Option(
        "--without-own-family", help="Leave out answers of a judge about an item of its own family."
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Address of a Dask scheduler, in the place of --jobs: its workers share the work (tcp://HOST:8786).",
    ),
]
Seconds = Annotated[
    float | None,
    typer.Option(metavar="S", help="About how long chains of auto may take (30 if left out)."),
]
Quick = Annotated[
    bool, typer.Option("--quick", help=f"Stop at the first answer: --seconds {FIRST_ANSWER:g}.")
]


def chain_seconds(seconds: float | None, quick: bool, method: str) -> dict[str, Any]:
    """Settings of a fit by ``--seconds`` and ``--quick``; empty where neither is given.

    Raises
    ------
    typer.BadParameter
        Both are given, or another method than auto.

    Examples
    --------
    >>> chain_seconds(5.0, False, "auto"), chain_seconds(None, False, "map")
    ({'seconds': 5.0}, {})
    """
    if quick and (seconds is not None or method != "auto"):
        raise typer.BadParameter(
            f"--quick is --method auto --seconds {FIRST_ANSWER:g}; leave it or these out"
        )
    if seconds is not None and method != "auto":
        raise typer.BadParameter("--seconds is for --method auto")
    seconds = FIRST_ANSWER if quick else seconds
    return {} if seconds is None else {"seconds": seconds}
