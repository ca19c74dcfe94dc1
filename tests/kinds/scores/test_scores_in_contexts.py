"""Scores of the same items in several contexts: what is fitted, shown, predicted, saved and refused."""

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
from voirdire.kinds import Request
from voirdire.kinds.scores.kind import SCORES
from voirdire.model import load_model
from voirdire.tables import read_scores

CUTS = np.array([-2.2, -0.7, 0.7, 2.2])


def panel(
    seed: int, judges: int = 4, items: int = 10, contexts: int = 6, spread: float = 1.0, freedom: float = np.inf
) -> tuple[pd.DataFrame, Any, Any]:
    """Scores from 1 to 5, and what items are worth over contexts like these and over these alone (sums of zero).

    What an item is worth more in a context has standard deviation ``spread``, and so many degrees of ``freedom``.
    """
    rng = np.random.default_rng(seed)
    worth, severity = rng.normal(0, 1, items), rng.normal(0, 0.5, judges)
    here = rng.normal(0, 1, (items, contexts))
    if np.isfinite(freedom):
        here = rng.standard_t(freedom, (items, contexts)) / np.sqrt(freedom / (freedom - 2))
    here = spread * here
    k, x, i = (part.ravel() for part in np.indices((judges, contexts, items)))
    seen = worth[i] + here[i, x] - severity[k] + rng.logistic(size=len(k))
    table = pd.DataFrame(
        {
            "judge": [f"j{one}" for one in k],
            "context": [f"c{one}" for one in x],
            "item": [f"i{one:02}" for one in i],
            "score": 1 + (seen[:, None] > CUTS).sum(axis=1),
        }
    )
    these = worth + here.mean(axis=1)
    return table, worth - worth.mean(), these - these.mean()


TABLE, WORTH, THESE = panel(0)


@pytest.fixture(scope="module")
def fit() -> Any:
    return voirdire.fit(TABLE, method="laplace")


@pytest.fixture(scope="module")
def mode() -> Any:
    return voirdire.fit(TABLE, method="map")


@pytest.mark.slow
def test_items_in_several_contexts_get_a_term_of_their_own(fit: Any, tmp_path: Path) -> None:
    assert fit.model.name == "rating-contexts"
    assert "the same items in several contexts" in fit.notes[0]
    assert any("Scores are over contexts like these: over='these'" in note for note in fit.notes)
    spreads = fit.spreads().set_index("name")
    assert list(spreads.index) == ["item", "context", "taste"]
    assert spreads.loc["context", "low"] < 1.0 < spreads.loc["context", "high"]
    found = fit.as_dict()
    assert found["over"] == "new"
    assert [row["name"] for row in found["spreads"]] == list(spreads.index)
    contexts = fit.contexts()
    assert len(contexts) == 6 * 10
    np.testing.assert_allclose(contexts.groupby("context")["p_best"].sum(), 1.0)
    np.testing.assert_allclose(contexts.groupby("context")["strength"].sum(), 0.0, atol=0.5)  # medians
    checks = fit.checks().set_index("check")["level"]
    assert "missing-terms" not in checks
    # the few chains of a trial of the approximation warn of it at a quarter of the seeds
    assert (checks.drop("approximation", errors="ignore") == "ok").all()
    assert fit.board()["verdict"]
    assert fit.report(tmp_path / "fit.html").stat().st_size > 10_000


def test_scores_are_over_other_contexts_or_over_these(fit: Any, mode: Any) -> None:
    these = voirdire.fit(TABLE, method="map", over="these")
    assert these.as_dict()["over"] == "these"
    by_context = mode.contexts().groupby("item")["strength"].mean()
    np.testing.assert_allclose(
        these.ranking().set_index("item")["score"].sort_index(), by_context.sort_index(), atol=1e-9
    )
    narrow = voirdire.fit(TABLE, method="laplace", over="these").ranking()["sd"].mean()
    assert narrow < 0.95 * fit.ranking()["sd"].mean()
    with pytest.raises(InputError, match="or of items in several contexts by rating-contexts"):
        voirdire.fit(TABLE, model="rating-severity", over="these", method="map")


@pytest.mark.parametrize(
    ("change", "model", "said"),
    [
        (lambda t: t.drop(columns="context").drop_duplicates(["judge", "item"]), "rating-learned", None),
        (lambda t: t.assign(context=[f"c{n}" for n in range(len(t))]), "rating-learned", "fewer than two each"),
        (
            lambda t: t[(t["context"] == "c0") | (t["item"] < "i05")],
            "rating-learned",
            "contexts are left out: 5 of 10 items are scored in several of them",
        ),
        (lambda t: t.assign(score=t["score"] + 0.5), "rating-continuous-contexts", None),
        (
            lambda t: t[t["judge"] == t["judge"].iloc[0]].assign(score=t["score"] + 0.5),
            "rating-continuous",
            "contexts are left out: most items have one score in a context",
        ),
        (lambda t: pd.concat([t, t]), "rating-contexts", None),  # twice in each context
    ],
)
def test_the_columns_choose_the_model(change: Any, model: str, said: str | None) -> None:
    table = read_scores(change(TABLE))
    found, why = SCORES.default_model(table, Request())
    assert load_model(found).name == model
    assert said is None or said in why


@pytest.mark.parametrize(
    ("judges", "items", "contexts", "model"),
    [
        (3, 1500, 12, "rating-severity"),
        (2, 15, 1200, "rating-learned"),  # what judges make of items is then over contexts
        (61, 100, 10, "rating-severity"),
    ],
)
def test_a_default_ends_within_minutes(judges: int, items: int, contexts: int, model: str) -> None:
    found, why = SCORES.default_model(read_scores(panel(0, judges, items, contexts)[0]), Request())
    assert load_model(found).name == model
    assert "would take many minutes" in why


def test_what_a_table_cannot_tell_is_left_out() -> None:
    alone = voirdire.fit(TABLE[TABLE["judge"] == "j0"], method="map")
    assert alone.spreads()["name"].tolist() == ["item", "context"]  # one judge's taste is no other thing than the item
    apart = TABLE.assign(judge=TABLE["judge"] + TABLE["context"])
    assert voirdire.fit(apart, method="map").spreads()["name"].tolist() == ["item", "context"]
    one = voirdire.fit(TABLE[TABLE["context"] == "c0"], model="rating-contexts", method="map")
    assert any("is fitted without contexts: no item is scored in two contexts" in note for note in one.notes)
    with pytest.raises(InputError, match="contexts need items that are in several contexts; in these scores none"):
        one.contexts()
    halo = voirdire.fit(TABLE[TABLE["context"] == "c0"], model="rating-halo", method="map")
    np.testing.assert_allclose(one.ranking()["score"], halo.ranking()["score"], atol=1e-6)


def chances_by_hand(fit: Any, judge: int, item: int, context: int | None) -> Any:
    """Probability of each level at the mode; of any other context by many draws of what it adds."""
    values = fit.posterior.central_values
    eta = values["strength"][0, item] + values["taste"][judge, item] - values["severity"][judge]
    gaps = np.append(0.0, np.cumsum(np.exp(values["log_gap"][0])))
    cuts = values["cut_location"][0] + gaps - gaps[-1] / 2
    if context is None:
        more = np.exp(values["log_context_spread"]) * np.random.default_rng(0).normal(size=400_000)
    else:
        more = values["context_strength"][0, item, context]
    above = 1 / (1 + np.exp(cuts[:, None] - np.atleast_1d(eta + more)))
    return -np.diff(np.concatenate([[1.0], above.mean(axis=1), [0.0]]))


def test_predictions_know_contexts_and_average_over_others(fit: Any, mode: Any) -> None:
    asked = pd.DataFrame({"judge": ["j1", "j1"], "item": "i03", "context": ["c2", "another"], "score": 1})
    with pytest.warns(UserWarning, match="The fit has no context"):
        found = mode.predict(asked).filter(like="p_").to_numpy()
    np.testing.assert_allclose(found[0], chances_by_hand(mode, 1, 3, 2), atol=1e-12)
    np.testing.assert_allclose(found[1], chances_by_hand(mode, 1, 3, None), atol=2e-3)
    without = mode.predict(asked.drop(columns="context").head(1)).filter(like="p_").to_numpy()
    np.testing.assert_allclose(without[0], found[1])
    with pytest.warns(UserWarning, match="The fit has no context"):
        np.testing.assert_allclose(fit.predict(asked).filter(like="p_").sum(axis=1), 1.0)


def test_verbs_know_contexts(fit: Any, tmp_path: Path) -> None:
    again = voirdire.load(fit.save(tmp_path / "run"))
    pd.testing.assert_frame_equal(again.ranking(), fit.ranking())
    pd.testing.assert_frame_equal(again.contexts(), fit.contexts())
    first = voirdire.fit(TABLE[TABLE["context"] < "c3"], method="map")
    added = first.update(TABLE[TABLE["context"] >= "c3"])
    whole = voirdire.fit(TABLE, method="map")
    np.testing.assert_allclose(added.ranking()["score"], whole.ranking()["score"], atol=0.005)  # .01 sd
    with pytest.raises(InputError, match="new scores: column 'context' is missing"):
        first.update(TABLE.drop(columns="context"))
    assert len(fit.bootstrap(resamples=20)) == 10
    log = fit.idata.log_likelihood
    assert log[next(iter(log.data_vars))].shape[-1] == len(TABLE)


def test_scores_are_drawn_as_often_as_they_are_expected(mode: Any) -> None:
    problem, values, rng, count = mode.problem, mode.posterior.central_values, np.random.default_rng(1), 400
    drawn = np.mean([SCORES.draw(problem, values, rng).score for _ in range(count)], axis=0)
    expected = mode.predict(TABLE)["expected"].to_numpy()
    assert np.abs(drawn - expected).max() < 5 * 2.0 / np.sqrt(count)


def test_copies_of_a_judge_are_found_beside_contexts(fit: Any) -> None:
    copies = pd.concat([TABLE, TABLE[TABLE["judge"] == "j0"].assign(judge="j9")])
    checks = voirdire.fit(copies, method="laplace", families={}).checks().set_index("check")
    assert checks.loc["dependence", "level"] == "warn"
    assert "j9" in checks.loc["dependence", "message"]


@pytest.mark.slow
def test_contexts_are_held_out_whole() -> None:
    found = voirdire.cross_validate(TABLE, ["rating-contexts", "rating-severity"], by=["context"], folds=3)
    assert np.isfinite(found["log_loss"]).all()
    assert found.set_index("model").loc["rating-contexts", "log_loss"] < np.log(5)
    apart = panel(1, judges=6, spread=2.0)[0]
    known = voirdire.cross_validate(apart, folds=2)
    assert set(known["model"]) >= {"rating-contexts", "rating-halo", "rating-severity"}
    assert known.iloc[0]["model"] == "rating-contexts"
    assert known.iloc[1]["difference"] > 3 * known.iloc[1]["difference_se"]


def people(contexts: list[str] | None) -> pd.DataFrame:
    """Two human scores of an item that the judges score low in the first context and high elsewhere."""
    said = pd.DataFrame({"item": ["i00", "i00", "i01", "i02"], "score": [5, 5, 1, 2]})
    return said if contexts is None else said.assign(context=contexts)


def test_people_score_items_in_contexts_or_over_them() -> None:
    """The density of human scores is the equation's, and the field's, whether they name a context or not."""
    for contexts in (None, ["c1", "c1", "c2", "c0"]):
        fitted = voirdire.fit(TABLE, anchors=people(contexts), method="map")
        assert fitted.model.name == "rating-contexts"
        problem, rng = fitted.problem, np.random.default_rng(1)
        density, data = problem.density, problem.data
        values = density.values(rng.normal(0, 0.5, density.size), np)
        expected = 0.0
        for row in people(contexts).itertuples():
            i = problem.items.index(row.item)
            eta = values["strength"][0, i] - values["severity_people"][0]
            eta += 0.0 if contexts is None else values["context_strength"][0, i, int(row.context[1])]
            gaps = np.append(0.0, np.cumsum(np.exp(values["log_gap"][0])))
            cuts = values["cut_location"][0] + gaps - gaps[-1] / 2
            above = np.concatenate([[1.0], 1 / (1 + np.exp(cuts - eta)), [0.0]])
            expected += np.log(above[row.score - 1] - above[row.score])
        assert float(density.log_people_likelihood(values, data, np)) == pytest.approx(expected, rel=1e-10)
        field = density.latent_model(data)
        latent, hyper = 0.3 * rng.normal(size=field.size), rng.normal(-1.0, 0.3, len(field.hypers))
        of = density.log_likelihood(density.values(field.flat(latent, hyper), np), data, np)
        assert float(field.answers.value_gradient(field.predictors(latent, hyper))[0]) == pytest.approx(
            float(of), rel=1e-10
        )


def test_people_in_contexts_that_no_judge_has_seen_are_said(tmp_path: Path) -> None:
    fitted = voirdire.fit(TABLE, anchors=people(["c1", "nowhere", "c2", "c0"]), method="map")
    assert fitted.people()["scores"].sum() == 3
    assert any("1 anchor is in a context that no judge has scored ('nowhere')" in note for note in fitted.notes)
    again = voirdire.load(fitted.save(tmp_path / "run"))
    pd.testing.assert_frame_equal(again.ranking(), fitted.ranking())
    with pytest.raises(InputError, match="anchors: all 4 anchors are in contexts that no judge has scored"):
        voirdire.fit(TABLE, anchors=people(["d1", "d2", "d3", "d4"]), method="map")


def test_a_model_file_with_contexts_must_learn_spreads(tmp_path: Path) -> None:
    from voirdire.model import specification_folder

    text = (specification_folder("models") / "rating-discrimination.toml").read_text()
    path = tmp_path / "mine.toml"
    path.write_text(text + '\n[context]\nkind = "item-context"\nrate = 1.0\n')
    with pytest.raises(InputError, match=r"\[context\] is for models that learn spreads"):
        voirdire.fit(TABLE, model=str(path), method="map")


@pytest.mark.slow
def test_scores_between_levels_have_contexts_too() -> None:
    """In points: what items are worth in contexts, over these, and what is predicted in any other."""
    rng = np.random.default_rng(3)
    item, context, judge = (part.ravel() for part in np.indices((5, 12, 3)))
    worth, more = np.linspace(25, 45, 5), rng.normal(0, 6, (5, 12))
    score = worth[item] + more[item, context] + rng.normal(0, 4, item.size)
    rows = {"item": [f"i{i}" for i in item], "context": [f"x{x:02d}" for x in context]}
    table = pd.DataFrame({**rows, "judge": [f"j{k}" for k in judge], "score": score})
    found = voirdire.fit(table, levels=[0, 100], seed=1)
    assert found.model.name == "rating-continuous-contexts"
    assert 4.5 < found.spreads().set_index("name").loc["context", "value"] < 8.0
    there = found.contexts().pivot(index="item", columns="context", values="strength").to_numpy()
    truth = worth[:, None] + more
    assert np.corrcoef(there.ravel(), (truth - truth.mean(axis=0)).ravel())[0, 1] > 0.9
    known = table.drop_duplicates(["item", "context"]).head(1)
    here, elsewhere = (float(found.predict(rows)["expected"][0]) for rows in (known, known.drop(columns="context")))
    over = found.ranking().set_index("item").loc["i0", "score"]
    assert abs(elsewhere - over) < 1.0  # by a judge that is neither severe nor lenient
    assert abs(here - (worth[0] + more[0, 0])) < 5.0
    these = voirdire.fit(table, levels=[0, 100], seed=1, over="these")
    assert these.ranking()["sd"].mean() < 0.8 * found.ranking()["sd"].mean()
    means = table.groupby("item")["score"].mean()
    ranked = these.ranking().set_index("item").loc[means.index]
    assert ((ranked["low"] < means) & (means < ranked["high"])).all()


def test_terms_of_contexts_and_tastes_go_without_those_of_items_in_contexts() -> None:
    rng = np.random.default_rng(1)
    item, context, judge = (part.ravel() for part in np.indices((4, 20, 3)))
    score = 5 + item + rng.normal(0, 1.0, (3, 4))[judge, item] + rng.normal(0, 0.5, item.size)
    rows = {"item": [f"i{i}" for i in item], "context": [f"x{x}" for x in context]}
    table = pd.DataFrame({**rows, "judge": [f"j{k}" for k in judge], "score": score})
    plain, tasted = (
        voirdire.fit(table, terms=terms, method="laplace") for terms in ("item + context", "item + judge:item")
    )
    assert plain.spreads()["name"].tolist() == ["item", "effect:context"]
    assert tasted.spreads()["name"].tolist() == ["item"]
    assert tasted.judges()["variance_judge_item"].gt(0).all()
    assert tasted.ranking()["sd"].mean() > 3 * plain.ranking()["sd"].mean()
    whole = voirdire.fit(table.assign(score=table["score"].round().clip(1, 9)), terms="item + context", method="map")
    assert "context" in set(whole.terms()["term"])
    with pytest.raises(InputError, match="judge:item cannot be estimated from these data: there is one judge"):
        voirdire.fit(table[table["judge"] == "j0"], terms="item + judge:item", method="map")


def test_judges_of_scores_between_levels_in_contexts_are_independent_unless_copies() -> None:
    rng = np.random.default_rng(4)
    item, context, judge = (part.ravel() for part in np.indices((5, 20, 4)))
    score = 5 + item + rng.normal(0, 0.5, (4, 5))[judge, item] + rng.normal(0, 1.0, item.size)
    rows = {"item": [f"i{i}" for i in item], "context": [f"x{x}" for x in context]}
    table = pd.DataFrame({**rows, "judge": [f"j{k}" for k in judge], "score": score})
    copy = table[table["judge"] == "j0"].assign(judge="copy")
    copy["score"] += rng.normal(0, 0.1, len(copy))

    def independence(scores: pd.DataFrame) -> dict[str, float]:
        found = voirdire.audit(scores)["judges"]
        measures = {one["judge"]: {m["measure"]: m["value"] for m in one["measures"]} for one in found}
        return {judge: of["independence"] for judge, of in measures.items()}

    assert min(independence(table).values()) > 0.6
    beside = independence(pd.concat([table, copy]))
    assert max(beside["j0"], beside["copy"]) < 0.2
    assert beside["j2"] > 0.6


def test_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    TABLE.to_csv(path, index=False)

    def ran(*words: Any) -> Any:
        done = CliRunner().invoke(app, [str(word) for word in words])
        assert done.exit_code == 0, done.output
        return done

    found = json.loads(ran("fit", path, "--method", "map", "--json", "--contexts", "--over", "these").stdout)
    assert (found["model"], found["over"], len(found["contexts"])) == ("rating-contexts", "these", 60)
    assert "240 scores" in ran("fit", path, "--method", "map").stdout
    out = tmp_path / "run"
    alone = [str(path), "--model", "rating-severity", "--json", "--contexts", "--out", str(out)]
    refused = CliRunner().invoke(app, ["fit", *alone])
    assert refused.exit_code == 1
    assert "contexts need a model with contexts" in refused.stderr
    assert not out.exists()


def held(seeds: range, model: str | None = None, **truth: Any) -> float:
    """Share of items whose worth over contexts like these is in its 90% interval."""
    found = []
    for seed in seeds:
        table, worth, _ = panel(seed, **truth)
        shown = voirdire.fit(table, model=model, method="laplace").ranking().set_index("item").sort_index()
        found.append((shown["low"] <= worth) & (worth <= shown["high"]))
    return float(np.mean(found))


@pytest.mark.slow
def test_intervals_hold_what_items_are_worth_over_contexts_like_these() -> None:
    """Of 40 items 90%; three standard errors, .047 each were they independent."""
    assert held(range(4)) > 0.9 - 3 * 0.047


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(
    ("truth", "tables", "error"), [({}, 80, 0.015), ({"freedom": 3.0}, 40, 0.02), ({"spread": 0.0}, 40, 0.02)]
)
def test_intervals_hold_whatever_contexts_do(truth: dict[str, Any], tables: int, error: float) -> None:
    """Within three standard errors of 90%, between tables; of normal contexts .866, of heavy tails .90, of none .92."""
    share = held(range(tables), **truth)
    print(truth, share)
    assert abs(share - 0.9) <= 3 * error


@pytest.mark.long
@pytest.mark.slow
def test_a_model_without_contexts_is_too_sure() -> None:
    """Negative control, of many judges in few contexts: what the term is there for."""
    tables, truth = range(8), {"judges": 8, "contexts": 3, "spread": 1.5}
    shares = held(tables, **truth), held(tables, "rating-severity", **truth)
    print(shares)
    assert shares[0] > 0.8 > 0.7 > shares[1]
