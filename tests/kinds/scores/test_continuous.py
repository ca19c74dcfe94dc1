"""Scores on a bounded continuous scale: densities that add up to one, a mode that does not collapse, recovery."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, optimize, stats

import voirdire
from voirdire.infer import find_mode
from voirdire.kinds import encode_scores
from voirdire.model import load_model
from voirdire.model.terms.arrays import zero_sum
from voirdire.model.terms.score_probabilities import score_log_density
from voirdire.tables import read_scores


def panel(
    items: int, noise: list[float], severity: list[float], sd: float, seed: int
) -> tuple[pd.DataFrame, np.ndarray]:
    """Scores from 1 to 5 of every judge for every item, and the strengths on that scale."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(0.0, sd, items)
    shape = (len(noise), items)
    y = theta - np.array(severity)[:, None] + np.array(noise)[:, None] * rng.normal(size=shape)
    judge, item = (part.ravel() for part in np.indices(shape))
    score = 3 + 4 * np.clip(y, -0.5, 0.5).ravel()
    names = {"judge": [f"j{k}" for k in judge], "item": [f"i{n:03d}" for n in item]}
    return pd.DataFrame({**names, "score": score}), 3 + 4 * theta


def test_the_density_of_a_score_adds_up_to_one() -> None:
    for mu, sigma in ((0.1, 0.2), (0.7, 0.3), (-2.0, 0.5)):

        def at(score: float, end: int, mu: float = mu, sigma: float = sigma) -> float:
            found = score_log_density(np.array(score), np.array(end), np.array(mu), np.array(math.log(sigma)), np)
            return math.exp(float(found))

        inside = integrate.quad(lambda y: at(y, 0), -0.5, 0.5)[0]
        assert inside + at(-0.5, -1) + at(0.5, 1) == pytest.approx(1.0, abs=1e-9)
        assert at(0.5, 1) == pytest.approx(stats.norm.sf(0.5, mu, sigma), rel=1e-12)


def test_the_mode_is_that_of_the_density_with_strengths_integrated_out() -> None:
    """Without scores at the ends that density is normal: contrasts of items have covariance s^2 11' + diag(sigma^2).

    The mode of all strengths and noises together would let one judge's noise go to zero.
    """
    table, _ = panel(150, [0.04, 0.08, 0.12], [0.05, 0.0, -0.05], 0.08, seed=3)
    assert table["score"].between(1, 5, inclusive="neither").all()
    problem = encode_scores(load_model("rating-continuous"), read_scores(table), levels=[1, 5])
    mode = find_mode(problem)
    assert mode.converged
    y = ((table["score"] - 3) / 4).to_numpy().reshape(3, 150)
    contrasts = (y - y.mean(axis=1, keepdims=True)) @ np.linalg.qr(zero_sum(np.eye(149), 150, np).T)[0]
    sections = load_model("rating-continuous").sections
    file = {name: sections[name].numbers for name in ("strength", "reliability")}

    def minus_log(x: np.ndarray) -> float:
        log_spread, level, log_noise = x[0], x[1], x[2:5]
        severity = zero_sum(x[5:], 3, np)
        sigma = np.exp(log_noise)
        covariance = math.exp(2 * log_spread) + np.diag(sigma**2)
        total = stats.multivariate_normal.logpdf(contrasts.T, np.zeros(3), covariance).sum()
        total += stats.norm.logpdf(y.mean(axis=1), level - severity, sigma / math.sqrt(150)).sum()
        rate = file["strength"]["rate"]
        total += math.log(rate) - rate * math.exp(log_spread) + log_spread
        total += stats.norm.logpdf(level, 0.0, file["strength"]["level_sd"])
        total += stats.norm.logpdf(log_noise, file["reliability"]["mean"], file["reliability"]["sd"]).sum()
        total += stats.norm.logpdf(x[5:], 0.0, 0.15).sum()
        return -float(total)

    start = np.concatenate([[-2.5, 0.0], [-2.5] * 3, [0.0, 0.0]])
    found = optimize.minimize(minus_log, start, method="BFGS", options={"gtol": 1e-6}).x
    step = 1e-3 * np.eye(len(found))
    hessian = [
        [sum(a * b * minus_log(found + a * one + b * other) for a in (1, -1) for b in (1, -1)) / 4e-6 for one in step]
        for other in step
    ]
    values, sd = problem.density.values(mode.x, np), np.sqrt(np.diag(np.linalg.inv(hessian)))
    # searched to a tenth of a standard deviation of all together, with level and severities integrated out
    spreads = np.concatenate([values["log_spread"], values["log_noise"]])
    assert np.abs((spreads - found[[0, 2, 3, 4]]) / sd[[0, 2, 3, 4]]).max() < 0.3
    assert abs(values["level"][0] - found[1]) < 0.3 * sd[1]
    assert np.abs(values["severity"] - zero_sum(found[5:], 3, np)).max() < 0.3 * sd[5:].max()


def test_scores_of_one_judge_rank_items_as_they_stand() -> None:
    """Noise and spread of the items are then told apart by priors alone, from which no order may depend."""
    rng = np.random.default_rng(2)
    truth = np.repeat(np.linspace(0.55, 0.75, 4), 30) + rng.normal(0.0, 0.1, 120)
    system = np.repeat([f"s{n}" for n in range(4)], 30)
    rows = {"judge": "metric", "system": system, "context": np.tile(np.arange(30), 4).astype(str)}
    fit = voirdire.fit(pd.DataFrame({**rows, "score": np.clip(truth, 0, 1)}), levels=[0, 1], seed=1, seconds=2)
    assert fit.model.name == "rating-continuous"
    systems = fit.systems()
    means = pd.Series(truth).groupby(system).mean().sort_values(ascending=False)
    assert systems["system"].tolist() == means.index.tolist()
    assert ((systems["low"] < systems["score"]) & (systems["score"] < systems["high"])).all()
    assert (systems["high"] - systems["low"]).max() < 0.12
    # as wide as the standard error of thirty scores says, and what the noise adds
    np.testing.assert_allclose(systems.set_index("system")["score"], means[systems["system"]], atol=0.03)


@pytest.mark.slow
def test_severity_noise_and_items_are_recovered() -> None:
    """The best judge's noise is known least, to 14%: it is told by the others, whose mean varies by 0.1."""
    severity, noise = np.array([0.1, 0.0, -0.1, 0.0]), np.array([0.06, 0.12, 0.18, 0.3])
    table, truth = panel(300, noise.tolist(), severity.tolist(), 0.2, seed=31)
    assert (table["score"] == 5).mean() > 0.02
    assert (table["score"] == 1).mean() > 0.02
    fit = voirdire.fit(table, model="rating-continuous", levels=[1, 5])
    judges = fit.judges()
    np.testing.assert_allclose(judges["severity"], 4 * severity, atol=0.12)
    np.testing.assert_allclose(judges["noise"], 4 * noise, rtol=0.35)
    assert judges["reliability"].is_monotonic_decreasing
    found = fit.ranking().set_index("item").sort_index()
    # 300 intervals of 90%: 83% to 97% (four binomial errors)
    inside = (found["low"] <= truth) & (truth <= found["high"])
    assert 0.83 <= inside.mean() <= 0.97
    assert fit.cutpoints().empty


@pytest.mark.long
@pytest.mark.slow
def test_nuts_agrees_with_laplace() -> None:
    """40 items of four judges; noises by both within a quarter of their standard deviation (error of draws 0.05)."""
    table, _ = panel(40, [0.12, 0.15, 0.18, 0.2], [0.0] * 4, 0.2, seed=5)
    settings = {"model": "rating-continuous", "levels": [1, 5], "seed": 1}
    sampled = voirdire.fit(table, method="nuts", **settings)
    checks = sampled.checks().set_index("check")["value"]
    assert checks["rhat"] <= 1.01
    assert min(checks["ess_bulk"], checks["ess_tail"]) >= 400
    assert checks["divergences"] == 0
    ours, theirs = (fit.posterior.values["log_noise"] for fit in (voirdire.fit(table, **settings), sampled))
    mean, sd = theirs.mean(axis=(0, 1)), theirs.std(axis=(0, 1))
    assert (np.abs(ours.mean(axis=(0, 1)) - mean) / sd).max() < 0.25
    np.testing.assert_allclose(ours.std(axis=(0, 1)) / sd, 1.0, atol=0.25)


def test_predictions_are_those_of_scores_cut_off_at_the_ends() -> None:
    """Ends and mean by quadrature; of repeated scores with what the judge makes of the item."""
    table, _ = panel(40, [0.1, 0.2, 0.3], [0.1, 0.0, -0.1], 0.25, seed=4)
    twice = pd.concat([table.assign(run=1), table.assign(run=2, score=table["score"].to_numpy()[::-1])])
    for scores in (table, twice):
        fit = voirdire.fit(scores, model="rating-continuous", levels=[1, 5], method="map")
        found = fit.predict(scores)
        assert {"p_1", "p_5", "expected"} <= set(found)
        values, row = fit.posterior.central_values, 7
        judge = fit.problem.judges.index(found["judge"][row])
        item = fit.problem.items.index(found["item"][row])
        mu = values["strength"][0, item] - values["severity"][judge]
        if "judge_item_effect" in values:
            mu += values["judge_item_effect"][judge, 0, item]
        y = stats.norm(mu, math.exp(values["log_noise"][judge]))
        inside = integrate.quad(lambda t, y=y: t * y.pdf(t), -0.5, 0.5, epsabs=1e-12)[0]
        mean = inside + 0.5 * (y.sf(0.5) - y.cdf(-0.5))
        assert found["p_1"][row] == pytest.approx(y.cdf(-0.5), rel=1e-9)
        assert found["p_5"][row] == pytest.approx(y.sf(0.5), rel=1e-9)
        assert found["expected"][row] == pytest.approx(3 + 4 * mean, abs=1e-9)
