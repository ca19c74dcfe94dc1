"""Covariates of votes and own families: what is estimated, what is shown, what is kept, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.errors import InputError
from voirdire.model import load_model
from voirdire.model.term_rows import TermRow

ITEMS, PROMPTS, JUDGES = 6, 8, 4
EFFECT, OWN = 0.8, (1.5, -0.3)


def panel(seed: int = 0, votes: int = 2400) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Judges who like length, of whom the first favours its family; and the lengths, longer for better items."""
    rng = np.random.default_rng(seed)
    theta = np.linspace(1.0, -1.0, ITEMS)
    length = 1000 + 200 * theta[:, None] + 300 * rng.standard_normal((ITEMS, PROMPTS))
    z = (length - length.mean()) / length.std()
    first = rng.integers(0, ITEMS, votes)
    second = (first + rng.integers(1, ITEMS, votes)) % ITEMS
    judge, prompt = rng.integers(0, JUDGES, votes), rng.integers(0, PROMPTS, votes)
    d = theta[first] - theta[second] + EFFECT * (z[first, prompt] - z[second, prompt])
    for k, effect in enumerate(OWN):
        d += effect * (judge == k) * ((first == k).astype(float) - (second == k))
    table = pd.DataFrame(
        {
            "judge": [f"judge {k}" for k in judge],
            "first": [f"item {i}" for i in first],
            "second": [f"item {i}" for i in second],
            "context": [f"prompt {x}" for x in prompt],
            "winner": np.where(rng.random(votes) < 1 / (1 + np.exp(-d)), "first", "second"),
            "length_first": length[first, prompt],
            "length_second": length[second, prompt],
        }
    )
    cells = [(f"item {i}", f"prompt {x}", length[i, x]) for i in range(ITEMS) for x in range(PROMPTS)]
    return table, pd.DataFrame(cells, columns=["item", "context", "length"])


FAMILIES = {"judge 0": "red", "judge 1": "blue"}
ITEM_FAMILIES = {"item 0": "red", "item 1": "blue"}


@pytest.fixture(scope="module")
def given() -> tuple[pd.DataFrame, pd.DataFrame]:
    return panel()


@pytest.fixture(scope="module")
def fitted(given: tuple[pd.DataFrame, pd.DataFrame]) -> Any:
    table, items = given
    return voirdire.fit(table, covariates=items, families=FAMILIES, item_families=ITEM_FAMILIES, method="laplace")


def test_effects_are_found(fitted: Any, given: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    assert fitted.model.name == "crowd-bt-contexts"
    effects = fitted.covariates().set_index("name")
    assert list(effects.index) == ["length", "own-family"]
    assert effects.loc["length", "low"] < EFFECT < effects.loc["length", "high"]
    both = np.concatenate([given[0]["length_first"], given[0]["length_second"]])
    assert effects.loc["length", "unit"] == pytest.approx(both.std())
    own = fitted.own_family().set_index("judge")
    assert own.loc["judge 0", "low"] > 0.2
    assert own.loc["judge 1", "low"] < 0 < own.loc["judge 1", "high"]
    assert {"judge 2", "judge 3"}.isdisjoint(own.index)
    check = fitted.checks().set_index("check").loc["own-family"]
    assert check["level"] == "warn"
    assert "judge 0" in check["message"]
    assert "judge 1" not in check["message"]


@pytest.mark.slow
def test_scores_stand_beside_unadjusted_ones(fitted: Any, given: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    ranking = fitted.ranking().set_index("item")
    # what length adds to an item over its prompts
    length = given[1].groupby("item")["length"].mean()
    more = (ranking["unadjusted"] - ranking["score"])[length.index]
    assert np.corrcoef(more, length)[0, 1] > 0.95
    assert (ranking["low"] < ranking["score"]).all()
    alone = voirdire.fit(given[0], covariates=given[1], method="laplace").ranking().set_index("item")["unadjusted"]
    without = voirdire.fit(given[0], method="laplace").ranking().set_index("item")["score"]
    assert (alone - without[alone.index]).abs().max() < 0.25
    assert "unadjusted" not in voirdire.fit(given[0].head(400), method="map").ranking()


def test_json_has_effects(fitted: Any) -> None:
    found = json.loads(json.dumps(fitted.as_dict()))
    assert {"name", "effect", "low", "high"} <= set(found["covariates"][0])
    assert found["own_family"][0]["judge"] is None
    assert {"judge", "effect", "low", "high"} == set(found["own_family"][1])
    assert "unadjusted" in found["items"][0]


@pytest.mark.parametrize("model", ["crowd-bt-position", "crowd-bt-contexts"])
def test_the_log_likelihood_of_single_votes_knows_covariates(
    model: str, given: tuple[pd.DataFrame, pd.DataFrame]
) -> None:
    found = voirdire.fit(given[0], covariates=given[1], model=model, method="map")
    problem, values = found.problem, found.posterior.central_values
    *rows, answer = found.kind.single_answers(problem)
    chance = found.kind.response_probabilities(problem, values, tuple(rows))
    log = np.log(chance[np.arange(len(answer)), answer]).sum()
    assert log == pytest.approx(float(problem.density.log_likelihood(values, problem.data, np)), rel=1e-9)


def test_fits_are_kept_whole(fitted: Any, tmp_path: Path) -> None:
    again = voirdire.load(fitted.save(tmp_path / "run"))
    pd.testing.assert_frame_equal(again.ranking(), fitted.ranking())
    pd.testing.assert_frame_equal(again.covariates(), fitted.covariates())
    with pytest.raises(InputError, match="takes no new votes alone"):
        again.update(panel(1, 10)[0])


@pytest.mark.slow
@pytest.mark.parametrize("model", ["crowd-bt-position", "bradley-terry", "crowd-bt"])
def test_models_without_contexts_agree(model: str, given: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    table, items = given
    found = voirdire.fit(table, model=model, covariates=items)
    row = found.covariates().iloc[0]
    assert row["low"] < EFFECT * 1.15
    assert row["high"] > EFFECT
    named = voirdire.fit(table, model=model, covariates="length", method="map")
    start = voirdire.fit(table, model=model, covariates=items, method="map")
    # columns of the votes hold the same numbers
    assert named.covariates()["effect"].item() == pytest.approx(start.covariates()["effect"].item(), abs=1e-5)


def test_what_is_right_is_what_a_logistic_regression_says(given: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    import statsmodels.api as sm

    table = given[0].assign(judge="one")
    found = voirdire.fit(
        table,
        model=replace(load_model("bradley-terry"), terms=(TermRow(("length",), sd=1e4),)),
        covariates="length",
        method="map",
        priors={"strength": {"sd": 1e4}},
    )
    names = sorted(set(table["first"]))
    design = np.stack([(table["first"] == n).astype(float) - (table["second"] == n) for n in names[1:]], axis=1)
    unit = found.covariates()["unit"].item()
    z = ((table["length_first"] - table["length_second"]) / unit).to_numpy()
    x = np.column_stack([design, z])
    other = sm.GLM((table["winner"] == "first").astype(float), x, family=sm.families.Binomial()).fit()
    assert found.covariates()["effect"].item() == pytest.approx(other.params.iloc[-1], abs=1e-5)
    scores = found.ranking().set_index("item")["score"]
    ours = (scores[names[1:]] - scores[names[0]]).to_numpy()
    np.testing.assert_allclose(ours, other.params.iloc[:-1], atol=1e-5)


def test_votes_that_length_decides_are_predicted_with_it() -> None:
    rng = np.random.default_rng(0)
    length = rng.normal(size=(600, 2))
    votes = pd.DataFrame({"judge": "a", "first": rng.choice(["x", "y"], 600), "second": "z"})
    votes["winner"] = np.where(rng.random(600) < 1 / (1 + np.exp(length[:, 1] - length[:, 0])), "first", "second")
    votes["length_first"], votes["length_second"] = length.T
    loss = [
        voirdire.cross_validate(votes, ["bradley-terry"], by=["vote"], covariates=given)["log_loss"].item()
        for given in (None, "length")
    ]
    assert loss[0] == pytest.approx(np.log(2.0), abs=0.02)
    right = length @ [1.0, -1.0] * np.where(votes["winner"] == "first", 1.0, -1.0)
    assert loss[1] == pytest.approx(np.log1p(np.exp(-right)).mean(), abs=0.02)


def test_degrees_divide_votes() -> None:
    table = pd.DataFrame({"judge": "a", "first": "x", "second": "y", "winner": ["x"] * 4, "degree": [1, 0.7, 0.6, 0.5]})
    whole = pd.DataFrame({"judge": "a", "first": "x", "second": "y", "winner": ["x"] * 14 + ["y"] * 6})
    flat = {"strength": {"sd": 1e3}}
    one = voirdire.fit(table, model="bradley-terry", method="map", priors=flat).ranking()["score"]
    other = voirdire.fit(whole, model="bradley-terry", method="map", priors=flat).ranking()["score"]
    np.testing.assert_allclose(one, other, atol=1e-4)
    with pytest.raises(InputError, match=r"degree 0\.2 is no number from 0\.5 to 1"):
        voirdire.fit(table.assign(degree=0.2))


def test_swapped_sides_say_the_same(given: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    table = given[0].drop(columns="context")
    table = table[table["first"].isin(["item 0"])].assign(judge="one")
    swapped = table.rename(
        columns={"first": "second", "second": "first", "length_first": "length_second", "length_second": "length_first"}
    ).assign(winner=table["winner"].map({"first": "second", "second": "first"}))
    one, other = (voirdire.fit(t, covariates="length") for t in (table, swapped))
    assert one.model.name == other.model.name == "bradley-terry"
    assert any("item 0 is always first" in note for note in one.notes)
    both = [fit.ranking().set_index("item")["score"].sort_index() for fit in (one, other)]
    assert (both[0] - both[1]).abs().max() < 0.05
    check = one.checks().set_index("check").loc["position"]
    assert "cannot be told: item 0 is always first" in check["message"]
    assert not any("bias" in row and one.judges()[row].notna().any() for row in one.judges())


def test_an_order_that_is_not_known_leaves_positions_out(given: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    found = voirdire.fit(given[0], order="unknown", method="map")
    assert found.model.name == "unordered-crowd-bt-contexts"
    refused(given, "order 'random' is none of shown, unknown", order="random")
    refused(
        given, "is about positions, but which item was shown first is unknown", order="unknown", model="maple-position"
    )


def test_votes_on_own_families_can_be_left_out(given: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    how = {"families": FAMILIES, "item_families": ITEM_FAMILIES}
    found = voirdire.fit(given[0], method="map", without_own_family=True, **how)
    own = sum(
        ((given[0]["judge"] == judge) & ((given[0]["first"] == item) | (given[0]["second"] == item))).sum()
        for judge, item in (("judge 0", "item 0"), ("judge 1", "item 1"))
    )
    assert any(f"{own} of 2,400 votes" in note for note in found.notes)
    assert found.problem.votes.rows == 2400 - own


def refused(given: tuple[pd.DataFrame, pd.DataFrame], match: str, **how: Any) -> None:
    with pytest.raises(InputError, match=match):
        voirdire.fit(given[0], method="map", **how)


def test_bad_covariates_are_refused(given: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    items = given[1]
    some = items[(items["item"] != "item 2") | (items["context"] == "prompt 1")]
    refused(given, "no row of item 'item 2' in context 'prompt 0', item .* and 4 more; add", covariates=some)
    refused(
        given,
        "no row of item 'item 2'; add",
        covariates=pd.DataFrame({"item": ["item 0", "item 1"], "n": 1}).pipe(
            lambda t: pd.concat([t, pd.DataFrame({"item": ["item 3", "item 4", "item 5"], "n": 2})])
        ),
    )
    refused(given, "'n' is 3 throughout; leave it out", covariates=items.assign(n=3))
    both = items.assign(twice=2 * items["length"] + 1)
    refused(given, "'length', 'twice' are collinear", covariates=both)
    refused(given, "rows 1, 2, 3 and 45 more: n 'long' is not a number", covariates=items.assign(n="long"))
    refused(given, "row 1: length is empty", covariates=items.assign(length=[np.nan, *items["length"][1:]]))
    refused(given, "a second row of", covariates=pd.concat([items, items.head(1)]))
    refused(given, "'own-family' is reserved for the effect", covariates=items.rename(columns={"length": "own-family"}))
    refused(given, "covariates of votes: there is no column 'lenth_first'", covariates="lenth")
    refused(given, "'length' is named twice", covariates=["length", "length"])
    refused(given, "no column beside item and context", covariates=items.drop(columns="length"))
    refused(given, "neither a table of items nor names", covariates=3)
    refused(given, "covariates=' ' names nothing", covariates=" ")
    refused(given, "pools votes before it looks at them, so it takes no terms", covariates=items, model="majority-vote")
    same = given[0].assign(n_first=given[0].index, n_second=given[0].index)
    with pytest.raises(InputError, match="n, judge:n is the same for all items of a vote"):
        voirdire.fit(same, covariates="n", method="map")


def test_bad_families_are_refused(given: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    refused(given, "item_families= needs families=", item_families=ITEM_FAMILIES)
    refused(given, "needs the families", without_own_family=True)
    wrong = {"item 9": "red"}
    refused(given, "item 'item 9' is none of the 6 items; did you mean", families=FAMILIES, item_families=wrong)
    refused(given, "no judge compared", families=FAMILIES, item_families={"item 0": "green"})


def test_covariates_of_items_alone_are_told_from_strengths_by_the_prior(
    given: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    items = given[1].groupby("item", as_index=False)["length"].mean()
    found = voirdire.fit(given[0], covariates=items, model="crowd-bt-position")
    check = found.checks().set_index("check").loc["covariates"]
    assert check["level"] == "warn"
    assert "only the prior says" in check["message"]


def test_a_covariate_that_decides_every_vote_is_named() -> None:
    rng = np.random.default_rng(0)
    n = rng.integers(0, 50, (60, 2)) * 2 + [0, 1]
    table = pd.DataFrame(
        {
            "judge": "a",
            "first": rng.choice(["x", "y"], 60),
            "second": "z",
            "winner": np.where(n[:, 0] > n[:, 1], "first", "second"),
            "n_first": n[:, 0],
            "n_second": n[:, 1],
        }
    )
    check = voirdire.fit(table, covariates="n").checks().set_index("check").loc["covariates"]
    assert check["level"] == "warn"
    assert "n deciding every vote" in check["message"] or "n is deciding" in check["message"]


def test_other_kinds_of_tables_refuse_covariates() -> None:
    labels = pd.DataFrame({"judge": ["a", "a", "b", "b"], "item": ["x", "y"] * 2, "label": [1, 2, 2, 3]})
    with pytest.raises(InputError, match="covariates= is not for tables of labels"):
        voirdire.fit(labels, covariates="length")


def test_texts_are_counted() -> None:
    texts = pd.DataFrame({"item": ["a", "b"], "context": ["p", "p"], "text": ["# T\n1. **x** y\n```\ncode\n```\n", ""]})
    found = voirdire.covariates.text(texts)
    assert found.columns.tolist() == ["item", "context", "characters", "words", "headers", "lists", "bold", "code"]
    assert found.iloc[0].tolist()[2:] == [28, 8, 1, 1, 1, 1]
    assert found.iloc[1].tolist()[2:] == [0] * 6
    with pytest.raises(InputError, match="row 2: text 3 is no text"):
        voirdire.covariates.text(texts.assign(text=["x", 3]))
