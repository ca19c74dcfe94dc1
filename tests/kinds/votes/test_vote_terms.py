"""Models of votes by the sum of terms that is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.errors import InputError


def panel(seed: int, judges: int = 5, items: int = 8, contexts: int = 12, each: int = 20) -> pd.DataFrame:
    """Votes with items' worth in contexts, judges' tastes and a pull of length, a row each."""
    rng = np.random.default_rng(seed)
    worth, here = rng.normal(0, 1, items), rng.normal(0, 0.7, (items, contexts))
    taste = rng.normal(0, 0.7, (judges, items))
    rows = []
    for k, x, _ in np.ndindex(judges, contexts, each):
        a, b = rng.choice(items, 2, replace=False)
        length = rng.normal(size=2)
        d = worth[a] - worth[b] + here[a, x] - here[b, x] + taste[k, a] - taste[k, b] + 0.6 * (length[0] - length[1])
        winner = "first" if rng.random() < 1 / (1 + np.exp(-d)) else "second"
        rows.append((f"j{k}", f"i{a}", f"i{b}", winner, f"c{x}", *length))
    names = ["judge", "first", "second", "winner", "context", "length_first", "length_second"]
    return pd.DataFrame(rows, columns=names)


TABLE = panel(0).assign(twice_first=1.0, twice_second=np.arange(1200) % 3)


def test_the_sum_says_which_terms_there_are() -> None:
    whole = voirdire.fit(
        TABLE, terms="item + item:context + judge:item + length + judge:length", covariates="length", method="laplace"
    )
    spreads = whole.spreads().set_index("name")
    assert set(spreads.index) == {"item", "coin_mean", "coin", "context", "taste", "judge:length"}
    for name in ("context", "taste"):
        assert spreads.loc[name, "low"] < 0.8
        assert spreads.loc[name, "high"] > 0.6
    (length,) = whole.as_dict()["covariates"]
    assert length["low"] < 0.6 < length["high"]
    tastes = voirdire.fit(TABLE, terms="item + judge:item", method="map")
    assert "taste" in set(tastes.spreads()["name"])
    assert "context" not in set(tastes.spreads()["name"])


def test_the_sum_of_a_default_is_the_default() -> None:
    named = voirdire.fit(TABLE, model="crowd-bt-contexts", method="map")
    summed = voirdire.fit(TABLE, terms="item + item:context", method="map")
    np.testing.assert_array_equal(named.ranking()["score"], summed.ranking()["score"])


def test_the_field_and_the_density_say_the_same() -> None:
    problem: Any = voirdire.fit(TABLE, terms="item + item:context + judge:item", method="map").problem
    density, rng = problem.density, np.random.default_rng(0)
    field = density.latent_model(problem.data)
    for _ in range(20):
        latent, hyper = rng.normal(size=field.size), rng.normal(-1, 0.3, len(field.hypers))
        values = density.values(field.flat(latent, hyper), np)
        by_field = field.answers.log_likelihood(field.predictors(latent, hyper), np)
        np.testing.assert_allclose(by_field, density.log_likelihood(values, problem.data, np), atol=1e-6)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"terms": "item + judge:time"}, "have no column 'time'"),
        ({"terms": "item + judge:context"}, "judge:context is the same for all items of a vote"),
        ({"terms": "item + judge:own"}, "no column 'own'"),
        ({"terms": "item + family:item"}, "family"),
        ({"terms": "item + length:twice"}, "has several numbers"),
        (
            {"terms": "item", "covariates": "length"},
            r"'length' is given \(covariates=, --covariates\), and no term names it",
        ),
        ({"terms": "judge"}, "no term item"),
    ],
)
def test_what_votes_do_not_take_is_refused(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        voirdire.fit(TABLE, method="map", **asked)


def test_one_judge_has_no_taste_and_one_context_says_nothing() -> None:
    alone = TABLE[TABLE["judge"] == "j0"]
    with pytest.raises(InputError, match="there is one judge"):
        voirdire.fit(alone, terms="item + judge:item", method="map")
    with pytest.raises(InputError, match="no column context"):
        voirdire.fit(TABLE.drop(columns="context"), terms="item + item:context", method="map")
