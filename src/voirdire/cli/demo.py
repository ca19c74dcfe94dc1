"""The verb ``demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from voirdire.cli import console
from voirdire.cli import demo_panel as panel
from voirdire.cli.console import fill_table
from voirdire.cli.demo_panel import QUESTION
from voirdire.cli.options import declare_options
from voirdire.cli.show import number_text, titled_table
from voirdire.folders import check_new_folder
from voirdire.report.provenance import caveat_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from voirdire.cli.demo_panel import Demo

DEFAULT_FOLDER = Path("voirdire-demo")


@declare_options()
def demo(*, out: Path | None = None, json: bool = False) -> None:
    """Fit an embedded panel whose majority is wrong, without and with 20 answers of people.

    Parameters
    ----------
    out : DIR
        Save the tables, the fit and its report to this new or empty folder (if left out: voirdire-demo, which is
        replaced if it exists).
    """

    folder, overwrite = (DEFAULT_FOLDER, True) if out is None else (out, False)
    check_new_folder(folder, panel.demo_layout(), overwrite=overwrite)
    with console.progress_bar("Fitting the panel") as progress:
        result = panel.fit_demo(progress=progress)
    with console.progress_bar("Writing the report"):
        result.save(folder, overwrite=overwrite)
    report = folder / panel.REPORT_FILE
    if json:
        console.print_json(result.as_dict() | {"report": str(report)})
    else:
        show_demo(result, console.stdout_console())
    console.print_saved(folder, json)
    if not json:
        print(f"Report: {console.printable_text(str(report))}")
        print(f"Try: voirdire fit {folder}/votes.csv \\\n       --anchors {folder}/people.csv --anchor-mode cut")


def show_demo(demo_result: Demo, out: Console) -> None:
    """Print the share of pairs in the right order by panel and fits, and the effect of people's answers."""
    from rich.padding import Padding
    from rich.text import Text

    shares_right, pair_count = demo_result.measures(), len(demo_result.unasked_pairs())
    people_count = len(demo_result.people)
    out.print(f'"{QUESTION}"', style="bold")
    out.print(
        f"{len(demo_result.texts)} answers, every pair compared by {demo_result.votes['judge'].nunique()} judges: "
        f"{len(demo_result.votes)} votes. The panel is made to be wrong (simulated): four judges like long answers, "
        "two read them, two guess. The longest answers are the dangerous ones."
    )
    out.print(f"\nRight order, of {pair_count} pairs that people were not asked about", style="bold")
    caveat = caveat_text(demo_result.alone)
    for key, name, style in (
        ("majority", "majority of the panel", ""),
        ("alone", "fit of its votes" + (f", which warns: {caveat}" if caveat else ""), ""),
        ("people", f"{people_count} answers of people", ""),
        ("with_people", f"the panel with these {people_count} answers", "bold green"),
    ):
        out.print(f"  {shares_right[key]:>4.0%}  {name}", style=style)
    texts, grades = (dict(zip(demo_result.texts["item"], demo_result.texts["text"], strict=True)), demo_result.grades())
    for fitted, name in ((demo_result.alone, "the votes alone"), (demo_result.helped, "votes and people")):
        top_item = fitted.as_dict()["items"][0]["item"]
        out.print(f"\nFirst by {name} (grade {grades[top_item]} of 3):", style="bold")
        out.print(Padding(Text(texts[top_item]), (0, 0, 0, 2)))
    for part in (_answer_table(demo_result), _judge_table(demo_result)):
        out.print()
        out.print(part)


def _answer_table(demo_result: Demo) -> Table:
    """Return a table of the texts: grade, rank by the votes alone, rank with people's answers (which sorts them)."""
    before = {row["item"]: row["rank"] for row in demo_result.alone.as_dict()["items"]}
    grades = demo_result.grades()
    rows = [
        {
            "answer": row["item"],
            "grade": grades[row["item"]],
            "votes alone": f"{before[row['item']]:.0f}",
            "with people": f"{row['rank']:.0f}",
        }
        for row in demo_result.helped.as_dict()["items"]
    ]
    return fill_table(titled_table("Answers (grade 3: right, 0: dangerous)"), rows, ["answer"])


def _judge_table(demo_result: Demo) -> Table:
    """Return a table of the judges' reliability without and with people's answers."""
    before, after = (
        {row["judge"]: row["reliability"] for row in fitted.as_dict()["judges"]}
        for fitted in (demo_result.alone, demo_result.helped)
    )
    rows = [
        {"judge": name, "votes alone": number_text(before[name]), "with people": number_text(after[name])}
        for name in sorted(after, key=lambda judge: -after[judge])
    ]
    return fill_table(titled_table("Judges, reliability (a coin: 0.5)"), rows, ["judge"])
