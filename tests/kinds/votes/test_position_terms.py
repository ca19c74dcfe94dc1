"""Effects of being shown first that differ by item: the term, and the check that asks for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.errors import InputError

TERMS = "item + position:item"


def panel(seed: int, sd: float, contexts: int = 1, votes: int = 2000) -> pd.DataFrame:
    """Votes of five judges on nine items at even distances, each with an effect of its position on log-odds."""
    rng = np.random.default_rng(seed)
    strength, effect = np.linspace(-1.5, 1.5, 9), sd * rng.normal(size=9)
    first = rng.integers(9, size=votes)
    second = (first + rng.integers(1, 9, votes)) % 9
    d = strength[first] - strength[second] + 0.5 * (effect[first] + effect[second])
    is_first = rng.random(votes) < 1.0 / (1.0 + np.exp(-d))
    columns = {"first": first, "second": second, "winner": np.where(is_first, first, second)}
    table = pd.DataFrame({name: [f"i{code}" for code in codes] for name, codes in columns.items()})
    table.insert(0, "judge", [f"j{code}" for code in rng.integers(5, size=votes)])
    return table if contexts == 1 else table.assign(context=[f"c{code}" for code in rng.integers(contexts, size=votes)])


def position_checks(result: voirdire.Fit) -> list[str]:
    checks = result.checks()
    return [*checks.loc[checks["check"] == "item-position", "message"]]


def test_effects_of_position_change_sign_with_the_order_and_scores_do_not() -> None:
    table = panel(0, 1.0)
    fit = voirdire.fit(table, terms=TERMS, method="map")
    turned = voirdire.fit(table.rename(columns={"first": "second", "second": "first"}), terms=TERMS, method="map")
    values, reversed_values = ([row["value"] for row in result.as_dict()["terms"]] for result in (fit, turned))
    np.testing.assert_allclose(values, np.negative(reversed_values), atol=2e-3)
    scores = [result.ranking().set_index("item")["score"].sort_index() for result in (fit, turned)]
    np.testing.assert_allclose(*scores, atol=2e-3)
    assert np.std(values) > 0.3


def test_a_fit_with_the_term_is_saved_and_predicts_both_orders_alike(tmp_path: Path) -> None:
    fit = voirdire.fit(panel(1, 1.0), terms=TERMS, method="laplace")
    (spread,) = [row for row in fit.as_dict()["spreads"] if row["name"] == "position:item"]
    assert spread["low"] < 1.0 < spread["high"]
    fit.save(tmp_path / "fit")
    again = voirdire.load(tmp_path / "fit")
    pd.testing.assert_frame_equal(again.ranking(), fit.ranking())
    asked = pd.DataFrame({"judge": "j0", "first": ["i0", "i8"], "second": ["i8", "i0"]})
    assert "position" in again.problem.covariates
    with pytest.warns(UserWarning, match="on average over position"):
        answers = again.predict(asked)
    assert answers["p_first"].sum() == pytest.approx(1.0, abs=0.05)


def test_an_unknown_order_has_no_effects_and_a_column_of_that_name_is_the_users() -> None:
    table = panel(2, 1.0, votes=200)
    with pytest.raises(InputError, match="which item was shown first is unknown"):
        voirdire.fit(table.assign(order="unknown"), terms=TERMS, method="map")
    rng = np.random.default_rng(0)
    place = pd.DataFrame(rng.normal(size=(200, 2)), columns=["position_first", "position_second"])
    result = voirdire.fit(pd.concat([table, place], axis=1), terms="item + position", method="map")
    (effect,) = result.as_dict()["covariates"]
    assert effect["unit"] == pytest.approx(place.to_numpy().std(), rel=0.01)
    (shown,) = voirdire.fit(table, terms="item + position", method="map").as_dict()["covariates"]
    assert shown["unit"] == 1.0


def test_the_check_names_the_term_and_is_silent_with_it() -> None:
    table = panel(3, 1.5)
    (message,) = position_checks(voirdire.fit(table, method="laplace"))
    assert f'Fit --terms "{TERMS}" (terms=)' in message
    assert not position_checks(voirdire.fit(table, terms=TERMS, method="laplace"))
    (message,) = position_checks(voirdire.fit(panel(3, 1.5, contexts=4), method="laplace"))
    assert '"item + item:context + position:item"' in message


def test_the_value_of_the_check_is_that_of_its_formula() -> None:
    table = panel(3, 1.5)
    result = voirdire.fit(table, method="map")
    (check,) = [check for check in result.all_checks if check.check == "item-position"]
    p = result.predict(table[["judge", "first", "second"]])
    said = np.where(table["winner"] == table["first"], 1.0, -1.0)
    mean = (p["p_first"] - p["p_second"]).to_numpy()
    pair = [frozenset(names) for names in zip(table["first"], table["second"], strict=True)]
    sums = pd.DataFrame({"pair": pair, "e": said - mean, "v": 1.0 - mean**2}).groupby("pair").sum()
    product = variance = 0.0
    for item in set(table["first"]):
        e, v = (sums.loc[[item in names for names in sums.index], name].to_numpy() for name in ("e", "v"))
        product += sum(e[i] * e[j] for i in range(len(e)) for j in range(len(e)) if i != j)
        variance += 2.0 * sum(v[i] * v[j] for i in range(len(e)) for j in range(len(e)) if i != j)
    spread = max(1.0, (sums["e"] ** 2).sum() / sums["v"].sum())
    assert check.value == pytest.approx(product / np.sqrt(variance) / spread, rel=1e-6)


def test_the_check_is_silent_on_tables_of_the_model_and_where_positions_have_no_model() -> None:
    fired = [bool(position_checks(voirdire.fit(panel(seed, 0.0, votes=600), method="map"))) for seed in range(10)]
    assert sum(fired) == 0
    assert not position_checks(voirdire.fit(panel(3, 1.5), model="learned-crowd-bt", method="map"))
    two = panel(3, 1.5).query("first in ('i0', 'i1') and second in ('i0', 'i1')")
    assert not position_checks(voirdire.fit(two, method="map"))
