"""Moves that pass on what items are worth between themselves and what is beneath them: a posterior stays as it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_matrix
from scipy.special import expit

from voirdire.infer.latent_gaussian import coordinates
from voirdire.infer.latent_gaussian.adapting import adapt_coordinates
from voirdire.infer.latent_gaussian.answers import Answers
from voirdire.infer.latent_gaussian.coordinates import Coordinates, build_coordinates
from voirdire.infer.latent_gaussian.hessian_pattern import Pattern
from voirdire.infer.latent_gaussian.latent_priors import Group, Hyperparameter
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.moves import Moves
from voirdire.infer.latent_gaussian.parent_child_move import ParentChildMove, move_parent_and_children
from voirdire.infer.latent_gaussian.spread_posterior import maximise_spreads, spread_covariance
from voirdire.model import COMMON
from voirdire.typing import Floats

ITEMS, JUDGES = 5, 2
OWN, SPREAD = np.arange(ITEMS), np.array([True, False])


def chances(sums: Any, xp: Any) -> Any:
    d = sums[..., 0, :]
    return [(-xp.logaddexp(0.0 * d, -d), -xp.logaddexp(0.0 * d, d))]


def field(counts: Floats, skew: float = 0.5) -> LatentGaussianModel:
    """Items that judges say yes and no to, shape (2, judges * items): each has a value, and a taste of each judge."""
    items = counts.shape[1] // JUDGES
    judge, item = (part.ravel() for part in np.indices((JUDGES, items)))
    index = np.stack([item, items * (1 + judge) + item], axis=1)
    return LatentGaussianModel(
        (Group("own[0]", items, "log_own[0]"), Group("taste[0]", len(item), "log_taste[0]", reversed=skew)),
        (Hyperparameter("log_own[0]", 0.5), Hyperparameter("log_taste[0]", 0.5)),
        Pattern(np.append(np.full(items, COMMON), judge), index, np.ones((len(item), 2)), np.zeros(2, dtype=int)),
        Answers(chances, [counts]),
        lambda x: (x[..., :-2], x[..., -2:]),
        lambda latent, hyper: np.concatenate([latent, hyper], axis=-1),
    )


def answered(skew: float = 0.5) -> Coordinates:
    """Both judges like some items and are told apart by others: what they share may be all, or nothing."""
    yes = np.array([[18, 16, 10, 3, 4], [17, 6, 14, 12, 2]], dtype=float).ravel()
    model = field(np.stack([yes, 20.0 - yes]), skew)
    search = maximise_spreads(model, np.zeros(model.size), np.zeros(2))
    return build_coordinates(search, spread_covariance(search))


def prior_draws(count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    hyper = np.log(rng.exponential(2.0, (count, 2)))
    own = np.exp(hyper[:, :1]) * rng.standard_normal((count, ITEMS))
    taste = np.exp(hyper[:, 1:]) * rng.standard_normal((count, JUDGES * ITEMS))
    return np.concatenate([own, taste], axis=1), hyper


def test_tastes_are_beneath_what_items_are_worth_and_told_sums_stay() -> None:
    where = answered()
    (move,) = where.parent_child_moves
    assert move.above.tolist() == OWN.tolist()
    assert move.below.tolist() == list(range(ITEMS, ITEMS * (1 + JUDGES)))
    assert move.share.toarray().tolist() == np.tile(np.eye(ITEMS), (JUDGES, 1)).tolist()
    assert move.spread.tolist() == SPREAD.tolist()
    model, rng = where.search.model, np.random.default_rng(0)
    x, hyper = prior_draws(7, rng)
    moved, _ = move_parent_and_children(
        model, move, x, hyper, hyper + rng.normal(size=hyper.shape), rng.normal(size=(len(x), len(move.above)))
    )
    assert (moved != x).all()
    np.testing.assert_allclose(model.predictors(moved, hyper), model.predictors(x, hyper), atol=1e-12)


def test_what_is_not_told_or_leans_is_beneath_nothing() -> None:
    assert answered(skew=0.1).parent_child_moves == ()
    silent = field(np.zeros((2, JUDGES * ITEMS)))
    search = maximise_spreads(silent, np.zeros(silent.size), np.zeros(2))
    assert build_coordinates(search, spread_covariance(search)).parent_child_moves == ()


@pytest.mark.parametrize("share", [1.0, 0.6, 0.0])
def test_the_prior_stays_as_it_is(share: float) -> None:
    """Of nothing answered, whichever share is passed on."""
    model, rng = field(np.zeros((2, JUDGES * ITEMS))), np.random.default_rng(1)
    beneath = csr_matrix(share * np.tile(np.eye(ITEMS), (JUDGES, 1)))
    move = ParentChildMove(OWN, np.arange(ITEMS, ITEMS * (1 + JUDGES)), beneath, SPREAD)
    x, hyper = prior_draws(4000, rng)

    def log_density(x: Floats, hyper: Floats) -> Floats:
        return np.asarray(model.prior(x, hyper).log.sum(axis=-1) + model.hyper_prior(hyper)[0])

    began = hyper.copy()
    for _ in range(25):
        there = hyper + move.draw_steps(len(x), rng)
        its_x, way = move_parent_and_children(model, move, x, hyper, there, rng.normal(size=(len(x), len(move.above))))
        goes = np.log(rng.random(len(x))) < log_density(its_x, there) - log_density(x, hyper) + way
        x[goes], hyper[goes] = its_x[goes], there[goes]
    assert np.mean(hyper[:, 0] != began[:, 0]) > 0.9
    for found in np.exp(hyper).T:
        assert stats.kstest(found, "expon", args=(0, 2.0)).pvalue > 1e-3
    z = x / np.exp(hyper[:, np.repeat([0, 1], [ITEMS, ITEMS * JUDGES])])
    assert all(stats.kstest(part.ravel(), "norm").pvalue > 1e-3 for part in np.split(z, [ITEMS], axis=1))


@pytest.mark.parametrize("share", [1.0, 0.6])
def test_what_is_passed_on_is_drawn_from_what_the_priors_say_of_it(share: float) -> None:
    """Where spreads stay, that is Gibbs's draw: always accepted."""
    model, rng = field(np.zeros((2, JUDGES * ITEMS))), np.random.default_rng(4)
    beneath = csr_matrix(share * np.tile(np.eye(ITEMS), (JUDGES, 1)))
    move = ParentChildMove(OWN, np.arange(ITEMS, ITEMS * (1 + JUDGES)), beneath, SPREAD)
    x, hyper = prior_draws(50, rng)
    moved, way = move_parent_and_children(model, move, x, hyper, hyper, rng.normal(size=(len(x), len(move.above))))
    gain = (model.prior(moved, hyper).log - model.prior(x, hyper).log).sum(axis=1)
    np.testing.assert_allclose(gain + way, 0.0, atol=1e-8)


def by_quadrature(counts: Any) -> tuple[Floats, Floats, Floats]:
    """Logarithms of both spreads on a grid, and the posterior there: sums of both judges integrated over."""
    sums = np.linspace(-9.0, 9.0, 91)
    yes, no = counts.reshape(2, JUDGES, ITEMS, 1)
    log = yes * -np.logaddexp(0.0, -sums) + no * -np.logaddexp(0.0, sums)
    each = np.exp(log - log.max(axis=-1, keepdims=True))
    own, taste = np.linspace(-5.0, 3.0, 41), np.linspace(-1.5, 3.0, 31)
    posterior = np.empty((len(own), len(taste)))
    for place in np.ndindex(posterior.shape):
        s, t = np.exp(own[place[0]]), np.exp(taste[place[1]])
        covariance = s**2 + t**2 * np.eye(2)
        density = stats.multivariate_normal(np.zeros(2), covariance).pdf(np.dstack(np.meshgrid(sums, sums)))
        chance = np.einsum("ia,ab,ib->i", each[1], density, each[0])
        posterior[place] = np.log(chance).sum() + np.log(s * t) - 0.5 * (s + t)
    posterior = np.exp(posterior - posterior.max())
    return own, taste, posterior / posterior.sum()


@pytest.mark.long
@pytest.mark.slow
def test_chains_that_began_in_one_mode_come_to_have_the_posterior() -> None:
    """What items are worth may be theirs or their judges': the approximation is about the former alone."""
    where = answered()
    own, taste, exact = by_quadrature(where.search.model.counted.counts[0])
    moves = Moves(where.search, np.random.default_rng(2), 16)
    found = moves.next_draws(600)[1].reshape(-1, 2)
    for log, grid, weight in zip(found.T, (own, taste), (exact.sum(axis=1), exact.sum(axis=0)), strict=True):
        mean = (weight * grid).sum()
        sd = np.sqrt((weight * (grid - mean) ** 2).sum())
        assert log.mean() == pytest.approx(mean, abs=0.15 * sd)
        assert log.std() == pytest.approx(sd, rel=0.15)
    none = exact[own < -1.1].sum()
    assert none > 0.1
    assert np.mean(found[:, 0] < -1.1) == pytest.approx(none, abs=0.03)


@pytest.mark.long
@pytest.mark.slow
def test_chains_go_to_and_fro_between_what_items_are_worth_and_tastes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of sharp answers of two judges who agree by half: without these moves chains stay where they are."""
    rng = np.random.default_rng(5)
    one, other = rng.normal(0.0, 4.0, (2, 12))
    yes = rng.binomial(300, expit(np.concatenate([one, 0.55 * one + 0.84 * other]))).astype(float)
    model = field(np.stack([yes, 300.0 - yes]))
    search = maximise_spreads(model, np.zeros(model.size), np.zeros(2))

    def crossed() -> float:
        log = Moves(search, np.random.default_rng(0), 16).next_draws(150)[1][..., 0]
        return float(np.mean(np.diff(np.sign(log), axis=1) != 0))

    often = crossed()
    monkeypatch.setattr(coordinates, "find_parent_child_moves", lambda *given: ())
    assert often > 2.0 * crossed()


def test_draws_in_another_mode_do_not_widen_steps() -> None:
    """Of eight chains two are far off for a time: their coordinates are adapted as to the farthest of the others."""
    where, rng = answered(), np.random.default_rng(3)
    points = rng.standard_normal((400, 8, where.size))
    far = points.copy()
    far[:150, :2, 3] += 60.0
    ours, theirs = adapt_coordinates(where, points), adapt_coordinates(where, far)
    assert len(ours.gain) == 0
    assert (theirs.gain < 1.0).all()  # twice as far, at most; of 60 it would be ten times
    wide = adapt_coordinates(
        replace(where, root=np.eye(2)), np.concatenate([points[..., :2] * 5.0, points[..., 2:]], axis=2)
    )
    assert np.sqrt((wide.root @ wide.root.T).diagonal()) == pytest.approx(5.0, rel=0.1)
