"""Scores of systems over contexts: the board is of systems, its intervals hold for other contexts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire import load
from voirdire.cli import app
from voirdire.errors import InputError
from voirdire.fit.store import save
from voirdire.kinds.scores.systems import shrinkage_removal, shrinkage_removal_from_covariances, system_draws

MU = np.linspace(-1.0, 1.0, 5)


def scored(seed: int, contexts: int = 20, own: float = 0.7) -> pd.DataFrame:
    """Five systems in contexts, scored by three judges; ``own`` is how much a system differs between contexts."""
    rng = np.random.default_rng(seed)
    theta = MU[:, None] + rng.normal(0, 0.6, contexts) + rng.normal(0, own, (5, contexts))
    severity = rng.normal(0, 0.4, 3)
    y = theta[:, :, None] - severity + 0.8 * rng.normal(size=(5, contexts, 3))
    s, x, k = (part.ravel() for part in np.indices(y.shape))
    return pd.DataFrame(
        {
            "judge": [f"j{one}" for one in k],
            "context": [f"x{one:02d}" for one in x],
            "system": [f"s{one}" for one in s],
            "score": np.clip(np.round(5.0 + 1.5 * y.ravel(), 1), 0.0, 10.0),
        }
    )


def fitted(table: pd.DataFrame, **more: Any) -> Any:
    how: dict[str, Any] = {"model": "rating-continuous", "levels": [0, 10], "families": {}, "method": "laplace"}
    return voirdire.fit(table, **how | more)


def gap(found: pd.DataFrame) -> pd.Series:
    """Scores from their mean, by system."""
    return (found.set_index("system")["score"] - found["score"].mean()).sort_index()


def apart(fit: Any) -> tuple[Any, Any]:
    """What each system is worth beside their mean, and its standard deviation."""
    drawn = system_draws(fit.problem, fit.posterior)
    drawn = drawn - drawn.mean(axis=1, keepdims=True)
    return drawn.mean(axis=0), drawn.std(axis=0, ddof=1)


@pytest.fixture(scope="module")
def fit() -> Any:
    return fitted(scored(0))


def test_systems_are_worth_what_their_scores_say_not_less(fit: Any) -> None:
    """Not drawn towards each other: differences are those of mean scores, where no score is at an end of the scale."""
    table = scored(0)
    means = table.groupby("system")["score"].mean()
    found = gap(fit.systems())
    assert np.polyfit(means - means.mean(), found, 1)[0] == pytest.approx(1.0, abs=0.06)
    assert fit.systems()["contexts"].tolist() == [20] * 5


@pytest.mark.long
@pytest.mark.slow
def test_intervals_hold_for_other_contexts() -> None:
    """Of 20 tables of five systems 90% intervals hold what is so over all contexts (mcse 3%)."""
    z = []
    for seed in range(20):
        worth, sd = apart(fitted(scored(seed)))
        z.append((worth - 1.5 * MU) / sd)
    inside = (np.abs(np.array(z)) < 1.645).mean()
    assert 0.84 <= inside <= 0.97
    assert 0.75 <= np.array(z).std() <= 1.15


def test_over_these_contexts_intervals_are_narrower(fit: Any) -> None:
    here = fitted(scored(0), over="these")
    assert here.systems()["sd"].mean() < 0.7 * fit.systems()["sd"].mean()
    assert here.as_dict()["over"] == "these"
    assert gap(here.systems()).to_numpy() == pytest.approx(gap(fit.systems()).to_numpy(), abs=0.1)


def test_the_board_is_of_systems(fit: Any) -> None:
    board = fit.board()
    assert board["items"][0]["item"] == "s4"
    assert len(board["answers"]) == 100
    assert {row["item"] for row in board["items"]} == {f"s{n}" for n in range(5)}
    assert board["items"][0]["score"] == pytest.approx(fit.systems()["score"].max())
    near = [row for row in board["next"] if not row["apart"]]
    assert all(row["more_contexts"] is None or row["more_contexts"] > 0 for row in near)


def test_the_verb_writes_the_board_of_systems(tmp_path: Any) -> None:
    scored(0).to_csv(tmp_path / "scores.csv", index=False)
    how = ["board", str(tmp_path / "scores.csv"), "--model", "rating-continuous", "--method", "laplace"]
    done = CliRunner().invoke(app, [*how, "-o", str(tmp_path / "board.html")])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "board.html").read_text()
    assert "s4" in page
    assert "x03 / s2" not in page.split("Method")[0]


def test_a_saved_fit_has_the_same_systems(fit: Any, tmp_path: Any) -> None:
    save(fit, tmp_path / "run")
    pd.testing.assert_frame_equal(load(tmp_path / "run").systems(), fit.systems())


def test_what_is_not_about_systems_is_refused() -> None:
    table = scored(0)
    items = table.assign(item=table["context"] + table["system"]).drop(columns=["context", "system"])
    found = fitted(items, method="map")
    with pytest.raises(InputError, match="columns context and system"):
        found.systems()
    with pytest.raises(InputError, match=r"over 'these' is for scores of several systems"):
        fitted(items, over="these")


@pytest.mark.long
@pytest.mark.slow
def test_half_of_the_contexts_tells_the_other_half(shared: Any) -> None:
    """Six systems in 60 dialogues, people's scores under six criteria: 8 splits of the dialogues."""
    table = pd.read_csv(shared / "data" / "topicalchat_scores.csv").query("judge == 'human'")
    contexts, z = sorted(table["context"].unique()), []
    for seed in range(8):
        half = set(np.random.default_rng(seed).permutation(contexts)[:30])
        here = table["context"].isin(half)
        (one, error), (other, more) = (
            apart(voirdire.fit(part, method="laplace", families={})) for part in (table[here], table[~here])
        )
        z.append((one - other) / np.hypot(error, more))
    assert (np.abs(np.array(z)) < 1.645).mean() >= 0.85
    assert np.array(z).std() < 1.1


@pytest.mark.slow
def test_systems_of_judges_with_tastes() -> None:
    """Levels under several criteria, on which judges have tastes: differences are those of the truth, not drawn in."""
    rng = np.random.default_rng(2)
    s, x, k, c = (part.ravel() for part in np.indices((5, 12, 4, 3)))
    theta = MU[:, None] + rng.normal(0, 0.5, (5, 12))
    seen = 2.0 * theta[s, x] + rng.normal(size=(5, 12, 4))[s, x, k] + rng.logistic(size=len(s))
    level = (seen[:, None] > np.linspace(-3, 3, 4)).sum(axis=1) + 1
    names = {"judge": k, "context": x, "system": s, "criterion": c}
    table = pd.DataFrame({name: [f"{name[0]}{one:02d}" for one in code] for name, code in names.items()})
    found = voirdire.fit(table.assign(score=level), method="laplace")
    assert found.model.name == "rating-halo"
    assert np.polyfit(2.0 * MU, gap(found.systems()), 1)[0] == pytest.approx(1.0, abs=0.3)
    assert set(found.as_dict()["spreads"][-1]) >= {"name", "value"}


def test_strengths_are_freed_of_their_prior_exactly_where_they_are_normal() -> None:
    """Of y = theta + error and theta ~ Normal(0, Sigma): y and the covariance of the error, from draws of theta."""
    rng = np.random.default_rng(0)
    sigma = np.diag([1.0, 0.5, 2.0]) + 0.8
    root = rng.normal(size=(3, 3))
    error, y, share = root @ root.T + 0.3, np.array([1.0, -2.0, 0.5]), np.array([0.5, 0.3, 0.2])
    b = sigma @ np.linalg.inv(sigma + error)
    drawn = b @ y + rng.multivariate_normal(np.zeros(3), b @ error, size=100_000)
    found = shrinkage_removal_from_covariances(sigma, b @ error).remove_shrinkage(
        drawn[..., None], np.broadcast_to(share, drawn.shape)
    )
    assert found.mean() == pytest.approx(share @ y, abs=3 * np.sqrt(share @ error @ share / 1e5) / 0.1)
    assert found.var() == pytest.approx(share @ error @ share, rel=0.02)


def opinions(seed: int, own: float, contexts: int = 12) -> pd.DataFrame:
    """Levels that three judges with tastes give three systems under four criteria; contexts differ for all alike."""
    rng = np.random.default_rng(seed)
    shape = (3, contexts, 3, 4)
    theta = np.array([-1.0, 0.0, 1.0])[:, None] + own * rng.normal(size=(3, contexts))
    taste = 1.5 * rng.normal(size=shape[:3])
    common = 3.0 * rng.normal(size=contexts)
    seen = theta[:, :, None, None] + taste[..., None] + common[:, None, None] + rng.logistic(size=shape)
    s, x, k, c = (part.ravel() for part in np.indices(shape))
    level = (seen.ravel()[:, None] > np.linspace(-4, 4, 6)).sum(axis=1)
    names = {"judge": k, "context": x, "system": s, "criterion": c}
    table = pd.DataFrame({name: [f"{name[0]}{one:02d}" for one in code] for name, code in names.items()})
    return table.assign(score=level + 1)


@pytest.mark.slow
def test_what_contexts_add_to_all_systems_moves_none_in_log_odds() -> None:
    """Of systems that differ by their means alone the error is that of tastes and noise: 0.3, with contexts 0.9."""
    found = fitted(opinions(1, 0.0), model="rating-halo", levels=[1, 2, 3, 4, 5, 6, 7])
    assert found.systems()["sd"].max() < 0.55


@pytest.mark.long
@pytest.mark.slow
def test_intervals_of_systems_hold_where_judges_have_tastes() -> None:
    """Twelve tables of three systems (mcse 5%)."""
    z = []
    for seed in range(12):
        worth, sd = apart(fitted(opinions(seed, 0.7, 16), model="rating-halo", levels=[1, 2, 3, 4, 5, 6, 7]))
        z.append((worth - np.array([-1.0, 0.0, 1.0])) / sd)
    assert 0.78 <= (np.abs(np.array(z)) < 1.645).mean() <= 0.99
    assert 0.75 <= np.sqrt((np.array(z) ** 2).mean()) <= 1.35


def test_a_category_of_items_is_no_criterion() -> None:
    table = scored(0).assign(criterion=lambda t: np.where(t["context"] < "x10", "maths", "writing"))
    with pytest.raises(InputError, match="criterion is then a category of items; give it another name"):
        fitted(table)


def test_what_the_prior_leaves_of_scores_between_levels_is_that_of_each_draw() -> None:
    """Sigma (Sigma + E)^-1, E the inverse of the judges' precisions about an item, by hand; spreads may vanish."""
    rng = np.random.default_rng(2)
    judge, item, criterion = (part.ravel() for part in np.indices((3, 8, 2)))
    score = 0.5 + rng.normal(0, 0.1, 8)[item] + rng.normal(0, 0.05, (3, 8))[judge, item]
    rows = {"judge": judge, "system": item % 2, "context": item // 2, "criterion": criterion}
    table = pd.DataFrame({**rows, "score": score + rng.normal(0, 0.05, len(score))})
    fit = voirdire.fit(table.astype({"judge": str}), levels=[0, 1], method="laplace")
    assert fit.model.name == "rating-continuous-halo"
    values = {name: of[:5] for name, of in fit.posterior.values.items()}
    values["log_spread"] = values["log_spread"].copy()
    values["log_spread"][4] = -30.0
    found = shrinkage_removal(fit.problem, values)
    for draw in range(4):
        sigma = np.diag(np.exp(2 * values["log_spread"][draw])) + np.exp(2 * values["log_general_spread"][draw])
        noise, taste = (np.exp(2 * values[name][draw]) for name in ("log_noise_criterion", "log_taste_spread"))
        told = sum(np.linalg.inv(np.diag(noise[k]) + taste[k]) for k in range(3))
        by_hand = sigma @ np.linalg.inv(sigma + np.linalg.inv(told))
        np.testing.assert_allclose(found.kept[draw], by_hand, rtol=1e-8)
        np.testing.assert_allclose(found.outward[draw] @ found.outward[draw] @ found.kept[draw], np.eye(2), atol=1e-8)
    assert np.isfinite(found.kept[4]).all()
    assert np.isfinite(found.outward[4]).all()
