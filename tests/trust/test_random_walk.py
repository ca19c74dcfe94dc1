"""Habits over time: the walk is the exact posterior on its grid, and follows judges who change."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.errors import InputError
from voirdire.trust import random_walk
from voirdire.trust.random_walk import HABIT_GRID, START_SD, STEP_GRID, STEP_MEAN, smooth_blocks


def test_smoothing_is_the_sum_over_every_path(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = np.linspace(-2.0, 2.0, 5)
    monkeypatch.setattr(random_walk, "HABIT_GRID", grid)
    log = np.random.default_rng(0).normal(size=(3, 5))
    edges = np.array([0.0, 0.1, 0.3, 0.6, 1.2, np.inf])
    prior = np.diff(1.0 - np.exp(-edges / STEP_MEAN))
    start = np.exp(-0.5 * (grid / START_SD) ** 2)
    found = np.zeros((3, 5))
    for t, share in zip(STEP_GRID, prior, strict=True):
        move = np.array([np.exp(-0.5 * ((grid - g) / t) ** 2) if t else (grid == g) * 1.0 for g in grid])
        move /= move.sum(axis=1, keepdims=True)
        for path in product(range(5), repeat=3):
            p = share * start[path[0]] / start.sum() * move[path[0], path[1]] * move[path[1], path[2]]
            p *= np.exp(sum(log[b, at] for b, at in enumerate(path)))
            found[np.arange(3), path] += p
    assert smooth_blocks(log) == pytest.approx(found / found.sum(axis=1, keepdims=True), abs=1e-10)


def test_intervals_hold_a_walk_drawn_from_the_prior() -> None:
    """90% intervals of 12 blocks of normal answers hold the truth in 90% of 2,400 (clusters of 12: mcse 1.2%)."""
    rng = np.random.default_rng(0)
    held = []
    for _ in range(200):
        t = rng.exponential(STEP_MEAN)
        u = np.cumsum([rng.normal(0.0, START_SD), *rng.normal(0.0, t, 11)])
        seen = u + rng.normal(0.0, 0.6, 12)
        share = smooth_blocks(-0.5 * ((HABIT_GRID - seen[:, None]) / 0.6) ** 2)
        low, high = np.array([np.interp([0.05, 0.95], np.cumsum(p) - 0.5 * p, HABIT_GRID) for p in share]).T
        held += [(np.abs(u) > 4.5) | ((low <= u) & (u <= high))]
    assert 0.87 <= np.mean(held) <= 0.94


def voted(rng: np.random.Generator, rows: int = 1800) -> pd.DataFrame:
    """Votes of three judges; j1 answers at random in the later half."""
    theta = np.linspace(1.5, -1.5, 5)
    first = rng.integers(0, 5, rows)
    second = (first + rng.integers(1, 5, rows)) % 5
    judge, time = rng.integers(0, 3, rows), np.arange(rows)
    d = np.where((judge == 1) & (time >= rows / 2), 0.0, 2.0 * (theta[first] - theta[second]))
    return pd.DataFrame(
        {
            "judge": [f"j{k}" for k in judge],
            "first": [f"i{i}" for i in first],
            "second": [f"i{i}" for i in second],
            "winner": np.where(rng.random(rows) < 1.0 / (1.0 + np.exp(-d)), "first", "second"),
            "time": time,
        }
    )


def halves(found: Any, judge: str, habit: str) -> tuple[Any, Any]:
    rows = found[(found["judge"] == judge) & (found["habit"] == habit)]
    middle = 0.5 * (rows["start"].min() + rows["end"].max())
    return rows[rows["end"] < middle], rows[rows["start"] > middle]


def test_coins_of_a_judge_at_random_from_some_time_on(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = voirdire.fit(voted(np.random.default_rng(0)), model="crowd-bt-position", method="map")
    kind, calls = type(fit.kind), []
    timed = kind.over_time
    monkeypatch.setattr(kind, "over_time", lambda *given: calls.append(given) or timed(*given))
    found = fit.over_time()
    before, after = halves(found, "j1", "reliability")
    assert (before["low"] > 0.7).all()
    assert (after["high"] < before["value"].min()).all()
    assert after["value"].mean() == pytest.approx(0.5, abs=0.08)
    assert ((after["low"] > 0.5) | (after["high"] < 0.5)).sum() <= 1  # of 90% intervals
    still = found[(found["judge"] == "j0") & (found["habit"] == "reliability")]
    assert np.ptp(still["value"]) < 0.05
    bias = found[(found["judge"] == "j0") & (found["habit"] == "position_bias")]
    assert ((bias["low"] < 0.0) & (bias["high"] > 0.0)).all()
    assert fit.as_dict()["over_time"][0].keys() == set(found.columns)
    assert len(calls) == 1  # what is looked at is computed once for a fit


def test_severity_that_rises() -> None:
    rng = np.random.default_rng(0)
    theta, rows = rng.normal(size=500), []
    for k, judge in enumerate("abcdefgh"):  # few judges share a change with the items
        for at, item in enumerate(rng.permutation(500)):
            strict = 1.5 * (k == 0) * at / 500
            y = np.clip(np.round(5 + theta[item] - strict + 0.7 * rng.normal()), 1, 9)
            rows.append((judge, f"i{item}", int(y), at))
    table = pd.DataFrame(rows, columns=["judge", "item", "score", "time"])
    for model in ("rating-severity", "rating-continuous"):
        found = voirdire.fit(table, model=model, method="map").over_time()
        own = found[found["judge"] == "a"]["value"].to_numpy()
        other = found[found["judge"] == "b"]["value"].to_numpy()
        assert own[-1] - own[0] > 3 * np.ptp(other)
    # in points, of what answers less what items are worth rise: 7/8 of it, the rest is shared with the items
    beyond = [4.0 - y + theta[int(item[1:])] for judge, item, y, _ in rows if judge == "a"]
    rise = np.mean(beyond[-125:]) - np.mean(beyond[:125])
    assert own[-3:].mean() - own[:3].mean() == pytest.approx(7 / 8 * rise, abs=0.12)


def test_labels_at_random_from_some_run_on() -> None:
    rng = np.random.default_rng(0)
    rows = []
    for run in range(1, 13):
        for item in range(20):
            for k, judge in enumerate("abcd"):
                right = rng.random() < (0.5 if k == 2 and run > 6 else 0.9)
                rows.append((judge, f"{run}-{item}", "yes" if (item % 2 == 0) == right else "no", run))
    table = pd.DataFrame(rows, columns=["judge", "item", "label", "run"])
    found = voirdire.fit(table, model="dawid-skene", method="map").over_time()
    right = pd.Series(
        [(int(item.split("-")[1]) % 2 == 0) == (label == "yes") for judge, item, label, _ in rows if judge == "c"]
    )
    each = found[found["judge"] == "c"]["value"].to_numpy()  # one run each
    own = right.to_numpy(dtype=float).reshape(12, 20).mean(axis=1)
    assert each[:6].mean() == pytest.approx(own[:6].mean(), abs=0.04)
    assert each[6:].mean() == pytest.approx(own[6:].mean(), abs=0.04)
    assert np.abs(each - own).max() < 0.2  # smoothed
    assert (found.groupby("judge")["end"].max() == 12).all()


def test_no_times_no_habits() -> None:
    votes = voted(np.random.default_rng(0), 90)
    with pytest.raises(InputError, match="needs a column time"):
        voirdire.fit(votes.drop(columns="time"), model="crowd-bt", method="map").over_time()
    assert voirdire.fit(votes, model="bradley-terry", method="map").over_time().empty
    assert "over_time" not in voirdire.fit(votes, model="bradley-terry", method="map").as_dict()


def test_the_page_shows_them_where_a_judge_changes(tmp_path: Any) -> None:
    fit = voirdire.fit(voted(np.random.default_rng(0)), model="crowd-bt-position", method="map")
    text = fit.report(tmp_path / "page.md").read_text(encoding="utf-8")
    assert "Judges in stretches of time" in text
    calm = voted(np.random.default_rng(0)).query("judge != 'j1'")
    fit = voirdire.fit(calm, model="crowd-bt-position", method="map")
    assert "Judges in stretches of time" not in fit.report(tmp_path / "calm.md").read_text(encoding="utf-8")
