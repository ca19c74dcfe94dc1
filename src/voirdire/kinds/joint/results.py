"""Tables of a fit of votes and scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.columns import Columns
from voirdire.kinds.joint.problem import JointProblem
from voirdire.kinds.scores import results as score_results
from voirdire.kinds.scores.predict import predict as predict_scores
from voirdire.kinds.votes import results as summaries
from voirdire.kinds.votes.chances import predict as predict_votes
from voirdire.model.terms.reliability import Values
from voirdire.tables.counts import Votes
from voirdire.tables.problems import Problems
from voirdire.tables.read import columns_among
from voirdire.typing import Floats

_OF_VOTES = ("position_bias", "first_rate", "tie_rate")  # what a judge that never voted does not show
_OF_SCORES = ("severity", "variance_item", "variance_judge_item", "variance_run")  # nor one that never scored


def ranking(problem: JointProblem, posterior: Posterior, prob: float) -> Columns:
    """Items by score in log-odds, best first; see :func:`voirdire.kinds.votes.results.ranking`."""
    return summaries.ranking(problem, posterior, prob)


def judges(problem: JointProblem, posterior: Posterior, prob: float) -> Columns:
    """Judges: ``votes`` and ``scores`` given, what the votes' model says of them and what the scores' does.

    ``reliability`` is the probability of being right in a vote on a typical pair and ``p_right_score`` that of giving
    the better one the higher score; both follow from ``discrimination``, which a judge's votes and scores share. The
    other columns are those of :func:`.votes.results.judges` and :func:`.scores.results.judges`. Position
    bias and tie habit are missing for judges that never voted, severity for those that never scored.
    """
    of_votes = summaries.judges(problem.of_votes, posterior, prob)
    of_scores = score_results.judges(problem.of_scores, posterior, prob)
    columns = dict(of_votes)
    columns["scores"] = of_scores["votes"]
    if "group" in of_scores:
        columns["group"] = of_scores["group"]
    for name, column in of_scores.items():
        if name.startswith("p_right"):
            columns[name.replace("p_right", "p_right_score", 1)] = column
        else:
            columns.setdefault(name, column)
    for kinds, answered in ((_OF_VOTES, of_votes["votes"]), (_OF_SCORES, of_scores["votes"])):
        for kind in kinds:
            for name in (kind, f"{kind}_low", f"{kind}_high"):
                if name in columns:
                    columns[name] = np.where(answered > 0, columns[name], np.nan)
    order = ("judge", "votes", "scores", "group")
    return {name: columns[name] for name in (*order, *columns) if name in columns}


def judge_values(problem: JointProblem, values: Values) -> dict[str, Floats]:
    """Values that :func:`judges` shows, shape (..., judges)."""
    of_scores = score_results.judge_values(problem.of_scores, values)
    named = {name.replace("p_right", "p_right_score", 1): value for name, value in of_scores.items()}
    return named | summaries.judge_values(problem.of_votes, values)


def cutpoints(problem: JointProblem, posterior: Posterior, prob: float) -> Columns:
    """Limits between the levels of the scale; see :func:`voirdire.kinds.scores.results.cutpoints`."""
    return score_results.cutpoints(problem.of_scores, posterior, prob)


def groups(problem: JointProblem, posterior: Posterior, prob: float) -> Columns:
    """Groups of scoring judges; see :func:`voirdire.kinds.scores.results.groups`."""
    return score_results.groups(problem.of_scores, posterior, prob)


def predict(problem: JointProblem, posterior: Posterior, table: Any) -> Columns:
    """Probabilities of the answers of a table of votes or of scores; see :meth:`.Fit.predict`."""
    of_pairs = isinstance(table, Votes) or columns_among(table, ["first", "second"], Problems("table"))
    if of_pairs:
        return predict_votes(problem.of_votes, posterior, table)
    return predict_scores(problem.of_scores, posterior, table)
