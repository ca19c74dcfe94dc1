"""Held-out log loss of models, by folds that keep whole comparisons together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from voirdire.errors import InputError
from voirdire.infer.mode import find_mode
from voirdire.predict import probabilities
from voirdire.problem import pose
from voirdire.specs import Model, load_model
from voirdire.tables.votes import Votes, read_votes

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

UNITS = ("vote", "pair", "context", "criterion", "judge")


def cross_validate(
    votes: object,
    models: Sequence[str | Path | Model],
    *,
    by: Sequence[str] = ("pair",),
    folds: int = 5,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare models by the log loss of votes they have not seen.

    Votes are dealt into folds by groups (all votes on the same unordered pair in the same context, say), so that a
    model cannot recall an answer to the very same comparison. Each model is fitted by its mode on the other folds and
    predicts the held-out votes; a judge or an item without votes in the training folds is predicted from its prior's
    mode. The loss is the mean of -log P(answer).

    Parameters
    ----------
    votes : path, dataframe or Votes
    models : sequence of str, path or Model
    by : sequence of {"vote", "pair", "context", "criterion", "judge"}
        What makes a group. "pair" is the unordered pair of items; "vote" makes every vote a group.
    folds : int
        At least 2.
    seed : int

    Returns
    -------
    pandas.DataFrame
        One row per model, best first: model, log_loss, se (its standard error, clustered by group), accuracy (share of
        votes whose answer was the most probable), difference (from the best model) with its own clustered standard
        error difference_se, votes, groups.

    Raises
    ------
    InputError
        Unknown unit or model, fewer groups than folds, "context" without a context column.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame(
    ...     {"judge": "a", "first": list("xyzx") * 5, "second": list("yzwz") * 5, "winner": "first"}
    ... )
    >>> cross_validate(table, ["bradley-terry", "crowd-bt"], folds=2)["votes"].tolist()
    [20, 20]
    """
    table = read_votes(votes)
    specs = [load_model(model) for model in models]
    group = _groups(table, by)
    count = int(group.max()) + 1
    if folds < 2 or folds > count:
        raise InputError(f"folds {folds}: must be between 2 and the number of groups, {count}")
    if not specs:
        raise InputError("models is empty; name at least one model")
    order = np.random.default_rng(seed).permutation(count)
    fold = (np.arange(count) % folds)[np.argsort(order)][group]
    losses, right = {}, {}
    for spec in specs:
        chance = _held_out(spec, table, fold, folds)
        losses[spec.name] = -np.log(chance[np.arange(table.rows), table.row_outcome])
        right[spec.name] = chance.argmax(axis=1) == table.row_outcome
    return _table(losses, right, group, count)


def _held_out(spec: Model, table: Votes, fold: Ints, folds: int) -> Floats:
    """Probability of (first, second, tie) for each vote, from the fit that has not seen its fold."""
    out = np.zeros((table.rows, 3))
    for number in range(folds):
        here = fold == number
        counts = np.zeros_like(table.counts)
        np.add.at(counts, (table.row_cell[~here], table.row_outcome[~here]), 1)
        # the same cells with other counts: all folds share one compilation
        problem = pose(spec, replace(table, counts=counts), ties=table.has_ties, keep_empty=True)
        values = problem.program.values(find_mode(problem).x, np)
        out[here] = probabilities(spec, problem.program, [values], table)[table.row_cell[here]]
    return out


def _groups(table: Votes, by: Sequence[str]) -> Ints:
    problems = [f"by: {unit!r} is none of {', '.join(UNITS)}" for unit in by if unit not in UNITS]
    if "context" in by and table.row_context is None:
        problems.append("by: the table has no context column; leave 'context' out")
    if not by:
        problems.append("by is empty; name at least one unit")
    if problems:
        raise InputError(problems)
    cell = table.row_cell
    low, high = np.minimum(table.first, table.second)[cell], np.maximum(table.first, table.second)[cell]
    keys: dict[str, Any] = {
        "vote": np.arange(table.rows),
        "pair": low * len(table.items) + high,
        "context": table.row_context,
        "criterion": table.criterion[cell],
        "judge": table.judge[cell],
    }
    _, group = np.unique(np.stack([keys[unit] for unit in by]), axis=1, return_inverse=True)
    return np.asarray(group.ravel())


def _table(losses: dict[str, Floats], right: dict[str, Any], group: Ints, count: int) -> pd.DataFrame:
    import pandas as pd

    best = min(losses, key=lambda name: float(losses[name].mean()))
    rows = [
        {
            "model": name,
            "log_loss": float(loss.mean()),
            "se": _clustered(loss, group, count),
            "accuracy": float(right[name].mean()),
            "difference": float((loss - losses[best]).mean()),
            "difference_se": _clustered(loss - losses[best], group, count),
            "votes": len(loss),
            "groups": count,
        }
        for name, loss in losses.items()
    ]
    return pd.DataFrame(rows).sort_values("log_loss", ignore_index=True)


def _clustered(values: Floats, group: Ints, count: int) -> float:
    """Standard error of the mean when whole groups are drawn: the usual cluster-robust (sandwich) formula."""
    totals = np.bincount(group, values - values.mean(), count)
    return float(np.sqrt(np.square(totals).sum() * count / (count - 1)) / len(values))
