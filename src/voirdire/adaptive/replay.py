"""Replay of recorded votes: the questions that a design would have asked, and its progress."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from voirdire.adaptive.rounds import Course, Rounds, check_request, choose_rounds
from voirdire.errors import InputError
from voirdire.typing import Ints

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ("judge", "first", "second", "winner")
#: Function that maps rows to their answers.
Oracle = Callable[[Ints], "list[str | None]"]


def drive_rounds(work: Rounds, oracle: Oracle) -> Course:
    """Run the loop with an oracle that answers at once.

    Parameters
    ----------
    work : generator
        Result of :func:`voirdire.adaptive.rounds.choose_rounds`.
    oracle : callable
        Maps rows to their answers: "first", "second", "tie" or None.
    """
    try:
        rows = next(work)
        while True:
            rows = work.send(oracle(rows))
    except StopIteration as end:
        course: Course = end.value
        return course


def replay_votes(
    votes: pd.DataFrame,
    *,
    until: str,
    design: str = "adaptive",
    model: str | Path | None = None,
    count: int | None = None,
    seed: int = 0,
) -> tuple[Course, pd.DataFrame]:
    """Ask a table of votes as if nobody had answered yet.

    Parameters
    ----------
    votes : dataframe
        Columns judge, first, second, winner ("first", "second", "tie" or an item); optionally criterion, context, cost.
    until, design, model, count, seed
        As in :func:`voirdire.adaptive.verb.collect_until`.

    Returns
    -------
    Course, dataframe
        Record of the run, and the votes that were asked for, in the order of asking.

    Raises
    ------
    InputError
        If a column is missing, there are no votes, or the request is not valid.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 60, "second": "y", "winner": "first"})
    >>> course, asked = replay_votes(table, until="p_best >= 0.95", model="bradley-terry")
    >>> course.known[0].best, len(asked) < 60
    ('x', True)
    """
    request = check_request(until, design, model, count, seed)
    if not hasattr(votes, "columns"):
        raise InputError("votes: it is no dataframe; pandas.read_csv reads a file as one")
    if missing := [name for name in _COLUMNS if name not in votes]:
        raise InputError(
            f"votes: column {', '.join(map(repr, missing))} is missing; there are {', '.join(map(str, votes))}"
        )
    if votes.empty:
        raise InputError("votes: there are no votes to ask for")
    votes = votes.reset_index(drop=True)
    course, answers = Course(), votes["winner"].to_numpy(dtype=object)
    asked_rows: list[Ints] = []

    def reveal_answers(rows: Ints) -> list[str | None]:
        asked_rows.append(rows)
        return [None if answer != answer else answer for answer in answers[rows]]

    drive_rounds(choose_rounds(votes.drop(columns="winner"), request, course), reveal_answers)
    return course, votes.iloc[np.concatenate(asked_rows)]
