"""The posterior mode: starting points, search, and which mode to believe when there are several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.infer import engine
from voirdire.problem import Problem
from voirdire.program import Data, Program

Floats = npt.NDArray[np.float64]

TOLERANCE = 1e-6  # on the largest component of the gradient
MAX_ITERATIONS = 5000


@dataclass(frozen=True, eq=False)
class Mode:
    """A posterior mode in free coordinates.

    Parameters
    ----------
    x : array, shape (size,)
    log_density : float
        Unnormalised log posterior density there.
    gradient : float
        Largest absolute component of its gradient.
    iterations, evaluations : int
    starts : tuple of float
        Log density reached from each start that was tried; more than one only where the mode is in doubt.
    """

    x: Floats
    log_density: float
    gradient: float
    iterations: int
    evaluations: int
    starts: tuple[float, ...]

    @property
    def converged(self) -> bool:
        """Whether the gradient is small for the size of the log density (rounding bounds what is reachable)."""
        return bool(self.gradient <= 10 * TOLERANCE * max(1.0, abs(self.log_density) * 1e-4))


def find_mode(
    problem: Problem,
    *,
    start: Floats | None = None,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> Mode:
    """Maximise the posterior density.

    The first start takes every judge as fairly reliable, so it follows the majority. Where the mode found there
    holds a judge worse than chance, two more are tried: its mirror, and one whose judges' signs come from the leading
    direction of their agreement; the highest wins.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.problem import pose
    >>> from voirdire.specs import load_model
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 3, "second": "y", "winner": ["x", "x", "y"]})
    >>> find_mode(pose(load_model("bradley-terry"), read_votes(table))).converged
    True
    """
    program, data = problem.program, problem.data
    majority = np.ones(program.judges)
    starts = [start if start is not None else starting_point(program, data, majority)]
    with engine.double_precision():
        search = engine.minimiser(program, tolerance, max_iterations)
        found = [_run(search, starts[0], data)]
        if program.has_mirror and _worse_than_chance(program, found[0].x):
            signs = agreement_signs(program, data)
            tries = [program.mirror(found[0].x, np), starting_point(program, data, signs)]
            found += [_run(search, x, data) for x in tries]
    best = max(found, key=lambda mode: mode.log_density)
    return Mode(
        best.x,
        best.log_density,
        best.gradient,
        sum(mode.iterations for mode in found),
        sum(mode.evaluations for mode in found),
        tuple(mode.log_density for mode in found),
    )


def _run(search: Any, start: Floats, data: Data) -> Mode:
    end = search(start[None, :], data)
    gradient = float(np.abs(np.asarray(end.gradient)).max(initial=0.0))
    value = -float(end.value[0])
    return Mode(
        np.asarray(end.x[0]), value, gradient, int(end.iterations[0]), int(end.evaluations[0]), (value,)
    )


def starting_point(program: Program, data: Data, signs: Floats) -> Floats:
    """Cheap estimate to start from: smoothed log-odds of each item's wins, coins leaning by ``signs``.

    Parameters
    ----------
    signs : array, shape (judges,)
        How much each judge's votes count, from -1 (reversed) to 1.

    Returns
    -------
    array, shape (size,)
    """
    values = {p.name: np.zeros(p.shape(program.sizes)) for p in program.parameters}
    values["strength"] = _log_odds(data["votes"], signs, (program.criteria, program.items))
    if "weight" in values and "criteria" in data:
        values["weight"] = _log_odds(data["criteria"], signs, (1, program.criteria))[0]
    for name in ("reliability", "coin_first", "coin_second"):
        if name in values:
            values[name] = np.log1p(0.8 * signs) - np.log1p(-0.8 * signs)  # log-odds of (1 + 0.8 sign) / 2
    if "tie" in values:
        tied = sum(float(part["tied"].sum()) for part in data.values())
        decided = sum(float(part["decided"].sum()) for part in data.values())
        values["tie"] = np.array(np.log(2.0 * (tied + 1.0) / (decided + 1.0)))
    return np.asarray(program.flat(values, np), dtype=float)


def agreement_signs(program: Program, data: Data, sweeps: int = 50) -> Floats:
    """Each judge's agreement with the consensus that explains most of the panel's agreement, in [-1, 1].

    Power iteration on the matrix of judges' net votes per pair: the leading singular direction gives judges that
    answer against the others a negative sign. Oriented so that most votes have a positive sign.
    """
    part = data["votes"]
    net = part["weight"] * (1.0 - 2.0 * part["outcome"])
    votes = np.bincount(part["judge"], part["weight"], program.judges)
    shape = len(part["pair_first"])
    signs = np.ones(program.judges) + 1e-3 * np.cos(np.arange(program.judges))  # off the symmetric point
    for _ in range(sweeps):
        consensus = np.bincount(part["pair"], net * signs[part["judge"]], shape)
        agreement = np.bincount(part["judge"], net * consensus[part["pair"]], program.judges)
        signs = agreement / np.maximum(votes, 1.0)
        signs = signs / max(np.abs(signs).max(), 1e-300)
    return signs if (signs * votes).sum() >= 0 else -signs


def _log_odds(part: dict[str, Any], signs: Floats, shape: tuple[int, int]) -> Floats:
    judge_sign = signs[part["judge"]] if len(signs) > 1 else np.ones(len(part["judge"]))
    net = part["weight"] * judge_sign * (1.0 - 2.0 * part["outcome"])
    row = part["pair_criterion"][part["pair"]]
    first, second = (
        row * shape[1] + part["pair_first"][part["pair"]],
        row * shape[1] + part["pair_second"][part["pair"]],
    )
    size = shape[0] * shape[1]
    balance = np.bincount(first, net, size) - np.bincount(second, net, size)
    total = np.bincount(first, part["weight"], size) + np.bincount(second, part["weight"], size)
    theta = 2.0 * np.arctanh(balance / (total + 1.0)).reshape(shape)
    return np.asarray(theta - theta.mean(axis=1, keepdims=True))


def _worse_than_chance(program: Program, x: Floats) -> bool:
    values = program.values(x, np)
    if "reliability" in values:
        return bool((values["reliability"] < 0).any())
    return bool((values["coin_first"] + values["coin_second"] < 0).any())
