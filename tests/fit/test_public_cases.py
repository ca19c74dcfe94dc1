"""Cases of fits that people asked about in public trackers, by the command line: the right value of each.

The values are published ones (baseball in the American League, 1987, of the package BradleyTerry2), follow from the
table's symmetry, or are maxima of the likelihood. Each has a test of its kind with made-up answers beside it.
"""

from __future__ import annotations

import json
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.model import specification_folder


def fitted(*words: str | Path) -> dict[str, Any]:
    done = CliRunner().invoke(app, ["fit", *map(str, words), "--json"])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def scores(found: dict[str, Any]) -> dict[str, float]:
    return {item["item"]: item["score"] for item in found["items"]}


def levels(found: dict[str, Any]) -> dict[str, str]:
    return {check["check"]: check["level"] for check in found["checks"]}


@pytest.fixture(scope="module")
def flat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bradley-Terry with priors so wide that the mode is the maximum of the likelihood."""
    text = (specification_folder("models") / "bradley-terry.toml").read_text(encoding="utf-8")
    for name, wide in (("sd = 4.0", "sd = 1000.0"), ("sd = 2.0", "sd = 1000.0")):
        assert text.count(name) == 1
        text = text.replace(name, wide)
    path = tmp_path_factory.mktemp("models") / "flat.toml"
    path.write_text(text.replace('name = "bradley-terry"', 'name = "flat"'), encoding="utf-8")
    return path


def votes(rows: list[tuple[str, str, str]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["first", "second", "winner"]).assign(judge="t")


def test_names_of_items_do_not_matter(cases: Path) -> None:
    one, other = (
        fitted(cases / name, "--model", "bradley-terry", "--method", "map") for name in ("v1a.csv", "v1b.csv")
    )
    assert list(scores(one)) == ["m0", "m1", "m2"]
    assert list(scores(one).values()) == pytest.approx(list(scores(other).values()), abs=1e-6)
    assert levels(one)["separation"] == levels(other)["separation"] == "warn"


def test_a_chain_in_which_each_beats_the_next_is_a_falling_line(cases: Path) -> None:
    found = scores(fitted(cases / "v2.csv", "--model", "bradley-terry", "--method", "map"))
    line = [found[f"i{n:02}"] for n in range(15)]
    assert all(a > b for a, b in pairwise(line))
    assert line == pytest.approx([-one for one in line[::-1]], abs=1e-4)


@pytest.mark.parametrize("items", [3, 6, 9])
def test_so_it_is_of_any_length(items: int) -> None:
    names = [f"x{n}" for n in range(items)]
    chain = votes([(a, b, a) for a, b in pairwise(names)])
    found = voirdire.fit(chain, model="bradley-terry", method="map").ranking()
    assert found["item"].tolist() == names
    assert found["score"].to_numpy() == pytest.approx(-found["score"].to_numpy()[::-1], abs=1e-4)


def test_baseball_with_and_without_home_advantage(cases: Path, flat: Path, tmp_path: Path) -> None:
    right = {"Milwaukee": 1.5814, "Detroit": 1.4364, "Toronto": 1.2945, "NewYork": 1.2476, "Boston": 1.1077}
    found = scores(fitted(cases / "v7.csv", "--model", flat, "--method", "map"))
    apart = {name: score - found["Baltimore"] for name, score in found.items() if name != "Baltimore"}
    assert apart == pytest.approx(right | {"Cleveland": 0.6839}, abs=2e-4)
    with_home = tmp_path / "home.toml"
    home_term = '\n[[term]]\nfactors = "home"\nsd = 1000.0\n'
    with_home.write_text(flat.read_text(encoding="utf-8") + home_term, encoding="utf-8")
    whole = fitted(cases / "v7.csv", "--model", with_home, "--method", "map", "--covariates", "home")
    found = scores(whole)
    right = {"Milwaukee": 1.6196, "Detroit": 1.4754, "Toronto": 1.3271, "NewYork": 1.2813, "Boston": 1.1438}
    apart = {name: score - found["Baltimore"] for name, score in found.items() if name != "Baltimore"}
    assert apart == pytest.approx(right | {"Cleveland": 0.7047}, abs=2e-4)
    (home,) = whole["covariates"]
    # one at home and the other not: 1 of the table's numbers, where the unit is their standard deviation
    assert home["effect"] / home["unit"] == pytest.approx(0.3023, abs=1e-4)


@pytest.mark.parametrize("seed", range(2))
def test_of_two_contrary_voters_neither_is_better(seed: int) -> None:
    # judges and items can be exchanged together: the median of what is said of each is any value between two heaps
    pairs = [("A", "B", "A"), ("B", "A", "A")] * 20
    one, other = votes(pairs), votes([(a, b, "B") for a, b, _ in pairs]).assign(judge="u")
    found = voirdire.fit(pd.concat([one, other]), model="crowd-bt", method="laplace", seed=seed)
    judges, items = found.judges(), found.ranking()
    assert judges["reliability"].to_numpy() == pytest.approx([0.5, 0.5], abs=0.05)
    assert items["score"].to_numpy() == pytest.approx([0, 0], abs=0.3)
    assert (judges["reliability_high"] - judges["reliability_low"] > 0.9).all()
    assert (items["high"] - items["low"] > 6).all()


@pytest.mark.parametrize("method", ["laplace", "auto"])
def test_the_search_between_two_contrary_voters_goes_on_from_where_they_are_alike(method: str) -> None:
    # there each coin is the same, and the density rises towards either voter: intervals were up to 4,600 log-odds
    pairs = [("A", "B", "A"), ("B", "A", "A")] * 2
    both = [votes(pairs), votes([(a, b, "B") for a, b, _ in pairs]).assign(judge="u")]
    found = voirdire.fit(pd.concat(both), model="crowd-bt-position", method=method)
    assert 3 < found.ranking()["high"][0] < 7  # 4.5 by NUTS
    assert found.checks().set_index("check").loc["curvature", "level"] == "ok"
    assert found.method == "laplace"


@pytest.mark.parametrize("model", ["crowd-bt", "maple-position", pytest.param(None, marks=pytest.mark.slow)])
def test_of_two_camps_of_voters_neither_is_better(model: str | None) -> None:
    rows = [(a, b, winner) for a, b in permutations("ABCD", 2) for winner in (min(a, b), min(a, b), "tie", b)]
    other = [(a, b, winner if winner == "tie" else a if winner == b else b) for a, b, winner in rows]
    camps = [votes(said).assign(judge=f"{name}{n}") for n in range(2) for name, said in (("t", rows), ("u", other))]
    found = voirdire.fit(pd.concat(camps), model=model, seconds=5)
    judges, items = found.judges(), found.ranking()
    np.testing.assert_allclose(items["score"], 0, atol=1e-9)
    np.testing.assert_allclose(items["low"], -items["high"], atol=1e-9)
    assert np.ptp(judges["reliability"]) < 0.02
    assert judges["reliability"].mean() == pytest.approx(0.5, abs=0.1)


def test_of_two_camps_one_whose_answers_count_for_less_gives_way() -> None:
    rows = [(a, b, winner) for a, b in permutations("ABCD", 2) for winner in (min(a, b), min(a, b), b)]
    other = [(a, b, a if winner == b else b) for a, b, winner in rows]
    camps = [votes(said).assign(judge=f"{name}{n}") for n in range(2) for name, said in (("t", rows), ("u", other))]
    of_t = {"t0": "f", "t1": "f"}
    found = voirdire.fit(pd.concat(camps), model="bradley-terry", method="laplace", families=of_t)
    assert found.ranking()["item"].tolist() == ["D", "C", "B", "A"]
    assert found.ranking()["score"][0] > 0.01


def test_of_two_contrary_voters_each_keeps_its_position_bias() -> None:
    pairs = [("A", "B"), ("B", "A")] * 10
    rows = [votes([(a, b, a) for a, b in pairs]), votes([(a, b, b) for a, b in pairs]).assign(judge="u")]
    found = voirdire.fit(pd.concat(rows), model="crowd-bt-position", method="laplace")
    bias = found.judges()["position_bias"]
    assert bias[0] > 0.2
    assert bias[1] == pytest.approx(-bias[0], abs=0.05)


def test_voters_that_contradict_each_other_under_one_criterion_alone_are_not_contrary() -> None:
    said = {"t": ("A", "B", "A"), "u": ("A", "B", "B")}
    rows = [(j, f"c{c}", "A", "B", of[c]) for j, of in said.items() for c in range(3)] * 5
    table = pd.DataFrame(rows, columns=["judge", "criterion", "first", "second", "winner"])
    found = voirdire.fit(table, model="maple", method="laplace").strengths()
    assert found.set_index(["criterion", "item"]).loc[("c0", "A"), "strength"] > 0.3


def test_people_tell_which_of_two_contrary_voters_is_right() -> None:
    pairs = [("A", "B", "A"), ("B", "A", "A")] * 10
    both = [votes(pairs), votes([(a, b, "B") for a, b, _ in pairs]).assign(judge="u")]
    people = votes([("A", "B", "A")] * 5).drop(columns="judge")
    found = voirdire.fit(pd.concat(both), model="crowd-bt", method="laplace", anchors=people, anchor_mode="joint")
    assert found.ranking().set_index("item").loc["A", "low"] > 0


@pytest.mark.parametrize("model", ["bradley-terry", "crowd-bt-position"])
def test_one_win_each_is_an_exact_tie(model: str) -> None:
    rows = [("A", "B", "A"), ("A", "B", "B"), ("B", "A", "A"), ("B", "A", "B"), ("A", "C", "tie")]
    items = voirdire.fit(votes(rows), model=model, method="laplace").ranking()
    np.testing.assert_allclose(items["score"], 0, atol=1e-9)
    assert items["item"].tolist() == ["A", "B", "C"]  # rounding ranks none above another
    one = voirdire.fit(votes([*rows, ("A", "B", "A")]), model=model, method="laplace").ranking()
    assert one["item"][0] == "A"
    assert one["score"][0] > 0.01


def test_ties_as_davidson_has_them(cases: Path, flat: Path) -> None:
    found = scores(fitted(cases / "v9.csv", "--model", flat, "--method", "map"))
    assert found == pytest.approx({"A": 1.1280, "B": -0.0014, "C": -0.3978, "D": -0.7287}, abs=2e-4)


@pytest.mark.parametrize("seed", range(2))
def test_with_and_without_ties_the_mode_is_the_maximum_of_the_likelihood(flat: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    names, strength = list("abcd"), rng.normal(0, 0.8, 4)
    first, second = rng.permuted(np.tile(np.arange(4), (300, 1)), axis=1)[:, :2].T
    d = strength[first] - strength[second]
    tie = rng.random(300) < (seed * 0.8) / (0.8 + 2 * np.cosh(d / 2))
    won = rng.random(300) < 1 / (1 + np.exp(-d))
    rows = [
        (names[i], names[j], "tie" if t else "first" if w else "second")
        for i, j, t, w in zip(first, second, tie, won, strict=True)
    ]

    def loss(x: np.ndarray) -> float:
        gap, nu = x[:4][first] - x[:4][second], np.exp(x[4]) if tie.any() else 0.0
        p_tie = nu / (nu + 2 * np.cosh(gap / 2))
        p = np.where(tie, p_tie, (1 - p_tie) / (1 + np.exp(np.where(won, -gap, gap))))
        return float(-np.log(p).sum() + x[:4].sum() ** 2 + (0.0 if tie.any() else x[4] ** 2))

    best = minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-7}).x[:4]
    found = voirdire.fit(votes(rows), model=str(flat), method="map").ranking().set_index("item")["score"]
    assert found[names].to_numpy() == pytest.approx(best - best.mean(), abs=2e-4)


@pytest.mark.slow
def test_judges_who_always_say_yes_do_not_decide(cases: Path) -> None:
    gold = pd.read_csv(cases / "l1_gold.csv").set_index("item")["label"].to_dict()
    found = fitted(cases / "l1.csv")
    said = {item["item"]: item["label"] for item in found["items"]}
    assert said == gold
    assert levels(found)["constant-judges"] == "warn"
    found = fitted(cases / "l1.csv", "--model", "majority-label", "--method", "map")
    assert sum(item["label"] == gold[item["item"]] for item in found["items"]) == 6


@pytest.mark.slow
def test_raters_without_a_common_item_are_warned_about(cases: Path) -> None:
    found = fitted(cases / "s1.csv")
    assert levels(found)["connectivity"] == "warn"
    message = next(check["message"] for check in found["checks"] if check["check"] == "connectivity")
    assert "without a common item" in message


@pytest.mark.parametrize("common", [False, True])
def test_a_common_item_is_what_connects_them(common: bool) -> None:
    rows = [("r1", f"a{n}", 1 + n % 4) for n in range(8)] + [("r2", f"b{n}", 2 + n % 3) for n in range(8)]
    rows += [("r2", "a0", 2)] if common else []
    found = voirdire.fit(pd.DataFrame(rows, columns=["judge", "item", "score"]), method="map")
    level = found.checks().set_index("check")["level"]["connectivity"]
    assert level == ("ok" if common else "warn")
