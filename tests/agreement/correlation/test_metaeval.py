"""The verb `metaeval`: published figures, grouping by hand, intervals, comparisons, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import voirdire
from voirdire import metaeval
from voirdire.agreement import compare_metrics, human_ceiling, metric_table, williams_test
from voirdire.agreement.coefficients.rows import json_rows
from voirdire.errors import InputError

RNG = np.random.default_rng(7)
CONTEXTS, SYSTEMS = 12, 5


def grid_table(judges: dict[str, np.ndarray], **more: object) -> pd.DataFrame:
    """A scores table from arrays of shape (contexts, systems)."""
    rows = [
        {"judge": judge, "context": f"c{c:02d}", "system": f"s{s}", "score": array[c, s]}
        for judge, array in judges.items()
        for c, s in np.ndindex(array.shape)
        if not np.isnan(array[c, s])
    ]
    return pd.DataFrame(rows).assign(**more)


HUMAN = RNG.normal(size=(CONTEXTS, SYSTEMS)).round(1)
GOOD = HUMAN + RNG.normal(size=HUMAN.shape)
BAD = HUMAN + 3 * RNG.normal(size=HUMAN.shape)
TABLE = grid_table({"human": HUMAN, "good": GOOD, "bad": BAD})


def cell(found: pd.DataFrame, measure: str, metric: str) -> pd.Series:
    rows = found[(found["measure"] == measure) & (found["judges"].str[0] == metric)]
    assert len(rows) == 1
    return rows.iloc[0]


def test_published_correlations_of_unieval(shared) -> None:
    """UniEval on Topical-Chat, pooled over 360 responses, Pearson / Spearman."""
    published = {
        "naturalness": (0.444, 0.514),
        "coherence": (0.595, 0.613),
        "engagingness": (0.557, 0.605),
        "groundedness": (0.536, 0.575),
    }
    found = metaeval(shared / "data" / "topicalchat_scores.csv", "human", resamples=200)
    for criterion, (pearson, spearman) in published.items():
        part = found[found["criterion"] == criterion]
        assert round(cell(part, "pearson", "unieval")["value"], 3) == pearson
        assert round(cell(part, "spearman", "unieval")["value"], 3) == spearman
        assert (part["n"] == 360).all()


def test_the_package_is_its_verb() -> None:
    one = voirdire.metaeval(TABLE, "human", resamples=50)
    pd.testing.assert_frame_equal(one, metaeval(TABLE, "human", resamples=50))


def test_context_level_is_the_mean_over_contexts() -> None:
    found = metaeval(TABLE, "human", level="context", resamples=50)
    by_hand = {
        "pearson": [stats.pearsonr(g, h)[0] for g, h in zip(GOOD, HUMAN, strict=True)],
        "spearman": [stats.spearmanr(g, h)[0] for g, h in zip(GOOD, HUMAN, strict=True)],
        "kendall_tau_b": [stats.kendalltau(g, h)[0] for g, h in zip(GOOD, HUMAN, strict=True)],
    }
    for measure, values in by_hand.items():
        row = cell(found, measure, "good")
        assert row["value"] == pytest.approx(np.mean(values), abs=1e-9)
        assert row["n"] == CONTEXTS
    fisher = metaeval(TABLE, "human", level="context", average="fisher", measures="pearson", resamples=50)
    assert cell(fisher, "pearson", "good")["value"] == pytest.approx(
        np.tanh(np.mean(np.arctanh(by_hand["pearson"]))), abs=1e-9
    )


def test_system_level_correlates_means() -> None:
    found = metaeval(TABLE, "human", level="system", resamples=50)
    x, y = GOOD.mean(axis=0), HUMAN.mean(axis=0)
    assert cell(found, "pearson", "good")["value"] == pytest.approx(stats.pearsonr(x, y)[0], abs=1e-9)
    assert cell(found, "kendall_tau_b", "good")["value"] == pytest.approx(stats.kendalltau(x, y)[0], abs=1e-9)
    assert cell(found, "pearson", "good")["n"] == SYSTEMS
    assert "only 12 contexts and 5 systems to resample" in cell(found, "pearson", "good")["note"]


def test_constant_contexts_are_counted_and_left_out() -> None:
    human = HUMAN.copy()
    human[:3] = 1.0
    found = metaeval(grid_table({"human": human, "good": GOOD}), "human", level="context", resamples=50)
    row = cell(found, "spearman", "good")
    assert row["n"] == 9
    assert "3 of 12 contexts undefined (one side constant, or fewer than two scores) and left out" in row["note"]
    assert row["value"] == pytest.approx(
        np.mean([stats.spearmanr(g, h)[0] for g, h in zip(GOOD[3:], HUMAN[3:], strict=True)]), abs=1e-9
    )
    accuracy = cell(found, "pairwise_accuracy", "good")
    assert accuracy["n"] == 12
    assert "ties within" in accuracy["note"]


def test_a_perfect_context_has_no_fisher_z() -> None:
    good = GOOD.copy()
    good[0] = HUMAN[0]
    found = metaeval(
        grid_table({"human": HUMAN, "good": good}),
        "human",
        level="context",
        average="fisher",
        measures="pearson",
        resamples=20,
    ).iloc[0]
    assert np.isnan(found["value"])
    assert "Fisher z is infinite; use the mean" in found["note"]


def test_intervals_of_contexts_systems_and_both_by_hand() -> None:
    def resample(rows: np.ndarray, columns: np.ndarray) -> float:
        x, y = GOOD[np.ix_(rows, columns)].mean(axis=0), HUMAN[np.ix_(rows, columns)].mean(axis=0)
        return stats.pearsonr(x, y)[0] if len(set(columns)) > 1 else np.nan

    settings = {
        "level": "system",
        "measures": "pearson",
        "metrics": ["good"],
        "resamples": 300,
        "prob": 0.95,
        "seed": 5,
    }
    drawn = np.random.default_rng(5).integers(0, CONTEXTS, (300, CONTEXTS))
    draws = [resample(rows, np.arange(SYSTEMS)) for rows in drawn]
    found = metaeval(TABLE, "human", unit="context", **settings).iloc[0]
    assert (found["low"], found["high"]) == pytest.approx(tuple(np.quantile(draws, [0.025, 0.975])), abs=1e-9)
    for_rows, for_columns = (np.random.default_rng(child) for child in np.random.SeedSequence(5).spawn(2))
    rows = for_rows.integers(0, CONTEXTS, (300, CONTEXTS))
    columns = for_columns.integers(0, SYSTEMS, (300, SYSTEMS))
    draws = [resample(r, c) for r, c in zip(rows, columns, strict=True)]
    found = metaeval(TABLE, "human", unit="both", **settings).iloc[0]
    assert (found["low"], found["high"]) == pytest.approx(tuple(np.nanquantile(draws, [0.025, 0.975])), abs=1e-9)
    draws = [resample(np.arange(CONTEXTS), c) for c in columns]
    found = metaeval(TABLE, "human", unit="system", **settings).iloc[0]
    assert (found["low"], found["high"]) == pytest.approx(tuple(np.nanquantile(draws, [0.025, 0.975])), abs=1e-9)


def test_pooled_correlation_can_resample_contexts_and_systems() -> None:
    settings = {"measures": "spearman", "metrics": ["good"], "resamples": 200, "prob": 0.95, "seed": 1}
    values = {metaeval(TABLE, "human", unit=unit, **settings).iloc[0]["value"] for unit in ("item", "context", "both")}
    assert len({round(v, 12) for v in values}) == 1
    drawn = np.random.default_rng(1).integers(0, SYSTEMS, (200, SYSTEMS))
    draws = [stats.spearmanr(GOOD[:, s].ravel(), HUMAN[:, s].ravel())[0] for s in drawn]
    found = metaeval(TABLE, "human", unit="system", **settings).iloc[0]
    assert (found["low"], found["high"]) == pytest.approx(tuple(np.quantile(draws, [0.025, 0.975])), abs=1e-9)


def test_pooled_scores_of_contexts_are_resampled_by_context() -> None:
    """Items of a context share much: drawn one by one, they make intervals that are too narrow."""
    settings = {"measures": "pearson", "resamples": 200}
    for table, unit in ((TABLE, "context"), (TABLE.assign(context="one"), "item")):
        table = table.assign(item=TABLE["context"] + TABLE["system"])
        by_default, asked = (metaeval(table, "human", **settings, **how) for how in ({}, {"unit": unit}))
        pd.testing.assert_frame_equal(by_default, asked)
        assert set(by_default["unit"]) == {unit}
    assert human_ceiling(TABLE, ["human", "good"], resamples=50)["unit"].eq("context").all()
    row = compare_metrics(TABLE, "human", resamples=50, permutations=50).iloc[0]
    assert row["unit"] == "context"
    assert "no Williams' test: it takes items to be independent" in row["note"]


def test_places_and_what_cannot_be_told_from_the_best() -> None:
    twin = GOOD + 0.01 * RNG.normal(size=GOOD.shape)
    found = metaeval(grid_table({"human": HUMAN, "good": GOOD, "bad": BAD, "twin": twin}), "human", resamples=2000)
    part = found[found["measure"] == "pearson"]
    part = part.set_index(part["judges"].str[0])
    assert part.loc["bad", "place"] == 3
    assert not part.loc["bad", "same_as_best"]
    assert part.loc["bad", "behind_low"] > 0
    second = "twin" if part.loc["good", "place"] == 1 else "good"
    assert part.loc[second, "place"] == 2
    assert part.loc[second, "same_as_best"]
    assert part.loc[second, "note"].startswith("second best, not distinguishable from the best")
    best = part[part["place"] == 1].iloc[0]
    assert part.loc["bad", "behind"] == pytest.approx(best["value"] - part.loc["bad", "value"])
    table = metric_table(found)
    assert table.loc["bad", ("", "r")] == f"{part.loc['bad', 'value']:.2f}"
    assert table.loc[second, ("", "r")].endswith("_~")
    assert set(json_rows(found)[0]) == {
        "measure", "judges", "criterion", "level", "value", "low", "high", "n", "note"}  # fmt: skip
    json.dumps(json_rows(found), allow_nan=False)


def test_metrics_of_different_items_are_compared_on_common_ones() -> None:
    part = GOOD.copy()
    part[:4] = np.nan
    found = metaeval(grid_table({"human": HUMAN, "bad": BAD, "part": part}), "human", measures="pearson", resamples=300)
    bad, good = cell(found, "pearson", "bad"), cell(found, "pearson", "part")
    assert (bad["n"], good["n"]) == (60, 40)
    common = stats.pearsonr(BAD[4:].ravel(), HUMAN[4:].ravel())[0]
    assert bad["behind"] == pytest.approx(stats.pearsonr(part[4:].ravel(), HUMAN[4:].ravel())[0] - common, abs=1e-9)


def test_annotators_make_a_mean_and_a_ceiling(newsroom) -> None:
    raters = ["rater-1", "rater-2", "rater-3"]
    found = human_ceiling(newsroom, raters, measures=["pearson", "spearman"], resamples=200)
    wide = newsroom[newsroom["criterion"] == "coherence"].pivot(index="item", columns="judge", values="score")
    part = found[(found["criterion"] == "coherence") & (found["measure"] == "spearman")]
    by_hand = [stats.spearmanr(wide[one], wide.drop(columns=one).mean(axis=1))[0] for one in raters]
    assert part["value"].tolist() == pytest.approx([*by_hand, np.mean(by_hand)], abs=1e-9)
    assert part["low"].iloc[-1] < part["value"].iloc[-1] < part["high"].iloc[-1]
    mean = metaeval(newsroom, raters[:2], measures="pearson", resamples=20)
    row = mean[mean["criterion"] == "coherence"].iloc[0]
    assert row["judges"] == ("rater-3", "mean of the annotators")
    assert row["value"] == pytest.approx(stats.pearsonr(wide["rater-3"], wide[raters[:2]].mean(axis=1))[0], abs=1e-9)
    with pytest.raises(InputError, match="needs two annotators or more; there are 1"):
        human_ceiling(newsroom, ["rater-1"])
    with pytest.raises(InputError, match="needs a column 'system'"):
        human_ceiling(newsroom, raters, unit="system")


def test_ties_of_means_do_not_depend_on_who_gave_which_score() -> None:
    """Tenths: 0.1 + 0.2 + 0.3 is another float than 0.3 + 0.2 + 0.1, and the same mean."""
    scores = {"p": [0.1, 0.3, 0.7, 0.9], "q": [0.2, 0.2, 0.6, 0.8], "r": [0.3, 0.1, 0.5, 0.7], "m": [1, 2, 3, 4]}
    table = pd.DataFrame([(j, f"i{i}", s) for j, row in scores.items() for i, s in enumerate(row)])
    table.columns = ["judge", "item", "score"]
    for people in (["p", "q", "r"], ["r", "q", "p"], ["q", "p", "r"]):
        found = metaeval(table, people, measures=["kendall_tau_b", "spearman"], resamples=10)
        tau, rho = found.set_index("measure")["value"][["kendall_tau_b", "spearman"]]
        assert tau == pytest.approx(stats.kendalltau([1, 2, 3, 4], [1, 1, 2, 3]).statistic, abs=1e-12)
        assert rho == pytest.approx(stats.spearmanr([1, 2, 3, 4], [1, 1, 2, 3]).statistic, abs=1e-12)


def test_annotators_who_skip_items_are_counted() -> None:
    table = pd.DataFrame(
        {"judge": ["p", "q", "m"] * 4, "item": np.repeat(range(4), 3), "score": [1, 2, 1, 3, 3, 2, 2, 4, 3, 5, 5, 4]}
    )
    found = metaeval(table.drop(index=1), ["p", "q"], measures="pearson", resamples=20).iloc[0]
    assert found["n"] == 4
    assert "mean of the annotators: 1 item scored by some annotators only" in found["note"]


def draws_table(arrays: dict[str, np.ndarray]) -> pd.DataFrame:
    return pd.concat(
        [grid_table({judge: draw}, run=number) for judge, array in arrays.items() for number, draw in enumerate(array)]
    )


def test_posterior_draws_widen_the_interval_by_their_own_uncertainty() -> None:
    spread = GOOD + 1.5 * RNG.normal(size=(60, *GOOD.shape))
    spread += GOOD - spread.mean(axis=0)
    table = grid_table({"human": HUMAN})
    widths = {}
    for name, arrays in (("sure", np.stack([GOOD] * 60)), ("unsure", spread)):
        found = metaeval(table, "human", draws=draws_table({"fit": arrays}), measures="pearson", resamples=3000).iloc[0]
        assert found["value"] == pytest.approx(stats.pearsonr(GOOD.ravel(), HUMAN.ravel())[0], abs=1e-9)
        widths[name] = found["high"] - found["low"]
    plain = metaeval(TABLE, "human", metrics=["good"], measures="pearson", resamples=3000).iloc[0]
    assert widths["sure"] == pytest.approx(plain["high"] - plain["low"], rel=0.05)
    assert widths["unsure"] > 1.1 * widths["sure"]


@pytest.mark.parametrize("level", ["context", "system"])
def test_posterior_draws_at_every_level(level: str) -> None:
    draws = draws_table({"fit": GOOD + 0.1 * RNG.normal(size=(7, *GOOD.shape))})
    found = metaeval(TABLE, "human", level=level, draws=draws, measures=["spearman", "pairwise_accuracy"], resamples=60)
    rows = found[found["judges"].str[0] == "fit"]
    assert np.isfinite(rows[["value", "low", "high"]].to_numpy(float)).all()


def test_a_fit_in_place_of_scores() -> None:
    from voirdire import fit

    rng = np.random.default_rng(0)
    strength = np.linspace(-2, 2, 12)
    rows = []
    for i, j in np.argwhere(np.triu(np.ones((12, 12)), 1)):
        wins = rng.random(2) < 1 / (1 + np.exp(strength[j] - strength[i]))
        rows += [
            {"judge": f"g{k}", "first": f"x{i:02d}", "second": f"x{j:02d}", "winner": "first" if w else "second"}
            for k, w in enumerate(wins)
        ]
    fitted = fit(pd.DataFrame(rows), model="bradley-terry")
    people = pd.DataFrame({"judge": "people", "item": [f"x{i:02d}" for i in range(12)], "score": strength})
    found = metaeval(people, "people", draws=fitted, measures="pearson", resamples=500).iloc[0]
    assert found["judges"] == ("fit", "people")
    scores = fitted.ranking().set_index("item")["score"].sort_index()
    assert found["value"] == pytest.approx(stats.pearsonr(scores, strength)[0], abs=0.02)
    assert found["low"] < found["value"] < found["high"]
    named = metaeval(people, "people", draws={"bt": fitted}, measures="pearson", resamples=50).iloc[0]
    assert named["judges"] == ("bt", "people")
    with pytest.raises(InputError, match="is a fit by map, which has no draws; use laplace or nuts"):
        metaeval(people, "people", draws=fit(pd.DataFrame(rows), model="bradley-terry", method="map"))
    with pytest.raises(InputError, match="none of the items of 'fit', such as 'x00'"):
        metaeval(people.assign(item=range(12)), "people", draws=fitted)
    with pytest.raises(InputError, match="'bt' is a int; give fits"):
        metaeval(people, "people", draws={"bt": 3})


def test_draws_are_checked() -> None:
    draws = draws_table({"fit": np.stack([GOOD, GOOD])})
    with pytest.raises(InputError, match="draws: column 'run' is missing"):
        metaeval(TABLE, "human", draws=draws.drop(columns="run"))
    with pytest.raises(InputError, match="lacks some draws of item"):
        metaeval(TABLE, "human", draws=draws.iloc[:-1])
    with pytest.raises(InputError, match="'good' has scores and posterior draws"):
        metaeval(TABLE, "human", draws=draws.assign(judge="good"))
    with pytest.raises(InputError, match="bca interval has no room for posterior draws"):
        metaeval(TABLE, "human", draws=draws, interval="bca")
    with pytest.raises(InputError, match="there are none for the items of the table"):
        metaeval(TABLE, "human", draws=draws.assign(context="elsewhere", system=range(len(draws))))


def test_comparison_of_two_metrics() -> None:
    how = {"measure": "pearson", "unit": "item", "resamples": 2000, "permutations": 2000}
    row = compare_metrics(TABLE, "human", **how).iloc[0]
    assert (row["a"], row["b"]) == ("bad", "good")
    one, two = (stats.pearsonr(m.ravel(), HUMAN.ravel())[0] for m in (BAD, GOOD))
    assert row["difference"] == pytest.approx(one - two, abs=1e-9)
    assert row["high"] < 0
    assert row["p_at_least"] < 0.01
    assert row["p_permutation"] < 0.01
    between = stats.pearsonr(BAD.ravel(), GOOD.ravel())[0]
    assert row["p_williams"] == pytest.approx(williams_test(one, two, between, 60)[1])
    equal = grid_table({"human": HUMAN, "a": GOOD, "b": 2 * HUMAN - GOOD})
    for level in ("pooled", "context", "system"):
        found = compare_metrics(
            equal, "human", measure="spearman", level=level, resamples=300, permutations=300, prob=0.95
        ).iloc[0]
        assert found["low"] < 0 < found["high"]
        assert found["p_permutation"] > 0.05
        assert np.isnan(found["p_williams"]) == (level != "system")


@pytest.mark.slow
def test_permutation_test_of_metrics_keeps_its_level() -> None:
    rng = np.random.default_rng(0)
    found = []
    for seed in range(200):
        human = rng.normal(size=(1, 30))
        one, two = human + rng.normal(size=(1, 30)), human + rng.normal(size=(1, 30))
        table = grid_table({"human": human, "a": one, "b": 7 + 100 * two})
        row = compare_metrics(table, "human", measure="pearson", resamples=1, permutations=99, seed=seed).iloc[0]
        found.append([row["p_permutation"], row["p_williams"]])
    # 200 tests at 5% reject 10 in the mean, standard deviation 3.1.
    assert (np.sum(np.array(found) <= 0.05, axis=0) <= 18).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("level", "unit", "of_context", "of_system"),
    [("context", None, 2.0, 0.0), ("pooled", "context", 2.0, 0.0), ("system", None, 0.0, 1.0)],
)
def test_tests_of_metrics_that_like_contexts_or_systems_keep_their_level(level, unit, of_context, of_system) -> None:
    rng, found = np.random.default_rng(5), []

    def liking() -> np.ndarray:
        by_context, by_system = of_context * rng.normal(size=(20, 1)), of_system * rng.normal(size=(1, 8))
        return by_context + by_system + rng.normal(size=(20, 8))

    for seed in range(150):
        human = rng.normal(size=(20, 8))
        table = grid_table({"human": human, "a": human + liking(), "b": human + liking()})
        how = {} if unit is None else {"unit": unit}
        settings = {"measure": "pearson", "resamples": 1, "permutations": 99, "seed": seed}
        row = compare_metrics(table, "human", level=level, **settings, **how).iloc[0]
        found.append([row["p_permutation"], row["p_williams"]])
    rejected = np.sum(np.array(found, dtype=float) <= 0.05, axis=0)
    # 150 tests at 5% reject 7.5 in the mean, standard deviation 2.7
    assert 1 <= rejected[0] <= 16
    assert rejected[1] <= 16
    if unit is not None:
        assert np.isnan(row["p_williams"])


def test_no_permutation_test_where_contexts_and_systems_are_both_drawn() -> None:
    row = compare_metrics(TABLE, "human", level="context", unit="both", resamples=20, permutations=20).iloc[0]
    assert np.isnan(row["p_permutation"])
    assert "no permutation test: contexts and systems are both resampled" in row["note"]


def test_williams_test_is_that_of_rs_psych(project) -> None:
    for case in json.loads((project / "tests/reference/agree_psych.json").read_text())["williams"]:
        t, p = williams_test(case["r12"], case["r13"], case["r23"], int(case["n"]))
        assert t == pytest.approx(case["t"], abs=1e-9)
        assert p == pytest.approx(case["p"], rel=1e-9)
    with pytest.raises(InputError, match="needs 4 items or more"):
        williams_test(0.1, 0.2, 0.3, 3)
    with pytest.raises(InputError, match="must lie between"):
        williams_test(1.1, 0.2, 0.3, 30)
    assert np.isnan(williams_test(0.5, 0.5, 1.0, 30)[0])


def test_undefined_cells_say_why() -> None:
    for table, why in (
        (grid_table({"human": HUMAN, "m": np.ones_like(HUMAN)}), "undefined: every score of 'm' is 1"),
        (grid_table({"human": np.full_like(HUMAN, 2.5), "m": GOOD}), "undefined: every score of 'human' is 2.5"),
        (grid_table({"human": HUMAN[:1, :1], "m": GOOD[:1, :1]}), "undefined: a single item was scored by both"),
    ):
        found = metaeval(table, "human", resamples=20)
        assert found["value"].isna().all()
        assert found["low"].isna().all()
        assert found["note"].str.startswith(why).all()
        assert found["place"].isna().all()
    halves = pd.concat(
        [
            TABLE[(TABLE["judge"] == "human") & (TABLE["system"] == "s0")],
            TABLE[(TABLE["judge"] == "good") & (TABLE["system"] == "s1")],
        ]
    )
    assert "no item was scored by both 'good' and 'human'" in metaeval(halves, "human", resamples=20).iloc[0]["note"]


def test_a_criterion_that_people_did_not_score() -> None:
    table = pd.concat([TABLE.assign(criterion="seen"), TABLE[TABLE["judge"] != "human"].assign(criterion="unseen")])
    found = metaeval(table, "human", resamples=20)
    assert (
        found[found["criterion"] == "unseen"]["note"] == "undefined: 'human' scored nothing by criterion 'unseen'"
    ).all()
    assert found[found["criterion"] == "seen"]["value"].notna().all()


def test_items_may_stand_for_systems() -> None:
    named = TABLE.rename(columns={"system": "item"})
    pd.testing.assert_frame_equal(
        metaeval(named, "human", level="system", resamples=30), metaeval(TABLE, "human", level="system", resamples=30)
    )
    items = TABLE.assign(item=TABLE["context"] + TABLE["system"]).drop(columns="system")
    by_context = metaeval(items, "human", level="context", resamples=30)
    assert by_context["value"].tolist() == pytest.approx(
        metaeval(TABLE, "human", level="context", resamples=30)["value"].tolist()
    )
    with pytest.raises(InputError, match="needs a column 'system'"):
        metaeval(items, "human", level="system")


@pytest.mark.parametrize(
    ("table", "human", "settings", "message"),
    [
        (TABLE, "people", {}, "human 'people' is not a judge of the table; its judges are 'bad', 'good', 'human'"),
        (TABLE, "human", {"metrics": ["human"]}, "'human' is given as the human and as a metric"),
        (TABLE, "human", {"metrics": ["better"]}, "metric 'better' is not a judge of the table"),
        (TABLE, ["human", "good", "bad"], {}, "every judge of the table is human"),
        (TABLE, [], {}, "human is empty"),
        (TABLE, "human", {"measures": "kappa"}, "measure 'kappa' is not known"),
        (TABLE, "human", {"level": "segment"}, "level 'segment' is not known"),
        (TABLE, "human", {"unit": "judge"}, "unit 'judge' is not offered here"),
        (TABLE, "human", {"level": "context", "unit": "item"}, "'item' is not offered here; give one of context"),
        (TABLE, "human", {"average": "median"}, "average 'median' is not known"),
        (TABLE, "human", {"average": "fisher", "measures": "pairwise_accuracy"}, "'fisher' is for correlations"),
        (TABLE, "human", {"resamples": 0}, "resamples 0 is not a positive whole number"),
        (TABLE, "human", {"phase": "final"}, "phase 'final' is asked for, and the table has no column 'phase'"),
        (TABLE.assign(phase="final"), "human", {}, "the table has phases 'final'; name one of them"),
        (TABLE.assign(score="good"), "human", {}, "score 'good' is not a number"),
        (TABLE.assign(item=TABLE["context"] + TABLE["system"]).drop(columns=["context", "system"]), "human",
         {"level": "context"}, "needs a column 'context'"),
    ],
)  # fmt: skip
def test_wrong_input(table, human, settings, message: str) -> None:
    with pytest.raises(InputError, match=message):
        metaeval(table, human, **settings)


def test_phases_are_chosen() -> None:
    both = pd.concat([TABLE.assign(phase="initial"), TABLE.assign(phase="final", score=TABLE["score"] * -1)])
    initial, final = (metaeval(both, "human", phase=phase, resamples=30)["value"] for phase in ("initial", "final"))
    assert initial.tolist() == pytest.approx(final.tolist())


def test_two_items_of_a_system_in_a_context() -> None:
    doubled = TABLE.assign(item=TABLE["context"] + TABLE["system"])
    doubled = pd.concat([doubled, doubled.assign(item=doubled["item"] + "b")])
    assert metaeval(doubled, "human", resamples=20)["n"].iloc[0] == 120
    with pytest.raises(InputError, match="are of one system in one context"):
        metaeval(doubled, "human", level="context", resamples=20)


def test_any_number_of_jobs_gives_the_same_rows() -> None:
    for verb, settings in ((metaeval, {}), (compare_metrics, {"permutations": 50, "measure": "pearson"})):
        one, two = (verb(TABLE, "human", resamples=40, jobs=jobs, **settings) for jobs in (1, 2))
        pd.testing.assert_frame_equal(one, two, check_exact=True)
