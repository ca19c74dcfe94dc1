"""The gate of a release: pairs, verdicts, answers of people, losses, what is refused, errors and power."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

import voirdire
from voirdire.decide.e_values import log_mean_evidence
from voirdire.decide.gate import verdict_sentence
from voirdire.decide.gate_answers import bound_distance, read_differences
from voirdire.decide.gate_pairs import Versions
from voirdire.decide.gate_verdicts import expected_losses
from voirdire.errors import InputError

KEYS = [
    "verdict", "difference", "low", "high", "paired", "n", "needed", "new", "old", "unit", "what", "scale", "judges",
    "humans", "estimator", "margin", "loss", "expected_loss", "prob", "items", "order", "seed", "rule", "note",
]  # fmt: skip


def labels(share: float, n: int = 200, seed: int = 0, judges: tuple[str, ...] = ("gpt",)) -> pd.DataFrame:
    """Labels of one version; items are as hard for one version as for another."""
    hard = np.random.default_rng(99).random(n)
    rng = np.random.default_rng(seed)
    said = {judge: hard + 0.3 * rng.normal(size=n) < share for judge in judges}
    return pd.concat(
        [
            pd.DataFrame({"judge": judge, "item": range(n), "label": np.where(of, "pass", "fail")})
            for judge, of in said.items()
        ]
    )


# how answers are paired


def test_a_difference_is_the_mean_over_judges_of_the_mean_over_runs() -> None:
    new = pd.DataFrame({"judge": ["a", "a", "b", "a", "b"], "item": list("xxxyy"), "score": [5, 3, 1, 2, 2]})
    old = pd.DataFrame({"judge": ["b", "a", "a", "b"], "item": list("xxyy"), "score": [2, 3, 4, 1]})
    found = read_differences(new, old, Versions(), levels=[1, 5])
    assert found.units == ("x", "y")
    assert found.values.tolist() == [((4 - 3) + (1 - 2)) / 2, ((2 - 4) + (2 - 1)) / 2]
    assert (found.largest_difference, found.judges) == (4.0, ("a", "b"))


def test_the_questions_of_a_context_are_one_unit_and_criteria_are_averaged() -> None:
    new = pd.DataFrame(
        {
            "judge": "a",
            "context": ["p", "p", "p", "q"],
            "item": ["1", "1", "2", "3"],
            "criterion": ["c", "d", "c", "c"],
            "score": [3, 5, 4, 1],
        }
    )
    found = read_differences(new, new.assign(score=[1, 1, 1, 2]), Versions(), levels=[1, 5])
    assert (found.unit, found.units) == ("context", ("p", "q"))
    assert found.values.tolist() == pytest.approx([(2 + 4 + 3) / 3, -1])
    assert "each of 2 contexts counts once, with the mean of its 2 questions" in found.notes


def test_contexts_pair_items_that_are_the_answers_of_one_version() -> None:
    old = pd.DataFrame({"judge": "a", "context": ["p", "q"], "system": "v1", "score": [1, 2]})
    found = read_differences(old.assign(system="v2", score=[2, 5]), old, Versions(), levels=[1, 5])
    assert found.values.tolist() == [1.0, 3.0]
    assert (found.versions.new, found.versions.old) == ("v2", "v1")
    named = old.assign(item=["p-v1", "q-v1"])
    found = read_differences(named.assign(item=["p-v2", "q-v2"], score=[2, 5]), named, Versions(), levels=[1, 5])
    assert found.values.tolist() == [1.0, 3.0]


def test_one_table_with_systems_is_as_two() -> None:
    new, old = labels(0.6), labels(0.5, seed=1)
    both = pd.concat([new.assign(system="v2"), old.assign(system="v1")])
    one = voirdire.gate(both, versions=("v2", "v1"))
    two = voirdire.gate(new, old)
    assert [one[key] for key in ("verdict", "difference", "low", "n")] == [
        two[key] for key in ("verdict", "difference", "low", "n")
    ]
    assert (one["new"], one["old"], two["new"], two["old"]) == ("v2", "v1", "new", "old")


def test_votes_are_paired_by_context_over_orders_and_judges() -> None:
    votes = pd.DataFrame(
        {
            "judge": ["a", "a", "b", "a", "b", "a"],
            "context": ["p", "p", "p", "q", "q", "r"],
            "first": ["new", "old", "new", "old", "new", "x"],
            "second": ["old", "new", "old", "new", "old", "new"],
            "winner": ["new", "old", "tie", "new", "new", "x"],
            "degree": [1, 1, 1, 0.75, 1, 1],
        }
    )
    found = read_differences(votes, None, Versions("new", "old"))
    assert found.units == ("p", "q")
    assert found.values.tolist() == [((1 - 1) / 2 + 0) / 2, (0.5 + 1) / 2]
    alone = voirdire.gate(votes.drop(columns=["context", "degree"]), versions=("new", "old"))
    assert (alone["n"], alone["unit"]) == (5, "vote")
    assert "each counts as an item of its own" in alone["note"]


def test_units_come_in_the_order_of_the_table_or_of_its_times_or_by_lot() -> None:
    new = labels(0.5, n=20).iloc[::-1]
    old = labels(0.5, n=20, seed=1)
    assert read_differences(new, old, Versions()).units[:2] == ("19", "18")
    timed = new.assign(time=range(20, 0, -1))
    assert read_differences(timed, old, Versions()).units[:2] == ("0", "1")
    drift = pd.DataFrame({"judge": "a", "item": range(400), "label": ["yes", "no"] * 200})
    worse_later = drift.assign(label=np.where(np.arange(400) < 200, "yes", "no"))
    assert "look once, with --order random" in voirdire.gate(worse_later, drift)["note"]
    lot = voirdire.gate(worse_later, drift, order="random")
    assert lot == voirdire.gate(worse_later, drift, order="random")
    assert (lot["verdict"], lot["difference"]) == ("inconclusive", 0.0)


def test_grades_are_labels_in_their_order() -> None:
    new = pd.DataFrame({"judge": "a", "item": range(40), "label": ["poor", "fair", "great", "fair"] * 10})
    with pytest.raises(InputError, match=r"--positive fair, if .*; or that they are grades, lowest first: --levels"):
        voirdire.gate(new, new)
    found = voirdire.gate(new, new.assign(label="poor"), levels=["poor", "fair", "great"])
    assert (found["difference"], found["scale"], found["what"]) == (1.0, [0.0, 2.0], "mean grade")


# verdicts


def test_verdicts_follow_from_the_bounds_and_the_margin() -> None:
    new, old = labels(0.5), labels(0.75, seed=1)
    worse = voirdire.gate(new, old)
    assert list(worse) == KEYS
    assert (worse["verdict"], worse["high"] < 0, worse["needed"]) == ("fail", True, 200)
    assert voirdire.gate(old, new)["verdict"] == "pass"
    assert voirdire.gate(old, new)["low"] == pytest.approx(-worse["high"])
    assert voirdire.gate(new, old, margin=0.6)["verdict"] == "pass"
    open_ = voirdire.gate(new, old, margin=0.25)
    assert (open_["verdict"], open_["low"] < -0.25 < open_["high"]) == ("inconclusive", True)


def test_an_open_verdict_says_how_many_more_items_decide_it() -> None:
    new, old = labels(0.55, n=100), labels(0.5, n=100, seed=1)
    found = voirdire.gate(new, old, margin=0.05)
    assert found["verdict"] == "inconclusive"
    assert found["needed"] > 100
    assert f"About {found['needed'] - 100:,} more items decide it" in verdict_sentence(found)
    times = -(-found["needed"] // 100)
    more = [pd.concat([table.assign(item=table["item"] + 100 * at) for at in range(times)]) for table in (new, old)]
    again = voirdire.gate(*(table[table["item"] < found["needed"]] for table in more), margin=0.05)
    assert (again["verdict"], again["needed"]) == ("pass", found["needed"])


def test_the_same_file_twice_is_never_decided_at_no_margin_and_passes_at_one() -> None:
    table = labels(0.5)
    found = voirdire.gate(table, table)
    assert (found["verdict"], found["difference"], found["needed"]) == ("inconclusive", 0.0, None)
    assert "the same answers to every item" in found["note"]
    assert "say how much worse it may be: --margin" in found["note"]
    assert voirdire.gate(table, table, margin=0.1)["verdict"] == "pass"


def test_differences_that_are_all_alike_are_not_certain() -> None:
    table = labels(0.5, n=10)
    found = voirdire.gate(table.assign(label="pass"), table.assign(label="fail"))
    assert (found["difference"], found["high"]) == (1.0, 1.0)
    assert found["low"] < 0.6
    few = voirdire.gate(table.assign(label="pass")[:2], table.assign(label="fail"))
    assert few["verdict"] == "inconclusive"
    same = table[:2].assign(label=["pass", "fail"])
    assert voirdire.gate(same, same, loss=0.05)["expected_loss"]["new"] > 0.05


def test_one_answer_to_everything_is_a_share_where_the_good_one_is_named() -> None:
    table = labels(0.5)
    for said in ("pass", "fail"):
        every = table.assign(label=said)
        found = voirdire.gate(every, every, positive="pass", margin=0.05)
        assert (found["verdict"], found["difference"]) == ("pass", 0.0)


def test_a_loss_that_is_next_to_nothing_is_said_so() -> None:
    found = voirdire.gate(labels(0.1), labels(0.9), loss=0.01)
    assert found["expected_loss"]["old"] < 1e-9
    assert "keeping old next to nothing (" in verdict_sentence(found)


def test_what_only_one_version_has_is_left_out_and_said() -> None:
    new = labels(0.5, judges=("a", "b"))
    old = pd.concat([labels(0.5, seed=1, judges=("a", "c"))])
    found = voirdire.gate(new[new["item"] < 150], old)
    assert (found["n"], found["judges"]) == (150, ["a"])
    assert "left out, because only one version has their answers: 'b', 'c'" in found["note"]
    assert "50 items of OLD have no answer in NEW and are left out" in found["note"]


def test_votes_that_show_the_new_version_first_are_said() -> None:
    votes = pd.DataFrame({"judge": "a", "context": range(40), "first": "n", "second": "o", "winner": "first"})
    assert "shown first in 100% of the votes" in voirdire.gate(votes, versions=("n", "o"))["note"]


# people


def panel(n: int, bias: float, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Judges' scores of both versions, and people's: judges add ``bias`` to the new one."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 0.7, (2, n))
    rows, said = [], []
    for at, system in enumerate(("old", "new")):
        people = np.clip(np.round(3 + quality[at] + rng.normal(0, 0.4, n)), 1, 5)
        judges = np.clip(np.round(3 + quality[at] + bias * at + rng.normal(0, 0.4, n)), 1, 5)
        names = {"item": range(n), "system": system}
        rows.append(pd.DataFrame({"judge": "gpt", "score": judges, **names}))
        said.append(pd.DataFrame({"score": people, **names}))
    return pd.concat(rows), pd.concat(said)


def test_people_correct_a_panel_that_likes_the_new_version() -> None:
    judged, people = panel(600, 0.5, 0)
    versions = ("new", "old")
    alone = voirdire.gate(judged, versions=versions, levels=[1, 5])
    assert alone["verdict"] == "pass"
    assert "is not seen without people" in alone["note"]
    said = people[people["item"] < 120]
    found = voirdire.gate(judged, versions=versions, levels=[1, 5], humans=said)
    assert (found["verdict"], found["estimator"], found["humans"]) == ("inconclusive", "prediction-powered", 120)
    truth = people.pivot(index="item", columns="system", values="score")
    assert found["difference"] == pytest.approx((truth["new"] - truth["old"]).mean(), abs=0.15)
    margin = voirdire.gate(judged, versions=versions, levels=[1, 5], humans=said, margin=0.5)
    assert margin["verdict"] == "pass"


def test_people_who_answered_everything_are_taken_alone() -> None:
    judged, people = panel(100, 0.5, 1)
    found = voirdire.gate(judged, versions=("new", "old"), levels=[1, 5], humans=people)
    alone = voirdire.gate(people.assign(judge="ann"), versions=("new", "old"), levels=[1, 5])
    assert found["estimator"] == "people"
    lots = [
        voirdire.gate(table, versions=("new", "old"), levels=[1, 5], order="random", **more)["low"]
        for table, more in ((judged, {"humans": people}), (people.assign(judge="ann"), {}))
    ]
    assert lots[0] == lots[1] != found["low"]
    assert [found[key] for key in ("low", "high", "difference")] == [
        alone[key] for key in ("low", "high", "difference")
    ]


def test_people_may_be_judges_of_both_tables() -> None:
    judged, people = panel(100, 0.0, 2)
    new, old = (
        pd.concat([one[one["system"] == name] for one in (judged, people[people["item"] < 40].assign(judge="ann"))])
        for name in ("new", "old")
    )
    found = voirdire.gate(new, old, levels=[1, 5], people="ann")
    same = voirdire.gate(judged, versions=("new", "old"), levels=[1, 5], humans=people[people["item"] < 40])
    assert (found["humans"], found["judges"]) == (40, ["gpt"])
    assert found["difference"] == pytest.approx(same["difference"])
    bare = voirdire.gate(new.drop(columns="system"), old.drop(columns="system"), levels=[1, 5], people="ann")
    assert bare["low"] == pytest.approx(same["low"])


def test_few_human_answers_decide_nothing() -> None:
    judged, people = panel(100, 0.0, 3)
    found = voirdire.gate(judged, versions=("new", "old"), levels=[1, 5], humans=people[people["item"] < 10])
    assert (found["low"], found["high"], found["verdict"]) == (-4.0, 4.0, "inconclusive")
    assert "10 human answers are too few" in found["note"]
    lost = voirdire.gate(judged, versions=("new", "old"), humans=people[people["item"] < 10], loss=0.1)
    assert (lost["verdict"], lost["expected_loss"]) == ("inconclusive", None)
    assert "is not known" in verdict_sentence(lost)


def test_the_bound_of_people_is_the_mixture_s() -> None:
    """The likelihood ratio averaged over effects that are half-normal, by quadrature."""
    z, answers = bound_distance(50, 0.05), 50
    rho = 6 / 100  # variance of the prior of the drift, in the unit of one answer's
    sum_ = z * np.sqrt(answers)

    def weighed(drift: float) -> float:
        ratio = np.exp(drift * sum_ - drift**2 * answers / 2)
        return float(ratio * 2 * stats.norm.pdf(drift, scale=np.sqrt(rho)))

    mean, _ = integrate.quad(weighed, 0, 6, points=[sum_ / answers])
    assert mean == pytest.approx(20, rel=1e-6)


# losses


def test_losses_are_the_integrals_that_define_them() -> None:
    found = expected_losses(0.03, 0.05)
    theta = stats.norm(0.03, 0.05)
    assert found.new == pytest.approx(theta.expect(lambda x: max(-x, 0.0), lb=-1, ub=0))
    assert found.old == pytest.approx(theta.expect(lambda x: max(x, 0.0), lb=0, ub=1))


def test_the_loss_that_is_allowed_decides() -> None:
    new, old = labels(0.5), labels(0.75, seed=1)
    fail, passed = voirdire.gate(new, old, loss=0.02), voirdire.gate(old, new, loss=0.02)
    assert (fail["verdict"], passed["verdict"]) == ("fail", "pass")
    assert fail["expected_loss"]["new"] == pytest.approx(passed["expected_loss"]["old"])
    assert "not valid at every look" in passed["rule"]
    same = voirdire.gate(new[:20], new[:20], loss=0.005)
    assert same["verdict"] == "inconclusive"
    assert same["needed"] > 20
    assert f"{same['needed'] - 20:,} more items" in verdict_sentence(same)


# what is refused


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"margin": -0.1}, "margin -0.1 is not 0 or more"),
        ({"loss": 0.0}, r"loss 0.0 is not above 0"),
        ({"loss": 0.1, "margin": 0.1}, "two rules; give one"),
        ({"items": 0}, "items 0 is no count"),
        ({"order": "tabel"}, "order 'tabel' is unknown; did you mean 'table'"),
        ({"prob": 1.0}, "prob 1.0 is not between"),
    ],
)
def test_a_wrong_request_is_one_sentence(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        voirdire.gate(labels(0.5), labels(0.6), **change)


def test_wrong_tables_are_named() -> None:
    new, old = labels(0.5), labels(0.6)
    scores = new.assign(score=1).drop(columns="label")
    votes = pd.DataFrame({"judge": "a", "first": ["x", "y"], "second": ["y", "z"], "winner": "tie"})
    wrong: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
        ((new.assign(item=new["item"] + 1000), old), {}, "no item in common: NEW has '1000', OLD has '0'"),
        ((new[:1], old), {}, r"there is only one item in common \('0'\)"),
        ((new.assign(judge="ann"), old), {}, "NEW is judged by 'ann' and OLD by 'gpt': no judge in common"),
        ((scores, old), {}, "NEW has scores and OLD has labels"),
        ((scores, scores), {}, "all scores are 1, so that the scale is not known"),
        ((scores, scores), {"levels": [2, 5]}, "beyond the levels 2 to 5"),
        ((votes, old), {}, "votes compare the two versions already"),
        ((votes,), {}, "say which version is new and which is old.*it has 'x', 'y', 'z'"),
        ((votes,), {"versions": ("x", "w")}, "--old 'w' is none of 'x', 'y', 'z'"),
        ((votes,), {"versions": ("x", "x")}, "both name 'x'"),
        ((votes,), {"versions": ("x", "z")}, "none is between 'x' and 'z'"),
        ((new,), {}, "there is no column 'system'"),
        (
            (new.assign(label="bad"), old.assign(label="bad")),
            {},
            r"all labels are 'bad'; say that it is the good one \(--positive bad\), or name all .* --levels",
        ),
        ((new.assign(criterion="c"), old), {}, "NEW has a column 'criterion' and OLD has not"),
        ((new.assign(system=["a", "b"] * 100), old), {}, "NEW has several systems .*--new NAME"),
        ((new, old), {"humans": new.drop(columns="judge")}, "no column 'system' that says which version"),
    ]
    for tables, options, message in wrong:
        with pytest.raises(InputError, match=message):
            voirdire.gate(*tables, **options)
    judged, people = panel(50, 0.0, 4)
    unequal = people.assign(probability=np.where(people["item"] < 10, 0.9, 0.1))
    with pytest.raises(InputError, match="not as likely to be asked"):
        voirdire.gate(judged, versions=("new", "old"), humans=unequal, levels=[1, 5])
    with pytest.raises(InputError, match="people answered 5 items that judges did not answer in both versions"):
        voirdire.gate(judged, versions=("new", "old"), humans=people.assign(item=people["item"] + 5), levels=[1, 5])
    with pytest.raises(InputError, match="people answered 50 items that judges did not answer"):
        voirdire.gate(judged, versions=("new", "old"), humans=people.assign(item=people["item"] + 99), levels=[1, 5])


# errors and power, looking after every 20 items


def releases(kind: str, shift: float, count: int, n: int, seed: int) -> np.ndarray[Any, Any]:
    """Differences of simulated releases, from 0 to 1: 2 judges of n items that both versions answered."""
    rng = np.random.default_rng(seed)
    shape = (count, n)
    quality = rng.normal(0, 0.8, shape)
    answers = [quality + at * shift + rng.normal(0, 0.5, shape) for at in (0, 1)]
    total = np.zeros(shape)
    for _ in range(2):
        old, new = (answer + rng.normal(0, 0.7, shape) for answer in answers)
        if kind == "labels":
            total += (new > 0) - 1.0 * (old > 0)
        else:
            total += (np.clip(np.round(3.4 + new), 1, 5) - np.clip(np.round(3.4 + old), 1, 5)) / 4
    return (total / 2 + 1) / 2


def refutes(x: np.ndarray[Any, Any], mean: float) -> np.ndarray[Any, Any]:
    """Whether it is refuted, at a look after every 20 items, that the mean is at most ``mean``."""
    return (log_mean_evidence(x, mean, 0.05, 400)[:, 19::20] >= np.log(20)).any(axis=1)


@pytest.mark.parametrize("kind", ["labels", "scores"])
def test_false_verdicts_are_at_most_5_percent_over_all_looks(kind: str) -> None:
    """2,000 releases of 400 items without a difference; Monte Carlo error of 5%: 0.5%."""
    x = releases(kind, 0.0, 2000, 400, 1)
    assert refutes(x, 0.5).mean() <= 0.06
    assert refutes(1 - x, 0.5).mean() <= 0.06


@pytest.mark.parametrize("kind", ["labels", "scores"])
def test_power_is_at_least_four_fifths_of_a_single_t_test_s(kind: str) -> None:
    """The shift that a t-test of 400 items finds nine times in ten; 2,000 releases, Monte Carlo error 1%."""
    x = releases(kind, {"labels": 0.1975, "scores": 0.1563}[kind], 2000, 400, 2) - 0.5
    t = x.mean(axis=1) / (x.std(axis=1, ddof=1) / 20)
    test = (t > stats.t.ppf(0.95, 399)).mean()
    assert test == pytest.approx(0.9, abs=0.03)
    assert refutes(x + 0.5, 0.5).mean() >= 0.8 * test


@pytest.mark.slow
def test_the_gate_decides_at_a_look_where_the_bets_have_crossed() -> None:
    old = pd.DataFrame({"judge": "a", "item": range(200), "score": 1.0})
    looks, verdicts = range(20, 201, 60), []
    for x in releases("labels", 0.4, 6, 200, 5):
        new = old.assign(score=2 * x)  # from 0 to 2, of which 1 is as good as the old one
        for n in looks:
            found = voirdire.gate(new[:n], old, levels=[0, 2])
            assert (found["verdict"] == "pass") == (
                log_mean_evidence((2 * x[:n] + 1) / 4, 0.5, 0.05, 400)[-1] >= np.log(20)
            )
            assert found["difference"] == pytest.approx(2 * x[:n].mean() - 1)
            verdicts.append(found["verdict"])
    assert {*verdicts} == {"pass", "inconclusive"}


def test_a_sorted_table_is_not_decided_by_its_beginning() -> None:
    """Worse on the first 100 items and better on the others, no difference in all: 500 releases, by their last look."""
    x = releases("scores", 0.0, 500, 400, 7)
    shift = np.where(np.arange(400) < 100, -0.15, 0.05)
    x = x - x.mean(axis=1, keepdims=True) + 0.5 + shift
    for side in (x, 1 - x):
        wealth = log_mean_evidence(side, 0.5, 0.05, 400)
        assert (wealth[:, -1] < np.log(20)).all()
    assert (log_mean_evidence(1 - x, 0.5, 0.05, 400).max(axis=1) >= np.log(20)).mean() > 0.5  # intersected it would be


@pytest.mark.slow
def test_real_differences_with_versions_swapped_by_lot_are_seldom_decided(shared: Path) -> None:
    """Scores by six judges of six systems' answers to 160 prompts: 15 pairs, each 200 times; Monte Carlo error 0.4%."""
    table = pd.read_csv(shared / "data" / "mtrepro_scores.csv")
    rng, false, decided = np.random.default_rng(0), [], 0
    systems = sorted(table["system"].unique())
    for pair in combinations(systems, 2):
        found = read_differences(table, None, Versions(*pair), levels=[0, 10])
        swapped = found.values * rng.choice([-1.0, 1.0], (200, len(found.values)))
        false.append(refutes((swapped + 10) / 20, 0.5).mean())
        x = (found.values + 10) / 20
        test = abs(stats.ttest_1samp(found.values, 0.0).statistic)
        either = refutes(x[None], 0.5)[0] or refutes(1 - x[None], 0.5)[0]
        decided += either
        assert either or test < 4.0  # what is far from chance is decided
    assert np.mean(false) <= 0.05
    assert 5 <= decided <= 15
