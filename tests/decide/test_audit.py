"""Judge cards: planted judges are found, clean ones are not, whatever the table has; files, schema, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from schema_rules import follow
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.decide.verdicts import MIN_BIAS, bias_direction, mutual_information, verdicts
from voirdire.errors import InputError
from voirdire_studies.audit_panels import make_labels, make_scores, make_votes
from voirdire_studies.audits import MEASURES

SCORES = ("length", "own", "severity", "drift", "noise", "copies", "flips")
PAIRS = ("position", "length", "own", "drift", "noise", "copies", "flips")


def found_in(planted: str, pairs: bool, seed: int) -> tuple[bool, list[bool]]:
    """Whether what is planted is found, and of each clean judge whether anything is."""
    rng = np.random.default_rng([seed, int(pairs), *map(ord, planted)])
    table, items, judges = (make_votes if pairs else make_scores)(planted, rng)
    cards = voirdire.audit(table, families=judges, item_families=items)["judges"]
    by = {card["judge"]: {row["measure"]: row["found"] for row in card["measures"]} for card in cards}
    hit = any(
        by[judge].get(MEASURES.get(planted, planted), False) for judge in ("j0", "j1" if planted == "copies" else "j0")
    )
    return hit, [any(row.values()) for judge, row in by.items() if judge not in ("j0", "j1") or planted == "none"]


@pytest.mark.parametrize(
    ("planted", "pairs"), [*((one, False) for one in SCORES[:6:2]), *((one, True) for one in PAIRS[::3])]
)
def test_a_planted_bias_is_found(planted: str, pairs: bool) -> None:
    assert found_in(planted, pairs, 2)[0]


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(("planted", "pairs"), [*((one, False) for one in SCORES), *((one, True) for one in PAIRS)])
def test_planted_biases_are_found_in_nine_of_ten_tables(planted: str, pairs: bool) -> None:
    assert np.mean([found_in(planted, pairs, seed)[0] for seed in range(20)]) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("planted", ["slide", "slide up"])
def test_a_slow_slide_is_found(planted: str) -> None:
    assert found_in(planted, True, 1)[0]


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("planted", ["slide", "slide up"])
def test_slow_slides_are_found_in_nine_of_ten_tables(planted: str) -> None:
    assert np.mean([found_in(planted, True, seed)[0] for seed in range(40)]) >= 0.9


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("pairs", [False, True])
def test_judges_of_a_hundred_clean_panels_are_silent(pairs: bool) -> None:
    alarms = [one for seed in range(100) for one in found_in("none", pairs, seed)[1]]
    assert np.mean(alarms) <= 0.05


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("pairs", [False, True])
def test_clean_judges_are_silent(pairs: bool) -> None:
    alarms = [one for seed in range(25) for one in found_in("none", pairs, seed)[1]]
    assert np.mean(alarms) <= 0.05  # 150 judges


def labels(right: dict[str, float], seed: int = 0, items: int = 200) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(seed)
    truth = rng.random(items) < 0.5
    frames = [
        pd.DataFrame(
            {"judge": name, "item": range(items), "label": np.where((rng.random(items) < p) == truth, "yes", "no")}
        )
        for name, p in right.items()
    ]
    return pd.concat(frames), pd.DataFrame({"item": range(items), "label": np.where(truth, "yes", "no")})


def test_one_judge_beside_people_has_a_card_and_alone_people_are_asked() -> None:
    table, people = labels({"gpt": 0.9})
    (card,) = voirdire.audit(table, people)["judges"]
    measures = {row["measure"]: row for row in card["measures"]}
    assert card["verdict"] == "keep"
    # ln 2 less the entropy of being right with .9
    assert card["agreement_information"] == pytest.approx(np.log(2) + 0.9 * np.log(0.9) + 0.1 * np.log(0.1), abs=0.1)
    assert measures["people_agreement_rate"]["value"] == pytest.approx(0.9, abs=0.06)
    found = voirdire.audit(table)
    assert found["judges"][0]["verdict"] == "ask people"
    assert {row["measure"] for row in found["needs"]} >= {"agreement with people", "length", "own family", "flips"}


def test_stated_confidence_beyond_what_is_right_is_found() -> None:
    table, people = labels({"sure": 0.75, "modest": 0.75})
    table["confidence"] = np.where(table["judge"] == "sure", 95, 75)
    cards = {card["judge"]: card for card in voirdire.audit(table, people)["judges"]}
    rows = {
        name: next(row for row in card["measures"] if row["measure"] == "confidence") for name, card in cards.items()
    }
    assert rows["sure"]["value"] == pytest.approx(0.2, abs=0.08)
    assert (rows["sure"]["found"], rows["modest"]["found"]) == (True, False)
    assert cards["sure"]["verdict"] == "recalibrate"


def in_both_orders(runs: int) -> pd.DataFrame:
    """Pairs in both orders: judge a picks what is first in 40% of them, b changes 40% by a coin, c changes nothing."""
    rng = np.random.default_rng(3)
    rows = []
    for judge in "abc":
        better, stuck = rng.random(80) < 0.5, rng.random(80) < 0.4
        for run in range(runs):
            for order in (0, 1):
                noisy = rng.random(80) < 0.4
                for n in range(80):
                    pair = ("x", "y") if order == 0 else ("y", "x")
                    winner = "xy"[int(better[n])]
                    if judge == "a" and stuck[n]:
                        winner = "first"
                    if judge == "b" and noisy[n]:
                        winner = str(rng.choice(["x", "y"]))
                    rows.append((judge, n, *pair, winner, run))
    return pd.DataFrame(rows, columns=["judge", "context", "first", "second", "winner", "run"])


def measures_by_judge(found: dict[str, Any], measure: str) -> dict[str, dict[str, Any]]:
    return {
        card["judge"]: next(row for row in card["measures"] if row["measure"] == measure) for card in found["judges"]
    }


def test_a_judge_that_changes_with_the_order_is_found_beyond_its_noise() -> None:
    found = voirdire.audit(in_both_orders(runs=2))
    for measure in ("position", "swap"):
        rows = measures_by_judge(found, measure)
        assert [rows[judge]["found"] for judge in "abc"] == [True, False, False], measure
    assert rows["c"]["value"] == 0
    assert rows["a"]["value"] == pytest.approx(0.4, abs=0.12)
    assert abs(rows["b"]["value"]) < 0.1


def test_a_judge_that_no_order_changes_has_no_position_bias_beside_others_who_have_one() -> None:
    """Its own pairs in both orders say so, whatever the median judge does."""
    table = in_both_orders(runs=1).drop(columns="run")
    stuck = [table[table["judge"] == "a"].assign(judge=name) for name in ("a", "d", "e")]
    found = voirdire.audit(pd.concat([*stuck, table[table["judge"] == "c"]]))
    rows = measures_by_judge(found, "position")
    assert (rows["c"]["value"], rows["c"]["found"]) == (0.0, False)
    assert rows["a"]["found"]
    # the item that is shown first is picked in 40% of pairs whatever it is
    assert rows["a"]["value"] == pytest.approx(0.2, abs=0.06)


def test_one_answer_in_each_order_is_not_told_from_noise_but_by_its_direction() -> None:
    found = voirdire.audit(in_both_orders(runs=1).drop(columns="run"))
    position, swap = (measures_by_judge(found, measure) for measure in ("position", "swap"))
    assert [position[judge]["found"] for judge in "abc"] == [True, False, False]
    assert [swap[judge]["found"] for judge in "abc"] == [None, None, None]
    # two coins in 40% of answers each: they differ with probability 1/2 where either is a coin
    assert swap["b"]["value"] == pytest.approx((1 - 0.6**2) / 2, abs=0.1)
    assert "answers repeated in the same order" in swap["b"]["note"]
    needed = {row["measure"]: row["needs"] for row in found["needs"]}
    assert "again in the same order" in needed["swap beyond noise"]
    assert "swap" not in needed  # a measure that is shown is not named as missing


def test_the_command_writes_cards_that_are_escaped_and_follow_the_schema(tmp_path: Path) -> None:
    table, people = labels({"<b>gpt</b>": 0.9, "two": 0.8, "three": 0.85})
    table.to_csv(tmp_path / "labels.csv", index=False)
    people.to_csv(tmp_path / "people.csv", index=False)
    words = ["audit", str(tmp_path / "labels.csv"), "--humans", str(tmp_path / "people.csv")]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "card.html"), "--json"])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    schema = Path(voirdire.__file__).parent / "decide" / "audit.schema.json"
    follow(found, json.loads(schema.read_text()))
    page = (tmp_path / "card.html").read_text()
    assert "<b>gpt</b>" not in page
    assert "&lt;b&gt;gpt&lt;/b&gt;" in page
    assert CliRunner().invoke(app, [*words, "--out", str(tmp_path / "card.md")]).exit_code == 0
    assert (tmp_path / "card.md").read_text().startswith("# Judges audited")
    again = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "card.md")])
    assert (again.exit_code, "exists" in again.stderr) == (1, True)


def test_a_copy_is_dropped_and_the_panel_is_worth_as_much_without_it() -> None:
    table, people = labels({"a": 0.75, "c": 0.8, "d": 0.8}, items=400)
    copy = table[table["judge"] == "a"].assign(judge="b")
    found = voirdire.audit(pd.concat([table, copy]), people)
    verdicts = {card["judge"]: card["verdict"] for card in found["judges"]}
    assert (verdicts["a"], verdicts["b"], verdicts["c"]) == ("keep", "drop", "keep")
    without = {row["judge"]: row["effective"] for row in found["panel"]["without"]}
    assert without["b"] > without["c"]


def test_a_copy_among_labels_is_found_where_nobody_knows_what_is_right() -> None:
    """In the residuals of classes copies hide, as they are the consensus."""
    for seed in range(3):
        panel = make_labels("copies", np.random.default_rng([46, seed]))
        cards = {card["judge"]: card for card in voirdire.audit(panel.table, positive="pass")["judges"]}
        assert [name for name, card in cards.items() if card["verdict"] == "drop"] == ["j1"]
        assert 0.0 <= measured({"judges": [cards["j1"]]})["j1", "independence"] < 0.15


@pytest.mark.slow
@pytest.mark.parametrize("planted", ["severity", "length", "drift"])
def test_judges_with_a_bias_and_copies_are_no_measure_of_the_others(planted: str) -> None:
    """The median of those who stay is 0, whatever the one who is biased, and its copy, do."""
    table = make_scores(planted, np.random.default_rng(1)).table
    copy = table[table["judge"] == "j5"].assign(judge="j5 again")
    found = measured(voirdire.audit(pd.concat([table, copy])))
    assert np.median([found[f"j{n}", planted] for n in range(1, 6)]) == pytest.approx(0.0, abs=1e-12)
    assert found["j5 again", planted] == pytest.approx(found["j5", planted], abs=0.02)
    assert abs(found["j0", planted]) > 0.3


@pytest.mark.parametrize(
    ("people", "message"),
    [
        (pd.DataFrame({"item": ["x", "y"], "label": ["yes", "no"]}), "nothing in common: people 'x', judges '0'"),
        (pd.DataFrame({"item": [1, 2], "score": [1, 2]}), "answers of one kind"),
        (pd.DataFrame({"judge": "gpt", "item": [1, 2], "label": "yes"}), "is a judge of the table, too"),
    ],
)
def test_what_is_wrong_is_refused(people: pd.DataFrame, message: str) -> None:
    with pytest.raises(InputError, match=message):
        voirdire.audit(labels({"gpt": 0.9})[0], people)
    with pytest.raises(InputError, match="the table has no column 'size'"):
        voirdire.audit(labels({"gpt": 0.9})[0], covariates="size")


@pytest.mark.slow
def test_the_judges_of_a_fit_have_verdicts() -> None:
    table, _ = labels({"a": 0.95, "b": 0.9, "c": 0.9, "coin": 0.5}, items=300)
    fitted = voirdire.fit(table, method="laplace")
    found = {row["judge"]: row for row in fitted.as_dict()["judges"]}
    assert (found["a"]["verdict"], found["coin"]["verdict"]) == ("keep", "drop")
    assert found["a"]["information"] > found["b"]["information"] > found["coin"]["information"]
    assert fitted.verdicts()["verdict"].tolist() == [found[name]["verdict"] for name in ("a", "b", "c", "coin")]
    entropy = -(0.95 * np.log(0.95) + 0.05 * np.log(0.05))
    assert found["a"]["information"] == pytest.approx(np.log(2) - entropy, abs=0.12)


def test_judges_of_a_fit_without_intervals_are_kept_by_what_an_answer_tells() -> None:
    table = {"judge": "a", "first": ["x", "y"] * 10, "second": ["y", "x"] * 10, "winner": ["first", "second"] * 10}
    (found,) = verdicts(voirdire.fit(pd.DataFrame(table), method="map"))
    assert (found["verdict"], found["information"] > 0.2) == ("keep", True)
    assert "at most" not in found["why"]
    guessing, _ = labels({"a": 0.95, "b": 0.9, "c": 0.9, "coin": 0.5}, items=100)
    rows = {row["judge"]: row for row in verdicts(voirdire.fit(guessing, method="map"))}
    assert (rows["a"]["verdict"], rows["coin"]["verdict"]) == ("keep", "ask people")
    assert rows["coin"]["why"].endswith("nats of information about what is right, by a fit without intervals")


@pytest.mark.slow
def test_a_judge_who_always_says_the_same_tells_nothing_and_no_digits_of_rounding() -> None:
    rng = np.random.default_rng(0)
    constant = [rng.integers(1, 40, (1, 4)) for _ in range(100)]
    assert all(mutual_information(counts / counts.sum()) == 0.0 for counts in constant)


@pytest.mark.slow
def test_information_of_fit_and_audit_agree_where_people_are_right_and_only_there() -> None:
    """By one formula, of what is right and of what people say: alike but where people err themselves."""
    table, people = labels({"a": 0.95, "b": 0.8, "c": 0.7}, items=3000)
    of_fit = voirdire.fit(table, method="laplace", anchors=people).verdicts().set_index("judge")["information"]
    wrong = np.random.default_rng(6).random(len(people)) < 0.2
    erring = people.assign(label=np.where(wrong, people["label"].map({"yes": "no", "no": "yes"}), people["label"]))
    audits = [
        {card["judge"]: card["agreement_information"] for card in voirdire.audit(table, one)["judges"]}
        for one in (people, erring)
    ]
    for judge, p in {"a": 0.95, "b": 0.8, "c": 0.7}.items():
        exact = np.log(2) + p * np.log(p) + (1 - p) * np.log(1 - p)
        assert of_fit[judge] == pytest.approx(exact, abs=0.03)
        assert audits[0][judge] == pytest.approx(of_fit[judge], abs=0.01)
        both = p * 0.8 + (1 - p) * 0.2
        assert audits[1][judge] == pytest.approx(
            np.log(2) + both * np.log(both) + (1 - both) * np.log(1 - both), abs=0.02
        )


def test_a_judge_that_picks_what_is_first_is_to_be_recalibrated_in_a_fit() -> None:
    rng = np.random.default_rng(5)
    quality = np.linspace(-2, 2, 8)
    first, second = np.array([rng.choice(8, 2, replace=False) for _ in range(300)]).T
    frames = []
    for judge, stuck in (("a", 0.0), ("b", 0.0), ("c", 0.6)):
        wins = rng.random(300) < 1 / (1 + np.exp(-2 * (quality[first] - quality[second])))
        wins |= rng.random(300) < stuck
        names = {"first": [f"m{n}" for n in first], "second": [f"m{n}" for n in second]}
        frames.append(pd.DataFrame({"judge": judge, **names, "winner": np.where(wins, "first", "second")}))
    found = voirdire.fit(pd.concat(frames), model="crowd-bt-position", method="laplace").verdicts()
    assert found["verdict"].tolist() == ["keep", "keep", "recalibrate"]


def measured(found: dict[str, Any]) -> dict[tuple[str, str], float]:
    return {(card["judge"], row["measure"]): row["value"] for card in found["judges"] for row in card["measures"]}


@pytest.mark.slow
@pytest.mark.parametrize("with_people", [False, True])
def test_measures_of_votes_do_not_depend_on_what_items_are_called(with_people: bool) -> None:
    table, items, families = make_votes("length", np.random.default_rng(8))
    names = sorted(items)
    other = dict(zip(names, reversed(names), strict=True))
    other[names[0]], other[names[1]] = other[names[1]], other[names[0]]
    found = []
    for name in ({one: one for one in names}, other):
        renamed = table.assign(**{column: table[column].map(name) for column in ("first", "second")})
        renamed["winner"] = renamed["winner"].map(lambda one, name=name: name.get(one, one))
        people = renamed[renamed["judge"] == "j5"] if with_people else None
        judged = renamed[renamed["judge"] != "j5"] if with_people else renamed
        about = people if people is None else people.drop(columns="judge").assign(person="ann")
        of = {name[one]: family for one, family in items.items()}
        judges = {judge: family for judge, family in families.items() if judge in set(judged["judge"])}
        found.append(measured(voirdire.audit(judged, about, families=judges, item_families=of)))
    assert ("j0", "length") in found[0]
    assert found[1] == pytest.approx(found[0], abs=0.005)


@pytest.mark.slow
@pytest.mark.parametrize("with_people", [False, True])
def test_scores_at_random_tell_nothing_though_their_cells_are_few(with_people: bool) -> None:
    found = []
    for seed in range(6):
        rng, frames = np.random.default_rng(seed), []
        quality = rng.normal(size=100)
        for judge in ("a", "b", "c", "random", "people"):
            score = np.clip(np.round(3 + 1.2 * quality + 0.8 * rng.normal(size=100)), 1, 5).astype(int)
            score = rng.integers(1, 6, 100) if judge == "random" else score
            frames.append(pd.DataFrame({"judge": judge, "item": range(100), "score": score}))
        people = frames[-1].drop(columns="judge") if with_people else None
        cards = {card["judge"]: card for card in voirdire.audit(pd.concat(frames[:-1]), people)["judges"]}
        found.append([cards[name]["agreement_information"] for name in ("a", "b", "c", "random")])
        assert cards["random"]["verdict"] != "keep"
    mean = np.mean(found, axis=0)
    assert mean[3] < 0.02
    # two scores correlate 1.44 / (1.44 + .64), before ends are cut and scores rounded
    most = -0.5 * np.log(1 - (1.44 / 2.08) ** 2)
    assert ((most / 4 < mean[:3]) & (mean[:3] < most)).all()


def test_a_judge_of_whom_too_little_is_known_is_not_kept() -> None:
    (card,) = voirdire.audit(*labels({"coin": 0.5}, items=40))["judges"]
    assert card["agreement_information"] < 0.02
    assert card["verdict"] == "ask people"
    assert "too few answers" in card["why"]


@pytest.mark.parametrize("with_people", [False, True])
@pytest.mark.parametrize("failed", [0, 1])
def test_judges_are_not_dropped_where_nearly_all_answers_are_one_class(failed: int, with_people: bool) -> None:
    """What people and judges call pass throughout says of no judge that its answers tell nothing."""
    said = np.where(np.arange(500) < failed, "fail", "pass")
    each = {"item": range(500), "label": said}
    table = pd.concat([pd.DataFrame(each).assign(judge=judge) for judge in ("gpt", "claude", "llama")])
    table.iloc[:3, table.columns.get_loc("label")] = "fail"  # of the first judge: copies are another matter
    found = voirdire.audit(table, pd.DataFrame(each) if with_people else None, levels=["fail", "pass"])
    of = "people" if with_people else "the other judges"
    for card in found["judges"]:
        assert card["agreement_information"] is None
        if "answers as" not in card["why"]:
            why = f"what {of} say is almost always the same, so that the information in an answer cannot be measured"
            assert (card["verdict"], card["why"]) == ("ask people", why)


def test_a_single_judge_is_not_compared_with_itself() -> None:
    (card,) = voirdire.audit(*labels({"gpt": 0.9}))["judges"]
    assert {"outfit", "noise", "independence"}.isdisjoint(row["measure"] for row in card["measures"])


def test_how_many_answers_it_takes_is_said_where_there_are_too_few() -> None:
    table, people = labels({"gpt": 0.9, "claude": 0.9, "llama": 0.8}, items=8)
    found = voirdire.audit(table, people)
    assert {card["why"] for card in found["judges"]} == {
        "people answered fewer than 20 of its units, and other judges fewer than 10"
    }
    assert next(row for row in found["needs"] if row["measure"] == "noise")["needs"].endswith("(10 at the least)")


def test_requests_that_say_nothing_are_refused() -> None:
    votes, items, _ = make_votes("none", np.random.default_rng(0))
    with pytest.raises(InputError, match=r"no column 'age_first' and no column 'age_second'; it has .*'judge'"):
        voirdire.audit(votes, covariates="age")
    with pytest.raises(InputError, match=r"an audit takes names of columns of its table, and 'items.csv' is a file"):
        voirdire.audit(votes, covariates="items.csv")
    with pytest.raises(InputError, match="no column 'length_first_first'"):  # a number of one item alone
        voirdire.audit(votes, covariates="length_first")
    with pytest.raises(InputError, match="needs families="):
        voirdire.audit(votes, item_families=items)


def test_a_ratio_is_said_in_times_and_not_as_a_difference() -> None:
    found = voirdire.audit(labels({"bad": 0.55, "two": 0.9, "three": 0.9, "four": 0.9}, items=400)[0])
    noise = measures_by_judge(found, "noise")["bad"]
    assert noise["found"]
    assert noise["note"] == f"errs more than the other judges ({noise['value']:.2g} times as much)"


def test_noise_is_no_effect_of_the_order() -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        worth, rows = rng.normal(size=6), []
        for judge in "abc":
            for _ in range(200):
                one, other = rng.choice(6, 2, replace=False)
                won = rng.random() < 1.0 / (1.0 + np.exp(1.5 * (worth[other] - worth[one])))
                rows.append((judge, f"i{one}", f"i{other}", "first" if won else "second"))
        table = pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])
        for card in voirdire.audit(table)["judges"]:
            measured = {row["measure"]: row for row in card["measures"]}
            assert not measured["swap"]["found"]
            assert abs(measured["swap"]["value"]) < 0.15
            assert measured["flips"]["value"] > 0.15
            assert not measured["flips"]["found"]
            assert card["verdict"] == "keep"


def test_flips_are_a_bias_where_other_judges_have_fewer_and_the_interval_that_is_shown_decides() -> None:
    rng = np.random.default_rng(0)
    rows = []
    for item in range(120):
        close = item < 60  # all judges guess about these
        for judge in ("careful", "plain", "moody"):
            for run in range(2):
                right = rng.random() < (0.5 if close or judge == "moody" else 0.98)
                rows.append((judge, item, run, "pass" if right == (item % 2 == 0) else "fail"))
    table = pd.DataFrame(rows, columns=["judge", "item", "run", "label"])
    cards = {card["judge"]: card for card in voirdire.audit(table)["judges"]}
    flips = {name: next(row for row in card["measures"] if row["measure"] == "flips") for name, card in cards.items()}
    assert [name for name, row in flips.items() if row["found"]] == ["moody"]
    assert all(row["low"] > 0.1 for row in flips.values())  # all flip in more than one of ten repeats
    assert "of other judges in the same questions" in flips["careful"]["note"]
    lenient = table.assign(label=table["label"].where(table["judge"] != "plain", "pass"))
    for card in voirdire.audit(lenient)["judges"]:
        (row,) = (row for row in card["measures"] if row["measure"] == "severity")
        assert row["found"] == (row["low"] > 0 or row["high"] < 0)
        assert row["found"] == (card["judge"] == "plain")


def test_a_fit_says_which_bias_it_looked_for() -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(0, 4, 400)
    second = (first + rng.integers(1, 4, 400)) % 4
    won = rng.random(400) < 1 / (1 + np.exp(1.5 * (second - first)))
    table = pd.DataFrame({"judge": rng.choice(["a", "b"], 400), "first": first.astype(str)})
    table = table.assign(second=second.astype(str), winner=np.where(won, "first", "second"))
    (one, _) = verdicts(voirdire.fit(table, model="crowd-bt-position", method="laplace"))
    assert one["verdict"] == "keep"
    assert "no position bias beyond 0.02 was found" in one["why"]


def test_an_audit_and_a_fit_find_the_same_position_biases() -> None:
    rng = np.random.default_rng(2)
    first, second = np.array([rng.choice(6, 2, replace=False) for _ in range(600)]).T
    pairs = np.concatenate([np.stack([first, second]), np.stack([second, first])], axis=1)
    frames = []
    for judge, stuck in (("a", 0.0), ("b", 0.0), ("c", 0.0), ("small", 0.16)):
        wins = rng.random(1200) < 1 / (1 + np.exp(-1.5 * (pairs[0] - pairs[1])))
        wins |= rng.random(1200) < stuck
        names = {"first": [f"m{n}" for n in pairs[0]], "second": [f"m{n}" for n in pairs[1]]}
        frames.append(pd.DataFrame({"judge": judge, **names, "winner": np.where(wins, "first", "second")}))
    table = pd.concat(frames)
    fitted = voirdire.fit(table, model="crowd-bt-position", method="laplace").verdicts()
    audited = [card["verdict"] for card in voirdire.audit(table)["judges"]]
    assert fitted["verdict"].tolist() == audited == ["keep", "keep", "keep", "recalibrate"]
    assert abs(float(fitted["why"].iloc[3].split("(")[1].split(")")[0])) < 0.1  # what is found is small


@pytest.mark.parametrize(
    ("value", "low", "high", "direction"),
    [(0.05, 0.01, 0.09, 1), (-0.05, -0.09, -0.01, -1), (0.05, -0.01, 0.11, 0), (0.01, 0.005, 0.015, 0)],
)
def test_a_bias_is_found_where_it_matters_and_its_interval_excludes_none(
    value: float, low: float, high: float, direction: int
) -> None:
    assert bias_direction(value, low, high, matters=MIN_BIAS) == direction
    assert bias_direction(value, np.nan, np.nan, matters=MIN_BIAS) == 0
