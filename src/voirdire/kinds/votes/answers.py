"""Single votes of a fit: on items, on criteria, and of people; and predicted votes.

Probability of votes that a model of votes has not seen; see :mod:`voirdire.kinds.answers`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from voirdire.infer.mode import find_mode
from voirdire.infer.posterior import MAX_DRAWS, Posterior, thinned_draws
from voirdire.kinds.answers import Answers, Claims, PredictionScores, score_predictions
from voirdire.kinds.columns import Columns
from voirdire.kinds.further_terms import FAMILY, NO_TERMS, ResolvedTerms, resolve_terms
from voirdire.kinds.target_predictions import (
    ItemQuestions,
    Predicted,
    context_column,
    known_contexts,
    predictive_draws,
    refuse_contexts,
)
from voirdire.kinds.votes.contexts import split_by_context, split_by_terms
from voirdire.kinds.votes.problem import VotesProblem, encode_votes
from voirdire.kinds.votes.response_probabilities import (
    ComparisonCodes,
    cell_probabilities,
    criterion_vote_log_probabilities,
    vote_log_probabilities,
)
from voirdire.model.problem import Problem
from voirdire.model.specs import Model
from voirdire.model.terms.arrays import logistic_sigmoid
from voirdire.model.terms.term import Values
from voirdire.tables.counts import Votes
from voirdire.tables.encode import level_positions
from voirdire.tables.problems import Problems
from voirdire.tables.read import columns_among
from voirdire.tables.votes import VoteRows, read_votes
from voirdire.typing import Bools, Floats, Ints


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


def evaluate_held_out(model: Model, votes: Votes, held_out: Bools) -> PredictionScores:
    """Compute log probabilities of held-out votes, and 1 where a vote was the most probable answer, else 0.

    Parameters
    ----------
    held_out : bool array, shape (votes,)
        True for the votes that the fit does not see.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.votes import read_votes
    >>> votes = read_votes(pd.DataFrame({"judge": ["a"] * 2, "first": "x", "second": "y", "winner": "x"}))
    >>> log, right = evaluate_held_out(load_model("bradley-terry"), votes, np.array([True, False]))
    >>> bool(log[0] > np.log(0.5)), right.tolist()
    (True, [1.0])
    """
    added = resolve_terms(model, VoteRows(votes), {}) if model.terms else NO_TERMS
    return evaluate_held_out_votes(
        votes, held_out, lambda seen: encode_votes(model, seen, ties=votes.has_ties, keep_empty=True), added
    )


def _leave_out_votes(votes: Votes, held_out: Bools) -> Votes:
    """Keep the cells, and count only the votes that are not held out."""
    counts = np.zeros_like(votes.counts)
    np.add.at(counts, (votes.row_cell[~held_out], votes.row_outcome[~held_out]), 1)
    return replace(votes, counts=counts)


def evaluate_held_out_votes(
    votes: Votes, held_out: Bools, encode: Callable[[Votes], Problem], added: ResolvedTerms = NO_TERMS
) -> PredictionScores:
    """As :func:`evaluate_held_out`, for any problem with votes; ``encode`` makes it from the votes that are seen."""
    if added.terms or votes.row_context is not None:
        votes = split_by_terms(votes, votes.row_context is not None, added)
    # all folds have the same cells, so they share one compilation
    problem = encode(_leave_out_votes(votes, held_out))
    values = problem.density.values(find_mode(problem).x, np)
    part: VotesProblem = problem.part("votes")
    probabilities = cell_probabilities(part.model, part.density, [values], votes)
    return score_predictions(probabilities[votes.row_cell[held_out]], votes.row_outcome[held_out])


ITEM_VOTES, CRITERION_VOTES, PEOPLE_VOTES = "votes", "votes on criteria", "votes of people"


def vote_answers(problem: VotesProblem) -> list[Answers]:
    """Collect every vote: 0 the first item, 1 the second, 2 a tie; none for models that pool votes first."""
    if problem.model.pool != "none":
        return []
    answers = [_item_vote_answers(problem)]
    if "criteria" in problem.data:
        answers.append(_criterion_vote_answers(problem))
    return answers + ([_people_answers(problem)] if problem.anchors is not None else [])


def single_vote_codes(problem: VotesProblem) -> tuple[Ints, ...]:
    """Codes of every vote: judge, criterion, first, second, outcome; before the outcome context and cell, if any."""
    votes = problem.coded_votes
    *columns, context, _ = ComparisonCodes.of_cells(problem.model, votes)
    cell, outcome = np.nonzero(votes.counts)
    repeats = votes.counts[cell, outcome]
    if problem.added.terms:  # further terms have numbers and levels by cell
        context = votes.judge * 0 - 1 if context is None else context
        columns += [context, np.arange(len(votes.counts))]
    elif context is not None:
        columns.append(context)
    return tuple(np.repeat(part, repeats) for part in (*(codes[cell] for codes in columns), outcome))


def _item_vote_answers(problem: VotesProblem) -> Answers:
    single = single_vote_codes(problem)
    # equal answers have the same probability, which is computed once
    distinct, distinct_row = np.unique(np.column_stack(single), axis=0, return_inverse=True)
    *rows, outcome = distinct.T

    def log_probability(values: Values) -> Floats:
        return _log_chosen(vote_log_probabilities(problem, values, tuple(rows)), outcome)

    names = {"judge": problem.judges, "criterion": problem.criteria}
    names |= {"first": problem.items, "second": problem.items}
    about = {name: np.array(levels)[codes] for (name, levels), codes in zip(names.items(), single, strict=False)}
    if problem.density.contexts:
        about["context"] = np.array(problem.votes.contexts)[single[4]]
    return Answers(ITEM_VOTES, log_probability, distinct_row.ravel(), single[-1], about, 20 * len(outcome))


def _criterion_vote_answers(problem: VotesProblem) -> Answers:
    votes = problem.criteria_votes
    assert votes is not None  # else there is no such table
    cell, outcome = np.nonzero(votes.counts)
    judge, first, second = (codes[cell] for codes in criterion_vote_codes(problem)[:3])

    def log_probability(values: Values) -> Floats:
        return _log_chosen(criterion_vote_log_probabilities(problem.density, values, judge, first, second), outcome)

    cell_of_vote = np.repeat(np.arange(len(cell)), votes.counts[cell, outcome])
    codes = {"judge": (votes.judges, votes.judge), "first": (votes.items, votes.first)}
    codes["second"] = (votes.items, votes.second)
    about = {name: np.array(names)[coded[cell]][cell_of_vote] for name, (names, coded) in codes.items()}
    return Answers(CRITERION_VOTES, log_probability, cell_of_vote, outcome[cell_of_vote], about, 20 * len(cell))


def criterion_vote_codes(problem: VotesProblem) -> tuple[Ints, Ints, Ints, Ints]:
    """Codes of judge, first and second, and counts, of each cell of votes on criteria, in the problem's coding."""
    votes = problem.criteria_votes
    assert votes is not None  # else there is no such table
    judge = level_positions(votes.judges, problem.judges)[votes.judge]
    as_criteria = level_positions(votes.items, problem.criteria)
    return judge, as_criteria[votes.first], as_criteria[votes.second], votes.counts


def _people_answers(problem: VotesProblem) -> Answers:
    part, density = problem.data["anchors"], problem.density
    counts = np.asarray(part["counts"], dtype=float)
    pair, outcome = np.nonzero(counts)

    def log_probability(values: Values) -> Floats:
        logs = [log for log, _ in density.people_log_probabilities(values, problem.data, np)]
        first, second = logs[:2]
        if len(logs) > 2:
            first, second = first + logs[3], second + logs[3]
        outcome_logs = np.stack([first, second, logs[2] if len(logs) > 2 else first], axis=-1)
        return np.asarray(outcome_logs[..., pair, outcome])

    cell_of_vote = np.repeat(np.arange(len(pair)), np.rint(counts[pair, outcome]).astype(np.int64))
    item = np.array(problem.items)
    columns = {"judge": np.full(len(cell_of_vote), "people"), "first": item[part["first"][pair]][cell_of_vote]}
    columns["second"] = item[part["second"][pair]][cell_of_vote]
    return Answers(PEOPLE_VOTES, log_probability, cell_of_vote, outcome[cell_of_vote], columns, 20 * len(counts))


def _log_chosen(logs: list[Floats], outcome: Ints) -> Floats:
    return np.asarray(np.stack(logs, axis=-1)[..., np.arange(len(outcome)), outcome])
