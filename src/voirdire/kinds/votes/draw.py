"""Votes drawn: from a model, each cell's by the probabilities of its answers; and with replacement, with modes anew.

Votes that a model generates: on items, on criteria, and of people; see :mod:`voirdire.infer.outcomes`.

Refits of Bradley-Terry without ties share one factorisation: with H the curvature at the mode of the whole table, the
steps theta <- theta - H^-1 gradient(theta) contract by the relative difference between H and the refit's own curvature,
which is small where votes are many, and all refits take them together as products of matrices. Refits that do not
arrive, and all other models, are searched in compiled batches (:func:`voirdire.infer.mode.find_modes`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.infer.mode import find_modes
from voirdire.infer.outcomes import Outcome, counted_outcome
from voirdire.infer.posterior import TOLERANCE
from voirdire.kinds.answers import sample_categorical
from voirdire.kinds.bootstrap import TOGETHER, refit_modes, resample_counts
from voirdire.kinds.votes.answers import criterion_vote_codes
from voirdire.kinds.votes.contexts import ContextVotes
from voirdire.kinds.votes.density import VotesDensity
from voirdire.kinds.votes.problem import VotesProblem, encode_votes
from voirdire.kinds.votes.response_probabilities import (
    AskedPairs,
    answer_log_probabilities,
    cell_probabilities,
    criterion_vote_log_probabilities,
)
from voirdire.model.density import Data
from voirdire.model.terms.arrays import Array, zero_sum_free
from voirdire.model.terms.reliability import Values
from voirdire.tables.counts import CountedVotes, Votes
from voirdire.typing import Bools, Floats


def vote_outcomes(problem: VotesProblem) -> list[Outcome]:
    """Counts of first, second (and tie) in each cell; none where a model pools votes before it looks at them."""
    if problem.model.pool != "none":
        return []
    density, votes = problem.density, problem.coded_votes
    answers = 3 if density.ties else 2
    asked = AskedPairs.of_cells(problem.model, votes)

    def on_items(values: Values, xp: Any) -> list[Array]:
        return answer_log_probabilities(density, values, asked, xp)

    weight = problem.answer_weight
    of_items = 1.0 if weight is None else weight[votes.judge]
    found = [counted_outcome("votes", votes.counts[:, :answers], on_items, of_items)]
    if "criteria" in problem.data:
        judge, first, second, counts = criterion_vote_codes(problem)

        def on_criteria(values: Values, xp: Any) -> list[Array]:
            return criterion_vote_log_probabilities(density, values, judge, first, second, xp)

        of_criteria = 1.0 if weight is None else weight[judge]
        found.append(counted_outcome("criteria_votes", counts[:, :answers], on_criteria, of_criteria))
    if problem.anchors is not None:

        def of_people(values: Values, xp: Any) -> list[Array]:
            logs = [log for log, _ in density.people_log_probabilities(values, problem.data, xp)]
            if len(logs) == 2:
                return logs
            first, second, tie, decided = logs
            return [first + decided, second + decided, tie]

        found.append(counted_outcome("people", problem.data["anchors"]["counts"][:, :answers], of_people))
    return found


def draw_votes(problem: VotesProblem, values: Values, rng: np.random.Generator) -> Votes:
    """The votes of a problem, drawn anew under one set of values.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> votes = pd.DataFrame({"judge": ["a"] * 9, "first": "x", "second": "y", "winner": ["x"] * 6 + ["y"] * 3})
    >>> fit = voirdire.fit(votes, model="bradley-terry", method="map")
    >>> draw_votes(fit.problem, fit.posterior.central_values, np.random.default_rng(0)).counts.tolist()
    [[6, 3, 0]]
    """
    chance = cell_probabilities(problem.model, problem.density, [values], problem.coded_votes)
    return draw_answers(problem.votes, chance, rng)


def draw_answers(votes: Votes, chance: Floats, rng: np.random.Generator) -> Votes:
    """As many votes in each cell, drawn by the probabilities of (first, second, tie), shape (cells, 3)."""
    total = votes.counts.sum(axis=1)
    if (total == 1).all():
        counts = np.eye(3, dtype=np.int64)[sample_categorical(chance, rng)]
    else:
        counts = rng.multinomial(total, chance / chance.sum(axis=1, keepdims=True))
    if isinstance(votes, ContextVotes):
        return votes.with_counts(counts)
    names = (votes.judges, votes.criteria, votes.items)
    return CountedVotes(
        *names, votes.judge, votes.criterion, votes.first, votes.second, counts, votes.has_criteria
    )


STEPS = 60
BLOCK = 100  # refits that step together, so that one that does not arrive delays few others
HOPELESS = 10.0  # growth of the gradient after which a refit does not arrive
NUMBERS = 10_000_000  # of the resampled counts held at once
LARGEST = 3000  # items up to which the curvature is factorised


def refit_resampled(problem: VotesProblem, mode: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Modes of tables of as many votes, drawn with replacement; shape (resamples, size).

    Parameters
    ----------
    mode : array, shape (size,)
        Of the whole table.

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
    per = max(1, NUMBERS // max(len(part["weight"]), 1))
    sizes = [min(per, resamples - start) for start in range(0, resamples, per)]
    return np.concatenate(
        [_bradley_terry_modes(problem, mode, _resample_weights(part, size, rng)) for size in sizes]
    )


def resample_votes(problem: VotesProblem, rng: np.random.Generator) -> Data:
    """The tables of a problem with as many votes, drawn with replacement; of the same shapes each time."""
    votes, on_criteria = problem.votes, problem.criteria_votes
    drawn = votes.with_codes(counts=resample_counts(votes.counts, rng))
    again = on_criteria
    if on_criteria is not None:
        again = on_criteria.with_codes(counts=resample_counts(on_criteria.counts, rng))
    how: dict[str, Any] = {"anchors": problem.anchors, "answer_weight": problem.answer_weight}
    return encode_votes(problem.model, drawn, again, ties=problem.density.ties, keep_empty=True, **how).data


def _is_plain_bradley_terry(problem: VotesProblem) -> bool:
    """True if the model is Bradley-Terry without ties, of whole votes, and small enough for its curvature."""
    density = problem.density
    model = density.model
    return (
        model.reliability.kind == "fixed"
        and model.strength.kind == "normal"
        and model.pool == "none"
        and not (density.ties or density.anchors or density.added or "criteria" in problem.data)
        and problem.answer_weight is None
        and density.criteria * density.items <= LARGEST
    )


def _resample_weights(part: dict[str, Any], resamples: int, rng: np.random.Generator) -> Floats:
    """Weights of the distinct outcomes in tables of as many votes, drawn with replacement."""
    total = part["weight"].sum()
    return rng.multinomial(round(total), part["weight"] / total, resamples).astype(float)


def _bradley_terry_modes(problem: VotesProblem, mode: Floats, drawn: Floats) -> Floats:
    """Modes under other weights of the outcomes, ``drawn`` of shape (resamples, outcomes)."""
    density, part = problem.density, problem.data["votes"]
    theta, arrived = _fixed_curvature_steps(
        density, part, density.values(mode, np)["strength"].ravel(), drawn
    )
    x = zero_sum_free(theta.reshape(len(drawn), density.criteria, density.items)).reshape(len(drawn), -1)
    astray = np.flatnonzero(~arrived)
    for start in range(0, len(astray), TOGETHER):
        some = astray[start : start + TOGETHER]
        tables = [{"votes": {**part, "weight": drawn[row]}} for row in some]
        x[some] = [found.x for found in find_modes(density, tables)]
    return np.asarray(x)


def _fixed_curvature_steps(
    density: VotesDensity, part: dict[str, Any], centre: Floats, drawn: Floats
) -> tuple[Floats, Bools]:
    """Strengths after steps with the curvature at ``centre``, shape (resamples, size), and which have arrived."""
    from scipy.linalg import cho_factor, cho_solve
    from scipy.sparse import csr_array
    from scipy.special import expit

    pairs, size = len(part["pair_first"]), len(centre)
    precision = 1.0 / density.model.strength.numbers["sd"] ** 2
    offset = part["pair_criterion"] * density.items
    rows = np.concatenate([np.arange(pairs)] * 2)
    columns = np.concatenate([offset + part["pair_first"], offset + part["pair_second"]])
    design = csr_array((np.repeat([1.0, -1.0], pairs), (rows, columns)), shape=(pairs, size))
    place = np.arange(len(part["pair"]))
    shape = (pairs, len(place))
    of_pair = csr_array((np.ones(len(place)), (part["pair"], place)), shape=shape)
    won = csr_array((1.0 - part["outcome"], (part["pair"], place)), shape=shape)
    chance = expit(design @ centre)
    information = (of_pair @ part["weight"]) * chance * (1.0 - chance)
    curvature = (design.T @ design.multiply(information[:, None])).toarray() + precision * np.eye(size)
    factor = cho_factor(curvature, lower=True)
    found, arrived = np.empty((len(drawn), size)), np.zeros(len(drawn), dtype=bool)
    for start in range(0, len(drawn), BLOCK):
        block = slice(start, start + BLOCK)
        # votes for the first item, and votes, of every pair: shape (pairs, resamples)
        votes, wins = of_pair @ drawn[block].T, won @ drawn[block].T
        theta = np.repeat(centre[:, None], votes.shape[1], axis=1)
        first = None
        for _ in range(STEPS):
            slope = design.T @ (votes * expit(design @ theta) - wins) + precision * theta
            steepest = np.abs(slope).max(axis=0, initial=0.0)
            first = steepest if first is None else first
            going = (steepest > TOLERANCE) & (steepest <= HOPELESS * first)
            if not going.any():
                break
            theta[:, going] -= cho_solve(factor, slope[:, going])
        found[block], arrived[block] = theta.T, steepest <= TOLERANCE
    return found, arrived
