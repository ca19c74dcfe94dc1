"""Experts, swapped positions, detection, runs, phases and gates."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint, proportions_ztest

from voirdire.agreement import (
    compare_judges,
    compare_means,
    compare_pass_rates,
    detection,
    expert_agreement,
    gate,
    leave_one_expert_out,
    phase_change,
    run_deviation,
    swap_consistency,
)
from voirdire.agreement.experts.gates import pass_interval
from voirdire.errors import InputError

EXPERTS = ["e1", "e2", "e3", "e4"]


def votes_of(answers: dict[str, str]) -> pd.DataFrame:
    """One pair of items, a context per letter: x, y, t (tie) or - (no vote)."""
    words = {"x": "x", "y": "y", "t": "tie"}
    return pd.DataFrame(
        [
            {"judge": judge, "context": f"c{place:02d}", "first": "x", "second": "y", "winner": words[letter]}
            for judge, letters in answers.items()
            for place, letter in enumerate(letters)
            if letter != "-"
        ]
    )


PANEL = votes_of(
    {
        #      split all-x x-tie all-y three abstain
        "e1": "xxxyx-",
        "e2": "xxxyxx",
        "e3": "yxtyxt",
        "e4": "yxtyyt",
        "gp": "ttyxxy",
        "ok": "xxxyxx",
    }
)


def values(found: pd.DataFrame) -> dict[tuple[str, str], float]:
    return {(row["measure"], row["judges"][0]): row["value"] for _, row in found.iterrows()}


def test_agreement_with_experts_and_how_it_misses() -> None:
    found = values(expert_agreement(PANEL, EXPERTS, resamples=50))
    # Majorities: tie, x, tie (two say x, two say tie), y, x, tie.
    assert found[("agreement_with_majority", "gp")] == pytest.approx(2 / 6)
    assert found[("agreement_with_any", "gp")] == pytest.approx(1 / 6)
    assert found[("miss_tie_against_split", "gp")] == pytest.approx(1 / 6)
    assert found[("miss_tie_against_winner", "gp")] == pytest.approx(1 / 6)
    assert found[("miss_contrary", "gp")] == pytest.approx(3 / 6)
    assert found[("agreement_with_any", "ok")] == 1.0
    assert found[("all_agree", "e1")] == pytest.approx(2 / 5)
    assert found[("at_least_3_agree", "e1")] == pytest.approx(3 / 5)


def test_misses_and_hits_add_up_to_one() -> None:
    rng = np.random.default_rng(0)
    table = votes_of({judge: "".join(rng.choice(list("xyt"), 80)) for judge in [*EXPERTS, "gp"]})
    found = values(expert_agreement(table, EXPERTS, resamples=20))
    parts = ["agreement_with_any", "miss_tie_against_split", "miss_tie_against_winner", "miss_contrary"]
    assert sum(found[(part, "gp")] for part in parts) == pytest.approx(1.0)


def test_leave_one_expert_out() -> None:
    found = leave_one_expert_out(PANEL, EXPERTS, resamples=200)
    table = found.set_index(["measure", "level", found["judges"].str[0]])["value"]
    # Without e1 the majorities are y, x, tie, y, x, tie; e1 abstained from the last.
    assert table[("agreement_rate", "without e1", "e1")] == pytest.approx(3 / 5)
    assert table[("agreement_rate", "without e1", "gp")] == pytest.approx(1 / 6)
    rates = [table[("agreement_rate", f"without {one}", one)] for one in EXPERTS]
    assert table[("agreement_rate", "mean", "left-out experts")] == pytest.approx(np.mean(rates))
    gap = table[("agreement_rate", "mean", "ok")] - np.mean(rates)
    row = found[(found["measure"] == "difference") & (found["judges"].str[0] == "ok")].iloc[0]
    assert row["value"] == pytest.approx(gap)
    assert row["note"].startswith("P(at least 0) = ")
    assert row["low"] <= gap <= row["high"]


def test_experts_are_checked() -> None:
    with pytest.raises(InputError, match="judge 'e9' is not in the table"):
        expert_agreement(PANEL, ["e1", "e9"])
    with pytest.raises(InputError, match="'e1' is given as an expert and as a judge"):
        expert_agreement(PANEL, ["e1", "e2"], ["e1"])
    with pytest.raises(InputError, match=r"is two or more different judges of .*, not 'e1'; .*--against e1"):
        expert_agreement(PANEL, ["e1"])
    with pytest.raises(InputError, match="judge 'e3x' is not in the table; its judges are 'e3', "):
        expert_agreement(PANEL, ["e3x"])
    with pytest.raises(InputError, match="needs three or more; there are 2"):
        leave_one_expert_out(PANEL, ["e1", "e2"])


def test_compare_judges_is_mcnemars_test_in_effect() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 120)
    a = np.where(rng.random(120) < 0.85, truth, 1 - truth)
    b = np.where(rng.random(120) < 0.70, truth, 1 - truth)
    table = pd.DataFrame(
        {"judge": np.repeat(["truth", "a", "b"], 120), "item": [*range(120)] * 3, "label": [*truth, *a, *b]}
    )
    row = compare_judges(table, "truth", permutations=20_000).iloc[0]
    only_a, only_b = np.sum((a == truth) & (b != truth)), np.sum((a != truth) & (b == truth))
    assert row["difference"] == pytest.approx((only_a - only_b) / 120)
    exact = stats.binomtest(int(only_a), int(only_a + only_b)).pvalue
    assert row["p_value"] == pytest.approx(exact, abs=3 * (exact / 20_000) ** 0.5 + 1e-4)
    assert row["p_at_least"] > 0.9
    assert row["p_adjusted"] == row["p_value"]


def test_the_win_rate_over_resamples_is_that_of_a_multinomial() -> None:
    """How often the better in 9 of 47 units and worse in 5 is ahead of the other when the 47 are drawn again."""
    n, better, worse = 47, 9, 5
    a = [1] * better + [0] * worse + [1] * (n - better - worse)
    b = [0] * better + [1] * worse + [1] * (n - better - worse)
    table = pd.DataFrame(
        {"judge": np.repeat(["truth", "a", "b"], n), "item": [*range(n)] * 3, "label": [*[1] * n, *a, *b]}
    )
    row = compare_judges(table, "truth", resamples=20_000, permutations=99).iloc[0]
    parts = stats.multinomial(n, [better / n, worse / n, 1 - (better + worse) / n])
    each = [(i, j) for i in range(n + 1) for j in range(n + 1 - i)]
    ahead = sum(parts.pmf([i, j, n - i - j]) for i, j in each if i > j)
    least = sum(parts.pmf([i, j, n - i - j]) for i, j in each if i >= j)
    assert row["p_ahead"] == pytest.approx(ahead, abs=3 * (ahead * (1 - ahead) / 20_000) ** 0.5)
    assert row["p_at_least"] == pytest.approx(least, abs=3 * (least * (1 - least) / 20_000) ** 0.5)


def test_compare_judges_with_a_majority_and_many_pairs() -> None:
    found = compare_judges(PANEL, EXPERTS[:3], ["gp", "ok", "e4"], resamples=100, permutations=99)
    assert found[["a", "b"]].values.tolist() == [["gp", "ok"], ["gp", "e4"], ["ok", "e4"]]
    assert (found["p_adjusted"] >= found["p_value"]).all()
    given = {"judge": list("hab") * 3, "item": np.repeat(range(3), 3), "score": [1, 1, 2, 2, 2, 1, 3, 3, 3]}
    of_ranks = compare_judges(pd.DataFrame(given), "h", measure="spearman", resamples=20).iloc[0]
    assert np.isnan(of_ranks["p_value"])
    assert "no p-value: a measure of ranks has no swap test" in of_ranks["note"]
    with pytest.raises(InputError, match="'gp' is given as the reference and as a judge"):
        compare_judges(PANEL, "gp", ["gp", "ok"])
    with pytest.raises(InputError, match="permutations 0 is not a positive whole number"):
        compare_judges(PANEL, "gp", permutations=0)
    with pytest.raises(InputError, match="the reference is compared with 2 judges or more; there are 1"):
        compare_judges(PANEL, "gp", ["ok"])


def test_a_swap_that_changes_the_answer() -> None:
    rows = []
    #            kept x      changed       kept y       tie, then x   one order only
    for context, (one, two) in enumerate([("x", "x"), ("x", "y"), ("y", "y"), ("tie", "x"), ("x", None)]):
        rows.append({"judge": "gp", "context": context, "first": "x", "second": "y", "winner": one})
        if two:
            rows.append({"judge": "gp", "context": context, "first": "y", "second": "x", "winner": two})
        rows.append(
            {"judge": "human", "context": context, "first": "x", "second": "y", "winner": "x" if context else "tie"}
        )
    found = swap_consistency(pd.DataFrame(rows), "human", resamples=50)
    bias = found[found["measure"] == "position_bias_rate"].iloc[0]
    assert (bias["value"], bias["n"]) == (0.5, 4)
    assert bias["note"] == "pairs shown in one order only, not used: 1"
    rates = found[found["measure"] == "agreement_rate"].set_index("level")["value"]
    # The rule says x, tie, y, tie where the human says tie, x, x, x.
    assert rates.to_dict() == {"all": 0.0, "answer changed": 0.0, "answer kept": 0.0}
    experts = pd.DataFrame(rows).replace({"winner": {"x": "tie"}})
    agreed = swap_consistency(
        pd.concat([pd.DataFrame(rows), experts.assign(judge="other")]), "other", ["gp"], resamples=50
    )
    assert agreed.set_index("level")["value"]["answer changed"] == 1.0


def test_swap_consistency_is_checked() -> None:
    with pytest.raises(InputError, match="no judge saw a pair in both orders"):
        swap_consistency(PANEL)
    with pytest.raises(InputError, match="judge 'gp' saw no pair in both orders"):
        swap_consistency(PANEL, judges=["gp"])


def test_swap_consistency_on_llmbar(shared) -> None:
    votes = pd.read_csv(shared / "data" / "llmbar_votes.csv")
    judge = votes["judge"].iloc[0]
    part = votes[votes["judge"] == judge]
    found = swap_consistency(part, resamples=200).iloc[0]
    winner = np.where(part["winner"] == "first", part["first"], part["second"])
    both = pd.Series(winner).groupby(part[["first", "second"]].min(axis=1).to_numpy()).agg(["nunique", "size"])
    shown_twice = both[both["size"] == 2]
    assert found["value"] == pytest.approx((shown_twice["nunique"] == 2).mean(), abs=1e-12)
    assert found["n"] == len(shown_twice)


def test_detection_is_scikit_learns() -> None:
    rng = np.random.default_rng(4)
    truth = rng.choice(["a", "b", "c"], 90, p=[0.6, 0.3, 0.1])
    said = np.where(rng.random(90) < 0.7, truth, rng.choice(["a", "b", "c"], 90))
    table = pd.DataFrame({"judge": np.repeat(["gold", "gp"], 90), "item": [*range(90)] * 2, "label": [*truth, *said]})
    found = detection(table, "gold", resamples=50)
    ours = found.set_index(["measure", found["level"].fillna("")])["value"]
    precision, recall, f1, _ = metrics.precision_recall_fscore_support(truth, said, labels=["a", "b", "c"])
    for place, level in enumerate("abc"):
        assert ours[("precision", level)] == pytest.approx(precision[place], abs=1e-12)
        assert ours[("sensitivity", level)] == pytest.approx(recall[place], abs=1e-12)
        assert ours[("f1", level)] == pytest.approx(f1[place], abs=1e-12)
        rest = metrics.recall_score(truth != level, said != level)
        assert ours[("specificity", level)] == pytest.approx(rest, abs=1e-12)
    assert ours[("accuracy", "")] == pytest.approx(metrics.accuracy_score(truth, said), abs=1e-12)
    assert ours[("sensitivity", "macro")] == pytest.approx(metrics.balanced_accuracy_score(truth, said), abs=1e-12)
    assert ours[("f1", "macro")] == pytest.approx(metrics.f1_score(truth, said, average="macro"), abs=1e-12)


def test_detection_of_a_class_that_is_never_said() -> None:
    table = pd.DataFrame(
        {"judge": ["gold"] * 3 + ["gp"] * 3, "item": [1, 2, 3] * 2, "label": list("abb") + list("bbb")}
    )
    found = detection(table, "gold", resamples=50).set_index(["measure", "level"])
    assert np.isnan(found.loc[("precision", "a"), "value"])
    assert found.loc[("precision", "a"), "note"] == "undefined: no item counts for 'a'"
    assert np.isnan(found.loc[("precision", "macro"), "value"])
    zero = detection(table, "gold", resamples=50, empty="zero").set_index(["measure", "level"])
    assert zero.loc[("precision", "a"), "value"] == 0.0
    for settings, message in (
        ({"truth": "silver"}, "judge 'silver' is not in the table"),
        ({"truth": "gold", "judges": ["gold"]}, "'gold' is given as the truth and as a judge"),
        ({"truth": "gold", "empty": "one"}, "empty 'one' is not known"),
    ):
        with pytest.raises(InputError, match=message):
            detection(table, **settings)


def test_run_deviation() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(2, 3, 10, 4))
    rows = [
        {"judge": f"j{j}", "criterion": f"k{k}", "item": i, "run": r, "score": scores[j, k, i, r]}
        for j, k, i, r in np.ndindex(2, 3, 10, 4)
        if (k, i, r) not in [(0, 0, 1), (0, 0, 2), (0, 0, 3)]
    ]
    found = run_deviation(pd.DataFrame(rows), resamples=100)
    expected = scores.std(axis=3, ddof=1)
    table = found.set_index([found["judges"].str[0], found["criterion"].fillna("mean")])
    assert table.loc[("j1", "k2"), "value"] == pytest.approx(expected[1, 2].mean())
    assert table.loc[("j0", "k0"), "value"] == pytest.approx(expected[0, 0, 1:].mean())
    assert table.loc[("j0", "k0"), "note"] == "items with a single run, not used: 1"
    mean = np.mean([expected[0, 0, 1:].mean(), expected[0, 1].mean(), expected[0, 2].mean()])
    assert table.loc[("j0", "mean"), "value"] == pytest.approx(mean)
    population = run_deviation(pd.DataFrame(rows), ddof=0, resamples=100).iloc[2]["value"]
    assert population == pytest.approx(scores.std(axis=3)[0, 2].mean())
    with pytest.raises(InputError, match="no judge scored an item more than once"):
        run_deviation(pd.DataFrame(rows[:1]))
    with pytest.raises(InputError, match="ddof 2 is neither 0 nor 1"):
        run_deviation(pd.DataFrame(rows), ddof=2)


def test_phase_change_is_the_difference_of_the_phases() -> None:
    import krippendorff

    rng = np.random.default_rng(1)
    before, after = rng.integers(1, 6, (4, 30)), rng.integers(2, 5, (4, 30))
    after[:, :15] = after[0, :15]
    rows = [
        {"judge": f"j{j}", "item": f"i{i:02d}", "phase": phase, "score": int(part[j, i])}
        for phase, part in (("before", before), ("after", after))
        for j, i in np.ndindex(4, 30)
    ]
    extra = [
        {"judge": "j0", "item": "i99", "phase": "before", "score": 1},
        {"judge": "j1", "item": "i99", "phase": "before", "score": 5},
    ]
    found = phase_change(
        pd.DataFrame(rows + extra), "before", "after", measure="krippendorff_alpha_ordinal", resamples=500
    )
    one, two = (krippendorff.alpha(part.astype(float), level_of_measurement="ordinal") for part in (before, after))
    assert found["value"].tolist() == pytest.approx([one, two, two - one], abs=1e-9)
    assert found["level"].tolist() == ["before", "after", "after - before"]
    assert found["n"].tolist() == [30, 30, 30]
    assert found.iloc[2]["low"] > 0
    with pytest.raises(InputError, match="phase 'later' is not in the table; its phases are 'after', 'before'"):
        phase_change(pd.DataFrame(rows), "before", "later")
    with pytest.raises(InputError, match="no column 'phase'"):
        phase_change(pd.DataFrame(rows).drop(columns="phase").iloc[:120], "before", "after")


def test_phase_change_of_groups_is_that_of_each_groups_judges() -> None:
    rng = np.random.default_rng(2)
    rows = [
        {
            "judge": f"{model}/{group}/{agent}",
            "item": f"i{item}",
            "phase": phase,
            "group": group,
            "score": int(rng.integers(1, 6)),
        }
        for model in "mn"
        for group in ("Parents", "Teachers")
        for agent in "ab"
        for phase in ("initial", "final")
        for item in range(12)
    ]
    # what groups, models and a lone agent come to belongs to no panel
    rows += [{"judge": "m/Parents", "item": "i0", "phase": "final", "group": "Parents", "score": 3}]
    rows += [{"judge": "m", "item": "i0", "phase": "final", "group": "", "score": 3}]
    rows += [
        {"judge": "m/Lone/a", "item": "i0", "phase": phase, "group": "Lone", "score": 3}
        for phase in ("initial", "final")
    ]
    table = pd.DataFrame(rows)
    found = phase_change(table, "initial", "final", resamples=100)
    names = ["m/Parents", "m/Teachers", "n/Parents", "n/Teachers"]
    assert found["level"].tolist() == [
        f"{name}: {step}" for name in names for step in ("initial", "final", "final - initial")
    ]
    for at, name in enumerate(names):
        one = phase_change(table, "initial", "final", [f"{name}/a", f"{name}/b"], resamples=100)
        assert found["value"].tolist()[3 * at : 3 * at + 3] == one["value"].tolist()
    with pytest.raises(InputError, match="phase 'final' is compared with itself; name two phases"):
        phase_change(table, "final", "final")
    with pytest.raises(InputError, match="no group has two judges"):
        phase_change(table[table["judge"].isin(["m/Lone/a", "m/Parents", "m"])], "initial", "final")


def test_gate() -> None:
    table = pd.DataFrame(
        {
            "judge": "gp",
            "item": [1, 2, 3, 4, 1, 2, 3],
            "criterion": ["true"] * 4 + ["fluent"] * 3,
            "score": [1, 1, 0, 1, 4, 2, 5],
        }
    )
    found = gate(table, {"true": 1, "fluent": 3}, prob=0.95).set_index("criterion")
    assert found["value"].to_dict() == {
        "true": 0.75,
        "fluent": pytest.approx(2 / 3),
        "all criteria": pytest.approx(1 / 3),
    }
    assert found["n"].to_dict() == {"true": 4, "fluent": 3, "all criteria": 3}
    assert (found.loc["true", "low"], found.loc["true", "high"]) == proportion_confint(3, 4, method="wilson")
    with pytest.raises(InputError, match="criterion 'kind' is not in the table"):
        gate(table, {"kind": 1})
    with pytest.raises(InputError, match="thresholds is empty"):
        gate(table, {})
    with pytest.raises(InputError, match="the threshold of 'true' is nan; give the least score that passes"):
        gate(table, {"true": float("nan")})
    every = pd.DataFrame({"judge": "gp", "item": range(35), "criterion": "true", "score": 0})
    assert gate(every, {"true": 1})["low"].tolist() == [0.0]  # statsmodels has 7e-18


def test_pass_rates_of_marevals_table_4() -> None:
    # Table 4: G-Eval 76.1% and 91.0% of 2,500; MAREval 98.6% and 100.0% of 5,000.
    soft = compare_pass_rates(4930, 5000, 1902, 2500, prob=0.95)
    hard = compare_pass_rates(5000, 5000, 2275, 2500, prob=0.95)
    for found, counts in ((soft, (4930, 5000, 1902, 2500)), (hard, (5000, 5000, 2275, 2500))):
        assert (found.low, found.high) == pytest.approx(
            confint_proportions_2indep(*counts, method="newcomb", compare="diff"), abs=1e-12
        )
        assert found.p_value == pytest.approx(proportions_ztest(counts[::2], counts[1::2])[1])
        assert found.lift_low < found.lift < found.lift_high
    assert soft.difference == pytest.approx(0.2252)
    assert (soft.low, soft.high) == pytest.approx((0.2085, 0.2424), abs=2e-4)


def test_pass_rates_newcombes_own_example() -> None:
    """Newcombe (1998), Table II: 56/70 and 48/80, method 10: 0.0524 to 0.3339."""
    found = compare_pass_rates(56, 70, 48, 80, prob=0.95)
    assert (found.low, found.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)


@given(st.tuples(*[st.integers(1, 40)] * 2), st.tuples(*[st.integers(1, 40)] * 2))
def test_the_lifts_interval_holds_it_and_inverts(a: tuple[int, int], b: tuple[int, int]) -> None:
    (passes_a, n_a), (passes_b, n_b) = sorted(a), sorted(b)
    found = compare_pass_rates(passes_a, n_a, passes_b, n_b)
    other = compare_pass_rates(passes_b, n_b, passes_a, n_a)
    assert found.lift_low - 1e-12 <= found.lift <= found.lift_high + 1e-12
    assert (1 + found.lift_low) * (1 + other.lift_high) == pytest.approx(1)
    p, q = passes_a / n_a, passes_b / n_b
    (low_a, _), (_, high_b) = pass_interval(passes_a, n_a), pass_interval(passes_b, n_b)
    r = 1 + found.lift_low
    assert (p - r * q) ** 2 == pytest.approx((p - low_a) ** 2 + (r * (q - high_b)) ** 2)


def test_the_lifts_interval_is_katzs_in_large_samples() -> None:
    found = compare_pass_rates(50_300, 100_000, 50_000, 100_000, prob=0.95)
    half = 1.959964 * (1 / 50_300 + 1 / 50_000 - 2 / 100_000) ** 0.5
    assert 1 + found.lift_low == pytest.approx(1.006 * np.exp(-half), rel=1e-5)
    assert 1 + found.lift_high == pytest.approx(1.006 * np.exp(half), rel=1e-5)


def test_pass_rates_at_the_edges() -> None:
    found = compare_pass_rates(10, 10, 5, 5)
    assert np.isnan(found.p_value)
    assert "p_value undefined" in found.note
    found = compare_pass_rates(3, 10, 0, 10)
    assert np.isnan(found.lift)
    assert "lift undefined" in found.note
    for counts in ((1, 0, 1, 2), (3, 2, 1, 2), (-1, 2, 1, 2)):
        with pytest.raises(InputError, match="make no rate"):
            compare_pass_rates(*counts)
    ends = [pass_interval(8, 10, prob) for prob in (0.5, 0.9, 0.99)]
    assert all(a[0] > b[0] and a[1] < b[1] for a, b in pairwise(ends))


def test_means_are_compared_as_by_scipy() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(5.2, 1, 80), rng.normal(5, 2, 50)
    found = compare_means(a, b, prob=0.95)
    welch = stats.ttest_ind(a, b, equal_var=False)
    ends = welch.confidence_interval()
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high), abs=1e-12)
    assert found.p_value == pytest.approx(welch.pvalue, abs=1e-12)
    assert found.lift == pytest.approx(a.mean() / b.mean() - 1)
    # Fieller's ends are the ratios at which the t statistic of a - ratio b reaches the quantile.
    df = welch.df
    for ratio in (1 + found.lift_low, 1 + found.lift_high):
        t = (a.mean() - ratio * b.mean()) / (a.var(ddof=1) / 80 + ratio**2 * b.var(ddof=1) / 50) ** 0.5
        assert abs(t) == pytest.approx(stats.t.ppf(0.975, df), abs=1e-9)
    near_zero = compare_means(a, b - b.mean() + 0.01)
    assert np.isnan(near_zero.lift_low)
    assert "may be zero" in near_zero.note
    assert "neither group varies" in compare_means([1, 1], [2, 2]).note
    with pytest.raises(InputError, match="two or more finite numbers"):
        compare_means([1.0], [1.0, 2.0])
    with pytest.raises(InputError, match="not a number"):
        compare_means(["x", "y"], [1.0, 2.0])
