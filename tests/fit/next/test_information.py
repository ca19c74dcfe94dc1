"""Expected information: enumeration, closed forms, invariances, and fewer questions than chance would need."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voirdire.fit.next.information import choose_by_entropy, expected_information, total_entropy, unknowns_from_codes

RUNS = 80
PAIRS = [(0, 1), (0, 2), (1, 2)]


def h(p) -> float:
    p = np.asarray(p, dtype=float).ravel()
    p = p[p > 0]
    return float(-(p * np.log2(p)).sum())


def tiny() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All six orders of three items, their weights, and the answers of one judge to each pair."""
    theta = np.array(list(permutations([1.0, 0.0, -1.5])))
    weights = np.array([0.3, 0.25, 0.2, 0.12, 0.08, 0.05])
    d = np.stack([theta[:, i] - theta[:, j] for i, j in PAIRS], axis=1)
    first = 0.9 / (1 + np.exp(-d)) + 0.1 / (1 + np.exp(d))
    return theta, weights, np.stack([first, 1 - first], axis=2)


def orders(theta: np.ndarray) -> np.ndarray:
    return np.stack([theta[:, i] > theta[:, j] for i, j in PAIRS], axis=1).astype(int)


def by_hand(answers: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> float:
    """H(T) - E H(T | y) of one question, summed over T, from the joint table and nothing else."""
    total = 0.0
    for column in codes.T:
        levels = sorted(set(column))
        joint = np.array(
            [
                [sum(weights[s] * answers[s, y] for s in range(len(weights)) if column[s] == level) for level in levels]
                for y in range(answers.shape[1])
            ]
        )
        answer = joint.sum(axis=1)
        after = sum(p * h(row / p) for p, row in zip(answer, joint, strict=True) if p > 0)
        total += h(joint.sum(axis=0)) - after
    return total


def test_information_is_that_of_the_enumerated_table() -> None:
    theta, weights, answers = tiny()
    codes = orders(theta)
    found = expected_information(answers, unknowns_from_codes(codes), weights)
    expected = [by_hand(answers[:, q], codes, weights) for q in range(3)]
    assert found == pytest.approx(expected, abs=1e-12)
    assert total_entropy(unknowns_from_codes(codes), weights) == pytest.approx(
        sum(h([weights[c == 1].sum(), weights[c == 0].sum()]) for c in codes.T), abs=1e-12
    )
    # Four levels, three kinds of answer.
    rng = np.random.default_rng(0)
    codes, weights = rng.integers(0, 4, (50, 3)), rng.dirichlet(np.ones(50))
    answers = rng.dirichlet(np.ones(3), (50, 7))
    found = expected_information(answers, unknowns_from_codes(codes), weights)
    assert found == pytest.approx([by_hand(answers[:, q], codes, weights) for q in range(7)], abs=1e-10)


@pytest.mark.parametrize(("prior", "right"), [(0.5, 0.9), (0.2, 0.7), (0.9, 0.99), (0.5, 0.5)])
def test_one_order_and_one_coin_have_a_closed_form(prior: float, right: float) -> None:
    answers = np.array([[[right, 1 - right]], [[1 - right, right]]])
    found = expected_information(answers, unknowns_from_codes(np.array([[1], [0]])), np.array([prior, 1 - prior]))
    said = prior * right + (1 - prior) * (1 - right)
    assert found[0] == pytest.approx(h([said, 1 - said]) - h([right, 1 - right]), abs=1e-12)


@pytest.mark.slow
def test_gains_of_a_batch_are_those_of_the_enumerated_answers() -> None:
    theta, weights, answers = tiny()
    codes = orders(theta)
    batch = choose_by_entropy(answers, unknowns_from_codes(codes), weights, 3, np.random.default_rng(1), worlds=20_000)
    alone = expected_information(answers, unknowns_from_codes(codes), weights)
    assert batch.chosen[0] == np.argmax(alone)
    assert batch.gain[0] == pytest.approx(alone.max(), abs=1e-12)

    def expected(asked: list[int]) -> float:
        """Expected entropy after the answers to some questions."""
        total = 0.0
        for said in product(range(2), repeat=len(asked)):
            joint = weights * np.prod([answers[:, q, y] for q, y in zip(asked, said, strict=True)], axis=0)
            total += joint.sum() * total_entropy(unknowns_from_codes(codes), joint / joint.sum())
        return total

    asked = batch.chosen.tolist()
    for k in (1, 2):
        others = [q for q in range(3) if q not in asked[:k]]
        gains = {q: expected(asked[:k]) - expected([*asked[:k], q]) for q in others}
        assert asked[k] == max(gains, key=gains.__getitem__)
        # 20,000 worlds: a standard error of at most 0.003 bits.
        assert batch.gain[k] == pytest.approx(gains[asked[k]], abs=0.012)
    assert batch.expected_entropy == pytest.approx(expected(asked), abs=0.015)


def test_the_lazy_search_finds_what_the_full_one_does() -> None:
    rng = np.random.default_rng(3)
    theta = rng.normal(size=(300, 10))
    pairs = [(i, j) for i in range(10) for j in range(i)]
    d = np.stack([theta[:, i] - theta[:, j] for i, j in pairs], axis=1)
    first = 1 / (1 + np.exp(-2 * d))
    answers = np.stack([first, 1 - first], axis=2)
    about, weights = unknowns_from_codes((d > 0).astype(int)), np.full(300, 1 / 300)
    batch = choose_by_entropy(answers, about, weights, 2, np.random.default_rng(0), worlds=8)
    # The same worlds, all gains computed.
    again = np.random.default_rng(0)
    truth = again.choice(300, 8, p=weights)
    best = batch.chosen[0]
    said = (again.random(8) > answers[truth, best, 0]).astype(int)
    after = weights * answers[:, best, :].T[said]
    after /= after.sum(axis=1, keepdims=True)
    gains = np.mean([expected_information(answers, about, row) for row in after], axis=0)
    gains[best] = -1
    assert batch.chosen[1] == np.argmax(gains)
    assert batch.gain[1] == pytest.approx(gains.max(), abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), kinds=st.integers(2, 3), levels=st.integers(2, 4))
def test_names_and_orders_do_not_matter(seed: int, kinds: int, levels: int) -> None:
    rng = np.random.default_rng(seed)
    codes, weights = rng.integers(0, levels, (40, 5)), rng.dirichlet(np.ones(40))
    answers = rng.dirichlet(np.ones(kinds), (40, 6))
    found = expected_information(answers, unknowns_from_codes(codes), weights)
    assert (found >= 0).all()
    draws, names, questions = rng.permutation(40), rng.permutation(levels), rng.permutation(6)
    again = expected_information(
        # Swapping the pair shown swaps the answers.
        answers[draws][:, questions][..., ::-1], unknowns_from_codes(names[codes][draws][:, ::-1]), weights[draws]
    )  # fmt: skip
    assert again == pytest.approx(found[questions], abs=1e-10)


def test_answers_that_depend_on_nothing_tell_nothing() -> None:
    theta, weights, _ = tiny()
    coin = np.full((6, 2, 2), 0.5)
    assert expected_information(coin, unknowns_from_codes(orders(theta)), weights) == pytest.approx([0, 0], abs=1e-12)
    certain = np.zeros((6, 1), int)
    assert expected_information(coin, unknowns_from_codes(certain), weights).tolist() == [0, 0]
    assert total_entropy(unknowns_from_codes(certain), weights) == 0


def test_a_comparison_is_asked_in_one_order_only() -> None:
    theta, weights, answers = tiny()
    both = np.concatenate([answers, answers[..., ::-1]], axis=1)
    same = np.tile(np.arange(3), 2)
    rng = np.random.default_rng(0)
    batch = choose_by_entropy(both, unknowns_from_codes(orders(theta)), weights, 9, rng, same=same)
    assert sorted(same[batch.chosen]) == [0, 1, 2]


def race(informed: bool, runs: int, votes: int) -> np.ndarray:
    """Share of pairs ordered rightly after each vote, averaged over runs; strengths are those of one of the draws."""
    rng = np.random.default_rng(0)
    theta = 1.5 * rng.normal(size=(1500, 8))
    pairs = np.array([(i, j) for i in range(8) for j in range(i)])
    d = theta[:, pairs[:, 0]] - theta[:, pairs[:, 1]]
    first = 0.9 / (1 + np.exp(-d)) + 0.1 / (1 + np.exp(d))
    answers, about = np.stack([first, 1 - first], axis=2), unknowns_from_codes((d > 0).astype(int))
    right = np.empty((runs, votes))
    for run in range(runs):
        # Both ways of choosing meet the same truths.
        chance = np.random.default_rng(run)
        truth = chance.integers(len(theta))
        weights = np.full(len(theta), 1 / len(theta))
        for vote in range(votes):
            uniform, any_pair = chance.random(), chance.integers(len(pairs))
            asked = int(np.argmax(expected_information(answers, about, weights))) if informed else any_pair
            weights = weights * (answers[:, asked, 0] if uniform < first[truth, asked] else answers[:, asked, 1])
            weights /= weights.sum()
            right[run, vote] = np.mean(((weights @ (d > 0)) > 0.5) == (d[truth] > 0))
    return right


@pytest.mark.slow
def test_chosen_questions_need_fewer_votes_than_random_ones() -> None:
    informed, chance = (race(kind, 120, 40) for kind in (True, False))
    # Over the whole race, and at its end; runs have a standard error of their own.
    for gain in ((informed - chance).mean(axis=1), informed[:, -1] - chance[:, -1]):
        assert gain.mean() > 3 * gain.std() / 120**0.5, (gain.mean(), gain.std())
    # What 40 random votes achieve takes a quarter of the votes less; a curve is known to 0.01.
    reached = int(np.argmax(informed.mean(axis=0) >= chance.mean(axis=0)[-1])) + 1
    assert reached <= 30, (reached, informed.mean(axis=0), chance.mean(axis=0))


def laplace(
    votes: np.ndarray, pairs: np.ndarray, items: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Mode of Bradley-Terry strengths, Normal(0, 1.5), and 400 draws of the normal approximation there.

    `votes` counts the answers for the first and the second item of each pair.
    """
    design = np.zeros((len(pairs), items))
    design[np.arange(len(pairs)), pairs[:, 0]], design[np.arange(len(pairs)), pairs[:, 1]] = 1, -1
    theta = np.zeros(items)
    for _ in range(30):
        p = 1 / (1 + np.exp(-design @ theta))
        slope = design.T @ (votes[:, 0] - votes.sum(axis=1) * p) - theta / 1.5**2
        curvature = (design.T * (votes.sum(axis=1) * p * (1 - p))) @ design + np.eye(items) / 1.5**2
        theta = theta + np.linalg.solve(curvature, slope)
    assert np.abs(slope).max() < 1e-6
    return theta, rng.multivariate_normal(theta, np.linalg.inv(curvature), size=400)


def rounds(informed: bool, runs: int, items: int = 15) -> np.ndarray:
    """Concordance after each of five batches of ten votes, chosen together or at random, on top of 30 random votes."""
    pairs = np.array([(i, j) for i in range(items) for j in range(i)])
    right = np.empty((runs, 5))
    for run in range(runs):
        rng = np.random.default_rng(run)
        truth = 1.5 * rng.normal(size=items)
        first = 1 / (1 + np.exp(truth[pairs[:, 1]] - truth[pairs[:, 0]]))
        votes = np.zeros((len(pairs), 2))
        asked = rng.permutation(len(pairs))[:30]
        for batch in range(6):
            np.add.at(votes, (asked, (rng.random(len(asked)) > first[asked]).astype(int)), 1)
            mode, draws = laplace(votes, pairs, items, rng)
            if batch:
                d = mode[pairs[:, 0]] - mode[pairs[:, 1]]
                right[run, batch - 1] = np.mean((d > 0) == (first > 0.5))
            d = draws[:, pairs[:, 0]] - draws[:, pairs[:, 1]]
            p = 1 / (1 + np.exp(-d))
            asked = rng.permutation(len(pairs))[:10]
            if informed and batch < 5:
                answers = np.stack([p, 1 - p], axis=2)
                about, weights = unknowns_from_codes((d > 0).astype(int)), np.full(400, 1 / 400)
                asked = choose_by_entropy(answers, about, weights, 10, rng, worlds=8).chosen
    return right


@pytest.mark.long
@pytest.mark.slow
def test_chosen_batches_order_more_pairs_rightly_than_random_ones() -> None:
    informed, chance = (rounds(kind, RUNS) for kind in (True, False))
    gain = informed.mean(axis=1) - chance.mean(axis=1)
    assert gain.mean() > 2 * gain.std() / RUNS**0.5, (informed.mean(axis=0), chance.mean(axis=0), gain.std())


@pytest.mark.slow
def test_chosen_questions_to_a_person_tell_reliable_judges_sooner() -> None:
    """Six judges voted on all pairs; which coins they have, and whether the panel is the right way up, is asked for."""
    rng = np.random.default_rng(1)
    coins = np.array([0.2, 0.5, 0.7, 0.9])
    theta = 1.5 * rng.normal(size=(3000, 6))
    kind = rng.integers(0, 4, (3000, 6))
    # Each panel has its mirrored twin, which votes cannot tell from it.
    theta, eta = np.concatenate([theta, -theta]), np.concatenate([coins[kind], 1 - coins[kind]])
    pairs = np.array([(i, j) for i in range(6) for j in range(i)])
    d = theta[:, pairs[:, 0]] - theta[:, pairs[:, 1]]
    sure = 1 / (1 + np.exp(-d))
    person = 0.95 * sure + 0.05 * (1 - sure)
    answers = np.stack([person, 1 - person], axis=2)
    levels = np.unique(eta.round(3))
    codes = np.searchsorted(levels, eta.round(3))
    about = unknowns_from_codes(codes)
    votes = eta[:, :, None] * sure[:, None] + (1 - eta[:, :, None]) * (1 - sure[:, None])
    scored = {True: np.empty(150), False: np.empty(150)}
    for run in range(150):
        for informed, found in scored.items():
            chance = np.random.default_rng(run)
            truth = chance.integers(3000)
            said = chance.random((6, 15)) < votes[truth]
            log = np.log(np.where(said, votes, 1 - votes)).sum(axis=(1, 2))
            weights = np.exp(log - log.max())
            weights /= weights.sum()
            for _ in range(4):
                uniform, any_pair = chance.random(), chance.integers(15)
                asked = int(np.argmax(expected_information(answers, about, weights))) if informed else any_pair
                weights = weights * answers[:, asked, int(uniform >= person[truth, asked])]
                weights /= weights.sum()
            found[run] = np.mean([weights @ (codes[:, k] == codes[truth, k]) for k in range(6)])
    gain = scored[True] - scored[False]
    assert gain.mean() > 3 * gain.std() / 150**0.5, (scored[True].mean(), scored[False].mean(), gain.std())
