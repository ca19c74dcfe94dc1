"""What a judge makes of an item in all its runs is one opinion, whatever else a model of scores learns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.kinds import encode_scores
from voirdire.model import load_model
from voirdire.model.term_rows import parse_terms
from voirdire.model.terms.cutpoints import SharedCutpoints
from voirdire.model.terms.score_probabilities import normal_quadrature
from voirdire.tables import read_scores

JUDGES, ITEMS, RUNS = 4, 10, 3


def scores(seed: int = 0, criteria: int = 1, contexts: int = 1, *, between: bool = False) -> pd.DataFrame:
    """Judges with an opinion of each item under each criterion and in each context, the same in all runs."""
    rng = np.random.default_rng(seed)
    worth = rng.normal(0, 1, (criteria, ITEMS, contexts))
    own = rng.normal(0, 0.8, (JUDGES, criteria, ITEMS, contexts))
    k, c, i, x, run = (part.ravel() for part in np.indices((*own.shape, RUNS)))
    eta = worth[c, i, x] + own[k, c, i, x]
    level = (
        0.5 + 0.1 * eta + 0.05 * rng.normal(size=len(eta))
        if between
        else 1 + ((eta + rng.logistic(size=len(eta)))[:, None] > np.array([-1.5, 0.0, 1.5])).sum(axis=1)
    )
    rows: dict[str, Any] = {"judge": k, "item": i, "run": run, "score": level}
    rows |= {"criterion": c} if criteria > 1 else {}
    rows |= {"context": x} if contexts > 1 else {}
    table = pd.DataFrame(rows)
    names = [name for name in table if name != "score"]
    return table.assign(**{name: name[0] + table[name].astype(str) for name in names})


@pytest.mark.parametrize(
    ("shape", "between", "model", "of"),
    [
        ((1, 1), False, "rating-learned", ("judge", "criterion", "item")),
        ((2, 1), False, "rating-halo", ("judge", "criterion", "item")),
        ((1, 3), False, "rating-contexts", ("judge", "criterion", "item", "context")),
        ((2, 1), True, "rating-continuous-halo", ("judge", "criterion", "item")),
        ((1, 3), True, "rating-continuous-contexts", ("judge", "criterion", "item", "context")),
    ],
)
def test_defaults_keep_their_terms(shape: tuple[int, int], between: bool, model: str, of: tuple[str, ...]) -> None:
    fit = voirdire.fit(scores(0, *shape, between=between), method="map")
    assert fit.model.name == model
    assert not any("left out" in note for note in fit.notes)
    dims = {p.name: p.dims for p in fit.problem.density.parameters}
    assert dims["judge_item_effect"] == of
    assert fit.judges()["variance_judge_item"].gt(0).all()
    once = scores(0, *shape, between=between).query("run == 'r0'")
    assert "judge_item_effect" not in {p.name for p in voirdire.fit(once, method="map").problem.density.parameters}


def test_families_keep_their_errors() -> None:
    families = {"j0": "one", "j1": "one", "j2": "two", "j3": "two"}
    fit = voirdire.fit(scores(), families=families, method="map")
    assert fit.model.name == "rating-families"
    assert {"family_item", "judge_item_effect"} <= {p.name for p in fit.problem.density.parameters}


def test_opinions_integrated_out_are_those_of_the_model_that_has_none_among_its_values() -> None:
    """log E_v prod P(y | v), by the rule of that model, is the log likelihood of ``rating-severity``."""
    table = read_scores(scores())
    latent, integrated = (encode_scores(load_model(name), table) for name in ("rating-learned", "rating-severity"))
    rng = np.random.default_rng(1)
    values = latent.density.values(0.5 * rng.normal(size=latent.density.size), np)
    own = values.pop("judge_item_effect")
    sd = np.exp(values["log_judge_item"])
    nodes, log_weights = normal_quadrature()
    part = latent.data["scores"]
    cell = part["judge"] * ITEMS + part["item"]
    by_node = []
    for z in nodes:
        at = {**values, "judge_item_effect": 0.0 * own + z * sd[:, None, None]}
        log, weight = latent.density.form.score_log_densities(latent.density, at, latent.data, np)
        by_node.append(np.bincount(cell, log * weight))
    expected = np.log(np.exp(log_weights) @ np.exp(np.array(by_node))).sum()
    log, weight = integrated.density.form.score_log_densities(integrated.density, values, integrated.data, np)
    assert float(log @ weight) == pytest.approx(expected, abs=1e-9)


def test_more_runs_of_the_same_opinions_are_no_more_judges() -> None:
    """Thirty runs leave what three judges make of items as uncertain as it is: intervals stay above that."""
    table = scores(3)
    many = pd.concat([table.assign(run=table["run"] + str(n)) for n in range(10)])
    few, lots = (voirdire.fit(rows, method="laplace").ranking()["sd"].mean() for rows in (table, many))
    assert lots > 0.55 * few  # of thirty times as many independent scores it would be a third


def test_a_sum_of_terms_takes_opinions_that_runs_tell() -> None:
    table = scores()
    named = voirdire.fit(table, terms="item + judge:item", method="map")
    assert "judge_item_effect" in {p.name for p in named.problem.density.parameters}
    assert named.problem.model.terms == ()
    without = voirdire.fit(table, terms="item + judge", method="map")
    assert "judge_item_effect" not in {p.name for p in without.problem.density.parameters}
    beside = voirdire.fit(table, terms="item + judge:item + item:run", method="map")
    assert [row.words for row in beside.problem.model.terms] == [row.words for row in parse_terms("item:run")]


def test_scores_of_new_contexts_are_over_what_items_are_worth_and_judges_make_of_them_there() -> None:
    """By many draws at the mode of what both add to an item in a context that nobody scored."""
    fit = voirdire.fit(scores(0, 1, 3), method="map")
    values, density = fit.posterior.central_values, fit.problem.density
    asked = pd.DataFrame({"judge": ["j0"], "item": ["i0"], "context": ["elsewhere"]})
    with pytest.warns(UserWarning, match="no context 'elsewhere'"):
        found = fit.predict(asked).filter(like="p_").to_numpy()[0]
    sd = np.hypot(np.exp(values["log_context_spread"]), np.exp(values["log_judge_item"][0]))
    known = values["strength"][0, 0] + values["taste"][0, 0] - values["severity"][0]
    eta = known + sd * np.random.default_rng(0).standard_normal(400_000)
    cuts = SharedCutpoints().cutpoint_values(values, density.levels, np)[0]
    above = (1.0 / (1.0 + np.exp(cuts[:, None] - eta))).mean(axis=1)
    np.testing.assert_allclose(found, -np.diff([1.0, *above, 0.0]), atol=0.003)  # four Monte Carlo errors


def test_panels_of_very_many_judges_have_a_default_that_integrates_opinions_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from voirdire.kinds.scores import halo

    monkeypatch.setattr(halo, "MAX_REPEATING_JUDGES", 3)
    for shape in ((1, 1), (2, 1), (1, 3)):
        assert voirdire.fit(scores(0, *shape), method="map").model.name == "rating-severity"


def test_tables_of_too_many_opinions_have_a_default_that_integrates_them_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from voirdire.kinds.scores import halo

    monkeypatch.setattr(halo, "MAX_LATENT_VALUES", 30)
    fit = voirdire.fit(scores(), method="map")
    assert fit.model.name == "rating-severity"
    assert any("would take minutes" in note for note in fit.notes)


def test_families_in_several_contexts_have_a_default_with_both() -> None:
    families = {"j0": "one", "j1": "one", "j2": "two", "j3": "two"}
    for table in (scores(0, 1, 3), scores(0, 1, 3).query("run == 'r0'")):
        fit = voirdire.fit(table, families=families, method="map")
        assert fit.model.name == "item + judge + item:context + judge:item + family:item"
        assert {"context", "taste"} <= set(fit.spreads()["name"])
        assert not any("left out" in note for note in fit.notes)


def test_judges_who_share_opinions_are_found_though_their_runs_differ() -> None:
    """Control: six judges with opinions of their own depend on nobody."""
    rng = np.random.default_rng(7)
    k, i, run = (part.ravel() for part in np.indices((6, 120, 8)))
    own = rng.normal(0, 1.2, (6, 120))
    names = {"judge": [f"j{n}" for n in k], "item": [f"i{n:03d}" for n in i], "run": run}
    noise, worth = rng.logistic(size=len(k)), rng.normal(0, 1, 120)
    found = {}
    for shared in (False, True):
        opinion = np.vstack([own[:5], own[4:5]]) if shared else own
        seen = worth[i] + opinion[k, i] + noise
        table = pd.DataFrame({**names, "score": 1 + (seen[:, None] > np.array([-1.5, 0.0, 1.5])).sum(axis=1)})
        checks = voirdire.fit(table, families={}, method="laplace").checks().set_index("check")
        found[shared] = checks.loc["dependence"]
    assert "j4 and j5" not in found[False]["message"]
    assert "j4 and j5 agree far more than" in found[True]["message"]
