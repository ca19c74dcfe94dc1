"""Leaderboards: what would settle it, cycles, groups of contexts, and how they are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.decide.board import board, clear_wins, shortest_cycle
from voirdire.errors import InputError
from voirdire.tables import read_votes


def panel(theta: np.ndarray, votes: int = 900, seed: int = 0, contexts: int = 12) -> pd.DataFrame:
    """Votes of four good judges; ``theta`` of shape (items,) or (items, contexts)."""
    rng = np.random.default_rng(seed)
    items = len(theta)
    worth = theta if theta.ndim == 2 else np.repeat(theta[:, None], contexts, axis=1)
    first = rng.integers(0, items, votes)
    second = (first + rng.integers(1, items, votes)) % items
    context = rng.integers(0, contexts, votes)
    d = worth[first, context] - worth[second, context]
    return pd.DataFrame(
        {
            "judge": rng.choice(["ann", "bob", "cem", "dot"], votes),
            "first": [f"item {i}" for i in first],
            "second": [f"item {i}" for i in second],
            "context": [f"prompt {x:02d}" for x in context],
            "category": np.where(context < contexts // 2, "math", "poems"),
            "winner": np.where(rng.random(votes) < 1 / (1 + np.exp(-d)), "first", "second"),
        }
    )


def categories() -> pd.DataFrame:
    """Item 0 is the best at math and the worst at poems."""
    theta = np.repeat(np.linspace(1, -1, 4)[:, None], 12, axis=1)
    theta[0, 6:] = -2.0
    return panel(theta, 1600)


@pytest.fixture(scope="module")
def fitted() -> Any:
    return voirdire.fit(categories(), by="category", method="laplace")


def test_groups_stand_beside_the_whole(fitted: Any) -> None:
    found = fitted.groups()
    assert list(found.columns) == ["by", "group", "item", "score", "sd", "low", "high", "rank", "p_best"]
    first = found[found["rank"] == 1].set_index("group")["item"]
    assert first["math"] == "item 0"
    assert first["poems"] != "item 0"
    worst = found[found["rank"] == 4].set_index("group")["item"]
    assert worst["poems"] == "item 0"
    np.testing.assert_allclose(found.groupby("group")["score"].sum(), 0.0, atol=0.1)
    # the mean of the groups is what is said over all of these contexts
    whole = fitted.ranking().set_index("item")["score"]
    mean = found.groupby("item")["score"].mean()
    assert (whole - mean).abs().max() < 0.35


def test_groups_are_those_of_the_contexts_strengths(fitted: Any) -> None:
    each = fitted.contexts()
    each["group"] = np.where(each["context"] < "prompt 06", "math", "poems")
    mean = each.groupby(["group", "item"])["strength"].mean()
    found = fitted.groups().set_index(["group", "item"])["score"]
    np.testing.assert_allclose(found[mean.index], mean, atol=0.06)
    these = voirdire.fit(categories(), by="category", over="these", method="laplace").groups()
    assert (these["sd"].mean() < fitted.groups()["sd"].mean()) is np.True_


def test_groups_in_json_and_in_a_kept_fit(fitted: Any, tmp_path: Path) -> None:
    found = json.loads(json.dumps(fitted.as_dict()))["groups"]
    assert [(one["by"], one["group"], len(one["items"])) for one in found] == [
        ("category", "math", 4),
        ("category", "poems", 4),
    ]
    again = voirdire.load(fitted.save(tmp_path / "run"))
    pd.testing.assert_frame_equal(again.groups(), fitted.groups())


def test_without_contexts_groups_are_the_contexts() -> None:
    found = voirdire.fit(categories().drop(columns="context"), by="category", method="laplace")
    assert any("each category is one" in note for note in found.notes)
    assert found.groups().set_index(["group", "item"])["rank"]["math", "item 0"] == 1


def test_bad_groups_are_refused() -> None:
    table = categories()
    for how, match in (
        ({"by": "colour"}, "the votes have no column 'colour'"),
        ({"by": "winner"}, "are of more than one winner"),
        ({"by": "one"}, "'one' is 'x' in every row"),
        ({"by": "each"}, "has one context alone"),
        ({"by": "mixed"}, "are of more than one mixed"),
        ({"by": "category", "model": "crowd-bt-position"}, "by= is for models with contexts"),
    ):
        given = table.assign(one="x", each=table["context"], mixed=np.resize(["p", "q"], len(table)))
        with pytest.raises(InputError, match=match):
            voirdire.fit(given, method="map", **how)
    scores = pd.DataFrame({"judge": ["a", "a", "b", "b"], "item": ["x", "y"] * 2, "score": [1, 2, 2, 3]})
    with pytest.raises(InputError, match="models separate answers by 'judge' already"):
        voirdire.fit(scores, by="judge")


def test_a_board_says_what_is_told() -> None:
    found = board(voirdire.fit(panel(np.array([1.0, 1.0, -1.0, -1.0]), 1500), method="laplace"))
    assert sorted(found["decision"]["first"]) == ["item 0", "item 1"]
    assert [(row["first"], row["last"]) for row in found["items"]] == [(1, 2), (1, 2), (3, 4), (3, 4)]
    assert "2 of 4 items share the first place" in found["verdict"]
    middle = found["next"][1]
    assert middle["apart"]
    assert "more_votes" not in middle
    rows = found["items"]
    assert all(sum(row["rank_probabilities"]) == pytest.approx(1.0, abs=0.001) for row in rows)
    assert rows[0]["rank_probabilities"][0] == pytest.approx(rows[0]["p_best"], abs=0.001)
    assert rows[0]["loss"] <= rows[1]["loss"] < rows[2]["loss"]
    assert found["cycle"] == []


def test_more_votes_are_as_many_as_it_takes() -> None:
    """Ten times the votes of a table whose neighbours need less than that tell them apart."""
    table = panel(np.array([0.35, 0.0]), 160, seed=2).assign(judge="ann")
    one = board(voirdire.fit(table, model="bradley-terry"))
    needed = one["next"][0]["more_votes"]
    assert 0 < needed < 160 * 9
    more = pd.concat([table] * int(np.ceil(1.1 * needed / 160 + 1)))
    assert board(voirdire.fit(more, model="bradley-terry"))["next"][0]["apart"]


@pytest.mark.slow
def test_a_system_more_moves_the_others_by_less_than_half_their_interval() -> None:
    theta = np.array([1.0, 0.6, 0.2, -0.4, -1.4, 2.0])
    whole = panel(theta, 2400, seed=3)
    new = (whole["first"] == "item 5") | (whole["second"] == "item 5")
    before, after = (
        voirdire.fit(table, method="laplace").ranking().set_index("item") for table in (whole[~new], whole)
    )
    kept = before.index
    moved = (after["score"] - after.loc[kept, "score"].mean())[kept] - before["score"]
    half = (before["high"] - before["low"]) / 2
    assert (moved.abs() < half).all()


def test_cycles_are_found_and_only_they() -> None:
    def votes(odds: dict[tuple[str, str], float], each: int, turn: bool = True) -> Any:
        rng = np.random.default_rng(1)
        rows = []
        for (one, other), p in odds.items():
            for n in range(each):
                first, second = (other, one) if turn and n % 2 else (one, other)
                rows.append(("a", first, second, one if rng.random() < p else other, f"p{n}"))
        return read_votes(pd.DataFrame(rows, columns=["judge", "first", "second", "winner", "context"]))

    round_about = votes({("x", "y"): 0.8, ("y", "z"): 0.8, ("z", "x"): 0.8}, 60)
    assert shortest_cycle(clear_wins(round_about), 3) == [0, 1, 2]
    # each shown in one order: it may as well be the place that is liked
    place = votes({("x", "y"): 0.8, ("y", "z"): 0.8, ("z", "x"): 0.8}, 60, turn=False)
    assert len(clear_wins(place)) == 0
    straight = votes({("x", "y"): 0.8, ("y", "z"): 0.8, ("x", "z"): 0.5}, 60)
    assert shortest_cycle(clear_wins(straight), 3) == []


def test_cycles_are_found_whatever_the_number_of_votes_in_each_context() -> None:
    """Of tables whose contexts have from none to a dozen votes on a pair, all but a few show the cycle."""
    found = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        first = rng.integers(0, 3, 240)
        second = (first + rng.integers(1, 3, 240)) % 3
        won = rng.random(240) < np.where((second - first) % 3 == 1, 0.82, 0.18)
        table = {"judge": "a", "first": first.astype(str), "second": second.astype(str)}
        table |= {"context": rng.integers(0, 12, 240).astype(str), "winner": np.where(won, "first", "second")}
        found += len(shortest_cycle(clear_wins(read_votes(pd.DataFrame(table))), 3)) == 3
    assert found >= 28


def test_a_few_contexts_with_most_votes_hide_no_cycle() -> None:
    """Four of five votes say so in each of 14 contexts, of which two have sixty votes on a pair and the others two."""
    rows = []
    for context, votes in enumerate([2] * 12 + [60] * 2):
        for better, worse in ("xy", "yz", "zx"):
            for vote in range(votes):
                first, second = (better, worse) if vote % 2 else (worse, better)
                winner = better if vote % 5 else worse
                rows.append(("a", first, second, "first" if winner == first else "second", context))
    table = pd.DataFrame(rows, columns=["judge", "first", "second", "winner", "context"])
    assert clear_wins(read_votes(table.astype({"context": str}))).tolist() == [[0, 1], [2, 0], [1, 2]]


@pytest.mark.slow
def test_one_context_that_decides_the_first_place_is_named() -> None:
    """Item 0 wins everything in one of eight prompts, and is behind item 1 in the others: who is first hangs on it."""
    theta = np.repeat(np.array([0.4, 0.8, 0.0, -0.6])[:, None], 8, axis=1)
    theta[0, 5] = 9.0
    found = board(voirdire.fit(panel(theta, 3000, contexts=8), method="laplace"))
    assert found["deciding"] == "prompt 05"
    assert "The context prompt 05 alone decides" in found["verdict"]
    # contexts that differ as contexts do, and one far out that changes nothing
    mixed = theta[:, :1] + np.random.default_rng(1).normal(0, 0.6, theta.shape)
    assert board(voirdire.fit(panel(mixed, 3000, contexts=8), method="laplace"))["deciding"] is None
    theta[0] = theta[1] + 1.5
    theta[3, 2] = 3.0
    assert board(voirdire.fit(panel(theta, 3000, contexts=8), method="laplace"))["deciding"] is None


def test_fits_without_scores_or_draws_give_no_board() -> None:
    with pytest.raises(InputError, match="a board needs draws"):
        board(voirdire.fit(panel(np.zeros(3), 100), method="map"))
    labels = pd.DataFrame({"judge": ["a", "b"] * 4, "item": list("wwxxyyzz"), "label": ["p", "q", "p", "p"] * 2})
    with pytest.raises(InputError, match="systems over contexts"):
        board(voirdire.fit(labels, method="map"))


@pytest.mark.slow
def test_the_verb_writes_boards(tmp_path: Path) -> None:
    path = tmp_path / "poems.csv"
    categories().to_csv(path, index=False)
    for ending, words in (("html", "Leaderboard"), ("tex", "tabular"), ("md", "Can I act on it?")):
        out = tmp_path / f"board.{ending}"
        done = CliRunner().invoke(
            app, ["board", str(path), "--by", "category", "--method", "laplace", "--json", "-o", str(out)]
        )
        assert done.exit_code == 0, done.output
        text = out.read_text(encoding="utf-8")
        assert words in text
        assert "math" in text
    found = json.loads(done.stdout)
    assert {"decision", "next", "cycle", "verdict", "groups", "items", "checks"} <= set(found)
    shown = CliRunner().invoke(
        app, ["board", str(path), "--by", "category", "--method", "laplace", "--where", "judge=ann"]
    )
    assert shown.exit_code == 0, shown.output
    assert "category: math" in shown.stdout
    wrong = CliRunner().invoke(app, ["board", str(path), "--overwrite"])
    assert wrong.exit_code == 2


def test_board_bounds_its_chains_as_fit_does(tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    panel(np.array([1.0, -1.0]), 40).to_csv(file, index=False)
    for wrong, said in (
        (("--quick", "--seconds", "9"), "--quick is --method auto --seconds 3"),
        (("--seconds", "9", "--method", "map"), "--seconds is for --method auto"),
    ):
        refused = CliRunner().invoke(app, ["board", str(file), *wrong])
        assert refused.exit_code == 2
        assert said in refused.stderr
    quick = CliRunner().invoke(app, ["board", str(file), "--quick", "--json"])
    assert json.loads(quick.stdout)["items"]
