"""Questions to the user on the page, and the answers."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.collect.ask.page import page_text
from voirdire.collect.ask.questions import read_questions
from voirdire.errors import InputError

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit

QUESTION_COUNT = 10
NO_VOTES_REASON = (
    "questions are comparisons, for tables of votes; people's answers to these items enter by the command line "
    "(voirdire fit --anchors FILE)"
)
PERSON_NAME = "me"
_QUESTION_COLUMNS = ("first", "second", "criterion", "context")
_OUTCOMES = ("first", "second", "tie")


def informative_questions(fit: Fit) -> tuple[list[dict[str, str]], str]:
    """Return the most informative comparisons for a person, or the reason why there are none.

    Parameters
    ----------
    fit : Fit

    Returns
    -------
    list of dict, str
        Questions with ``first``, ``second`` and, if the fit has them, ``criterion`` and ``context``; the reason.
    """
    from voirdire.kinds.registry import votes_of

    try:
        votes_of(fit.problem, "questions")
    except InputError:
        return [], NO_VOTES_REASON
    from voirdire.fit.next.suggest import next_comparisons

    try:
        comparisons = next_comparisons(fit, QUESTION_COUNT)
    except InputError as error:
        return [], str(error)
    names = [name for name in _QUESTION_COLUMNS if name in comparisons and comparisons[name].notna().all()]
    return [{name: str(row[name]) for name in names} for row in comparisons.to_dict("records")], ""


def asking_page(questions: Sequence[dict[str, str]], texts: Path | None, send: str, back: str) -> str:
    """Return the questionnaire's HTML; without texts it shows the items' names.

    Parameters
    ----------
    questions : sequence of dict
    texts : path, optional
        A table of items: id, text (and context or source).
    send, back : str
        Address that receives the answers, and address to return to.

    Raises
    ------
    InputError
        An item has no text.
    """
    import pandas as pd

    form = pd.DataFrame(questions)
    names = list(dict.fromkeys([*form["first"], *form["second"]]))
    items: Any = pd.DataFrame({"id": names, "text": names}) if texts is None else texts
    task = "Which is better?" if texts is None else None
    return page_text(read_questions(form, items), task=task, send=send, back=back)


def read_answers(text: str, questions: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Read the answers that the page sends; only answers to ``questions`` are valid.

    Raises
    ------
    InputError
        There are no answers, or a row is no answer to one of the questions.

    Examples
    --------
    >>> read_answers("person,first,second,winner\\nme,b,a,first\\n", [{"first": "a", "second": "b"}])
    [{'first': 'b', 'second': 'a', 'winner': 'first'}]
    """
    asked_keys = {_question_key(question) for question in questions}
    rows = [
        {name: row[name] for name in ("first", "second", "winner", "criterion", "context") if row.get(name)}
        for row in csv.DictReader(io.StringIO(text, newline=""))
    ]
    if not rows:
        raise InputError("no question has an answer yet")
    wrong_rows = [
        number
        for number, row in enumerate(rows, 1)
        if _question_key(row) not in asked_keys or row.get("winner") not in _OUTCOMES
    ]
    if wrong_rows:
        raise InputError(f"answer {wrong_rows[0]} is none to a question that was asked; ask anew")
    return rows


def _question_key(row: dict[str, str]) -> tuple[Any, ...]:
    return frozenset((row.get("first"), row.get("second"))), row.get("criterion"), row.get("context")


def write_answers(answers: Sequence[dict[str, str]], path: Path) -> None:
    """Write answers as a table for ``--anchors``."""
    columns = list(dict.fromkeys(name for row in answers for name in row))
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, ["person", *columns], lineterminator="\n")
        writer.writeheader()
        writer.writerows({"person": PERSON_NAME, **row} for row in answers)
