"""Votes and scores of the same items with covariates and further terms: one effect for both tables."""

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

LIMITS = np.array([-2.0, -0.7, 0.7, 2.0])
ITEMS = [f"i{n}" for n in range(10)]
SHARPER = 1.5  # of votes
LIKES, APART = 0.6, 0.4  # of a standard deviation of length, on average and among judges
HOW: dict[str, Any] = {"levels": [1, 2, 3, 4, 5], "method": "laplace"}


def panel(seed: int) -> tuple[list[pd.DataFrame], pd.DataFrame, pd.Series, float]:
    """Votes of j0 to j3 and scores of j2 to j5, lengths of ten items, what these are worth, the effect of length.

    The last two in log-odds of a score of the typical judge. Votes have ``length_first`` and ``length_second``, scores
    ``length``, and the items' table is the same.
    """
    rng = np.random.default_rng(seed)
    worth = rng.permutation(np.linspace(-1.8, 1.8, 10))
    far = rng.normal(size=10)
    far = (far - far.mean()) / far.std()
    length = pd.Series(np.round(100 + 30 * far, 2), index=ITEMS)
    right = np.exp(rng.normal(0, 0.3, 6))
    likes = LIKES + APART * rng.normal(size=6)
    votes, scores = [], []
    for k in range(6):
        seen = worth + likes[k] * far
        for _ in range(30 * (k < 4)):
            a, b = rng.choice(10, 2, replace=False)
            first = SHARPER * right[k] * (seen[a] - seen[b]) + rng.logistic() > 0
            votes.append((f"j{k}", ITEMS[a], ITEMS[b], "first" if first else "second"))
        for i in range(10 * (k >= 2)):
            level = 1 + int((right[k] * seen[i] + rng.logistic() > LIMITS).sum())
            scores.append((f"j{k}", ITEMS[i], level))
    voted = pd.DataFrame(votes, columns=["judge", "first", "second", "winner"])
    for side in ("first", "second"):
        voted[f"length_{side}"] = voted[side].map(length)
    scored = pd.DataFrame(scores, columns=["judge", "item", "score"]).assign(length=lambda t: t["item"].map(length))
    scale = float(np.exp(np.log(right).mean()))
    return (
        [voted, scored],
        length.rename_axis("item").rename("length").reset_index(),
        pd.Series(scale * worth, index=ITEMS),
        scale * LIKES,
    )


@pytest.fixture(scope="module")
def tables() -> list[pd.DataFrame]:
    return panel(1)[0]


@pytest.fixture(scope="module")
def fit(tables: list[pd.DataFrame]) -> Any:
    return voirdire.fit(tables, covariates="length", **HOW)


def test_a_covariate_has_one_effect_in_votes_and_scores(fit: Any, tmp_path: Path) -> None:
    assert fit.model.name == "joint-contexts"
    assert any("further effects are asked for" in note for note in fit.notes)
    names = [parameter.name for parameter in fit.problem.density.parameters]
    assert names.count("effect:length") == names.count("judge:length") == 1
    assert fit.covariates()["name"].tolist() == ["length"]
    again = voirdire.load(fit.save(tmp_path / "run"))
    pd.testing.assert_frame_equal(again.covariates(), fit.covariates())
    pd.testing.assert_frame_equal(again.terms(), fit.terms())


def test_columns_of_the_tables_and_a_table_of_items_say_the_same(fit: Any, tables: list[pd.DataFrame]) -> None:
    given = voirdire.fit([one.filter(regex="^(?!length)") for one in tables], covariates=panel(1)[1], **HOW)
    pd.testing.assert_frame_equal(given.ranking(), fit.ranking())
    assert given.covariates()["unit"][0] == fit.covariates()["unit"][0]


@pytest.mark.parametrize("of_items", [False, True])
def test_the_density_is_that_of_worth_and_length_in_both_tables(
    fit: Any, tables: list[pd.DataFrame], of_items: bool
) -> None:
    """By hand, from the tables as they were written; up to what no answer says.

    An item's own slope is from one mean, that of the scores, in both tables, whatever items were scored how often.
    """
    if of_items:
        tables = [tables[0], tables[1][lambda t: (t["length"] < 110) | (t["judge"] > "j4")]]
        terms = "item + length + judge:length + item:length"
        fit = voirdire.fit(tables, terms=terms, covariates="length", **HOW | {"method": "map"})
    problem, rng = fit.problem, np.random.default_rng(5)
    density = problem.density
    unit = fit.covariates()["unit"][0]
    of_judge = {name: k for k, name in enumerate(problem.judges)}

    def by_hand(values: dict[str, Any]) -> float:
        slope = values["effect:length"] + values["judge:length"]
        right = np.exp(values["log_discrimination"])
        votes, scores = tables
        k = votes["judge"].map(of_judge).to_numpy()
        i, j = (votes[side].map(ITEMS.index).to_numpy() for side in ("first", "second"))
        one, other = (
            ((votes[f"length_{side}"] - tables[1]["length"].mean()) / unit).to_numpy() for side in ("first", "second")
        )
        strength, own = values["strength"][0], values.get("item:length", np.zeros(10))
        difference = strength[i] + (slope[k] + own[i]) * one - strength[j] - (slope[k] + own[j]) * other
        gap = np.exp(values["log_vote_scale"]) * right[k] * difference
        gap = gap + values["shift"][k]
        total = -np.logaddexp(0, np.where(votes["winner"] == "first", -gap, gap)).sum()
        k = scores["judge"].map(of_judge).to_numpy()
        i = scores["item"].map(ITEMS.index).to_numpy()
        far = ((scores["length"] - scores["length"].mean()) / unit).to_numpy()
        gaps = np.exp(values["log_gap"][0])
        cuts = np.concatenate([[0], np.cumsum(gaps)])
        cuts = cuts - 0.5 * (cuts[0] + cuts[-1])
        worth = strength[i] + (slope[k] + own[i]) * far - values["severity"][k] - values["cut_location"][0]
        above = 1 / (1 + np.exp(cuts - (right[k] * worth)[:, None]))
        ends = np.concatenate([np.ones((len(i), 1)), above, np.zeros((len(i), 1))], axis=1)
        level = scores["score"].to_numpy() - 1
        at = np.arange(len(i))
        return float(total + np.log(ends[at, level] - ends[at, level + 1]).sum())

    found = []
    for _ in range(3):
        values = density.values(0.4 * rng.normal(size=density.size), np)
        parts = density.log_parts(values, problem.data, np)
        found.append(sum(float(np.sum(log * times)) for log, times in parts) - by_hand(values))
    np.testing.assert_allclose(found, found[0], atol=1e-6)


def test_answers_left_out_are_predicted_better_with_the_covariate(tables: list[pd.DataFrame]) -> None:
    how: dict[str, Any] = {"models": ["joint-contexts"], "folds": 3}
    plain = [one.filter(regex="^(?!length)") for one in tables]
    without = voirdire.cross_validate(plain, **how)["log_loss"][0]
    assert voirdire.cross_validate(tables, covariates="length", **how)["log_loss"][0] < without - 0.02


def test_sums_of_terms_name_columns_that_both_tables_have(tables: list[pd.DataFrame]) -> None:
    votes, scores = tables
    topics = {"votes": ["sun", "moon"], "scores": ["moon", "rain"]}
    both = [
        one.assign(topic=[name[n % 2] for n in range(len(one))])
        for one, name in zip((votes, scores), topics.values(), strict=True)
    ]
    fit = voirdire.fit(both, terms="item + item:topic + judge:length", **HOW | {"method": "map"})
    assert fit.model.name == "item + item:topic + judge:length"
    assert "Column topic is taken as names." in fit.notes
    levels = fit.terms().query("term == 'item:topic'")["level"]
    assert {level.split(", ")[1] for level in levels} == {"sun", "moon", "rain"}
    for terms, message in [
        (
            "item + judge:item",
            "judge:item cannot be estimated from these data: there are neither contexts nor several criteria",
        ),
        ("item + item:context", "item:context cannot be estimated from these data: no item is in several contexts"),
        ("item + judge:time", "time is not for tables of votes and scores"),
        ("item + item:topics", "no column 'topics'.*did you mean 'topic'"),
        ("item + family:item", "family cannot be estimated from these data: it needs families="),
    ]:
        with pytest.raises(InputError, match=message):
            voirdire.fit(both, terms=terms, **HOW)
    numbered = [votes.assign(topic=np.arange(len(votes))), both[1]]
    for at, name in enumerate(("votes", "scores")):
        given = [one.assign(topic="sun") if at == n else one for n, one in enumerate(both)]
        with pytest.raises(InputError, match=f"terms of {name}: column 'topic' is the same in every row"):
            voirdire.fit(given, terms="item + item:topic", **HOW)
    with pytest.raises(InputError, match="'topic' has numbers in one table and names in the other"):
        voirdire.fit(numbered, terms="item + item:topic", **HOW)


OF_JUDGES = {f"j{k}": "xy"[k % 2] for k in range(6)}
OF_ITEMS = {item: "xy"[n % 2] for n, item in enumerate(ITEMS)}


def with_favour(tables: list[pd.DataFrame]) -> list[pd.DataFrame]:
    """Votes for the own family wherever one is asked about, and two levels more for its items."""
    votes, scores = tables[0].copy(), tables[1].copy()
    for side in ("first", "second"):
        own = votes["judge"].map(OF_JUDGES) == votes[side].map(OF_ITEMS)
        alone = own & (votes["first"].map(OF_ITEMS) != votes["second"].map(OF_ITEMS))
        votes.loc[alone, "winner"] = side
    own = scores["judge"].map(OF_JUDGES) == scores["item"].map(OF_ITEMS)
    scores["score"] = np.minimum(scores["score"] + 2 * own, 5)
    return [votes, scores]


def test_judges_that_favour_their_family_do_so_in_votes_and_scores(tables: list[pd.DataFrame], tmp_path: Path) -> None:
    how: dict[str, Any] = HOW | {"families": OF_JUDGES, "item_families": OF_ITEMS}
    fit = voirdire.fit(with_favour(tables), **how)
    found = fit.own_family()
    assert found["judge"].tolist()[1:] == sorted(OF_JUDGES)  # also those that voted or scored alone
    assert found["low"][0] > 1
    assert "own-family" in set(fit.checks().query("level == 'warn'")["check"])
    again = voirdire.load(fit.save(tmp_path / "run"))
    pd.testing.assert_frame_equal(again.own_family(), found)
    left = voirdire.fit(with_favour(tables), **how, without_own_family=True)
    own = [tables[0]["judge"].map(OF_JUDGES) == tables[0][side].map(OF_ITEMS) for side in ("first", "second")]
    for what in (f"{(own[0] | own[1]).sum()} of 120 votes are", "20 of 40 scores are"):
        assert any(f"{what} of a judge on an item of its family: left out." in note for note in left.notes)
    one_family: dict[str, Any] = {"families": dict.fromkeys(OF_JUDGES, "x"), "item_families": dict.fromkeys(ITEMS, "x")}
    with pytest.raises(InputError, match=r"nothing is left: check the families .*--without-own-family\) out"):
        voirdire.fit(tables, **one_family, without_own_family=True, **HOW)
    with pytest.raises(InputError, match=r"no judge compared .* or answered about an item of its own family"):
        voirdire.fit(tables, **how | {"item_families": dict.fromkeys(ITEMS, "z")})


def test_one_table_tells_the_effect_and_pairs_within_a_family_tell_none(tables: list[pd.DataFrame]) -> None:
    votes, scores = tables
    own = (votes["first"].map(OF_ITEMS) == "x") & (votes["second"].map(OF_ITEMS) == "x")
    votes = votes[(votes["judge"] != "j0") | own]
    how: dict[str, Any] = {"families": {"j0": "x", "j4": "x"}, "item_families": OF_ITEMS}
    found = voirdire.fit([votes, scores], **how, **HOW | {"method": "map"}).own_family()
    assert found["judge"].tolist()[1:] == ["j4"]


def test_an_item_that_lost_all_its_answers_is_linked_to_none(tables: list[pd.DataFrame]) -> None:
    how: dict[str, Any] = {"families": dict.fromkeys(OF_JUDGES, "x"), "item_families": {"i0": "x"}}
    fit = voirdire.fit(tables, **how, without_own_family=True, **HOW | {"method": "map"})
    found = fit.checks().set_index("check").loc["connectivity"]
    assert found["level"] == "warn"
    assert "i0 against the rest" in found["message"]


def test_groups_of_answers_are_of_a_column_of_both(tables: list[pd.DataFrame]) -> None:
    both = [one.assign(part=np.where(np.arange(len(one)) % 2, "odd", "even")) for one in tables]
    levels = voirdire.fit(both, by="part", **HOW | {"method": "map"}).terms()["level"]
    assert {"i0, even", "i0, odd"} <= set(levels)
    with pytest.raises(InputError, match="the scores have no column 'part'"):
        voirdire.fit([both[0], tables[1]], by="part", **HOW)


def test_models_of_given_spread_and_new_answers_alone_are_refused(fit: Any, tables: list[pd.DataFrame]) -> None:
    with pytest.raises(InputError, match=r"joint-position takes no further effects .*; take joint-contexts"):
        voirdire.fit(tables, model="joint-position", covariates="length", **HOW)
    with pytest.raises(InputError, match="takes no new answers alone; fit old and new ones together"):
        fit.update(tables[0].head(2))
    with pytest.raises(InputError, match=r"^covariates of scores: there is no column 'length'"):
        voirdire.fit([tables[0], tables[1].drop(columns="length")], covariates="length", **HOW)


@pytest.mark.parametrize("name", ["level", "weight", "numbers", "step", "end", "people", "gap"])
def test_a_column_may_have_any_name(tables: list[pd.DataFrame], name: str) -> None:
    """A term of a column is the same under another name, of every kind of scores and of votes."""
    how: dict[str, Any] = {"method": "map"}
    finer = tables[1].assign(score=tables[1]["score"] + 0.25)
    for table in (tables, tables[0], tables[1], finer):
        each = table if isinstance(table, list) else [table]
        found = []
        for column in (name, "topic"):
            given = [one.assign(**{column: np.where(np.arange(len(one)) // 3 % 2, "u", "v")}) for one in each]
            fit = voirdire.fit(given if len(each) > 1 else given[0], terms=f"item + item:{column}", **how)
            found.append(fit.terms().assign(term=""))
        pd.testing.assert_frame_equal(*found)


def test_time_makes_its_own_periods(tables: list[pd.DataFrame]) -> None:
    scores = tables[1].assign(time=np.arange(40), period=np.arange(40) % 3 // 2)
    scores["period"] = scores["period"].map({0: "dry", 1: "wet"})
    for terms in ("item + judge:time + item:period", "item + item:period + judge:time"):
        with pytest.raises(InputError, match="rename the column 'period'"):
            voirdire.fit(scores, terms=terms, method="map")
    moments = [one.assign(time=np.arange(len(one))) for one in tables]
    with pytest.raises(InputError, match="time is not for tables of votes and scores"):
        voirdire.fit(moments, by="time", **HOW)


def test_messages_name_the_table_and_no_column_as_its_own_remedy(tables: list[pd.DataFrame]) -> None:
    votes, scores = tables
    gaps = scores.assign(length=scores["length"].where(scores.index > 2))
    with pytest.raises(InputError, match="covariates of scores: rows 1, 2 and 3: length is empty"):
        voirdire.fit([votes, gaps], covariates="length", **HOW)
    with pytest.raises(InputError, match="covariates of scores: 'length' is 3 throughout"):
        voirdire.fit([votes, scores.assign(length=3)], covariates="length", **HOW)
    grouped = [one.assign(group=np.where(one["judge"] < "j4", "g", "h")) for one in tables]
    with pytest.raises(InputError, match="column 'group' of the scores has another use; give it another name"):
        voirdire.fit(grouped, terms="item + group:item", **HOW)
    for name in ("judge", "criterion", "run", "family", "time"):
        with pytest.raises(InputError, match=f"covariates: '{name}' describes answers .* drop or rename"):
            voirdire.fit(tables, covariates=panel(1)[1].rename(columns={"length": name}), **HOW)
    kept: dict[str, Any] = {"families": OF_JUDGES, "item_families": OF_ITEMS, "without_own_family": True}
    with pytest.raises(InputError, match=r"own-family needs .* and no without_own_family"):
        voirdire.fit(tables, terms="item + judge:own-family", **kept, **HOW)


@pytest.mark.long
@pytest.mark.slow
def test_intervals_hold_what_items_are_worth_but_for_their_length() -> None:
    """24 tables: .91 and the effect in .92 of them; without the covariate .67, and errors an eighth larger."""
    held, effects, errors = [], [], []
    for seed in range(24):
        tables, items, worth, likes = panel(seed)
        plain = [one.filter(regex="^(?!length)") for one in tables]
        for given in (items, None):
            fit = voirdire.fit(plain, covariates=given, **HOW)
            found = fit.ranking().set_index("item").loc[ITEMS]
            held.append(((found["low"] <= worth) & (worth <= found["high"])).mean())
            errors.append(float(np.sqrt(((found["score"] - worth) ** 2).mean())))
            if given is not None:
                effect = fit.covariates().iloc[0]
                effects.append(effect["low"] <= likes <= effect["high"])
    error = np.std(held[::2], ddof=1) / np.sqrt(24)
    assert 0.87 - error < np.mean(held[::2]) < 0.96
    assert np.mean(effects) > 0.8
    assert np.mean(errors[::2]) < np.mean(errors[1::2])


def test_people_among_the_judges_compare(tables: list[pd.DataFrame], tmp_path: Path) -> None:
    """j0 and j1 vote, j2 and j3 do both, j4 and j5 score."""
    how: dict[str, Any] = HOW | {"method": "map"}
    fit = voirdire.fit(tables, people=["j0", "j1"], **how)
    assert fit.problem.judges == ("j2", "j3", "j4", "j5")
    assert fit.problem.of_votes.anchors.votes.counts.sum() == 60
    for name in ("j2", "j5"):
        with pytest.raises(InputError, match=f"people: '{name}' gave scores, and votes and scores together take"):
            voirdire.fit(tables, people=[name], **how)
    with pytest.raises(InputError, match="people: 'ann' is no judge of a table; judges are j0, j1, j2, j3, j4, j5"):
        voirdire.fit(tables, people=["ann"], **how)
    paths = [str(tmp_path / name) for name in ("votes.csv", "scores.csv")]
    for table, path in zip(tables, paths, strict=True):
        table.to_csv(path, index=False)
    run = CliRunner().invoke(app, ["fit", *paths, "--people", "j0,j1", "--method", "map", "--json"])
    assert run.exit_code == 0, run.output
    assert [row["judge"] for row in json.loads(run.stdout)["judges"]] == ["j2", "j3", "j4", "j5"]
    run = CliRunner().invoke(app, ["fit", *paths, "--people", "j2"], env={"COLUMNS": "200"})
    assert "people: 'j2' gave scores" in run.output
