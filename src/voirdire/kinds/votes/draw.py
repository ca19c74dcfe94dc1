"""Simulation of votes from a model, and refits of the mode to votes resampled with replacement.

Simulated votes are on items, on criteria, and of people; see :mod:`voirdire.infer.outcomes`.

Refits of Bradley-Terry without ties share one factorisation. With H the curvature at the mode of the whole table, the
steps theta <- theta - H^-1 gradient(theta) contract by the relative difference between H and the curvature of the
refit. This difference is small if votes are many. All refits step together, as products of matrices. Refits that do
not converge, and all other models, are searched in compiled batches (:func:`voirdire.infer.mode.find_modes`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.infer.mode import find_modes
from voirdire.infer.outcomes import Outcome, counted_outcome
from voirdire.infer.posterior import TOLERANCE
from voirdire.kinds.answers import sample_categorical
from voirdire.kinds.bootstrap import BATCH_SIZE, refit_modes, resample_counts
from voirdire.kinds.votes.answers import criterion_vote_codes
from voirdire.kinds.votes.contexts import ContextVotes
from voirdire.kinds.votes.density import VotesDensity
from voirdire.kinds.votes.problem import VotesProblem, encode_votes
from voirdire.kinds.votes.response_probabilities import (
    ComparisonCodes,
    answer_log_probabilities,
    cell_probabilities,
    criterion_vote_log_probabilities,
)
from voirdire.model.density import Data
from voirdire.model.terms.arrays import Array, zero_sum_free
from voirdire.model.terms.term import Values
from voirdire.tables.counts import CountedVotes, Votes
from voirdire.typing import Bools, Floats


def vote_outcomes(problem: VotesProblem) -> list[Outcome]:
    """Make the outcomes: counts of first, second (and tie) in each cell; none for models that pool votes."""
    if problem.model.pool != "none":
        return []
    density, votes = problem.density, problem.coded_votes
    outcome_count = 3 if density.ties else 2
    pairs = ComparisonCodes.of_cells(problem.model, votes)

    def on_items(values: Values, xp: Any) -> list[Array]:
        return answer_log_probabilities(density, values, pairs, xp)

    weight = problem.answer_weight
    item_weight = 1.0 if weight is None else weight[votes.judge]
    outcomes = [counted_outcome("votes", votes.counts[:, :outcome_count], on_items, item_weight)]
    if "criteria" in problem.data:
        judge, first, second, counts = criterion_vote_codes(problem)

        def on_criteria(values: Values, xp: Any) -> list[Array]:
            return criterion_vote_log_probabilities(density, values, judge, first, second, xp)

        criterion_weight = 1.0 if weight is None else weight[judge]
        outcomes.append(counted_outcome("criteria_votes", counts[:, :outcome_count], on_criteria, criterion_weight))
    if problem.anchors is not None:

        def of_people(values: Values, xp: Any) -> list[Array]:
            logs = [log for log, _ in density.people_log_probabilities(values, problem.data, xp)]
            if len(logs) == 2:
                return logs
            first, second, tie, decided = logs
            return [first + decided, second + decided, tie]

        outcomes.append(counted_outcome("people", problem.data["anchors"]["counts"][:, :outcome_count], of_people))
    return outcomes


def draw_votes(problem: VotesProblem, values: Values, rng: np.random.Generator) -> Votes:
    """Simulate the votes of a problem under one set of values.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> votes = pd.DataFrame({"judge": ["a"] * 9, "first": "x", "second": "y", "winner": ["x"] * 6 + ["y"] * 3})
    >>> fit = voirdire.fit(votes, model="bradley-terry", method="map")
    >>> draw_votes(fit.problem, fit.posterior.central_values, np.random.default_rng(0)).counts.tolist()
    [[6, 3, 0]]
    """
    probability = cell_probabilities(problem.model, problem.density, [values], problem.coded_votes)
    return draw_answers(problem.votes, probability, rng)


def draw_answers(votes: Votes, probability: Floats, rng: np.random.Generator) -> Votes:
    """Draw as many votes in each cell as it has; ``probability`` is of (first, second, tie), shape (cells, 3)."""
    total = votes.counts.sum(axis=1)
    if (total == 1).all():
        counts = np.eye(3, dtype=np.int64)[sample_categorical(probability, rng)]
    else:
        counts = rng.multinomial(total, probability / probability.sum(axis=1, keepdims=True))
    if isinstance(votes, ContextVotes):
        return votes.with_counts(counts)
    names = (votes.judges, votes.criteria, votes.items)
    return CountedVotes(*names, votes.judge, votes.criterion, votes.first, votes.second, counts, votes.has_criteria)


MAX_STEPS = 60
BLOCK_SIZE = 100  # refits that step together, so that one without convergence delays few others
MAX_GRADIENT_GROWTH = 10.0  # growth of the gradient from which a refit is taken not to converge
MAX_RESAMPLED_COUNTS = 10_000_000  # resampled counts in memory at once
MAX_FACTORISED_ITEMS = 3000  # largest number of items with a factorised curvature


def refit_resampled(problem: VotesProblem, mode: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Find modes of tables of as many votes, drawn with replacement; shape (resamples, size).

    Parameters
    ----------
    mode : array, shape (size,)
        Mode of the whole table.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.infer.mode import find_mode
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 30, "second": "y", "winner": ["x", "x", "y"] * 10})
    >>> problem = encode_votes(load_model("bradley-terry"), read_votes(table))
    >>> refit_resampled(problem, find_mode(problem).x, 20, np.random.default_rng(0)).shape
    (20, 1)
    """
    if not _is_plain_bradley_terry(problem):
        return refit_modes(problem.density, lambda: resample_votes(problem, rng), resamples, mode)
    part = problem.data["votes"]
    batch = max(1, MAX_RESAMPLED_COUNTS // max(len(part["weight"]), 1))
    sizes = [min(batch, resamples - start) for start in range(0, resamples, batch)]
    return np.concatenate([_bradley_terry_modes(problem, mode, _resample_weights(part, size, rng)) for size in sizes])


def resample_votes(problem: VotesProblem, rng: np.random.Generator) -> Data:
    """Resample the votes of a problem with replacement; all resampled tables have the same shapes."""
    votes, on_criteria = problem.votes, problem.criteria_votes
    resampled = votes.with_codes(counts=resample_counts(votes.counts, rng))
    drawn_criteria = on_criteria
    if on_criteria is not None:
        drawn_criteria = on_criteria.with_codes(counts=resample_counts(on_criteria.counts, rng))
    options: dict[str, Any] = {"anchors": problem.anchors, "answer_weight": problem.answer_weight}
    return encode_votes(
        problem.model, resampled, drawn_criteria, ties=problem.density.ties, keep_empty=True, **options
    ).data


def _is_plain_bradley_terry(problem: VotesProblem) -> bool:
    """True if the model is Bradley-Terry without ties and weights, and small enough to factorise its curvature."""
    density = problem.density
    model = density.model
    return (
        model.reliability.kind == "fixed"
        and model.strength.kind == "normal"
        and model.pool == "none"
        and not (density.ties or density.anchors or density.added or "criteria" in problem.data)
        and problem.answer_weight is None
        and density.criteria * density.items <= MAX_FACTORISED_ITEMS
    )


def _resample_weights(part: dict[str, Any], resamples: int, rng: np.random.Generator) -> Floats:
    """Draw weights of the distinct outcomes for resampled tables, shape (resamples, outcomes)."""
    total = part["weight"].sum()
    return rng.multinomial(round(total), part["weight"] / total, resamples).astype(float)


def _bradley_terry_modes(problem: VotesProblem, mode: Floats, drawn: Floats) -> Floats:
    """Find modes with resampled weights of the outcomes, ``drawn`` of shape (resamples, outcomes)."""
    density, part = problem.density, problem.data["votes"]
    theta, converged = _solve_resampled_modes(density, part, density.values(mode, np)["strength"].ravel(), drawn)
    x = zero_sum_free(theta.reshape(len(drawn), density.criteria, density.items)).reshape(len(drawn), -1)
    unconverged = np.flatnonzero(~converged)
    for start in range(0, len(unconverged), BATCH_SIZE):
        batch = unconverged[start : start + BATCH_SIZE]
        tables = [{"votes": {**part, "weight": drawn[row]}} for row in batch]
        x[batch] = [refit.x for refit in find_modes(density, tables)]
    return np.asarray(x)


def _solve_resampled_modes(
    density: VotesDensity, part: dict[str, Any], centre: Floats, drawn: Floats
) -> tuple[Floats, Bools]:
    """Take steps with the curvature at ``centre``; return strengths, shape (resamples, size), and which converged."""
    from scipy.linalg import cho_factor, cho_solve
    from scipy.sparse import csr_array
    from scipy.special import expit

    pairs, size = len(part["pair_first"]), len(centre)
    precision = 1.0 / density.model.strength.numbers["sd"] ** 2
    offset = part["pair_criterion"] * density.items
    rows = np.concatenate([np.arange(pairs)] * 2)
    columns = np.concatenate([offset + part["pair_first"], offset + part["pair_second"]])
    design = csr_array((np.repeat([1.0, -1.0], pairs), (rows, columns)), shape=(pairs, size))
    column = np.arange(len(part["pair"]))
    shape = (pairs, len(column))
    of_pair = csr_array((np.ones(len(column)), (part["pair"], column)), shape=shape)
    won = csr_array((1.0 - part["outcome"], (part["pair"], column)), shape=shape)
    probability = expit(design @ centre)
    information = (of_pair @ part["weight"]) * probability * (1.0 - probability)
    curvature = (design.T @ design.multiply(information[:, None])).toarray() + precision * np.eye(size)
    factor = cho_factor(curvature, lower=True)
    strengths, converged = np.empty((len(drawn), size)), np.zeros(len(drawn), dtype=bool)
    for start in range(0, len(drawn), BLOCK_SIZE):
        block = slice(start, start + BLOCK_SIZE)
        # all votes, and votes for the first item, of every pair: shape (pairs, resamples)
        votes, wins = of_pair @ drawn[block].T, won @ drawn[block].T
        theta = np.repeat(centre[:, None], votes.shape[1], axis=1)
        initial_gradient = None
        for _ in range(MAX_STEPS):
            gradient = design.T @ (votes * expit(design @ theta) - wins) + precision * theta
            max_gradient = np.abs(gradient).max(axis=0, initial=0.0)
            initial_gradient = max_gradient if initial_gradient is None else initial_gradient
            active = (max_gradient > TOLERANCE) & (max_gradient <= MAX_GRADIENT_GROWTH * initial_gradient)
            if not active.any():
                break
            theta[:, active] -= cho_solve(factor, gradient[:, active])
        strengths[block], converged[block] = theta.T, max_gradient <= TOLERANCE
    return strengths, converged
