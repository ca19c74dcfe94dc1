"""One rule for the first place: every page, table and JSON says the same, and what it says holds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri
from typer.testing import CliRunner

import voirdire
from voirdire import Fit
from voirdire.cli import app
from voirdire.decide.pairs import compare_pairs
from voirdire.errors import InputError
from voirdire.report.board_page import board_page
from voirdire.report.fit_page import fit_page
from voirdire.report.page import Text
from voirdire.report.table import Table

KINDS = ("votes", "contexts", "criteria", "scores", "points", "systems", "labels", "rankings", "both")


def answers(kind: str, rng: np.random.Generator) -> tuple[Any, dict[str, Any]]:
    """A random small table of a kind, and how it is fitted."""
    items, judges = int(rng.integers(2, 6)), [f"judge {n}" for n in range(rng.integers(2, 4))]
    names = np.array([f"item {n}" for n in range(items)])
    worth = rng.normal(0, rng.choice([0.0, 0.3, 1.5]), items)
    size = int(rng.integers(20, 120))
    judge = rng.choice(judges, size)
    if kind in ("votes", "contexts", "criteria", "both"):
        first = np.r_[np.arange(items - 1), rng.integers(0, items, size - items + 1)]
        second = np.r_[np.arange(1, items), (first[items - 1 :] + rng.integers(1, items, size - items + 1)) % items]
        won = rng.random(size) < 1 / (1 + np.exp(worth[second] - worth[first]))
        table = pd.DataFrame({"judge": judge, "first": names[first], "second": names[second]})
        table["winner"] = np.where(won, "first", "second")
        if kind == "contexts":
            table["context"] = rng.choice(["p", "q", "r", "s"], size)
        if kind == "criteria":
            table["criterion"] = np.r_[["a"] * items, rng.choice(["a", "b"], size - items)]
        if kind != "both":
            return table, {"method": "laplace"}
        scores = answers("scores", rng)[0]
        how = {"method": "laplace", "levels": [1, 2, 3, 4, 5]}
        return [table, scores[scores["item"].isin(set(names))]], how
    if kind == "rankings":
        rows = []
        for n in range(8):
            order = np.argsort(-(worth + rng.gumbel(size=items)))
            rows += [(judges[n % len(judges)], names[i], rank + 1, f"c{n}") for rank, i in enumerate(order)]
        return pd.DataFrame(rows, columns=["judge", "item", "rank", "context"]), {
            "method": "laplace",
            "model": "plackett-luce",
        }
    item = np.r_[np.arange(items), rng.integers(0, items, size - items)]
    seen = np.clip(np.round(3 + worth[item] + rng.normal(0, 1, size)), 1, 5).astype(int)
    if kind in ("scores", "points"):
        table = pd.DataFrame({"judge": judge, "item": names[item], "score": seen}).drop_duplicates(["judge", "item"])
        how = {"model": "rating-continuous", "levels": [1, 6]} if kind == "points" else {"levels": [1, 2, 3, 4, 5]}
        return table.assign(score=table["score"] + 0.5 * (kind == "points")), how | {"method": "laplace"}
    grid = [(j, c, s) for j in judges for c in "pqrstu" for s in range(items)]
    table = pd.DataFrame(grid, columns=["judge", "context", "at"])
    noisy = worth[table["at"]] + rng.normal(0, 1, len(table))
    table["system"] = names[table.pop("at")]
    if kind == "systems":
        return table.assign(score=np.clip(np.round(3 + noisy), 1, 5).astype(int)), {
            "method": "laplace",
            "levels": [1, 2, 3, 4, 5],
        }
    is_right = np.r_[True, noisy[1:-1] > 0, False]  # so that there are two classes
    return table.assign(label=np.where(is_right, "right", "wrong")), {"method": "laplace", "positive": "right"}


def texts(sections: Any) -> str:
    blocks = [block for section in sections for block in section.blocks if isinstance(block, Text)]
    return " ".join(block.text for block in blocks).replace("\u2068", "").replace("\u2069", "")


def claimed(text: str) -> set[str] | None:
    """The items that a text puts first; None where it says nothing of that (or not of all of them)."""
    alone = re.search(r"(item \d) is the best of \d+ (?:items|systems), distinguishable from all others", text)
    shared = re.search(r"\d of \d (?:items|systems) share the first place \(([^)]*)\)", text)
    return {alone[1]} if alone else set(shared[1].split(", ")) if shared else None


def ranks_in(table: Table) -> dict[str, tuple[int, int]]:
    found = {}
    for row in table.records:
        ends = [int(part) for part in str(row["ranks"]).split(" to ")]
        found[str(row.get("item") or row["system"])] = (ends[0], ends[-1])
    return found


def contradictions(fit: Fit) -> list[str]:
    """Where two places that speak of a fit's first place, or of a pair, say different things."""
    result, board, decision = fit.as_dict(), fit.board(), fit.decide()
    first, problems = set(decision.first), []
    better = {(decision.items[i], decision.items[j]) for i, j in np.argwhere(decision.pairs.better)}
    names = decision.items
    if first != {one for one in names if not any((other, one) in better for other in names)}:
        problems.append("first place and pairs")
    said = {
        "json": set(result["decision"]["first"]),
        "board": set(board["decision"]["first"]),
        "board's verdict": claimed(board["verdict"]),
        "board's page": claimed(texts(board_page(fit, board).sections)),
        "report": claimed(texts(fit_page(fit).sections)) if "score" in fit.tables["items"] else first,
    }
    problems += [f"{where}: {named} for {first}" for where, named in said.items() if named != first]
    if {tuple(pair) for pair in board["decision"]["better"]} != better:
        problems.append("pairs of the board")
    worse = {one: sum((other, one) in better for other in names) for one in names}
    beaten = {one: sum((one, other) in better for other in names) for one in names}
    ranks = {one: (1 + worse[one], len(names) - beaten[one]) for one in names}
    tables = [block for section in board_page(fit, board).sections for block in section.blocks]
    tables += [block for section in fit_page(fit).sections for block in section.blocks]
    of_ranks = [one for one in tables if isinstance(one, Table) and any("ranks" in row for row in one.records)]
    problems += [f"ranks of table {one.name}" for one in of_ranks if ranks_in(one) != ranks]
    if {row["item"]: (row["first"], row["last"]) for row in board["items"]} != ranks:
        problems.append("ranks of the board")
    if {one: tuple(ends) for one, ends in result["decision"]["ranks"].items()} != ranks:
        problems.append("ranks in JSON")
    in_python = fit.systems() if result.get("systems") else fit.ranking()
    by_itself = [[row["rank_low"], row["rank_high"]] for row in result["systems" if result.get("systems") else "items"]]
    if by_itself != in_python[["rank_low", "rank_high"]].to_numpy().tolist():
        problems.append("ranks of each item by itself")
    for row in board["next"]:
        if row["apart"] != ((row["better"], row["worse"]) in better):
            problems.append(f"neighbours {row}")
    if board["items"][0]["item"] != decision.row["item"] or result["decision"]["leader"] not in first:
        problems.append("the leader")
    return problems


@pytest.mark.parametrize("kind", [pytest.param(k, marks=[pytest.mark.slow] * (k != "votes")) for k in KINDS])
def test_all_places_say_the_same(kind: str) -> None:
    rng = np.random.default_rng([46, KINDS.index(kind)])
    for _ in range(2):
        table, how = answers(kind, rng)
        assert contradictions(voirdire.fit(table, **how)) == []


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_125_fits_of_each_kind_say_the_same_everywhere(kind: str) -> None:
    for seed in range(125):
        table, how = answers(kind, np.random.default_rng([seed, KINDS.index(kind)]))
        assert contradictions(voirdire.fit(table, **how)) == [], seed


@pytest.mark.slow
def test_the_command_line_says_what_json_says(tmp_path: Path) -> None:
    for seed in range(2):
        answers("votes", np.random.default_rng(seed))[0].to_csv(tmp_path / "votes.csv", index=False)
        asked = ["fit", str(tmp_path / "votes.csv"), "--method", "laplace"]
        found = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)["decision"]
        shown = " ".join(CliRunner().invoke(app, asked).stdout.split())
        assert claimed(shown) == set(found["first"])
        leads = re.match(r"item \d is the best of|\d of \d items share the first place", shown)
        assert leads, shown[:200]
        assert found["rule"] in shown


@pytest.mark.slow
@pytest.mark.parametrize(("items", "panels"), [(3, 3000), (8, 1000), (20, 400)])
def test_statements_hold_together(items: int, panels: int) -> None:
    """Of panels of equal items some pair is distinguishable in at most 5%, give or take two standard errors."""
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(panels):
        mixing = rng.normal(size=(items, items))
        centre = mixing @ rng.normal(size=items)  # what was estimated of equal items
        draws = centre + rng.normal(size=(800, items)) @ mixing.T
        wrong += bool(compare_pairs(draws, 0.95).better.any())
    assert wrong / panels <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / panels)
    assert wrong > 0


def test_a_scale_that_all_scores_share_does_not_blur_their_order() -> None:
    """Draws of one order, far apart by a factor that nobody knows, are of one order."""
    rng = np.random.default_rng(0)
    order = np.arange(6.0) + 0.2 * rng.normal(size=(4000, 6))
    scale = np.exp(2.0 * rng.normal(size=(4000, 1)))
    assert compare_pairs(order, 0.95).better.sum() == 15
    assert compare_pairs(scale * order, 0.95).better.sum() == 15
    near = np.arange(6.0) + 3.0 * rng.normal(size=(4000, 6))
    for draws in (near, scale * near):
        pairs = compare_pairs(draws, 0.95)
        assert pairs.better.sum() == 0
        assert pairs.t < 4.0


def test_the_deviation_of_a_pair_is_that_of_the_probability_that_it_is_reversed() -> None:
    rng = np.random.default_rng(0)
    normal = np.stack([rng.normal(1.0, 0.6, 4000), rng.normal(0.0, 0.6, 4000)], axis=1)
    for draws in (normal, normal * np.exp(rng.normal(size=(4000, 1)))):
        pairs = compare_pairs(draws, 0.95)
        reversed_share = (draws[:, 0] < draws[:, 1]).mean()
        assert pairs.median[0, 1] / pairs.deviation[0, 1] == pytest.approx(-ndtri(reversed_share), abs=0.03)
        assert pairs.t == pytest.approx(1.96, abs=0.08)


def test_ranks_and_first_place_follow_from_the_pairs() -> None:
    """An item that is not distinguishable from the first, but worse than the second, does not share the first place."""
    rng = np.random.default_rng(0)
    common = rng.normal(0, 5, 4000)
    draws = np.stack([rng.normal(0.5, 5, 4000), common, common - 0.5 + rng.normal(0, 0.05, 4000)], axis=1)
    pairs = compare_pairs(draws, 0.95)
    assert pairs.better.tolist() == [[False, False, False], [False, False, True], [False, False, False]]
    assert pairs.in_first_place.tolist() == [True, True, False]
    assert [end.tolist() for end in pairs.ranks] == [[1, 1, 2], [3, 2, 3]]


def planted(rng: np.random.Generator) -> tuple[Fit, np.ndarray]:
    """A fit of six items whose worth is drawn, as a learned spread expects, from a normal distribution."""
    worth = rng.normal(0, 0.7, 6)
    names = np.array([f"item {n}" for n in range(6)])
    first = rng.integers(0, 6, 240)
    second = (first + rng.integers(1, 6, 240)) % 6
    won = rng.random(240) < 1 / (1 + np.exp(worth[second] - worth[first]))
    table = pd.DataFrame({"judge": "a", "first": names[first], "second": names[second]})
    table["winner"] = np.where(won, "first", "second")
    return voirdire.fit(table, model="bradley-terry", method="laplace", priors={"strength.sd": 0.7}), worth


@pytest.mark.long
@pytest.mark.slow
def test_planted_boards_are_not_contradicted_and_the_leaders_score_is_covered() -> None:
    """The leader's interval needs no correction for its having been chosen: of 200 boards it covers 90% or so."""
    wrong = covered = 0
    for seed in range(200):
        fit, worth = planted(np.random.default_rng([7, seed]))
        decision = fit.decide()
        code = [int(name.split()[1]) for name in decision.items]
        wrong += any(worth[code[i]] <= worth[code[j]] for i, j in np.argwhere(decision.pairs.better))
        truth = worth[int(decision.row["item"].split()[1])] - worth.mean()
        covered += decision.row["low"] <= truth <= decision.row["high"]
    assert wrong / 200 <= 0.05
    assert 0.86 <= covered / 200 <= 0.94  # .90, two standard errors of .021


def test_the_cheapest_item_that_is_good_enough() -> None:
    rng = np.random.default_rng(0)
    worth = np.array([1.4, 1.4, -1.5])
    first = rng.integers(0, 3, 900)
    second = (first + rng.integers(1, 3, 900)) % 3
    won = rng.random(900) < 1 / (1 + np.exp(worth[second] - worth[first]))
    names = np.array(["dear", "fair", "poor"])
    table = pd.DataFrame({"judge": "a", "first": names[first], "second": names[second]})
    fit = voirdire.fit(table.assign(winner=np.where(won, "first", "second")), model="bradley-terry")
    prices = {"dear": 10, "fair": 2, "poor": 0.1}
    choice = fit.decide(prices, 0.6).choice
    assert (choice.item, choice.price) == ("fair", 2.0)
    assert fit.decide(prices, 5.0).choice.item == "poor"
    assert fit.decide(pd.DataFrame({"item": list(prices), "price": list(prices.values())}), 0.6).choice == choice
    none = fit.decide(prices, 0.001).choice
    assert none.item is None
    assert "No item is surely within 0.001 of the best" in none.sentence()


def test_wrong_prices_are_refused_all_at_once() -> None:
    fit = voirdire.fit(answers("votes", np.random.default_rng(1))[0], method="laplace")
    with pytest.raises(InputError) as caught:
        fit.decide({"item 0": -1, "item 00": 2}, 0.0)
    for said in ("price -1; give 0 or more", "'item 00' is none of the", "no price of 'item 1'", "margin above 0"):
        assert said in str(caught.value)
    with pytest.raises(InputError, match="price 'cheap'"):
        fit.decide(dict.fromkeys(fit.problem.items, "cheap"), 1.0)


def test_no_draws_no_decision() -> None:
    table = answers("votes", np.random.default_rng(1))[0]
    mode = voirdire.fit(table, method="map")
    assert mode.as_dict()["decision"] is None
    with pytest.raises(InputError, match="needs draws"):
        mode.decide()


@pytest.mark.parametrize("kind", ["votes", "ties", "contexts", "scores"])
def test_items_that_the_table_treats_alike_are_said_to_be_alike(kind: str) -> None:
    """Twins y and z are as good as each other in every number, and no others are averaged."""
    rng = np.random.default_rng(5)
    rows = []
    for n in range(24):
        judge, context, y_better = "ab"[n % 2], f"p{n % 4}", "first" if rng.random() < 0.4 else "second"
        for twin in "yz":
            if kind == "scores":
                rows.append((f"{judge}{n}", twin, 1 + n % 3))
                rows += [(f"{judge}{n}", "x", 2 + n % 4)] * (twin == "y")
                continue
            rows.append((judge, twin, "x", "tie" if kind == "ties" and n % 5 == 0 else y_better, context))
            rows += [(judge, "w", twin, "second", context)] * (n % 3 == 0)
    columns = ["judge", "item", "score"] if kind == "scores" else ["judge", "first", "second", "winner", "context"]
    table = pd.DataFrame(rows, columns=columns)
    table = table.drop(columns="context") if kind in ("votes", "ties") else table
    fit = voirdire.fit(table, method="laplace")
    found = fit.ranking().set_index("item")
    pd.testing.assert_series_equal(
        found.loc["y"].drop("rank"), found.loc["z"].drop("rank"), check_names=False, rtol=0, atol=0
    )
    assert abs(found["p_best"].sum() - 1.0) < 1e-9
    assert found.loc["x", "score"] != found.loc["y", "score"]
    pairs = {(fit.decide().items[i], fit.decide().items[j]) for i, j in np.argwhere(fit.decide().pairs.better)}
    assert not {("y", "z"), ("z", "y")} & pairs


def test_of_pairs_that_nothing_links_no_item_is_first(tmp_path: Path) -> None:
    rows = [(judge, f"{n}/1", f"{n}/2", "first") for judge in ("ann", "bob", "cyd") for n in range(6)]
    votes = pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])
    fit = voirdire.fit(votes, method="laplace")
    assert fit.decision is None
    assert fit.as_dict()["decision"] is None
    with pytest.raises(voirdire.InputError, match="no item is first of all; collect votes between the pairs"):
        fit.board()
    page = fit_page(fit)
    assert "No item is first of all" in texts(page.sections)
    assert not any(tile[0] == "Best item" for tile in page.tiles)
    votes.to_csv(tmp_path / "votes.csv", index=False)
    shown = CliRunner().invoke(app, ["fit", str(tmp_path / "votes.csv"), "--method", "laplace"]).stdout
    assert shown.startswith("No item is first of all")
    linked = pd.concat([votes, votes.head(1).assign(second="1/1")])
    assert voirdire.fit(linked, method="laplace").decision is not None


def test_a_panel_that_may_be_wrong_as_a_whole_is_wrong_once() -> None:
    """Draws turned round are a way to be wrong of all statements together, and are taken off what is allowed."""
    rng = np.random.default_rng(3)
    draws = np.linspace(1.0, -1.0, 6) + 0.08 * rng.normal(size=(4000, 6))
    plain = compare_pairs(draws, 0.95).better
    assert plain.sum() == 15
    draws[:60] *= -1.0  # 1.5%
    found = compare_pairs(draws, 0.95)
    np.testing.assert_array_equal(found.better, plain)
    assert found.t == compare_pairs(draws[60:], 0.95 / (1.0 - 60 / 4000)).t  # the others hold so much more surely
    draws[:260] = -np.abs(draws[:260, :1]) * np.linspace(1.0, -1.0, 6)  # 6.5%: more than is allowed
    assert not compare_pairs(draws, 0.95).better.any()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["votes", "scores"])
def test_items_that_a_table_treats_alike_have_the_same_ranks(kind: str) -> None:
    differ = 0
    for won in (38, 39, 40):
        won_rows = [("a", x, "z", x if n < won else "z") for x in ("x", "y") for n in range(60)]
        table = pd.DataFrame(won_rows, columns=["judge", "first", "second", "winner"])
        how: dict[str, Any] = {"model": "bradley-terry"}
        if kind == "scores":
            said = [(f"j{n}", x, 3 + (x != "z") * (n < won - 30) + n % 2) for n in range(20) for x in "xyz"]
            table, how = pd.DataFrame(said, columns=["judge", "item", "score"]), {}
        for seed in range(3):
            fit = voirdire.fit(table, method="laplace", seed=seed, **how)
            ranks = fit.decide().ranks
            assert ranks["x"] == ranks["y"]
            entrants = fit.kind.board_entrants(fit.problem, fit.posterior, fit.prob)
            low, high = compare_pairs(entrants.draws, 0.95).ranks
            one, other = entrants.names.index("x"), entrants.names.index("y")
            differ += (low[one], high[one]) != (low[other], high[other])
    assert differ or kind == "scores"  # by the Monte Carlo error of single pairs
