"""Terms beside those of a model of scores: covariates, own families, columns, time; shown, saved, refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.errors import InputError
from voirdire.kinds import ScoresProblem
from voirdire.settings import PROB

CUTS = np.array([-1.5, -0.5, 0.5, 1.5])
FAMILY = list("aabbcd")
SUM = "item + length + judge:length + own-family + judge:own-family + judge:time + item:category"
PERIODS = 5


def panel(seed: int, runs: int = 4, items: int = 20) -> tuple[pd.DataFrame, dict[str, Any], dict[str, Any]]:
    """Scores from 1 to 5 with a length in each row, its families, and what stands behind them."""
    rng = np.random.default_rng(seed)
    judges = len(FAMILY)
    of_item = rng.choice(list("abcd"), items)
    worth, severity = rng.normal(0, 1.2, items), rng.normal(0, 0.6, judges)
    slope, own = rng.normal(0, 0.8), rng.normal(0.5, 0.5)
    slopes, owns = slope + rng.normal(0, 0.3, judges), own + rng.normal(0, 0.4, judges)
    drift = np.cumsum(rng.normal(0, 0.4, (judges, PERIODS)) * (np.arange(PERIODS) > 0), axis=1)
    category = rng.normal(0, 0.5, (items, 3))
    k, i, _ = (part.ravel() for part in np.indices((judges, items, runs)))
    time, length, which = (rng.integers(PERIODS, size=len(k)), rng.normal(size=len(k)), rng.integers(3, size=len(k)))
    seen = worth[i] - severity[k] + slopes[k] * length + owns[k] * (of_item[i] == np.array(FAMILY)[k])
    seen = seen + drift[k, time] + category[i, which] + rng.logistic(size=len(k))
    table = pd.DataFrame(
        {
            "judge": [f"j{one}" for one in k],
            "item": [f"i{one:02}" for one in i],
            "score": 1 + (seen[:, None] > CUTS).sum(axis=1),
            "length": 100 + 50 * length,
            "time": time,
            "category": np.array(list("xyz"))[which],
        }
    )
    unit = length.std()
    share = np.bincount(time, minlength=PERIODS) / len(time)
    truth = {
        "length": [slope * unit],
        "judge:length": (slopes - slope) * unit,
        "own-family": np.array([own, *owns]),
        "judge:time": (drift - (drift @ share)[:, None]).ravel(),
        "item:category": category.ravel(),
        "items": worth - worth.mean(),
    }
    families = {
        "families": {f"j{k}": name for k, name in enumerate(FAMILY)},
        "item_families": {f"i{i:02}": name for i, name in enumerate(of_item)},
    }
    return table, families, truth


TABLE, FAMILIES, TRUTH = panel(0)


@pytest.fixture(scope="module")
def fit() -> Any:
    return voirdire.fit(TABLE, terms=SUM, method="laplace", **FAMILIES)


def test_every_term_is_estimated_and_shown(fit: Any, covered: Any) -> None:
    assert fit.model.name == SUM
    assert "Column category is taken as names." in fit.notes
    found = fit.as_dict()
    assert [row["name"] for row in found["covariates"]] == ["length", "own-family"]
    assert found["covariates"][0]["unit"] == pytest.approx(TABLE["length"].std(ddof=0))
    assert {row["name"] for row in found["spreads"]} == {
        "item", "judge:length", "judge:own-family", "judge:time", "item:category",
    }  # fmt: skip
    assert [row["level"] for row in found["terms"] if row["term"] == "judge:time"][:2] == [
        "j0, period 1: from 0",
        "j0, period 2: from 1",
    ]
    assert fit.covariates()["name"].tolist() == ["length", "own-family"]
    assert fit.own_family()["judge"].tolist()[1:] == sorted(FAMILIES["families"])
    assert len(fit.terms()) == len(found["terms"])
    assert np.concatenate(list(covered(fit, TRUTH).values())).mean() > 0.7


def test_periods_are_named_by_their_dates(tmp_path: Any) -> None:
    """Also where the fit was saved and read."""
    days = pd.Timestamp("2026-01-31") + pd.to_timedelta(TABLE["time"] * 12, unit="h")
    dated = TABLE.assign(time=days.dt.strftime("%Y-%m-%dT%H:%M:%S"))
    fitted = voirdire.fit(dated, terms="item + judge:time", method="map")
    found = fitted.terms()["level"].tolist()
    assert found[:2] == ["j0, period 1: from 2026-01-31", "j0, period 2: from 2026-01-31T12:00:00"]
    assert voirdire.load(fitted.save(tmp_path / "run")).terms()["level"].tolist() == found


@pytest.mark.parametrize("people", [False, True])
def test_the_field_and_the_density_say_the_same(people: bool) -> None:
    """Of values at random; judges without a family, and people, have no level of some factors."""
    asked = {"terms": f"{SUM} + family:length + family:category", **FAMILIES}
    if people:
        asked["anchors"] = TABLE[["item", "score"]].groupby("item", as_index=False)["score"].median().round()
    problem: ScoresProblem = voirdire.fit(TABLE, method="map", anchor_mode="joint" if people else None, **asked).problem
    density, rng = problem.density, np.random.default_rng(0)
    field = density.latent_model(problem.data)
    apart = []
    for _ in range(20):
        latent, hyper = rng.normal(size=field.size), rng.normal(-1, 0.3, len(field.hypers))
        flat = field.flat(latent, hyper)
        likelihood = field.answers.log_likelihood(field.predictors(latent, hyper), np)
        apart.append(float(likelihood - density.log_likelihood(density.values(flat, np), problem.data, np)))
    np.testing.assert_allclose(apart, 0.0, atol=1e-6)


def test_covariates_and_families_are_terms_of_the_default_model() -> None:
    items = TABLE.groupby("item", as_index=False)["length"].mean()
    table = TABLE[["judge", "item", "score"]]
    found = voirdire.fit(table, covariates=items, method="map", **FAMILIES)
    assert found.model.name == "rating-families"
    names = [row.words for row in found.model.terms]
    assert names == ["length", "own-family", "judge:length", "judge:own-family"]
    left = voirdire.fit(table, method="map", without_own_family=True, **FAMILIES)
    own = sum(FAMILIES["families"][k] == FAMILIES["item_families"][i] for k, i in table[["judge", "item"]].to_numpy())
    assert any(f"{own:,} of {len(table):,} scores" in note for note in left.notes)
    assert left.problem.table.rows == len(table) - own
    by = voirdire.fit(TABLE, by="category", method="map")
    assert [row.words for row in by.model.terms] == ["item:category"]


def test_the_order_of_names_in_a_term_says_nothing() -> None:
    one, other = (
        voirdire.fit(TABLE, terms=f"item + own-family + {term}", method="map", **FAMILIES).own_family()["effect"]
        for term in ("judge:own-family", "own-family:judge")
    )
    np.testing.assert_allclose(one, other, atol=1e-9)
    assert len(set(one[1:])) > 1


def test_the_card_says_what_the_terms_are(fit: Any) -> None:
    said = fit.model.equation.splitlines()
    assert said[-2].startswith("here without ")
    assert said[-1].startswith(
        "eta has more: length ~ Normal(0, 1.5) * length; judge:length, s ~ Exponential(2) * length"
    )


def test_a_saved_fit_has_its_terms(fit: Any, tmp_path: Path) -> None:
    fit.save(tmp_path / "fit")
    again = voirdire.load(tmp_path / "fit")
    assert json.dumps(again.as_dict()) == json.dumps(fit.as_dict())
    assert again.model.terms == fit.model.terms
    with pytest.raises(InputError, match="fit old and new ones together"):
        again.update(TABLE.head(5))


def test_predictions_are_of_mean_numbers_and_any_level(fit: Any) -> None:
    with pytest.warns(UserWarning, match="Answers are predicted on average over"):
        found = fit.predict(TABLE[["judge", "item", "score"]].head(7))
    np.testing.assert_allclose(found.filter(regex="^p_").sum(axis=1), 1.0)
    table = voirdire.cross_validate(TABLE, ["rating-contexts"], folds=2, covariates="length")
    plain = voirdire.cross_validate(TABLE, ["rating-contexts"], folds=2)
    assert table["log_loss"][0] < plain["log_loss"][0] - 0.01


def test_a_fit_without_terms_says_what_it_would_need() -> None:
    fit = voirdire.fit(TABLE, method="map")
    for name in ("covariates", "own_family", "terms"):
        with pytest.raises(InputError, match="needs fit"):
            getattr(fit, name)()


def test_a_model_file_has_terms(tmp_path: Path) -> None:
    text = (Path(voirdire.__file__).parents[2] / "models" / "rating-contexts.toml").read_text()
    file = tmp_path / "own.toml"
    file.write_text(text + '\n[[term]]\nfactors = "judge:time"\nrate = 4.0\n')
    fit = voirdire.fit(TABLE, model=str(file), method="map")
    (rate,) = (p.prior.rate for p in fit.problem.density.parameters if p.name == "log_judge:time_spread")
    assert rate == 4.0
    file.write_text(text + '\n[[term]]\nfactors = "judge:judge"\nrat = 4.0\nsd = -1\n')
    with pytest.raises(InputError) as wrong:
        voirdire.fit(TABLE, model=str(file), method="map")
    said = str(wrong.value)
    assert "'judge' is named twice" in said
    assert "no key 'rat'" in said
    assert "sd must be positive, not -1" in said


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"terms": "judge + time"}, "no term item"),
        ({"terms": "item + "}, "a name is missing"),
        ({"terms": "item + judge:item + item:judge"}, "item:judge occurs twice"),
        ({"terms": "item + item:context"}, "the table has no column context"),
        ({"terms": "item + judge:lenght"}, "did you mean 'length'"),
        ({"terms": "item + length:time"}, "has several numbers"),
        ({"terms": "item + length + twice"}, "'length', 'twice' are collinear"),
        (
            {"terms": "item", "covariates": "length"},
            r"'length' is given \(covariates=, --covariates\), and no term names it",
        ),
        ({"terms": "item", "model": "rating-halo"}, "replaces a model"),
        ({"covariates": "length", "model": "rating-severity"}, "takes no added terms"),
        ({"covariates": pd.DataFrame({"item": ["i00"], "length": [1]})}, "no row of item 'i01'"),
        ({"item_families": {"i00": "a"}}, "needs families="),
    ],
)
def test_what_cannot_be_a_term_is_refused(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        voirdire.fit(TABLE.assign(twice=2 * TABLE["length"]), method="map", **asked)


def test_scores_between_levels_have_effects_in_points() -> None:
    """Twice the scale, twice the points: 0.2 points more of five for each unit of length."""
    rng = np.random.default_rng(5)
    table = TABLE.assign(score=np.clip(3 + 0.4 * (TABLE["score"] - 3) + rng.normal(0, 0.3, len(TABLE)), 0, 6))
    table["score"] += 0.2 * (table["length"] - table["length"].mean())
    fits = [
        voirdire.fit(table.assign(score=times * table["score"]), covariates="length", method="laplace")
        for times in (1.0, 2.0)
    ]
    one, twice = (fit.covariates().iloc[0] for fit in fits)
    assert one["low"] < 0.2 * one["unit"] < one["high"]
    assert twice["effect"] == pytest.approx(2 * one["effect"], rel=0.02)
    one, twice = (fit.spreads().set_index("name")["value"] for fit in fits)
    np.testing.assert_allclose(twice, 2 * one, rtol=0.02)
    told = voirdire.fit(table, terms="item + judge:item + judge:time + length", method="map")
    assert set(told.terms()["term"]) == {"judge:time"}
    assert told.judges()["variance_judge_item"].gt(0).all()
    with pytest.raises(InputError, match="takes no added terms"):
        voirdire.fit(table, model="mean-score", covariates="length", method="map")


def test_labels_take_no_terms() -> None:
    labels = TABLE.rename(columns={"score": "label"})
    with pytest.raises(InputError, match="not for tables of labels"):
        voirdire.fit(labels, terms="item", method="map")


def test_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    TABLE.to_csv(file, index=False)
    run = CliRunner().invoke(app, ["fit", str(file), "--terms", "item + length + judge:time", "--method", "map"])
    assert run.exit_code == 0, run.output
    assert "Held fixed" in run.output
    assert "judge:time" in run.output
    run = CliRunner().invoke(app, ["fit", str(file), "--covariates", "length", "--quick", "--json"])
    assert json.loads(run.output)["covariates"][0]["name"] == "length"


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
