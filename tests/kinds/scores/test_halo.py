"""Scores under several criteria: judges' tastes for items, and intervals that know them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire


def panel(
    seed: int, taste: float, judges: int = 6, items: int = 12, criteria: int = 4, general: float = 0.7
) -> pd.DataFrame:
    """Scores of items that are worth the same under all criteria by a share of ``general``^2."""
    rng = np.random.default_rng(seed)
    strength, own = rng.standard_normal((criteria, items)), taste * rng.standard_normal((judges, items))
    strength = general * rng.standard_normal(items) + np.sqrt(1 - general**2) * strength
    severity = 0.5 * rng.standard_normal(judges)
    k, c, i = (part.ravel() for part in np.indices((judges, criteria, items)))
    seen = strength[c, i] + own[k, i] - severity[k] + rng.logistic(size=len(k))
    level = (seen[:, None] > np.linspace(-2, 2, 4)).sum(axis=1)
    table = {"judge": [f"j{x}" for x in k], "criterion": [f"c{x}" for x in c], "item": [f"i{x:02d}" for x in i]}
    return pd.DataFrame(table).assign(score=level + 1, truth=strength.mean(axis=0)[i])


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return panel(3, 1.5)


@pytest.mark.slow
def test_tables_with_several_criteria_get_tastes(table: pd.DataFrame) -> None:
    fitted = voirdire.fit(table.drop(columns="truth"))
    assert fitted.model.name == "rating-halo"
    spreads = fitted.spreads().set_index("name")
    assert list(spreads.index) == ["item:c0", "item:c1", "item:c2", "item:c3", "general", "taste"]
    assert 1.0 < spreads.loc["taste", "low"] < spreads.loc["taste", "value"] < spreads.loc["taste", "high"] < 3.0
    assert [row["name"] for row in fitted.as_dict()["spreads"]] == list(spreads.index)


@pytest.mark.slow
def test_an_opinion_that_is_asked_four_times_counts_little_more_than_once(table: pd.DataFrame) -> None:
    rows = table.drop(columns="truth")
    wide, narrow = (
        voirdire.fit(rows, model=model, method="laplace").ranking().set_index("item")["sd"].mean()
        for model in ("rating-halo", "rating-severity")
    )
    assert wide > 1.4 * narrow


@pytest.mark.slow
def test_judges_without_tastes_lose_little() -> None:
    rows = panel(5, 0.0).drop(columns="truth")
    halo = voirdire.fit(rows, model="rating-halo", method="laplace")
    assert halo.spreads().set_index("name").loc["taste", "low"] < 0.4
    plain = voirdire.fit(rows, model="rating-severity", method="laplace").ranking().set_index("item")["sd"].mean()
    assert halo.ranking()["sd"].mean() < 1.1 * plain


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda t: t[t["criterion"] == "c0"], None),
        (lambda t: t[t["judge"] == "j0"], None),
        (lambda t: t[t["judge"].str[1:].astype(int) == t["item"].str[1:].astype(int) % 6], "most items have one judge"),
        (
            lambda t: t[t["criterion"].str[1:].astype(int) == t["item"].str[1:].astype(int) % 4],
            "under one criterion alone",
        ),
    ],
)
def test_tables_of_which_tastes_cannot_be_told_are_fitted_without(
    table: pd.DataFrame, change: object, why: str | None
) -> None:
    rows = change(table.drop(columns="truth"))  # type: ignore[operator]
    if why == "under one criterion alone":
        rows = pd.concat([rows, table.drop(columns="truth").query("item == 'i00'")]).drop_duplicates()
        rows = pd.concat([rows, table.drop(columns="truth").query("judge == 'j0'")]).drop_duplicates()
    fitted = voirdire.fit(rows, method="map")
    assert fitted.model.name == "rating-learned"
    if why is not None:
        assert any(why in note for note in fitted.notes)


def people_of(table: pd.DataFrame) -> pd.DataFrame:
    """One human score of the first six items under every criterion, of what they are worth on average."""
    rows = table.drop_duplicates(["item", "criterion"]).sort_values("item").head(24)
    seen = rows["truth"] + np.random.default_rng(0).logistic(size=len(rows))
    level = (seen.to_numpy()[:, None] > np.linspace(-2, 2, 4)).sum(axis=1)
    return rows[["item", "criterion"]].assign(score=level + 1)


def test_human_scores_leave_tastes_in(table: pd.DataFrame) -> None:
    fitted = voirdire.fit(table.drop(columns="truth"), anchors=people_of(table), method="map")
    assert fitted.model.name == "rating-halo"
    assert fitted.people()["scores"].sum() == 24
    assert "missing-terms" not in set(fitted.checks()["check"])


def test_human_scores_are_answers_of_the_field(table: pd.DataFrame) -> None:
    problem = voirdire.fit(table.drop(columns="truth"), anchors=people_of(table), method="map").problem
    density, data = problem.density, problem.data
    field, rng = density.latent_model(data), np.random.default_rng(1)
    latent, hyper = 0.3 * rng.normal(size=field.size), rng.normal(-1.0, 0.3, len(field.hypers))
    flat = field.flat(latent, hyper)
    expected = float(density.log_likelihood(density.values(flat, np), data, np))
    assert float(field.answers.value_gradient(field.predictors(latent, hyper))[0]) == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(field.flat(*field.latent(flat)), flat, atol=1e-10)


@pytest.mark.long
@pytest.mark.slow
def test_intervals_cover_beside_human_scores() -> None:
    """Without tastes they cover 0.7 of what items are worth."""
    covered, widths = [], {True: [], False: []}
    for seed in range(12):
        rows = panel(seed, 1.2, items=24)
        truth = rows.drop_duplicates("item").set_index("item")["truth"]
        for beside in (True, False):
            fitted = voirdire.fit(
                rows.drop(columns="truth"), anchors=people_of(rows) if beside else None, method="laplace"
            )
            found = fitted.ranking().set_index("item")
            widths[beside].append((found["high"] - found["low"]).mean())
            if beside:
                about = (truth - truth.mean()).reindex(found.index)
                covered.append(((found["low"] <= about) & (about <= found["high"])).mean())
    assert 0.85 < np.mean(covered) < 0.96
    assert np.mean(widths[True]) < np.mean(widths[False])


@pytest.mark.slow
def test_verbs_know_tastes(table: pd.DataFrame, tmp_path: object) -> None:
    rows = table.drop(columns="truth")
    fitted = voirdire.fit(rows.iloc[:-1], method="laplace")
    chance = fitted.predict(rows.tail(1))
    assert chance.filter(like="p_").to_numpy().sum() == pytest.approx(1.0)
    again = voirdire.load(fitted.save(tmp_path / "run"))  # type: ignore[operator]
    pd.testing.assert_frame_equal(again.ranking(), fitted.ranking())
    assert len(fitted.bootstrap(resamples=20)) == 12
    assert fitted.update(rows.tail(1)).problem.table.rows == len(rows)
    # a judge of strong tastes orders a typical pair as the panel does less often
    plain = voirdire.fit(rows, model="rating-severity", method="laplace").judges()["p_right"].mean()
    assert fitted.judges()["p_right"].mean() < plain


@pytest.mark.long
@pytest.mark.slow
def test_it_draws_what_nuts_draws() -> None:
    rows = panel(7, 1.0, judges=5).drop(columns="truth")
    laplace, nuts = (
        voirdire.fit(rows, model="rating-halo", method=method).ranking().set_index("item").sort_index()
        for method in ("laplace", "nuts")
    )
    apart = (laplace["score"] - nuts["score"]) / nuts["sd"]
    assert np.sqrt((apart**2).mean()) < 0.15
    assert (laplace["sd"] / nuts["sd"]).mean() == pytest.approx(1.0, abs=0.1)


@pytest.mark.slow
def test_what_all_judges_see_is_no_taste() -> None:
    """Items that differ by all criteria alike keep their differences, whatever judges' tastes."""
    rows = panel(11, 1.0, general=1.0)
    found = voirdire.fit(rows.drop(columns="truth"), method="laplace")
    score = found.ranking().set_index("item")["score"]
    truth = rows.groupby("item")["truth"].first().loc[score.index]
    assert np.polyfit(truth, score, 1)[0] == pytest.approx(1.0, abs=0.35)
    spreads = found.spreads().set_index("name")["value"]
    assert spreads["general"] > 0.5
    assert spreads["taste"] < 1.7


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("taste", "general"), [(0.0, 0.7), (0.7, 1.0), (1.5, 0.0), (1.5, 0.7)])
def test_intervals_cover_whatever_the_taste(taste: float, general: float) -> None:
    """Twelve tables of twelve items, three standard errors; above 90% a little, where there is no taste to be found."""
    share = []
    for seed in range(12):
        rows = panel(100 + seed, taste, general=general)
        truth = rows.groupby("item")["truth"].first()
        found = voirdire.fit(rows.drop(columns="truth"), method="laplace").ranking().set_index("item").sort_index()
        share.append(((found["low"] <= truth - truth.mean()) & (truth - truth.mean() <= found["high"])).mean())
    error = max(3 * np.std(share, ddof=1) / np.sqrt(12), 0.03)
    assert 0.9 - error < np.mean(share) < 0.9 + max(error, 0.07)


@pytest.mark.slow
def test_opinions_that_were_not_seen_are_predicted_with_their_uncertainty(table: pd.DataFrame) -> None:
    rows = table.drop(columns="truth")
    found = voirdire.cross_validate(rows, ["rating-halo", "rating-severity"], by=("judge", "item"), folds=3)
    assert found.iloc[0]["model"] == "rating-halo"
    assert found.iloc[1]["difference"] > 0.0
