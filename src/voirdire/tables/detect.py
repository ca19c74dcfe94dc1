"""Tell votes, scores and labels apart by their columns, and read them."""

from __future__ import annotations

from collections.abc import Sequence

from voirdire.tables.labels import Labels, read_labels
from voirdire.tables.problems import Problems
from voirdire.tables.read import columns_among
from voirdire.tables.scores import Scores, read_scores
from voirdire.tables.votes import Votes, read_votes

_KINDS = {"winner": "votes", "score": "scores", "label": "labels"}


def read_table(
    table: object, *, levels: Sequence[object] | None = None, votes: bool = False, rows: bool = True
) -> Votes | Scores | Labels:
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

    Returns
    -------
    Votes, Scores or Labels

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
    if isinstance(table, Votes | Scores):
        return table
    if isinstance(table, Labels):
        return read_labels(table, levels=levels)
    problems = Problems("votes" if votes else "table")
    found = [_KINDS[column] for column in columns_among(table, list(_KINDS), problems)]
    problems.raise_any()
    if not found and votes:
        return read_votes(table, rows=rows)
    if not found:
        problems.stop(
            "there is no column 'winner' (votes), 'score' (scores) or 'label' (labels); name one so"
        )
    if len(found) > 1:
        problems.stop(f"the columns are those of {' and '.join(found)}; keep one of winner, score and label")
    if found[0] == "votes":
        return read_votes(table, rows=rows)
    return read_scores(table) if found[0] == "scores" else read_labels(table, levels=levels)
