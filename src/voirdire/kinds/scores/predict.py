"""Predicted scores and their probabilities, from a fit."""

from __future__ import annotations

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import MAX_DRAWS, Posterior
from voirdire.kinds import target_predictions
from voirdire.kinds.answers import Claims
from voirdire.kinds.columns import Columns
from voirdire.kinds.scores import continuous, ordinal
from voirdire.kinds.scores.baseline import single_scores_message
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.kinds.scores.response_probabilities import ends_and_mean, expected_scores, score_probabilities
from voirdire.kinds.unseen import predictive_draws
from voirdire.model.terms.reliability import Values
from voirdire.tables.problems import Problems
from voirdire.tables.scores import read_scores
from voirdire.typing import Floats, Ints


def predict_scores(problem: ScoresProblem, posterior: Posterior, table: object) -> Columns:
    """Predict each score of a table: the posterior mean probability of every level, and the expected score.

    On a continuous scale the levels are its two ends, with the probability of a score at each end.

    Parameters
    ----------
    table : path, dataframe or Scores
        Judges, items and criteria of the fit; ``score`` is not needed. In models with contexts, rows without a context,
        or with an unknown one, are predicted for a new context like those of the fit.

    Returns
    -------
    dict of array, shape (rows,)
        judge, criterion, item, context (where the table has it), p_<level> for each level, expected.

    Raises
    ------
    InputError
        An unknown item, judge or criterion, or a baseline, which has no model of single scores.
    """
    problems, scores = Problems("scores"), read_scores(table, answered=False)
    form = problem.form
    if form not in (ordinal, continuous):
        problems.stop(single_scores_message(problem.model.name))
    codes, columns = target_predictions.fit_codes(problem, scores, ("judge", "criterion", "item"), problems)
    problems.raise_any()
    columns |= target_predictions.context_column(scores.contexts, scores.context)
    row_codes = dict(codes)
    if problem.density.contexts and scores.context is not None:
        known = target_predictions.known_contexts(scores.contexts, problem.table.contexts)
        row_codes["context"] = known[scores.context]
    table_codes = {name: getattr(problem.table, name) for name in row_codes}
    draws = predictive_draws(posterior, _with_families(problem, table_codes), _with_families(problem, row_codes))
    rows = tuple(row_codes.values())
    if form is continuous:
        moments = np.mean([ends_and_mean(problem, values, rows) for values in draws], axis=0)
        probability, expected = moments[:, :2], problem.scale.from_parts(moments[:, 2])
    else:
        probability = np.mean([score_probabilities(problem, values, rows) for values in draws], axis=0)
        expected = probability @ np.array(problem.scale.levels)
    columns |= {f"p_{name}": probability[:, level] for level, name in enumerate(problem.scale.names)}
    return columns | {"expected": expected}


def _with_families(problem: ScoresProblem, codes: dict[str, Ints]) -> dict[str, Ints]:
    """Codes with the family of each judge, if families share errors."""
    families = problem.density.families
    return codes | ({"family": np.array(families)[codes["judge"]]} if families else {})


JUDGE_SPECIFIC_TERMS = ("taste", "family_item", "judge_item_effect")  # effects of single judges and families on items


def item_score_questions(problem: ScoresProblem, table: object) -> target_predictions.ItemQuestions:
    """Expected scores of the items of a table: the mean over all judges of the panel, without their tastes.

    Parameters
    ----------
    problem : ScoresProblem
    table : path, dataframe or Scores
        Column item (or context and system), and criterion if the fit has several; ``judge`` and ``score`` are ignored.

    Returns
    -------
    ItemQuestions
        Questions with predictions ``expected``, on the scale of the scores.

    Raises
    ------
    InputError
        An item or criterion is unknown, contexts are given to a fit with contexts, the criterion is missing, or the
        model is a baseline.
    """
    form = problem.form
    if form not in (ordinal, continuous):
        raise InputError(single_scores_message(problem.model.name))
    scores = read_scores(table, judge="people", answered=False)
    item, criterion, columns = target_predictions.item_codes(problem, scores)
    target_predictions.refuse_contexts(bool(problem.density.contexts), scores.context is not None)
    if (criterion < 0).any():
        if len(problem.criteria) > 1:
            raise InputError(
                "scores: the fit has several criteria, each with a scale of its own; give a column 'criterion' "
                "(ranking() has scores over all criteria)"
            )
        criterion = item * 0
    cells, row = np.unique(np.stack([criterion, item]), axis=1, return_inverse=True)
    judges = len(problem.judges)
    judge = np.tile(np.arange(judges), cells.shape[1])
    rows = (judge, *np.repeat(cells, judges, axis=1))

    def predict_answers(values: Values, strengths: Floats) -> target_predictions.Predicted:
        shared = {name: value for name, value in values.items() if name not in JUDGE_SPECIFIC_TERMS}
        draws = [
            {name: value[n] for name, value in shared.items()} | {"strength": strengths[n, :-1]}
            for n in range(len(strengths))
        ]
        expected = np.stack([expected_scores(problem, draw, rows) for draw in draws])
        return {"expected": expected.reshape(len(expected), -1, judges).mean(axis=2)[:, row.ravel()]}

    return target_predictions.ItemQuestions(columns, tuple(np.unique(criterion)), predict_answers, MAX_DRAWS)


def claimed_scores(problem: ScoresProblem, posterior: Posterior) -> Claims:
    """Score of every item under each criterion: the mean expected score of its judges, or the baseline's score.

    The confidence is 1 / (1 + r), with r the root mean square deviation of the item's scores from that score.
    """
    table = problem.table
    width = len(table.items)
    units, unit = np.unique(table.criterion * width + table.item, return_inverse=True)
    count = np.bincount(unit)
    if problem.model.pool == "none":
        answer = np.bincount(unit, predict_scores(problem, posterior, table)["expected"]) / count
    else:
        origin, unit_size = problem.unit
        answer = origin + unit_size * posterior.central_values["strength"].ravel()[units]
    rms_deviation = np.sqrt(np.bincount(unit, (table.score - answer[unit]) ** 2) / count)
    columns = {"criterion": np.array(table.criteria)[units // width], "item": np.array(table.items)[units % width]}
    answered = np.zeros(len(units), dtype=bool)
    if problem.anchors is not None:
        people = problem.anchors.table
        answered = np.isin(units, people.criterion * width + people.item)
    return Claims(columns, answer, 1.0 / (1.0 + rms_deviation), answered)
