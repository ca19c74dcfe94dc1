"""Probability of scores that a model has not seen; see :mod:`voirdire.kinds.held_out`.

Where judges have tastes it is the mean over draws: of an item that a judge was not seen to score the mode of its taste
is zero, as if judges had none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.mode import find_mode
from voirdire.infer.nested.mode import NestedMode, nested_draws
from voirdire.kinds.held_out import Seen, score_predictions
from voirdire.kinds.scores import continuous, ordinal, points
from voirdire.kinds.scores.chances import score_probabilities
from voirdire.kinds.scores.density import form_of
from voirdire.kinds.scores.problem import ScoresProblem, encode_scores
from voirdire.model.specs import Model
from voirdire.model.terms.reliability import Values
from voirdire.tables.scores import Scores
from voirdire.typing import Bools

DRAWS = 100
DENSITY_DRAWS = (
    1000  # of a density, which is sharper than the spread of what a judge was not seen to make of items
)


def held_out(model: Model, table: Scores, here: Bools, levels: Sequence[object] | None = None) -> Seen:
    """Log probability of some scores, of a fit that has not seen them, and whether each was the most probable.

    On a continuous scale no score is the most probable: NaN.

    Raises
    ------
    InputError
        The model gives no probability of single scores.
    """
    form = form_of(model)
    if form not in (ordinal, continuous):
        raise InputError(f"model {model.name} gives no probability of single scores; leave it out")
    whole = encode_scores(model, table, levels=levels)
    names = whole.codes(table)
    how = {"levels": whole.scale.levels, "repeats": whole.density.repeats, "complete": False}
    how["contexts"] = whole.density.contexts > 0
    seen = encode_scores(model, table.subset(~here), **how)  # type: ignore[arg-type]
    every = _prediction_values(seen)
    asked = {name: code[here] for name, code in names.items()}
    if "context" in asked:  # one that was not seen is any
        known = np.isin(asked["context"], names["context"][~here])
        asked["context"] = np.where(known, asked["context"], -1)
    # asked of the whole table's problem, which knows the group of a judge whose scores are all held out
    if form is continuous:
        logs = [points.log_score_density(whole, one, table.score[here], **asked) for one in every]
        log = np.logaddexp.reduce(logs) - np.log(len(logs))
        return log, np.full(len(log), np.nan)
    chance = np.mean([score_probabilities(whole, one, tuple(asked.values())) for one in every], axis=0)
    return score_predictions(chance, np.searchsorted(whole.scale.levels, table.score[here]))


def _prediction_values(problem: ScoresProblem) -> list[Values]:
    """Values by which other scores are predicted: those at the mode, or draws."""
    mode, density = find_mode(problem), problem.density
    if not isinstance(mode, NestedMode):
        return [density.values(mode.x, np)]
    count = DENSITY_DRAWS if problem.in_points else DRAWS
    return [density.values(x, np) for x in nested_draws(mode, np.random.default_rng(0), count)]
