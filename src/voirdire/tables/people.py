"""Answers of several people as one table: who said what is kept, and disagreement is not an error.

A column ``person`` (or ``judge``) says who answered; without one, the name of each file does.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError
from voirdire.notices import give_notice
from voirdire.settings import read_list
from voirdire.tables.columns import find_roles
from voirdire.tables.formats.imported import Imported
from voirdire.tables.problems import Problems
from voirdire.tables.read import columns_among, read_columns
from voirdire.tables.reading import Reading, read_as
from voirdire.tables.words import count_in_words

if TYPE_CHECKING:
    import pandas as pd

PERSON = "person"


def split_people(
    table: Any, people: Sequence[str] | str = (), levels: Sequence[object] | None = None
) -> tuple[Any, list[Any], Sequence[object] | None]:
    """A table without the answers of people among its judges, these answers, and the levels there may be.

    Parameters
    ----------
    table : path, dataframe, what :func:`voirdire.read` gave, or a list of them
    people : sequence of str, optional
        Judges who are people, beside those that were named when it was read.
    levels : sequence, optional
        By default those that were named when it was read.

    Raises
    ------
    InputError
        One of them is no judge of a table.

    Examples
    --------
    >>> import pandas as pd
    >>> whole = pd.DataFrame({"judge": ["gpt", "ann"], "item": "x", "label": ["yes", "no"]})
    >>> _, (answers,), _ = split_people(whole, people="ann")
    >>> answers.to_dict("records")
    [{'person': 'ann', 'item': 'x', 'label': 'no'}]
    """
    tables = list(table) if isinstance(table, list | tuple) else [table]
    names = tuple(map(str, read_list("people", people)))
    answers: list[Any] = []
    named = [*names, *(name for one in tables if isinstance(one, Imported) for name in one.people)]
    if named and len(tables) > 1:
        tables = [one if isinstance(one, Imported) else read_as(one, Reading()) for one in tables]
        whole = [replace(one, people=()) for one in tables]
        if len({"score" in one.table for one in whole}) > 1:
            of_tables = _people_of_tables(whole, list(dict.fromkeys(named)))
            tables = [replace(one, people=of) for one, of in zip(whole, of_tables, strict=True)]
            names = ()
    for at, one in enumerate(tables):
        if names:
            known = isinstance(one, Imported)
            tables[at] = one = replace(one, people=names) if known else read_as(one, Reading(people=names))
        if isinstance(one, Imported):
            levels = one.levels if levels is None else levels
            answers += [] if (found := one.answers_of_people) is None else [found]
    return tables if isinstance(table, list | tuple) else tables[0], answers, levels


def _people_of_tables(tables: Sequence[Imported], names: Sequence[str]) -> list[tuple[str, ...]]:
    """People among the judges of votes and of scores of the same items, who compare and give no scores.

    Raises
    ------
    InputError
    """
    judges = [{str(name) for name in one.table["judge"]} if "judge" in one.table else set() for one in tables]
    problems = [
        f"people: {name!r} is no judge of a table; judges are {', '.join(sorted(set().union(*judges)))}; people= "
        "(--people) names those of them who are people"
        for name in names
        if not any(name in one for one in judges)
    ]
    problems += [
        f"people: {name!r} gave scores, and votes and scores together take people's comparisons alone; leave these "
        "scores out, or fit the scores by themselves"
        for one, of in zip(tables, judges, strict=True)
        for name in names
        if "score" in one.table and name in of
    ]
    if problems:
        raise InputError(problems)
    return [tuple(name for name in names if name in of) for of in judges]


def join_people_answers(given: object, answers: Sequence[Any]) -> Any:
    """Join people's answers that were given and further ones, as :func:`as_anchors` takes them; None for nothing.

    Examples
    --------
    >>> join_people_answers(None, []), join_people_answers("a.csv", []), join_people_answers("a.csv", ["b.csv"])
    (None, 'a.csv', ['a.csv', 'b.csv'])
    """
    if not answers:
        return given
    return [*(given if isinstance(given, list | tuple) else [] if given is None else [given]), *answers]


def check_no_judge(path: Path | None) -> None:
    """Refuse the name of a judge where a file of people's answers should be.

    Raises
    ------
    InputError
        There is no such file, and its name is none of a file.
    """
    if path is not None and not path.exists() and not path.suffix and path.name == str(path) != "-":
        raise InputError(
            f"file {str(path)!r} does not exist; of a judge who is a person: --people {quote(str(path))}"
        )


def as_anchors(answers: object, name: str = "anchors") -> object:
    """Answers of one person or of several, as one table for anchors.

    Comparisons, rankings and scores stay as they are: where people disagree, each answer counts. Of several people's
    labels of one item the one that most of them give is known, and none where there is no such label.

    Parameters
    ----------
    answers : path or dataframe, or a list of them
        Without a column ``person`` or ``judge`` a single table is left alone.
    name : str
        What messages call them.

    Raises
    ------
    InputError
        The tables are not of one kind, or a person answers twice.

    Examples
    --------
    >>> import pandas as pd
    >>> one = pd.DataFrame({"person": "ann", "first": ["x"], "second": "y", "winner": "x"})
    >>> as_anchors([one, one.assign(person="bob", winner="y")])["winner"].tolist()
    ['x', 'y']
    """
    answers = _rename_judges(answers)
    several = isinstance(answers, list | tuple)
    tables: Sequence[Any] = answers if isinstance(answers, list | tuple) else [answers]
    if not several and not _has_person_column(answers, name):
        return answers
    import pandas as pd

    frames = [_read_people(table, name) for table in tables]
    kinds = {column for frame in frames for column in ("winner", "score", "label") if column in frame}
    kinds = kinds or {"rank" for frame in frames if "rank" in frame}
    if len(kinds) != 1 and not several:
        return answers
    if len(kinds) != 1:
        raise InputError(
            f"{name}: several tables must all have one of winner, score, label and rank; these have {sorted(kinds)}"
        )
    (answer,) = kinds
    whole = pd.concat(frames, ignore_index=True)
    if answer in ("winner", "rank"):
        return whole
    units = _question_columns(whole, name)
    return whole if answer == "score" else _majority_labels(whole, units, name)


def _rename_judges(answers: object) -> object:
    """Rename the column judge of what was read: who judges there are people here."""
    if isinstance(answers, list | tuple):
        return [_rename_judges(one) for one in answers]
    return answers.table.rename(columns={"judge": PERSON}) if isinstance(answers, Imported) else answers


def people_names(answers: object) -> tuple[str, ...]:
    """Who gave the answers that :func:`as_anchors` has made one table; nobody where that is not said.

    Examples
    --------
    >>> import pandas as pd
    >>> people_names(pd.DataFrame({"person": ["bob", "ann", "bob"], "item": "x", "score": 1}))
    ('ann', 'bob')
    """
    import pandas as pd

    if not isinstance(answers, pd.DataFrame) or PERSON not in answers:
        return ()
    return tuple(sorted({str(name) for name in answers[PERSON]}))


def check_people_not_judges(people: Sequence[str], judges: Sequence[str]) -> None:
    """Raise where somebody is a judge whose answers count as people's, too.

    Raises
    ------
    InputError
    """
    if both := [name for name in people if name in set(judges)]:
        raise InputError(
            f"anchors: {both[0]!r} is a judge of the table, too, and answers would count twice; leave one of both out "
            "(people among the judges are named by people=, --people), or rename one of them"
        )


def _has_person_column(table: object, name: str) -> bool:
    """True if a column says who answered."""
    is_table = isinstance(table, str | os.PathLike | Imported) or hasattr(table, "columns")
    return is_table and bool(columns_among(table, [PERSON, "judge"], Problems(name)))


def _read_people(table: object, name: str) -> pd.DataFrame:
    import pandas as pd

    problems = Problems(name)
    frame = pd.DataFrame(read_columns(table, [], None, problems))
    problems.raise_any()
    who = find_roles(frame.columns.tolist()).get("judge")
    if who is not None and PERSON in frame:
        give_notice(f"{name}: column {who!r} is left out, as 'person' says who answered.")
        frame = frame.drop(columns=who)
    elif who is not None:
        give_notice(f"{name}: column {who!r} says who answered; it is read as 'person'.")
        frame = frame.rename(columns={who: PERSON})
    if PERSON not in frame:
        named = Path(os.fspath(table)).stem if isinstance(table, str | os.PathLike) else ""
        if not named:
            raise InputError(f"{name}: of several tables each needs a column 'person', or a file's name")
        frame.insert(0, PERSON, named)
    return frame


def _question_columns(whole: pd.DataFrame, name: str) -> list[str]:
    """The columns that say what was answered; each person does that once."""
    units = [column for column in ("context", "system", "item", "criterion") if column in whole]
    twice = whole.duplicated([PERSON, *units])
    if twice.any():
        row = whole[twice].iloc[0]
        about = ", ".join(str(row[column]) for column in units)
        raise InputError(f"{name}: {row[PERSON]!r} answers {about!r} twice; keep one answer")
    return units


def _majority_labels(whole: pd.DataFrame, units: list[str], name: str) -> pd.DataFrame:
    """One label of each unit: what more than half of the people say."""
    unit = whole.groupby(units, sort=False, dropna=False).ngroup()
    counts = whole.assign(unit=unit).groupby(["unit", "label"])["unit"].size().reset_index(name="count")
    most = counts[2 * counts["count"] > np.bincount(unit)[counts["unit"]]]
    if open_ := int(unit.max()) + 1 - len(most):
        give_notice(
            f"People disagree about {count_in_words(open_, 'items')}, whose labels are not taken as known."
        )
    if most.empty:
        raise InputError(
            f"{name}: people agree about no item; ask one more person, or give them as judges of the labels instead"
        )
    known = whole.loc[~unit.duplicated(), units].iloc[most["unit"]].reset_index(drop=True)
    return known.assign(label=most["label"].to_numpy())
