"""Which rankings to ask for next."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire import InputError
from voirdire.cli import app
from voirdire.simulate import simulate_rankings

DESIGN = {"kind": "rankings", "size": 4, "contexts": 4, "repeats": 2}
MADE = simulate_rankings(
    3, items=8, design=DESIGN, truth={"kind": "normal", "context_sd": 0.6, "taste_sd": 0.5}, seed=1
)


@pytest.fixture(scope="module")
def fit() -> Any:
    return voirdire.fit(MADE.rankings, method="laplace")


def test_what_is_suggested(fit: Any) -> None:
    found = fit.next_rankings(4)
    assert found.columns.tolist() == ["place", "judge", "criterion", "context", "items", "information", "gain"]
    assert found["place"].tolist() == [1, 2, 3, 4]
    assert all(len(set(items)) == 4 for items in found["items"])
    assert (found["gain"] > 0).all()
    assert (found["gain"] <= found["information"] + 1e-6).all()
    assert found["gain"][0] == pytest.approx(found["information"][0])
    assert found.attrs["left"] == pytest.approx(found.attrs["entropy"] - found["gain"].sum())
    pd.testing.assert_frame_equal(found, fit.next_rankings(4))
    assert len(fit.next_rankings(1, size=2)["items"][0]) == 2
    best = fit.next_rankings(1, about="best")["items"][0]
    assert set(fit.ranking()["item"][:2]) & set(best)


def test_items_that_nobody_has_ranked_together_are_asked_for() -> None:
    """Of six items the order of three is known well, that of the others hardly: nobody is asked for the three again."""
    rows = [
        ("a", run, item, rank)
        for run, order in enumerate(["uvw"] * 8 + ["wxyz"] + ["wyxz"])
        for rank, item in enumerate(order)
    ]
    table = pd.DataFrame(rows, columns=["judge", "run", "item", "rank"])
    fit = voirdire.fit(table, model="plackett-luce", method="laplace")
    found = fit.next_rankings(1, size=2)
    assert not set(found["items"][0]) <= set("uvw")
    assert found["judge"][0] is None


def test_the_gain_is_what_a_ranking_tells(tmp_path: Path) -> None:
    """Against fits to all rankings of three items that may be given, each as probable as it is: within a quarter."""
    made = simulate_rankings(3, items=5, design={"kind": "rankings", "size": 3, "repeats": 6}, seed=5)
    table = made.rankings
    old = voirdire.fit(table, model="plackett-luce", method="laplace")
    found = old.next_rankings(1, size=3)
    items = list(found["items"][0])
    theta = old.posterior.values["strength"].reshape(-1, 5)
    names = list(old.problem.items)

    def entropy(fit: Any) -> float:
        draws = fit.posterior.values["strength"].reshape(-1, 5)
        total = 0.0
        for i, j in itertools.combinations(range(5), 2):
            p = np.clip((draws[:, i] > draws[:, j]).mean(), 1e-9, 1 - 1e-9)
            total -= p * np.log2(p) + (1 - p) * np.log2(1 - p)
        return total

    left = 0.0
    for order in itertools.permutations(items):
        w = np.exp(theta[:, [names.index(item) for item in order]])
        chance = np.mean(w[:, 0] / w.sum(axis=1) * w[:, 1] / w[:, 1:].sum(axis=1))
        new = pd.DataFrame(
            {"judge": "judge-1", "criterion": "criterion-1", "run": 99, "item": order, "rank": [1, 2, 3]}
        )
        left += chance * entropy(voirdire.fit(pd.concat([table, new]), model="plackett-luce", method="laplace"))
    assert found["gain"][0] == pytest.approx(entropy(old) - left, rel=0.25)
    assert found.attrs["entropy"] == pytest.approx(entropy(old), rel=0.05)


def test_asking_what_is_suggested_orders_items_sooner_than_asking_at_random() -> None:
    """Bits expected to be left after five rankings, against the mean over random ones."""
    made = simulate_rankings(2, items=9, design={"kind": "rankings", "size": 4, "repeats": 5}, seed=8)
    fit = voirdire.fit(made.rankings, model="plackett-luce", method="laplace")
    from voirdire.fit.next.rankings import _possible_places, _State

    found = fit.next_rankings(5)
    rng, left = np.random.default_rng(0), []
    for _ in range(10):
        state = _State.from_fit(fit.problem, fit, "ranking", np.random.default_rng(0))
        (where,) = _possible_places(fit.problem, state, "judge")
        for _ in range(5):
            state = state.conditional_on(where, tuple(rng.choice(9, 4, replace=False)))
        left.append(state.order_entropy())
    assert found.attrs["left"] < min(left)


def test_people_are_asked_where_some_have_ranked(fit: Any) -> None:
    ann = MADE.rankings[MADE.rankings["judge"] == "judge-1"].rename(columns={"judge": "person"})
    panel = MADE.rankings[MADE.rankings["judge"] != "judge-1"]
    with_people = voirdire.fit(panel, anchors=ann, method="laplace")
    found = with_people.next_rankings(2, who="person")
    assert found["judge"].tolist() == [None, None]
    assert with_people.next_rankings(1)["gain"][0] < found["gain"][0]  # judges err together
    with pytest.raises(InputError, match="pass some \\(anchors=, --anchors\\), or ask judges"):
        fit.next_rankings(1, who="person")


def test_what_cannot_be_done_is_refused_with_the_reason(fit: Any) -> None:
    with pytest.raises(InputError) as caught:
        fit.next_rankings(0, size=99, who="nobody", about="judges", seed=-1)
    assert len(caught.value.problems) == 5
    with pytest.raises(InputError, match="has no draws"):
        voirdire.fit(MADE.rankings, method="map").next_rankings()
    with pytest.raises(InputError, match=r"next_comparisons\(\) is for fits of votes"):
        fit.next_comparisons()
    votes = pd.DataFrame({"judge": "a", "first": ["x"] * 3, "second": ["y"] * 3, "winner": "first"})
    with pytest.raises(InputError, match=r"next_rankings\(\) is for fits of rankings"):
        voirdire.fit(votes, model="bradley-terry").next_rankings()


@pytest.mark.slow
def test_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "rankings.csv"
    MADE.rankings.to_csv(path, index=False)
    form = tmp_path / "ask.csv"

    def ran(*words: Any) -> Any:
        return CliRunner().invoke(app, ["next", str(path), *map(str, words)])

    done = ran("--count", 2, "--size", 3, "--out", form, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["who"], found["about"]) == ("judge", "ranking")
    assert [len(row["items"]) for row in found["rankings"]] == [3, 3]
    asked = pd.read_csv(form)
    assert len(asked) == 6
    assert asked["rank"].isna().all()
    assert {"judge", "item", "rank", "run"} <= set(asked.columns)
    assert "Rankings to ask for" in ran("--count", 1).stdout
    for words, said in ((["--repeats"], "--repeats"), (["--who", "person"], "pass some (anchors=, --anchors)")):
        done = ran(*words)
        assert done.exit_code != 0
        assert said in done.output
    filled = asked.assign(
        rank=asked.groupby("run").cumcount() + 1, context=asked["context"].astype(object).fillna("context-9")
    )
    more = pd.concat([MADE.rankings, filled[MADE.rankings.columns]])
    assert voirdire.fit(more, method="map").problem.table.count == 3 * 8 + 2
