"""Tell votes, scores and labels apart by their columns, and read them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from voirdire.errors import InputError
from voirdire.notices import give_notice
from voirdire.tables.answer_table import AnswerTable
from voirdire.tables.columns import ANSWERS, KNOWN, RANKINGS_AS_VOTES, find_roles, say_which, table_kind
from voirdire.tables.counts import Votes
from voirdire.tables.formats.frames import opened_frame
from voirdire.tables.formats.imported import Imported
from voirdire.tables.formats.long_table import is_votes_without_judge
from voirdire.tables.formats.source import open_source
from voirdire.tables.formats.tables import unknown_table_message
from voirdire.tables.labels import Labels, read_labels
from voirdire.tables.problems import Problems
from voirdire.tables.rankings import Rankings, read_rankings
from voirdire.tables.read import columns_among, own_column_names
from voirdire.tables.scores import Scores, read_scores
from voirdire.tables.votes import read_votes

COLUMNS = {"winner": Votes.data, "score": Scores.data, "label": Labels.data}


def read_table(
    table: object,
    *,
    levels: Sequence[object] | None = None,
    votes: bool = False,
    rows: bool = True,
    keep: Sequence[str] = (),
    rankings: bool = False,
    name: str | None = None,
) -> Any:
    """Read a table as votes, scores or labels, whichever it is.

    Parameters
    ----------
    table : path, dataframe, Votes, Scores or Labels
        A table with a column ``winner`` (votes), ``score`` (scores) or ``label`` (labels); what has been read
        is returned as it is.
    levels : sequence, optional
        The labels there may be, for labels.
    votes : bool
        Whether a table that shows no kind is taken for one of votes, whose reader says what is missing.
    rows : bool
        Whether single votes are wanted, or their counts will do; see :func:`voirdire.tables.votes.read_votes`.

    keep : sequence of str
        More columns to keep as they are.
    rankings : bool
        Whether rankings are taken, too.
    name : str, optional
        Name of the table in errors; by default that of its kind.

    Returns
    -------
    Votes, Scores, Labels or Rankings

    Raises
    ------
    InputError
        If the table has none of the three columns, or more than one, and for all problems of the table.

    Examples
    --------
    >>> import pandas as pd
    >>> type(read_table(pd.DataFrame({"judge": ["a"], "item": "x", "label": "yes"}))).__name__
    'Labels'
    """
    if levels is None and isinstance(table, Imported):
        levels = table.levels
    called: dict[str, Any] = {"keep": keep} | ({} if name is None else {"name": name})
    readers: dict[str, Callable[..., Votes | Scores | Labels | Rankings]] = {
        Votes.data: partial(read_votes, rows=rows, **called),
        Scores.data: partial(read_scores, **called),
        Labels.data: partial(
            read_labels, levels=levels, sets=isinstance(table, Imported) and table.sets, **called
        ),
        Rankings.data: partial(read_rankings, **called),
    }
    if isinstance(table, AnswerTable) and (rankings or not isinstance(table, Rankings)):
        return readers[table.data](table)
    problems = Problems(name or ("votes" if votes else "table"))
    found = [COLUMNS[column] for column in columns_among(table, list(COLUMNS), problems)]
    problems.raise_any()
    if len(found) > 1:
        only = _only_kind(table, problems)
        if only is not None and not isinstance(table, Imported):
            others = [column for column, kind in COLUMNS.items() if kind in found and kind != only]
            give_notice(
                f"The columns are those of {only}: {' and '.join(others)} says nothing and stays as it is."
            )
        found = found if only is None else [only]
    if not found and columns_among(table, ["rank"], problems):
        if not rankings:
            problems.stop(RANKINGS_AS_VOTES)
        return readers[Rankings.data](table)
    if len(found) == 1 and _has_unrecognised_columns(table, found[0], problems):
        raise InputError(_describe_unknown_columns(table))
    shown = [] if found else columns_among(table, ["item", "judge", "first", "second", "winner"], problems)
    if not found and (not votes or set(shown) <= {"item", "judge"}):
        raise InputError(_describe_unknown_columns(table))
    if len(found) > 1:
        problems.stop(
            f"the columns are those of {' and '.join(found)}; {say_which(found)}, and of a tool's file "
            "`voirdire import` writes each into a table of its own"
        )
    return readers[found[0] if found else Votes.data](table)


def _has_unrecognised_columns(table: object, kind: str, problems: Problems) -> bool:
    """True where the answers stand under another name, and other columns that they need under none that is known."""
    names = own_column_names(table, problems)
    if not names or ANSWERS[kind] in names or is_votes_without_judge(names, find_roles(names)):
        return False
    return table_kind(columns_among(table, list(KNOWN), problems)) is None


def _only_kind(table: object, problems: Problems) -> str | None:
    """The kind of a table of several answers: the one that was asked for, else the one that has all its columns."""
    if isinstance(table, Imported):
        return table.kinds[0] if len(table.kinds) == 1 else None
    return table_kind(columns_among(table, list(KNOWN), problems))


def _describe_unknown_columns(table: object) -> str:
    """Sentence about a table of unknown columns: those that it has, what it lacks, and what to type."""
    if isinstance(table, str | os.PathLike) and not os.path.isfile(table):
        return "there is no column winner (votes), score (scores) or label (labels)"
    with open_source(table) if isinstance(table, str | os.PathLike) else opened_frame(table) as source:
        return unknown_table_message(source)


def read_new(
    table: object, *old: Votes | Scores | Labels | Rankings, levels: Sequence[object] | None = None
) -> Any:
    """Read new answers of the kind of one of the tables that are there.

    Raises
    ------
    InputError
        The table is wrong, or of another kind.

    Examples
    --------
    >>> import pandas as pd
    >>> scores = read_scores(pd.DataFrame({"judge": ["a"], "item": "x", "score": 1}))
    >>> read_new(pd.DataFrame({"judge": ["a"], "item": "x", "label": "1"}), scores)
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: the new table has labels, but the fit is one of scores
    """
    new = read_table(table, levels=levels, votes=True, rows=False, rankings=True)
    have = [one.data for one in old]
    if new.data not in have:
        raise InputError(f"the new table has {new.data}, but the fit is one of {' and '.join(have)}")
    return new
