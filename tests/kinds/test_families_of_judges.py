"""Votes, rankings, and scores between levels, of families of judges that share what they make of an item."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire import InputError
from voirdire.tables.counts import CountedVotes

FAMILIES = {"j0": "f", "j1": "f", "j2": "f", "j3": "f", "j4": "g", "j5": "g"}
KINDS = ("rankings", "scores", "votes")
ITEMS = [f"i{n:02d}" for n in range(15)]
COLUMNS = {"rankings": ["item", "rank"], "scores": ["item", "score"], "votes": ["first", "second", "winner"]}


def panel(kind: str, seed: int, contexts: int, shared: float = 0.8) -> tuple[pd.DataFrame, pd.Series]:
    """Answers of eight judges about 15 items, in log-odds or parts of a scale, and what items are worth (uniform)."""
    rng = np.random.default_rng(seed)
    unit = 0.12 if kind == "scores" else 1.0
    worth = rng.uniform(-1.5, 1.5, 15) * unit
    error = {family: rng.normal(size=15) * shared * unit for family in ("f", "g")}
    rows: list[tuple[Any, ...]] = []
    for context in range(contexts):
        here = rng.normal(size=15) * 0.4 * unit * (contexts > 1)
        for k in range(8):
            seen = worth + here + error.get(FAMILIES.get(f"j{k}", ""), np.zeros(15))
            about = (f"j{k}", f"c{context}")
            if kind == "rankings":
                rank = np.argsort(np.argsort(-(seen + rng.gumbel(size=15)))) + 1
                rows += [(*about, item, one) for item, one in zip(ITEMS, rank.tolist(), strict=True)]
            elif kind == "scores":
                score = np.clip(0.5 + seen + 0.1 * rng.normal(size=15), 0, 1).round(3)
                rows += [(*about, item, one) for item, one in zip(ITEMS, score.tolist(), strict=True)]
            else:
                for _ in range(40):
                    one, other = rng.choice(15, 2, replace=False)
                    won = one if seen[one] - seen[other] + rng.logistic() > 0 else other
                    rows.append((*about, ITEMS[one], ITEMS[other], ITEMS[won]))
    table = pd.DataFrame(rows, columns=["judge", "context", *COLUMNS[kind]])
    truth = pd.Series(worth - worth.mean(), index=ITEMS)
    return (table if contexts > 1 else table.drop(columns="context")), truth


def fitted(kind: str, table: pd.DataFrame, **how: Any) -> Any:
    scale = {"levels": [0, 1]} if kind == "scores" else {}
    return voirdire.fit(table, method="laplace", **scale, **how)


@pytest.fixture(scope="module", params=KINDS)
def case(request: pytest.FixtureRequest) -> tuple[str, pd.DataFrame, Any]:
    table, _ = panel(request.param, 1, 4)
    return request.param, table, fitted(request.param, table, families=FAMILIES)


def test_the_default_has_what_families_share(case: tuple[str, pd.DataFrame, Any], tmp_path: Path) -> None:
    _, _, fit = case
    assert fit.model.name.endswith("judge:item + family:item")
    assert any("of families" in note for note in fit.notes)
    assert not any("counts for" in note for note in fit.notes)
    assert any(name.startswith("family:") for name in fit.spreads()["name"])
    again = voirdire.load(fit.save(tmp_path / "run"))
    pd.testing.assert_frame_equal(again.ranking(), fit.ranking())
    pd.testing.assert_frame_equal(again.judges(), fit.judges())


def test_predictions_know_what_the_family_of_a_judge_sees(case: tuple[str, pd.DataFrame, Any]) -> None:
    kind, table, fit = case
    name = {"rankings": "expected_rank", "scores": "expected", "votes": "p_first"}[kind]
    about = {"rankings": ["item"], "scores": ["item"], "votes": ["first", "second"]}[kind]
    asked = table[(table["context"] == "c0") & (table["judge"] == "j0")]
    found = {judge: fit.predict(asked.assign(judge=judge)).set_index(about)[name] for judge in ("j0", "j3", "j7")}
    alike = pd.DataFrame(found).corr()
    assert alike.loc["j0", "j3"] > alike.loc["j0", "j7"] + 0.05


@pytest.mark.slow
def test_more_answers_are_of_the_same_families(case: tuple[str, pd.DataFrame, Any]) -> None:
    kind, table, fit = case
    new = table[table["context"].isin(["c0"]) & table["judge"].isin(["j0", "j7"])].assign(context="c9")
    both = fit.update(pd.concat([new, new[new["judge"] == "j7"].assign(judge="late")]))
    whole = fitted(kind, pd.concat([table, new, new[new["judge"] == "j7"].assign(judge="late")]), families=FAMILIES)
    assert both.model.name == whole.model.name
    theirs, ours = (fit.ranking().set_index("item")["score"] for fit in (whole, both))
    assert np.abs(theirs - ours.loc[theirs.index]).max() < 0.1 * theirs.std()


def test_more_scores_of_families_that_a_term_of_another_column_names() -> None:
    table, _ = panel("scores", 2, 3)
    new = table[(table["context"] == "c0") & (table["judge"] == "j0")].assign(judge="late", context="c9")
    how = {"families": FAMILIES, "terms": "item + item:context + family:context"}
    both = fitted("scores", table, **how).update(new).ranking().set_index("item")["score"]
    whole = fitted("scores", pd.concat([table, new]), **how).ranking().set_index("item")["score"]
    np.testing.assert_allclose(both.loc[whole.index], whole, atol=0.02)


def test_votes_that_were_only_counted_are_no_more_votes_of_families() -> None:
    table, _ = panel("votes", 2, 1)
    votes = voirdire.read_votes(table)
    counted = CountedVotes(
        **{name: getattr(votes, name) for name in ("judges", "criteria", "items", "judge", "criterion")},
        **{name: getattr(votes, name) for name in ("first", "second", "counts")},
    )
    fit = fitted("votes", table, families=FAMILIES)
    with pytest.raises(InputError, match="only counted, not kept, and the fit has terms; give the table"):
        fit.update(counted)


@pytest.mark.slow
def test_chains_of_scores_of_families() -> None:
    table, truth = panel("scores", 2, 2)
    how: dict[str, Any] = {"method": "nuts", "draws": 100, "warmup": 100, "chains": 2}
    fit = voirdire.fit(table, families=FAMILIES, levels=[0, 1], **how)
    assert fit.method == "nuts"
    near = fitted("scores", table, families=FAMILIES).ranking().set_index("item")["score"]
    found = fit.ranking().set_index("item")["score"]
    assert np.corrcoef(found.loc[truth.index], near.loc[truth.index])[0, 1] > 0.99


PLAIN = {"rankings": "plackett-luce-tastes", "scores": "rating-continuous-contexts", "votes": "crowd-bt-contexts"}


@pytest.mark.slow
def test_answers_left_out_are_predicted_better(case: tuple[str, pd.DataFrame, Any]) -> None:
    kind, table, fit = case
    how: dict[str, Any] = {"levels": [0, 1]} if kind == "scores" else {}
    found = voirdire.cross_validate(table, [fit.model, PLAIN[kind]], folds=4, families=FAMILIES, **how)
    assert found["model"].tolist() == [fit.model.name, PLAIN[kind]]
    assert found["difference"][1] > 2 * found["difference_se"][1]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("contexts", [1, 4])
def test_intervals_hold_what_items_are_worth(kind: str, contexts: int) -> None:
    """12 tables; answers that count for less than independent ones held .65 to .84 of scores and votes."""
    held, errors = [], np.zeros((12, 2))
    for seed in range(12):
        table, truth = panel(kind, seed, contexts)
        for way, families in enumerate((FAMILIES, {})):
            found = fitted(kind, table, families=families).ranking().set_index("item").loc[truth.index]
            points = found[["score", "low", "high"]] - found["score"].mean()
            errors[seed, way] = np.sqrt(((points["score"] - truth) ** 2).mean())
            if families:
                held.append(((points["low"] <= truth) & (truth <= points["high"])).mean())
    error = np.std(held, ddof=1) / np.sqrt(len(held))
    assert 0.87 - error < np.mean(held) < 0.95
    assert errors[:, 0].mean() < errors[:, 1].mean()


def beside(what: str, seed: int) -> tuple[pd.DataFrame, pd.Series, dict[str, Any]]:
    """Votes, what items are worth, and what is given beside the votes: people's, groups of contexts, or criteria."""
    table, truth = panel("votes", seed, 4 if what == "by" else 1)
    rng = np.random.default_rng([seed, 1])
    if what == "by":
        return table.assign(place=table["context"].isin(["c0", "c1"]).map(str)), truth, {"by": "place"}
    if what == "criteria":
        votes = pd.DataFrame({"judge": "j7", "first": ["a", "b"] * 20, "second": ["b", "a"] * 20})
        on_criteria = votes.assign(winner=rng.choice(["a", "b"], 40))
        return table.assign(criterion=rng.choice(["a", "b"], len(table))), truth, {"criteria": on_criteria}
    asked = list(combinations(rng.choice(ITEMS, 8, replace=False), 2))
    won = [one if truth[one] - truth[other] + rng.logistic() > 0 else other for one, other in asked]
    people = pd.DataFrame(asked, columns=["first", "second"]).assign(winner=won)
    return table, truth, {"anchors": people, "anchor_mode": "joint"}


@pytest.mark.parametrize("what", ["anchors", "by", pytest.param("criteria", marks=pytest.mark.slow)])
def test_votes_have_what_families_share_beside(what: str) -> None:
    table, _, more = beside(what, 1)
    fit = fitted("votes", table, families=FAMILIES, **more)
    assert fit.model.name.endswith("+ family:item")
    assert not any("counts for" in note or "not used" in note for note in fit.notes)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["anchors", "by", "criteria"])
def test_intervals_hold_beside(what: str) -> None:
    """16 tables; where answers of families only counted for less, .73 to .80."""
    held = []
    for seed in range(16):
        table, truth, more = beside(what, seed)
        found = fitted("votes", table, families=FAMILIES, **more).ranking().set_index("item").loc[truth.index]
        points = found[["low", "high"]] - found["score"].mean()
        held.append(((points["low"] <= truth) & (truth <= points["high"])).mean())
    error = np.std(held, ddof=1) / np.sqrt(len(held))
    assert 0.87 - error < np.mean(held) < 0.96


@pytest.mark.slow
def test_unconnected_pairs_beside_people_keep_weights() -> None:
    """There families are used by judges' coins, and by how much answers agree."""
    rng = np.random.default_rng(1)
    rows = [(f"j{k}", f"{n}a", f"{n}b", f"{n}{rng.choice(['a', 'b'])}") for n in range(30) for k in range(8)]
    table = pd.DataFrame(rows, columns=["judge", *COLUMNS["votes"]])
    people = table[table["judge"] == "j7"].head(10).drop(columns="judge")
    fit = fitted("votes", table, families=FAMILIES, anchors=people)
    assert "family:item" not in fit.model.name


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 4])
def test_people_outweigh_a_family_that_says_the_opposite(seed: int) -> None:
    """The search that starts from the panel alone ends where people are taken to be wrong: 7 to 10 nats lower."""
    rng = np.random.default_rng(seed)
    items = ITEMS[:12]
    worth = rng.uniform(-1.5, 1.5, 12)
    of_family = 0.3 * rng.normal(size=12) - worth

    def answers(seen: Any, count: int) -> list[tuple[str, str, str]]:
        found = []
        for _ in range(count):
            one, other = rng.choice(12, 2, replace=False)
            won = one if seen[one] - seen[other] + rng.logistic() > 0 else other
            found.append((items[one], items[other], items[won]))
        return found

    rows = [(f"j{k}", *vote) for k in range(8) for vote in answers(of_family if k < 7 else worth, 60)]
    table = pd.DataFrame(rows, columns=["judge", *COLUMNS["votes"]])
    people = pd.DataFrame(answers(worth, 60), columns=COLUMNS["votes"])
    people["person"] = [f"p{n % 5}" for n in range(60)]
    fit = fitted("votes", table, families=dict.fromkeys(table["judge"][:420], "f"), anchors=people, anchor_mode="joint")
    score = fit.ranking().set_index("item").loc[items, "score"]
    assert np.corrcoef(score, worth)[0, 1] > 0.7


def test_right_judges_are_those_of_no_family_that_errs() -> None:
    table, _ = panel("rankings", 2, 4, shared=2.0)
    right = fitted("rankings", table, families=FAMILIES).judges().set_index("judge")["p_right"]
    assert right[list(FAMILIES)].max() < right.drop(list(FAMILIES)).min()


def test_terms_of_families_in_another_order_say_the_same() -> None:
    table, _ = panel("rankings", 2, 4, shared=2.0)
    one, other = (
        fitted("rankings", table, families=FAMILIES, terms=terms).judges()["reliability"]
        for terms in ("item + family:item", "item:family + item")
    )
    assert np.ptp(one) > 0.1
    np.testing.assert_allclose(other, one, atol=0.02)


def test_families_that_rankings_say_nothing_of() -> None:
    table, _ = panel("rankings", 3, 1)
    alone = fitted("rankings", table, families={"j0": "f"})
    assert alone.model.name == "plackett-luce"
    with pytest.raises(InputError, match="all judges are of one family"):
        fitted("rankings", table, families=dict.fromkeys(table["judge"], "f"))
    with pytest.raises(InputError, match="plackett-luce has no term of them; name no model"):
        fitted("rankings", table, families=FAMILIES, model="plackett-luce")


@pytest.mark.parametrize("method", [pytest.param("laplace", marks=pytest.mark.slow), "map"])
def test_rankings_in_contexts_that_a_fit_does_not_know(method: str) -> None:
    table, _ = panel("rankings", 4, 6, shared=0.0)
    fit = voirdire.fit(table, method=method)
    asked = table[(table["judge"] == "j7") & (table["context"] == "c0")]
    known = fit.predict(asked)
    anywhere = fit.predict(asked.drop(columns="context"))
    with pytest.warns(UserWarning, match="no context 'new': taken as any context"):
        new = fit.predict(asked.assign(context="new"))
    pd.testing.assert_frame_equal(new.drop(columns="context"), anywhere)
    assert np.ptp(anywhere["expected_rank"]) < np.ptp(known["expected_rank"])
    assert abs(anywhere["p_first"].sum() - 1.0) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("families", [FAMILIES, {}])
def test_rankings_are_predicted_where_there_are_no_contexts(families: dict[str, str]) -> None:
    table, truth = panel("rankings", 4, 1, shared=0.0)
    fit = fitted("rankings", table, families=families)
    found = fit.predict(table[table["judge"] == "j7"]).set_index("item")
    assert found["p_first"].sum() == pytest.approx(1.0)
    assert np.corrcoef(-found["expected_rank"].loc[truth.index], truth)[0, 1] > 0.8


@pytest.mark.slow
def test_a_new_context_is_integrated_over() -> None:
    """Against many more draws by hand, where contexts differ much; without what they add it is another probability."""
    table, _ = panel("rankings", 5, 6, shared=0.0)
    shift = np.random.default_rng(2).normal(0, 6, (6, 15))
    where = table["context"].str[1].astype(int), table["item"].map(ITEMS.index)
    moved = table.assign(
        rank=(table["rank"] + shift[where]).groupby([table["judge"], table["context"]]).rank().astype(int)
    )
    fit = voirdire.fit(moved, method="laplace")
    asked = moved[(moved["judge"] == "j7") & (moved["context"] == "c0")].drop(columns="context")
    values, rng = fit.posterior.values, np.random.default_rng(1)
    judge, item = fit.problem.judges.index("j7"), [fit.problem.items.index(one) for one in asked["item"]]
    eta = values["strength"][:, 0, item] + values["taste"][:, judge][:, item]
    spread = np.exp(values["log_context_spread"])

    def first(times: float) -> Any:
        more = np.repeat(eta, 5, axis=0) + times * np.repeat(spread, 5)[:, None] * rng.standard_normal(
            (5 * len(eta), 15)
        )
        weight = np.exp(more)
        return (weight / weight.sum(axis=1, keepdims=True)).mean(axis=0)

    by_hand, without = first(1.0), first(0.0)
    found = fit.predict(asked)["p_first"]
    np.testing.assert_allclose(found, by_hand, atol=0.02)
    assert np.abs(found - by_hand).sum() < 0.4 * np.abs(found - without).sum()


@pytest.mark.slow
def test_copies_within_a_family_count_as_one() -> None:
    """Of five judges of a family two repeat a third; what the family shares in items is no copying."""
    table, _ = panel("votes", 6, 4)
    first = table[table["judge"] == "j0"]
    copies = pd.concat([table, *(first.assign(judge=f"copy {n}") for n in (1, 2))])
    named = FAMILIES | {"copy 1": "f", "copy 2": "f"}
    fit = fitted("votes", copies, families=named)
    weight = dict(zip(fit.problem.judges, fit.problem.answer_weight, strict=True))
    assert {judge for judge, one in weight.items() if one < 1.0} == {"j0", "copy 1", "copy 2"}
    assert max(weight[judge] for judge in ("j0", "copy 1", "copy 2")) < 0.4
    assert any("Families: an answer counts for" in note for note in fit.notes)
    assert fitted("votes", table, families=FAMILIES).problem.answer_weight is None


@pytest.mark.parametrize("data", ["votes", "scores", "both"])
def test_a_judge_of_a_family_may_vote_on_criteria_alone(data: str) -> None:
    rng = np.random.default_rng(0)
    about = pd.MultiIndex.from_product([["a", "b", "c"], ["p", "q"], ITEMS[:4]], names=["judge", "criterion", "item"])
    scores = about.to_frame(index=False).assign(score=rng.integers(1, 6, 24))
    votes = scores.rename(columns={"item": "first"}).assign(second=ITEMS[4], winner=lambda t: t["first"])
    table = {"votes": votes, "scores": scores, "both": [votes, scores]}[data]
    on_criteria = pd.DataFrame({"judge": ["a", "z"], "first": "p", "second": "q", "winner": ["p", "q"]})
    how: dict[str, Any] = {"method": "map", "levels": None if data == "votes" else [1, 2, 3, 4, 5]}
    fit = voirdire.fit(table, on_criteria, families={"a": "f", "b": "f", "z": "f"}, **how)
    assert "z" in fit.problem.judges
    with pytest.raises(InputError, match=r"judge 'y' is none of the 4 judges"):
        voirdire.fit(table, on_criteria, families={"y": "f"}, **how)
