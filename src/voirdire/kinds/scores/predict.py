"""Probabilities of scores, from a fit."""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior, some_draws
from voirdire.kinds.columns import Columns
from voirdire.kinds.scores import continuous, ordinal, points
from voirdire.kinds.scores.baseline import no_single_scores
from voirdire.kinds.scores.chances import score_probabilities
from voirdire.kinds.scores.density import score_form_module
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.model.terms.censored import HALF
from voirdire.tables.encode import level_positions
from voirdire.tables.problems import Problems, nearest_name
from voirdire.tables.scores import read_scores
from voirdire.typing import Ints


def predict_scores(problem: ScoresProblem, posterior: Posterior, table: object) -> Columns:
    """Predict each score of a table: the posterior mean probability of every level, and the expected score.

    On a continuous scale the levels are its two ends: the probabilities that a score stands there.

    Parameters
    ----------
    table : path, dataframe or Scores
        Judges, items and criteria that the fit knows; ``score`` is not needed. Where the model tells contexts
        apart, rows without a context, and those of one that the fit does not know, are of any context like those known.

    Returns
    -------
    dict of array, shape (rows,)
        judge, criterion, item, p_<level> for each level, expected.

    Raises
    ------
    InputError
        An item, judge or criterion that the fit does not know, or a baseline, which knows no single scores.
    """
    problems, given = Problems("scores"), read_scores(table, answered=False)
    form = score_form_module(problem.model)
    if form not in (ordinal, continuous):
        problems.stop(no_single_scores(problem.model.name))
    codes: dict[str, Ints] = {}
    for name, theirs, ours in (
        ("judge", given.judges, problem.judges),
        ("criterion", given.criteria, problem.criteria),
        ("item", given.items, problem.items),
    ):
        place = level_positions(theirs, ours)
        for level in np.flatnonzero(place < 0):
            rows = np.flatnonzero(getattr(given, name) == level) + 1
            problems.rows(rows, f"the fit has no {name} {theirs[level]!r}{nearest_name(theirs[level], ours)}")
        codes[name] = place[getattr(given, name)]
    problems.raise_any()
    about = dict(codes)
    if problem.density.contexts and given.context is not None:
        about["context"] = level_positions(given.contexts, problem.table.contexts)[given.context]
    draws, asked = some_draws(posterior), tuple(about.values())
    columns: Columns = {
        name: np.array(ours, dtype=object)[codes[name]]
        for name, ours in (
            ("judge", problem.judges),
            ("criterion", problem.criteria),
            ("item", problem.items),
        )
    }
    if form is continuous:
        found = np.mean([points.ends_and_mean(problem, values, asked) for values in draws], axis=0)
        chance, expected = found[:, :2], problem.scale.low + (found[:, 2] + HALF) * problem.scale.range
    else:
        chance = np.mean([score_probabilities(problem, values, asked) for values in draws], axis=0)
        expected = chance @ np.array(problem.scale.levels)
    columns |= {f"p_{name}": chance[:, place] for place, name in enumerate(problem.scale.names)}
    return columns | {"expected": expected}
