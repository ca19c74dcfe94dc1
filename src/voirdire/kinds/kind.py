"""The kinds of tables that ``fit`` takes: which model fits each, how it is posed, reported, checked and stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.infer import checks as check
from voirdire.infer.checks import Check
from voirdire.infer.posterior import Posterior
from voirdire.kinds.columns import Columns
from voirdire.kinds.joint import checks as joint_checks
from voirdire.kinds.joint import results as joint_results
from voirdire.kinds.joint.problem import JointProblem, pose_joint
from voirdire.kinds.joint.tables import VotesAndScores
from voirdire.kinds.labels import checks as label_checks
from voirdire.kinds.labels import results as label_results
from voirdire.kinds.labels.problem import LabelsProblem, pose_labels
from voirdire.kinds.scores import checks as score_checks
from voirdire.kinds.scores import results as score_results
from voirdire.kinds.scores.problem import ScoresProblem, pose_scores
from voirdire.kinds.votes import checks as vote_checks
from voirdire.kinds.votes import results as summaries
from voirdire.kinds.votes.human.table import read_anchors
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.model.problem import Problem
from voirdire.model.specs import Model, model_names
from voirdire.tables.labels import Labels, read_labels
from voirdire.tables.scores import Scores
from voirdire.tables.votes import Votes

Results = dict[str, Callable[[Any, Posterior, float], Columns]]

_RESULTS: dict[str, Results] = {
    "votes": {"items": summaries.ranking, "judges": summaries.judges, "criteria": summaries.criteria},
    "labels": {
        "items": label_results.items,
        "judges": label_results.judges,
        "shares": label_results.shares,
        "confusion": label_results.confusion,
    },
    "scores": {
        "items": score_results.ranking,
        "judges": score_results.judges,
        "criteria": summaries.criteria,
        "groups": score_results.groups,
        "cutpoints": score_results.cutpoints,
        "people": score_results.people,
    },
    "mixed": {
        "items": joint_results.ranking,
        "judges": joint_results.judges,
        "criteria": summaries.criteria,
        "groups": joint_results.groups,
        "cutpoints": joint_results.cutpoints,
    },
}
Rated = Scores | Labels | VotesAndScores
Table = Votes | Rated
NAMES = {"mixed": "votes and scores"}  # of kinds of data, in words, where they differ
_ASKED = {  # what to ask a fit for in the place of a table that its kind of data does not have
    "labels": "classes() for the items, judges(), confusion() and shares()",
    "votes": "ranking() for the items, judges(), criteria() and strengths()",
    "scores": "ranking() for the items, judges(), criteria(), strengths(), cutpoints() and groups()",
    "mixed": "ranking() for the items, judges(), criteria(), strengths(), cutpoints() and groups()",
}


def default_model(table: Table, criteria: object = None) -> tuple[str, str]:
    """The model that a table calls for, and why, in words.

    Examples
    --------
    >>> import pandas as pd
    >>> default_model(read_labels(pd.DataFrame({"judge": ["a", "b"], "item": "x", "label": ["1", "2"]})))
    ('dawid-skene', 'the table has labels')
    """
    if isinstance(table, VotesAndScores):
        if criteria is not None:
            return "mixed-maple-position", "there are votes and scores, and criteria are weighed"
        return "mixed-position", "there are votes and scores"
    if isinstance(table, Labels):
        return "dawid-skene", "the table has labels"
    if isinstance(table, Scores):
        if criteria is not None:
            return "rating-maple", "the table has scores, and criteria are weighed"
        return "rating-severity", "the table has scores"
    if table.has_criteria:
        return "maple-position", "the table has a criterion column"
    return "crowd-bt-position", "the table has no criterion column"


def check_kind(model: Model, table: Table) -> None:
    """Raise InputError where a model is for another kind of table.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.model.specs import load_model
    >>> labels = pd.DataFrame({"judge": ["a", "b"], "item": "x", "label": ["1", "2"]})
    >>> check_kind(load_model("maple"), read_labels(labels))
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: model maple is for votes, but the table has labels; take dawid-skene, ...
    """
    data = kind_of(table)
    if model.data == data:
        return
    from voirdire.model.specs import load_model

    fitting = [name for name in model_names() if load_model(name).data == data]
    wanted, have = (NAMES.get(kind, kind) for kind in (model.data, data))
    said = f"the table has {have}" if data != "mixed" else f"the tables have {have}"
    raise InputError(f"model {model.name} is for {wanted}, but {said}; take {', '.join(fitting)}")


def kind_of(table: Table) -> str:
    """The kind of data of a table, as model files name it.

    Examples
    --------
    >>> import pandas as pd
    >>> kind_of(read_labels(pd.DataFrame({"judge": ["a", "b"], "item": "x", "label": ["1", "2"]})))
    'labels'
    """
    if isinstance(table, VotesAndScores):
        return "mixed"
    return "labels" if isinstance(table, Labels) else "scores" if isinstance(table, Scores) else "votes"


def pose_rated(
    model: Model,
    table: Rated,
    *,
    criteria: object,
    levels: Sequence[object] | None,
    classes: Sequence[object] | None,
    anchors: object,
) -> Problem:
    """Bring a table of labels or scores, or votes and scores, into the form of a model.

    See :func:`voirdire.kinds.labels.problem.pose_labels`, :func:`voirdire.kinds.scores.problem.pose_scores` and
    :func:`voirdire.kinds.joint.problem.pose_joint`.

    Parameters
    ----------
    criteria : path, dataframe, Votes or None
        Of scores, weights of the criteria or votes on them.
    levels : sequence or None
        Of scores, the levels of the scale (of labels, the reader has taken them).
    anchors : path, dataframe or None
        Of labels: columns ``item``, ``label`` and optionally ``criterion``; no judges. Of votes and scores: answers to
        comparisons, as for votes. Of scores: columns ``item``, ``score`` and ``criterion`` where there are several.
    """
    if isinstance(table, VotesAndScores):
        people = None if anchors is None else read_anchors(anchors, table.votes)
        return pose_joint(model, table, levels=levels, criteria=criteria, anchors=people)
    if isinstance(table, Scores):
        return pose_scores(model, table, levels=levels, criteria=criteria, anchors=anchors)
    known = None
    if anchors is not None:
        known = read_labels(anchors, name="anchors", levels=table.labels, judge="people")
    return pose_labels(model, table, classes=classes, anchors=known)


def results(problem: Problem) -> Results:
    """The tables of a fit's result, by name, each a function of problem, posterior and probability."""
    return _RESULTS[problem.model.data]


def strengths(problem: Problem, posterior: Posterior, prob: float) -> Columns:
    """Strength of every item under every criterion, of a fit of votes or scores."""
    if isinstance(problem, ScoresProblem):
        return score_results.strengths(problem, posterior, prob)
    return summaries.strengths(problem, posterior, prob)


def require(problem: Problem, data: str | tuple[str, ...], what: str) -> None:
    """Raise InputError where a fit of another kind of data is asked for a table that it does not have."""
    kinds = (data,) if isinstance(data, str) else data
    have = problem.model.data
    if have not in kinds:
        told = " or ".join(kind for kind in kinds if kind not in NAMES)
        raise InputError(
            f"{what}() is for fits of {told}; a fit of {NAMES.get(have, have)} has {_ASKED[have]}"
        )


def counts(problem: Problem) -> dict[str, int]:
    """Numbers of answers: ``votes`` (whatever they are, as everywhere in results), and ``scores`` beside votes.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> votes = pd.DataFrame({"judge": "a", "first": ["x"], "second": "y", "winner": "x"})
    >>> scores = pd.DataFrame({"judge": "b", "item": ["x", "y"], "score": [1, 2]})
    >>> counts(voirdire.fit([votes, scores], method="map").problem)
    {'votes': 1, 'scores': 2}
    """
    if isinstance(problem, JointProblem):
        parts = {"votes": problem.of_votes, "scores": problem.of_scores}
        return {name: int(part.judge_votes.sum()) for name, part in parts.items()}
    return {"votes": int(problem.judge_votes.sum())}


def parts(problem: Problem) -> tuple[VotesProblem | None, ScoresProblem | None]:
    """The votes and the scores that a problem is about."""
    if isinstance(problem, JointProblem):
        return problem.of_votes, problem.of_scores
    votes = problem if isinstance(problem, VotesProblem) else None
    return votes, problem if isinstance(problem, ScoresProblem) else None


def notes(problem: Problem) -> tuple[str, ...]:
    """What was done with the tables on the user's behalf, in words."""
    if isinstance(problem, ScoresProblem):
        return () if problem.anchors is None else problem.anchors.notes
    people = problem.of_votes.anchors if isinstance(problem, JointProblem) else None
    return () if people is None else people.notes


def unit(problem: Problem) -> str:
    """What scores and severities are measured in: "points" of the scale where scores are taken as numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> scores = pd.DataFrame({"judge": "b", "item": ["x", "y"], "score": [1, 2]})
    >>> unit(voirdire.fit(scores, model="mean-score", method="map").problem)
    'points'
    """
    return "points" if isinstance(problem, ScoresProblem) and problem.in_points else "log-odds"


def middle(problem: Problem) -> float:
    """What is neither much nor little of :func:`unit`: the middle of the scale, 0 of log-odds."""
    return problem.unit[0] if isinstance(problem, ScoresProblem) else 0.0


def answers_head(problem: Problem) -> dict[str, str]:
    """Heading of the column ``votes`` for people, where the answers are no votes."""
    return {"votes": "answers"} if isinstance(problem, ScoresProblem | LabelsProblem) else {}


def answers(problem: Problem) -> str:
    """Numbers of answers in words, such as "120 votes and 60 scores"."""
    found = counts(problem)
    if len(found) == 1:
        return f"{found['votes']:,} {problem.model.data}"
    return " and ".join(f"{count:,} {name}" for name, count in found.items())


def votes_problem(problem: Problem, what: str) -> VotesProblem:
    """The votes that a fit is about, perhaps beside scores; InputError for others, which cannot be asked ``what``."""
    require(problem, ("votes", "mixed"), what)
    votes, _ = parts(problem)
    assert votes is not None
    return votes


def all_checks(
    problem: Problem, posterior: Posterior, judges: Columns, found: list[Check], seed: int, chosen: str | None
) -> list[Check]:
    """Checks that every fit makes, after those of its method.

    Parameters
    ----------
    judges : dict
        The table of judges.
    found : list of Check
        What the method found.
    seed : int
    chosen : str or None
        How human answers to comparisons were used.
    """
    if isinstance(problem, JointProblem):
        return joint_checks.all_checks(problem, posterior, judges, found, seed)
    if isinstance(problem, LabelsProblem):
        return label_checks.all_checks(problem, posterior, judges, found, seed)
    if isinstance(problem, ScoresProblem):
        return score_checks.all_checks(problem, posterior, judges, found, seed)
    from voirdire.trust.checks import trust_checks

    assert isinstance(problem, VotesProblem)
    own = vote_checks.all_checks(problem, posterior, judges, found)
    return own + trust_checks(problem, posterior, judges, seed, chosen)


def mirror_check(problem: Problem, mass: float, at_mode: bool = False) -> Check:
    """How much posterior mass the twins have that only the prior (and people) tell apart."""
    if isinstance(problem, LabelsProblem):
        return label_checks.renaming(mass, at_mode)
    anchored = isinstance(problem, VotesProblem | ScoresProblem) and problem.anchors is not None
    return check.mirror(mass, at_mode, anchored=anchored, data=problem.model.data)


def packed(table: Labels | Scores) -> tuple[dict[str, Any], dict[str, Any]]:
    """Names (for JSON) and codes (arrays) of a table, to be stored.

    Examples
    --------
    >>> import pandas as pd
    >>> names, codes = packed(read_labels(pd.DataFrame({"judge": ["a", "b"], "item": "x", "label": ["1", "2"]})))
    >>> names["labels"], codes["label"].tolist()
    (('1', '2'), [0, 1])
    """
    content = {field.name: getattr(table, field.name) for field in fields(table)}
    codes = {name: value for name, value in content.items() if isinstance(value, np.ndarray)}
    return {name: value for name, value in content.items() if name not in codes}, codes


def unpacked(names: dict[str, Any], codes: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a table's class, from what :func:`packed` made (after JSON made lists of tuples).

    Examples
    --------
    >>> unpacked({"labels": ["a", "b"]}, {})
    {'labels': ('a', 'b')}
    """
    listed = {name: tuple(value) if isinstance(value, list) else value for name, value in names.items()}
    return listed | codes
