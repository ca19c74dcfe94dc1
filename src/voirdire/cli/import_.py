"""The verb ``import``."""

from __future__ import annotations

from pathlib import Path

from voirdire.cli import console
from voirdire.cli.options import declare_options
from voirdire.cli.reading import TableOptions
from voirdire.tables.formats.conversion_report import import_files
from voirdire.tables.numbers import count_in_words


@declare_options("positive", "levels", "people")
def import_(
    files: list[Path], *, out: Path, overwrite: bool = False, json: bool = False, reading: TableOptions
) -> None:
    """Convert files of other tools to tables of answers; refused rows are listed with the reason.

    Parameters
    ----------
    files : FILE...
        Files of AlpacaEval, MT-bench, LMArena, Arena-Hard, Inspect, promptfoo, DeepEval, lm-eval, MLflow, OpenAI evals,
        Langfuse, LangSmith, Argilla, Label Studio, Prodigy, doccano, Potato, Mechanical Turk, Toloka, ..., or tables
        (CSV, TSV, JSON, JSONL, Parquet, XLSX; .gz, .zst; - is standard input).
    out : DIR
        Write the tables into this new or empty folder.
    overwrite
        Replace previously imported tables.
    """
    conversion = import_files(files, out, reading.reading, overwrite=overwrite)
    result = {
        "formats": conversion.formats,
        "rows": conversion.counts,
        "tables": {name: str(out / f"{name}.csv") for name in conversion.counts},
        "position": "unknown" if conversion.order_unknown else "known",
        "notes": list(conversion.notes),
    }
    lines = [f"{path}: {name}" for path, name in conversion.formats.items()]
    lines += [f"{out / name}.csv: {count_in_words(count, 'rows')}" for name, count in conversion.counts.items()]
    lines += [f"Note: {note}" for note in conversion.notes]

    def show_lines() -> None:
        for line in lines:
            console.stdout_console().print(console.printable_text(line))

    console.print_result(result, json, show_lines, out)
