"""Rankings through the front door: what is fitted, shown, refused, saved and drawn."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire import InputError
from voirdire.cli import app
from voirdire.kinds.rankings.kind import RANKINGS

FULL = (1, 2, 3, 4)


def simulated(
    seed: int,
    ranks: tuple[int, ...] = FULL,
    items: int = 8,
    judges: int = 4,
    contexts: int = 4,
    runs: int = 2,
    sds: tuple[float, float, float] = (1.0, 0.7, 0.5),
) -> tuple[pd.DataFrame, np.ndarray]:
    """Rankings by utilities with Gumbel noise, with the truth: what items are worth, in contexts and to judges."""
    rng = np.random.default_rng(seed)
    worth = rng.normal(0, sds[0], items)
    here, taste = rng.normal(0, sds[1], (contexts, items)), rng.normal(0, sds[2], (judges, items))
    rows = []
    for x, k, run in itertools.product(range(contexts), range(judges), range(runs)):
        shown = rng.choice(items, len(ranks), replace=False)
        felt = (worth + here[x] + taste[k])[shown] + rng.gumbel(size=len(ranks))
        rows += [
            (f"j{k}", f"c{x}", run, f"i{i:02}", rank) for i, rank in zip(shown[np.argsort(-felt)], ranks, strict=True)
        ]
    return pd.DataFrame(rows, columns=["judge", "context", "run", "item", "rank"]), worth


TABLE, WORTH = simulated(0)


@pytest.fixture(scope="module")
def fit() -> Any:
    return voirdire.fit(TABLE, method="laplace")


def test_the_columns_choose_the_terms(fit: Any) -> None:
    assert fit.model.name == "plackett-luce-tastes"
    assert fit.spreads()["name"].tolist() == ["item", "context", "taste"]
    once = TABLE[(TABLE["run"] == 0)].copy()
    once["judge"] += once["context"]  # who ranks in one context alone
    some = voirdire.fit(once, method="map")
    assert some.model.name == "plackett-luce-contexts"
    assert "tastes are left out: no judge ranks an item twice" in some.notes[0]
    plain = voirdire.fit(once.drop(columns=["context", "run"]), method="map")
    assert plain.model.name == "plackett-luce"
    assert "no column context" in plain.notes[0]
    left = voirdire.fit(once, method="map", model="plackett-luce-tastes")
    assert any("is fitted without tastes: no judge ranks an item twice" in note for note in left.notes)
    assert left.spreads()["name"].tolist() == ["item", "context"]


def test_what_a_fit_shows(fit: Any, tmp_path: Path) -> None:
    ranking = fit.ranking().set_index("item")
    assert np.corrcoef(ranking["score"].sort_index(), WORTH)[0, 1] > 0.8
    assert ranking["score"].sum() == pytest.approx(0.0, abs=0.1)
    judges = fit.judges()
    assert judges["rankings"].tolist() == [8] * 4
    assert judges["reliability"].between(0.5, 1).all()
    contexts = fit.contexts()
    assert len(contexts) == 4 * 8
    np.testing.assert_allclose(contexts.groupby("context")["p_best"].sum(), 1.0)
    of_rankings = ["connectivity", "separation", "constant-judges", "noise", "below-chance"]
    assert fit.checks()["check"].tolist()[-5:] == of_rankings
    assert fit.as_dict()["over"] == "new"
    assert fit.board()["verdict"]
    page = fit.report(tmp_path / "fit.html")
    assert page.stat().st_size > 10_000
    assert "64 rankings" not in repr(fit)
    assert "32 rankings" in repr(fit)


def test_a_saved_fit_is_the_same(fit: Any, tmp_path: Path) -> None:
    again = voirdire.load(fit.save(tmp_path / "fit"))
    pd.testing.assert_frame_equal(again.ranking(), fit.ranking())
    pd.testing.assert_frame_equal(again.contexts(), fit.contexts())
    assert again.checks().equals(fit.checks())


def test_new_rankings_are_added() -> None:
    first, second = (TABLE[TABLE["run"] == run] for run in (0, 1))
    added = voirdire.fit(first, method="map").update(second)
    whole = voirdire.fit(TABLE, method="map")
    assert added.problem.table.count == whole.problem.table.count
    with pytest.raises(InputError, match="the new table has scores, but the fit is one of rankings"):
        added.update(TABLE.rename(columns={"rank": "score"}))


def test_predictions_are_those_of_all_orders(fit: Any) -> None:
    """Of the mode: first places and ranks against all orders written out."""
    mode = voirdire.fit(TABLE, method="map")
    asked = TABLE[(TABLE["context"] == "c1") & (TABLE["judge"] == "j2") & (TABLE["run"] == 0)]
    found = mode.predict(asked)
    values, problem = mode.posterior.central_values, mode.problem
    i = [problem.items.index(item) for item in asked["item"]]
    worth = np.exp(values["strength"][0, i] + values["context_strength"][0, i, 1] + values["taste"][2, i])
    first, rank = np.zeros(4), np.zeros(4)
    for order in itertools.permutations(range(4)):
        w = worth[list(order)]
        chance = np.prod([w[place] / w[place:].sum() for place in range(4)])
        first[order[0]] += chance
        rank[list(order)] += chance * np.arange(1, 5)
    np.testing.assert_allclose(found["p_first"], first)
    np.testing.assert_allclose(found["expected_rank"], rank)
    assert fit.predict(asked.head(2))["p_first"].sum() == pytest.approx(1.0)
    with pytest.raises(InputError, match="the fit has no item 'i0x'"):
        fit.predict(asked.assign(item=["i00", "i01", "i02", "i0x"]))


def test_rankings_are_drawn_as_often_as_they_are_expected(fit: Any) -> None:
    problem, values = fit.problem, fit.posterior.central_values
    rng, first, count = np.random.default_rng(1), Counter(), 400
    for _ in range(count):
        drawn = RANKINGS.draw(problem, values, rng)
        assert sorted(drawn.rank) == sorted(problem.table.rank)
        first.update(np.flatnonzero(drawn.rank == 1).tolist())
    cells = problem.cells()
    w = np.exp(problem.item_predictors(values, cells))
    expected = w / w.sum(axis=0)
    seen = np.vectorize(first.__getitem__)(problem.order.row) / count
    assert np.abs(seen - expected).max() < 5 * np.sqrt(0.25 / count)


def test_best_and_worst_and_a_choice_of_one_are_rankings(tmp_path: Path) -> None:
    table = tmp_path / "best.csv"
    table.write_text("judge,context,items,best,worst\n" + "a,p,x;y;z;w,x,w\nb,p,x;y;z;w,x,z\na,q,x;y;z;w,y,w\n" * 3)
    with pytest.raises(InputError, match="stands twice"):
        voirdire.fit(str(table))
    rows = "".join(f"a,p{n},x;y;z;w,x,w\nb,p{n},x;y;z;w,x,z\nc,p{n},x;y;z;w,y,w\n" for n in range(3))
    table.write_text("judge,context,items,best,worst\n" + rows)
    found = voirdire.fit(str(table), method="map")
    assert found.ranking()["item"].tolist()[0] == "x"
    one = pd.DataFrame({"judge": [*"aaabbbccc"], "item": [*"xyz"] * 3, "rank": [1, 2, 2] * 2 + [2, 1, 2]})
    chosen = voirdire.fit(one, method="map").ranking()
    assert chosen["item"].tolist() == ["x", "y", "z"]


def test_two_items_are_votes() -> None:
    """Rankings of two are comparisons of Bradley and Terry's: the same mode, spreads learned alike."""
    rng = np.random.default_rng(2)
    pairs = [rng.choice(5, 2, replace=False) for _ in range(120)]
    pairs = [(a, b) if rng.random() < 1 / (1 + np.exp((a - b) / 2)) else (b, a) for a, b in pairs]
    ranked = pd.DataFrame(
        [(f"j{n % 3}", n, f"i{i}", rank) for n, pair in enumerate(pairs) for rank, i in enumerate(pair)],
        columns=["judge", "run", "item", "rank"],
    )
    voted = pd.DataFrame(
        [(f"j{n % 3}", f"i{a}", f"i{b}", "first") for n, (a, b) in enumerate(pairs)],
        columns=["judge", "first", "second", "winner"],
    )
    one = voirdire.fit(ranked, model="plackett-luce", method="map").ranking()
    other = voirdire.fit(voted, model="learned-bradley-terry", method="map").ranking()
    assert one["item"].tolist() == other["item"].tolist()
    np.testing.assert_allclose(one["score"], other["score"], atol=0.02)


def test_ranks_may_be_any_numbers_and_the_order_of_rows_says_nothing() -> None:
    moved = TABLE.assign(rank=TABLE["rank"] ** 2 - 7.5).sample(frac=1.0, random_state=3)
    one, other = (voirdire.fit(table, method="map").ranking() for table in (TABLE, moved))
    np.testing.assert_allclose(one["score"], other["score"], atol=1e-6)


def test_the_order_of_rows_says_nothing_to_the_last_digit_where_items_are_tied() -> None:
    tied = TABLE.assign(rank=TABLE["rank"].clip(upper=2))
    one, other = (
        voirdire.fit(table, method="laplace").ranking() for table in (tied, tied.sample(frac=1.0, random_state=3))
    )
    pd.testing.assert_frame_equal(one, other, check_exact=True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.assign(rank=["a", None, *t["rank"][2:]]), ["row 1: rank 'a' is not a number", "row 2: rank is"]),
        (lambda t: t.drop(columns="run"), ["stands twice in the ranking of judge 'j0', context 'c0'"]),
        (lambda t: t.assign(run=range(len(t))), ["each ranking is of a single item"]),
        (lambda t: t.drop(columns="item"), ["column 'item' is missing"]),
    ],
)
def test_all_that_is_wrong_is_said_at_once(change: Any, said: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        voirdire.fit(change(TABLE))
    for sentence in said:
        assert sentence in str(caught.value)


@pytest.mark.parametrize("how", [{"levels": [1, 2]}, {"classes": ["a"]}, {"order": "shown"}, {"positive": "x"}])
def test_what_is_for_other_tables_is_refused(how: dict[str, Any]) -> None:
    (name,) = how
    with pytest.raises(InputError, match=rf"{name}= is not for tables of rankings"):
        voirdire.fit(TABLE, **how)


def test_what_rankings_do_not_have_is_refused_with_a_remedy(fit: Any) -> None:
    for asked in (
        lambda: RANKINGS.residuals(fit.problem, fit.posterior),
        lambda: RANKINGS.response_probabilities(fit.problem, {}, ()),
        lambda: voirdire.agreement(TABLE),
    ):
        with pytest.raises(InputError, match=r"votes|predict"):
            asked()
    with pytest.raises(InputError, match="intervals are those of the posterior"):
        fit.bootstrap()
    with pytest.raises(InputError, match=r"ppc|too many possible answers"):
        fit.plot("ppc")
    with pytest.raises(InputError, match="take plackett-luce, plackett-luce-contexts, plackett-luce-tastes"):
        voirdire.fit(TABLE, model="maple")


def test_checks_say_what_rankings_leave_open() -> None:
    apart = pd.DataFrame({"judge": [*"aabb"], "item": [*"wxyz"], "rank": [1, 2, 1, 1]})
    levels = voirdire.fit(apart, method="map").checks().set_index("check")
    assert levels.loc["connectivity", "level"] == "warn"
    assert levels.loc["separation", "message"].startswith("w, x are first or last")
    assert levels.loc["constant-judges", "message"].startswith("b is telling no items apart")


def test_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "rankings.csv"
    TABLE.to_csv(path, index=False)

    def ran(*words: Any) -> Any:
        done = CliRunner().invoke(app, [str(word) for word in words])
        assert done.exit_code == 0, done.output
        return done

    found = json.loads(ran("fit", path, "--method", "map", "--json").stdout)
    assert (found["model"], found["votes"]) == ("plackett-luce-tastes", 32)
    assert "32 rankings" in ran("fit", path, "--method", "map").stdout
    voted = json.loads(ran("fit", path, "--table", "votes", "--method", "map", "--json").stdout)
    assert voted["votes"] == 32 * 6
    assert ran("doctor", path).stdout.rstrip().endswith(f"voirdire fit {path}")
