"""Terms of further columns of votes: covariates, own families, groups, time; against formulas written out here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import voirdire
from voirdire.errors import InputError
from voirdire.settings import PROB

FAMILY = list("aabbcd")
SUM = (
    "item + item:context + judge:item + length + judge:length + own-family + judge:own-family + item:category "
    "+ item:time"
)
PERIODS = 4


def panel(
    seed: int, votes: int = 1500, contexts: int = 12, items: int = 7
) -> tuple[pd.DataFrame, dict[str, Any], dict[str, Any]]:
    """Votes with ties by judges with two coins, and what stands behind them."""
    rng = np.random.default_rng(seed)
    judges = len(FAMILY)
    of_item = np.array(list("abcd") + list(rng.choice(list("abcd"), items - 4)))
    worth, here = rng.normal(0, 1, items), rng.normal(0, 0.5, (items, contexts))
    taste, category = rng.normal(0, 0.5, (judges, items)), rng.normal(0, 0.6, (items, 2))
    slope, own = rng.normal(0, 0.8), rng.normal(0.5, 0.5)
    slopes, owns = slope + rng.normal(0, 0.3, judges), own + rng.normal(0, 0.4, judges)
    drift = np.cumsum(rng.normal(0, 0.4, (items, PERIODS)) * (np.arange(PERIODS) > 0), axis=1)
    coins = expit(rng.normal(2.2, 0.5, (2, judges)))
    a = rng.integers(items, size=votes)
    b = (a + rng.integers(1, items, votes)) % items
    k, x, t, which = (rng.integers(n, size=votes) for n in (judges, contexts, PERIODS, 2))
    length = rng.normal(size=(votes, 2))
    difference = np.zeros(votes)
    for side, i in ((1, a), (-1, b)):
        at = 0 if side == 1 else 1
        eta = worth[i] + here[i, x] + taste[k, i] + slopes[k] * length[:, at] + category[i, which] + drift[i, t]
        difference += side * (eta + owns[k] * (of_item[i] == np.array(FAMILY)[k]))
    first = coins[0][k] * expit(difference) + (1 - coins[1][k]) * expit(-difference)
    tie = rng.random(votes) < 0.3 / (0.3 + 2 * np.cosh(difference / 2))
    table = pd.DataFrame(
        {
            "judge": [f"j{j}" for j in k],
            "first": [f"i{i}" for i in a],
            "second": [f"i{i}" for i in b],
            "winner": np.where(tie, "tie", np.where(rng.random(votes) < first, "first", "second")),
            "context": [f"c{c:02}" for c in x],
            "length_first": 100 + 50 * length[:, 0],
            "length_second": 100 + 50 * length[:, 1],
            "time": t,
            "category": np.array(list("mn"))[which],
        }
    )
    share = np.bincount(t, minlength=PERIODS) / votes
    unit = length.std()
    mean = worth + drift @ share
    truth = {
        "length": [slope * unit],
        "judge:length": (slopes - slope) * unit,
        "own-family": np.array([own, *owns]),
        "items": mean - mean.mean(),  # on average over time
        "item:time": (drift - (drift @ share)[:, None]).ravel(),
        "item:category": category.ravel(),
    }
    families = {
        "families": {f"j{j}": name for j, name in enumerate(FAMILY)},
        "item_families": {f"i{i}": name for i, name in enumerate(of_item)},
    }
    return table, families, truth


TABLE, FAMILIES, TRUTH = panel(0)


@pytest.fixture(scope="module")
def fit() -> Any:
    return voirdire.fit(TABLE, terms=SUM, method="laplace", **FAMILIES)


@pytest.mark.slow
def test_every_term_is_estimated_and_shown(fit: Any, covered: Any, tmp_path: Path) -> None:
    found = fit.as_dict()
    assert fit.covariates()["name"].tolist() == ["length", "own-family"]
    assert {"context", "taste", "judge:length", "item:category", "item:time"} <= {
        row["name"] for row in found["spreads"]
    }
    assert set(fit.terms()["term"]) == {"judge:length", "item:category", "item:time"}
    assert np.concatenate(list(covered(fit, TRUTH).values())).mean() > 0.7
    fit.save(tmp_path / "fit")
    assert json.dumps(voirdire.load(tmp_path / "fit").as_dict()) == json.dumps(found)
    with pytest.raises(InputError, match="fit old and new ones together"):
        fit.update(TABLE.head(7))


def log_likelihood(values: dict[str, Any], table: pd.DataFrame, length: np.ndarray) -> float:
    """The sum over votes, vote by vote, of logarithms of probabilities as the documents have them."""
    total = 0.0
    period = {time: at for at, time in enumerate(sorted(table["time"].unique()))}
    share = np.bincount(table["time"].map(period)) / len(table)
    steps = np.tril(np.ones((PERIODS, PERIODS)))[:, 1:]
    steps = steps - share @ steps
    contexts = sorted(table["context"].unique())
    for at, row in enumerate(table.itertuples()):
        k, x, which = int(row.judge[1:]), contexts.index(row.context), "mn".index(row.category)
        worth = []
        for side, name in enumerate((row.first, row.second)):
            i = int(name[1:])
            own = FAMILIES["families"][row.judge] == FAMILIES["item_families"][name]
            eta = values["strength"][0, i] + values["context_strength"][0, i, x] + values["taste"][k, i]
            eta += (values["effect:length"] + values["judge:length"][k]) * length[at, side]
            eta += (values["effect:own-family"] + values["judge:own-family"][k]) * own
            worth.append(eta + values["item:category"][i, which] + values["item:time"][i] @ steps[period[row.time]])
        d, i, j = worth[0] - worth[1], int(row.first[1:]), int(row.second[1:])
        log_nu = values["tie"] + values["tie_judge"][k] + values["tie_context"][x] + values["tie_judge_context"][k, x]
        nu = np.exp(log_nu + values["tie_item"][i] + values["tie_item"][j])
        odds = nu / 2 * np.cosh(d / 2) ** -np.exp(values["log_tie_scale"])
        tie = odds / (1 + odds)
        first = expit(values["coin_first"][k]) * expit(d) + (1 - expit(values["coin_second"][k])) * expit(-d)
        total += np.log({"tie": tie, "first": (1 - tie) * first, "second": (1 - tie) * (1 - first)}[row.winner])
    return float(total)


def test_field_density_and_formulas_written_out_say_the_same(fit: Any) -> None:
    problem, rng = fit.problem, np.random.default_rng(0)
    density, field = problem.density, problem.density.latent_model(problem.data)
    both = TABLE[["length_first", "length_second"]].to_numpy()
    length = (both - both.mean()) / both.std()
    for _ in range(20):
        latent, hyper = 0.5 * rng.normal(size=field.size), rng.normal(-1, 0.3, len(field.hypers))
        values = density.values(field.flat(latent, hyper), np)
        by_field = field.answers.log_likelihood(field.predictors(latent, hyper), np)
        by_density = float(density.log_likelihood(values, problem.data, np))
        assert by_field == pytest.approx(by_density, abs=1e-6)
        assert by_density == pytest.approx(log_likelihood(values, TABLE, length), abs=1e-6)


def test_votes_are_predicted_drawn_and_left_out_with_their_numbers(fit: Any) -> None:
    """Predictions of a table are of items alike in numbers; those of the fit's own votes know these."""
    problem, values = fit.problem, fit.posterior.central_values
    *rows, answer = fit.kind.single_answers(problem)
    chance = fit.kind.response_probabilities(problem, values, tuple(rows))
    log = np.log(chance[np.arange(len(answer)), answer]).sum()
    assert log == pytest.approx(float(problem.density.log_likelihood(values, problem.data, np)), rel=1e-9)
    drawn = fit.kind.draw(problem, values, np.random.default_rng(0))
    again = fit.kind.problem_with_table(problem, table=drawn)
    assert again.density == problem.density
    before, after = (one.density.log_likelihood(values, one.data, np) / one.votes.rows for one in (problem, again))
    assert after == pytest.approx(before, abs=0.1)
    with pytest.warns(UserWarning, match="Answers are predicted on average over"):
        assert fit.predict(TABLE.head(3))[["p_first", "p_second", "p_tie"]].sum(axis=1).tolist() == pytest.approx(
            [1] * 3
        )
    losses = [
        voirdire.cross_validate(TABLE, ["learned-crowd-bt-position"], folds=2, covariates=given)["log_loss"][0]
        for given in ("length", None)
    ]
    assert losses[0] < losses[1] - 0.01


def test_families_of_judges_share_what_they_like() -> None:
    rng = np.random.default_rng(0)
    likes = rng.normal(0, 1.5, (2, 6))
    k, a = rng.integers(6, size=1800), rng.integers(6, size=1800)
    b = (a + rng.integers(1, 6, 1800)) % 6
    won = rng.random(1800) < expit(likes[k // 3, a] - likes[k // 3, b])
    names = {"judge": [f"j{j}" for j in k], "first": [f"i{i}" for i in a], "second": [f"i{i}" for i in b]}
    table = pd.DataFrame({**names, "winner": np.where(won, "first", "second")})
    families = {f"j{j}": "uv"[j // 3] for j in range(6)}
    found = voirdire.fit(table, terms="item + family:item", families=families, method="laplace")
    rows = found.terms().set_index("level")["value"]
    told = np.array([[rows[f"{family}, i{i}"] for i in range(6)] for family in "uv"])
    difference, truth = told[0] - told[1], likes[0] - likes[1]
    assert np.corrcoef(difference, truth)[0, 1] > 0.9
    assert not any("counts for" in note for note in found.notes)


@pytest.mark.parametrize("model", ["bt-sigma", "bt-sigma-position", "learned-bradley-terry", "maple-fixed-weights"])
def test_every_model_of_single_votes_takes_covariates(model: str) -> None:
    table = TABLE[TABLE["winner"] != "tie"].drop(columns="context")
    found = voirdire.fit(table, model=model, covariates="length", method="map")
    assert 0.25 * TRUTH["length"][0] < found.covariates()["effect"].item() < 1.5 * TRUTH["length"][0]


def test_a_term_of_a_model_file_has_the_scale_that_it_says(tmp_path: Path) -> None:
    from voirdire.model import specification_folder

    text = (specification_folder("models") / "crowd-bt-position.toml").read_text()
    path = tmp_path / "one.toml"
    path.write_text(text.replace('"crowd-bt-position"', '"one"') + '\n[[term]]\nfactors = "item:category"\nsd = 0.5\n')
    found = voirdire.fit(TABLE, model=path, method="map")
    assert set(found.terms()["term"]) == {"item:category"}
    path.write_text(path.read_text().removesuffix("sd = 0.5\n"))
    with pytest.raises(InputError, match="learns no spreads; give sd"):
        voirdire.fit(TABLE, model=path, method="map")


@pytest.mark.slow
@pytest.mark.long
def test_intervals_of_planted_effects_hold_what_they_say(covered: Any) -> None:
    """40 tables: shares within .87 and .93 of 90%, as far as that many can tell."""
    hits: dict[str, list[np.ndarray]] = {}
    for seed in range(40):
        table, families, truth = panel(seed)
        fit = voirdire.fit(table, terms=SUM, method="laplace", seed=seed, **families)
        for name, inside in covered(fit, truth).items():
            hits.setdefault(name, []).append(inside)
    for name, tables in hits.items():
        share = np.array([inside.mean() for inside in tables])
        error = share.std(ddof=1) / len(share) ** 0.5
        assert abs(share.mean() - PROB) < max(0.03, 3.0 * error), (name, share.mean(), error)


@pytest.mark.long
@pytest.mark.slow
def test_next_takes_terms(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from voirdire.cli import app

    TABLE.head(200).to_csv(tmp_path / "votes.csv", index=False)
    words = ["next", str(tmp_path / "votes.csv"), "--terms", "item + item:category", "--count", "2", "--json"]
    done = CliRunner().invoke(app, words, prog_name="voirdire")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["model"] == "item + item:category"
    assert len(found["comparisons"]) == 2
