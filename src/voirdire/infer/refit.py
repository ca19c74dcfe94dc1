"""Bootstrap of the mode: the model fitted anew to votes drawn from the votes, with replacement (Efron 1979).

Refits of Bradley-Terry without ties share one factorisation: with H the curvature at the mode of the whole table, the
steps theta <- theta - H^-1 gradient(theta) contract by the relative difference between H and the refit's own curvature,
which is small where votes are many, and all refits take them together as products of matrices. Refits that do not
arrive, and all other models, are searched in compiled batches (:func:`voirdire.infer.mode.find_modes`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from voirdire.infer.mode import TOLERANCE, find_modes
from voirdire.problem import Problem, pose
from voirdire.terms.arrays import zero_sum_free

Floats = npt.NDArray[np.float64]

STEPS = 60
TOGETHER = 50  # refits in one compiled batch
NUMBERS = 10_000_000  # of the resampled counts held at once
LARGEST = 3000  # items up to which the curvature is factorised


def refit_resampled(problem: Problem, mode: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Modes of tables of as many votes, drawn with replacement; shape (resamples, size).

    Parameters
    ----------
    mode : array, shape (size,)
        Of the whole table.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.infer.mode import find_mode
    >>> from voirdire.specs import load_model
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 30, "second": "y", "winner": ["x", "x", "y"] * 10})
    >>> problem = pose(load_model("bradley-terry"), read_votes(table))
    >>> refit_resampled(problem, find_mode(problem).x, 20, np.random.default_rng(0)).shape
    (20, 1)
    """
    program = problem.program
    plain = program.model.reliability.kind == "fixed" and program.model.pool is None
    if (
        plain
        and not (program.ties or program.anchors or "criteria" in problem.data)
        and program.items <= LARGEST
    ):
        per = max(1, NUMBERS // max(len(problem.data["votes"]["weight"]), 1))
        sizes = [min(per, resamples - start) for start in range(0, resamples, per)]
        return np.concatenate([_bradley_terry(problem, mode, size, rng) for size in sizes])
    sizes = [min(TOGETHER, resamples - start) for start in range(0, resamples, TOGETHER)]
    return np.concatenate([_searched(problem, size, rng) for size in sizes])


def _searched(problem: Problem, resamples: int, rng: np.random.Generator) -> Floats:
    votes, on_criteria = problem.votes, problem.criteria_votes
    tables = []
    for _ in range(resamples):
        drawn = votes.recoded(counts=_drawn(votes.counts, rng))
        again = None if on_criteria is None else on_criteria.recoded(counts=_drawn(on_criteria.counts, rng))
        how = {"ties": problem.program.ties, "keep_empty": True}
        tables.append(
            pose(problem.model, drawn, again, anchors=problem.anchors, discount=problem.discount, **how).data
        )
    return np.stack([mode.x for mode in find_modes(problem.program, tables)])


def _drawn(counts: npt.NDArray[np.int64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    total = int(counts.sum())
    return rng.multinomial(total, counts.ravel() / total).reshape(counts.shape)


def _bradley_terry(problem: Problem, mode: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    from scipy.linalg import cho_factor, cho_solve
    from scipy.sparse import csr_array

    program, part = problem.program, problem.data["votes"]
    pairs, size = len(part["pair_first"]), program.criteria * program.items
    offset = part["pair_criterion"] * program.items
    rows = np.concatenate([np.arange(pairs)] * 2)
    columns = np.concatenate([offset + part["pair_first"], offset + part["pair_second"]])
    signs = np.repeat([1.0, -1.0], pairs)
    design = csr_array((signs, (rows, columns)), shape=(pairs, size))
    total = part["weight"].sum()
    drawn = rng.multinomial(round(total), part["weight"] / total, resamples).astype(float)
    # votes for the first item, and votes, of every pair: shape (pairs, resamples)
    shape = (pairs, len(part["pair"]))
    place, one = np.arange(len(part["pair"])), np.ones(len(part["pair"]))
    votes = csr_array((one, (part["pair"], place)), shape=shape) @ drawn.T
    wins = csr_array((1.0 - part["outcome"], (part["pair"], place)), shape=shape) @ drawn.T

    precision = 1.0 / program.model.strength.numbers["sd"] ** 2
    centre = program.values(mode, np)["strength"].reshape(size, 1)
    chance = 1.0 / (1.0 + np.exp(-(design @ centre)))
    counts = np.bincount(part["pair"], part["weight"], pairs)[:, None]
    curvature = (design.T @ (design.multiply(counts * chance * (1.0 - chance)))).toarray()
    factor = cho_factor(curvature + precision * np.eye(size), lower=True)
    theta = np.repeat(centre, resamples, axis=1)
    slope = np.empty_like(theta)
    for _ in range(STEPS):
        expected = votes / (1.0 + np.exp(-(design @ theta)))
        slope = design.T @ (expected - wins) + precision * theta
        if np.abs(slope).max() <= TOLERANCE:
            break
        theta = theta - cho_solve(factor, slope)
    x = zero_sum_free(theta.T.reshape(resamples, program.criteria, program.items)).reshape(resamples, -1)
    astray = np.flatnonzero(~(np.abs(slope).max(axis=0) <= TOLERANCE))
    for start in range(0, len(astray), TOGETHER):
        some = astray[start : start + TOGETHER]
        tables = [{"votes": {**part, "weight": drawn[row]}} for row in some]
        x[some] = [found.x for found in find_modes(program, tables)]
    return np.asarray(x)
