"""The verb ``import``."""

from __future__ import annotations

from pathlib import Path

from voirdire.cli import console
from voirdire.cli.options import declare_options
from voirdire.cli.reading import TableOptions
from voirdire.tables.formats.folder import import_files


@declare_options("positive", "levels", "people")
def import_(
    files: list[Path],
    *,
    out: Path,
    overwrite: bool = False,
    json: bool = False,
    reading: TableOptions,
) -> None:
    """Turn files of other tools into tables of answers; what is refused is listed with its reason.

    Parameters
    ----------
    files : FILE...
        Files of AlpacaEval, MT-bench, LMArena, Arena-Hard, Inspect, promptfoo, DeepEval, lm-eval, MLflow, OpenAI evals,
        Langfuse, LangSmith, Argilla, Label Studio, Prodigy, doccano, Potato, Mechanical Turk, Toloka, ..., or tables
        (CSV, TSV, JSON, JSONL, Parquet, XLSX; .gz, .zst; - is standard input).
    out : DIR
        Write the tables into this new or empty folder.
    overwrite
        Replace tables imported before.
    """
    found = import_files(files, out, reading.how, overwrite=overwrite)
    if json:
        tables = {name: str(out / f"{name}.csv") for name in found.counts}
        console.print_json(
            {
                "formats": found.formats,
                "rows": found.counts,
                "tables": tables,
                "position": "unknown" if found.order_unknown else "known",
                "notes": list(found.notes),
            }
        )
    else:
        screen = console.stdout_console()
        for path, name in found.formats.items():
            screen.print(console.printable_text(f"{path}: {name}"))
        for name, count in found.counts.items():
            screen.print(console.printable_text(f"{out / name}.csv: {count:,} rows"))
        for note in found.notes:
            screen.print(console.printable_text(f"Note: {note}"))
    console.print_saved(out, json)
