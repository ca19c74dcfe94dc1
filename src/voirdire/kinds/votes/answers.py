"""Single votes: on items, on criteria, and of people.

Probability of votes that a model of votes has not seen; see :mod:`voirdire.kinds.answers`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from voirdire.infer.mode import find_mode
from voirdire.kinds.answers import Answers, PredictionScores, score_predictions
from voirdire.kinds.further_terms import NO_TERMS, ResolvedTerms, resolve_terms
from voirdire.kinds.votes.contexts import split_by_terms
from voirdire.kinds.votes.problem import VotesProblem, encode_votes
from voirdire.kinds.votes.response_probabilities import (
    ComparisonCodes,
    cell_probabilities,
    criterion_vote_log_probabilities,
    vote_log_probabilities,
)
from voirdire.model.problem import Problem
from voirdire.model.specs import Model
from voirdire.model.terms.reliability import Values
from voirdire.tables.counts import Votes
from voirdire.tables.encode import level_positions
from voirdire.tables.votes import VoteRows
from voirdire.typing import Bools, Floats, Ints


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
