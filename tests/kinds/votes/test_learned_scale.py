"""A learned scale of strengths: its density, its mirror, and its mode beside the integrated likelihood."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from voirdire.fit.verb import fit
from voirdire.infer.laplace import laplace
from voirdire.infer.mode import find_mode
from voirdire.kinds.votes.design import design_of
from voirdire.kinds.votes.problem import VotesProblem, pose
from voirdire.model.specs import Model, load_model, locate
from voirdire.tables.votes import read_votes

RATE = 0.3


@pytest.fixture(scope="session")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Any model of votes with a given scale, with a learned one."""

    def made(name: str) -> Model:
        text = (locate("models") / f"{name}.toml").read_text()
        text = text.replace('kind = "normal"\nsd = 4.0', f'kind = "learned-scale"\nrate = {RATE}')
        path = Path(tmp_path_factory.mktemp("models")) / f"{name}.toml"
        path.write_text(text)
        return load_model(path)

    return made


def drawn(items: int, judges: int, votes: int, sd: float, seed: int, eta: float = 0.8) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    theta = rng.normal(0.0, sd, items)
    first = rng.integers(0, items, votes)
    second = (first + rng.integers(1, items, votes)) % items
    chance = 1.0 / (1.0 + np.exp(theta[second] - theta[first]))
    right = rng.random(votes) < eta
    won = (rng.random(votes) < chance) == right
    names = np.array([f"item-{i:03d}" for i in range(items)])
    return pd.DataFrame(
        {
            "judge": rng.integers(0, judges, votes).astype(str),
            "first": names[first],
            "second": names[second],
            "winner": np.where(won, "first", "second"),
        }
    )


def log_spread(problem: VotesProblem) -> float:
    mode = find_mode(problem)
    assert mode.converged
    return float(problem.density.values(mode.x, np)["log_spread"][0])


@pytest.mark.parametrize(
    "name", ["bradley-terry", "crowd-bt", "crowd-bt-position", "maple", "bt-sigma-position"]
)
def test_the_prior_is_that_of_the_strengths_over_their_unit(learned: Any, name: str) -> None:
    table = drawn(5, 3, 60, 1.0, seed=1).assign(criterion=["a", "b", "b"] * 20)
    table["winner"] = np.where(np.arange(60) % 7 == 0, "tie", table["winner"])
    density = pose(learned(name), read_votes(table)).density
    given = pose(load_model(name), read_votes(table)).density
    for x in np.random.default_rng(2).normal(size=(3, density.size)):
        values = density.values(x, np)
        np.testing.assert_allclose(density.flat(values, np), x, atol=1e-12)
        (parameter,) = (p for p in density.parameters if p.name == "strength")
        log_unit = density.log_unit(parameter, values, np)[0][:, 0]
        expected = given.log_prior(given.flat(values, np), np)
        for theta, log_s, unit in zip(values["strength"], values["log_spread"], log_unit, strict=True):
            one_less = theta.size - 1  # on the plane of sum zero
            for sign, sd in ((-1, 4.0), (1, math.exp(log_s))):
                expected += sign * (stats.norm.logpdf(theta, 0, sd).sum() - stats.norm.logpdf(0, 0, sd))
            expected += one_less * unit + stats.expon.logpdf(math.exp(log_s), scale=1 / RATE) + log_s
        assert density.log_prior(x, np) == pytest.approx(expected, rel=1e-12)
        if density.has_mirror:
            twin = density.mirror(x, np)
            np.testing.assert_allclose(density.mirror(twin, np), x, atol=1e-12)
            other = density.log_unit(parameter, density.values(twin, np), np)[0][:, 0]
            np.testing.assert_allclose(other, log_unit, atol=1e-12)


def test_the_design_is_counted_and_rounded() -> None:
    votes = read_votes(drawn(6, 2, 300, 1.0, seed=0))
    cell = (votes.judge, votes.criterion, votes.first, votes.second)
    counts = votes.counts.astype(float)
    design = design_of(*cell, counts, (2, 1, 6))
    np.testing.assert_allclose(design.votes, np.bincount(votes.judge, counts.sum(axis=1)), rtol=0.1)
    # every item meets every other: eigenvalues are about items times votes a pair
    np.testing.assert_allclose(design.spectrum[0], 6 * 300 / 15, rtol=0.5)
    assert len(design.spectrum[0]) == 5
    assert design == design_of(*cell, counts * 1.01, (2, 1, 6))


@pytest.mark.parametrize("sd", [0.5, 2.0])
def test_the_mode_is_that_of_the_integrated_likelihood(learned: Any, sd: float) -> None:
    """Three items: their two differences are integrated out on a grid."""
    table = drawn(3, 1, 40, sd, seed=3)
    problem = pose(learned("bradley-terry"), read_votes(table))
    line = np.linspace(-40, 40, 801)
    one, two = np.meshgrid(line, line)
    plane = np.stack([one, two], axis=-1)
    (parameter,) = (p for p in problem.density.parameters if p.name == "strength")
    theta = parameter.value(plane[..., None, :], {**problem.density.sizes}, np)[..., 0, :]
    part, log = problem.data["votes"], 0.0
    for pair, outcome, weight in zip(part["pair"], part["outcome"], part["weight"], strict=True):
        d = theta[..., part["pair_first"][pair]] - theta[..., part["pair_second"][pair]]
        log = log - weight * np.logaddexp(0.0, -(1 - 2 * outcome) * d)
    scales = np.linspace(-3, 3, 121)
    square = (plane**2).sum(axis=-1)
    marginal = np.array(
        [
            np.log(np.exp(log - log.max() - 0.5 * square * math.exp(-2 * t)).sum())
            - 2 * t
            + t
            - RATE * math.exp(t)
            for t in scales
        ]
    )
    weight = np.exp(marginal - marginal.max())
    mean = (weight @ scales) / weight.sum()
    width = math.sqrt(weight @ (scales - mean) ** 2 / weight.sum())
    assert abs(log_spread(problem) - scales[marginal.argmax()]) < 0.4 * width


@pytest.mark.parametrize("sd", [0.5, 2.0, 6.0])
def test_the_mode_is_that_of_laplace_at_every_scale_in_sparse_tables(learned: Any, sd: float) -> None:
    """Sixty items with four votes each: all but the scale are integrated out by Laplace at fixed scales."""
    votes = read_votes(drawn(60, 4, 120, sd, seed=4))
    problem, name = pose(learned("bradley-terry"), votes), "bradley-terry"
    scales = np.linspace(-2.5, 2.5, 26)
    marginal = []
    for t in scales:
        fixed = load_model(name).with_priors({"strength": {"sd": math.exp(t)}})
        mode = find_mode(pose(fixed, votes))
        root = laplace(pose(fixed, votes), mode).root
        marginal.append(mode.log_density + np.log(np.diag(root)).sum() + t - RATE * math.exp(t))
    weight = np.exp(np.array(marginal) - max(marginal))
    mean = (weight @ scales) / weight.sum()
    width = math.sqrt(weight @ (scales - mean) ** 2 / weight.sum())
    assert abs(log_spread(problem) - scales[np.argmax(marginal)]) < 0.4 * width


def test_people_alone_teach_the_coins_of_a_learned_population_as_those_of_a_given_one() -> None:
    votes = drawn(6, 3, 120, 2.0, seed=5)
    people = votes.iloc[::9][["first", "second", "winner"]].drop_duplicates(["first", "second"])
    how = {"anchors": people, "anchor_mode": "cut", "method": "map"}
    given, learned = (
        fit(votes, model=name, **how).posterior.central_values
        for name in ("crowd-bt-position", "learned-crowd-bt-position")
    )
    for coin in ("coin_first", "coin_second"):
        np.testing.assert_allclose(learned[coin], given[coin], atol=1e-8)
