"""Probability of answers that a model has not seen, by the mode of the posterior given those that it has seen.

Of scores and labels each answer is predicted by itself, also where a judge gave an item several:

    P(y_ki) = sum_l [y_ki = l] P(l | theta_i, judge k)                          scores of levels, votes
    P(y_ki) = sum_j P(j | the labels of i that were seen) P(y_ki | j, judge k)  labels

On a continuous scale it is the density per point of the scale, and at the ends the probability to stand there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from voirdire.errors import InputError
from voirdire.fit.predict import probabilities
from voirdire.infer.mode import find_mode
from voirdire.kinds.joint.problem import JointProblem, pose_joint
from voirdire.kinds.joint.tables import VotesAndScores
from voirdire.kinds.labels.influence import codes
from voirdire.kinds.labels.problem import pose_labels
from voirdire.kinds.scores import continuous, ordinal
from voirdire.kinds.scores.density import form_of
from voirdire.kinds.scores.predict import chances
from voirdire.kinds.scores.problem import pose_scores
from voirdire.kinds.votes.problem import VotesProblem, pose
from voirdire.model.specs import Model
from voirdire.model.terms.confusion import log_softmax
from voirdire.tables.labels import Labels
from voirdire.tables.scores import Scores
from voirdire.tables.votes import Votes
from voirdire.typing import Floats, Ints

Seen = tuple[Floats, Floats]  # of each answer: log of its probability, and whether it was the most probable


def of_votes(
    spec: Model, table: Votes | VotesAndScores, fold: Ints, levels: Sequence[object] | None = None
) -> Seen:
    """Log probability of each vote, of fits that have not seen its fold; and whether it was the most probable answer.

    Parameters
    ----------
    spec : Model
        Of votes, or of votes and scores: then every score is seen.
    table : Votes or VotesAndScores
    fold : int array, shape (votes,)
    levels : sequence, optional
        Of the scale of scores.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.votes import read_votes
    >>> votes = read_votes(pd.DataFrame({"judge": ["a"] * 2, "first": "x", "second": "y", "winner": "x"}))
    >>> log, right = of_votes(load_model("bradley-terry"), votes, np.array([0, 1]))
    >>> bool(log[0] > np.log(0.5)), right.tolist()
    (True, [1.0, 1.0])
    """
    votes = table if isinstance(table, Votes) else table.votes
    out = np.zeros((votes.rows, 3))
    for number in np.unique(fold):
        here = fold == number
        counts = np.zeros_like(votes.counts)
        np.add.at(counts, (votes.row_cell[~here], votes.row_outcome[~here]), 1)
        # the same cells with other counts: all folds share one compilation
        seen = replace(votes, counts=counts)
        problem: VotesProblem | JointProblem
        if spec.data == "mixed":
            assert isinstance(table, VotesAndScores)
            both = VotesAndScores(seen, table.scores)
            problem = pose_joint(spec, both, levels=levels, ties=votes.has_ties, keep_empty=True)
        else:
            problem = pose(spec, seen, ties=votes.has_ties, keep_empty=True)
        values = problem.density.values(find_mode(problem).x, np)
        density = (problem.of_votes if isinstance(problem, JointProblem) else problem).density
        out[here] = probabilities(spec, density, [values], votes)[votes.row_cell[here]]
    return _scored(out, votes.row_outcome)


def of_scores(spec: Model, table: Scores, fold: Ints, levels: Sequence[object] | None = None) -> Seen:
    """As :func:`of_votes`, of scores; on a continuous scale no score is the most probable: NaN.

    Raises
    ------
    InputError
        The model gives no probability of single scores.
    """
    form = form_of(spec)
    if form not in (ordinal, continuous):
        raise InputError(f"model {spec.name} gives no probability of single scores; leave it out")
    whole = pose_scores(spec, table, levels=levels)
    names = {"judge": table.judge, "criterion": table.criterion, "item": table.item}
    log, chance = np.zeros(table.rows), np.zeros((table.rows, len(whole.scale.levels)))
    for number in np.unique(fold):
        here = fold == number
        how = {"levels": whole.scale.levels, "repeats": whole.density.repeats, "complete": False}
        seen = pose_scores(spec, table.subset(~here), **how)  # type: ignore[arg-type]
        values = seen.density.values(find_mode(seen).x, np)
        asked = {name: code[here] for name, code in names.items()}
        # asked of the whole table's problem, which knows the group of a judge whose scores are all held out
        if form is continuous:
            log[here] = continuous.log_predicted(whole, values, table.score[here], **asked)
        else:
            chance[here] = chances(whole, values, **asked)
    if form is continuous:
        return log, np.full(table.rows, np.nan)
    return _scored(chance, np.searchsorted(whole.scale.levels, table.score))


def of_labels(spec: Model, table: Labels, fold: Ints, classes: Sequence[object] | None = None) -> Seen:
    """As :func:`of_votes`, of labels.

    Raises
    ------
    InputError
        The model knows no classes, from which labels could be predicted.
    """
    whole = pose_labels(spec, table, classes=classes)
    if not whole.density.latent:
        raise InputError(f"model {spec.name} gives no probability of single labels; leave it out")
    given, unit = codes(whole), table.criterion * len(table.items) + table.item
    out = np.zeros((table.rows, len(whole.labels)))
    for number in np.unique(fold):
        here = fold == number
        seen = pose_labels(spec, table.subset(~here), classes=whole.labels[: whole.classes])
        density = seen.density
        values = density.values(find_mode(seen).x, np)
        joint = density.shares(values, np)[
            table.criterion[here]
        ]  # of an item without any label that was seen
        known = seen.unit_criterion * len(table.items) + seen.unit_item
        place = np.minimum(np.searchsorted(known, unit[here]), len(known) - 1)
        there = known[place] == unit[here]
        joint[there] = density.joint(values, seen.data, np)[seen.unit_row][place[there]]
        belief = np.exp(log_softmax(joint, whole.classes, np))
        rates = np.exp(density.rates(values, np))
        judge = table.judge[here]
        out[here] = np.einsum("rj,rjl->rl", belief, rates[judge if len(rates) > 1 else judge * 0])
    return _scored(out, given)


def _scored(chance: Floats, answer: Ints) -> Seen:
    own = chance[np.arange(len(answer)), answer]
    return np.log(own), (chance.argmax(axis=1) == answer).astype(float)
