"""Votes drawn with replacement, and the modes of the model fitted to them; see :mod:`voirdire.kinds.bootstrap`.

Refits of Bradley-Terry without ties share one factorisation: with H the curvature at the mode of the whole table, the
steps theta <- theta - H^-1 gradient(theta) contract by the relative difference between H and the refit's own curvature,
which is small where votes are many, and all refits take them together as products of matrices. Refits that do not
arrive, and all other models, are searched in compiled batches (:func:`voirdire.infer.mode.find_modes`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.infer.mode import find_modes
from voirdire.infer.posterior import TOLERANCE
from voirdire.kinds.bootstrap import TOGETHER, refit_modes, resample_counts
from voirdire.kinds.votes.density import VotesDensity
from voirdire.kinds.votes.problem import VotesProblem, encode_votes
from voirdire.model.density import Data
from voirdire.model.terms.arrays import zero_sum_free
from voirdire.typing import Bools, Floats

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
    again = (
        None
        if on_criteria is None
        else on_criteria.with_codes(counts=resample_counts(on_criteria.counts, rng))
    )
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
