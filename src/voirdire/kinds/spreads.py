"""The spreads that a model with structure learned."""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.columns import Columns
from voirdire.model.problem import Problem
from voirdire.model.terms.parameters import LogExponential

NAMES = {"log_spread": "item", "log_coin_mean": "coin_mean", "log_tie_spread": "tie_judge"}


def spread_table(problem: Problem, posterior: Posterior, prob: float) -> Columns:
    """Spreads (sd, log-odds) that were learned: name, value, low, high; ``item:criterion`` of several criteria.

    ``slope`` of a covariate's effect between judges, ``slope:covariate`` of several;

    ``item`` of strengths (``general`` of what they have in common under all criteria), ``context`` of an item between
    contexts, ``taste`` of an item between judges, ``family`` of an item between families of judges, ``tie_...`` of tie
    habits; ``coin_mean`` is the log-odds of the typical coin.
    """
    dims = {p.name: p.dims for p in problem.density.parameters if isinstance(p.prior, LogExponential)}
    learned = list(dims)
    if not learned:
        return {"name": np.array([], dtype=object)} | {key: np.zeros(0) for key in ("value", "low", "high")}
    shown = posterior.shown(lambda values: {name: np.exp(values[name]) for name in learned}, prob)
    names: list[str] = []
    for name in learned:
        short = NAMES.get(name, name.removeprefix("log_").removesuffix("_spread"))
        rows = np.size(shown[name].point)
        names += [short] if rows == 1 else [f"{short}:{level}" for level in problem.coords[dims[name][0]]]
    columns: Columns = {"name": np.array(names, dtype=object)}
    for at, key in (("point", "value"), ("low", "low"), ("high", "high")):
        columns[key] = np.concatenate([np.ravel(getattr(shown[name], at)) for name in learned])
    return columns
