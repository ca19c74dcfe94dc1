"""Options that several verbs take, each with one text."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Over(StrEnum):
    """What scores are over."""

    new = "new"
    these = "these"


class Order(StrEnum):
    """Whether it is known which item was shown first."""

    shown = "shown"
    unknown = "unknown"


ColumnNames = Annotated[
    str | None,
    typer.Option(
        "--map",
        metavar="A=B,...",
        help="Columns of the table: judge=grader,first=model_a,... (as import has it).",
    ),
]
WinnerWords = Annotated[
    str | None,
    typer.Option("--winners", metavar="A=B,...", help="What its winners mean: 1=first,0=second,draw=tie."),
]
WideTable = Annotated[
    str | None,
    typer.Option("--wide", metavar="judge", help="judge: each other column of the table is a judge."),
]
WhichTable = Annotated[
    str | None,
    typer.Option(
        "--table", metavar="KIND", help="votes, scores or labels: which, of a file that holds several."
    ),
]
KeepDegrees = Annotated[
    bool,
    typer.Option(
        "--degrees", help="How sure the judge was of each winner counts, where a tool's file says it."
    ),
]
OverContexts = Annotated[
    Over,
    typer.Option(help="Of votes in several contexts: scores over contexts like these, or over these alone."),
]
OrderShown = Annotated[
    Order | None, typer.Option(help="Whether first was shown first; unknown: no model of positions.")
]
Where = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN=VALUE", help="Only rows that hold this; repeatable."),
]
Covariates = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|NAME,...",
        help="What is held fixed when items are compared (length, style): a table with columns item, optionally "
        "context, and numbers; or names of which the votes have columns NAME_first and NAME_second.",
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
    typer.Option("--without-own-family", help="Leave out votes of a judge on an item of its own family."),
]
