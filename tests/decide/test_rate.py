"""The share of items that people would call good: values, groups, differences, what is refused, coverage."""

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
from voirdire.decide.strata import share_of_good
from voirdire.errors import InputError

N = 600


def truth_of(share: float, rng: np.random.Generator, items: int = N) -> np.ndarray[Any, Any]:
    return rng.random(items) < share


def judged(
    truth: np.ndarray[Any, Any], sensitivity: float, specificity: float, rng: np.random.Generator, judge: str = "gpt"
) -> pd.DataFrame:
    said = np.where(truth, rng.random(len(truth)) < sensitivity, rng.random(len(truth)) >= specificity)
    return pd.DataFrame({"judge": judge, "item": range(len(truth)), "label": np.where(said, "pass", "fail")})


def said_by_people(truth: np.ndarray[Any, Any], n: int) -> pd.DataFrame:
    return pd.DataFrame({"item": range(n), "label": np.where(truth[:n], "pass", "fail")})


def test_of_one_judge_the_rate_is_peoples_within_its_answers_weighed_by_its_share() -> None:
    table = pd.DataFrame({"judge": "g", "item": range(100), "label": ["pass"] * 10 + ["fail"] * 10 + ["pass"] * 80})
    people = pd.DataFrame({"item": range(20), "label": ["pass"] * 9 + ["fail"] + ["pass"] + ["fail"] * 9})
    found = voirdire.rate(table, people)
    # Jeffreys: 9.5 of 11 where it says pass, 1.5 of 11 where it does not
    assert found["rate"] == pytest.approx(0.9 * 9.5 / 11 + 0.1 * 1.5 / 11)
    assert (found["estimator"], found["humans"], found["items"], found["judges"]) == ("joint", 20, 100, ["g"])
    assert found["low"] < found["rate"] < found["high"]
    by = {row["estimator"]: row["rate"] for row in found["estimators"]}
    assert by["people"] == pytest.approx(0.5)
    assert by["rogan-gladen"] == pytest.approx((0.9 + 0.9 - 1) / 0.8)


@pytest.mark.parametrize(("of_people", "of_judges"), [("Pass", "pass"), ("pass", "PASS"), ("pass  it", "Pass it")])
def test_labels_that_differ_in_spelling_alone_are_named(of_people: str, of_judges: str, tmp_path: Path) -> None:
    table, people = tmp_path / "table.csv", tmp_path / "people.csv"
    pd.DataFrame({"judge": "g", "item": range(40), "label": [of_judges, "fail"] * 20}).to_csv(table, index=False)
    pd.DataFrame({"item": range(10), "label": [of_people, "fail"] * 5}).to_csv(people, index=False)
    done = CliRunner().invoke(app, ["rate", str(table), "--humans", str(people)])
    assert done.exit_code
    said = done.output.replace("\n", " ")
    assert "labels differ in spelling alone" in said
    assert repr(of_people) in said
    assert repr(of_judges) in said


def test_too_few_answers_or_a_constant_judge_leave_people_alone() -> None:
    rng = np.random.default_rng(1)
    truth = truth_of(0.5, rng)
    few = voirdire.rate(judged(truth, 0.9, 0.9, rng), said_by_people(truth, 9))
    assert (few["estimator"], few["rate"]) == ("people", pytest.approx(truth[:9].mean()))
    assert "only 9 human answers" in few["note"]
    constant = judged(truth, 1, 0, rng)
    found = voirdire.rate(constant, said_by_people(truth, 50))
    assert (found["estimator"], "say the same of every item" in found["note"]) == ("people", True)


def test_the_number_of_answers_that_are_needed_is_enough() -> None:
    rng = np.random.default_rng(2)
    truth = truth_of(0.4, rng, 4000)
    table = judged(truth, 0.9, 0.9, rng)
    first = voirdire.rate(table, said_by_people(truth, 100), margin=0.05)
    then = voirdire.rate(table, said_by_people(truth, first["needed"]), margin=0.05)
    assert 100 < first["needed"] < 1000
    assert (then["high"] - then["low"]) / 2 == pytest.approx(0.05, abs=0.01)
    assert voirdire.rate(table, said_by_people(truth, 100), margin=0.001)["needed"] is None


def test_groups_and_systems_have_rates_and_paired_differences() -> None:
    rng = np.random.default_rng(3)
    hard = rng.random(300) < 0.5  # what both systems find hard
    rows, people = [], []
    for system, share in (("a", 0.9), ("b", 0.6)):
        good = rng.random(300) < np.where(hard, share - 0.3, share)
        said = np.where(rng.random(300) < 0.9, good, ~good)
        names = {"context": range(300), "system": system, "kind": np.where(hard, "hard", "easy")}
        rows.append(pd.DataFrame({"judge": "g", "label": np.where(said, "yes", "no"), **names}))
        people.append(pd.DataFrame({"label": np.where(good, "yes", "no"), **names})[:100])
    found = voirdire.rate(pd.concat(rows), pd.concat(people), by="kind")
    groups = {(row["by"], row["group"]): row for row in found["by"]}
    assert groups["kind", "easy"]["rate"] > groups["kind", "hard"]["rate"]
    assert groups["system", "a"]["rate"] - groups["system", "b"]["rate"] == pytest.approx(
        found["differences"][0]["difference"]
    )
    (row,) = found["differences"]
    assert (row["a"], row["b"], row["contexts"]) == ("a", "b", 300)
    assert row["low"] > 0
    assert row["p_value"] < 0.01
    wide = [groups["system", name]["high"] - groups["system", name]["low"] for name in "ab"]
    assert row["high"] - row["low"] < np.hypot(*wide)  # what contexts share is taken off


def test_people_may_score_and_judges_label() -> None:
    rng = np.random.default_rng(4)
    truth = truth_of(0.5, rng)
    people = pd.DataFrame({"item": range(80), "score": np.where(truth[:80], 4, 2)})
    found = voirdire.rate(judged(truth, 0.9, 0.9, rng), people, positive=4)
    assert found["rate"] == pytest.approx(truth.mean(), abs=0.12)
    with pytest.raises(InputError, match="say from which score on an item is good"):
        voirdire.rate(judged(truth, 0.9, 0.9, rng), people)


def test_scores_of_judges_are_levels() -> None:
    rng = np.random.default_rng(5)
    truth = truth_of(0.3, rng)
    score = np.clip(np.round(2 + 2 * truth + rng.normal(0, 1, N)), 1, 5)
    table = pd.DataFrame({"judge": "g", "item": range(N), "score": score})
    found = voirdire.rate(table, said_by_people(truth, 150))
    alone = {row["estimator"]: row for row in found["estimators"]}["people"]
    assert found["high"] - found["low"] < 0.95 * (alone["high"] - alone["low"])


@pytest.mark.parametrize(
    ("people", "message"),
    [
        (pd.DataFrame({"item": ["x", "y"], "label": "pass"}), "no item in common: people answered 'x', judges '0'"),
        (pd.DataFrame({"item": [0, 1, 7777], "label": "pass"}), "row 3: no judge answered this item"),
        (pd.DataFrame({"item": [0], "label": ["pass"]}), "only one item with an answer"),
        (pd.DataFrame({"item": [0, 0], "label": ["pass", "fail"]}), "row 2: contradicts another answer"),
        (
            pd.DataFrame({"item": [0, 1], "label": ["not spam", "fail"]}),
            "none is known to be the good one; say which: --positive",
        ),
        (
            pd.DataFrame({"item": range(5), "score": range(1, 6)}),
            "scores, from 1 to 5: say from which score on an item is good; --positive 4, for example",
        ),
        (None, "say who are people"),
    ],
)
def test_what_is_wrong_is_refused_with_its_remedy(people: pd.DataFrame | None, message: str) -> None:
    rng = np.random.default_rng(6)
    with pytest.raises(InputError, match=message):
        voirdire.rate(judged(truth_of(0.5, rng), 0.9, 0.9, rng), people)


def test_one_class_of_people_is_an_answer_with_a_note_and_votes_are_refused() -> None:
    rng = np.random.default_rng(7)
    table = judged(truth_of(0.9, rng), 0.9, 0.7, rng)
    found = voirdire.rate(table, pd.DataFrame({"item": range(30), "label": "pass"}))
    assert "people called all 30 items good" in found["note"]
    assert found["high"] - found["low"] > 0.03
    assert [row["rate"] for row in found["estimators"] if row["estimator"] == "rogan-gladen"] == [None]
    votes = pd.DataFrame({"judge": "g", "first": "a", "second": "b", "winner": ["a", "b"]})
    with pytest.raises(InputError, match="agree --humans"):
        voirdire.rate(votes, pd.DataFrame({"item": [1], "label": "pass"}))
    with pytest.raises(InputError, match="margin 0 is not between 0 and 1"):
        voirdire.rate(table, pd.DataFrame({"item": range(30), "label": "pass"}), margin=0)


def test_the_command_says_the_same_as_python(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    truth = truth_of(0.5, rng)
    table, people = judged(truth, 0.9, 0.8, rng), said_by_people(truth, 60)
    table.to_csv(tmp_path / "labels.csv", index=False)
    people.to_csv(tmp_path / "people.csv", index=False)
    words = ["rate", str(tmp_path / "labels.csv"), "--humans", str(tmp_path / "people.csv")]
    done = CliRunner().invoke(app, [*words, "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == json.loads(json.dumps(voirdire.rate(table, people)))
    shown = CliRunner().invoke(app, words).stdout
    assert "People would call" in shown
    assert "60 of 600 items have human answers; estimator: joint" in shown
    assert max(map(len, shown.splitlines())) <= 80


def simulated(
    n: int, sensitivity: float, specificity: float, share: float, tables: int, judges: int = 1
) -> tuple[float, float]:
    """Coverage of the interval, and the error over that of the best of the four."""
    rng = np.random.default_rng([n, judges, *(round(100 * one) for one in (sensitivity, specificity, share))])
    covered, errors = [], []
    for _ in range(tables):
        truth = truth_of(share, rng, 1000)
        table = pd.concat([judged(truth, sensitivity, specificity, rng, f"j{k}") for k in range(judges)])
        found = voirdire.rate(table, said_by_people(truth, n))
        covered.append(found["low"] <= share <= found["high"])
        values = [found["rate"], *(row["rate"] for row in found["estimators"])]
        errors.append([(truth[:n].mean() if one is None else one) - share for one in values])
    root = np.sqrt(np.mean(np.square(errors), axis=0))
    return float(np.mean(covered)), float(root[0] / root[1:].min())


SETTINGS = [
    (n, sensitivity, specificity, share)
    for n, share in ((30, 0.5), (30, 0.1), (100, 0.1), (100, 0.9), (300, 0.5), (300, 0.9))
    for sensitivity, specificity in ((0.7, 0.9), (0.95, 0.8))
]


@pytest.mark.slow
def test_intervals_cover_and_the_error_is_near_the_best() -> None:
    found = [simulated(*one, tables=25) for one in SETTINGS[::3]]
    covered, error = np.mean(found, axis=0)
    assert 0.84 <= covered <= 0.96  # 100 tables: standard error .03
    assert error <= 1.08


@pytest.mark.slow
@pytest.mark.long
def test_intervals_of_twelve_settings_cover() -> None:
    found = np.array([simulated(*one, tables=200) for one in SETTINGS])
    assert 0.88 <= found[:, 0].mean() <= 0.92
    assert ((found[:, 0] > 0.9 - 3 * 0.0212) & (found[:, 0] < 0.9 + 3 * 0.0212)).all(), found
    assert found[:, 1].max() <= 1.05, found


@pytest.mark.long
@pytest.mark.slow
def test_shares_of_real_tables_are_covered_and_told_better_than_by_people_alone(shared: Path) -> None:
    """Five crowds with gold: 60 random gold labels are people's answers, all others are left out; twelve times."""
    covered, squares = [], []
    for name in ("products", "zencrowd", "framing", "aspects", "dogs"):
        labels, gold = (pd.read_csv(shared / "data" / f"{name}_{part}.csv", dtype=str) for part in ("labels", "gold"))
        gold = gold.set_axis(["item", "label"], axis=1)
        labels = labels[labels["item"].isin(gold["item"])]
        gold = gold[gold["item"].isin(labels["item"])]
        good = gold["label"].mode()[0]
        share, widths = float((gold["label"] == good).mean()), []
        for seed in range(12):
            people = gold.sample(60, random_state=seed)
            found = voirdire.rate(labels, people, positive=good)
            alone = found["estimators"][-1]
            covered.append(found["low"] <= share <= found["high"])
            squares.append([(found["rate"] - share) ** 2, (alone["rate"] - share) ** 2])
            widths.append([found["high"] - found["low"], alone["high"] - alone["low"]])
        ours, theirs = np.mean(widths, axis=0)
        assert ours < theirs, name
    assert 0.78 <= np.mean(covered) <= 1.0  # 60 at .9: three standard errors of .039
    ours, theirs = np.mean(squares, axis=0)
    assert ours < theirs


def panel(truth: np.ndarray[Any, Any], judges: int, shared: float, rng: np.random.Generator) -> pd.DataFrame:
    """Judges of sensitivity .7 and specificity .9, who give this share of their answers by a draw in common."""
    common, rows = rng.random(len(truth)), []
    for k in range(judges):
        draw = np.where(rng.random(len(truth)) < shared, common, rng.random(len(truth)))
        said = np.where(np.where(truth, draw < 0.7, draw >= 0.9), "pass", "fail")
        rows.append(pd.DataFrame({"judge": f"j{k}", "item": range(len(truth)), "label": said}))
    return pd.concat(rows)


def by_several(judges: int, shared: float, share: float, n: int, tables: int) -> tuple[float, float, float]:
    """Coverage of the interval, mean error, and width over that of people alone."""
    rng, found = np.random.default_rng([judges, n, round(100 * shared), round(100 * share)]), []
    for _ in range(tables):
        truth = truth_of(share, rng, 1000)
        row = voirdire.rate(panel(truth, judges, shared, rng), said_by_people(truth, n), positive="pass")
        alone = row["estimators"][-1]
        width = (row["high"] - row["low"]) / (alone["high"] - alone["low"])
        found.append((row["low"] <= share <= row["high"], row["rate"] - share, width))
    covered, error, width = np.mean(found, axis=0)
    return float(covered), float(error), float(width)


@pytest.mark.slow
@pytest.mark.parametrize("judges", [2, 3])
def test_shared_mistakes_of_several_judges_leave_the_interval_right(judges: int) -> None:
    found = np.array(
        [by_several(judges, shared, share, 60, 30) for shared, share in ((0.0, 0.4), (0.9, 0.4), (0.5, 0.9))]
    )
    assert 0.81 <= found[:, 0].mean() <= 0.99  # 90 tables: three standard errors of .032
    # mistakes that are shared make several judges worth little more than one: wider, and narrower than people alone
    assert found[0, 2] < found[1, 2] < 1.0


@pytest.mark.slow
@pytest.mark.long
def test_intervals_by_several_judges_cover_whatever_they_share() -> None:
    settings = [
        (judges, shared, share, n)
        for judges in (2, 3)
        for shared in (0.0, 0.5, 0.9)
        for share, n in ((0.1, 30), (0.1, 100), (0.9, 100))
    ]
    found = np.array([by_several(*one, tables=60) for one in settings])
    assert 0.873 <= found[:, 0].mean() <= 0.927  # 1,080 tables: standard error .009
    assert found[:, 0].min() >= 0.9 - 3 * 0.039, found
    # 360 tables: standard error .0015; half an answer of each kind in every stratum makes it about -.016
    assert abs(found[2::3, 1].mean()) <= 0.0125


@pytest.mark.parametrize("strata", [1, 2, 3, 6])
def test_strata_alike_have_the_rate_of_all_answers_whatever_their_number(strata: int) -> None:
    each, good = 12, np.full(1200, np.nan)
    stratum = np.arange(1200) % strata
    for h in range(strata):
        good[np.flatnonzero(stratum == h)[:each]] = np.arange(each) >= h
    seen = ~np.isnan(good)
    found = share_of_good(good, stratum, np.arange(1200))
    prior = 1 if strata > 1 else 0.5
    expected = (good[seen].sum() + prior) / (seen.sum() + 2 * prior)
    assert found.value == pytest.approx(expected)


@pytest.mark.slow
def test_several_judges_at_once_tell_more_than_the_best_of_them() -> None:
    truth, found = np.random.default_rng(11), {"one": [], "three": []}  # type: ignore[var-annotated]
    for _ in range(20):
        good = truth_of(0.4, truth, 1000)
        people = said_by_people(good, 100)
        judges = [judged(good, 0.85, 0.85, truth, f"j{k}") for k in range(3)]
        for name, table in (("one", judges[0]), ("three", pd.concat(judges))):
            row = voirdire.rate(table, people)
            found[name].append([row["low"] <= 0.4 <= row["high"], row["rate"] - 0.4, row["high"] - row["low"]])
    assert row["judges"] == ["j0", "j1", "j2"]
    one, three = (np.array(found[name], float) for name in ("one", "three"))
    assert three[:, 0].sum() >= 15  # 20 tables at .9: fewer than 15 once in 200
    assert np.sqrt(np.mean(three[:, 1] ** 2)) < 0.05
    assert three[:, 2].mean() < 0.9 * one[:, 2].mean()
    # a judge who guesses at random takes nothing away
    table = pd.concat([*judges, judged(good, 0.5, 0.5, truth, "guess")])
    assert voirdire.rate(table, people)["rate"] == pytest.approx(row["rate"], abs=0.03)
    assert voirdire.rate(table, people, judges=["j0", "j1", "j2"])["rate"] == row["rate"]


def test_systems_without_a_context_in_common_are_not_said_to_be_paired(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    truth = truth_of(0.5, rng)
    table = judged(truth, 0.9, 0.8, rng)
    table.assign(system=["a", "b"] * 300).to_csv(tmp_path / "labels.csv", index=False)
    said_by_people(truth, 60).to_csv(tmp_path / "people.csv", index=False)
    words = ["rate", str(tmp_path / "labels.csv"), "--humans", str(tmp_path / "people.csv")]
    shown = " ".join(CliRunner().invoke(app, words).stdout.split())
    assert "paired" not in shown
    assert "(no context in common)" in shown


def test_the_remedy_for_a_context_of_the_judges_alone_is_named() -> None:
    table = pd.DataFrame({"judge": "g", "item": [0, 0, 1, 1], "context": range(4), "label": ["yes", "no"] * 2})
    people = pd.DataFrame({"item": [0, 1], "label": ["yes", "no"]})
    for verb in (voirdire.rate, voirdire.audit):
        with pytest.raises(InputError, match=r"'context' and the humans' has not.*give it to both tables"):
            verb(table, people)


def test_the_example_of_a_good_class_is_a_likely_one_and_quoted() -> None:
    rng = np.random.default_rng(8)
    table = judged(truth_of(0.5, rng), 0.9, 0.9, rng).replace({"fail": "bad answer", "pass": "fine by me"})
    people = pd.DataFrame({"item": range(4), "label": ["bad answer", "fine by me"] * 2})
    with pytest.raises(InputError, match="say which: --positive 'fine by me', if that is it"):
        voirdire.rate(table, people)
    people["label"] = ["bad", "acceptable"] * 2
    with pytest.raises(InputError, match=r"say which: --positive acceptable, if that is it \(in Python positive="):
        voirdire.rate(table.replace({"bad answer": "bad", "fine by me": "fine"}), people)


def test_an_item_under_several_criteria_is_no_further_item() -> None:
    """The same answers under four criteria tell what they do under one."""
    rng = np.random.default_rng(5)
    good = rng.random(200) < 0.6
    said = np.where(good == (rng.random(200) < 0.8), "pass", "fail")
    judged = pd.DataFrame({"judge": "gpt", "item": range(200), "label": said})
    people = pd.DataFrame({"item": range(60), "label": np.where(good[:60], "pass", "fail")})
    one = voirdire.rate(judged, people)
    four = voirdire.rate(*(pd.concat([of.assign(criterion=c) for c in "abcd"]) for of in (judged, people)))
    assert four["rate"] == pytest.approx(one["rate"], abs=0.02)
    assert four["high"] - four["low"] == pytest.approx(one["high"] - one["low"], rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["rate", "audit", "escalate", "watch", "replace", "agree"])
def test_labels_that_people_name_otherwise_are_no_disagreement(verb: str, tmp_path: Path) -> None:
    """Every verb that compares the two refuses them: each answer would differ from what people say."""
    rows = [(judge, f"q{n}", "good" if n % 3 else "bad") for judge in ("a", "b") for n in range(60)]
    judges = pd.DataFrame(rows, columns=["judge", "item", "label"])
    people = judges.replace({"a": "p", "b": "q"}).assign(label=judges["label"].str.title())
    people = people if verb == "replace" else people[people["judge"] == "p"].drop(columns="judge").head(40)
    judges.to_csv(tmp_path / "judges.csv", index=False)
    people.to_csv(tmp_path / "people.csv", index=False)
    done = CliRunner().invoke(app, [verb, str(tmp_path / "judges.csv"), "--humans", str(tmp_path / "people.csv")])
    assert done.exit_code == 1, done.output
    assert "people write 'Bad' and judges 'bad', people write 'Good' and judges 'good'" in done.stderr
    people.replace({"Good": "pass", "Bad": "fail"}).to_csv(tmp_path / "people.csv", index=False)
    done = CliRunner().invoke(app, [verb, str(tmp_path / "judges.csv"), "--humans", str(tmp_path / "people.csv")])
    assert done.exit_code == 1, done.output
    assert "people's labels 'fail', 'pass' are none of the judges' 'bad', 'good'" in done.stderr


def test_an_item_counts_once_whatever_phases_there_are() -> None:
    table = pd.DataFrame({"judge": "a", "item": range(40), "label": ["pass", "fail", "pass", "pass"] * 10})
    people = pd.DataFrame({"item": range(20), "label": ["pass", "fail"] * 10})
    both = pd.concat([table.assign(phase=phase) for phase in ("initial", "final")])
    with pytest.raises(InputError, match=r"phases 'final', 'initial', and an item counts once.*--where phase="):
        voirdire.rate(both, pd.concat([people.assign(phase=phase) for phase in ("initial", "final")]))
    with pytest.raises(InputError, match="no column 'phase', or a single phase"):
        voirdire.rate(both[both["phase"] == "final"], people, by="phase")
    found = voirdire.rate(both[both["phase"] == "final"], people)
    assert found == voirdire.rate(table, people)
    assert (found["humans"], found["items"]) == (20, 40)


def test_messages_about_several_people_name_them_as_they_were_given() -> None:
    truth = np.arange(40) % 3 > 0
    table, people = judged(truth, 0.9, 0.9, np.random.default_rng(0)), said_by_people(truth, 20)
    other = people.assign(label=np.where(truth[:20], "fail", "pass"))
    contrary = pd.concat([people.assign(person="ann"), other.assign(person="bob")])
    with (
        pytest.warns(UserWarning, match="disagree about 20 items"),
        pytest.raises(InputError, match="humans: people agree about no item; ask one more person"),
    ):
        voirdire.rate(table, contrary)
    twice = pd.concat([contrary, people.assign(person="ann")])
    with pytest.raises(InputError, match="humans: 'ann' answers '0' twice"):
        voirdire.rate(table, twice)
