"""Audits of many judges: what is measured is what tables of all judges by all units give, and is measured once."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.decide.audit_answers import Answers, pair_with_reference
from voirdire.decide.audit_drift import find_repeats, others_repeat_disagreement
from voirdire.decide.audit_effects import known_answers_of_judge, noise_ratios, outfit_statistics
from voirdire.decide.audit_measures import judge_measures
from voirdire.decide.unit_means import UnitMeans
from voirdire.tables import read_table
from voirdire.typing import Floats


def crowd(judges: int, units: int, each: int, repeats: int = 1) -> Answers:
    """Grades of which every unit has some, by judges drawn at random."""
    rng = np.random.default_rng(0)
    worth = rng.normal(size=units)
    rows = [
        (f"j{judge:03d}", f"u{unit}", run, int(np.clip(np.round(3 + worth[unit] + rng.normal()), 1, 5)))
        for unit in range(units)
        for judge in rng.choice(judges, each, replace=False)
        for run in range(repeats)
    ]
    table = read_table(pd.DataFrame(rows, columns=["judge", "item", "run", "score"]))
    return pair_with_reference(table, None, None, (), None, None)


def squares_by_unit(answers: Answers) -> Floats:
    """Squares of each judge's answers beyond the mean of the others, shape (judges, units)."""
    given = np.full((len(answers.judges), len(answers.people)), np.nan)
    given[answers.judge, answers.unit] = answers.value
    beyond = np.array([row - np.nanmean(np.delete(given, at, axis=0), axis=0) for at, row in enumerate(given)])
    return np.asarray((beyond - np.nanmean(beyond, axis=1, keepdims=True)) ** 2)


def test_noise_and_outfit_are_those_of_a_table_of_judges_by_units() -> None:
    answers = crowd(12, 90, 5)
    squares = squares_by_unit(answers)
    noise, outfit = noise_ratios(answers), outfit_statistics(answers)
    for judge, own in enumerate(squares):
        there = ~np.isnan(own)
        rest = np.nanmean(np.delete(squares, judge, axis=0)[:, there], axis=0)
        panel = np.nanmean(squares[:, there], axis=0)
        expected = own[there].mean() / rest.mean()
        by_units = np.mean(own[there] / np.maximum(panel, 0.1 * panel.mean()))
        ratio, fit = noise[judge], outfit[judge]
        assert ratio is not None
        assert fit is not None
        np.testing.assert_allclose([ratio.value, fit], [expected, by_units], rtol=1e-9)


def test_what_most_other_judges_say_leaves_the_own_answer_out() -> None:
    answers = crowd(8, 60, 6)
    for judge in range(8):
        found = known_answers_of_judge(answers, judge)
        assert found is not None
        for row, said in zip(found[0], found[1], strict=True):
            beside = (answers.unit == answers.unit[row]) & (answers.judge != judge)
            counts = np.bincount(answers.level[beside], minlength=answers.levels)
            assert said == counts.argmax()
            assert (counts == counts.max()).sum() == 1


def test_repeats_of_others_are_the_mean_of_their_own() -> None:
    answers = crowd(6, 60, 4, repeats=2)
    repeats = find_repeats(answers)
    shares = []
    mine = set(answers.unit[answers.judge == 0])
    for judge in range(1, 6):
        said: dict[int, list[int]] = {}
        for row in np.flatnonzero(answers.judge == judge):
            said.setdefault(answers.unit[row], []).append(int(answers.level[row]))
        shares.append(np.mean([one[0] != one[1] for unit, one in said.items() if unit in mine]))
    found = others_repeat_disagreement(answers, repeats, 0)
    assert found is not None
    np.testing.assert_allclose(found.value, np.mean(shares), rtol=1e-9)


def test_every_judge_is_compared_with_the_others_a_few_times_however_many_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = crowd(80, 400, 5)
    asked: list[int | None] = []
    means = UnitMeans.mean_over_judges

    def counted(self: UnitMeans, units: Floats, without: int | None = None) -> Floats:
        asked.append(without)
        return means(self, units, without)  # type: ignore[arg-type]

    monkeypatch.setattr(UnitMeans, "mean_over_judges", counted)
    judge_measures(None, answers, 0.9, {})
    assert len(asked) <= 6 * 80


def test_cards_of_scores_are_plain_data_for_json() -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        [(f"j{j}", f"u{u}", int(rng.integers(1, 6))) for j in range(4) for u in range(40)],
        columns=["judge", "item", "score"],
    )
    assert json.loads(json.dumps(voirdire.audit(table)))["schema"] == "audit/1"
