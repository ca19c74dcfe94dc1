"""Models of rankings compared by the probability of whole rankings that they have not seen."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire import InputError


def simulated(seed: int, context: float, taste: float, runs: int = 2) -> pd.DataFrame:
    """Six judges rank four of eight items in six contexts, several times each."""
    rng = np.random.default_rng(seed)
    worth, here, own = rng.normal(0, 1, 8), rng.normal(0, context, (6, 8)), rng.normal(0, taste, (6, 8))
    rows: list[Any] = []
    for x, k, run in itertools.product(range(6), range(6), range(runs)):
        shown = rng.choice(8, 4, replace=False)
        order = shown[np.argsort(-(worth + here[x] + own[k])[shown] - rng.gumbel(size=4))]
        rows += [(f"j{k}", f"c{x}", run, f"i{i}", rank) for rank, i in enumerate(order)]
    return pd.DataFrame(rows, columns=["judge", "context", "run", "item", "rank"])


@pytest.mark.long
@pytest.mark.slow
def test_the_model_that_made_the_rankings_predicts_them_best() -> None:
    found = voirdire.cross_validate(simulated(0, 1.5, 1.0), folds=4)
    assert found["model"].tolist() == ["plackett-luce-tastes", "plackett-luce-contexts", "plackett-luce"]
    assert (found["rankings"] == 72).all()
    assert (found["groups"] == 36).all()
    last = found.iloc[-1]
    assert last["difference"] > 2 * last["difference_se"]
    assert found["log_loss"].iloc[0] < math.log(24)
    plain = voirdire.cross_validate(simulated(1, 0.0, 0.0), folds=4).set_index("model")
    assert plain.loc["plackett-luce", "difference"] < 0.02  # what is not there costs little


def test_the_loss_is_that_of_a_fit_without_the_rankings() -> None:
    """Of alike items every one of all orders, with ties all with as many at each place, has the same probability."""
    rows = [(f"j{n}", i, r) for n in range(24) for i, r in zip("xyz", np.roll([1, 2, 3], n), strict=True)]
    rows += [(f"j{n}", i, r) for n in range(24, 48) for i, r in zip("xyz", np.roll([1, 2, 2], n), strict=True)]
    table = pd.DataFrame(rows, columns=["judge", "item", "rank"])
    found = voirdire.cross_validate(table, ["plackett-luce"], by=["answer"], folds=4)
    assert found["log_loss"][0] == pytest.approx((math.log(6) + math.log(3)) / 2, abs=0.06)
    assert found["rankings"][0] == 48


def test_units() -> None:
    table = simulated(2, 0.5, 0.0)
    found = voirdire.cross_validate(table, ["plackett-luce"], by=["context"], folds=3)
    assert found["groups"][0] == 6
    for by, said in ((["item"], "'item' is none of answer, question, context, criterion, judge"), ([], "empty")):
        with pytest.raises(InputError, match=said):
            voirdire.cross_validate(table, ["plackett-luce"], by=by)
    plain = table[table["run"] == 0].assign(run=table["context"]).drop(columns="context")
    with pytest.raises(InputError, match="no context column"):
        voirdire.cross_validate(plain, ["plackett-luce"], by=["context"])
