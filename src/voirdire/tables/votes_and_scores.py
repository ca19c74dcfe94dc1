"""Votes and scores of the same items, in one coding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from voirdire.errors import InputError
from voirdire.tables.counts import Votes
from voirdire.tables.detect import read_table
from voirdire.tables.encode import level_positions
from voirdire.tables.formats.format import JOIN_FILES
from voirdire.tables.ratings import known_names
from voirdire.tables.scores import Scores

_KINDS = (Votes.data, Scores.data)
_ONE_OF_EACH = "a list of tables is one of votes and one of scores of the same items"


@dataclass(frozen=True, eq=False)
class VotesAndScores:
    """Votes and scores in one coding of judges, criteria and items (all names of both, sorted)."""

    data: ClassVar[str] = "joint"
    called: ClassVar[str] = "the tables have"

    votes: Votes
    scores: Scores

    @property
    def parts(self) -> tuple[Votes, Scores]:
        """Both tables."""
        return self.votes, self.scores

    @property
    def question(self) -> tuple[str, ...]:
        """As for the votes, which are predicted from each other and from all scores."""
        return self.votes.question

    def unit_codes(self) -> dict[str, Any]:
        """As for the votes."""
        return self.votes.unit_codes()

    @property
    def judges(self) -> tuple[str, ...]:
        """All judges."""
        return self.votes.judges

    @property
    def criteria(self) -> tuple[str, ...]:
        """All criteria."""
        return self.votes.criteria

    @property
    def items(self) -> tuple[str, ...]:
        """All items."""
        return self.votes.items

    @property
    def contexts(self) -> tuple[str, ...]:
        """All contexts."""
        return max(self.votes.contexts, self.scores.contexts, key=len)

    @property
    def voted_and_scored(self) -> npt.NDArray[np.bool_]:
        """Mask of items that have votes and scores under a criterion, shape (criteria, items)."""
        voted, scored = (np.zeros((len(self.criteria), len(self.items)), dtype=bool) for _ in range(2))
        voted[self.votes.criterion, self.votes.first] = True
        voted[self.votes.criterion, self.votes.second] = True
        scored[self.scores.criterion, self.scores.item] = True
        return np.asarray(voted & scored)


def read_votes_and_scores(tables: Sequence[object], *, rows: bool = False, keep: Sequence[str] = ()) -> VotesAndScores:
    """Read a list of two tables, one of votes and one of scores, in either order; ``keep`` names columns to keep.

    Raises
    ------
    InputError
        The number of tables is not two, both are of one kind, one has labels, only one has criteria, or no item is in
        both.

    Examples
    --------
    >>> import pandas as pd
    >>> votes = pd.DataFrame({"judge": "a", "first": ["x"], "second": "y", "winner": "x"})
    >>> scores = pd.DataFrame({"judge": "b", "item": ["x", "z"], "score": [1, 2]})
    >>> read_votes_and_scores([scores, votes]).items
    ('x', 'y', 'z')
    >>> read_votes_and_scores([votes, votes])
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: both tables are votes; a list of tables is one of votes and one of scores ...
    """
    if len(tables) != 2:
        count = "1 table was" if len(tables) == 1 else f"{len(tables)} tables were"
        remedy = "; pass a single table by itself" if len(tables) == 1 else f"; {JOIN_FILES}"
        raise InputError(f"{count} given, but {_ONE_OF_EACH}{remedy}")
    read = [read_table(table, votes=True, rows=rows, keep=keep) for table in tables]
    first_kind, second_kind = (table.data for table in read)
    wrong_numbers = [number for number, table in enumerate(read, start=1) if table.data not in _KINDS]
    if first_kind == second_kind:
        raise InputError(f"both tables are {first_kind}; {_ONE_OF_EACH}; {JOIN_FILES}")
    if wrong_numbers:
        raise InputError(
            f"table {wrong_numbers[0]} has {read[wrong_numbers[0] - 1].data}, but {_ONE_OF_EACH}; fit "
            f"{read[wrong_numbers[0] - 1].data} alone"
        )
    by_kind: dict[str, Any] = {table.data: table for table in read}
    votes, scores = (by_kind[name] for name in _KINDS)
    if votes.has_criteria != scores.has_criteria:
        with_criteria, without_criteria = ("votes", "scores") if votes.has_criteria else ("scores", "votes")
        raise InputError(
            f"the {with_criteria} have a column 'criterion' and the {without_criteria} have none; give both, or leave "
            "it out of both"
        )
    joined = with_common_names(votes, scores)
    if not joined.voted_and_scored.any():
        criterion_note = " under the same criterion" if votes.has_criteria else ""
        raise InputError(
            f"no item has both votes and scores{criterion_note}, so nothing links the two tables: votes are on "
            f"{known_names(votes.items, 3)}, scores on {known_names(scores.items, 3)}; name items alike in both, or "
            "fit each table alone"
        )
    return joined


def with_common_names(votes: Votes, scores: Scores, more_judges: Sequence[str] = ()) -> VotesAndScores:
    """Recode votes and scores by the names of both (and further judges).

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> from voirdire.tables.votes import read_votes
    >>> votes = read_votes(pd.DataFrame({"judge": ["b"], "first": "x", "second": "z", "winner": "x"}))
    >>> scores = read_scores(pd.DataFrame({"judge": ["a"], "item": "y", "score": 1}))
    >>> found = with_common_names(votes, scores)
    >>> found.votes.judge.tolist(), found.votes.second.tolist(), found.scores.items
    ([1], [2], ('x', 'y', 'z'))
    """
    judges = tuple(sorted({*votes.judges, *scores.judges, *more_judges}))
    criteria = tuple(sorted({*votes.criteria, *scores.criteria}))
    items = tuple(sorted({*votes.items, *scores.items}))
    names: dict[str, Any] = {"judges": judges, "criteria": criteria, "items": items}
    contexts = tuple(sorted({*votes.contexts, *scores.contexts}))
    changes: dict[str, dict[str, Any]] = {Votes.data: {}, Scores.data: {}}
    context_names = {"contexts": contexts}
    for table, column in ((votes, "row_context"), (scores, "context")):
        code = getattr(table, column)
        if code is not None:
            changes[table.data] = context_names | {column: level_positions(table.contexts, contexts)[code]}
    return VotesAndScores(
        votes.with_codes(**names, **changes[Votes.data], **votes.codes_among(judges, criteria, items)),
        replace(
            scores,
            **names,
            **changes[Scores.data],
            judge=level_positions(scores.judges, judges)[scores.judge],
            criterion=level_positions(scores.criteria, criteria)[scores.criterion],
            item=level_positions(scores.items, items)[scores.item],
        ),
    )
