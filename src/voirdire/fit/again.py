"""The same model posed over other answers of its kind: with some added, or counting for less."""

from __future__ import annotations

from typing import Any

from voirdire.errors import InputError
from voirdire.kinds import kind as kinds
from voirdire.kinds.joint.problem import JointProblem, pose_joint
from voirdire.kinds.joint.tables import VotesAndScores, in_one_coding
from voirdire.kinds.labels.problem import LabelsProblem, pose_labels
from voirdire.kinds.scores.problem import pose_scores
from voirdire.kinds.votes.problem import VotesProblem, pose
from voirdire.model.problem import Problem
from voirdire.tables.detect import read_table
from voirdire.tables.joined import joined
from voirdire.tables.labels import Labels
from voirdire.tables.rated import known_names
from voirdire.tables.scores import Scores
from voirdire.tables.votes import Votes
from voirdire.typing import Floats


def table_of(problem: Problem) -> kinds.Table:
    """The table that a problem was posed over."""
    if isinstance(problem, JointProblem):
        return problem.tables
    table: kinds.Table = problem.votes if isinstance(problem, VotesProblem) else problem.table  # type: ignore[attr-defined]
    return table


def has_anchors(problem: Problem) -> bool:
    """Whether people's answers are part of a problem."""
    if isinstance(problem, LabelsProblem):
        return bool((problem.known >= 0).any())
    votes, scores = kinds.parts(problem)
    return any(part is not None and part.anchors is not None for part in (votes, scores))


def reposed(
    problem: Problem, *, table: Any = None, criteria: Any = None, discount: Floats | None = None
) -> Problem:
    """The model of a problem over its own or another table.

    Parameters
    ----------
    table : Votes, Scores, Labels or VotesAndScores, optional
        Of the problem's kind, without anchors; scores are on the problem's scale.
    criteria : Votes or tuple, optional
        Votes on criteria, or their weights; by default the problem's.
    discount : array, shape (judges,), optional
        What one answer of each judge counts for.

    Raises
    ------
    InputError
        What posing the table raises; criteria of the table that the problem's weights do not name.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import voirdire
    >>> scores = pd.DataFrame({"judge": ["a", "b"], "item": ["x", "x"], "score": [1, 2]})
    >>> problem = voirdire.fit(scores, method="map").problem
    >>> reposed(problem, discount=np.array([1.0, 0.5])).data["scores"]["weight"].tolist()
    [1.0, 0.5]
    """
    posed: Any = table_of(problem) if table is None else table
    if isinstance(problem, LabelsProblem):
        classes = problem.labels[: problem.classes]
        every = set(classes) == set(problem.table.labels)
        known = problem.known if table is None else None
        return pose_labels(problem.model, posed, classes=None if every else classes, known=known)
    votes, scores = kinds.parts(problem)
    if criteria is None:
        criteria = problem.density.given_weights
        unnamed = sorted(set(posed.criteria) - set(problem.criteria)) if criteria is not None else []
        if unnamed:
            raise InputError(
                f"criteria: no weight for {known_names(unnamed)}; pass the weights of all criteria"
            )
    if criteria is None:
        criteria = (votes or scores).criteria_votes  # type: ignore[union-attr]
    people = None if votes is None else votes.anchors
    if scores is None:
        return pose(problem.model, posed, criteria, anchors=people, discount=discount)
    how: dict[str, Any] = {"levels": scores.scale.levels, "criteria": criteria, "discount": discount}
    if votes is None:
        return pose_scores(problem.model, posed, anchors=scores.anchors if table is None else None, **how)
    return pose_joint(problem.model, posed, anchors=people, **how)


def with_added(problem: Problem, new: object) -> kinds.Table:
    """The table of a problem with new answers of its kind; of votes and scores, of either kind or a list of both.

    Raises
    ------
    InputError
        The new table is wrong, or of another kind.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> scores = pd.DataFrame({"judge": ["a", "b"], "item": ["x", "x"], "score": [1, 2]})
    >>> problem = voirdire.fit(scores, method="map").problem
    >>> with_added(problem, scores.assign(item="y")).items
    ('x', 'y')
    """
    old = table_of(problem)
    if isinstance(old, VotesAndScores):
        votes, scores = old.votes, old.scores
        for one in new if isinstance(new, list | tuple) else [new]:
            table = read_table(one, votes=True, rows=False)
            if isinstance(table, Votes):
                votes = joined(votes, table)
            elif isinstance(table, Scores):
                scores = joined(scores, table)
            else:
                _refuse(table, problem)
        return in_one_coding(votes, scores)
    levels = old.labels if isinstance(old, Labels) and old.declared else None
    more: Any = read_table(new, levels=levels, votes=True, rows=False)
    if kinds.kind_of(more) != problem.model.data:
        _refuse(more, problem)
    both: kinds.Table = joined(old, more)
    return both


def _refuse(table: kinds.Table, problem: Problem) -> None:
    have = kinds.NAMES.get(problem.model.data, problem.model.data)
    raise InputError(f"the new table has {kinds.kind_of(table)}, but the fit is one of {have}")
