"""R-hat and effective sample sizes are ArviZ's, of chains that mix well and badly."""

from __future__ import annotations

import numpy as np
import pytest

from voirdire.infer import to_arviz
from voirdire.infer.diagnose import convergence_diagnostics


def series(chains: int, length: int, rho: float, seed: int = 0) -> np.ndarray:
    """Five autoregressive values a draw."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(chains, length, 5))
    for t in range(1, length):
        x[:, t] += rho * x[:, t - 1]
    return x


def arviz(draws: np.ndarray) -> list[np.ndarray]:
    import arviz

    posterior = to_arviz({"posterior": {"x": (("place",), draws)}}, {})["posterior"]
    dataset = getattr(posterior, "dataset", posterior)
    # the tails are told: ArviZ 1 takes others by default than the paper and ArviZ 0.23
    tail = arviz.ess(dataset, method="tail", prob=(0.05, 0.95))
    found = [arviz.rhat(dataset), arviz.ess(dataset, method="bulk"), tail]
    return [np.asarray(each["x"]) for each in found]


@pytest.mark.parametrize("chains", [2, 4, 16])
@pytest.mark.parametrize("length", [100, 401])
@pytest.mark.parametrize("rho", [-0.9, 0.0, 0.5, 0.99])
def test_they_are_those_of_arviz(chains: int, length: int, rho: float) -> None:
    draws = series(chains, length, rho)
    for ours, theirs in zip(convergence_diagnostics(draws), arviz(draws), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@pytest.mark.parametrize("kind", ["ties", "two values", "chains apart", "another width", "heavy tails"])
def test_they_are_those_of_arviz_of_odd_draws(kind: str) -> None:
    draws = series(4, 300, 0.4)
    apart = np.arange(4.0)[:, None, None]
    draws = {
        "ties": np.round(2 * draws),
        "two values": (draws > 1.0).astype(float),
        "chains apart": draws + apart,
        "another width": draws * (1.0 + apart),
        "heavy tails": draws**5,
    }[kind]
    for ours, theirs in zip(convergence_diagnostics(draws), arviz(draws), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_many_values_are_worked_on_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = series(4, 50, 0.3)
    whole = convergence_diagnostics(draws)
    monkeypatch.setattr("voirdire.infer.diagnose.BATCH_SIZE", 1)
    for part, all_ in zip(convergence_diagnostics(draws), whole, strict=True):
        np.testing.assert_array_equal(part, all_)
