"""Effects of being shown first that differ by item: the term, and the check that asks for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.errors import InputError
from voirdire.model.specs import load_model
from voirdire.model.term_rows import TermRow

TERMS = "item + position:item"
SIDES = "left", "right"


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


def position_checks(result: voirdire.Fit, name: str = "item-position") -> list[str]:
    checks = result.checks()
    return [*checks.loc[checks["check"] == name, "message"]]


def in_contexts(seed: int, sd_judge: float, sd_context: float) -> pd.DataFrame:
    """Votes of four judges on five items in both orders in 25 contexts, with effects of position on log-odds."""
    rng = np.random.default_rng(seed)
    shift = sd_judge * rng.normal(size=(4, 1)) + sd_context * rng.normal(size=(4, 25))
    judge, context = (code.ravel() for code in np.indices((4, 25 * 5)))
    context = np.tile(context % 25, 2)
    judge, first = np.tile(judge, 2), rng.integers(5, size=500)
    second = (first + rng.integers(1, 5, 500)) % 5
    first, second = np.concatenate([first, second]), np.concatenate([second, first])
    d = np.linspace(-1.5, 1.5, 5)[first] - np.linspace(-1.5, 1.5, 5)[second] + shift[judge, context]
    winner = np.where(rng.random(1000) < 1.0 / (1.0 + np.exp(-d)), first, second)
    codes = {"judge": judge, "context": context, "first": first, "second": second, "winner": winner}
    return pd.DataFrame(
        {name: [f"{name[0] if name in ('judge', 'context') else 'i'}{c}" for c in code] for name, code in codes.items()}
    )


def test_effects_of_position_change_sign_with_the_order_and_scores_do_not() -> None:
    table = panel(0, 1.0)
    fit = voirdire.fit(table, terms=TERMS, method="map")
    turned = voirdire.fit(table.rename(columns={"first": "second", "second": "first"}), terms=TERMS, method="map")
    values, reversed_values = ([row["value"] for row in result.as_dict()["terms"]] for result in (fit, turned))
    np.testing.assert_allclose(values, np.negative(reversed_values), atol=2e-3)
    scores = [result.ranking().set_index("item")["score"].sort_index() for result in (fit, turned)]
    np.testing.assert_allclose(*scores, atol=2e-3)
    assert np.std(values) > 0.3


def test_a_fit_with_the_term_is_saved_updated_and_knows_who_is_first(tmp_path: Path) -> None:
    fit = voirdire.fit(panel(1, 1.0), terms=TERMS, method="laplace")
    (spread,) = [row for row in fit.as_dict()["spreads"] if row["name"] == "position:item"]
    assert spread["low"] < 1.0 < spread["high"]
    fit.save(tmp_path / "fit")
    again = voirdire.load(tmp_path / "fit")
    pd.testing.assert_frame_equal(again.ranking(), fit.ranking())
    asked = pd.DataFrame({"judge": "j0", "first": ["i0", "i8"], "second": ["i8", "i0"]})
    effect = {row["level"]: row["value"] for row in fit.as_dict()["terms"]}
    favours_first = again.predict(asked)["p_first"].sum() - 1.0
    assert np.sign(favours_first) == np.sign(effect["i0"] + effect["i8"])
    more = fit.update(panel(5, 1.0, votes=300))
    assert more.problem.model.name == TERMS
    assert more.judges()["votes"].sum() == 2300


def test_effects_of_judges_and_contexts_are_learned_and_predicted() -> None:
    terms = "item + item:context + position:judge + position:judge:context"
    table = in_contexts(0, 1.0, 1.5)
    (message,) = position_checks(voirdire.fit(table, method="map"), "context-position")
    assert f'Fit --terms "{terms}" (terms=)' in message
    assert not position_checks(voirdire.fit(in_contexts(0, 1.0, 0.0), method="map"), "context-position")
    fit = voirdire.fit(table, terms=terms, method="map")
    assert not position_checks(fit, "context-position")
    spreads = {row["name"]: row["value"] for row in fit.as_dict()["spreads"]}
    assert 0.9 < spreads["position:judge:context"] < 2.2
    judges = fit.judges()
    strength = fit.posterior.central_values["strength"]
    typical = 1.0 / (1.0 + np.exp(-NormalDist().inv_cdf(0.75) * np.sqrt(2.0) * strength.std()))
    by_coins = judges["reliability"] * typical + (1.0 - judges["reliability"]) * (1.0 - typical)
    np.testing.assert_allclose(by_coins, judges["p_right"], rtol=1e-6)
    np.testing.assert_allclose(judges["position_bias"], judges["first_rate"] - 0.5)
    first_rate = (table["winner"] == table["first"]).groupby(table["judge"]).mean()
    assert np.corrcoef(judges.set_index("judge")["first_rate"].sort_index(), first_rate)[0, 1] > 0.95
    shift = {row["level"]: row["value"] for row in fit.as_dict()["terms"] if row["term"] == "position:judge:context"}
    highest, lowest = (min(shift, key=lambda level: sign * shift[level]).split(", ") for sign in (-1.0, 1.0))
    asked = pd.DataFrame([highest, lowest], columns=["judge", "context"]).assign(first="i2", second="i1")
    asked = pd.concat([asked, asked.assign(context="new")])
    with pytest.warns(UserWarning, match="no context 'new'"):
        p = fit.predict(asked)["p_first"].to_numpy()
    assert p[0] > p[2:].max()
    assert p[1] < p[2:].min()


def test_probabilities_are_those_of_the_equation() -> None:
    fit = voirdire.fit(in_contexts(1, 1.0, 1.0), terms="item + position:judge + position:item + position", method="map")
    values = fit.posterior.central_values
    first, second, judge = np.array([0, 3]), np.array([4, 1]), np.array([2, 1])
    theta, of_item = values["strength"][0], values["position:item"]
    d = theta[first] - theta[second] + 0.5 * (of_item[first] + of_item[second])
    d += values["position:judge"][judge] + values["effect:position"]
    right = 1.0 / (1.0 + np.exp(-d))
    e1, e2 = (1.0 / (1.0 + np.exp(-values[name][judge])) for name in ("coin_first", "coin_second"))
    names = {"judge": judge, "first": first, "second": second}
    asked = pd.DataFrame(
        {name: [f"{'j' if name == 'judge' else 'i'}{c}" for c in code] for name, code in names.items()}
    )
    np.testing.assert_allclose(fit.predict(asked)["p_first"], e1 * right + (1.0 - e2) * (1.0 - right), rtol=1e-9)


def test_an_unknown_order_has_no_effects_and_a_column_of_that_name_is_the_users() -> None:
    table = panel(2, 1.0, votes=200)
    with pytest.raises(InputError, match="which item was shown first is unknown"):
        voirdire.fit(table.assign(order="unknown"), terms=TERMS, method="map")
    rng = np.random.default_rng(0)
    place = pd.DataFrame(rng.normal(size=(200, 2)), columns=["position_first", "position_second"])
    result = voirdire.fit(pd.concat([table, place], axis=1), terms="item + position", method="map")
    (effect,) = result.as_dict()["covariates"]
    assert effect["unit"] == pytest.approx(place.to_numpy().std(), rel=0.01)
    (shown,) = voirdire.fit(table, terms="item + position", method="map").as_dict()["terms"]
    assert (shown["term"], shown["level"]) == ("position", "")
    sides = table.assign(position=rng.choice(["left", "right"], 200))
    named = voirdire.fit(sides, terms="item + item:position", method="map")
    assert {row["level"] for row in named.as_dict()["terms"]} == {f"i{i}, {side}" for i in range(9) for side in SIDES}
    assert "1/2 for the item shown first" not in named.problem.model.equation


def test_scores_keep_a_column_of_that_name() -> None:
    rng = np.random.default_rng(0)
    rows = [(f"j{k}", f"i{i}", rng.integers(1, 6), side) for k in range(4) for i in range(6) for side in SIDES]
    table = pd.DataFrame(rows, columns=["judge", "item", "score", "position"])
    fit = voirdire.fit(table, terms="item + judge:position", method="map")
    levels = {row["level"] for row in fit.as_dict()["terms"]}
    assert levels == {f"j{k}, {side}" for k in range(4) for side in SIDES}


@pytest.mark.parametrize("terms", ["item + position", "item + item:context + position:item + position:judge:context"])
def test_sums_of_the_engine_are_those_of_the_density(terms: str) -> None:
    problem = voirdire.fit(in_contexts(2, 1.0, 1.0), terms=terms, method="map").problem
    density, engine = problem.density, problem.density.latent_model(problem.data)
    rng = np.random.default_rng(0)
    for _ in range(5):
        latent, hyper = rng.normal(size=engine.size), rng.normal(-1, 0.3, len(engine.hypers))
        values = density.values(engine.flat(latent, hyper), np)
        by_engine = engine.answers.log_likelihood(engine.predictors(latent, hyper), np)
        assert by_engine == pytest.approx(float(density.log_likelihood(values, problem.data, np)), abs=1e-6)
    assert "position is 1/2 for the item shown first" in problem.model.equation


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


def by_judge(seed: int, sd: float, votes: int = 2000) -> pd.DataFrame:
    """Votes of five judges on nine items, each judge with a shift of its log-odds towards the first item."""
    rng = np.random.default_rng(seed)
    strength, shift = np.linspace(-1.5, 1.5, 9), sd * np.linspace(-1.0, 1.0, 5)
    judge, first = rng.integers(5, size=votes), rng.integers(9, size=votes)
    second = (first + rng.integers(1, 9, votes)) % 9
    d = strength[first] - strength[second] + shift[judge]
    winner = np.where(rng.random(votes) < 1.0 / (1.0 + np.exp(-d)), first, second)
    codes = {"judge": judge, "first": first, "second": second, "winner": winner}
    return pd.DataFrame({name: [f"{'j' if name == 'judge' else 'i'}{c}" for c in code] for name, code in codes.items()})


def test_shifts_of_judges_are_found_beyond_what_coins_describe() -> None:
    table = by_judge(0, 1.5)
    result = voirdire.fit(table, method="map")
    (check,) = [check for check in result.all_checks if check.check == "judge-position"]
    assert 'Fit --terms "item + position:judge" (terms=)' in check.message
    assert not position_checks(voirdire.fit(table, terms="item + position:judge", method="map"), "judge-position")
    assert not position_checks(voirdire.fit(by_judge(0, 0.0), method="map"), "judge-position")
    values = result.posterior.central_values
    value = 0.0
    for k, judge in enumerate(result.problem.judges):
        own = table[table["judge"] == judge]
        codes = [[result.problem.items.index(name) for name in own[side]] for side in ("first", "second")]
        s = 1.0 / (1.0 + np.exp(values["strength"][0][codes[1]] - values["strength"][0][codes[0]]))
        e1, e2 = (1.0 / (1.0 + np.exp(-values[name][k])) for name in ("coin_first", "coin_second"))
        p = e1 * s + (1.0 - e2) * (1.0 - s)
        weight = 1.0 / (p * (1.0 - p))
        basis, slope = np.stack([s, 1.0 - s]), s * (1.0 - s)
        r = slope - basis.T @ np.linalg.solve(basis * weight @ basis.T, basis @ (weight * slope))
        score = r * weight * ((own["winner"] == own["first"]).to_numpy() - p)
        pair = [frozenset(names) for names in zip(own["first"], own["second"], strict=True)]
        between = pd.Series(score).groupby(pair).sum()
        value += score.sum() ** 2 / max((weight * r**2).sum(), (between**2).sum())
    assert check.value == pytest.approx(value, rel=1e-6)


def test_biased_coins_are_no_shifts() -> None:
    fired = []
    for seed in range(10):
        rng, table = np.random.default_rng(seed), by_judge(seed, 0.0, votes=1000)
        by_position = rng.random(1000) < 0.4  # of whom every other judge answers the first
        chosen = np.where(table["judge"].isin(["j0", "j2", "j4"]), table["first"], table["second"])
        table["winner"] = np.where(by_position, chosen, table["winner"])
        fired += position_checks(voirdire.fit(table, method="map"), "judge-position")
    assert not fired


def test_answers_that_the_model_takes_for_certain_are_no_error() -> None:
    table = pd.DataFrame({"judge": ["a", "b"] * 600, "first": ["x", "y", "z"] * 400, "second": ["y", "z", "w"] * 400})
    table["winner"] = table["first"]
    swapped = table.rename(columns={"first": "second", "second": "first"})
    result = voirdire.fit(
        pd.concat([table, swapped]), terms="item + judge:item", method="map", priors={"strength.rate": 0.001}
    )
    assert np.isfinite([check.value for check in result.all_checks if check.value is not None]).all()


def test_the_value_of_the_check_of_contexts_is_that_of_its_formula() -> None:
    table = in_contexts(0, 1.0, 1.5)
    result = voirdire.fit(table, method="map")
    (check,) = [check for check in result.all_checks if check.check == "context-position"]
    p = result.predict(table)["p_first"].to_numpy()
    values, judge = result.posterior.central_values, [result.problem.judges.index(name) for name in table["judge"]]
    e1, e2 = (1.0 / (1.0 + np.exp(-values[name][judge])) for name in ("coin_first", "coin_second"))
    s = (p - (1.0 - e2)) / (e1 + e2 - 1.0)
    slope = (e1 + e2 - 1.0) * s * (1.0 - s)
    rows = table.assign(e=slope * ((table["winner"] == table["first"]) - p) / (p * (1 - p)), v=slope**2 / (p * (1 - p)))
    mean = rows.groupby("judge")[["e", "v"]].sum().eval("e / v")
    rows["e"] -= rows["v"] * rows["judge"].map(mean)
    rows["pair"] = [" ".join(sorted(names)) for names in zip(rows["first"], rows["second"], strict=True)]
    pairs = rows.groupby(["judge", "context", "pair"])[["e", "v"]].sum()
    squares = (pairs**2).groupby(["judge", "context"]).sum()
    sums = pairs.groupby(["judge", "context"]).sum() ** 2
    products = (sums - squares).sum()
    spread = max(1.0, (pairs["e"] ** 2).sum() / pairs["v"].sum())
    assert check.value == pytest.approx(products["e"] / np.sqrt(2.0 * products["v"]) / spread, rel=1e-6)


def test_a_model_of_one_coin_learns_shifts_of_judges() -> None:
    table = by_judge(0, 1.5)
    model = replace(load_model("learned-crowd-bt"), name="shifted", terms=(TermRow(("position", "judge")),))
    fit = voirdire.fit(table, model=model, method="map")
    shift = {row["level"]: row["value"] for row in fit.as_dict()["terms"]}
    np.testing.assert_allclose(list(shift.values()), 1.5 * np.linspace(-1.0, 1.0, 5), atol=0.3)
    turned = table.rename(columns={"first": "second", "second": "first"})
    opposite = voirdire.fit(turned, model=model, method="map").as_dict()["terms"]
    np.testing.assert_allclose([row["value"] for row in opposite], np.negative(list(shift.values())), atol=5e-3)
    judges = fit.judges().set_index("judge")
    assert judges.loc["j4", "position_bias"] > 0.2
    assert judges.loc["j0", "position_bias"] < -0.2
