"""Chains on a device of JAX: densities, paths and steps beside those of the processor, and whole fits."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import numpy as np
import pandas as pd
import pytest
from encoded_panels import CONTINUOUS, DIVIDED, MANY, SHARP, WELL_IDENTIFIED, placed

import voirdire
from voirdire.errors import InputError
from voirdire.infer.device import choice
from voirdire.infer.device.executor import Device, arrays_of, coordinates_of
from voirdire.infer.latent_gaussian.hamiltonian import PathPoint, follow_path
from voirdire.infer.latent_gaussian.rescaling import apply_steps, draw_steps

KINDS = ["learned-crowd-bt-position", "scores"]
LONGER = [SHARP, CONTINUOUS, "rankings", MANY, WELL_IDENTIFIED, DIVIDED]
KINDS += [pytest.param(kind, marks=pytest.mark.slow) for kind in LONGER]


@cache
def device(kind: str) -> Device:
    return Device(placed(kind).search, jax.devices("cpu")[0])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_energies_are_those_of_the_processor(kind: str) -> None:
    """Up to a constant."""
    where = placed(kind)
    z = np.random.default_rng(1).normal(size=(10, where.size))
    value, slope = device(kind).executor(where).energy_gradient(z)
    its_value, its_slope = where.energy_by_numpy(z)
    np.testing.assert_allclose(value - value[0], its_value - its_value[0], rtol=1e-5, atol=5e-3)
    np.testing.assert_allclose(slope, its_slope, rtol=1e-3, atol=5e-3)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_paths_are_those_of_the_processor(kind: str) -> None:
    where = placed(kind)
    rng = np.random.default_rng(2)
    z, momentum = rng.normal(size=(2, 10, where.size))
    here = PathPoint(z, *where.energy_by_numpy(z))
    step = 0.05  # the sharpness of some would leave for infinity
    end, p = device(kind).executor(where).follow_path(here, momentum, 5, step)
    its_end, its_p = follow_path(where.energy_by_numpy, here, momentum, 5, step)
    for one, other in ((end.z, its_end.z), (end.slope, its_end.slope), (p, its_p)):
        np.testing.assert_allclose(one, other, rtol=5e-3, atol=1e-2)


@pytest.mark.parametrize("kind", KINDS)
def test_values_come_and_go(kind: str) -> None:
    where = placed(kind)
    z = np.random.default_rng(3).normal(size=(10, where.size))
    for one, other in zip(device(kind).executor(where).to_values(z), where.to_values(z), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_steps_of_spreads_are_those_of_the_processor(kind: str) -> None:
    where, rng = placed(kind), np.random.default_rng(3)
    z = rng.normal(size=(16, where.size))
    found = device(kind).executor(where).rescale_chains(z, np.random.default_rng(5), 12, exchanging=True)
    x, hyper = where.to_values(z)
    steps = draw_steps(where, len(z), 12, np.random.default_rng(5))
    ended = apply_steps(where, steps, x.copy(), hyper.copy(), where.log_density(x, hyper))
    gone = (ended[1] != hyper).any(axis=1)
    wanted = z.copy()
    wanted[gone] = where.from_values(ended[0][gone], ended[1][gone])
    assert gone.mean() > 0.1
    assert where.parent_child_moves or kind not in (WELL_IDENTIFIED, CONTINUOUS)
    alike = np.abs(found - wanted).max(axis=1) < 0.02
    assert alike.mean() > 0.9  # a step whose chance is just enough may go in the one and not in the other


@pytest.mark.slow
def test_a_whole_matrix_is_the_product_of_the_sparse_ones() -> None:
    """As graphics processors take it."""
    where = placed(MANY)
    on = device(MANY)
    z = np.random.default_rng(6).normal(size=(4, where.size)).astype(np.float32)
    with on.device_context():
        both: list[Any] = [arrays_of(where, dense=whole) for whole in (False, True)]
        each_way = [coordinates_of(where.search, there) for there in both]
        values = [one.to_values(z)[0] for one in each_way]
        back = [one.from_values(*one.to_values(z)) for one in each_way]
    assert len(both[0]["forward"]) > 1 == len(both[1]["forward"])
    np.testing.assert_allclose(*values, rtol=1e-4, atol=1e-4)
    for each in back:
        np.testing.assert_allclose(each, z, rtol=1e-3, atol=2e-3)


def panel() -> pd.DataFrame:
    rng = np.random.default_rng(7)
    worth = np.linspace(-1.5, 1.5, 5)
    rows = []
    for _ in range(240):
        a, b = rng.choice(5, 2, replace=False)
        best = a if rng.random() < 1.0 / (1.0 + np.exp(worth[b] - worth[a])) else b
        rows.append((f"j{rng.integers(4)}", f"i{a}", f"i{b}", f"i{best}"))
    return pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])


@pytest.mark.slow
def test_a_fit_on_a_device_is_that_of_the_processor() -> None:
    """Within Monte Carlo error; its note says where chains ran."""
    here, there = (voirdire.fit(panel(), seed=3, seconds=15, device=device) for device in ("cpu", "jax"))
    one, other = (fit.ranking().set_index("item").sort_index() for fit in (here, there))
    width = one["high"] - one["low"]
    assert np.abs((one["score"] - other["score"]) / width).max() < 0.06
    np.testing.assert_allclose(other["high"] - other["low"], width, rtol=0.25)  # by seeds alone they differ so
    judges = [fit.judges().set_index("judge").sort_index()["reliability"] for fit in (here, there)]
    np.testing.assert_allclose(*judges, atol=0.03)
    assert any("on cpu:0 by JAX" in note for note in there.notes)
    assert not any("JAX" in note for note in here.notes)
    checks = there.checks().set_index("check")["level"]
    assert checks["convergence"] == "ok"


def test_no_graphics_processor_is_an_error_with_its_remedy() -> None:
    with pytest.raises(InputError, match=r"finds no graphics processor here. Install voirdire\[cuda\]"):
        voirdire.fit(panel(), device="gpu")


def test_an_unknown_device_is_named() -> None:
    with pytest.raises(InputError, match="device 'tpu' is none of auto, cpu, gpu, jax"):
        voirdire.fit(panel(), device="tpu")


def test_devices_are_for_chains() -> None:
    with pytest.raises(InputError, match="device 'jax' is for the method 'auto'"):
        voirdire.fit(panel(), device="jax", method="map")


def test_a_device_is_used_unasked_where_one_is_there_and_the_table_large(monkeypatch: pytest.MonkeyPatch) -> None:
    model = placed(MANY).search.model
    monkeypatch.setattr(choice, "GPU_PLUGINS", ("numpy",))
    monkeypatch.setattr(jax, "devices", lambda kind=None: [f"{kind}:0"])
    assert choice.device_for("auto", model) is None
    monkeypatch.setattr(choice, "MIN_WARM_UP_SECONDS", 0.0)
    assert choice.device_for("auto", model) == "gpu:0"
    assert choice.device_for("cpu", model) is None
