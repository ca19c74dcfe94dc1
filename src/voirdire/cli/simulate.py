"""The verb ``simulate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from voirdire.cli import complete, console, signals

if TYPE_CHECKING:
    import pandas as pd


def simulate(
    study: Annotated[
        str | None,
        typer.Argument(
            metavar="STUDY",
            autocompletion=complete.study,
            help="A study's name or a study file (.toml); without it, the studies are listed.",
        ),
    ] = None,
    replicates: Annotated[int | None, typer.Option(help="Instead of the study's number.")] = None,
    jobs: Annotated[int, typer.Option(help="Processes.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            readable=False,
            help="Keep finished batches and results.csv here; a stopped run goes on.",
        ),
    ] = None,
    page: Annotated[
        bool, typer.Option("--page", help="The page of all studies and their results as Markdown.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")] = False,
) -> None:
    """Run a simulation study: robustness, recovery, calibration, with Monte Carlo errors."""
    from voirdire.research.studies import load_study, run_study, study_names

    if page:
        from voirdire.research.studies.readme import page as written

        print(written(), end="")
        return
    if study is None:
        studies = [load_study(name) for name in study_names()]
        if json:
            console.emit(
                {"studies": [{"study": one.name, "title": one.title, "aim": one.aim} for one in studies]}
            )
        else:
            for one in studies:
                console.stdout().print(f"{one.name}: {one.title}")
        return
    with signals.keeping(_kept(out)), console.progress(f"Study {console.plain(study)}") as progress:
        checked = load_study(study)
        result = run_study(checked, replicates=replicates, jobs=jobs, out=out, progress=progress)
    if json:
        console.emit(result.as_dict())
    else:
        console.stdout().print(console.plain(f"{checked.name}: {checked.title}"))
        print(readable(result.table))
    if out is not None:
        console.saved(out, json)


def _kept(out: Path | None) -> str:
    if out is None:
        return "its batches are lost; with --out DIR they are kept"
    return f"finished batches are kept in {console.plain(str(out))}; the same command goes on from there"


def readable(table: pd.DataFrame) -> str:
    """A table of results as text: columns that never vary are left out, numbers to four digits."""
    varying = [name for name in table.columns if len(set(table[name].astype(str))) > 1 or name == "mean"]
    shown = table[varying].to_string(index=False, float_format=lambda value: f"{value:.4f}", na_rep="")
    return "\n".join(console.plain(line) for line in shown.split("\n"))
