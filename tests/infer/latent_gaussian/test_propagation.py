"""Expectation propagation beside quadrature, the closed forms of normal answers, and tables whose spread is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import expit

from voirdire.infer.latent_gaussian import few_observations, propagation
from voirdire.infer.latent_gaussian.answers import Answers
from voirdire.infer.latent_gaussian.arrow import sparse_factor
from voirdire.infer.latent_gaussian.few_observations import (
    Evidence,
    _finite_difference_curvature,
    answers_per_value,
    is_sparse,
    search_by_evidence,
)
from voirdire.infer.latent_gaussian.hessian_pattern import Pattern
from voirdire.infer.latent_gaussian.latent_priors import Group, Hyperparameter
from voirdire.infer.latent_gaussian.marginal import find_conditional_mode, refine_fixed_effects
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.propagation import NotConverged, Propagated, propagate_answers
from voirdire.infer.latent_gaussian.search import SpreadSearch
from voirdire.infer.latent_gaussian.spread_posterior import (
    _search_by_laplace,
    _settle_latent,
    draw_posterior,
    maximise_spreads,
)
from voirdire.infer.latent_gaussian.tilted import Normals, derivative_means, tilted_moments
from voirdire.kinds import encode_votes
from voirdire.model import COMMON, load_model
from voirdire.model.family.two_coin import CLOSED_FORM
from voirdire.tables import read_votes


def table(contexts: int, items: int, votes: int, spread: float, ties: float = 0.0, seed: int = 0) -> pd.DataFrame:
    """Votes of three good judges on random pairs within contexts."""
    rng, total = np.random.default_rng(seed), contexts * votes
    worth = rng.normal(0, 1.5, items)[:, None] + rng.normal(0, spread, (items, contexts))
    judge, first, context = (rng.integers(0, n, total) for n in (3, items, contexts))
    second = (first + rng.integers(1, items, total)) % items
    d = worth[first, context] - worth[second, context]
    right = rng.random(total) < np.array([0.95, 0.9, 0.85])[judge]
    winner = np.where((rng.random(total) < expit(d)) == right, "first", "second").astype(object)
    winner[rng.random(total) < ties] = "tie"
    columns = {"judge": judge, "first": first, "second": second, "context": context}
    letters = {"judge": "j", "first": "i", "second": "i", "context": "c"}
    named = {name: np.char.add(letters[name], column.astype(str)) for name, column in columns.items()}
    return pd.DataFrame({**named, "winner": winner})


def field(votes: pd.DataFrame) -> tuple[LatentGaussianModel, np.ndarray, np.ndarray]:
    problem = encode_votes(load_model("crowd-bt-contexts"), read_votes(votes))
    model = problem.density.latent_model(problem.data)
    return model, *model.latent(problem.density.starts(problem.data)[0])


@pytest.mark.parametrize("wide", [[0], [0, 3]])
def test_moments_of_cells_are_those_of_fine_grids(wide: list[int]) -> None:
    model, _, _ = field(table(2, 3, 30, 1.0, ties=0.3))
    answers, rng = model.answers, np.random.default_rng(1)
    cells, size = answers.counts.shape[-1], len(wide)
    fixed = rng.normal(1.0, 0.5, (4, cells))
    root = rng.normal(0, 0.7, (cells, size, size))
    covariance = (root @ root.transpose(0, 2, 1) + 0.5 * np.eye(size)).transpose(1, 2, 0)
    cavity = Normals(rng.normal(0, 1, (size, cells)), covariance)
    found = tilted_moments(answers, wide, fixed, cavity, cavity)
    again = tilted_moments(answers, wide, fixed, cavity, Normals(found.mean, found.covariance))
    slope = derivative_means(answers, wide, fixed, cavity, Normals(found.mean, found.covariance)).slope
    grid = np.stack([g.ravel() for g in np.meshgrid(*[np.linspace(-12, 12, 481)] * size, indexing="ij")])
    step = (24 / 480) ** size
    assert answers.closed_form is not None
    for cell in range(0, cells, 3):
        sums = [np.full(grid.shape[1:], value)[:, None] for value in fixed[:, cell]]
        for i, predictor in enumerate(wide):
            sums[predictor] = grid[i][:, None]
        one = answers.with_counts(answers.counts[..., cell : cell + 1])
        log = answers.closed_form.log_likelihoods(sums, one.counts)[:, 0]
        density = stats.multivariate_normal(cavity.mean[:, cell], covariance[..., cell]).pdf(grid.T) * np.exp(log)
        mass = density.sum() * step
        assert again.log_mass[cell] == pytest.approx(np.log(mass), abs=2e-4)
        mean = grid @ density * step / mass
        np.testing.assert_allclose(again.mean[:, cell], mean, atol=2e-3)
        gap = grid - mean[:, None]
        np.testing.assert_allclose(
            again.covariance[..., cell], (gap * density) @ gap.T * step / mass, rtol=5e-3, atol=2e-3
        )
        slopes = answers.closed_form.value_slopes(sums, one.counts, np)[1]
        expected = [float(each[:, 0] @ density * step / mass) for each in slopes]
        np.testing.assert_allclose(slope[:, cell], expected, atol=3e-3)


def test_the_evidence_of_three_items_in_two_contexts_is_that_of_quadrature() -> None:
    """Five votes of a judge with two coins that vary a little, who sees three items in each context."""
    first, second = np.array([0, 1, 0, 3, 4]), np.array([1, 2, 2, 4, 5])
    won = np.array([1.0, 0.0, 1.0, 0.0, 2.0])
    lost = np.array([0.0, 1.0, 1.0, 1.0, 0.0])
    index = np.stack([first, second, np.full(5, 6), np.full(5, 7)], axis=1)
    pattern = Pattern(
        np.array([0, 0, 0, 1, 1, 1, COMMON, COMMON]),
        index,
        np.broadcast_to([1.0, -1.0, 1.0, 1.0], index.shape),
        np.array([0, 0, 1, 2]),
    )
    groups = Group("own", 6, "spread"), Group("coin", 2, 0.3, 2.0, kept=True)
    chances = field(table(2, 3, 30, 1.0))[0].answers.log_probabilities
    answers = Answers(chances, [np.stack([won, lost])], CLOSED_FORM)
    model = LatentGaussianModel(
        groups, (Hyperparameter("spread", 1.0),), pattern, answers, lambda x: (x, x[:1]), lambda x, h: x
    )
    z, weight = np.polynomial.hermite_e.hermegauss(24)
    u = np.stack([g.ravel() for g in np.meshgrid(z, z, z, indexing="ij")])
    w = np.prod(np.stack(np.meshgrid(weight, weight, weight, indexing="ij")), axis=0).ravel() / weight.sum() ** 3
    nodes, share = np.polynomial.hermite_e.hermegauss(7)
    for spread in (0.3, 1.0, 2.0):
        exact = 0.0
        for a, of_a in zip(expit(2.0 + 0.3 * nodes), share / share.sum(), strict=True):
            for b, of_b in zip(expit(2.0 + 0.3 * nodes), share / share.sum(), strict=True):
                s = expit(spread * (u[first % 3] - u[second % 3]))
                each = (a * s + (1 - b) * (1 - s)) ** won[:, None] * ((1 - a) * s + b * (1 - s)) ** lost[:, None]
                exact += of_a * of_b * (each[:3].prod(axis=0) @ w) * (each[3:].prod(axis=0) @ w)
        x = np.array([0.0] * 6 + [2.0, 2.0])
        found = propagate_answers(model, np.log([spread]), x)
        off = abs(found.log_marginal - np.log(exact))
        assert off < 0.01
        # a control that must fail: Laplace's method is off by much more
        assert (
            spread < 0.5
            or abs(find_conditional_mode(model, np.log([spread]), x).log_marginal - np.log(exact)) > 3 * off
        )


def test_in_the_limit_of_sharp_answers_it_is_laplaces_method() -> None:
    model, x, hyper = field(table(3, 3, 4000, 1.0))
    assert not is_sparse(model)
    near, found = (
        refine_fixed_effects(model, find_conditional_mode(model, hyper, x)),
        propagate_answers(model, hyper, x),
    )
    assert model.answers.closed_form is not None
    curvature = np.zeros((found.predictors.shape[1], 3, 3))
    for (u, v), each in model.answers.closed_form.curved(found.predictors, model.answers.counts).second.items():
        curvature[:, u, v] = curvature[:, v, u] = -each
    observed = sparse_factor(model.pattern, model.prior(found.x, hyper).precision, curvature)
    sd = np.sqrt(found.factor.marginal_variances())
    np.testing.assert_allclose(sd, np.sqrt(observed.marginal_variances()), rtol=0.1)
    assert np.abs((found.x - near.x) / sd).max() < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("ties", [0.0, 0.25])
def test_the_gradient_of_the_evidence_with_what_is_missing_is_that_of_differences(ties: float) -> None:
    model, x, hyper = field(table(30, 8, 16, 1.0, ties))
    assert is_sparse(model)
    assert answers_per_value(model) == pytest.approx(2 * 16 / 8, rel=0.4)
    evidence = Evidence(model, propagate_answers(model, hyper, x))
    slope, start = evidence(hyper)[1], evidence.last
    at = [h.name for h in model.hypers].index("log_context_spread[0]")
    step = np.zeros(len(hyper))
    step[at] = 0.1
    values = []
    for sign in (1.0, -1.0):
        evidence.last = start
        values.append(evidence(hyper + sign * step)[0])
    # but for how the determinant of what stays moves, of the order of one answer
    differences = (values[0] - values[1]) / 0.2
    assert slope[at] == pytest.approx(differences, abs=1.5)
    evidence.last = start
    _, missing = _finite_difference_curvature(evidence, SpreadSearch(model, start, 0.0, 1, np.eye(len(hyper)), 0.0))
    with_it = Evidence(model, start, missing=missing)
    assert with_it(hyper)[1][at] == pytest.approx(differences, abs=0.3)


@pytest.mark.long
@pytest.mark.slow
def test_the_spread_of_sparse_answers_is_found_where_laplaces_method_loses_it() -> None:
    """3,600 votes on 60 items: the spread is within two standard deviations (a fifth of itself each) of the truth."""
    model, x, hyper = field(table(60, 60, 60, 1.0, seed=3))
    found = maximise_spreads(model, x, hyper)
    assert isinstance(found.mode, Propagated)
    assert not found.amiss
    at = [h.name for h in model.hypers].index("log_context_spread[0]")
    assert 0.6 < np.exp(found.mode.hyper[at]) < 1.5
    # a control that must fail: by Laplace's method
    assert np.exp(_search_by_laplace(model, x, hyper).mode.hyper[at]) < 0.6
    _, spreads = draw_posterior(found, 400, np.random.default_rng(0))
    assert 0.05 < spreads[:, at].std() < 0.5


def test_a_part_of_a_field_has_the_answers_of_its_blocks() -> None:
    model, x, _ = field(table(30, 8, 16, 1.0))
    kept = np.arange(30) % 3 == 0
    part, places = model.model_of_blocks(kept)
    other, rest = model.model_of_blocks(~kept)
    whole = model.answers.value_gradient(model.pattern.linear_predictors(x))[0]
    parts = [m.answers.value_gradient(m.pattern.linear_predictors(x[p]))[0] for m, p in ((part, places), (other, rest))]
    assert float(whole) == pytest.approx(float(sum(parts)), rel=1e-12)
    assert part.size + other.size == model.size + len(model.pattern.common)


@pytest.mark.slow
def test_a_search_that_goes_round_ends() -> None:
    """Slopes of the evidence are not quite those of its values: without an end this took 421 evaluations."""
    model, x, hyper = field(table(20, 6, 15, 1.0, ties=0.2))
    found = search_by_evidence(model, x, hyper)
    assert found.evaluations < 100
    assert found.value == pytest.approx(-327.04, abs=0.02)


def test_spreads_are_learned_from_as_many_blocks_as_have_enough_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    model, x, hyper = field(table(48, 4, 6, 1.0))
    monkeypatch.setattr(few_observations, "MANY_BLOCKS", 48)
    for enough, used in ((6.0 * 20, 20), (1.0, 5), (1e6, 40)):
        monkeypatch.setattr(few_observations, "BLOCK_RANGE", (5, 40))
        monkeypatch.setattr(few_observations, "TARGET_ANSWERS", enough)
        found = search_by_evidence(model, x, hyper)
        assert found.by_part == used
        assert found.model is model
        assert f"{used} of 48 contexts" in found.notes[-1]


def test_answers_that_leave_no_width_do_not_settle(monkeypatch: pytest.MonkeyPatch) -> None:
    """As answers so sharp that a grid holds them in one point: no division by their variance."""
    exact = propagation.tilted_moments

    def narrow(*given: Any) -> Any:
        found = exact(*given)
        return found._replace(covariance=np.zeros_like(found.covariance))

    monkeypatch.setattr(propagation, "tilted_moments", narrow)
    model, x, hyper = field(table(12, 4, 6, 1.0))
    with pytest.raises(NotConverged, match="no width"):
        propagate_answers(model, hyper, x)


def test_points_where_propagation_does_not_settle_come_nearer_to_the_centre() -> None:
    model, x, hyper = field(table(30, 8, 16, 1.0))
    centre = propagate_answers(model, hyper, x)

    class Narrow(Evidence):
        def find_latent(self, hyper: np.ndarray) -> Propagated:
            if np.abs(hyper - centre.hyper).max() > 0.3:
                raise NotConverged("far")
            return propagate_answers(model, hyper, x)

    marginal = Narrow(model, centre)
    np.testing.assert_allclose(_settle_latent(marginal, hyper + 1.0, centre).hyper, hyper + 0.25)
    np.testing.assert_allclose(_settle_latent(marginal, hyper + 0.2, centre).hyper, hyper + 0.2)
    assert _settle_latent(marginal, hyper + 9.0, centre) is centre
