"""Every judge against its closed form, and its answers against its chances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

from voirdire.errors import InputError
from voirdire.simulate import (
    Accuracy,
    Adversarial,
    AlwaysFirst,
    AlwaysSecond,
    BradleyTerry,
    Copycat,
    CriterionBlind,
    Discrimination,
    Drifting,
    Halo,
    Lazy,
    OneCoin,
    Random,
    TieProne,
    TwoCoin,
    VerbosityBiased,
)
from voirdire.simulate.judges.base import FIRST, SECOND, TIE, UNANSWERED, Questions

N = 200_000


def _questions(n: int = N, seed: int = 1) -> Questions:
    rng = np.random.default_rng(seed)
    gap, overall, length = rng.normal(0, 2, (3, n))
    return Questions(gap, overall, length, rng.random(n), np.arange(n))


def _davidson(d, nu):
    """Davidson (1970): weights exp(d/2), exp(-d/2), nu."""
    weights = np.stack([np.exp(d / 2), np.exp(-d / 2), np.full_like(d, nu)])
    return weights / weights.sum(axis=0)


def _mix(share, one, other):
    return share * one + (1 - share) * other


def _no_ties(first):
    return np.stack([first, 1 - first, np.zeros_like(first)])


# The (3, n) chances of first, second, tie as functions of the questions, written apart from the package.
CLOSED_FORMS = {
    "bradley-terry": (BradleyTerry(), lambda q: _no_ties(expit(q.gap))),
    "bradley-terry, scale": (BradleyTerry(scale=3.0), lambda q: _no_ties(expit(3 * q.gap))),
    "one-coin": (OneCoin(0.8), lambda q: _no_ties(0.8 * expit(q.gap) + 0.2 * expit(-q.gap))),
    "one-coin, scale": (OneCoin(0.1, 0.5), lambda q: _no_ties(_mix(0.1, expit(q.gap / 2), expit(-q.gap / 2)))),
    "two-coin": (TwoCoin(0.9, 0.4), lambda q: _no_ties(0.9 * expit(q.gap) + 0.6 * expit(-q.gap))),
    "discrimination": (Discrimination(-0.7, 1.2), lambda q: _no_ties(expit(-0.7 * q.gap + 1.2))),
    "random": (Random(), lambda q: _no_ties(np.full(len(q), 0.5))),
    "always-first": (AlwaysFirst(), lambda q: _no_ties(np.ones(len(q)))),
    "always-second": (AlwaysSecond(), lambda q: _no_ties(np.zeros(len(q)))),
    "accuracy, independent": (Accuracy(0.7, exact=False), lambda q: _no_ties(np.where(q.gap > 0, 0.7, 0.3))),
    "accuracy, exact": (Accuracy(0.7), lambda q: _no_ties(np.where(q.gap > 0, 0.7, 0.3))),
    "accuracy, flips": (Accuracy(flips=50_000), lambda q: _no_ties(np.where(q.gap > 0, 0.75, 0.25))),
    "adversarial": (Adversarial(), lambda q: _no_ties(np.where(q.gap > 0, 0.0, 1.0))),
    "adversarial, mostly": (Adversarial(0.9), lambda q: _no_ties(np.where(q.gap > 0, 0.1, 0.9))),
    "lazy": (Lazy(0.4), lambda q: _no_ties(0.6 * expit(q.gap) + 0.2)),
    "lazy, skipping": (Lazy(0.4, skips=True), lambda q: 0.6 * _no_ties(expit(q.gap))),
    "halo": (Halo(0.3), lambda q: _no_ties(expit(0.7 * q.gap + 0.3 * q.overall))),
    "halo on accuracy": (
        Halo(0.3, of=Accuracy(0.9, exact=False)),
        lambda q: _no_ties(np.where(0.7 * q.gap + 0.3 * q.overall > 0, 0.9, 0.1)),
    ),
    "criterion-blind": (CriterionBlind(), lambda q: _no_ties(expit(q.overall))),
    "verbosity-biased": (VerbosityBiased(1.5), lambda q: _no_ties(expit(q.gap + 1.5 * q.length))),
    "verbosity-biased, against": (
        VerbosityBiased(-0.5, of=OneCoin(0.9)),
        lambda q: _no_ties(0.8 * expit(q.gap - 0.5 * q.length) + 0.1),
    ),
    "drifting": (
        Drifting(OneCoin(0.9), OneCoin(0.4)),
        lambda q: _no_ties(_mix(0.9 - 0.5 * q.time, expit(q.gap), expit(-q.gap))),
    ),
    "drifting to a habit": (
        Drifting(BradleyTerry(), AlwaysFirst()),
        lambda q: _no_ties((1 - q.time) * expit(q.gap) + q.time),
    ),
    "tie-prone": (TieProne(1.3), lambda q: _davidson(q.gap, 1.3)),
    "tie-prone, never": (TieProne(0.0), lambda q: _no_ties(expit(q.gap))),
    "tie-prone on coins": (
        TieProne(0.8, of=TwoCoin(0.9, 0.6)),
        lambda q: np.stack(
            [
                (1 - _davidson(q.gap, 0.8)[2]) * (0.9 * expit(q.gap) + 0.4 * expit(-q.gap)),
                (1 - _davidson(q.gap, 0.8)[2]) * (0.1 * expit(q.gap) + 0.6 * expit(-q.gap)),
                _davidson(q.gap, 0.8)[2],
            ]
        ),
    ),
    "lazy on tie-prone": (
        Lazy(0.5, of=TieProne(1.0)),
        lambda q: 0.5 * _davidson(q.gap, 1.0) + 0.5 * np.array([[0.5], [0.5], [0.0]]),
    ),
    "tie-prone on lazy, skipping": (TieProne(1.0, of=Lazy(0.5, skips=True)), lambda q: 0.5 * _davidson(q.gap, 1.0)),
}


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_chances_are_the_closed_form(name):
    judge, closed_form = CLOSED_FORMS[name]
    asked = _questions()
    np.testing.assert_allclose(judge.answer_chances(asked, {}), closed_form(asked), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_answers_have_the_frequencies_of_the_closed_form(name):
    """In each of 20 bins of d, every outcome's count is within 4 standard errors of its expectation.

    Under the null 20 bins x 28 judges give 0.1 exceedances on average; the seed is fixed. A bin has 10,000
    answers, so that an error of 0.02 in a probability is found.
    """
    judge, closed_form = CLOSED_FORMS[name]
    asked = _questions()
    outcomes = judge.draw_answers(asked, np.random.default_rng(2), {})
    assert outcomes.dtype == np.int8
    expected = closed_form(asked)
    for rows in np.array_split(np.argsort(asked.gap), 20):
        for outcome in (FIRST, SECOND, TIE):
            p = expected[outcome, rows]
            error = 4 * np.sqrt((p * (1 - p)).sum())
            assert abs((outcomes[rows] == outcome).sum() - p.sum()) <= error + 1e-9


@pytest.mark.parametrize("judge", [Accuracy(0.7), Accuracy(0.7, exact=False), Adversarial(0.2), Adversarial()])
def test_without_a_gap_the_answer_is_a_coin_toss(judge):
    n = 40_000
    zero = np.zeros(n)
    outcomes = judge.draw_answers(Questions(zero, zero, zero, zero, np.arange(n)), np.random.default_rng(5), {})
    assert abs((outcomes == FIRST).sum() - n / 2) < 4 * np.sqrt(n / 4)


@pytest.mark.parametrize("accuracy", [0.0, 0.1, 0.3, 0.5, 0.55, 0.7, 0.9, 1.0])
@pytest.mark.parametrize("n", [1, 2, 10, 999, 6135])
def test_exact_share_is_exact(accuracy, n):
    asked = _questions(n)
    outcomes = Accuracy(accuracy).draw_answers(asked, np.random.default_rng(3), {})
    wrong = (outcomes == FIRST) != (asked.gap > 0)
    # Rounded half up, in whole hundredths.
    assert wrong.sum() == (round(100 * (1 - accuracy)) * n + 50) // 100


def test_exact_share_of_the_paper():
    """70% accuracy on 50 x 5 items and 10 pairs of criteria: 1840.5 flips of 6135, rounded half up."""
    assert Accuracy(0.7).flip_count(6135) == 1841
    assert Accuracy(0.9).flip_count(6135) == 614
    assert Accuracy(0.8).flip_count(6135) == 1227


def test_number_of_flips_is_exact():
    asked = _questions(100)
    outcomes = Accuracy(flips=17).draw_answers(asked, np.random.default_rng(3), {})
    assert ((outcomes == FIRST) != (asked.gap > 0)).sum() == 17


def test_flipped_places_are_drawn_without_preference():
    """Each of 20 places is flipped in 30% of 4,000 draws, within 4 standard errors."""
    asked = _questions(20)
    judge, rng = Accuracy(0.7), np.random.default_rng(4)
    wrong = sum((judge.draw_answers(asked, rng, {}) == FIRST) != (asked.gap > 0) for _ in range(4000))
    assert np.abs(wrong - 1200).max() < 4 * np.sqrt(4000 * 0.3 * 0.7)


def test_exact_flips_vary_less_than_independent_ones():
    """In one half of the answers the flips are hypergeometric, not binomial: variance halved."""
    asked = _questions(200)
    rng = np.random.default_rng(6)

    def variance(judge):
        halves = [((judge.draw_answers(asked, rng, {}) == FIRST) != (asked.gap > 0))[:100].sum() for _ in range(4000)]
        return np.var(halves)

    # The standard error of a variance from 4,000 near-Normal draws is 2.2% of it.
    assert variance(Accuracy(0.7)) == pytest.approx(100 * 0.21 * 100 / 199, rel=0.09)
    assert variance(Accuracy(0.7, exact=False)) == pytest.approx(100 * 0.21, rel=0.09)


@pytest.mark.parametrize(
    ("judge", "coins"),
    [
        (BradleyTerry(), (1, 1)),
        (OneCoin(0.8), (0.8, 0.8)),
        (TwoCoin(0.9, 0.4), (0.9, 0.4)),
        (Random(), (0.5, 0.5)),
        (AlwaysFirst(), (1, 0)),
        (AlwaysSecond(), (0, 1)),
        (Lazy(0.4, of=TwoCoin(0.9, 0.4)), (0.74, 0.44)),
        (Lazy(0.4, of=OneCoin(0.9), skips=True), (0.9, 0.9)),
    ],
)
def test_coins_reproduce_the_chances(judge, coins):
    assert judge.two_coin_values() == pytest.approx(coins)
    asked = _questions(1000)
    first, second, _ = judge.answer_chances(asked, {})
    expected = TwoCoin(*judge.two_coin_values()).p_first(asked)
    np.testing.assert_allclose(first / (first + second), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "judge",
    [
        BradleyTerry(2.0),
        OneCoin(0.8, 2.0),
        TwoCoin(0.8, 0.7, 2.0),
        Discrimination(1.0),
        Accuracy(0.8),
        Adversarial(),
        Halo(0.5),
        Lazy(0.2, of=Accuracy(0.8)),
        Copycat("x"),
    ],
)
def test_no_coins_where_no_two_coin_model_fits(judge):
    assert judge.two_coin_values() is None


def test_lazy_bradley_terry_is_a_one_coin_judge():
    asked = _questions(1000)
    np.testing.assert_allclose(
        Lazy(0.3).answer_chances(asked, {}), OneCoin(0.85).answer_chances(asked, {}), rtol=0, atol=1e-12
    )


def test_skipped_questions_are_marked_unanswered():
    outcomes = Lazy(0.4, skips=True).draw_answers(_questions(), np.random.default_rng(2), {})
    assert abs((outcomes == UNANSWERED).sum() - 0.4 * N) < 4 * np.sqrt(0.24 * N)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.8, 1.0])
def test_copycat_agrees_as_often_as_it_should(rho):
    """P(agree) = rho + (1 - rho) P(own answer equals the copied), within 4 standard errors."""
    asked = _questions()
    other = OneCoin(0.9)
    copied = other.draw_answers(asked, np.random.default_rng(7), {})
    judge = Copycat("ada", rho=rho, of=OneCoin(0.7))
    outcomes = judge.draw_answers(asked, np.random.default_rng(8), {"ada": copied})
    p, q = other.p_first(asked), OneCoin(0.7).p_first(asked)
    agree = rho + (1 - rho) * (p * q + (1 - p) * (1 - q))
    assert abs((outcomes == copied).sum() - agree.sum()) <= 4 * np.sqrt((agree * (1 - agree)).sum()) + 1e-9
    marginal = judge.answer_chances(asked, {"ada": other.answer_chances(asked, {})})[FIRST]
    np.testing.assert_allclose(marginal, rho * p + (1 - rho) * q, rtol=0, atol=1e-12)
    assert abs((outcomes == FIRST).sum() - marginal.sum()) < 4 * np.sqrt((marginal * (1 - marginal)).sum())


def test_copycat_judges_for_itself_what_the_other_left_out():
    asked = _questions()
    other = Lazy(0.5, of=AlwaysFirst(), skips=True)
    copied = other.draw_answers(asked, np.random.default_rng(7), {})
    judge = Copycat("ada", of=AlwaysSecond())
    outcomes = judge.draw_answers(asked, np.random.default_rng(8), {"ada": copied})
    np.testing.assert_array_equal(outcomes, np.where(copied == UNANSWERED, SECOND, FIRST))
    chances = judge.answer_chances(asked, {"ada": other.answer_chances(asked, {})})
    np.testing.assert_allclose(chances, np.array([[0.5], [0.5], [0.0]]) * np.ones(N))


def test_criterion_blind_gives_one_answer_to_questions_that_are_alike():
    n, criteria = 5000, 4
    rng = np.random.default_rng(9)
    overall = np.tile(rng.normal(0, 1, n), criteria)
    asked = Questions(
        rng.normal(0, 1, n * criteria),
        overall,
        np.zeros(n * criteria),
        np.zeros(n * criteria),
        np.tile(np.arange(n), criteria),
    )
    outcomes = CriterionBlind().draw_answers(asked, rng, {}).reshape(criteria, n)
    assert (outcomes == outcomes[0]).all()
    p = expit(overall[:n])
    assert abs((outcomes[0] == FIRST).sum() - p.sum()) < 4 * np.sqrt((p * (1 - p)).sum())


def test_criterion_blind_copycat_copies_the_first_criterion_for_all():
    asked = Questions(np.zeros(4), np.zeros(4), np.zeros(4), np.zeros(4), np.array([0, 1, 0, 1]))
    copied = np.array([FIRST, SECOND, SECOND, FIRST], dtype=np.int8)
    judge = CriterionBlind(of=Copycat("ada"))
    outcomes = judge.draw_answers(asked, np.random.default_rng(0), {"ada": copied})
    assert outcomes.tolist() == [FIRST, SECOND, FIRST, SECOND]


def test_huge_gaps_neither_overflow_nor_tie():
    asked = Questions(np.array([1e6, -1e6]), *np.zeros((3, 2)), np.arange(2))
    for judge in (TieProne(5.0), OneCoin(1.0), Discrimination(100.0, -3.0)):
        np.testing.assert_array_equal(judge.answer_chances(asked, {}), [[1, 0], [0, 1], [0, 0]])


def test_more_flips_than_questions_is_a_problem_also_when_wrapped():
    asked = Questions(np.zeros(4), np.zeros(4), np.zeros(4), np.zeros(4), np.array([0, 1, 0, 1]))
    assert Accuracy(flips=4).question_problems(asked) == []
    assert "flips is 5, but this judge gives only 4 votes" in Accuracy(flips=5).question_problems(asked)[0]
    assert Lazy(0.1, of=Accuracy(flips=5)).question_problems(asked)
    # A criterion-blind judge answers only two questions.
    assert "only 2 votes" in CriterionBlind(of=Accuracy(flips=3)).question_problems(asked)[0]


def test_accuracy_needs_exactly_one_of_accuracy_and_flips():
    with pytest.raises(InputError, match="neither is given"):
        Accuracy()
    with pytest.raises(InputError, match="both are given"):
        Accuracy(0.5, flips=3)
    with pytest.raises(InputError, match="exact"):
        Accuracy(flips=3, exact=False)


def test_the_bins_of_the_frequency_test_would_catch_a_wrong_coin():
    """The negative control of the frequency test: 0.83 instead of 0.8 is found."""
    asked = _questions()
    outcomes = OneCoin(0.83).draw_answers(asked, np.random.default_rng(2), {})
    p = OneCoin(0.8).p_first(asked)
    rows = np.argsort(asked.gap)[-N // 20 :]
    count = (outcomes[rows] == FIRST).sum()
    assert abs(count - p[rows].sum()) > 4 * np.sqrt((p[rows] * (1 - p[rows])).sum())
    assert binom.sf(count - 1, len(rows), p[rows].mean()) < 1e-6
