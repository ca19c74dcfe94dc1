"""Answers to accept and those to ask people about: the guarantee, what is refused, what is said, the command."""

from __future__ import annotations

import json
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.decide.selective import Part, answers_needed, candidate_parts, fewest_answers, guaranteed_parts
from voirdire.errors import InputError

ERROR, PROB = 0.1, 0.9


def simulated(rng: np.random.Generator, units: int = 1000) -> tuple[Any, Any]:
    """Confidence of answers and whether they are right: sure ones mostly are, and some that are sure are not."""
    strength = np.abs(rng.normal(1.5, 1.6, units))
    right = rng.random(units) < 1 / (1 + np.exp(-1.3 * strength))
    return strength + rng.normal(0, 0.3, units), right.astype(float)


def panel(rng: np.random.Generator, items: int = 300, accuracy: float = 0.9) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Labels of three judges, to whom some items are hard, and the truth."""
    truth = rng.integers(0, 2, items)
    hard = rng.random(items) < 0.3
    rows = []
    for judge in ("ann", "bob", "cyd"):
        right = rng.random(items) < np.where(hard, 0.55, accuracy)
        said = np.where(right, truth, 1 - truth)
        rows.append(pd.DataFrame({"judge": judge, "item": range(items), "label": np.array(["no", "yes"])[said]}))
    gold = pd.DataFrame({"item": range(items), "label": np.array(["no", "yes"])[truth]})
    return pd.concat(rows, ignore_index=True), gold


def test_the_p_value_is_that_of_a_sample_without_replacement() -> None:
    part = Part(0.9, 50, 20, 1)
    differ = 3 + 1 + 1  # more than a tenth of the 30 others, and the one that is known
    exact = sum(comb(differ, x) * comb(50 - differ, 20 - x) for x in (0, 1)) / comb(50, 20)
    assert part.p_value(0.1) == pytest.approx(exact, rel=1e-9)
    assert Part(0.9, 10**7, 22, 0).p_value(0.1) == pytest.approx(0.9**22, rel=1e-4)


@pytest.mark.parametrize(("known", "least"), [(100, 0.2), (400, 0.5)])
def test_people_agree_as_guaranteed_in_at_least_the_stated_share_of_simulations(known: int, least: float) -> None:
    """And without the guarantee, by the share seen among known answers alone, they do not."""
    rng, held, naive, accepted = np.random.default_rng(1), [], [], []
    for _ in range(200):
        confidence, truth = simulated(rng)
        seen = np.full(len(truth), np.nan)
        chosen = rng.choice(len(truth), known, replace=False)
        seen[chosen] = truth[chosen]
        tried = candidate_parts(confidence, seen, ERROR, PROB)
        for kept, into in (
            (guaranteed_parts(tried, ERROR, PROB), held),
            ([one for one in tried if one.wrong <= ERROR * one.known], naive),
        ):
            some = np.isnan(seen) & (confidence >= (kept[-1].threshold if kept else np.inf))
            into.append(not some.any() or truth[some].mean() >= 1 - ERROR)
            if into is held:
                accepted.append(some.sum() / np.isnan(seen).sum())
    assert np.mean(held) >= PROB
    assert np.mean(naive) < PROB - 0.2
    assert np.mean(accepted) > least


def test_sizes_are_tried_in_an_order_that_peoples_answers_do_not_change() -> None:
    rng = np.random.default_rng(2)
    confidence, truth = simulated(rng)
    seen = np.where(rng.random(1000) < 0.2, truth, np.nan)
    tried = candidate_parts(confidence, seen, ERROR, PROB)
    other = candidate_parts(confidence, 1 - seen, ERROR, PROB)
    assert [one.threshold for one in tried] == [one.threshold for one in other]
    assert [one.size for one in tried] == sorted(one.size for one in tried)
    assert tried[-1].size == 1000


def test_the_first_size_that_does_not_hold_ends_it() -> None:
    good, bad = Part(0.9, 1000, 100, 0), Part(0.8, 1100, 110, 30)
    assert guaranteed_parts([good, bad, good], ERROR, PROB) == [good]
    assert guaranteed_parts([bad, good], ERROR, PROB) == []


def test_how_many_known_answers_it_takes() -> None:
    assert fewest_answers(0.1, 0.9) == 22
    assert 0.9**22 <= 0.1 < 0.9**21
    assert answers_needed(None, 5, 0.1, 0.9) == 33
    assert answers_needed(Part(0.9, 1000, 50, 10), 200, 0.1, 0.9) is None
    more = answers_needed(Part(0.9, 10**6, 50, 4), 200, 0.1, 0.9)
    assert more is not None
    assert more > 200


@pytest.mark.parametrize(("size", "known", "wrong"), [(25, 16, 0), (150, 24, 2), (40, 30, 5), (1000, 60, 10)])
def test_answers_that_would_do_are_more_than_those_that_did_not_and_fewer_than_all(
    size: int, known: int, wrong: int
) -> None:
    """Of a small part the differences are counted among the answers that are not known, however many are."""
    part = Part(0.9, size, known, wrong)
    assert part.p_value(0.2) > 0.1
    more = answers_needed(part, known, 0.2, 0.9)
    enough = [
        n for n in range(known + 1, size) if part._replace(known=n, wrong=-(-wrong * n // known)).p_value(0.2) <= 0.1
    ]
    assert (more is None) == (not enough)
    assert more is None or more in enough


def test_a_small_table_is_not_told_to_have_more_answers_of_people_than_answers() -> None:
    table, gold = panel(np.random.default_rng(6))
    table = table[table["item"].isin(gold["item"].head(30))]
    found = voirdire.fit(table, method="map").escalate(gold.head(20))
    assert found.needed is None
    assert "no number of people's answers" in found.sentence()


def test_labels_are_accepted_where_judges_agree_and_people_are_asked_about_the_rest() -> None:
    table, gold = panel(np.random.default_rng(3))
    known = gold.sample(120, random_state=0)
    found = voirdire.fit(table, method="map").escalate(known, error=0.2)
    items = found.items
    assert found.counts["known"] == 120
    assert found.counts["accept"] > 30
    assert set(items.loc[items["do"] == "known", "item"]) == set(known["item"].astype(str))
    accepted = items[items["do"] == "accept"]
    assert accepted["confidence"].min() >= items.loc[items["do"] == "ask", "confidence"].max()
    truth = gold.assign(item=gold["item"].astype(str)).set_index("item")["label"]
    assert (truth[accepted["item"]].to_numpy() == accepted["answer"]).mean() >= 0.8
    assert f"Accept {found.counts['accept']} of 180 answers" in found.sentence()


def test_a_sample_of_sure_answers_is_no_guarantee_and_said_so() -> None:
    table, gold = panel(np.random.default_rng(4))
    fitted = voirdire.fit(table, method="map")
    sure = fitted.classes().nlargest(120, "probability")["item"]
    chosen = gold[gold["item"].astype(str).isin(sure)]
    assert "no random sample" in fitted.escalate(chosen).notes[0]
    assert fitted.escalate(gold.sample(120, random_state=1)).notes == ()


def test_several_criteria_of_an_item_are_no_answers_drawn_one_by_one_and_said_so() -> None:
    labels, gold = panel(np.random.default_rng(5), items=60)
    both = pd.concat([labels.assign(criterion=name) for name in ("clear", "true")], ignore_index=True)
    people = pd.concat([gold.assign(criterion=name) for name in ("clear", "true")], ignore_index=True)
    fit = voirdire.fit(both, method="map")
    whole = fit.escalate(people[people["item"] < 30], error=0.3)
    assert "each under all of its criteria" in whole.notes[-1]
    assert "60 questions about 30 items" in whole.notes[-1]
    single = fit.escalate(people.sample(60, random_state=0), error=0.3)
    assert not [note for note in single.notes if "criteria" in note]
    one = voirdire.fit(labels, method="map").escalate(gold[gold["item"] < 30], error=0.3)
    assert not [note for note in one.notes if "criteria" in note]


def test_prices_choose_among_what_holds() -> None:
    table, gold = panel(np.random.default_rng(5))
    fitted, known = voirdire.fit(table, method="map"), gold.sample(150, random_state=0)
    free = fitted.escalate(known, error=0.2)
    dear = fitted.escalate(known, error=0.2, cost_human=1.0, cost_error=0.5)
    cheap = fitted.escalate(known, error=0.2, cost_human=0.001, cost_error=1.0)
    assert dear.counts == free.counts
    assert cheap.counts["accept"] == 0
    assert cheap.cost is not None
    assert cheap.cost["advised"] == cheap.cost["people"] == pytest.approx(0.001 * 150)
    assert "costs less" in cheap.sentence()
    assert dear.cost is not None
    assert dear.cost["advised"] < dear.cost["people"] == 150.0
    part = dear.part
    assert part is not None
    accepted = part.size - part.known
    expected = 150 - accepted + 0.5 * accepted * (part.wrong + 0.5) / (part.known + 1)
    assert dear.cost["advised"] == pytest.approx(expected)


def test_too_few_known_answers_accept_nothing_and_say_how_many_it_takes() -> None:
    table, gold = panel(np.random.default_rng(6))
    found = voirdire.fit(table, method="map").escalate(gold.head(20))
    assert (found.counts["accept"], found.needed) == (0, 33)
    assert "about 33 known answers" in found.sentence()


def pairs(rng: np.random.Generator, count: int = 200) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Votes of five judges on unlinked pairs, shown in either order, and the better of each."""
    rows, gold = [], []
    for pair in range(count):
        one, other = f"{pair}a", f"{pair}b"
        better, worse = (one, other) if rng.random() < 0.5 else (other, one)
        gold.append({"first": one, "second": other, "winner": better})
        for judge, accuracy in (("j1", 0.9), ("j2", 0.85), ("j3", 0.8), ("j4", 0.8), ("j5", 0.75)):
            first, second = (one, other) if rng.random() < 0.5 else (other, one)
            winner = better if rng.random() < accuracy else worse
            rows.append({"judge": judge, "first": first, "second": second, "winner": winner})
    return pd.DataFrame(rows), pd.DataFrame(gold)


def test_of_votes_the_better_of_every_pair_is_claimed_whatever_the_order_people_saw() -> None:
    votes, gold = pairs(np.random.default_rng(7))
    fitted = voirdire.fit(votes, model="crowd-bt", method="map")
    known = gold.sample(100, random_state=0)
    turned = known.rename(columns={"first": "second", "second": "first"})
    found = fitted.escalate(known, error=0.2)
    assert found.counts == fitted.escalate(turned, error=0.2).counts
    assert found.counts["accept"] > 50
    both = found.items.merge(gold, on=["first", "second"])
    assert (both["answer"] == both["winner"])[both["do"] == "accept"].mean() >= 0.8


@pytest.mark.slow
def test_answers_that_taught_the_fit_check_nothing() -> None:
    votes, gold = pairs(np.random.default_rng(8), 80)
    taught, known = gold.head(20), gold.iloc[20:50]
    fitted = voirdire.fit(votes, anchors=taught, model="crowd-bt", method="map")
    found = fitted.escalate(pd.concat([taught, known]), error=0.3)
    assert found.known == 30
    assert found.counts["known"] == 50
    shown = fitted.pairs().set_index(["first", "second"])["p_first"]
    for row in found.items.head(5).to_dict("records"):
        p = shown[row["first"], row["second"]]
        assert row["confidence"] == pytest.approx(max(p, 1 - p))


def test_labels_and_scores_that_taught_the_fit_check_nothing_either() -> None:
    table, gold = panel(np.random.default_rng(9), 100)
    found = voirdire.fit(table, anchors=gold.head(30), method="map").escalate(gold.head(60))
    assert (found.known, found.counts["known"]) == (30, 60)
    scores = table.assign(score=np.where(table["label"] == "yes", 5, 2)).drop(columns="label")
    people = gold.assign(score=np.where(gold["label"] == "yes", 4, 2)).drop(columns="label")
    fitted = voirdire.fit(scores, anchors=people.head(30), levels=[2, 4, 5], method="map")
    assert fitted.escalate(people.head(60), tolerance=1).known == 30


def test_scores_are_accepted_within_a_tolerance_of_peoples_mean() -> None:
    rng = np.random.default_rng(10)
    truth = rng.integers(1, 6, 200)
    noise = np.where(rng.random(200) < 0.3, 1.6, 0.3)
    rows = [
        pd.DataFrame(
            {
                "judge": judge,
                "item": [f"i{n}" for n in range(200)],
                "score": np.clip(np.round(truth + noise * rng.normal(size=200)), 1, 5).astype(int),
            }
        )
        for judge in "abc"
    ]
    fitted = voirdire.fit(pd.concat(rows), method="map")
    people = pd.DataFrame({"item": [f"i{n}" for n in range(200)], "score": truth}).sample(100, random_state=0)
    found = fitted.escalate(people, error=0.2, tolerance=1)
    assert found.counts["accept"] > 20
    accepted = found.items[found.items["do"] == "accept"]
    at = accepted["item"].str[1:].astype(int)
    assert (np.abs(truth[at] - accepted["answer"].astype(float)) <= 1).mean() >= 0.8
    with pytest.raises(InputError, match="scores need tolerance="):
        fitted.escalate(people)


def test_peoples_ties_are_no_agreement() -> None:
    table, gold = panel(np.random.default_rng(11))
    fitted, known = voirdire.fit(table, method="map"), gold.sample(100, random_state=0)
    flipped = known.assign(label=np.where(known["label"] == "yes", "no", "yes"))
    divided = [known.assign(person="ann"), flipped.assign(person="bob")]
    assert fitted.escalate(divided).counts["accept"] == 0
    most = [*divided, known.assign(person="eve")]
    assert fitted.escalate(most, error=0.2).counts == fitted.escalate(known, error=0.2).counts


def test_what_is_wrong_is_named() -> None:
    table, gold = panel(np.random.default_rng(12), 60)
    fitted = voirdire.fit(table, method="map")
    with pytest.raises(InputError, match=r"error 1.5 is not between 0 and 1.*\n.*cost_human -1"):
        fitted.escalate(gold, error=1.5, cost_human=-1)
    with pytest.raises(InputError, match="row 61: no judge answered this"):
        fitted.escalate(pd.concat([gold, pd.DataFrame({"item": ["new"], "label": ["yes"]})]))
    with pytest.raises(InputError, match="tolerance= is for scores"):
        fitted.escalate(gold, tolerance=1)
    with pytest.raises(InputError, match="column 'score'"):
        fitted.escalate(gold.rename(columns={"label": "score"}).assign(score=1))
    rankings = pd.DataFrame({"judge": list("aaabbb"), "item": list("xyzxyz"), "rank": [1, 2, 3, 2, 1, 3]})
    with pytest.raises(InputError, match="escalate\\(\\) is for fits of labels, votes or scores"):
        voirdire.fit(rankings, method="map").escalate(gold)


def test_the_command_says_the_same_and_writes_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, gold = panel(np.random.default_rng(13))
    known = gold.sample(120, random_state=0)
    table.to_csv(tmp_path / "labels.csv", index=False)
    known.to_csv(tmp_path / "people.csv", index=False)
    fitted = voirdire.fit(table, method="map")
    fitted.save(tmp_path / "run")
    options = ["--humans", str(tmp_path / "people.csv"), "--error", "0.2", "--cost-human", "0.5"]
    words = ["escalate", str(tmp_path / "run"), *options]
    found = json.loads(CliRunner().invoke(app, [*words, "--json"], catch_exceptions=False).stdout)
    expected = fitted.escalate(known, error=0.2, cost_human=0.5)
    assert found == json.loads(json.dumps(expected.as_dict()))
    out = tmp_path / "out.csv"
    shown = CliRunner().invoke(app, [*words, "--out", str(out)], catch_exceptions=False).stdout
    assert expected.sentence() in " ".join(shown.split())
    assert "Expected cost:" in shown
    assert (pd.read_csv(out)["do"] == "accept").sum() == found["accept"] > 0
    assert CliRunner().invoke(app, [*words, "--out", str(out)]).exit_code == 1
    refused = CliRunner().invoke(app, ["escalate", str(tmp_path / "labels.csv")])
    assert refused.exit_code == 1
    assert "say who are people" in refused.stderr
    monkeypatch.delattr("voirdire.cli.escalate.fit")  # before which a wrong share is refused
    wrong = ["escalate", str(tmp_path / "labels.csv"), *options[:2], "--error", "2"]
    assert "error 2.0 is not between 0 and 1" in CliRunner().invoke(app, wrong).stderr
    assert CliRunner().invoke(app, [*words, "--model", "dawid-skene"]).exit_code == 2


@pytest.mark.slow
def test_the_command_fits_a_table_and_takes_people_among_its_judges(tmp_path: Path) -> None:
    table, gold = panel(np.random.default_rng(13))
    known = gold.sample(120, random_state=0).assign(judge="eve")
    pd.concat([table, known]).to_csv(tmp_path / "labels.csv", index=False)
    words = ["escalate", str(tmp_path / "labels.csv"), "--people", "eve", "--error", "0.2", "--json"]
    found = json.loads(CliRunner().invoke(app, words, catch_exceptions=False).stdout)
    assert (found["accept"] + found["ask"], found["known"], found["of_people"]) == (180, 120, 120)
    assert found["accept"] > 0


def test_what_the_panel_alone_costs_is_not_said_where_nobody_checked_it() -> None:
    labels, gold = panel(np.random.default_rng(0), items=40)
    fit = voirdire.fit(labels, anchors=gold.head(20), method="map")
    found = fit.escalate(gold.head(20), cost_human=1.0)
    assert (found.items["do"] == "known").sum() == 20
    assert set(found.as_dict()["cost"]) == {"advised", "people"}
