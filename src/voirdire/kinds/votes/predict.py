"""Predicted votes of judges and of people, and claimed preferences of a fit."""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import MAX_DRAWS, Posterior, thinned_draws
from voirdire.kinds.answers import Claims
from voirdire.kinds.columns import Columns
from voirdire.kinds.further_terms import FAMILY
from voirdire.kinds.target_predictions import ItemQuestions, Predicted, context_column, known_contexts, refuse_contexts
from voirdire.kinds.unseen import predictive_draws
from voirdire.kinds.votes.contexts import split_by_context, split_by_terms
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.kinds.votes.response_probabilities import ComparisonCodes, cell_probabilities
from voirdire.model.terms.arrays import logistic_sigmoid
from voirdire.model.terms.reliability import Values
from voirdire.tables.counts import Votes
from voirdire.tables.problems import Problems
from voirdire.tables.read import columns_among
from voirdire.tables.votes import read_votes
from voirdire.typing import Floats, Ints


def predict_votes(problem: VotesProblem, posterior: Posterior, table: object) -> Columns:
    """Predict each vote of a table: the posterior mean probability of every answer.

    Parameters
    ----------
    problem : VotesProblem
    posterior : Posterior
        Posterior of the problem's parameters (and perhaps others).
    table : path, dataframe or Votes
        Comparisons among the items and judges (and criteria) that the problem knows; ``winner`` is not needed.

    Returns
    -------
    dict of array
        One row per vote in its order: judge, criterion, first, second, context (where the table has it), p_first,
        p_second, p_tie.

    Raises
    ------
    InputError
        An item, judge or criterion that the fit does not know.
    """
    known_names = {"judges": problem.judges, "items": problem.items, "criteria": problem.votes.criteria}
    questions = read_votes(table, **known_names, answered=False)  # type: ignore[arg-type]
    votes = _recode_contexts(problem, questions)
    if FAMILY in problem.added.levels:
        votes = split_by_terms(votes, contexts=False)
        votes = votes.with_codes(codes={FAMILY: problem.family_of_judges[votes.judge]})
    question_codes = _codes_of_pairs(problem, votes)
    draws = predictive_draws(posterior, _codes_of_pairs(problem, problem.votes), question_codes)
    if len(draws) == 1 and problem.density.contexts and (question_codes["context"] < 0).any():
        draws *= MAX_DRAWS  # each draw has a new context
    cell = cell_probabilities(problem.model, problem.density, draws, votes)
    rows = cell[votes.row_cell]
    columns: Columns = {
        name: np.array(levels, dtype=object)[codes[votes.row_cell]]
        for name, levels, codes in (
            ("judge", votes.judges, votes.judge),
            ("criterion", votes.criteria, votes.criterion),
            ("first", votes.items, votes.first),
            ("second", votes.items, votes.second),
        )
    }
    columns |= context_column(questions.contexts, questions.row_context)
    return columns | {"p_first": rows[:, 0], "p_second": rows[:, 1], "p_tie": rows[:, 2]}


def _codes_of_pairs(problem: VotesProblem, votes: Votes) -> dict[str, Ints]:
    """Codes of the first items, then of the second items, of all comparisons, by dimension."""
    pairs = ComparisonCodes.of_cells(problem.model, votes)
    codes = {"judge": pairs.judge, "criterion": pairs.criterion}
    codes["context"] = pairs.judge * 0 - 1 if pairs.context is None else pairs.context
    codes[FAMILY] = problem.family_of_judges[pairs.judge]
    return {name: np.tile(code, 2) for name, code in codes.items()} | {
        "item": np.concatenate([pairs.first, pairs.second])
    }


def _recode_contexts(problem: VotesProblem, votes: Votes) -> Votes:
    """Recode contexts by those of a problem; -1 for a context that it does not know."""
    if not problem.density.contexts or votes.row_context is None:
        return votes
    split = split_by_context(votes)
    known = known_contexts(split.contexts, problem.votes.contexts)
    return split.with_codes(context=known[split.context])


def predict_comparisons(problem: VotesProblem, table: object) -> ItemQuestions:
    """Make the questions of comparisons: P(first) = sigmoid(s_first - s_second), and P(the first is better).

    Parameters
    ----------
    problem : VotesProblem
    table : path, dataframe or Votes
        Columns first and second, optionally criterion if the fit has several; ``judge`` and ``winner`` are ignored.

    Returns
    -------
    ItemQuestions
        Quantities p_first and p_better.

    Raises
    ------
    InputError
        The fit does not know an item or criterion, or both the table and the model have contexts.
    """
    several = len(problem.votes.criteria) > 1
    has_criterion = bool(columns_among(table, ["criterion"], Problems("votes")))
    by_criterion = several and has_criterion
    criteria = problem.votes.criteria if by_criterion else None
    votes = read_votes(table, judge="people", criteria=criteria, items=problem.items, answered=False)
    refuse_contexts(bool(problem.density.contexts), votes.row_context is not None)
    cell = votes.row_cell
    first, second, names = votes.first[cell], votes.second[cell], np.array(problem.items, dtype=object)
    separate = by_criterion and problem.model.criteria == "separate"
    criterion = votes.criterion[cell] if separate else first * 0 - 1
    levels = np.array(problem.votes.criteria, dtype=object)
    columns: Columns = {"criterion": levels[votes.criterion[cell]]} if by_criterion else {}

    def predict_answers(_: Values, strengths: Floats) -> Predicted:
        gap = strengths[:, criterion, first] - strengths[:, criterion, second]
        return {"p_first": np.asarray(logistic_sigmoid(gap, np)), "p_better": np.where(gap == 0.0, 0.5, gap > 0.0)}

    columns |= {"first": names[first], "second": names[second]}
    return ItemQuestions(columns, tuple(np.unique(criterion)), predict_answers)


def claimed_preferences(problem: VotesProblem, posterior: Posterior) -> Claims:
    """Claim the better item of every pair that judges compared (under each criterion, in each context).

    The confidence is the mean over draws of sigmoid(strength of the better item less that of the other): the
    probability that an answer by strengths alone prefers the better item.
    """
    votes = problem.votes
    low = np.minimum(votes.first, votes.second)[votes.row_cell]
    high = np.maximum(votes.first, votes.second)[votes.row_cell]
    context = low * 0 if votes.row_context is None else votes.row_context
    rows = np.stack([votes.criterion[votes.row_cell], low, high, context])
    criterion, low, high, context = np.unique(rows, axis=1)
    about = {"criterion": np.array(votes.criteria)[criterion]}
    about |= {"first": np.array(votes.items)[low], "second": np.array(votes.items)[high]}
    if votes.row_context is not None:
        about["context"] = np.array(votes.contexts)[context]
    strength_row = criterion if problem.model.criteria == "separate" else criterion * 0
    draws, probability = thinned_draws(posterior), np.zeros(len(low))
    for values in draws:
        difference = values["strength"][strength_row, low] - values["strength"][strength_row, high]
        if problem.density.contexts:
            context_strength = values["context_strength"]
            difference = (
                difference
                + context_strength[strength_row, low, context]
                - context_strength[strength_row, high, context]
            )
        probability += logistic_sigmoid(difference, np) / len(draws)
    answered = np.zeros(len(low), dtype=bool)
    if problem.anchors is not None:
        people, width = problem.anchors.votes, len(votes.items)
        pair = np.minimum(people.first, people.second) * width + np.maximum(people.first, people.second)
        answered = np.isin(low * width + high, pair)
    answer = np.where(probability >= 0.5, "first", "second").astype(object)
    return Claims(about, answer, np.maximum(probability, 1.0 - probability), answered)
