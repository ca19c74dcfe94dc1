"""Detection of the kind of a table (votes, scores, labels, rankings) by its columns, and its reading."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from voirdire.errors import InputError
from voirdire.notices import give_notice
from voirdire.tables.answer_table import AnswerTable
from voirdire.tables.columns import ANSWER_COLUMNS, KNOWN_COLUMNS, RANKINGS_AS_VOTES, table_kind, table_option_remedy
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

KIND_BY_COLUMN = {"winner": Votes.data, "score": Scores.data, "label": Labels.data}


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
    """Read a table as votes, scores or labels, according to its columns.

    Parameters
    ----------
    table : path, dataframe, Votes, Scores or Labels
        A table with a column ``winner`` (votes), ``score`` (scores) or ``label`` (labels); a table that has been read
        already is returned unchanged.
    levels : sequence, optional
        All possible labels, for labels.
    votes : bool
        Whether a table of no recognised kind is read as votes, so that the error names the missing columns.
    rows : bool
        Whether single votes are needed, not only counts; see :func:`voirdire.tables.votes.read_votes`.
    keep : sequence of str
        Further columns to keep unchanged.
    rankings : bool
        Whether rankings are accepted, too.
    name : str, optional
        Name of the table in errors; by default the name of its kind.

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
    options: dict[str, Any] = {"keep": keep} | ({} if name is None else {"name": name})
    readers: dict[str, Callable[..., Votes | Scores | Labels | Rankings]] = {
        Votes.data: partial(read_votes, rows=rows, **options),
        Scores.data: partial(read_scores, **options),
        Labels.data: partial(read_labels, levels=levels, sets=isinstance(table, Imported) and table.sets, **options),
        Rankings.data: partial(read_rankings, **options),
    }
    if isinstance(table, AnswerTable) and (rankings or not isinstance(table, Rankings)):
        return readers[table.data](table)
    problems = Problems(name or ("votes" if votes else "table"))
    kinds = [KIND_BY_COLUMN[column] for column in columns_among(table, list(KIND_BY_COLUMN), problems)]
    problems.raise_any()
    if len(kinds) > 1:
        single_kind = _only_kind(table, problems)
        if single_kind is not None and not isinstance(table, Imported):
            unused = [column for column, kind in KIND_BY_COLUMN.items() if kind in kinds and kind != single_kind]
            give_notice(f"The columns are those of {single_kind}: {' and '.join(unused)} is not used.")
        kinds = kinds if single_kind is None else [single_kind]
    if not kinds and columns_among(table, ["rank"], problems):
        if not rankings:
            problems.stop(RANKINGS_AS_VOTES)
        return readers[Rankings.data](table)
    if len(kinds) == 1 and _has_unrecognised_columns(table, kinds[0], problems):
        raise InputError(_describe_unknown_columns(table))
    present = [] if kinds else columns_among(table, ["item", "judge", "first", "second", "winner"], problems)
    if not kinds and (not votes or set(present) <= {"item", "judge"}):
        raise InputError(_describe_unknown_columns(table))
    if len(kinds) > 1:
        Problems(name or "table").stop(f"the columns are those of {' and '.join(kinds)}; {table_option_remedy(kinds)}")
    return readers[kinds[0] if kinds else Votes.data](table)


def _has_unrecognised_columns(table: object, kind: str, problems: Problems) -> bool:
    """True where the answers have an alias as their column, and other required columns have no known name."""
    names = own_column_names(table, problems)
    if not names or ANSWER_COLUMNS[kind] in names or is_votes_without_judge(names):
        return False
    return table_kind(columns_among(table, list(KNOWN_COLUMNS), problems)) is None


def _only_kind(table: object, problems: Problems) -> str | None:
    """Choose the kind of a table with several columns of answers: the requested one, else the only complete one."""
    if isinstance(table, Imported):
        return table.kinds[0] if len(table.kinds) == 1 else None
    return table_kind(columns_among(table, list(KNOWN_COLUMNS), problems))


def _describe_unknown_columns(table: object) -> str:
    """Describe a table of unknown columns in a sentence: its columns, those that are missing, and what to type."""
    if isinstance(table, str | os.PathLike) and not os.path.isfile(table):
        return "there is no column winner (votes), score (scores) or label (labels)"
    with open_source(table) if isinstance(table, str | os.PathLike) else opened_frame(table) as source:
        return unknown_table_message(source)


def read_new(table: object, *old: Votes | Scores | Labels | Rankings, levels: Sequence[object] | None = None) -> Any:
    """Read new answers, which must be of the kind of one of the old tables.

    Raises
    ------
    InputError
        The table has problems, or is of another kind.

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
    kinds = [answers.data for answers in old]
    if new.data not in kinds:
        raise InputError(f"the new table has {new.data}, but the fit is one of {' and '.join(kinds)}")
    return new
