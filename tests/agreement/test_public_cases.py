"""Cases of agreement that people asked about in public trackers, by the command line: the right value of each.

The values are those of krippendorff, irrCAC, pingouin, scikit-learn, scipy and of published tables, as the page beside
the files says. Each has a test of its kind with made-up answers here, or in the file that is named with it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.errors import InputError

ICC = ["icc_1_1", "icc_2_1", "icc_3_1", "icc_1_k", "icc_2_k", "icc_3_k"]
SINGLE = "no interval: it rests on a single unit, and resampling takes two"


def asked(*words: str | Path) -> list[dict[str, Any]]:
    """The rows of a command."""
    done = CliRunner().invoke(app, [*map(str, words), "--json"])
    assert done.exit_code == 0, done.output
    rows: list[dict[str, Any]] = json.loads(done.stdout)["rows"]
    return rows


def values(rows: list[dict[str, Any]]) -> dict[str, float | None]:
    return {row["measure"]: row["value"] for row in rows}


def panel(path: Path, *measures: str, levels: str = "") -> dict[str, dict[str, Any]]:
    """The rows of the whole panel by measure."""
    words = ["agree", path, "--measures", ",".join(measures), "--no-pairs", "--resamples", "1000"]
    rows = asked(*words, *(["--levels", levels] if levels else []))
    assert [row["measure"] for row in rows] == list(measures)
    return {row["measure"]: row for row in rows}


def labels(answers: dict[str, str]) -> pd.DataFrame:
    """One letter an item, a dot where a judge gave none."""
    rows = [(judge, n, one) for judge, given in answers.items() for n, one in enumerate(given) if one != "."]
    return pd.DataFrame(rows, columns=["judge", "item", "label"])


def test_one_disagreement_of_five_judges_makes_alpha_zero(cases: Path) -> None:
    names = ("krippendorff_alpha_nominal", "krippendorff_alpha_ordinal", "gwet_ac1")
    found = panel(cases / "k01.csv", *names)
    assert found["krippendorff_alpha_nominal"]["value"] == pytest.approx(0, abs=1e-12)
    assert found["krippendorff_alpha_ordinal"]["value"] == pytest.approx(0, abs=1e-12)
    assert found["gwet_ac1"]["value"] == pytest.approx(0.91334, abs=5e-6)
    assert "undefined in" in found["krippendorff_alpha_nominal"]["note"]


@pytest.mark.parametrize("judges", [2, 3, 5])
def test_of_one_odd_answer_alpha_is_zero_or_less_whatever_the_panel(judges: int) -> None:
    # one odd answer among N: D_o = D_e = 2 / N
    table = labels({f"r{n}": "xxxxxx" if n else "xxxxxy" for n in range(judges)})
    row = voirdire.agreement(table, measures="krippendorff_alpha_nominal", pairs=False, resamples=20).iloc[0]
    assert row["value"] == pytest.approx(0, abs=1e-12)


def test_alpha_is_one_where_all_agree_that_answered(cases: Path) -> None:
    assert panel(cases / "k02.csv", "krippendorff_alpha_nominal")["krippendorff_alpha_nominal"]["value"] == 1
    table = labels({"a": "xy.xy", "b": "x.yxy", "c": ".yyx."})
    for measure in ("krippendorff_alpha_nominal", "fleiss_kappa", "conger_kappa", "gwet_ac1"):
        row = voirdire.agreement(table, measures=measure, pairs=False, resamples=20).iloc[0]
        assert row["value"] == pytest.approx(1), measure


def test_one_judge_is_refused_by_name(cases: Path) -> None:
    done = CliRunner().invoke(app, ["agree", str(cases / "k04.csv")])
    assert done.exit_code == 1
    assert done.stderr == "error: agreement takes two judges; there is only 'r1'\n"
    with pytest.raises(InputError, match="agreement takes two judges; there is only 'a'"):
        voirdire.agreement(labels({"a": "xyx"}))


def test_one_common_item_has_a_value_and_no_interval(cases: Path) -> None:
    # of this kind: test_one_unit.py
    names = "krippendorff_alpha_nominal,agreement_rate"
    alpha, rate = asked("agree", cases / "k05.csv", "--measures", names)
    assert (alpha["value"], alpha["low"], alpha["high"], alpha["n"], alpha["note"]) == (0, None, None, 1, SINGLE)
    assert (rate["value"], rate["low"], rate["high"]) == (0, None, None)
    alpha, rate = asked("agree", cases / "k05b.csv", "--measures", names)
    assert (alpha["value"], alpha["low"], "undefined" in alpha["note"]) == (None, None, True)
    assert (rate["value"], rate["low"], rate["high"], rate["note"]) == (1, None, None, SINGLE)
    fleiss = panel(cases / "k13.csv", "fleiss_kappa")["fleiss_kappa"]
    assert fleiss["value"] == pytest.approx(-0.25)
    assert (fleiss["low"], fleiss["high"], fleiss["n"], fleiss["note"]) == (None, None, 1, SINGLE)


def test_three_judges_who_never_agree_have_a_negative_kappa(cases: Path) -> None:
    assert panel(cases / "k09.csv", "fleiss_kappa")["fleiss_kappa"]["value"] == pytest.approx(-0.5)


@pytest.mark.parametrize("judges", [2, 3, 4, 6])
def test_of_as_many_answers_as_judges_kappa_is_as_low_as_it_can_be(judges: int) -> None:
    # p_a is 0 and p_e 1 / judges
    letters = "abcdef"[:judges]
    table = labels({f"r{n}": letters[n:] + letters[:n] for n in range(judges)})
    row = voirdire.agreement(table, measures="fleiss_kappa", pairs=False, resamples=20).iloc[0]
    assert row["value"] == pytest.approx(-1 / (judges - 1))


def test_weighted_kappas_of_a_panel(cases: Path) -> None:
    # of this kind: coefficients/test_kappas_of_panels.py
    right = {
        "fleiss_kappa_linear": 0.04255,
        "fleiss_kappa_quadratic": -0.00746,
        "gwet_ac2_linear": 0.11475,
        "gwet_ac2": 0.12338,
        "gwet_ac2_ordinal": 0.11995,
        "krippendorff_alpha_ordinal": 0.06384,
    }
    found = panel(cases / "k10.csv", *right, levels="neg,ind,pos")
    assert {name: row["value"] for name, row in found.items()} == pytest.approx(right, abs=5e-6)
    done = CliRunner().invoke(app, ["agree", str(cases / "k10.csv"), "--measures", "fleiss_kappa_linear"])
    assert (done.exit_code, "declare it by levels" in done.stderr) == (1, True)


def test_ratios_of_zeros_are_no_disagreement(cases: Path) -> None:
    found = panel(cases / "k11.csv", "krippendorff_alpha_ratio", "krippendorff_alpha_interval")
    assert found["krippendorff_alpha_ratio"]["value"] == pytest.approx(0.758938, abs=5e-7)
    assert found["krippendorff_alpha_interval"]["value"] == pytest.approx(0.925059, abs=5e-7)


@pytest.mark.parametrize("seed", range(5))
def test_alpha_of_counts_with_zeros_is_krippendorffs(seed: int) -> None:
    import krippendorff

    rng = np.random.default_rng(seed)
    scores = np.maximum(rng.poisson(1.0, 12) + rng.integers(-1, 2, (3, 12)), 0)
    table = pd.DataFrame(
        [(f"r{j}", i, int(scores[j, i])) for j in range(3) for i in range(12)], columns=["judge", "item", "score"]
    )
    for metric in ("ratio", "interval"):
        row = voirdire.agreement(table, measures=f"krippendorff_alpha_{metric}", pairs=False, resamples=20).iloc[0]
        assert row["value"] == pytest.approx(krippendorff.alpha(scores, level_of_measurement=metric), abs=1e-9)


def test_an_answer_that_nobody_gave_counts_once_it_is_declared(cases: Path) -> None:
    words = ["agree", cases / "k14.csv", "--measures", "gwet_ac1,cohen_kappa", "--resamples", "1000"]
    three, four = values(asked(*words)), values(asked(*words, "--levels", "a,b,c,d"))
    assert three == pytest.approx({"gwet_ac1": 0.71326, "cohen_kappa": 0.67742}, abs=5e-6)
    assert four == pytest.approx({"gwet_ac1": 0.74948, "cohen_kappa": 0.67742}, abs=5e-6)


def test_chance_of_ac1_falls_with_the_number_of_declared_answers() -> None:
    table = labels({"a": "xxyyz", "b": "xyyyz"})
    rate, found = 0.8, []
    for levels in ("xyz", "wxyz", "vwxyz"):
        row = voirdire.agreement(table, measures="gwet_ac1", levels=list(levels), resamples=20).iloc[0]
        shares = np.array([3, 5, 2]) / 10
        chance = (shares * (1 - shares)).sum() / (len(levels) - 1)
        assert row["value"] == pytest.approx((rate - chance) / (1 - chance))
        found.append(row["value"])
    assert found == sorted(found)


def test_six_intraclass_correlations(cases: Path) -> None:
    # of this kind: coefficients/test_oracles.py, on published tables
    whole = panel(cases / "k15.csv", *ICC)
    assert [row["value"] for row in whole.values()] == pytest.approx(
        [0.16574, 0.28976, 0.71484, 0.44280, 0.62005, 0.90932], abs=5e-6
    )
    missing = panel(cases / "k15m.csv", *ICC)
    assert [row["value"] for row in missing.values()] == pytest.approx(
        [0.04242, 0.21549, 0.77778, 0.15054, 0.52352, 0.93333], abs=5e-6
    )
    assert {row["n"] for row in missing.values()} == {5}


def test_the_win_rate_of_one_judge_with_ties_half_won(cases: Path) -> None:
    # of this kind: test_win_rates.py
    rows = asked("agree", cases / "v4.csv", "--measures", "win_rate_ties_half")
    assert [(row["level"], row["value"], row["n"]) for row in rows] == [("A", 0.5, 100), ("B", 0.5, 100)]
    assert all(row["low"] < 0.5 < row["high"] for row in rows)


def test_summary_and_system_level_where_people_are_constant_somewhere(cases: Path) -> None:
    words = ["metaeval", cases / "m3.csv", "--human", "human", "--resamples", "1000"]
    rows = asked(*words, "--level", "context", "--measures", "kendall_tau_b,spearman")
    assert values(rows) == pytest.approx({"kendall_tau_b": 2 / 3, "spearman": 0.8})
    assert {row["n"] for row in rows} == {3}
    assert all("1 of 4 contexts undefined" in row["note"] for row in rows)
    rows = asked(*words, "--level", "system", "--measures", "kendall_tau_b,pearson")
    assert values(rows) == pytest.approx({"kendall_tau_b": 2 / 3, "pearson": 0.8})


@pytest.mark.parametrize("seed", range(3))
def test_levels_of_correlation_are_scipys(seed: int) -> None:
    rng = np.random.default_rng(seed)
    people, metric = rng.integers(1, 6, (2, 6, 5)).astype(float)
    people[2] = 3.0
    rows = [
        (judge, c, s, of[c, s]) for judge, of in (("human", people), ("m", metric)) for c in range(6) for s in range(5)
    ]
    table = pd.DataFrame(rows, columns=["judge", "context", "system", "score"])
    inside = [stats.spearmanr(m, h)[0] for m, h in zip(metric, people, strict=True) if np.ptp(h) and np.ptp(m)]
    found = voirdire.metaeval(table, "human", level="context", measures="spearman", resamples=20).iloc[0]
    assert (found["value"], found["n"]) == (pytest.approx(np.mean(inside)), len(inside))
    found = voirdire.metaeval(table, "human", level="system", measures="pearson", resamples=20).iloc[0]
    assert found["value"] == pytest.approx(stats.pearsonr(metric.mean(axis=0), people.mean(axis=0))[0])


@pytest.mark.parametrize(("epsilon", "omega"), [("0.2", 1), ("0.15", 0.75), ("0.1", 0.5)])
def test_the_alternative_annotator_test_with_gaps(cases: Path, epsilon: str, omega: float) -> None:
    # of this kind: replace/test_replace.py
    words = ["replace", cases / "alt_judges.csv", "--humans", cases / "alt_people.csv", "--epsilon", epsilon]
    good, poor = asked(*words)
    assert (good["judge"], good["omega"], good["rho"]) == ("good", omega, pytest.approx(0.89436, abs=5e-6))
    assert (poor["judge"], poor["omega"], poor["rho"]) == ("poor", 0, pytest.approx(0.77012, abs=5e-6))


def test_two_systems_on_the_same_documents(cases: Path) -> None:
    # of this kind: experts/test_paired_groups.py
    (row,) = asked("agree", cases / "c1q.csv", "--between", "A", "B")
    assert (row["paired"], row["unit"], row["n"]) == (True, "context", 60)
    assert row["difference"] == pytest.approx(0.16667, abs=5e-6)
    assert (row["low"], row["high"]) == pytest.approx((0.0856, 0.2477), abs=5e-5)
    assert (row["high"] - row["low"]) / 2 / stats.t.ppf(0.95, 59) == pytest.approx(0.04852, abs=5e-6)
    assert row["p_value"] == pytest.approx(0.00195, abs=5e-6)
