"""The verb ``predict``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from voirdire.cli import console
from voirdire.cli.options import OutFile, declare_options
from voirdire.cli.reading import TableOptions
from voirdire.fit.store import load
from voirdire.folders import write_file
from voirdire.kinds.columns import to_records
from voirdire.report.output import check_new_file

if TYPE_CHECKING:
    import pandas as pd

TITLES = {
    "target": "What people would say; beside it (panel) what the panel alone says",
    "panel": "What judges of the panel would answer",
}

Subject = Literal["target", "panel"]


@declare_options()
def predict(
    run: Path,
    table: Path,
    *,
    about: Subject | None = None,
    out: OutFile = None,
    json: bool = False,
    reading: TableOptions,
) -> None:
    """Predict answers of judges, or of people, by a saved fit, with intervals.

    Parameters
    ----------
    run : RUN
        A fit that fit or update saved with --out.
    table : TABLE
        A row for each question, as fit takes them, without answers; for people without judges.
    about
        panel: the judges' answers (default). target: people's answers; the intervals include the difference between
        panel and people. Labels: the default is the fit's own setting.
    out : FILE.csv
        Write the predictions to a new file.
    """
    check_new_file(out)
    fit = load(run)
    predictions = fit.in_pandas.predict(reading.questions(table), about=about)
    subject = about or fit.problem.about or "panel"
    if out is not None:
        write_file(out, predictions.to_csv(index=False))
        console.print_saved(out, json)
    rows = to_records({str(name): predictions[name].to_numpy() for name in predictions})
    result = {"model": fit.model.name, "about": subject, "prob": fit.prob, "rows": rows}
    console.print_result(result, json, lambda: _show_predictions(predictions, TITLES[subject]))


def _show_predictions(predictions: pd.DataFrame, title: str) -> None:
    words = [str(name).replace("_", " ") for name in predictions if predictions[name].dtype.kind != "f"]
    rows = [
        {str(name).replace("_", " "): f"{cell:.2f}" if isinstance(cell, float) else cell for name, cell in row.items()}
        for row in predictions.to_dict("records")
    ]
    console.stdout_console().print(console.fill_table(console.empty_table(title), rows, words))
