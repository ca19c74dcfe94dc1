"""What answers tell by moments: regression written out, weighted draws, copies, and questions that many rows ask."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from voirdire import fit
from voirdire.fit.next.spread import choose_by_moments, weighted_moments
from voirdire.fit.next.suggest import next_comparisons


def drawn(draws: int = 400, items: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Differences of all pairs, and the answers of a good and of a poor judge to each, with ties."""
    theta = np.random.default_rng(seed).normal(size=(draws, items)) * [1.0, 0.5, 1.5, 1.0, 0.2]
    one, other = np.triu_indices(items, 1)
    gaps = theta[:, one] - theta[:, other]
    first = np.concatenate([coin / (1 + np.exp(-gaps)) + (1 - coin) / 2 for coin in (0.9, 0.2)], axis=1)
    return gaps, np.stack([0.9 * first, 0.9 * (1 - first), np.full_like(first, 0.1)], axis=2)


def by_regression(gaps: np.ndarray, answers: np.ndarray, w: np.ndarray, given: list[int]) -> np.ndarray:
    """G of every question after the answers to some: residuals of a regression, one question after the other."""
    score = answers @ [1.0, 0.0, 0.5]
    noise = w @ (answers @ [1.0, 0.0, 0.25] - score**2)

    def cov(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (a - w @ a).T @ (w[:, None] * (b - w @ b))

    among = cov(score, score)
    seen = np.linalg.pinv(among[np.ix_(given, given)] + np.diag(noise[given])) if given else np.zeros((0, 0))
    with_seen, pairs_seen = among[:, given], cov(gaps, score)[:, given]
    left = among - with_seen @ seen @ with_seen.T
    shared = cov(gaps, score) - pairs_seen @ seen @ with_seen.T
    spread = np.diag(cov(gaps, gaps)) - np.einsum("ti,ij,tj->t", pairs_seen, seen, pairs_seen)
    near = norm.pdf((w @ gaps) / np.sqrt(np.diag(cov(gaps, gaps))))
    return (near / spread) @ shared**2 / (np.diag(left) + noise)


@pytest.mark.parametrize("seed", range(4))
def test_each_next_question_is_the_best_given_a_regression_on_those_before(seed: int) -> None:
    gaps, answers = drawn(seed=seed)
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(gaps)))
    found = weighted_moments(answers, gaps, weights)
    alone = by_regression(gaps, answers, weights, [])
    assert found.question_gains == pytest.approx(alone)
    chosen, share = choose_by_moments(found, 6)
    for place in range(6):
        worth = by_regression(gaps, answers, weights, chosen[:place].tolist())
        worth[chosen[:place]] = -1
        assert chosen[place] == np.argmax(worth)
        assert share[place] == pytest.approx(min(worth[chosen[place]] / alone[chosen[place]], 1.0))
    assert (chosen < 10).all()  # of the good judge
    cheap = choose_by_moments(found, 6, cost=np.repeat([1000.0, 1.0], 10))[0]
    assert (cheap >= 10).all()


def test_draws_of_twice_the_weight_are_two_draws() -> None:
    gaps, answers = drawn(60)
    twice = np.r_[np.arange(60), np.arange(20)]
    weights = np.r_[np.full(20, 2 / 80), np.full(40, 1 / 80)]
    once = weighted_moments(answers, gaps, weights).question_gains
    assert once == pytest.approx(weighted_moments(answers[twice], gaps[twice], np.full(80, 1 / 80)).question_gains)


def test_what_is_known_and_what_does_not_matter_counts_for_nothing() -> None:
    gaps, answers = drawn()
    weights = np.full(len(gaps), 1 / len(gaps))
    sure = np.concatenate([gaps, np.full((len(gaps), 1), 3.0)], axis=1)
    assert weighted_moments(answers, sure, weights).question_gains == pytest.approx(
        weighted_moments(answers, gaps, weights).question_gains
    )
    only = np.eye(10)[3]
    assert weighted_moments(answers, gaps, weights, only).question_gains == pytest.approx(
        weighted_moments(answers, gaps[:, [3]], weights).question_gains
    )


def test_a_question_is_asked_as_often_as_it_may_be() -> None:
    gaps, answers = drawn()
    found = weighted_moments(answers, gaps, np.full(len(gaps), 1 / len(gaps)))
    copies = np.array([3, *[1] * 19])
    chosen = choose_by_moments(found, 100, copies=copies)[0]
    assert np.bincount(chosen).tolist() == copies.tolist()
    twins = choose_by_moments(found, 100, same=np.arange(20) % 10)[0]
    assert sorted(twins % 10) == list(range(10))


def test_rows_that_ask_the_same_do_not_crowd_out_others() -> None:
    """300 rows of each of three pairs to each of two judges: a round asks both judges, and more than one pair."""
    rng = np.random.default_rng(0)
    pairs = [("x", "y"), ("x", "z"), ("y", "z")]
    among = pd.DataFrame(
        [(judge, *pair) for judge in "ab" for pair in pairs for _ in range(300)], columns=["judge", "first", "second"]
    )
    votes = among.sample(30, random_state=0)
    votes = votes.assign(winner=rng.choice(["first", "second"], 30))
    found = next_comparisons(
        fit(votes, model="crowd-bt", method="laplace"), 60, who="judge", about="ranking", among=among
    )
    assert len(set(found.attrs["rows"])) == 60
    assert found["judge"].nunique() == 2
    assert len(found.groupby(["first", "second"])) >= 2
    for row, shown in zip(found.attrs["rows"], found.to_dict("records"), strict=True):
        assert among.loc[row].tolist() == [shown[name] for name in among]
