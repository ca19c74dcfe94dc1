"""Terms beside those of a model of rankings: covariates, own families, groups, time; what is shown and refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.errors import InputError
from voirdire.settings import PROB

FAMILY = list("aabbcd")
SUM = (
    "item + item:context + judge:item + length + judge:length + own-family + judge:own-family + item:category "
    "+ item:time"
)
PERIODS = 4


def panel(seed: int, contexts: int = 12, items: int = 7) -> tuple[pd.DataFrame, dict[str, Any], dict[str, Any]]:
    """Rankings of all items in each context by each judge, and what stands behind them."""
    rng = np.random.default_rng(seed)
    judges = len(FAMILY)
    of_item = np.array(list("abcd") + list(rng.choice(list("abcd"), items - 4)))
    worth, here = rng.normal(0, 1, items), rng.normal(0, 0.5, (items, contexts))
    taste, category = rng.normal(0, 0.5, (judges, items)), rng.normal(0, 0.6, (items, 2))
    slope, own = rng.normal(0, 0.8), rng.normal(0.5, 0.5)
    slopes, owns = slope + rng.normal(0, 0.3, judges), own + rng.normal(0, 0.4, judges)
    drift = np.cumsum(rng.normal(0, 0.4, (items, PERIODS)) * (np.arange(PERIODS) > 0), axis=1)
    rows = []
    for k, x in np.ndindex(judges, contexts):
        length, period, which = rng.normal(size=items), rng.integers(PERIODS), x % 2
        eta = worth + here[:, x] + taste[k] + slopes[k] * length + owns[k] * (of_item == FAMILY[k])
        eta = eta + category[:, which] + drift[:, period] + rng.gumbel(size=items)
        rank = np.argsort(np.argsort(-eta)) + 1
        rows += [
            (f"j{k}", f"c{x:02}", f"i{i}", rank[i], 100 + 50 * length[i], period, "mn"[which]) for i in range(items)
        ]
    names = ["judge", "context", "item", "rank", "length", "time", "category"]
    table = pd.DataFrame(rows, columns=names)
    share = table["time"].value_counts(normalize=True).reindex(range(PERIODS)).to_numpy()
    unit = table["length"].std(ddof=0) / 50
    truth = {
        "length": [slope * unit],
        "judge:length": (slopes - slope) * unit,
        "own-family": np.array([own, *owns]),
        "items": worth + drift @ share - (worth + drift @ share).mean(),  # on average over time
        "item:time": (drift - (drift @ share)[:, None]).ravel(),
        "item:category": category.ravel(),
    }
    families = {
        "families": {f"j{k}": name for k, name in enumerate(FAMILY)},
        "item_families": {f"i{i}": name for i, name in enumerate(of_item)},
    }
    return table, families, truth


TABLE, FAMILIES, TRUTH = panel(0)


@pytest.fixture(scope="module")
def fit() -> Any:
    return voirdire.fit(TABLE, terms=SUM, method="laplace", **FAMILIES)


def test_every_term_is_estimated_and_shown(fit: Any, covered: Any, tmp_path: Path) -> None:
    found = fit.as_dict()
    assert fit.covariates()["name"].tolist() == ["length", "own-family"]
    assert {"context", "taste", "judge:length", "item:category", "item:time"} <= {r["name"] for r in found["spreads"]}
    assert np.concatenate(list(covered(fit, TRUTH).values())).mean() > 0.7
    fit.save(tmp_path / "fit")
    assert json.dumps(voirdire.load(tmp_path / "fit").as_dict()) == json.dumps(found)
    with pytest.raises(InputError, match="fit old and new ones together"):
        fit.update(TABLE.head(7))


@pytest.mark.parametrize("terms", ["item + item:time", "item + item:time + length"])
def test_walks_of_several_periods_stand_without_other_terms(terms: str) -> None:
    """Of several periods, of which a ranking has a number of every step."""
    table = TABLE[TABLE["context"] < "c05"]
    found = voirdire.fit(table, terms=terms, method="map").as_dict()
    assert len([row for row in found["terms"] if row["term"] == "item:time"]) == 7 * PERIODS


@pytest.mark.slow
def test_covariates_are_terms_of_the_default_model() -> None:
    found = voirdire.fit(TABLE, covariates="length", by="category", method="map")
    assert [row.words for row in found.model.terms] == ["length", "judge:length", "item:category"]
    worth = found.ranking().set_index("item")["score"]
    assert np.corrcoef(worth.sort_index(), TRUTH["items"])[0, 1] > 0.5
    with_length = voirdire.cross_validate(TABLE, ["plackett-luce-tastes"], folds=2, covariates="length")
    without = voirdire.cross_validate(TABLE, ["plackett-luce-tastes"], folds=2)
    assert with_length["log_loss"][0] < without["log_loss"][0] - 0.05


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"terms": "item + judge:time"}, "judge:time is the same for all items of a ranking"),
        ({"terms": "item + context"}, "context is the same for all items of a ranking"),
        ({"terms": "item + judge:own"}, "no column 'own'"),
    ],
)
def test_what_says_nothing_of_an_order_is_refused(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        voirdire.fit(TABLE, method="map", **asked)


def test_a_column_of_names_is_of_whole_rankings() -> None:
    table = TABLE.assign(kind=np.where(TABLE["item"] < "i3", "small", "large"))
    with pytest.raises(InputError, match="'kind' differs between items of a ranking"):
        voirdire.fit(table, terms="item + judge:item:kind", method="map")


@pytest.mark.slow
@pytest.mark.long
def test_intervals_of_planted_effects_hold_what_they_say(covered: Any) -> None:
    """40 tables: shares within .87 and .93 of 90%, as far as that many can tell."""
    hits: dict[str, list[np.ndarray]] = {}
    for seed in range(40):
        table, families, truth = panel(seed)
        fit = voirdire.fit(table, terms=SUM, method="laplace", seed=seed, **families)
        for name, inside in covered(fit, truth).items():
            hits.setdefault(name, []).append(inside)
    for name, tables in hits.items():
        share = np.array([inside.mean() for inside in tables])
        error = share.std(ddof=1) / len(share) ** 0.5
        assert abs(share.mean() - PROB) < max(0.03, 3.0 * error), (name, share.mean(), error)
