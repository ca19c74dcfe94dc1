"""Judges that change with time: found in every kind of answer, and false alarms within 5% however often one looks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

import voirdire
from voirdire.errors import InputError
from voirdire.fit.store import load, save
from voirdire.trust.drift import ALPHA, FIRST, PRIOR, OverTime, conformal, drift, largest_wealth


def voted(rng: np.random.Generator, rows: int = 900, late: Any = None) -> pd.DataFrame:
    """Votes of three judges at times 0, 1, ...; ``late(judge, time)`` says who answers at random."""
    theta = np.linspace(1.5, -1.5, 5)
    first = rng.integers(0, 5, rows)
    second = (first + rng.integers(1, 5, rows)) % 5
    judge, time = rng.integers(0, 3, rows), np.arange(rows)
    d = theta[first] - theta[second]
    d = d if late is None else np.where(late(judge, time), 0.0, d)
    return pd.DataFrame(
        {
            "judge": [f"j{k}" for k in judge],
            "first": [f"i{i}" for i in first],
            "second": [f"i{i}" for i in second],
            "winner": np.where(rng.random(rows) < 1.0 / (1.0 + np.exp(-d)), "first", "second"),
            "time": time,
        }
    )


def check(fit: Any) -> dict[str, Any]:
    return next(entry.as_dict() for entry in fit.all_checks if entry.check == "drift")


def test_conformal_values_are_independent_standard_normal_in_any_order() -> None:
    x = np.random.default_rng(0).choice([-3.0, 1.0], 4000, p=[0.25, 0.75])
    z = conformal(x)
    assert stats.kstest(z, "norm").pvalue > 0.01
    assert abs(np.corrcoef(z[1:], z[:-1])[0, 1]) < 3.0 / np.sqrt(len(z))


def test_wealth_is_the_mixture_over_shifts() -> None:
    x = np.random.default_rng(1).normal(size=11)  # one place of change, with half of the stake
    z = conformal(x)
    paths = [0.0]
    for stop in range(FIRST + 1, 12):
        after = z[FIRST:stop]

        def bet(m: float, after: Any = after) -> float:
            return float(np.exp(m * after.sum() - 0.5 * m * m * len(after)) * stats.norm.pdf(m, 0.0, PRIOR))

        paths.append(np.log(0.5 + 0.5 * integrate.quad(bet, -10.0, 10.0)[0]))
    assert largest_wealth(x).log == pytest.approx(max(paths), abs=1e-9)


def test_false_alarms_within_alpha_over_all_looks_and_not_without_the_bound() -> None:
    """500 sequences of 400 answers, looked at after each: wealth beyond 20 in at most 5% (mcse 1%).

    The control, a z test of the later against the earlier half at each look, cries wolf far more often.
    """
    wolf, naive = [], []
    for seed in range(500):
        rng = np.random.default_rng(seed)
        x = (rng.random(400) < 0.8) - 0.8
        wolf.append(largest_wealth(x, seed).log > np.log(1.0 / ALPHA))
        half = np.arange(20, 401, 10)
        z = [np.diff([part.mean() for part in np.split(x[:n], [n // 2])])[0] * np.sqrt(n) / 0.8 for n in half]
        naive.append(np.abs(z).max() > stats.norm.isf(ALPHA / 2))
    assert np.mean(wolf) <= ALPHA + 2 * 0.01
    assert np.mean(naive) > 3 * ALPHA


def test_votes_at_random_from_some_time_on() -> None:
    still = check(voirdire.fit(voted(np.random.default_rng(0)), model="crowd-bt-position", method="map"))
    assert still["level"] == "ok"
    late = voted(np.random.default_rng(0), late=lambda judge, time: (judge == 1) & (time >= 450))
    told = check(voirdire.fit(late, model="crowd-bt-position", method="map"))
    assert (told["level"], told["value"]) == ("warn", 1.0)
    assert told["message"].startswith("j1 becomes more out of line with the panel (from about answer 1")


def test_order_of_the_rows_says_nothing_where_times_do() -> None:
    late = voted(np.random.default_rng(3), late=lambda judge, time: (judge == 1) & (time >= 450))
    dated = late.assign(time=pd.Timestamp("2026-01-01") + pd.to_timedelta(late["time"], "h"))
    mixed = dated.sample(frac=1.0, random_state=0, ignore_index=True)
    messages = {
        check(voirdire.fit(table, model="crowd-bt-position", method="map"))["message"]
        for table in (late, mixed)
    }
    assert len(messages) == 1


def test_scores_become_severe() -> None:
    rng = np.random.default_rng(0)
    theta, rows = rng.normal(size=150), []
    for k, judge in enumerate("abcd"):
        for at, item in enumerate(rng.permutation(150)):
            strict = 1.0 * (k == 0) * (at >= 75)
            y = np.clip(np.round(3 + theta[item] - strict + 0.7 * rng.normal()), 1, 5)
            rows.append((judge, f"i{item}", int(y), at))
    table = pd.DataFrame(rows, columns=["judge", "item", "score", "time"])
    for model in ("rating-severity", "rating-continuous", "mean-score"):
        told = check(voirdire.fit(table, model=model, method="map"))
        assert "a becomes more severe" in told["message"]
    assert check(voirdire.fit(table.assign(time=table.index % 7), method="map"))["level"] == "ok"


def test_labels_at_random_from_some_run_on() -> None:
    rng = np.random.default_rng(0)
    rows = []
    for run in range(1, 13):
        for item in range(20):
            for k, judge in enumerate("abcd"):
                right = rng.random() < (0.5 if k == 2 and run > 6 else 0.9)
                rows.append((judge, f"{run}-{item}", "yes" if (item % 2 == 0) == right else "no", run))
    table = pd.DataFrame(rows, columns=["judge", "item", "label", "run"])
    told = check(voirdire.fit(table, model="dawid-skene", method="map"))
    assert told["message"].startswith("c becomes more out of line with the panel")


def test_criteria_of_one_question_are_one_witness() -> None:
    """Ten answers alike in a row tell no more than one: without that, chance looks like drift."""
    rng = np.random.default_rng(0)
    x = np.repeat(rng.normal(size=60), 10)
    zero = np.zeros(600, dtype=np.int64)
    seen = OverTime(("a",), zero, np.arange(600.0), np.repeat(np.arange(60), 10), {("up", "down"): x})
    assert drift(seen)[0].level == "ok"
    alone = OverTime(("a",), zero, np.arange(600.0), np.arange(600), {("up", "down"): x})
    assert largest_wealth(x).log > largest_wealth(x[::10]).log + 3.0
    assert drift(alone)[0].value is not None


def test_new_votes_bring_their_times() -> None:
    late = voted(np.random.default_rng(0), late=lambda judge, time: (judge == 1) & (time >= 450))
    half = voirdire.fit(late[:450], model="crowd-bt-position", method="map")
    assert check(half)["level"] == "ok"
    whole = check(half.update(late[450:]))
    assert whole["message"] == check(voirdire.fit(late, model="crowd-bt-position", method="map"))["message"]


def test_times_are_kept(tmp_path: Any) -> None:
    late = voted(np.random.default_rng(0), late=lambda judge, time: (judge == 1) & (time >= 450))
    fit = voirdire.fit(late, model="crowd-bt-position", method="map")
    save(fit, tmp_path / "run")
    assert check(load(tmp_path / "run")) == check(fit)


@pytest.mark.parametrize(
    ("time", "said"),
    [
        (["soon", "1", "2"], "row 1: time 'soon' is neither a number nor a date"),
        ([1.0, float("nan"), 2.0], "row 2: time nan is neither a number nor a date"),
        (["2026-01-01", "3", "4"], "column 'time' has numbers and dates"),
        ([True, False, True], "rows 1 and 3: time True is neither a number nor a date"),
    ],
)
def test_times_that_are_none(time: list[Any], said: str) -> None:
    votes = pd.DataFrame({"judge": "a", "first": "x", "second": "y", "winner": "x", "time": time})
    scores = pd.DataFrame({"judge": "a", "item": list("xyz"), "score": [1, 2, 3], "time": time})
    for table in (votes, scores):
        with pytest.raises(InputError) as error:
            voirdire.fit(table)
        assert said in str(error.value)


def test_runs_without_order_are_no_times() -> None:
    votes = voted(np.random.default_rng(0), 90).drop(columns="time").assign(run=["warm", "cold", "new"] * 30)
    fit = voirdire.fit(votes, model="crowd-bt", method="map")
    assert "drift" not in {entry.check for entry in fit.all_checks}
