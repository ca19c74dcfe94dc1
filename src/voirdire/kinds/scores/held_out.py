"""Probability of scores that a model has not seen; see :mod:`voirdire.kinds.held_out`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voirdire.errors import InputError
from voirdire.kinds.held_out import Seen, scored, seen_values
from voirdire.kinds.scores import continuous, ordinal, points
from voirdire.kinds.scores.chances import chances
from voirdire.kinds.scores.density import form_of
from voirdire.kinds.scores.problem import pose_scores
from voirdire.model.specs import Model
from voirdire.tables.scores import Scores
from voirdire.typing import Ints


def held_out(model: Model, table: Scores, fold: Ints, levels: Sequence[object] | None = None) -> Seen:
    """Log probability of each score, of fits that have not seen its fold, and whether it was the most probable.

    On a continuous scale no score is the most probable: NaN.

    Raises
    ------
    InputError
        The model gives no probability of single scores.
    """
    form = form_of(model)
    if form not in (ordinal, continuous):
        raise InputError(f"model {model.name} gives no probability of single scores; leave it out")
    whole = pose_scores(model, table, levels=levels)
    names = {"judge": table.judge, "criterion": table.criterion, "item": table.item}
    log, chance = np.zeros(table.rows), np.zeros((table.rows, len(whole.scale.levels)))
    for number in np.unique(fold):
        here = fold == number
        how = {"levels": whole.scale.levels, "repeats": whole.density.repeats, "complete": False}
        seen = pose_scores(model, table.subset(~here), **how)  # type: ignore[arg-type]
        every = seen_values(seen)
        asked = {name: code[here] for name, code in names.items()}
        # asked of the whole table's problem, which knows the group of a judge whose scores are all held out
        if form is continuous:
            log[here] = points.log_predicted(whole, every[0], table.score[here], **asked)
        else:
            chance[here] = np.mean([chances(whole, one, tuple(asked.values())) for one in every], axis=0)
    if form is continuous:
        return log, np.full(table.rows, np.nan)
    return scored(chance, np.searchsorted(whole.scale.levels, table.score))
