"""Scores as people would give them, who use the scale as a panel's judges do."""

from __future__ import annotations

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import MAX_DRAWS
from voirdire.kinds.scores import continuous, ordinal, points
from voirdire.kinds.scores.baseline import no_single_scores
from voirdire.kinds.scores.chances import score_probabilities
from voirdire.kinds.scores.density import score_form_module
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.kinds.target_predictions import ItemQuestions, Predicted, item_codes, refuse_contexts
from voirdire.model.terms.censored import HALF
from voirdire.model.terms.reliability import Values
from voirdire.tables.scores import read_scores
from voirdire.typing import Floats

PERCEIVED = (
    "taste",
    "family_item",
    "judge_item_effect",
)  # what single judges and families see in items, and others do not


def item_score_questions(problem: ScoresProblem, table: object) -> ItemQuestions:
    """Scores of the items of a table: expected, over the judges of the panel evenly, without their tastes.

    Parameters
    ----------
    problem : ScoresProblem
    table : path, dataframe or Scores
        Column item (or context and system), and criterion where the fit has several; ``judge`` and ``score`` are not
        looked at.

    Returns
    -------
    ItemQuestions
        With expected, on the scale of the scores.

    Raises
    ------
    InputError
        The fit does not know an item or criterion, contexts are given to a fit that tells them apart, the criterion is
        missing, or the model is one of a baseline.
    """
    form = score_form_module(problem.model)
    if form not in (ordinal, continuous):
        raise InputError(no_single_scores(problem.model.name))
    given = read_scores(table, judge="people", answered=False)
    item, criterion, named = item_codes(problem, given)
    refuse_contexts(bool(problem.density.contexts), given.context is not None)
    if (criterion < 0).any():
        if len(problem.criteria) > 1:
            raise InputError(
                "scores: the fit has several criteria, each with a scale of its own; give a column 'criterion' "
                "(ranking() has what items are worth over all)"
            )
        criterion = item * 0
    asked, row = np.unique(np.stack([criterion, item]), axis=1, return_inverse=True)
    judges = len(problem.judges)
    judge = np.tile(np.arange(judges), asked.shape[1])
    rows = (judge, *np.repeat(asked, judges, axis=1))
    levels = np.array(problem.scale.levels)

    def expected_scores(values: Values) -> Floats:
        if form is continuous:
            return (
                problem.scale.low
                + (points.ends_and_mean(problem, values, rows)[:, 2] + HALF) * problem.scale.range
            )
        return np.asarray(score_probabilities(problem, values, rows) @ levels)

    def predict_answers(values: Values, worth: Floats) -> Predicted:
        shared = {name: of for name, of in values.items() if name not in PERCEIVED}
        found = [
            expected_scores({name: of[n] for name, of in shared.items()} | {"strength": worth[n, :-1]})
            for n in range(len(worth))
        ]
        return {"expected": np.stack(found).reshape(len(found), -1, judges).mean(axis=2)[:, row.ravel()]}

    return ItemQuestions(named, tuple(np.unique(criterion)), predict_answers, MAX_DRAWS)
