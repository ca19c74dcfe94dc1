"""The kernel beside NumPy: answers of each family, coordinates and their gradients, and what is done without it."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from encoded_panels import DIVIDED, MANY, SHARP, WELL_IDENTIFIED, placed

import voirdire
from voirdire.infer.kernel import library as of_library
from voirdire.infer.kernel.fused import FusedAnswers, Priors, fused_answers
from voirdire.infer.kernel.library import array_address, kernel_library, pack_points, unpack_points
from voirdire.infer.kernel.rescaled import apply_steps_by_kernel
from voirdire.infer.latent_gaussian.answers import Answers
from voirdire.infer.latent_gaussian.hamiltonian import PathPoint, follow_path
from voirdire.infer.latent_gaussian.hessian_pattern import Pattern
from voirdire.infer.latent_gaussian.latent_priors import Group, Hyperparameter
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.panel import FamilyAnswers
from voirdire.infer.latent_gaussian.rescaling import apply_steps, draw_steps
from voirdire.model import COMMON
from voirdire.model.family.family import Family, refuse_alternatives
from voirdire.model.family.ordinal import ordinal_family
from voirdire.model.family.ranking import ranking_family
from voirdire.model.family.sharpness import sharpness_family
from voirdire.model.family.two_coin import two_coin_family

BUILT = (platform.system(), platform.machine()) in {("Linux", "x86_64"), ("Linux", "aarch64")}
needs_kernel = pytest.mark.skipif(not BUILT, reason="no kernel is built for this platform")
FAMILIES = [
    two_coin_family(False),
    two_coin_family(True),
    two_coin_family(True, True),
    sharpness_family(False),
    sharpness_family(True),
    sharpness_family(True, True),
    *map(ordinal_family, (2, 3, 5, 11)),
]
SIZE = 40
KINDS = ["crowd-bt-contexts", "learned-crowd-bt-position", SHARP, "scores", "rankings", MANY, DIVIDED]


@needs_kernel
def test_setting_up_builds_the_kernel_of_the_machine() -> None:
    assert kernel_library() is not None


def cells(family: Family, number: int, seed: int) -> tuple[Pattern, Answers]:
    """Cells whose predictors are sums of up to three values, with coefficients of any size; some have no values."""
    rng, kinds = np.random.default_rng(seed), len(family.predictors)
    predictor = np.repeat(np.arange(kinds), 3)
    index = rng.integers(0, SIZE + 1, (number, len(predictor)))
    coefficients = np.where(index < SIZE, rng.choice([-1.0, 1.0, 0.5], index.shape), 0.0)
    chances = [] if family.parts else family.log_probabilities(np.zeros((kinds, 1)), np)
    alternatives = [len(question) for question in chances]
    counts = [rng.poisson(0.7, (each, number)).astype(float) for each in alternatives]
    answers = Answers(family.log_probabilities, counts, family.closed_form, family.name)
    return Pattern(np.full(SIZE, COMMON), index, coefficients, predictor), answers


def gradient(answers: FusedAnswers, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log likelihood, shape (points,), and gradient, shape (points, size)."""
    value, slope = answers.value_gradient(pack_points(x, np.float32))
    return value.ravel()[: len(x)], unpack_points(slope, len(x))


@needs_kernel
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: f"{family.name}-{len(family.predictors)}")
@pytest.mark.parametrize("number", [1, 200])  # two cells are computed together
def test_answers_are_those_of_the_family(family: Family, number: int) -> None:
    pattern, answers = cells(family, number, seed=3)
    x = 0.7 * np.random.default_rng(4).normal(size=(11, SIZE))
    found = fused_answers(pattern, answers)
    assert found is not None
    value, slope = answers.value_gradient(pattern.linear_predictors(x))
    its_value, its_slope = gradient(found, x)
    np.testing.assert_allclose(its_value, value, rtol=2e-6, atol=2e-5)
    np.testing.assert_allclose(its_slope, pattern.gather_gradient(slope), rtol=2e-5, atol=2e-4)
    assert np.array_equal(found.value(x), its_value)


@needs_kernel
@pytest.mark.parametrize("places", [2, 3, 10])
@pytest.mark.parametrize("number", [1, 200])
def test_rankings_are_those_of_the_family(places: int, number: int) -> None:
    """Of any number of items; those at the last place may share it."""
    rng = np.random.default_rng(places)
    items, untold = rng.integers(0, places + 1, number), rng.integers(1, 4, number)
    order = np.tile(np.arange(places)[:, None], (1, number))
    order = np.where(order < items, np.minimum(order, np.maximum(items - untold, 0)), -1)
    family = ranking_family(places)
    pattern, _ = cells(family, number, seed=3)
    answers = FamilyAnswers(refuse_alternatives, order, family.closed_form, family.name, parts=family.parts)
    x = 3.0 * rng.normal(size=(11, SIZE))
    found = fused_answers(pattern, answers)
    assert found is not None
    value, slope = answers.value_gradient(pattern.linear_predictors(x))
    its_value, its_slope = gradient(found, x)
    np.testing.assert_allclose(its_value, value, rtol=2e-6, atol=2e-5)
    np.testing.assert_allclose(its_slope, pattern.gather_gradient(slope), rtol=2e-5, atol=2e-4)
    tied = ranking_family(places, tied=((0, 2),)) if places > 2 else family
    assert (fused_answers(pattern, replace(answers, name=tied.name)) is None) == (places > 2)


@needs_kernel
@pytest.mark.parametrize("family", [family for family in FAMILIES if family.name != "sharpness"])
def test_answers_far_out_are_numbers(family: Family) -> None:
    """Those of sharpness, an exponential, may be infinite there, with and without the kernel: no chain goes there."""
    pattern, answers = cells(family, 50, seed=5)
    found = fused_answers(pattern, answers)
    assert found is not None
    value, slope = gradient(found, np.random.default_rng(6).choice([-20.0, 20.0], (8, SIZE)))
    assert np.isfinite(value).all()
    assert np.isfinite(slope).all()


@pytest.mark.slow
@needs_kernel
@pytest.mark.parametrize("kind", KINDS)
def test_energies_are_those_without_the_kernel(kind: str) -> None:
    where = placed(kind)
    z = np.random.default_rng(1).normal(size=(11, where.size))
    value, slope = where.energy_gradient(z)
    its_value, its_slope = where.energy_by_numpy(z)
    np.testing.assert_allclose(value, its_value, rtol=1e-6, atol=1e-4)
    np.testing.assert_allclose(slope, its_slope, rtol=1e-4, atol=1e-3)
    assert where.fused is not None
    assert (where.scale != 1.0).any()
    assert (len(where.factor_whitening.products) > 1) == (kind == MANY)


@needs_kernel
@pytest.mark.parametrize("kind", KINDS)
def test_paths_are_those_without_the_kernel(kind: str) -> None:
    where = placed(kind)
    assert where._kernel_paths is not None
    rng = np.random.default_rng(2)
    z, momentum = rng.normal(size=(2, 11, where.size))
    here = PathPoint(z, *where.energy_gradient(z))
    step = 0.05 if kind in (SHARP, DIVIDED) else 0.2  # some would leave for infinity
    ends = (where.follow_path(here, momentum, 5, step), follow_path(where.energy_by_numpy, here, momentum, 5, step))
    for one, other in zip((*ends[0][0], ends[0][1]), (*ends[1][0], ends[1][1]), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=2e-3)


@needs_kernel
@pytest.mark.parametrize("chains", [7, 16])
@pytest.mark.parametrize("kind", [*KINDS, WELL_IDENTIFIED])
def test_steps_of_spreads_are_those_without_the_kernel(kind: str, chains: int) -> None:
    where, rng = placed(kind), np.random.default_rng(3)
    assert where.parent_child_moves or kind != WELL_IDENTIFIED
    x, hyper = where.to_values(rng.normal(size=(chains, where.size)))
    steps = draw_steps(where, chains, 12, rng)
    log = where.log_density(x, hyper)
    assert where.fused is not None
    ends = [
        apply_steps_by_kernel(where.fused, where.priors, where.kernel_parent_child_moves, steps, x, hyper, log),
        apply_steps(where, steps, x.copy(), hyper.copy(), log.copy()),
    ]
    for one, other in zip(*ends, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)
    assert (ends[0][1] != hyper).any(axis=1).mean() > 0.1


HYPERS = (Hyperparameter("a", 2.0), Hyperparameter("b", 1.0, -0.5, 0.7))
GROUPS = (
    Group("plain", 3, 0.8, mean=0.5),
    Group("learned", 4, "a"),
    Group("coins", 5, "a", "b", reversed=0.2),
    Group("never reversed", 4, 1.3, "b", reversed=0.0),
    Group("always skewed", 2, "b", 0.3, reversed=1e-6),
)


@needs_kernel
def test_priors_are_those_without_the_kernel() -> None:
    """Of every kind of group, also far from where most values are."""
    size = sum(group.size for group in GROUPS)
    index = np.zeros((1, 1), dtype=int)
    pattern = Pattern(np.full(size, COMMON), index, np.ones((1, 1)), np.zeros(1, dtype=int))
    rng = np.random.default_rng(0)
    field = LatentGaussianModel(
        GROUPS, HYPERS, pattern, Answers(two_coin_family(False).log_probabilities, []), *2 * [lambda *given: given]
    )  # type: ignore[arg-type]
    x, hyper = 6.0 * rng.normal(size=(19, size)), 1.5 * rng.normal(size=(19, 2))
    wanted = field.log_prior(x, hyper) + field.hyper_prior(hyper)[0]
    np.testing.assert_allclose(Priors(field).log_prior(x, hyper), wanted, rtol=1e-11)


@needs_kernel
def test_latent_values_of_another_size_never_reach_the_kernel() -> None:
    pattern, answers = cells(two_coin_family(False), 3, seed=0)
    with pytest.raises(ValueError, match="do not fit this pattern"):
        FusedAnswers(pattern, answers).value(np.zeros((1, SIZE - 1)))
    with pytest.raises(ValueError, match="is not contiguous"):
        array_address(np.zeros((4, 4))[:, ::2])


FORKED = """
import os, signal, time
from voirdire.infer.kernel.rescaled import apply_steps_by_kernel
from voirdire.infer.kernel.library import MIN_THREADED_SIZE, run_blocks_threaded

run_blocks_threaded(lambda first, blocks: time.sleep(0.1), 2, MIN_THREADED_SIZE)  # by two threads, which then are idle
time.sleep(0.1)
child = os.fork()
if not child:
    signal.alarm(20)  # it would wait for ever for threads that it does not have
    run_blocks_threaded(lambda first, blocks: None, 2, MIN_THREADED_SIZE)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_has_threads_of_its_own() -> None:
    """In an interpreter that holds no threads of other libraries."""
    ended = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=100)
    assert ended.returncode == 0, ended.stderr


def test_points_side_by_side_come_back() -> None:
    for points in (1, 8, 9, 16):
        rows = np.random.default_rng(points).normal(size=(points, 5))
        np.testing.assert_array_equal(unpack_points(pack_points(rows), points), rows)


@pytest.mark.slow
def test_without_a_kernel_chains_say_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """And give what they give with it, up to their noise."""
    table = pd.DataFrame({"judge": "a", "first": ["x"] * 12, "second": "y", "winner": ["x"] * 8 + ["y"] * 4})
    with_kernel = voirdire.fit(table, model="learned-bradley-terry", seed=1)
    of_library.kernel_library.cache_clear()
    monkeypatch.setattr(of_library, "library_names", lambda *_: ["no-machine.so"])
    try:
        without = voirdire.fit(table, model="learned-bradley-terry", seed=1)
    finally:
        of_library.kernel_library.cache_clear()
    assert without.notes.count(of_library.NO_KERNEL_NOTE) == 1
    assert of_library.NO_KERNEL_NOTE not in with_kernel.notes or not BUILT
    one, other = (fit.ranking()["score"].to_numpy() for fit in (with_kernel, without))
    np.testing.assert_allclose(one, other, atol=0.2)
