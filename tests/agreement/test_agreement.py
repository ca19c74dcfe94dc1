"""The verb `agreement`: tables in, tidy rows out, and a sentence for whatever is wrong."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from voirdire import metaeval
from voirdire.agreement import detection
from voirdire.agreement.coefficients.rows import COLUMNS, json_rows
from voirdire.agreement.verb import agreement
from voirdire.errors import InputError

LABELS = pd.DataFrame(
    {
        "judge": ["a"] * 6 + ["b"] * 6 + ["c"] * 6,
        "item": [*range(6)] * 3,
        "label": list("xxyyxy") + list("xxyyyy") + list("xyyyxx"),
    }
)
SCORES = LABELS.assign(score=[1, 2, 3, 4, 5, 3, 1, 2, 3, 4, 4, 4, 2, 2, 2, 5, 5, 1]).drop(columns="label")
VOTES = pd.DataFrame(
    {
        "judge": ["a"] * 4 + ["b"] * 4,
        "context": [1, 2, 3, 4] * 2,
        "first": ["x", "y", "x", "y"] * 2,
        "second": ["y", "x", "y", "x"] * 2,
        "winner": ["x", "x", "tie", "first", "first", "second", "y", "tie"],
    }
)


def rows_of(found: pd.DataFrame) -> dict[tuple[str, tuple[str, ...]], pd.Series]:
    return {(row["measure"], row["judges"]): row for _, row in found.iterrows()}


def test_rows_have_one_shape_and_json_has_no_nan() -> None:
    for table in (LABELS, SCORES, VOTES):
        found = agreement(table, resamples=50)
        assert tuple(found.columns) == COLUMNS
        assert found["n"].dtype.kind == "i"
        text = json.dumps({"rows": json_rows(found)}, allow_nan=False)
        assert set(json.loads(text)["rows"][0]) == set(COLUMNS)
        assert all(isinstance(row["judges"], list) for row in json_rows(found))
        bounded = found.dropna(subset=["low"])
        assert ((bounded["low"] <= bounded["value"]) & (bounded["value"] <= bounded["high"])).mean() > 0.9


def test_any_dataframe_and_file_give_the_same(tmp_path) -> None:
    expected = agreement(SCORES, resamples=50)
    SCORES.to_csv(tmp_path / "scores.csv", index=False)
    pd.testing.assert_frame_equal(agreement(tmp_path / "scores.csv", resamples=50), expected)
    for table in (pl.from_pandas(SCORES), pl.from_pandas(SCORES).lazy()):
        found = agreement(table, resamples=50)
        assert isinstance(found, pl.DataFrame)
        assert found.equals(pl.from_pandas(expected))


def test_order_of_rows_does_not_matter() -> None:
    for table in (LABELS, SCORES, VOTES):
        shuffled = table.sample(frac=1, random_state=3)
        pd.testing.assert_frame_equal(agreement(shuffled, resamples=50), agreement(table, resamples=50))


def test_votes_are_matched_whatever_the_order_shown() -> None:
    row = rows_of(agreement(VOTES, resamples=50))[("agreement_rate", ("a", "b"))]
    # a: x, x, tie, y.  b: x, x, y, tie.
    assert (row["value"], row["n"]) == (0.5, 4)
    turned = VOTES.assign(first=VOTES["second"], second=VOTES["first"])
    turned["winner"] = VOTES["winner"].replace({"first": "second", "second": "first"})
    pd.testing.assert_frame_equal(agreement(turned, resamples=50), agreement(VOTES, resamples=50))


def test_repeated_votes_are_combined_by_majority_and_said_so() -> None:
    again = pd.concat([VOTES, VOTES.iloc[[3]].assign(winner="second"), VOTES.iloc[[2]]])
    found = agreement(again, measures="agreement_rate", resamples=50).iloc[0]
    # a now says y and x about context 4, which no majority decides: a tie, as b says.
    assert found["value"] == 0.75
    assert found["note"] == "a: 2 units answered more than once, combined by majority"
    swap = agreement(
        pd.concat([VOTES, VOTES.iloc[[0, 0]].assign(winner=["x", "y"])]),
        measures="agreement_rate",
        repeats="swap",
        resamples=50,
    ).iloc[0]
    assert swap["value"] == 0.25
    with pytest.raises(InputError, match="judge 'a' answered 2 units more than once; say by repeats how"):
        agreement(again, repeats="error")


def test_repeated_scores_are_averaged_and_labels_need_a_majority() -> None:
    runs = pd.concat([SCORES.assign(run=1), SCORES.assign(run=2, score=SCORES["score"] + 2)])
    found = agreement(runs, measures=["pearson"], judges=["a", "b"], resamples=50).iloc[0]
    assert found["value"] == pytest.approx(agreement(SCORES, measures=["pearson"], judges=["a", "b"]).iloc[0]["value"])
    assert "6 units answered more than once, combined by their mean" in found["note"]
    torn = pd.concat([LABELS, LABELS.iloc[[0]].assign(label="y")])
    row = agreement(torn, measures="agreement_rate", judges=["a", "b"], resamples=50).iloc[0]
    assert row["n"] == 5
    assert "1 without a majority count as missing" in row["note"]


def test_what_was_combined_for_many_judges_is_told_in_short() -> None:
    five = pd.concat([VOTES, VOTES.replace({"judge": {"a": "c", "b": "d"}}), VOTES[:4].assign(judge="e")])
    found = agreement(pd.concat([five, five]), measures="fleiss_kappa", pairs=False, resamples=20).iloc[0]
    assert found["note"].endswith(
        "b: 4 units answered more than once, combined by majority; the like for 3 more judges"
    )


def test_contexts_keep_items_apart() -> None:
    table = pd.concat([SCORES.assign(context="one"), SCORES.assign(context="two", score=SCORES["score"] + 1)])
    found = agreement(table, measures="agreement_rate", pairs=False, resamples=50).iloc[0]
    assert found["n"] == 12
    clustered = agreement(table, measures="agreement_rate", pairs=False, unit="context", resamples=50).iloc[0]
    assert "only 2 contexts to resample" in clustered["note"]


def test_criteria_and_phases_have_rows_of_their_own() -> None:
    table = pd.concat([SCORES.assign(criterion=c, phase=p) for c in ("fluent", "true") for p in ("before", "after")])
    found = agreement(table, measures="icc_2_1", pairs=False, resamples=20)
    assert found[["criterion", "level"]].values.tolist() == [
        ["fluent", "after"], ["fluent", "before"], ["true", "after"], ["true", "before"]]  # fmt: skip


def test_against_a_judge_and_against_the_majority() -> None:
    found = agreement(LABELS, measures=["agreement_rate", "cohen_kappa"], against="c", resamples=50)
    assert sorted(set(found["judges"])) == [("a", "c"), ("b", "c")]
    found = agreement(LABELS, measures="agreement_rate", against="majority", resamples=50)
    assert [judges[1] for judges in found["judges"]] == ["majority of the others"] * 3
    # Two others that differ have no majority: these items are left out.
    assert found["n"].tolist() == [3, 4, 5]


def test_majority_of_forced_choices_can_be_a_tie() -> None:
    forced = pd.DataFrame({"judge": ["p", "q", "r"], "first": "x", "second": "y", "winner": ["x", "y", "x"]})
    found = agreement(forced, measures="agreement_rate", against="majority", resamples=10)
    # The others of p and of r are divided, a tie that nobody said; the others of q both say x.
    assert found["value"].tolist() == [0.0, 0.0, 0.0]
    assert found["n"].tolist() == [1, 1, 1]


def test_win_rates_of_every_item() -> None:
    found = agreement(VOTES, measures=["win_rate", "win_rate_of_all", "win_rate_ties_half"], resamples=50)
    table = found.set_index(["measure", "judges", "level"])["value"]
    assert table[("win_rate", ("a",), "x")] == pytest.approx(2 / 3)
    assert table[("win_rate_of_all", ("a",), "x")] == 0.5
    assert table[("win_rate_ties_half", ("a",), "y")] == 0.375


def test_levels_give_words_an_order_and_count_when_unused() -> None:
    ordered = agreement(
        LABELS, measures="krippendorff_alpha_ordinal", levels=["x", "z", "y"], pairs=False, resamples=20
    )
    assert np.isfinite(ordered.iloc[0]["value"])
    plain = agreement(LABELS, measures="gwet_ac1", pairs=False, resamples=20).iloc[0]["value"]
    more = agreement(LABELS, measures="gwet_ac1", levels=["x", "z", "y"], pairs=False, resamples=20).iloc[0]["value"]
    assert plain != more


def test_numbers_as_labels_are_ordered_by_value() -> None:
    table = LABELS.assign(label=LABELS["label"].map({"x": "2", "y": "10"}))
    found = agreement(table, measures=["krippendorff_alpha_ordinal", "krippendorff_alpha_interval"], resamples=20)
    assert np.isfinite(found["value"]).all()


def test_many_judges_are_not_compared_in_pairs_unless_asked() -> None:
    many = pd.concat([LABELS.assign(judge=LABELS["judge"] + str(i)) for i in range(3)])
    found = agreement(many, resamples=20)
    assert {len(judges) for judges in found["judges"]} == {9}
    assert found.attrs["notes"] == ["pairs of the 9 judges are not listed: name fewer judges, or ask for pairs"]
    assert (agreement(many, measures="cohen_kappa", pairs=True, resamples=20)["judges"].map(len) == 2).sum() == 36


def test_copies_of_a_judge_are_named() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"judge": np.repeat(["a", "b"], 30), "item": [*range(30)] * 2, "label": rng.choice(list("xy"), 60)}
    )
    plain = agreement(table, measures="krippendorff_alpha_nominal", resamples=200)
    assert (plain["note"] == "").all()
    copied = pd.concat([table, table[table["judge"] == "a"].assign(judge="a again")])
    found = rows_of(agreement(copied, measures="krippendorff_alpha_nominal", resamples=200))
    assert (
        "'a' and 'a again' gave the same answer to all 30 items"
        in found[("krippendorff_alpha_nominal", ("a", "a again", "b"))]["note"]
    )


def test_undefined_cells_say_why() -> None:
    apart = pd.DataFrame({"judge": ["a", "a", "b", "b"], "item": [1, 2, 3, 4], "score": [1, 2, 1, 2]})
    for _, row in agreement(apart, resamples=20).iterrows():
        assert np.isnan(row["value"])
        assert row["note"] == "undefined: no item was answered by both 'a' and 'b'"
        assert row["n"] == 0
    constant = SCORES.assign(score=3)
    for _, row in agreement(constant, resamples=20).iterrows():
        defined = row["measure"] == "agreement_rate"
        assert np.isnan(row["value"]) != defined
        assert row["note"].startswith("all resamples" if defined else "undefined: every answer is '3'")


def test_a_criterion_scored_by_one_judge_only() -> None:
    table = pd.concat([SCORES.assign(criterion="seen"), SCORES[SCORES["judge"] == "a"].assign(criterion="unseen")])
    found = agreement(table, measures="agreement_rate", resamples=20)
    unseen = rows_of(found[found["criterion"] == "unseen"])
    assert unseen[("agreement_rate", ("a", "b"))]["note"] == "undefined: 'b' answered nothing here"
    assert unseen[("agreement_rate", ("b", "c"))]["note"] == "undefined: nobody answered"
    assert "two or more judges" in unseen[("agreement_rate", ("a", "b", "c"))]["note"]


def test_resampling_judges_leaves_named_pairs_without_interval() -> None:
    five = pd.concat([LABELS, LABELS[LABELS["judge"] != "c"].assign(judge=lambda table: table["judge"] + "2")])
    measures = ["agreement_rate", "krippendorff_alpha_nominal"]
    found = rows_of(agreement(five, measures=measures, unit="both", resamples=99))
    whole = found[("agreement_rate", ("a", "a2", "b", "b2", "c"))]
    assert np.isfinite(whole["low"])
    assert "only 5 judges to resample" in whole["note"]
    pair = found[("agreement_rate", ("a", "b"))]
    assert np.isfinite(pair["value"])
    assert np.isnan(pair["low"])
    assert pair["note"].startswith("no interval: it compares named judges")
    # Of three judges, one in nine resamples holds only one: too few for an interval.
    three = rows_of(agreement(LABELS, measures=measures, unit="judge", resamples=999))
    assert three[("agreement_rate", ("a", "b", "c"))]["note"].startswith("no interval: undefined in 1")


@pytest.mark.parametrize(
    ("table", "settings", "message"),
    [
        (LABELS, {"judges": ["a", "z"]}, "judge 'z' is not in the table; its judges are 'a', 'b', 'c'"),
        (LABELS, {"judges": ["a"]}, "agreement takes two judges; there is only 'a'"),
        (LABELS, {"against": "z"}, "judge to compare with 'z' is not in the table"),
        (LABELS, {"against": "majority", "judges": ["a", "b"]}, "needs 3 judges or more; there are 2"),
        (LABELS, {"measures": "pearson"}, "pearson needs numbers, and the answers are 'x', 'y'"),
        (LABELS, {"measures": "spearman"}, "spearman needs the order of the answers 'x', 'y'; declare it by levels"),
        (LABELS, {"measures": "krippendorff_alpha_ordinal"}, "needs the order of the answers"),
        (LABELS, {"measures": "kappa"}, "measure 'kappa' is not known; did you mean"),
        (LABELS, {"measures": []}, "measures is empty"),
        (LABELS, {"measures": "win_rate"}, "win_rate counts votes on pairs, and these are not votes"),
        (LABELS, {"levels": ["x"]}, "are fewer than two"),
        (LABELS, {"levels": ["x", "z"]}, "label 'y' is none of 'x', 'z'"),
        (LABELS, {"resamples": 0}, "resamples 0 is not a positive whole number"),
        (LABELS, {"repeats": "mean"}, "repeats 'mean' does not fit labels"),
        (LABELS, {"orientation": "name"}, "orientation is for tables of votes"),
        (LABELS, {"unit": "context"}, "the table has no column 'context'"),
        (SCORES, {"levels": [1, 2, 3]}, "score 4 is not among the levels '1', '2', '3'"),
        (SCORES, {"levels": ["low", "high"]}, "of scores must be numbers"),
        (SCORES, {"levels": [2, 1]}, "in ascending order"),
        (SCORES, {"repeats": "majority"}, "repeats 'majority' does not fit scores"),
        (SCORES, {"measures": "all_agree", "against": "a"}, "all_agree is about a whole panel; leave out against"),
        (VOTES, {"measures": "spearman"}, "spearman compares scores, and these are votes"),
        (VOTES, {"orientation": "shown"}, "orientation 'shown' is not known"),
        (LABELS.drop(columns="label"), {}, "lack one of answers"),
        (LABELS.assign(score=1), {}, "the columns are those of scores and labels"),
        (LABELS.iloc[:0], {}, "there are no labels"),
        (SCORES.assign(score="good"), {}, "score 'good' is not a number"),
        (LABELS.assign(judge=["majority"] * 6 + ["b"] * 6 + ["c"] * 6), {"against": "majority"}, "rename the judge"),
    ],
)
def test_wrong_input(table: pd.DataFrame, settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        agreement(table, **settings)


def test_all_problems_of_a_request_come_at_once() -> None:
    with pytest.raises(InputError) as caught:
        agreement(LABELS, measures=["pearson", "kapa", "win_rate"])
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize("unit", ["item", "context", "judge", "both"])
def test_any_number_of_jobs_gives_the_same_rows(unit: str) -> None:
    rng = np.random.default_rng(4)
    table = pd.DataFrame(
        [
            {"judge": judge, "context": f"c{item // 2}", "item": str(item), "score": int(score)}
            for judge in "abcd"
            for item, score in enumerate(rng.integers(1, 6, 40))
            if rng.random() < 0.9
        ]
    )
    one, three = (agreement(table, unit=unit, resamples=60, jobs=jobs) for jobs in (1, 3))
    pd.testing.assert_frame_equal(one, three, check_exact=True)


@pytest.mark.parametrize("interval", ["basic", "studentised", "analytic"])
def test_no_end_of_an_interval_lies_where_no_value_can(interval: str) -> None:
    """Basic and studentised intervals of few items, and normal ones, reach beyond 1 by themselves."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 12)
    said = np.where(rng.random((2, 12)) < 0.85, truth, rng.integers(0, 3, 12))
    rows = [(judge, item, label) for judge, given in zip("ab", said, strict=True) for item, label in enumerate(given)]
    table = pd.DataFrame(rows, columns=["judge", "item", "score"])
    found = agreement(table, resamples=500, prob=0.99, interval=interval)
    assert found["high"].max() == 1.0
    assert found["low"][found["measure"] == "agreement_rate"].min() >= 0.0
    if interval != "analytic":
        for metric in (metaeval(table, "a", resamples=500, prob=0.99, interval=interval), detected(table, interval)):
            assert metric["high"].max() == 1.0
            assert metric["low"].min() >= -1.0


def detected(table: pd.DataFrame, interval: str) -> pd.DataFrame:
    labels = table.rename(columns={"score": "label"})
    return detection(labels, "a", resamples=500, prob=0.99, interval=interval)


def test_units_that_a_measure_leaves_out_are_counted() -> None:
    less = SCORES[~((SCORES["judge"] == "a") & (SCORES["item"] < 2))]
    found = agreement(less, measures=["icc_2_1", "all_agree", "krippendorff_alpha_interval"], pairs=False, resamples=50)
    notes = found.set_index("measure")["note"]
    assert "2 units that some judges did not answer left out; icc_2_1_mixed counts them" in notes["icc_2_1"]
    assert "2 units that some judges did not answer left out" in notes["all_agree"]
    assert "left out" not in notes["krippendorff_alpha_interval"]


def labels_in_contexts(seed: int, is_shared: bool) -> pd.DataFrame:
    """Labels of three judges about ten items in each of 12 contexts; they know all of a context's answers, or single
    ones."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 120)
    knows = rng.random((3, 12)).repeat(10, axis=1)[:1].repeat(3, axis=0) if is_shared else rng.random((3, 120))
    label = np.where(knows < 0.6, truth, rng.integers(0, 2, (3, 120)))
    judge, item = (code.ravel() for code in np.indices(label.shape))
    columns = {"judge": judge, "item": item, "context": item // 10, "label": label.ravel()}
    return pd.DataFrame(columns).astype(str)


def test_items_that_depend_on_their_context_are_noted_with_the_width_they_cost() -> None:
    def dependence_notes(table: pd.DataFrame, unit: str = "item") -> list[str]:
        notes = agreement(table, resamples=50, unit=unit).attrs["notes"]
        return [note for note in notes if "not independent" in note]

    for seed in range(5):
        table = labels_in_contexts(seed, is_shared=True)
        (note,) = dependence_notes(table)
        assert "unit='context'" in note
        assert dependence_notes(table, "context") == dependence_notes(table.drop(columns="context")) == []
    assert not any(dependence_notes(labels_in_contexts(seed, is_shared=False)) for seed in range(10))
