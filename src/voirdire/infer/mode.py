"""The posterior mode: starting points, search, and choice between several modes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from voirdire.infer.derivatives import Derivatives, count_numbers
from voirdire.infer.posterior import TOLERANCE, Mode
from voirdire.infer.search import SearchResult
from voirdire.model.density import Data, LogDensity
from voirdire.model.problem import Problem
from voirdire.typing import Floats

MAX_ITERATIONS = 5000
ROUGH_TOLERANCE = 1e-2  # gradient at which a search from another start is first stopped
MIN_GAIN = 1e-2  # gain in log density below which such a search stops, too
MAX_REMAINING_GAIN = 1.0  # largest further gain in log density of a search stopped there
MIN_MODE_DISTANCE = 0.1  # largest difference of coordinates below which two modes are the same
MAX_UNCOMPILED_WORK = 8e5  # total cost of tables up to which they are searched one by one: compilation takes longer
EVALUATION_OVERHEAD = 1e4  # fixed cost of one evaluation, in numbers of a table


_Search: TypeAlias = Callable[[list[Floats], list[list[Mode]]], list[Mode]]


def find_mode(
    problem: Problem,
    *,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
    start: Floats | None = None,
    chains: float = 0.0,
) -> Mode:
    """Maximise the posterior density of one problem; see :func:`find_modes`.

    ``start`` is a point near the mode, such as the mode of nearly the same table.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.kinds.votes.problem import encode_votes
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 3, "second": "y", "winner": ["x", "x", "y"]})
    >>> find_mode(encode_votes(load_model("bradley-terry"), read_votes(table))).converged
    True
    """
    limits: dict[str, Any] = {"tolerance": tolerance, "max_iterations": max_iterations}
    starts = None if start is None else [start]
    return find_modes(problem.density, [problem.data], **limits, starts=starts, chains=chains)[0]


def find_modes(
    density: LogDensity,
    tables: Sequence[Data],
    *,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
    roomy: bool = False,
    starts: list[Floats] | None = None,
    chains: float = 0.0,
) -> list[Mode]:
    """Maximise the posterior density for several tables of the same sizes at once, many in one compiled batch.

    The first start takes every judge as fairly reliable, so it follows the majority. If the mode found from it is in
    doubt (its mirror is nearly as probable, or more than a quarter of the panel's information is used reversed), two
    more starts are tried: the mirror, and a start with judges' signs by the leading direction of their agreement. The
    mode with the highest density is returned.

    Parameters
    ----------
    density : LogDensity
    tables : sequence of Data
        Tables that differ in length are padded with outcomes of weight zero.
    roomy : bool
        Pad compiled shapes to powers of four, so that tables of many lengths share a few compilations.
    starts : list of array, optional
        Starting point of the first search of each table.
    chains : float
        Seconds for chains that start from the end of a search for spreads, which then ends early; 0 for no chains.
    """
    if density.uses_marginal_likelihood:
        from voirdire.infer.latent_gaussian.mode import find_latent_mode

        start_points = [None] * len(tables) if starts is None else starts
        return [
            find_latent_mode(density, table, start, chains) for table, start in zip(tables, start_points, strict=True)
        ]
    is_small = sum(EVALUATION_OVERHEAD + count_numbers(table) for table in tables) <= MAX_UNCOMPILED_WORK
    if len(tables) == 1 and (is_small or not roomy):
        run = _search_one_table(density, tables[0], tolerance, max_iterations)
    elif is_small:
        limits: dict[str, Any] = {"tolerance": tolerance, "max_iterations": max_iterations}
        starts_alone = [None] * len(tables) if starts is None else [[start] for start in starts]
        return [
            find_modes(density, [table], **limits, starts=start)[0]
            for table, start in zip(tables, starts_alone, strict=True)
        ]
    else:
        run = _search_together(density, stack_tables(tables, roomy=roomy), tolerance, max_iterations)
    default_starts = [density.starts(table) for table in tables]
    first_starts = [points[0] for points in default_starts] if starts is None else starts
    modes_by_table = [[mode] for mode in run(first_starts, [])]
    other_starts = [
        points[1:] + density.additional_starts(modes[0].x, table)
        for points, modes, table in zip(default_starts, modes_by_table, tables, strict=True)
    ]
    for turn in range(max(map(len, other_starts))):
        # tables with fewer starts repeat their first, as a batch has one shape
        batch = [
            table_starts[turn] if turn < len(table_starts) else start
            for table_starts, start in zip(other_starts, first_starts, strict=True)
        ]
        for modes, mode, table_starts in zip(modes_by_table, run(batch, modes_by_table), other_starts, strict=True):
            modes += [mode] if turn < len(table_starts) else []
    return [_best_mode(modes) for modes in modes_by_table]


def stack_tables(tables: Sequence[Data], *, roomy: bool = False) -> Data:
    """Stack tables of the same sizes, shape (tables, ...); shorter ones are padded with zeros, which have no weight."""
    template = tables[0]
    stacked: Data = {}
    for table, part in template.items():
        stacked[table] = {}
        for name in part:
            columns = [np.asarray(data[table][name]) for data in tables]
            length = max(len(column) for column in columns)
            if roomy:
                length = 4 ** math.ceil(math.log(max(length, 1), 4))
            stacked[table][name] = np.stack(
                [np.pad(c, [(0, length - len(c)), *[(0, 0)] * (c.ndim - 1)]) for c in columns]
            )
    return stacked


def _best_mode(modes: list[Mode]) -> Mode:
    best = max(modes, key=lambda mode: mode.log_density)
    iterations, evaluations = (sum(mode.iterations for mode in modes), sum(mode.evaluations for mode in modes))
    starts = tuple(mode.log_density for mode in modes)
    return replace(best, iterations=iterations, evaluations=evaluations, starts=starts)


def _search_one_table(density: LogDensity, data: Data, tolerance: float, max_iterations: int) -> _Search:
    """Build the search of one table, which compiles at most the density, never the loop."""
    derivatives = Derivatives(density, data)

    def search_modes(starts: list[Floats], known: list[list[Mode]]) -> list[Mode]:
        rough = {"tolerance": max(ROUGH_TOLERANCE, tolerance), "gain": MIN_GAIN} if known else {"tolerance": tolerance}
        end = derivatives.minimum(starts[0], **rough, max_iterations=max_iterations)
        if known and _worth_finishing(end, known[0]):
            rough_end, end = (end, derivatives.minimum(end.x, tolerance=tolerance, max_iterations=max_iterations))
            end = end._replace(
                iterations=rough_end.iterations + end.iterations, evaluations=rough_end.evaluations + end.evaluations
            )
        slope = float(np.abs(end.gradient).max(initial=0.0))
        return [Mode(end.x, -end.value, slope, end.iterations, end.evaluations, (-end.value,))]

    return search_modes


def _worth_finishing(end: SearchResult, known: list[Mode]) -> bool:
    """Return True if a rough search may end in a new mode as high as the known ones."""
    best = max(mode.log_density for mode in known)
    is_known = any(np.abs(end.x - mode.x).max(initial=0.0) <= MIN_MODE_DISTANCE for mode in known)
    return not is_known and -end.value > best - MAX_REMAINING_GAIN


def _search_together(density: LogDensity, padded: Data, tolerance: float, max_iterations: int) -> _Search:
    """Build the search of several tables in one compiled batch."""
    from voirdire.infer import engine

    def search_modes(starts: list[Floats], known: list[list[Mode]]) -> list[Mode]:
        with engine.double_precision():
            end = engine.compiled_minimiser(density, tolerance, max_iterations)(np.stack(starts), padded)
        gradients = np.abs(np.asarray(end.gradient)).max(axis=1, initial=0.0)
        columns = (np.asarray(end.x), -np.asarray(end.value), gradients, end.iterations, end.evaluations)
        return [
            Mode(x, float(value), float(slope), int(iterations), int(evaluations), (float(value),))
            for x, value, slope, iterations, evaluations in zip(*columns, strict=True)
        ]

    return search_modes
