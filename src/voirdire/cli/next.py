"""The verb ``next``.

The verb ``next`` of a fit of rankings.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli import complete, console
from voirdire.cli.options import Anchors, Terms
from voirdire.cli.reading import TableOptions, add_table_options
from voirdire.errors import InputError
from voirdire.fit.store import load
from voirdire.fit.verb import fit
from voirdire.folders import write_file
from voirdire.kinds.columns import to_records
from voirdire.kinds.registry import RankingsFit
from voirdire.tables.forms import escape_formula_cell

if TYPE_CHECKING:
    import pandas as pd


COLUMNS = ("judge", "criterion", "context")


def propose_rankings(result: RankingsFit, how: dict[str, Any], out: Path | None, json: bool) -> None:
    """Choose rankings to ask for, write them as a table to fill in, and show them."""
    found = result.next_rankings(**how)
    who = how.get("who", "judge")
    if out is not None:
        form = _ranking_form(found, result, who)
        write_file(out, form.to_csv(index=False))
        new = " and, where it is empty, context" if "context" in form and form["context"].isna().any() else ""
        console.print_note(
            f"written to {out}: fill in rank (the lowest is the best, equal ones are ties){new}"
        )
    if json:
        rows = [row | {"items": list(row["items"])} for row in found.to_dict("records")]
        attrs = found.attrs
        console.print_json(
            {
                "model": result.model.name,
                "who": who,
                "about": attrs["about"],
                "seed": how["seed"],
                "entropy": attrs["entropy"],
                "entropy_after": attrs["left"],
                "rankings": rows,
            }
        )
    else:
        _show_rankings(found, who)


def _ranking_form(found: pd.DataFrame, result: RankingsFit, who: str) -> pd.DataFrame:
    """One row an item, each ranking with a run of its own that the table does not have. People open it."""
    columns = ["judge", *(name for name in COLUMNS[1:] if name in found)]
    if who == "person" or found["judge"].isna().all():
        columns.remove("judge")
    if "criterion" in columns and found["criterion"].isna().all():
        columns.remove("criterion")
    form = found[[*columns, "items"]].assign(run=[f"next-{place}" for place in found["place"]])
    form = form.explode("items", ignore_index=True).rename(columns={"items": "item"})
    if who == "person":
        form["item"] = [escape_formula_cell(name, {*result.problem.items}) for name in form["item"]]
    return form.assign(rank="")


def _show_rankings(found: pd.DataFrame, who: str) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    about = {"ranking": "the ranking", "best": "what is best"}[found.attrs["about"]]
    title = f"Rankings to ask for, from a {who}, to learn about {about}"
    table = Table(title=Text(title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    names = [name for name in COLUMNS if name in found and found[name].notna().any()]
    if "context" in found and "context" not in names:
        names.append("context")
    for name in (*names, "items"):
        table.add_column(name, overflow="fold")
    for name in ("gain", "alone"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in found.to_dict("records"):
        cells = [row[name] or ("a new one" if name == "context" else "") for name in names]
        cells += [", ".join(row["items"]), f"{row['gain']:.2f}", f"{row['information']:.2f}"]
        table.add_row(*(Text(console.printable_text(str(cell))) for cell in cells))
    out = console.stdout_console()
    out.print(table)
    before, after = found.attrs["entropy"], found.attrs["left"]
    out.print(f"gain, alone: bits; unsure now {before:.1f} bits, expected after all rankings {after:.1f}")


_ABOUT = {"judges": "the judges", "ranking": "the ranking", "best": "what is best"}


class Who(StrEnum):
    """Those who answer."""

    person = "person"
    judge = "judge"


class About(StrEnum):
    """Quantity that is to become surer."""

    ranking = "ranking"
    judges = "judges"
    best = "best"


@add_table_options()
def next(
    votes: Annotated[
        list[Path],
        typer.Argument(
            metavar="VOTES [SCORES]|RANKINGS",
            readable=False,
            help="Votes, perhaps with scores of the same items, or rankings, as for voirdire fit, or the folder of a "
            "saved fit.",
        ),
    ],
    count: Annotated[
        int | None,
        typer.Option(
            help="How many; they are chosen together (default: 10 comparisons, 5 rankings).",
            show_default=False,
        ),
    ] = None,
    who: Annotated[
        Who | None,
        typer.Option(
            help="Who is to answer them (default: a person; of rankings a judge).", show_default=False
        ),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(help="Of rankings: how many items in each (default: as many as most have)."),
    ] = None,
    for_: Annotated[Who | None, typer.Option("--for", hidden=True, help="The old name of --who.")] = None,
    about: Annotated[
        About | None,
        typer.Option(
            help="What is to become surer: the ranking, which item is the best, or which judges to trust. "
            "Default: the judges of a person, the ranking of a judge."
        ),
    ] = None,
    repeats: Annotated[
        bool | None,
        typer.Option(
            "--repeats/--no-repeats",
            help="Whether to ask again what was answered (default: where the model leaves contexts out).",
        ),
    ] = None,
    criteria: Annotated[
        Path | None, typer.Option(metavar="FILE", readable=False, help="Votes on the criteria.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE", help="A model, as for voirdire fit.", autocompletion=complete.matching_models
        ),
    ] = None,
    terms: Terms = None,
    anchors: Anchors = None,
    families: Annotated[
        Path | None,
        typer.Option(metavar="FILE", readable=False, help="Judges that share a base model: judge, family."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            readable=False,
            help="Write them to a new file, with an empty column winner to fill in.",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")] = False,
    *,
    reading: TableOptions,
) -> None:
    """Choose which comparisons, or rankings, to ask for next: those that are expected to tell most."""
    if for_ is not None:
        console.print_note("--for is --who now; the old name goes with the next release")
        who = for_
    given = {
        "criteria": criteria,
        "model": model,
        "terms": terms,
        "anchors": anchors,
        "families": families,
    }
    named = [f"--{name}" for name, value in given.items() if value is not None]
    named += [f"--{'from' if name == 'tool' else name}" for name in reading.how.given]
    saved = len(votes) == 1 and votes[0].is_dir()
    if saved and named:
        raise typer.BadParameter(
            f"{', '.join(named)}: the saved fit has its own; leave it out, or give the votes"
        )
    if out is not None and out.exists():
        raise InputError(f"{out} exists already; give the name of a new file")
    if saved:
        result = load(votes[0])
    else:
        tables = reading.tables(votes, [criteria, *(anchors or [])])
        with console.progress_bar("Fitting by laplace"):
            result = fit(
                tables[0] if len(tables) == 1 else tables,
                reading.people(criteria),
                model=model,
                terms=terms,
                anchors=reading.people_tables(anchors),
                families=families,
                levels=reading.levels,
                seed=seed,
            )
    if not json and result.decision is not None:
        print(console.printable_text(f"{result.decision.sentence()} {result.decision.settle()}".strip()))
    how: dict[str, Any] = {"count": count, "who": who and who.value, "about": about and about.value}
    how = {name: value for name, value in how.items() if value is not None} | {"seed": seed}
    if isinstance(result, RankingsFit):
        if repeats is not None:
            raise typer.BadParameter("--repeats is for comparisons; leave it out")
        propose_rankings(result, how if size is None else how | {"size": size}, out, json)
        return
    if size is not None:
        raise typer.BadParameter("--size is for rankings; leave it out")
    whom = who or Who.person
    found = result.next_comparisons(repeats=repeats, **how | {"who": whom.value})
    if out is not None:
        problem = result.problem
        write_file(out, _answer_form(found, whom, {*problem.items, *problem.criteria}).to_csv(index=False))
        console.print_note(f"written to {out}: fill in winner (first, second, tie, or an item)")
    if json:
        decision = None if result.decision is None else result.decision.as_dict()
        console.print_json(_as_dict(found, result.model.name, whom.value, seed) | {"decision": decision})
    else:
        _show_questions(found, whom.value)


def _answer_form(found: pd.DataFrame, who: Who, known: set[str]) -> pd.DataFrame:
    """A table to be answered: of votes, or without judge of anchors. People open it with a spreadsheet."""
    columns = [
        name for name in ("judge", "criterion", "context") if name in found and found[name].notna().any()
    ]
    form = found[["first", "second", *columns]].copy()
    if who is Who.person:
        form = form.map(lambda name: escape_formula_cell(name, known) if isinstance(name, str) else name)
    form.insert(2, "winner", "")
    return form.assign(information=found["information"], gain=found["gain"])


def _as_dict(found: pd.DataFrame, model: str, who: str, seed: int) -> dict[str, Any]:
    columns = {str(name): found[name].to_numpy() for name in found}
    about, entropy, left = (found.attrs[name] for name in ("about", "entropy", "left"))
    return {
        "model": model,
        "who": who,
        "about": about,
        "seed": seed,
        "entropy": entropy,
        "entropy_after": left,
        "comparisons": to_records(columns),
    }


def _show_questions(found: pd.DataFrame, who: str) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    about = _ABOUT[found.attrs["about"]]
    title = f"Comparisons to send to a {who}, to learn about {about}"
    table = Table(title=Text(title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    names = [
        name for name in ("judge", "criterion", "context") if name in found and found[name].notna().any()
    ]
    for name in (*names, "first", "second"):
        table.add_column(name, overflow="fold")
    for name in ("gain", "alone", "p(first)", "votes"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in found.to_dict("records"):
        votes = f"{row['votes_first']}:{row['votes_second']}"
        votes += f" ({row['votes_tie']} ties)" if row["votes_tie"] else ""
        cells = [row[name] or "" for name in (*names, "first", "second")]
        cells += [f"{row['gain']:.2f}", f"{row['information']:.2f}", f"{row['p_first']:.2f}", votes]
        table.add_row(*(Text(console.printable_text(str(cell))) for cell in cells))
    out = console.stdout_console()
    out.print(table)
    before, after = found.attrs["entropy"], found.attrs["left"]
    out.print(f"gain, alone: bits; unsure now {before:.1f} bits, expected after all answers {after:.1f}")
