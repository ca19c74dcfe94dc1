"""Judges' tastes: what an item is worth more to one judge, by every criterion alike."""

from __future__ import annotations

import numpy as np
import pytest

from voirdire.simulate import Accuracy, AllPairs, Copycat, InContexts, NormalTruth, simulate_counts, simulate_votes

PERFECT = {name: Accuracy(1.0) for name in ("ada", "bob", "cem")}


@pytest.mark.parametrize("order", ["fixed", "swap", "random", "random-by-criterion"])
def test_judges_see_what_items_are_worth_to_them(order):
    """A judge that never errs orders every pair as strengths and its own taste have it, by every criterion."""
    truth = NormalTruth(sd=1.0, context_sd=0.5, taste_sd=2.0)
    made = simulate_counts(
        PERFECT, items=10, criteria=3, design=InContexts(contexts=4, order=order), truth=truth, seed=3
    )
    votes, tastes, there = made.votes, made.truth.tastes, made.truth.in_contexts
    first, second = (
        there[votes.context, votes.criterion, item] + tastes[votes.judge, item] for item in (votes.first, votes.second)
    )
    assert ((first > second) == (votes.outcome == 0)).all()


def test_tastes_have_the_spread_that_was_asked_for():
    """Within four standard errors of a standard deviation of 400 x 100 normal values; sum zero for each judge."""
    panel = {f"judge-{k:03d}": "random" for k in range(400)}
    design = AllPairs(criteria_votes=False)
    tastes = simulate_counts(panel, items=100, criteria=1, design=design, truth=NormalTruth(taste_sd=1.5)).truth.tastes
    assert tastes.shape == (400, 100)
    assert tastes.std(ddof=1) / np.sqrt(0.99) == pytest.approx(1.5, rel=4 / np.sqrt(2 * 40_000))
    np.testing.assert_allclose(tastes.sum(axis=1), 0.0, atol=1e-10)
    assert np.abs(np.corrcoef(tastes)[np.triu_indices(400, 1)]).mean() == pytest.approx(0.08, abs=0.01)


@pytest.mark.parametrize("taste", [0.5, 1.0, 3.0])
def test_how_often_perfect_judges_disagree(taste):
    """Two differences whose correlation is rho have the same sign with probability 1/2 + arcsin(rho) / pi.

    Of a judge and the truth rho is s / sqrt(s^2 + t^2), of two judges s^2 / (s^2 + t^2) (Sheppard 1899).
    """
    panel = {f"judge-{k:02d}": Accuracy(1.0) for k in range(20)}
    made = simulate_counts(panel, items=150, criteria=1, truth=NormalTruth(sd=1.0, taste_sd=taste), seed=5)
    said = made.votes.outcome.reshape(20, -1) == 0
    strength = made.truth.strengths[0]
    better = (strength[made.votes.first] > strength[made.votes.second]).reshape(20, -1)
    rho = 1 / np.sqrt(1 + taste**2)
    assert (said == better).mean() == pytest.approx(0.5 + np.arcsin(rho) / np.pi, abs=0.015)
    alike = np.mean([(said[a] == said[b]).mean() for a in range(20) for b in range(a)])
    assert alike == pytest.approx(0.5 + np.arcsin(rho**2) / np.pi, abs=0.015)


def test_a_taste_is_the_same_by_every_criterion_and_leaves_votes_on_criteria_alone():
    made, without = (
        simulate_votes(PERFECT, items=8, criteria=4, truth=NormalTruth(sd=0.0, taste_sd=taste), seed=1)
        for taste in (1.0, 0.0)
    )
    winners = made.votes.pivot(index=["judge", "first", "second"], columns="criterion", values="winner")
    assert (winners.nunique(axis=1) == 1).all()
    assert made.criteria_votes.equals(without.criteria_votes)
    assert made.truth.judges["reliability"].tolist() == [1.0] * 3


def test_tastes_are_each_judges_own_and_change_nothing_else():
    """Neither other judges nor the rest of the truth depend on them; one that copies sees what it hears."""
    setting = {"items": 7, "criteria": 2, "seed": 4}
    plain = simulate_counts(PERFECT, truth=NormalTruth(), **setting).truth
    whole = simulate_counts(PERFECT, truth=NormalTruth(taste_sd=1.0), **setting).truth
    fewer = {name: PERFECT[name] for name in ("cem", "ada")}
    part = simulate_counts(fewer, truth=NormalTruth(taste_sd=1.0), **setting).truth
    np.testing.assert_array_equal(whole.tastes[[2, 0]], part.tastes)
    for name in ("strengths", "weights", "length"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(whole, name))
    assert plain.tastes is None
    copied = simulate_counts({**PERFECT, "dan": Copycat("ada")}, truth=NormalTruth(taste_sd=1.0), **setting)
    of = copied.votes.outcome.reshape(4, -1)
    np.testing.assert_array_equal(of[3], of[0])
