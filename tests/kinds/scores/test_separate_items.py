"""Draws by products of second derivatives are those of the Hessian written out; one judge's systems by their means."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.infer.derivatives import Derivatives
from voirdire.infer.infer import infer_posterior
from voirdire.infer.method import Method, check_size
from voirdire.infer.mode import find_mode
from voirdire.kinds.kind import Request
from voirdire.kinds.registry import KINDS
from voirdire.kinds.scores import separate_items
from voirdire.kinds.scores.separate_items import can_separate_items, draws_of_separate_items
from voirdire.model.specs import load_model
from voirdire.tables.scores import read_scores


def scored(judges: int, items: int, criteria: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    judge, item, criterion = (part.ravel() for part in np.indices((judges, items, criteria)))
    truth, noise = rng.normal(0.0, 0.15, (items, criteria)), rng.uniform(0.05, 0.15, judges)
    score = np.clip(0.5 + truth[item, criterion] + noise[judge] * rng.normal(size=len(judge)), 0.0, 1.0)
    names = {"judge": [f"j{n}" for n in judge], "item": [f"i{n}" for n in item]}
    return pd.DataFrame({**names, "criterion": [f"c{n}" for n in criterion], "score": score})


@pytest.mark.parametrize(
    ("model", "criteria", "repeated"),
    [("rating-continuous", 1, False), ("rating-continuous", 2, True), ("mean-score", 2, False)],
)
def test_draws_have_the_inverse_hessian_as_covariance(
    model: str, criteria: int, repeated: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = scored(3, 12, criteria)
    if repeated:
        again = table.assign(score=np.clip(table["score"] + 0.05, 0.0, 1.0), run=1)
        table = pd.concat([table.assign(run=0), again], ignore_index=True)
    read, how = read_scores(table), Request(levels=[0, 1])
    problem = KINDS["scores"].encode_table(load_model(model), read, how)[0]
    assert not can_separate_items(problem.density)  # of a small table the Hessian is written out
    monkeypatch.setattr(separate_items, "TOLD", 0.0)
    assert can_separate_items(problem.density)
    x, count = find_mode(problem).x, 20_000
    draws, proper = draws_of_separate_items(problem.density, problem.data, x, count, np.random.default_rng(1))
    assert proper
    assert draws.shape == (count, len(x))
    hessian = Derivatives(problem.density, problem.data).hessian(x)
    white = (draws - x) @ np.linalg.cholesky(hessian)
    assert np.abs(white.mean(axis=0)).max() < 5 / np.sqrt(count)
    assert np.abs(np.cov(white.T) - np.eye(len(x))).max() < 5 * np.sqrt(2 / count)
    monkeypatch.setattr("voirdire.infer.laplace.LARGEST", 0)
    check_size(problem, Method("laplace"))  # nothing is refused
    found = infer_posterior(problem, find_mode(problem), Method("laplace")).posterior
    assert found.draws is not None


def test_systems_of_one_judge_have_their_mean_scores_and_intervals_over_contexts() -> None:
    rng = np.random.default_rng(0)
    context, system = (part.ravel() for part in np.indices((60, 4)))
    chance = np.array([0.7, 0.5, 0.3, 0.05])[system]
    score = 1.0 + np.where(
        rng.random(len(chance)) < chance, rng.uniform(0.9, 1.0), rng.uniform(0.0, 0.1, len(chance))
    )
    table = pd.DataFrame(
        {"judge": "one", "context": context, "system": [f"s{n}" for n in system], "score": score}
    )
    fit = voirdire.fit(table)
    assert fit.model.name == "mean-score"
    assert any("nothing tells its noise" in note for note in fit.notes)
    found = fit.systems().set_index("system")
    of = table.groupby("system")["score"]
    assert found["score"].to_dict() == pytest.approx(of.mean().to_dict(), abs=0.01)
    half = 0.5 * (found["high"] - found["low"])
    assert half.to_dict() == pytest.approx((1.645 * of.sem()).to_dict(), rel=0.35)
    again = pd.concat(
        [table, table.assign(judge="two", score=table["score"].sample(frac=1.0, random_state=0))]
    )
    assert voirdire.fit(again, method="map").model.name == "rating-continuous"
