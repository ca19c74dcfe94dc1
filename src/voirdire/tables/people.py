"""Answers of several people as one table, with the names of the people; they may disagree.

A column ``person`` (or ``judge``) names who answered; without it the name of each file does.
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
from voirdire.tables.numbers import count_in_words
from voirdire.tables.problems import Problems
from voirdire.tables.read import columns_among, read_columns
from voirdire.tables.reading import Reading, read_as

if TYPE_CHECKING:
    import pandas as pd

PERSON = "person"


def split_people(
    table: Any, people: Sequence[str] | str = (), levels: Sequence[object] | None = None
) -> tuple[Any, list[Any], Sequence[object] | None]:
    """Split a table into the answers of judges and those of people; return both, and the possible levels.

    Parameters
    ----------
    table : path, dataframe, result of :func:`voirdire.read`, or a list of them
    people : sequence of str, optional
        Judges who are people, in addition to those named when the table was read.
    levels : sequence, optional
        Possible levels; by default those named when the table was read.

    Raises
    ------
    InputError
        A name is no judge of a table.

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
    all_names = [*names, *(name for source in tables if isinstance(source, Imported) for name in source.people)]
    if all_names and len(tables) > 1:
        tables = [source if isinstance(source, Imported) else read_as(source, Reading()) for source in tables]
        full_tables = [replace(source, people=()) for source in tables]
        if len({"score" in source.table for source in full_tables}) > 1:
            of_tables = _people_of_tables(full_tables, list(dict.fromkeys(all_names)))
            tables = [
                replace(source, people=table_people)
                for source, table_people in zip(full_tables, of_tables, strict=True)
            ]
            names = ()
    for index, source in enumerate(tables):
        if names:
            is_imported = isinstance(source, Imported)
            tables[index] = source = (
                replace(source, people=names) if is_imported else read_as(source, Reading(people=names))
            )
        if isinstance(source, Imported):
            levels = source.levels if levels is None else levels
            answers += [] if (people_answers := source.answers_of_people) is None else [people_answers]
    return tables if isinstance(table, list | tuple) else tables[0], answers, levels


def _people_of_tables(tables: Sequence[Imported], names: Sequence[str]) -> list[tuple[str, ...]]:
    """Find the people among the judges of each table of votes and scores; people give votes only, no scores.

    Raises
    ------
    InputError
        A name is no judge of a table, or a person gave scores.
    """
    judges = [{str(name) for name in source.table["judge"]} if "judge" in source.table else set() for source in tables]
    problems = [
        f"people: {name!r} is no judge of a table; judges are {', '.join(sorted(set().union(*judges)))}; people= "
        "(--people) names those of them who are people"
        for name in names
        if not any(name in source for source in judges)
    ]
    problems += [
        f"people: {name!r} gave scores, and votes and scores together take people's comparisons alone; leave these "
        "scores out, or fit the scores by themselves"
        for source, table_judges in zip(tables, judges, strict=True)
        for name in names
        if "score" in source.table and name in table_judges
    ]
    if problems:
        raise InputError(problems)
    return [tuple(name for name in names if name in table_judges) for table_judges in judges]


def join_people_answers(anchors: object, answers: Sequence[Any]) -> Any:
    """Join anchors and further answers of people into the input of :func:`as_anchors`; None for no answers.

    Examples
    --------
    >>> join_people_answers(None, []), join_people_answers("a.csv", []), join_people_answers("a.csv", ["b.csv"])
    (None, 'a.csv', ['a.csv', 'b.csv'])
    """
    if not answers:
        return anchors
    return [*(anchors if isinstance(anchors, list | tuple) else [] if anchors is None else [anchors]), *answers]


def check_no_judge(path: Path | None) -> None:
    """Refuse the name of a judge in place of a file of people's answers.

    Raises
    ------
    InputError
        The file does not exist, and the path does not look like that of a file.
    """
    if path is not None and not path.exists() and not path.suffix and path.name == str(path) != "-":
        raise InputError(f"file {str(path)!r} does not exist; of a judge who is a person: --people {quote(str(path))}")


def as_anchors(answers: object, name: str = "anchors") -> object:
    """Join answers of one or several people into one table of anchors.

    Comparisons, rankings and scores stay unchanged: where people disagree, each answer counts. Of several labels of
    one item, the label of more than half of the people is taken as known; without a majority the item has no label.

    Parameters
    ----------
    answers : path or dataframe, or a list of them
        A single table without a column ``person`` or ``judge`` is returned unchanged.
    name : str
        Name of the answers in messages.

    Raises
    ------
    InputError
        The tables are not of one kind, or a person answers a question twice.

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
    combined = pd.concat(frames, ignore_index=True)
    if answer in ("winner", "rank"):
        return combined
    units = _question_columns(combined, name)
    return combined if answer == "score" else _majority_labels(combined, units, name)


def _rename_judges(answers: object) -> object:
    """Rename the column judge of imported tables to person."""
    if isinstance(answers, list | tuple):
        return [_rename_judges(table) for table in answers]
    return answers.table.rename(columns={"judge": PERSON}) if isinstance(answers, Imported) else answers


def people_names(answers: object) -> tuple[str, ...]:
    """List the people who gave the answers in a table of :func:`as_anchors`; empty where they are not named.

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
    """Check that no person of the anchors is also a judge of the table.

    Raises
    ------
    InputError
        A person is also a judge.
    """
    if duplicates := [name for name in people if name in set(judges)]:
        raise InputError(
            f"anchors: {duplicates[0]!r} is a judge of the table, too, and answers would count twice; leave one of "
            "both out (people among the judges are named by people=, --people), or rename one of them"
        )


def _has_person_column(table: object, name: str) -> bool:
    """True if a column names who answered."""
    is_table = isinstance(table, str | os.PathLike | Imported) or hasattr(table, "columns")
    return is_table and bool(columns_among(table, [PERSON, "judge"], Problems(name)))


def _read_people(table: object, name: str) -> pd.DataFrame:
    import pandas as pd

    problems = Problems(name)
    frame = pd.DataFrame(read_columns(table, [], None, problems))
    problems.raise_any()
    judge_column = find_roles(frame.columns.tolist()).get("judge")
    if judge_column is not None and PERSON in frame:
        give_notice(f"{name}: column {judge_column!r} is left out, as 'person' says who answered.")
        frame = frame.drop(columns=judge_column)
    elif judge_column is not None:
        give_notice(f"{name}: column {judge_column!r} says who answered; it is read as 'person'.")
        frame = frame.rename(columns={judge_column: PERSON})
    if PERSON not in frame:
        file_stem = Path(os.fspath(table)).stem if isinstance(table, str | os.PathLike) else ""
        if not file_stem:
            raise InputError(f"{name}: of several tables each needs a column 'person', or a file's name")
        frame.insert(0, PERSON, file_stem)
    return frame


def _question_columns(answers: pd.DataFrame, name: str) -> list[str]:
    """Find the columns that identify a question; refuse a second answer of a person to one question."""
    units = [column for column in ("context", "system", "item", "criterion") if column in answers]
    repeated = answers.duplicated([PERSON, *units])
    if repeated.any():
        row = answers[repeated].iloc[0]
        question = ", ".join(str(row[column]) for column in units)
        raise InputError(f"{name}: {row[PERSON]!r} answers {question!r} twice; keep one answer")
    return units


def _majority_labels(answers: pd.DataFrame, units: list[str], name: str) -> pd.DataFrame:
    """Find the label of each unit that more than half of the people give."""
    unit = answers.groupby(units, sort=False, dropna=False).ngroup()
    counts = answers.assign(unit=unit).groupby(["unit", "label"])["unit"].size().reset_index(name="count")
    majorities = counts[2 * counts["count"] > np.bincount(unit)[counts["unit"]]]
    if undecided := int(unit.max()) + 1 - len(majorities):
        give_notice(f"People disagree about {count_in_words(undecided, 'items')}; labels of these stay unknown.")
    if majorities.empty:
        raise InputError(
            f"{name}: people agree about no item; ask one more person, or give them as judges of the labels instead"
        )
    agreed = answers.loc[~unit.duplicated(), units].iloc[majorities["unit"]].reset_index(drop=True)
    return agreed.assign(label=majorities["label"].to_numpy())
