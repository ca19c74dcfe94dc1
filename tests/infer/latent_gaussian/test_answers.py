"""Answers of cells beside sums over their alternatives and differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from voirdire.infer.latent_gaussian.answers import Answers
from voirdire.infer.latent_gaussian.joined_answers import AnswerKind, SeveralAnswers
from voirdire.kinds import encode_votes
from voirdire.model import load_model
from voirdire.model.family.family import Family
from voirdire.model.family.ordinal import ordinal_family
from voirdire.model.family.sharpness import sharpness_family
from voirdire.model.family.two_coin import two_coin_family
from voirdire.tables import read_votes


def of_votes() -> Answers:
    """Of two coins and ties with a scale: five predictors, two questions."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 4, 60)
    table = {
        "judge": rng.integers(0, 3, 60).astype(str),
        "first": first.astype(str),
        "second": ((first + rng.integers(1, 4, 60)) % 4).astype(str),
        "context": rng.integers(0, 3, 60).astype(str),
        "winner": rng.choice(["first", "second", "tie"], 60),
    }
    problem = encode_votes(load_model("crowd-bt-contexts"), read_votes(pd.DataFrame(table)))
    return problem.density.latent_model(problem.data).answers


def of_levels(levels: int, *, sloped: bool = False) -> Answers:
    """Of an ordered scale: a predictor and one for each gap between its cutpoints, and one for a slope."""
    family = ordinal_family(levels, sloped=sloped)
    counts = np.random.default_rng(0).integers(0, 4, (1, levels, 12)).astype(float)
    return Answers(family.log_probabilities, counts, family.closed_form, family.name)


def of_family(made: Callable[[bool, bool], Family], ties: bool, tie_scale: bool = False) -> Answers:
    """Of random counts: three predictors, four with ties, five with a scale of ties."""
    family = made(ties, tie_scale)
    counts = np.random.default_rng(0).integers(0, 4, (1 + ties, 2, 12)).astype(float)
    if ties:
        counts[1, 1] = counts[0].sum(axis=0)
    return Answers(family.log_probabilities, counts, family.closed_form, family.name)


MADE = {  # with the number of predictors
    "votes": (of_votes, 5),
    "2": (lambda: of_levels(2), 1),
    "3": (lambda: of_levels(3), 2),
    "5": (lambda: of_levels(5), 4),
    "2 sloped": (lambda: of_levels(2, sloped=True), 2),
    "4 sloped": (lambda: of_levels(4, sloped=True), 4),
    "two coins with ties": (lambda: of_family(two_coin_family, True), 4),
    "sharpness": (lambda: of_family(sharpness_family, False), 3),
    "sharpness with ties": (lambda: of_family(sharpness_family, True), 4),
    "sharpness with a scale of ties": (lambda: of_family(sharpness_family, True, True), 5),
}


@pytest.fixture(scope="module", params=MADE)
def made(request: pytest.FixtureRequest) -> tuple[Answers, int]:
    build, size = MADE[request.param]
    return build(), size


@pytest.fixture
def answers(made: tuple[Answers, int]) -> Answers:
    return made[0]


@pytest.fixture
def predictors(made: tuple[Answers, int]) -> np.ndarray:
    answers, size = made
    return np.random.default_rng(1).normal(size=(size, answers.counts.shape[-1]))


def numerical(function, x: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Of a function of (predictors, cells) whose cells are apart, by cell: (cells, ...) along each predictor."""
    out = []
    for row in np.eye(len(x)):
        out.append((function(x + step * row[:, None]) - function(x - step * row[:, None])) / (2 * step))
    return np.stack(out)


def test_information_is_the_mean_of_products_of_slopes(answers: Answers, predictors: np.ndarray) -> None:
    size, cells = predictors.shape
    expected = np.zeros((cells, size, size))
    for question, counts in enumerate(answers.counts):
        logs = [lambda x, a=a, q=question: answers.log_probabilities(x, np)[q][a] for a in range(len(counts))]
        for log in logs:
            slope = numerical(log, predictors)
            expected += np.einsum("c,ac,bc->cab", np.exp(log(predictors)) * counts.sum(axis=0), slope, slope)
    np.testing.assert_allclose(answers.expected_information(predictors), expected, atol=1e-7)


def test_its_bend_is_half_the_change_of_a_sum_of_information(answers: Answers, predictors: np.ndarray) -> None:
    size, cells = predictors.shape
    root = np.random.default_rng(2).normal(size=(cells, size, size))
    covariance = root @ root.transpose(0, 2, 1)
    change = numerical(lambda x: np.einsum("cab,cab->c", covariance, answers.expected_information(x)), predictors)
    np.testing.assert_allclose(answers.information_gradient(predictors, covariance), 0.5 * change, atol=1e-5)


def test_closed_forms_are_what_the_formulas_themselves_give(answers: Answers, predictors: np.ndarray) -> None:
    assert answers.closed_form is not None
    taped = replace(answers, closed_form=None)
    change, root = np.random.default_rng(4).normal(size=(2, *predictors.shape))
    covariance = np.einsum("ac,bc->cab", root, root) + np.eye(len(predictors))
    # wide gaps beside narrow ones: the formulas take these as differences of cutpoints and lose digits
    for scale in (1.0, 6.0 if answers.name == "two-coin" else 3.0):
        there = scale * predictors
        np.testing.assert_allclose(
            answers.expected_information(there), taped.expected_information(there), rtol=1e-9, atol=1e-12
        )
        np.testing.assert_allclose(
            answers.gradient_change(there)(change), taped.gradient_change(there)(change), rtol=1e-8, atol=1e-10
        )
        np.testing.assert_allclose(
            answers.information_gradient(there, covariance),
            taped.information_gradient(there, covariance),
            rtol=1e-5,
            atol=1e-6,
        )
        each = answers.closed_form.log_likelihoods(there, answers.counts)
        value, slope = taped.value_gradient(there)
        assert each.sum() == pytest.approx(float(value), rel=1e-12)
        found = answers.closed_form.curved(there, answers.counts)
        np.testing.assert_allclose(found.value, each, rtol=1e-12)
        np.testing.assert_allclose(np.stack(found.slope), slope, rtol=1e-8, atol=1e-10)


def test_gradients_of_many_points_and_how_they_turn(answers: Answers, predictors: np.ndarray) -> None:
    value, slope = answers.value_gradient(np.stack([predictors, 2 * predictors, 0 * predictors]))
    alone = answers.value_gradient(2 * predictors)
    assert value[1] == pytest.approx(float(alone[0]))
    np.testing.assert_allclose(slope[1], alone[1], atol=1e-12)
    change = np.random.default_rng(3).normal(size=predictors.shape)
    ahead, behind = (answers.value_gradient(predictors + sign * 1e-5 * change)[1] for sign in (1, -1))
    np.testing.assert_allclose(answers.gradient_change(predictors)(change), (ahead - behind) / 2e-5, atol=1e-6)


def test_two_kinds_of_answers_are_each_of_their_own_predictors() -> None:
    """Votes and scores: information, half the change of a sum of it, and how gradients turn, by differences."""
    votes, levels = of_family(sharpness_family, True), of_levels(4, sloped=True)
    both = SeveralAnswers((AnswerKind((0, 1, 2, 3), 12, votes), AnswerKind((4, 5, 6, 7), 12, levels)))
    x, change = 0.5 * np.random.default_rng(1).normal(size=(2, 8, 24))
    alone = votes.expected_information(x[:4, :12]), levels.expected_information(x[4:, 12:])
    found = both.expected_information(x)
    np.testing.assert_array_equal(found[:12, :4, :4], alone[0])
    np.testing.assert_array_equal(found[12:, 4:, 4:], alone[1])
    assert np.count_nonzero(found) == sum(np.count_nonzero(one) for one in alone)
    root = np.random.default_rng(2).normal(size=(24, 8, 8))
    covariance = root @ root.transpose(0, 2, 1)
    of = numerical(lambda at: np.einsum("cab,cab->c", covariance, both.expected_information(at)), x)
    np.testing.assert_allclose(both.information_gradient(x, covariance), 0.5 * of, atol=1e-5)
    step = 1e-5
    turned = (both.value_gradient(x + step * change)[1] - both.value_gradient(x - step * change)[1]) / (2 * step)
    np.testing.assert_allclose(both.gradient_change(x)(change), turned, atol=1e-5)
