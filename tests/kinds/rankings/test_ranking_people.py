"""People's rankings beside a panel's: what they teach, and how they are read."""

from __future__ import annotations

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

ITEMS = 10


def ranked(rng: np.random.Generator, worth: np.ndarray, who: str, count: int, among: int, size: int = 5) -> list[Any]:
    """Rankings by one rater of some of the first items."""
    rows: list[Any] = []
    for run in range(count):
        shown = rng.choice(among, size, replace=False)
        order = shown[np.argsort(-worth[shown] - rng.gumbel(size=size))]
        rows += [(who, run, f"i{i:02}", rank) for rank, i in enumerate(order)]
    return rows


def simulated(seed: int, error: float, people: int = 40, among: int = ITEMS) -> tuple[pd.DataFrame, np.ndarray]:
    """Five judges who err together, and a person who does not."""
    rng = np.random.default_rng(seed)
    worth = rng.normal(0, 1, ITEMS)
    seen = worth + rng.normal(0, error, ITEMS)
    rows = [row for k in range(5) for row in ranked(rng, seen + rng.normal(0, 0.3, ITEMS), f"j{k}", 12, ITEMS)]
    rows += ranked(rng, worth, "ann", people, among)
    return pd.DataFrame(rows, columns=["judge", "run", "item", "rank"]), worth - worth.mean()


TABLE, WORTH = simulated(0, 1.5)
PANEL = TABLE[TABLE["judge"] != "ann"]
ANN = TABLE[TABLE["judge"] == "ann"].rename(columns={"judge": "person"})


def scores(fit: Any) -> pd.Series[float]:
    return fit.ranking().set_index("item")["score"].sort_index()


@pytest.mark.slow
def test_items_are_worth_what_they_are_to_people(tmp_path: Path) -> None:
    fit = voirdire.fit(TABLE, people=["ann"])
    alone = voirdire.fit(PANEL)
    rmse = [float(np.sqrt(np.mean((scores(one) - WORTH) ** 2))) for one in (fit, alone)]
    assert rmse[0] < 0.6 * rmse[1]
    spreads = fit.spreads().set_index("name")["value"]
    assert spreads["panel_error"] == pytest.approx(1.5, rel=0.5)
    assert fit.judges()["judge"].tolist() == [f"j{k}" for k in range(5)]
    assert fit.judges()["p_right"].mean() < alone.judges()["p_right"].mean() - 0.03
    assert any("People ranked 10 of 10 items (40 rankings)" in note for note in fit.notes)
    assert fit.as_dict()["anchors"]["mode"] == "joint"
    assert fit.report(tmp_path / "fit.html").stat().st_size > 10_000
    again = voirdire.load(fit.save(tmp_path / "fit"))
    pd.testing.assert_frame_equal(again.ranking(), fit.ranking())
    asked = PANEL.head(5)
    assert fit.predict(asked)["p_first"].sum() == pytest.approx(1.0)
    with pytest.raises(InputError, match="update\\(\\) is for fits without anchors"):
        fit.update(PANEL)


def test_the_density_is_that_of_both_tables() -> None:
    """A person ranks by theta, a judge by theta + b + v: at some point all choices written out."""
    fit = voirdire.fit(TABLE, people=["ann"], method="map")
    density, data = fit.problem.density, fit.problem.data
    x = np.random.default_rng(1).normal(size=density.size)
    v = density.values(x, np)
    total = 0.0
    for (judge, _), rows in TABLE.groupby(["judge", "run"]):
        i = [fit.problem.items.index(item) for item in rows.sort_values("rank")["item"]]
        eta = v["strength"][0, i]
        if judge != "ann":
            eta = eta + v["panel_error"][0, 0, i] + v["taste"][fit.problem.judges.index(judge), i]
        total += sum(eta[p] - np.log(np.exp(eta[p:]).sum()) for p in range(len(i)))
    assert density.log_likelihood(v, data, np) == pytest.approx(total)


def test_however_people_are_named_it_is_one_fit(tmp_path: Path) -> None:
    ANN.drop(columns="person").to_csv(tmp_path / "ann.csv", index=False)
    PANEL.to_csv(tmp_path / "panel.csv", index=False)
    whole = scores(voirdire.fit(TABLE, people="ann", method="map"))
    for anchors in (ANN, ANN.drop(columns="person"), [ANN], str(tmp_path / "ann.csv")):
        found = scores(voirdire.fit(PANEL, anchors=anchors, method="map"))
        np.testing.assert_allclose(found, whole, atol=1e-6)
    words = ["fit", tmp_path / "panel.csv", "--anchors", tmp_path / "ann.csv", "--method", "map", "--json"]
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    shown = {row["item"]: row["score"] for row in json.loads(done.stdout)["items"]}
    np.testing.assert_allclose([shown[item] for item in whole.index], whole, atol=1e-6)
    two = pd.concat([ANN, ANN.assign(person="bob")])
    assert "(80 rankings)" in " ".join(voirdire.fit(PANEL, anchors=two, method="map").notes)


def test_items_that_people_did_not_rank_have_wide_intervals() -> None:
    some, _ = simulated(3, 1.0, among=6)
    shown = voirdire.fit(some, people=["ann"]).ranking().set_index("item").sort_index()
    width = (shown["high"] - shown["low"]).to_numpy()
    assert width[6:].min() > 1.2 * width[:6].max()


def test_what_is_not_known_is_said() -> None:
    strange = ANN.replace({"item": {"i00": "new"}})
    notes = " ".join(voirdire.fit(PANEL, anchors=strange, method="map").notes)
    assert "anchors are about items that no judge has ranked ('new')" in notes
    with pytest.raises(InputError, match="no ranking has two items"):
        voirdire.fit(PANEL, anchors=ANN.assign(item=ANN["item"] + "x"))
    with pytest.raises(InputError, match="no column 'criterion', so none is 'c'"):
        voirdire.fit(PANEL, anchors=ANN.assign(criterion="c"))
    with pytest.raises(InputError, match="anchor_mode='cut' is not for tables of rankings"):
        voirdire.fit(PANEL, anchors=ANN, anchor_mode="cut")
    places = PANEL.assign(context=np.where(PANEL["run"] % 2, "p", "q"))
    there = ANN.assign(context=np.where(ANN["run"] % 2, "p", "r"))
    notes = " ".join(voirdire.fit(places, anchors=there, method="map").notes)
    assert "anchors are in contexts that no judge has ranked in ('r')" in notes
    assert "(20 rankings)" in notes


@pytest.mark.long
@pytest.mark.slow
def test_intervals_hold_the_truth_where_the_panel_errs_together() -> None:
    """90% intervals of 24 tables of ten items, of which people ranked six; without people they fail."""
    held, alone = [], []
    for seed in range(24):
        table, worth = simulated(100 + seed, 1.0, people=20, among=6)
        for into, fit in (
            (held, voirdire.fit(table, people=["ann"], seed=seed)),
            (alone, voirdire.fit(table[table["judge"] != "ann"], seed=seed)),
        ):
            shown = fit.ranking().set_index("item").sort_index()
            into.append((shown["low"] <= worth) & (worth <= shown["high"]))
    print(np.mean(held), np.mean(alone))
    assert 0.86 <= np.mean(held) <= 0.94
    assert np.mean(alone) < 0.7
