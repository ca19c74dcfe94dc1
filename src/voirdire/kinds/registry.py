"""The kinds of data that there are, by the names that model files and tables have for them.

The class of fits of each kind of data.
"""

from __future__ import annotations

from typing import Any

from voirdire.errors import InputError
from voirdire.kinds.fit import Fit
from voirdire.kinds.joint import JOINT, JointFit
from voirdire.kinds.kind import Kind
from voirdire.kinds.labels.fit import LabelsFit
from voirdire.kinds.labels.kind import LABELS
from voirdire.kinds.rankings.fit import RankingsFit
from voirdire.kinds.rankings.kind import RANKINGS
from voirdire.kinds.scores.fit import ScoresFit
from voirdire.kinds.scores.kind import SCORES
from voirdire.kinds.votes.fit import VotesFit
from voirdire.kinds.votes.kind import VOTES
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.model.problem import Problem
from voirdire.model.specs import Model, load_model, model_names

FITS: dict[str, type[Fit]] = {
    made.kind.name: made for made in (VotesFit, LabelsFit, ScoresFit, RankingsFit, JointFit)
}


KINDS: dict[str, Kind[Any, Any]] = {kind.name: kind for kind in (VOTES, LABELS, SCORES, RANKINGS, JOINT)}


def kind_of(problem: Problem) -> Kind[Any, Any]:
    """The kind of data that a problem is about."""
    return KINDS[problem.model.data]


def check_kind(model: Model, table: Any) -> None:
    """Raise InputError where a model is for another kind of table.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.labels import read_labels
    >>> labels = pd.DataFrame({"judge": ["a", "b"], "item": "x", "label": ["1", "2"]})
    >>> check_kind(load_model("maple"), read_labels(labels))
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: model maple is for votes, but the table has labels; take dawid-skene, ...
    """
    have, wanted = KINDS[table.data], KINDS[model.data]
    if have is wanted:
        return
    fitting = [name for name in model_names() if KINDS[load_model(name).data] is have]
    raise InputError(
        f"model {model.name} is for {wanted.words}, but {table.called} {have.words}; take {', '.join(fitting)}"
    )


def votes_of(problem: Problem, what: str) -> VotesProblem:
    """The votes that a problem is about, perhaps beside scores.

    Parameters
    ----------
    what : str
        What asks for them, in messages.

    Raises
    ------
    InputError
        There are none.
    """
    votes: VotesProblem | None = problem.part(VOTES.name)
    if votes is None:
        raise InputError(f"{what} is for fits of votes; this is one of {kind_of(problem).words}")
    return votes
