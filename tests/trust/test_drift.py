"""Judges that change with time: found in every kind of answer, and false alarms within 5% however often one looks."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import voirdire
from voirdire import load
from voirdire.errors import InputError
from voirdire.fit.store import save
from voirdire.trust.drift import (
    FALSE_ALARM_RATE,
    AnswersOverTime,
    check_drift,
    largest_evidence,
    log_evidence_steps,
    running_log_evidence,
)


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


def orders(size: int, ones: int) -> list[Any]:
    """Every order of some ones among zeros."""
    places = combinations(range(size), ones)
    return [np.isin(np.arange(size), place).astype(float) for place in places]


def test_expected_wealth_at_a_look_is_exactly_one_where_every_order_is_as_likely() -> None:
    paths = np.array([running_log_evidence(x) for x in orders(20, 3)])
    assert np.exp(paths[:, -1]).mean() == pytest.approx(1.0, abs=1e-9)
    assert np.ptp(paths[:, -1]) > 1.0
    three = np.array([np.prod(np.exp(log_evidence_steps(x)[0, 4:])) for x in orders(8, 3)])
    assert three.mean() == pytest.approx(1.0, abs=1e-9)


def test_bet_is_the_values_own_share_of_the_tilted_bag() -> None:
    x = np.array([0.0, 0.0, 1.0, 0.0, 1.0, 0.0])
    w = (x - x.mean()) / x.std()  # none is beyond 2
    tilted = np.exp(0.5 * w)
    assert log_evidence_steps(x)[-2, -1] == pytest.approx(np.log(tilted[-1] / tilted.mean()), abs=1e-9)
    rare = np.zeros(40)
    rare[7] = 1.0
    assert log_evidence_steps(rare)[-1, 7] == pytest.approx(
        0.8 * 2.0 - np.log(np.exp(1.6) / 8 + 7 / 8 * np.exp(-1.6 / 7))
    )


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.8, 0.98])
def test_false_alarms_within_alpha_over_all_looks_and_not_without_the_bound(share: float) -> None:
    """500 sequences of 400 answers, looked at after each: wealth beyond 20 in at most 5% (mcse 1%).

    The control, a z test of the later against the earlier half at each look, cries wolf far more often.
    """
    wolf, naive = [], []
    for seed in range(500):
        x = (np.random.default_rng(seed).random(400) < share) - share
        wolf.append(largest_evidence(x).log > np.log(1.0 / FALSE_ALARM_RATE))
        half = np.arange(20, 401, 10)
        sd = 2.0 * np.sqrt(share * (1.0 - share))
        z = [np.diff([part.mean() for part in np.split(x[:n], [n // 2])])[0] * np.sqrt(n) / sd for n in half]
        naive.append(np.abs(z).max() > stats.norm.isf(FALSE_ALARM_RATE / 2))
    assert np.mean(wolf) <= FALSE_ALARM_RATE
    assert np.mean(naive) > 3 * FALSE_ALARM_RATE


def test_a_judge_at_random_is_found() -> None:
    """200 judges of 300 answers to pairs of any difficulty, the later half at random: 9 of 10 told of four judges."""
    told = []
    for seed in range(200):
        rng = np.random.default_rng([seed, 5])
        t = np.tanh(0.5 * rng.choice([0.6, 1.2, 1.8, 2.4, 3.0], 300, p=np.array([5, 4, 3, 2, 1]) / 15))
        says = np.where(rng.random(300) < 0.5 * (1.0 + t * (np.arange(300) < 150)), 1.0, -1.0)
        told.append(largest_evidence((says - 0.5 * t) * t).log > np.log(4 / (FALSE_ALARM_RATE * 0.75)))
    assert np.mean(told) >= 0.88  # standard error 0.02


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
        check(voirdire.fit(table, model="crowd-bt-position", method="map"))["message"] for table in (late, mixed)
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
    seen = AnswersOverTime(("a",), zero, np.arange(600.0), np.repeat(np.arange(60), 10), {("up", "down"): x})
    assert check_drift(seen)[0].level == "ok"
    alone = AnswersOverTime(("a",), zero, np.arange(600.0), np.arange(600), {("up", "down"): x})
    assert largest_evidence(x).log > largest_evidence(x[::10]).log + 3.0
    assert check_drift(alone)[0].value is not None


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
