"""The verb ``ask``."""

from __future__ import annotations

from pathlib import Path

from voirdire.cli import console
from voirdire.cli.options import declare_options
from voirdire.cli.reading import TableOptions
from voirdire.collect.questionnaire import write_page as write


@declare_options()
def ask(
    questions: Path,
    *,
    items: Path,
    out: Path,
    task: str | None = None,
    ties: bool = True,
    seed: int = 0,
    json: bool = False,
    reading: TableOptions,
) -> None:
    """Write a questionnaire for people: one HTML file, no server; it saves answers-NAME.csv, a table for --anchors.

    Parameters
    ----------
    questions : QUESTIONS
        Questions: first, second (as voirdire next --out writes), or item and an empty column score or label.
    items : FILE
        The texts: id (or item), text (and context or source).
    out : FILE.html
        The page, a new file.
    task : TEXT
        Wording of the question.
    ties
        Allow the answer that neither is better.
    seed
        Seed of the order of questions and of the sides.
    """

    page_path = write(questions, items, out, levels=reading.levels, ties=ties, task=task, seed=seed)
    message = f"Written to {page_path}: send it to people, who send back answers-NAME.csv for --anchors"
    console.print_result({"page": str(page_path)}, json, lambda: print(console.printable_text(message)))
