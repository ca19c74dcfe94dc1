"""Checks of covariates and of own families, of tables of any kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire

JUDGES, ITEMS = list("abcd"), [f"i{n}" for n in range(8)]
LENGTHS = pd.DataFrame({"item": ITEMS, "length": [3, 1, 4, 1, 5, 9, 2, 6]})
OF_JUDGES = {judge: "xy"[n % 2] for n, judge in enumerate(JUDGES)}
OF_ITEMS = {item: "xy"[n % 2] for n, item in enumerate(ITEMS)}


def scores(favour: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    rows = [
        (j, c, i, float(1 + np.searchsorted([-1.5, 0, 1.5], favour * (OF_JUDGES[j] == OF_ITEMS[i]) + rng.logistic())))
        for j in JUDGES
        for c in range(12)
        for i in ITEMS
    ]
    return pd.DataFrame(rows, columns=["judge", "context", "item", "score"])


def rankings() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    rows = [(j, c, i, r) for j in JUDGES for c in range(4) for i, r in zip(ITEMS, 1 + rng.permutation(8), strict=True)]
    return pd.DataFrame(rows, columns=["judge", "context", "item", "rank"])


def votes() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    rows = [(j, *rng.choice(ITEMS, 2, replace=False), ["first", "second"][rng.integers(2)]) for j in JUDGES * 20]
    return pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])


def check(fit: Any, name: str) -> Any:
    return fit.checks().set_index("check").loc[name]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "unit"),
    [
        (scores, "log-odds"),
        (lambda: scores().assign(score=lambda t: t["score"] + 0.25), "points"),
        (rankings, "log-odds"),
        (votes, "log-odds"),
        (lambda: [votes(), scores().drop(columns="context")], "log-odds"),
    ],
    ids=["levels", "numbers", "rankings", "votes", "both"],
)
def test_a_covariate_that_is_the_items_alone_is_named(table: Any, unit: str) -> None:
    fit = voirdire.fit(table(), covariates=LENGTHS, method="laplace")
    found = check(fit, "covariates")
    effect = fit.covariates()["effect"][0]
    assert f"length {effect:+.2f} [" in found["message"]
    assert found["level"] == "warn"
    assert "length is the same wherever an item is asked about" in found["message"]
    assert f"] {unit} for each " in found["message"]


def test_a_covariate_of_answers_is_none_of_the_items() -> None:
    table = scores().assign(length=np.random.default_rng(6).normal(size=len(scores())))
    found = check(voirdire.fit(table, covariates="length", method="map"), "covariates")
    assert found["level"] == "ok"
    assert "nan" not in found["message"]


def test_a_covariate_that_differs_between_tables_alone_is_told_there() -> None:
    """The same item has one length in all votes, and another in all scores."""
    of_items = LENGTHS.set_index("item")["length"]
    table, scored = votes(), scores().drop(columns="context")
    for side in ("first", "second"):
        table[f"length_{side}"] = table[side].map(of_items)
    scored["length"] = scored["item"].map(of_items.sample(frac=1, random_state=0).set_axis(of_items.index))
    found = check(voirdire.fit([table, scored], covariates="length", method="map"), "covariates")
    assert found["level"] == "ok"


@pytest.mark.parametrize("varying", ["votes", "scores"])
def test_a_covariate_that_varies_in_one_table_is_told_there(varying: str) -> None:
    of_items, rng = LENGTHS.set_index("item")["length"], np.random.default_rng(7)
    table, scored = votes(), scores().drop(columns="context")
    for one, columns in ((table, ("first", "second")), (scored, ("item",))):
        more = rng.normal(size=len(one)) if (varying == "votes") == (one is table) else 0.0
        for name in columns:
            side = "" if name == "item" else f"_{name}"
            one[f"length{side}"] = one[name].map(of_items) + more * (name != "second")
    found = check(voirdire.fit([table, scored], covariates="length", method="map"), "covariates")
    assert found["level"] == "ok"


def test_judges_of_scores_who_favour_their_family_are_named() -> None:
    how: dict[str, Any] = {"families": OF_JUDGES, "item_families": OF_ITEMS}
    table = scores(favour=2.0)
    found = check(voirdire.fit(table, method="laplace", **how), "own-family")
    assert found["level"] == "warn"
    assert "to leave such answers out, --without-own-family" in found["message"]
    at_mode = check(voirdire.fit(table, method="map", **how), "own-family")
    assert "nan" not in at_mode["message"]
    assert "The mode alone does not say how sure that is." in at_mode["message"]


@pytest.mark.parametrize(("favour", "level"), [(-2.0, "warn"), (0.45, "ok")])
def test_judges_that_count_their_family_down_are_named_and_none_by_chance(favour: float, level: str) -> None:
    """At 0.45 the 95% interval of every judge is clear of 0, but not those that hold for all of them together."""
    fit = voirdire.fit(scores(favour=favour), method="laplace", families=OF_JUDGES, item_families=OF_ITEMS, prob=0.95)
    of_judges = fit.own_family().iloc[1:]
    assert ((of_judges["low"] > 0) | (of_judges["high"] < 0)).all()
    assert check(fit, "own-family")["level"] == level
