"""Choices of the user on the page, and questions to the user: reading options of the table, settings of the fit."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from voirdire.collect.questionnaire import page_text, read_questions
from voirdire.errors import InputError, raise_problems
from voirdire.infer.method import DEFAULT_SECONDS
from voirdire.settings import PROB, read_list
from voirdire.tables.columns import ALIASES, ANSWER_COLUMNS
from voirdire.tables.numbers import read_number
from voirdire.tables.reading import Reading

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


#: Allowed values by field; the first is the default.
FIELD_OPTIONS: dict[str, tuple[str, ...]] = {
    "about": ("", "target", "panel"),
    "judges": ("", "models", "people"),
    "order": ("", "shown", "unknown"),
    "table": ("", *ANSWER_COLUMNS),
    "wide": ("", "judge", "criterion", "item", "counts"),
}
#: Roles that a column of the file may have.
ROLES = tuple(ALIASES)
_MAX_SECONDS = 600.0


@dataclass(frozen=True)
class Choices:
    """Choices for a fit.

    Attributes
    ----------
    reading : Reading
    about, judges, order : str
        See :func:`voirdire.fit`; empty for the default.
    prob : float
        Probability of the intervals.
    seconds : float
        Approximate time limit of the chains.
    """

    reading: Reading = field(default_factory=Reading)
    about: str = ""
    judges: str = ""
    order: str = ""
    prob: float = PROB
    seconds: float = DEFAULT_SECONDS

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of :func:`voirdire.fit` that are not its defaults."""
        defaults = {"about": "", "judges": "", "order": "", "prob": PROB, "seconds": DEFAULT_SECONDS}
        return {name: value for name in defaults if (value := getattr(self, name)) != defaults[name]}

    def command(self, read_by: str, anchors: bool) -> str:
        """Return the equivalent command lines.

        Parameters
        ----------
        read_by : str
            Start of the command, with the reading options: ``voirdire fit votes.csv --wide judge``.
        anchors : bool
            True if there are answers of people.

        Examples
        --------
        >>> print(Choices(prob=0.8).command("voirdire fit votes.csv", anchors=True))
        voirdire fit votes.csv --prob 0.8 --anchors answers.csv --out run
        voirdire report run -o report.html
        """
        options = [f"--{name} {quote(_option_text(value))}" for name, value in self.settings.items()]
        options += ["--anchors answers.csv"] * anchors
        return "\n".join([" ".join([read_by, *options, "--out run"]), "voirdire report run -o report.html"])


def read_choices(fields: Mapping[str, str], columns: Sequence[str]) -> Choices:
    """Read the fields of the form.

    Parameters
    ----------
    fields : mapping of str to str
        Fields: ``about``, ``judges``, ``order``, ``prob``, ``seconds``, ``table``, ``wide``, ``sheet``, ``people``
        (names with commas between them), ``where`` (COLUMN=VALUE), ``winners`` (WORD=first, ...), ``judge`` (name of
        the judge, if the file names none), and ``map-ROLE`` for each of `ROLES`. Absent and empty fields have their
        defaults.
    columns : sequence of str
        Columns of the file.

    Raises
    ------
    InputError
        Lists every invalid field.

    Examples
    --------
    >>> read_choices({"prob": "0.8", "map-judge": "who"}, ["who", "item", "grade"]).reading.map
    {'judge': 'who'}
    """
    problems = [
        f"{name} {fields[name]!r} is none of {', '.join(filter(None, allowed))}"
        for name, allowed in FIELD_OPTIONS.items()
        if fields.get(name, "") not in allowed
    ]
    column_map = {role: fields[f"map-{role}"] for role in ROLES if fields.get(f"map-{role}")}
    problems += [f"{name!r} is no column of the file" for name in column_map.values() if name not in columns]
    column, equals, value = fields.get("where", "").partition("=")
    if fields.get("where") and not (column and equals and value):
        problems.append(f"only rows {fields['where']!r} is not COLUMN=VALUE")
    winners = [pair.partition("=") for pair in read_list("winners", fields.get("winners", ""))]
    problems += [f"winners {''.join(pair)!r} is not WORD=first,WORD=second" for pair in winners if not all(pair)]
    prob = _number_between(fields, "prob", PROB, 0.0, 1.0, problems)
    seconds = _number_between(fields, "seconds", DEFAULT_SECONDS, 0.0, _MAX_SECONDS, problems)
    raise_problems(problems)
    judge = fields.get("judge", "").strip()
    reading = Reading(
        map=column_map or None,
        winners={word: outcome for word, _, outcome in winners} or None,
        wide=fields.get("wide") or None,
        set={"judge": judge} if judge else None,
        sheet=fields.get("sheet") or None,
        table=fields.get("table") or None,
        where={column: value} if equals else None,
        people=read_list("people", fields.get("people", "")),
    )
    about, judges, order = (fields.get(name, "") for name in ("about", "judges", "order"))
    return Choices(reading, about, judges, order, prob, seconds)


def _number_between(
    fields: Mapping[str, str], name: str, default: float, low: float, high: float, problems: list[str]
) -> float:
    text = fields.get(name, "").strip()
    if not text:
        return default
    try:
        value = float(read_number(text))
    except ValueError:
        value = math.nan
    if not low < value <= high or value == 1.0 == high:
        problems.append(f"{name} {text!r} is no number between {low:g} and {high:g}")
    return value


def _option_text(value: object) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if not isinstance(value, float) or float(text) == value else repr(value)
