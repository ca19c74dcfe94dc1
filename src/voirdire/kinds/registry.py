"""Registry of the kinds of data and of their fits; the folder of a kind is imported at its first use.

``kind.py`` in the folder has the kind, and ``fit.py`` the class of its fits.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.kinds.fit import Fit
from voirdire.kinds.kind import Kind
from voirdire.model.problem import Problem
from voirdire.model.specs import Model, load_model, model_names
from voirdire.tables.counts import Votes

if TYPE_CHECKING:
    from voirdire.kinds.votes.problem import VotesProblem


_FOLDERS = {"joint": "votes_and_scores"}  # of kinds whose folder has another name than they have in model files


@cache
def fit_class(name: str) -> type[Fit]:
    """Find the class of the fits of a kind of data.

    Parameters
    ----------
    name : str
        Name of the kind in model files: votes, labels, scores, rankings or joint.

    Examples
    --------
    >>> fit_class("votes").__name__
    'VotesFit'
    """
    module = import_module(f"voirdire.kinds.{_FOLDERS.get(name, name)}.fit")
    return next(
        value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__
    )


def find_kind(name: str) -> Kind[Any, Any]:
    """Find the kind of data of a name.

    Examples
    --------
    >>> find_kind("joint").words
    'votes and scores'
    """
    return fit_class(name).kind


def kind_of(problem: Problem) -> Kind[Any, Any]:
    """Return the kind of data of a problem."""
    return find_kind(problem.model.data)


def check_kind(model: Model, table: Any) -> None:
    """Raise InputError if a model is for another kind of table.

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
    table_kind, model_kind = find_kind(table.data), find_kind(model.data)
    if table_kind is model_kind:
        return
    suitable = [name for name in model_names() if find_kind(load_model(name).data) is table_kind]
    raise InputError(
        f"model {model.name} is for {model_kind.words}, but {table.called} {table_kind.words}; take "
        f"{', '.join(suitable)}"
    )


def votes_of(problem: Problem, caller: str) -> VotesProblem:
    """Return the votes of a problem of votes, or of votes and scores.

    Parameters
    ----------
    caller : str
        Name of the calling verb, for messages.

    Raises
    ------
    InputError
        The problem has no votes.
    """
    votes: VotesProblem | None = problem.part(Votes.data)
    if votes is None:
        raise InputError(f"{caller} is for fits of votes; this is one of {kind_of(problem).words}")
    return votes
