"""Diagnostics against their definitions, and draws that no diagnostic may call fine."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from voirdire.infer import checks, to_arviz
from voirdire.infer.diagnose import diagnose_draws
from voirdire.kinds.votes.density import VotesDensity
from voirdire.model import load_model

PROGRAM = VotesDensity(load_model("crowd-bt"), judges=2, criteria=1, items=3, ties=False)
CHAINS, DRAWS = 4, 500
STILL = np.zeros((CHAINS, DRAWS), dtype=bool)


def energies(rho: float = 0.0, seed: int = 1, draws: int = DRAWS) -> np.ndarray:
    """Stationary autoregressive series of variance one."""
    rng = np.random.default_rng(seed)
    out = rng.normal(size=(CHAINS, draws))
    for t in range(1, draws):
        out[:, t] = rho * out[:, t - 1] + np.sqrt(1 - rho**2) * out[:, t]
    return out


def free(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(CHAINS, DRAWS, PROGRAM.size))


def split_rhat(draws: np.ndarray) -> float:
    """Vehtari et al. (2021): the larger of the rank-normalised split R-hat of the draws and of their folding."""
    halves = draws.reshape(2 * len(draws), -1)
    found = []
    for values in (halves, np.abs(halves - np.median(halves))):
        rank = stats.rankdata(values).reshape(values.shape)
        z = stats.norm.ppf((rank - 0.375) / (values.size + 0.25))
        n = z.shape[1]
        within, between = z.var(axis=1, ddof=1).mean(), n * z.mean(axis=1).var(ddof=1)
        found.append(np.sqrt(((n - 1) / n * within + between / n) / within))
    return float(max(found))


def test_the_worst_rhat_is_that_of_the_definition() -> None:
    draws = free()
    draws[0, :, 2] += 0.4  # one chain of the first judge's coin sits apart
    found = diagnose_draws(PROGRAM, draws, STILL, energies())
    assert found["rhat_of"] == "reliability"
    assert found["rhat"] == pytest.approx(split_rhat(draws[:, :, 2]), rel=1e-9)
    assert found["rhat"] > 1.01


def test_a_chain_of_another_width_is_seen() -> None:
    draws = free()
    draws[0, :, 3] *= 2.0
    found = diagnose_draws(PROGRAM, draws, STILL, energies())
    assert found["rhat"] == pytest.approx(split_rhat(draws[:, :, 3]), rel=1e-9)
    assert found["rhat"] > 1.01


def test_effective_draws_of_an_autoregressive_chain() -> None:
    """n (1 - rho) / (1 + rho); the estimate of one series is within 20% at this length."""
    draws = np.random.default_rng(0).normal(size=(CHAINS, 4000, PROGRAM.size))
    draws[:, :, 3] = energies(rho=0.9, draws=4000)
    found = diagnose_draws(PROGRAM, draws, np.zeros((CHAINS, 4000), dtype=bool), energies())
    assert found["ess_bulk_of"] == "reliability"
    assert found["ess_bulk"] == pytest.approx(CHAINS * 4000 * 0.1 / 1.9, rel=0.2)
    assert found["ess_tail"] > found["ess_bulk"]


@pytest.mark.parametrize("rho", [0.0, 0.9])
def test_ebfmi_of_an_autoregressive_energy(rho: float) -> None:
    """E[(E_t - E_t-1)^2] / Var E = 2 (1 - rho); the smallest of four chains is a little lower."""
    found = diagnose_draws(PROGRAM, free(), STILL, energies(rho, draws=20_000))
    assert found["ebfmi"] == pytest.approx(2 * (1 - rho), rel=0.05)


def test_divergences_are_counted() -> None:
    diverging = STILL.copy()
    diverging[1, 3] = diverging[3, 7] = True
    assert diagnose_draws(PROGRAM, free(), diverging, energies())["divergences"] == 2.0


@pytest.mark.parametrize("stuck", ["chains apart", "chains together", "one chain", "not a number", "every value"])
def test_draws_that_do_not_move_are_never_fine(stuck: str) -> None:
    draws, energy = free(), energies()
    if stuck == "chains apart":
        draws[:, :, 2] = np.arange(CHAINS)[:, None]
    elif stuck == "chains together":
        draws[:, :, 2] = 1.0
    elif stuck == "one chain":
        draws[2, :, 2] = 0.1
    elif stuck == "not a number":
        draws[2, 3, 2] = np.nan
    else:
        draws[:], energy[:] = 1.0, 0.0
    found = diagnose_draws(PROGRAM, draws, STILL, energy)
    assert found["rhat"] == np.inf
    assert found["ess_bulk"] == found["ess_tail"] == 0.0
    level = {check.check: (check.level, check.value) for check in checks.check_sampling(found)}
    assert level["rhat"] == ("fail", None)
    assert level["ess_bulk"][0] == "warn"


def test_two_values_as_far_from_the_median_are_no_reason_to_be_silent() -> None:
    """Their distances from the median are all alike, so that folded draws have no R-hat."""
    draws = free()
    draws[:, :, 2] = np.random.default_rng(1).choice([-1.0, 1.0], (CHAINS, DRAWS))
    fine = diagnose_draws(PROGRAM, draws, STILL, energies())
    assert fine["rhat"] < 1.01
    draws[0, 10:, 2] = 1.0
    draws[1, 10:, 2] = -1.0
    assert diagnose_draws(PROGRAM, draws, STILL, energies())["rhat"] > 1.1


def test_a_value_that_is_zero_by_definition_is_left_out() -> None:
    """One judge's log discrimination sums to zero, so it is zero."""
    density = VotesDensity(load_model("bt-sigma"), judges=1, criteria=1, items=3, ties=False)
    draws = np.random.default_rng(0).normal(size=(CHAINS, DRAWS, density.size))
    found = diagnose_draws(density, draws, STILL, energies())
    assert found["rhat"] < 1.01
    assert found["ess_bulk"] > 1000


def test_thresholds_are_those_of_the_literature() -> None:
    fine = {"rhat": 1.01, "ess_bulk": 400.0, "ess_tail": 400.0, "divergences": 0.0, "ebfmi": 0.3}
    names = {f"{key}_of": "strength" for key in ("rhat", "ess_bulk", "ess_tail")}
    assert {check.level for check in checks.check_sampling(fine | names)} == {"ok"}
    for key, value in {"rhat": 1.0101, "ess_bulk": 399, "ess_tail": 399, "divergences": 1, "ebfmi": 0.29}.items():
        bad = {check.check: check.level for check in checks.check_sampling(fine | names | {key: value})}
        assert bad.pop(key) == ("fail" if key in ("rhat", "divergences") else "warn")
        assert set(bad.values()) == {"ok"}


def test_the_container_has_names_and_statistics() -> None:
    values = PROGRAM.values(free(), np)
    coords = {"judge": ["ann", "bob"], "criterion": ["overall"], "item": ["x", "y", "z"]}
    groups = {
        "posterior": {parameter.name: (parameter.dims, values[parameter.name]) for parameter in PROGRAM.parameters},
        "sample_stats": {"diverging": ((), STILL), "energy": ((), energies())},
    }
    container = to_arviz(groups, coords, {"seed": 1}, lambda group, name: {"definition": f"{group} {name}"})
    assert container["posterior"].attrs["seed"] == 1
    assert container["posterior"]["strength"].attrs["definition"] == "posterior strength"
    chosen = container["posterior"]["strength"].sel(criterion="overall", item="y")
    np.testing.assert_array_equal(chosen.values, values["strength"][:, :, 0, 1])
    np.testing.assert_array_equal(container["posterior"]["reliability"].sel(judge="bob").values, free()[:, :, 3])
    np.testing.assert_array_equal(container["sample_stats"]["energy"].values, energies())


def test_the_container_of_arviz_1_is_a_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    from types import SimpleNamespace

    monkeypatch.setattr("voirdire.infer.diagnose._import_arviz", lambda: SimpleNamespace(__version__="1.2.0"))
    groups = {"posterior": {"x": (("judge",), np.zeros((2, 3, 2)))}, "observed_data": {"y": (("row",), np.ones(4))}}
    tree = to_arviz(groups, {"judge": ["ann", "bob"]}, {"seed": 1}, lambda group, name: {"units": group})
    assert set(tree.children) == {"posterior", "observed_data"}
    assert tree.posterior["x"].dims == ("chain", "draw", "judge")
    assert tree["posterior"]["x"].attrs == {"units": "posterior"}
    assert list(tree["posterior"]["judge"].values) == ["ann", "bob"]
    assert tree["observed_data"].attrs["seed"] == 1
