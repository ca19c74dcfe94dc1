"""A learned scale of strengths: its mode beside the integrated likelihood, and its gradient."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from voirdire import fit
from voirdire.errors import InputError
from voirdire.infer import find_mode, laplace_approximation
from voirdire.kinds import VotesProblem, encode_votes
from voirdire.model import Model, load_model, specification_folder
from voirdire.model.family.two_coin import MAX_LOG_ODDS_SINGLE
from voirdire.tables import read_votes
from voirdire_studies.coverage import simulate_panel
from voirdire_studies.study import load_study

RATE = 0.3


@pytest.fixture(scope="session")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Any model of votes with a given scale, with a learned one."""

    def made(name: str) -> Model:
        text = (specification_folder("models") / f"{name}.toml").read_text()
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


def test_coins_of_a_given_population_go_with_no_learned_scale(learned: Any) -> None:
    kinds = "pooled-one-coin, pooled-two-coin, pooled-discrimination, pooled-discrimination-position or fixed"
    with pytest.raises(InputError, match=f"kind {kinds}, not one-coin; take learned"):
        encode_votes(learned("crowd-bt"), read_votes(drawn(5, 3, 60, 1.0, seed=1)))


@pytest.mark.parametrize("ties", [False, True])
def test_the_gradient_by_hand_is_that_of_the_formula(ties: bool) -> None:
    """Also where probabilities are far below the smallest that one less them could hold; in single precision, too."""
    table = drawn(5, 3, 60, 1.0, seed=1)
    if ties:
        table["winner"] = np.where(np.arange(60) % 7 == 0, "tie", table["winner"])
    problem = encode_votes(load_model("learned-crowd-bt-position"), read_votes(table))
    answers = problem.density.latent_model(problem.data).answers
    shape = (3 + 2 * ties, answers.counts.shape[-1])
    rng = np.random.default_rng(2)
    for scale in (0.1, 3.0, 30.0):
        sums = rng.normal(0.0, scale, (4, *shape))
        sums[:, 4:] = np.clip(sums[:, 4:], -5.0, 5.0)  # the log scale of ties, which multiplies differences
        value, slope = answers.value_gradient(sums)
        expected, its_slope = replace(answers, closed_form=None).value_gradient(sums)
        np.testing.assert_allclose(value, expected, rtol=1e-12)
        np.testing.assert_allclose(slope, its_slope, rtol=1e-9, atol=1e-12)
        assert all(np.isfinite(part).all() for part in answers.compiled_gradient(10.0 * sums))
        inside = np.clip(sums, -MAX_LOG_ODDS_SINGLE, MAX_LOG_ODDS_SINGLE)
        for mine, theirs in zip(answers.compiled_gradient(inside), answers.value_gradient(inside), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=2e-5, atol=2e-6)


@pytest.mark.long
@pytest.mark.slow
def test_scale_and_reliability_are_learned_together() -> None:
    """Eight judges all right on .85, items of sd 2: 90% intervals hold scale, scores and reliability."""
    table = drawn(20, 8, 600, 2.0, seed=6, eta=0.85)
    found = fit(table, model="learned-crowd-bt-position", seed=1)
    assert found.method == "hmc"
    assert all(one.level == "ok" for one in found.method_checks)
    theta = np.random.default_rng(6).normal(0.0, 2.0, 20)
    theta -= theta.mean()
    ranking = found.ranking().set_index("item").sort_index()
    assert ((ranking["low"] < theta) & (theta < ranking["high"])).mean() >= 0.75
    judges = found.judges()
    assert ((judges["reliability_low"] < 0.85) & (judges["reliability_high"] > 0.85)).mean() >= 0.75
    scale = found.spreads().set_index("name").loc["item"]
    assert scale["low"] < 2.0 < scale["high"]


@pytest.mark.slow
@pytest.mark.parametrize("sd", [0.5, 2.0])
def test_the_mode_is_that_of_the_integrated_likelihood(learned: Any, sd: float) -> None:
    """Three items: their two differences are integrated out on a grid."""
    table = drawn(3, 1, 40, sd, seed=3)
    problem = encode_votes(learned("bradley-terry"), read_votes(table))
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
            np.log(np.exp(log - log.max() - 0.5 * square * math.exp(-2 * t)).sum()) - 2 * t + t - RATE * math.exp(t)
            for t in scales
        ]
    )
    weight = np.exp(marginal - marginal.max())
    mean = (weight @ scales) / weight.sum()
    width = math.sqrt(weight @ (scales - mean) ** 2 / weight.sum())
    assert abs(log_spread(problem) - scales[marginal.argmax()]) < 0.4 * width


@pytest.mark.slow
@pytest.mark.parametrize("sd", [0.5, 2.0, 6.0])
def test_the_mode_is_that_of_laplace_at_every_scale_in_sparse_tables(learned: Any, sd: float) -> None:
    """Sixty items with four votes each: all but the scale are integrated out by Laplace at fixed scales."""
    votes = read_votes(drawn(60, 4, 120, sd, seed=4))
    problem, name = encode_votes(learned("bradley-terry"), votes), "bradley-terry"
    scales = np.linspace(-2.5, 2.5, 26)
    marginal = []
    for t in scales:
        fixed = load_model(name).with_priors({"strength": {"sd": math.exp(t)}})
        mode = find_mode(encode_votes(fixed, votes))
        root = laplace_approximation(encode_votes(fixed, votes), mode).root
        marginal.append(mode.log_density + np.log(np.diag(root)).sum() + t - RATE * math.exp(t))
    weight = np.exp(np.array(marginal) - max(marginal))
    mean = (weight @ scales) / weight.sum()
    width = math.sqrt(weight @ (scales - mean) ** 2 / weight.sum())
    assert abs(log_spread(problem) - scales[np.argmax(marginal)]) < 0.4 * width


@pytest.mark.long
@pytest.mark.slow
def test_a_judge_that_tells_hardly_anything_is_not_trusted_for_its_many_votes() -> None:
    """Near items and a good judge, or items far apart and one that tosses coins: NUTS is at both ends of this ridge.

    By NUTS (8 chains of 2,500 draws) the mean of the logarithm of the spread is -0.38, its sd 1.20, the judge's
    reliability 0.65. Chains that only follow gradients stay where it is -1.3, sd 0.6, and reliability 0.83.
    """
    study = load_study("coverage")
    (number,) = (i for i, p in enumerate(study.settings["panels"]) if p["name"].startswith("one bad judge"))
    rng = np.random.default_rng([study.seed, 16, number])
    truth = simulate_panel(load_model("crowd-bt-position"), study.settings["panels"][number], rng)
    found = fit(truth["table"], model="learned-crowd-bt-position", seed=1)
    log = found.problem.density.values(found.posterior.draws, np)["log_spread"]
    assert log.mean() == pytest.approx(-0.38, abs=0.35)
    assert log.std() > 0.9
    judges = found.judges().set_index("judge")
    assert judges.loc["j000", "reliability"] < 0.76
    assert found.checks().set_index("check").loc["scale", "level"] != "ok"


@pytest.mark.slow
@pytest.mark.long
def test_what_is_lost_beside_a_given_scale_is_the_scale() -> None:
    """Freed of it, by the factor that fits the truth best, scores are as good as those of a fit that is told it."""
    study = load_study("coverage")
    (number,) = (i for i, p in enumerate(study.settings["panels"]) if p.get("sd") == 1.0)
    told = {"model": "crowd-bt-position", "priors": {"strength": {"sd": 1.0}}}
    log = []
    for replicate in range(5):
        rng = np.random.default_rng([study.seed, replicate, number])
        truth = simulate_panel(load_model("crowd-bt-position"), study.settings["panels"][number], rng)
        errors = []
        for how in ({"model": "learned-crowd-bt-position"}, told):
            items = fit(truth["table"], seed=replicate, **how).ranking()  # type: ignore[arg-type]
            score, right = items["score"].to_numpy(), items["item"].map(truth["strength"]).to_numpy()
            right = right - right.mean()
            errors.append(np.sqrt(np.mean((score * (score @ right) / (score @ score) - right) ** 2)))
        log.append(np.log(errors[0] / errors[1]))
    assert abs(np.mean(log)) < 0.1
