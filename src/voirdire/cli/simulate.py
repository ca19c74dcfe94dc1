"""The verb ``simulate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from voirdire.cli import console, signals
from voirdire.cli.options import declare_options, load_companion
from voirdire.cli.reading import TableOptions, split_commas
from voirdire.errors import InputError
from voirdire.folders import write_file
from voirdire.planning.robustness import MIN_CONCORDANCE, Robustness, ranking_robustness

if TYPE_CHECKING:
    import pandas as pd


def _matching_studies(typed: str) -> list[str]:
    return [name for name in load_companion("voirdire_studies").study_names() if name.startswith(typed)]


@declare_options()
def simulate(
    study: Annotated[str | None, typer.Argument(autocompletion=_matching_studies)] = None,
    *,
    votes: Path | None = None,
    add: list[str] | None = None,
    models: str | None = None,
    least: float | None = None,
    seed: int | None = None,
    replicates: int | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    out: Path | None = None,
    page: bool = False,
    json: bool = False,
    reading: TableOptions,
) -> None:
    """Run a simulation study, with Monte Carlo errors; or add bad judges to a panel's votes, to test its robustness.

    Parameters
    ----------
    study : STUDY
        A study's name or a study file (.toml); without it, lists the studies.
    votes : FILE
        Instead of a study: a panel's votes, to which --add adds judges.
    add : KIND:COUNTS
        Synthetic judges: position-first:1..20, random:1,2,5, one-coin(eta=0.6):1..10; repeatable.
    models : A,B,...
        With --votes: models to test (default: majority vote, one coin, two coins).
    least
        With --votes: least acceptable concordance with the panel's own ranking (default: 0.9).
    seed
        With --votes: seed of the added judges (default: 0).
    replicates
        Number of replicates (default: the study's number; with --votes 5).
    jobs
        Processes.
    out : DIR
        Folder of finished batches and results.csv; give the same folder to resume a stopped run.
    page
        Print the page of all studies and their results as Markdown.
    """
    votes_options: dict[str, object] = {"--add": add, "--models": models, "--least": least, "--seed": seed}
    if votes is not None:
        if study is not None or page:
            raise typer.BadParameter("--votes is a study of its own; leave the study's name and --page out")
        if jobs != 1 or cluster is not None:
            raise typer.BadParameter("--jobs and --cluster are for studies; --votes runs in one process")
        table = None if out is None else out / "results.csv"
        if table is not None and table.exists():
            raise InputError(f"{table} exists already; name a new folder")
        with console.progress_bar("Adding judges"):
            robustness = ranking_robustness(
                reading.table(votes),
                add or [],
                models=None if models is None else split_commas([models]),
                replicates=5 if replicates is None else replicates,
                least=MIN_CONCORDANCE if least is None else least,
                seed=seed or 0,
            )
        if table is not None:
            table.parent.mkdir(parents=True, exist_ok=True)
            write_file(table, robustness.table.to_csv(index=False))
        console.print_result(robustness.as_dict(), json, lambda: _show_robustness(robustness), out)
        return
    votes_options |= {
        f"--{'from' if name == 'tool' else name}": value for name, value in reading.reading.set_options.items()
    }
    if option_names := [name for name, value in votes_options.items() if value not in (None, [])]:
        raise typer.BadParameter(f"{', '.join(option_names)}: only with --votes, the panel that judges are added to")
    if page:
        print(load_companion("voirdire_studies.readme").studies_page(), end="")
        return
    studies = load_companion("voirdire_studies")
    if study is None:
        study_list = [studies.load_study(name) for name in studies.study_names()]
        rows = [{"study": entry.name, "title": entry.title, "aim": entry.aim} for entry in study_list]

        def list_studies() -> None:
            for entry in study_list:
                console.stdout_console().print(f"{entry.name}: {entry.title}")

        console.print_result({"studies": rows}, json, list_studies)
        return
    with (
        signals.print_note_at_stop(_saved_batches_note(out)),
        console.progress_bar(f"Study {console.printable_text(study)}") as progress,
    ):
        loaded = studies.load_study(study)
        workers = {"jobs": jobs, "client": cluster}
        result = studies.run_study(loaded, replicates=replicates, **workers, out=out, progress=progress)

    def show_study() -> None:
        console.stdout_console().print(console.printable_text(f"{loaded.name}: {loaded.title}"))
        print(readable_table(result.table))

    console.print_result(result.as_dict(), json, show_study, out)


def _show_robustness(robustness: Robustness) -> None:
    console.print_sentence(
        f"Judges added to a panel of {robustness.judges} with {robustness.votes:,} votes: mean share of the pairs of "
        "items that keep the order of the panel's own ranking by the same model (--json and --out: errors, lowest "
        "share, how often the best item stays)"
    )
    table = robustness.table.pivot_table("concordance", ["added", "count"], "model", sort=False, observed=True)
    print(console.printable_lines(table.reset_index().to_string(index=False, float_format="{:.4f}".format, na_rep="")))
    for row in robustness.bears.to_dict("records"):
        count_text = f"{row['bears']}" if row["bears"] < row["most"] else f"at least {row['bears']}"
        sentence = f"{row['model']} tolerates {count_text} {row['added']} (share {robustness.least:g} or more)"
        print(console.printable_text(sentence))


def _saved_batches_note(out: Path | None) -> str:
    if out is None:
        return "its batches are lost; with --out DIR they are kept"
    return f"finished batches are kept in {console.printable_text(str(out))}; the same command goes on from there"


def readable_table(table: pd.DataFrame) -> str:
    """Format a table of results as text, with four decimals. Leaves out constant columns, unless all are constant."""
    varying = [name for name in table.columns if len(set(table[name].astype(str))) > 1 or name == "mean"]
    shown = table[varying or list(table.columns)].to_string(
        index=False, float_format=lambda value: f"{value:.4f}", na_rep=""
    )
    return console.printable_lines(shown)
