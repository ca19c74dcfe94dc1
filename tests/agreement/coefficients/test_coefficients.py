"""Edge cases and invariances of the agreement coefficients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.agreement.coefficients.alpha import krippendorff_alpha
from voirdire.agreement.coefficients.icc import intraclass_correlation
from voirdire.agreement.coefficients.majority import add_tie_level, majority_answer, share_agreeing
from voirdire.agreement.coefficients.measures import MEASURES, find_measure, misfit_reason, statistic_of
from voirdire.agreement.coefficients.panel import agreement_weights, fleiss_kappa, gwet_ac, panel_agreement
from voirdire.agreement.coefficients.preferences import win_rate
from voirdire.agreement.coefficients.ratings import Ratings, ratings_from_matrix
from voirdire.agreement.coefficients.rows import reason_undefined
from voirdire.agreement.coefficients.two import agreement_rate, cohen_kappa, scott_pi
from voirdire.errors import InputError

NOMINAL = ["agreement_rate", "fleiss_kappa", "conger_kappa", "gwet_ac1", "krippendorff_alpha_nominal"]
WEIGHTED = ["fleiss_kappa_linear", "fleiss_kappa_quadratic", "conger_kappa_linear", "conger_kappa_quadratic"]
ORDERED = ["gwet_ac2", "gwet_ac2_linear", "gwet_ac2_ordinal", "krippendorff_alpha_ordinal", *WEIGHTED]
NUMBERS = ["krippendorff_alpha_interval", "krippendorff_alpha_ratio", "icc_1_1", "icc_2_1", "icc_3_1", "icc_2_k"]
PAIRS = ["cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic", "scott_pi"]

tables = st.integers(2, 4).flatmap(
    lambda judges: st.lists(
        st.lists(st.sampled_from([1, 2, 4, None]), min_size=judges, max_size=judges), min_size=2, max_size=12
    )
)


def value(statistic: Any) -> float:
    """The statistic on the data as they are."""
    fixed = statistic.fixed() if hasattr(statistic, "fixed") else statistic
    return float(fixed.values(np.ones((1, len(fixed.support))))[0])


def ratings_of(rows: list[list[int | None]]) -> Ratings:
    return ratings_from_matrix(rows, levels=[1, 2, 4])


def same(a: float, b: float) -> bool:
    return bool(np.isclose(a, b, rtol=0, atol=1e-9, equal_nan=True))


@pytest.mark.slow
@given(tables, st.randoms(use_true_random=False))
def test_order_of_units_and_judges_does_not_matter(rows, random) -> None:
    shuffled = random.sample(rows, len(rows))
    columns = random.sample(range(len(rows[0])), len(rows[0]))
    other = ratings_of([[row[c] for c in columns] for row in shuffled])
    for name in NOMINAL + ORDERED + NUMBERS:
        one, two = (value(statistic_of(MEASURES[name], r)) for r in (ratings_of(rows), other))
        assert same(one, two), name


@given(tables)
def test_names_of_levels_do_not_matter_to_nominal_measures(rows) -> None:
    renamed = {1: "z", 2: "a", 4: "m", None: None}
    other = ratings_from_matrix([[renamed[cell] for cell in row] for row in rows], levels=["a", "m", "z"])
    for name in NOMINAL:
        assert same(*(value(statistic_of(MEASURES[name], r)) for r in (ratings_of(rows), other))), name


@given(tables)
def test_ordered_measures_do_not_change_when_the_scale_is_turned_round(rows) -> None:
    other = ratings_from_matrix(
        [[None if cell is None else -cell for cell in row] for row in rows], levels=[-4, -2, -1]
    )
    for name in [*ORDERED, "krippendorff_alpha_interval", "icc_2_1", "icc_3_k"]:
        assert same(*(value(statistic_of(MEASURES[name], r)) for r in (ratings_of(rows), other))), name


@given(tables)
def test_scale_and_origin_of_scores_do_not_matter(rows) -> None:
    other = ratings_from_matrix(
        [[None if cell is None else 1e4 + 10 * cell for cell in row] for row in rows], levels=[10010, 10020, 10040]
    )
    for name in [*ORDERED, "krippendorff_alpha_interval", "icc_1_1", "icc_2_1", "icc_3_1"]:
        one, two = (value(statistic_of(MEASURES[name], r)) for r in (ratings_of(rows), other))
        assert np.isclose(one, two, rtol=0, atol=1e-6, equal_nan=True), name


@pytest.mark.parametrize("unit", [1e300, 1e-300])
def test_the_unit_of_measurement_may_be_very_large_or_small(unit: float) -> None:
    rows = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    plain, scaled = (ratings_from_matrix([[c * u for c in row] for row in rows]) for u in (1.0, unit))
    for name in NUMBERS:
        one, two = (value(statistic_of(MEASURES[name], ratings)) for ratings in (plain, scaled))
        assert two == pytest.approx(one, rel=1e-9), name


@given(tables)
def test_swapping_two_judges_changes_nothing(rows) -> None:
    pair = ratings_of(rows).select_judges(["1", "2"])
    for name in PAIRS + NOMINAL:
        assert same(*(value(statistic_of(MEASURES[name], r)) for r in (pair, pair.select_judges(["2", "1"])))), name


@given(tables)
def test_entering_every_unit_twice_changes_only_what_corrects_for_sample_size(rows) -> None:
    once, twice = ratings_of(rows), ratings_of(rows + rows)
    for name in ["agreement_rate", "fleiss_kappa", "conger_kappa", "gwet_ac1", "gwet_ac2", *WEIGHTED]:
        assert same(*(value(statistic_of(MEASURES[name], r)) for r in (once, twice))), name
    one, two = (value(krippendorff_alpha(r)) for r in (once, twice))
    n = int(sum(row.sum() for row in once.is_rated if row.sum() > 1))
    if n:
        assert same((1 - one) / (n - 1), (1 - two) / (n - 0.5)) or np.isnan(one)


@given(tables)
def test_a_table_in_two_parts_adds_up(rows) -> None:
    whole = agreement_rate(ratings_of(rows + rows[:1]).select_judges(["1", "2"]))
    parts = [agreement_rate(ratings_of(part).select_judges(["1", "2"])) for part in (rows, rows[:1])]
    assert np.array_equal(whole.features, np.vstack([part.features for part in parts]))


@given(tables)
def test_bounds(rows) -> None:
    ratings = ratings_of(rows)
    for name in NOMINAL + ORDERED + ["krippendorff_alpha_interval"]:
        found = value(statistic_of(MEASURES[name], ratings))
        assert np.isnan(found) or found <= 1 + 1e-12, name
    rate = value(panel_agreement(ratings))
    assert np.isnan(rate) or 0 <= rate <= 1


@given(tables)
def test_alpha_of_two_judges_is_nearly_scotts_pi(rows) -> None:
    """Alpha = pi + (1 - pi) / n for two judges without missing answers, n the number of answers."""
    pair = ratings_of(rows).select_judges(["1", "2"])
    pair = pair.keep_units(pair.is_fully_rated)
    if len(pair.codes):
        pi, alpha = value(scott_pi(pair)), value(krippendorff_alpha(pair))
        assert same(alpha, pi + (1 - pi) / (2 * len(pair.codes)))


@given(tables)
def test_mirrored_votes_do_not_change_when_items_are_renamed(rows) -> None:
    votes = replace(ratings_of(rows), values=None, tie="2", mirrored=True)
    flips = np.arange(len(rows)) % 2 == 1
    renamed = replace(votes, codes=np.where(flips[:, None] & votes.is_rated, 2 - votes.codes, votes.codes))
    for name in [*NOMINAL, "gwet_ac2", "krippendorff_alpha_ordinal"]:
        assert same(*(value(statistic_of(MEASURES[name], r)) for r in (votes, renamed))), name
    for name in PAIRS:
        one, two = (value(statistic_of(MEASURES[name], r.select_judges(["1", "2"]))) for r in (votes, renamed))
        assert same(one, two), name


def test_all_ratings_identical() -> None:
    ratings = ratings_from_matrix([[2, 2], [2, 2], [2, 2]])
    for name in (
        "cohen_kappa",
        "scott_pi",
        "fleiss_kappa",
        "fleiss_kappa_quadratic",
        "conger_kappa",
        "conger_kappa_linear",
        "krippendorff_alpha_nominal",
        "krippendorff_alpha_ordinal",
    ):
        assert np.isnan(value(statistic_of(MEASURES[name], ratings))), name
        assert "nothing could have disagreed" in reason_undefined(ratings, name)
    for name in ("krippendorff_alpha_interval", "krippendorff_alpha_ratio", "icc_1_1", "icc_2_1", "icc_3_k"):
        assert np.isnan(value(statistic_of(MEASURES[name], ratings))), name
    assert value(agreement_rate(ratings)) == 1.0
    # AC1 has no levels to choose between; once they are declared it is 1.
    assert np.isnan(value(gwet_ac(ratings)))
    assert "declare the levels" in reason_undefined(ratings, "gwet_ac1")
    assert value(gwet_ac(ratings_from_matrix([[2, 2]] * 3, levels=[1, 2]))) == 1.0


def test_constant_scores_that_are_no_binary_fractions() -> None:
    ratings = ratings_from_matrix([[0.1, 0.1]] * 7 + [[0.1, 0.3]], levels=[0.1, 0.3])
    drop = ratings.keep_units(np.arange(8) < 7)
    for name in (
        "krippendorff_alpha_interval",
        "krippendorff_alpha_ordinal",
        "icc_2_1",
        "icc_3_1",
        "pearson",
        "spearman",
    ):
        assert np.isnan(value(statistic_of(MEASURES[name], drop))), name


def test_an_outlier_does_not_make_the_rest_constant() -> None:
    scores = [[1.0, 1.0], [2.0, 2.0], [3.0, 2.0], [1e6, 1e6]]
    statistic = krippendorff_alpha(ratings_from_matrix(scores), "interval").fixed()
    without = float(statistic.values(np.array([[1.0, 1.0, 1.0, 0.0]]))[0])
    alone = value(krippendorff_alpha(ratings_from_matrix(scores[:3]), "interval"))
    assert without == pytest.approx(alone, abs=1e-4)


def test_one_constant_judge_has_kappa_zero() -> None:
    ratings = ratings_from_matrix([["a", "a"], ["a", "b"], ["a", "a"]])
    assert value(cohen_kappa(ratings)) == 0.0
    scores = ratings_from_matrix([[1, 1], [1, 3], [1, 5]])
    assert value(cohen_kappa(scores, "quadratic")) == 0.0
    assert np.isnan(value(statistic_of(MEASURES["pearson"], scores)))
    assert reason_undefined(scores, "pearson") == "undefined: every answer of '1' is '1', so it cannot correlate"


def test_unused_words_matter_to_weighted_kappa_and_unused_numbers_do_not() -> None:
    rows = [["low", "low"], ["low", "high"], ["high", "top"], ["top", "top"], ["low", "low"], ["high", "high"]]
    seen = ratings_from_matrix(rows, levels=["low", "high", "top"])
    more = ratings_from_matrix(rows, levels=["low", "middle", "high", "top"])
    assert value(cohen_kappa(seen)) == value(cohen_kappa(more))
    assert abs(value(cohen_kappa(seen, "linear")) - value(cohen_kappa(more, "linear"))) > 0.01
    scores = [[1, 1], [1, 4], [4, 5], [5, 5], [5, 1]]
    for scheme in ("linear", "quadratic"):
        assert value(cohen_kappa(ratings_from_matrix(scores), scheme)) == pytest.approx(
            value(cohen_kappa(ratings_from_matrix(scores, levels=[1, 2, 3, 4, 5]), scheme)), abs=1e-12
        )
    assert value(gwet_ac(seen)) != value(gwet_ac(more))


def test_units_with_one_rating_count_in_fleiss_but_not_in_alpha() -> None:
    rows = [["a", "a"], ["b", "b"], ["a", "b"]]
    more = [*rows, ["a", None], ["a", None]]
    one, two = ratings_from_matrix(rows), ratings_from_matrix(more)
    assert value(krippendorff_alpha(one)) == value(krippendorff_alpha(two))
    assert value(fleiss_kappa(one)) != value(fleiss_kappa(two))
    assert value(panel_agreement(one)) == value(panel_agreement(two))


def test_fleiss_original_table() -> None:
    """Fleiss (1971): 10 subjects, 14 judges, 5 levels; kappa 0.210 as worked in the encyclopaedias."""
    counts = [[0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
              [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]]  # fmt: skip
    rows = [np.repeat(np.arange(5), row).tolist() for row in counts]
    assert value(fleiss_kappa(ratings_from_matrix(rows))) == pytest.approx(0.20993, abs=1e-5)


def test_krippendorffs_own_example() -> None:
    """Krippendorff (2011), four observers and missing data: 0.743, 0.815, 0.849 and 0.797."""
    n = None
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, n, n, n],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, n, 3],
        [n, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, n],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, n],
    ]
    ratings = ratings_from_matrix(list(zip(*observers, strict=True)))
    published = {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849, "ratio": 0.797}
    for metric, alpha in published.items():
        assert round(value(krippendorff_alpha(ratings, metric)), 3) == alpha


def test_shrout_and_fleiss_own_example() -> None:
    """Shrout and Fleiss (1979), Table 4."""
    scores = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    published = {"1_1": 0.17, "2_1": 0.29, "3_1": 0.71, "1_k": 0.44, "2_k": 0.62, "3_k": 0.91}
    for form, icc in published.items():
        assert round(value(intraclass_correlation(ratings_from_matrix(scores), form)), 2) == icc


def test_icc_leaves_out_incomplete_units() -> None:
    full = [[1, 2], [3, 3], [5, 4], [2, 2]]
    assert value(intraclass_correlation(ratings_from_matrix([*full, [5, None]]))) == pytest.approx(
        value(intraclass_correlation(ratings_from_matrix(full))), abs=1e-12
    )


def test_one_unit() -> None:
    one = ratings_from_matrix([[1, 2]])
    assert value(agreement_rate(one)) == 0.0
    assert value(krippendorff_alpha(one)) == 0.0
    assert np.isnan(value(intraclass_correlation(one)))
    assert reason_undefined(one, "icc_2_1") == "undefined: a single item was answered, and it takes two"


def test_no_overlap_is_undefined_and_not_zero() -> None:
    apart = ratings_from_matrix([["a", None], [None, "a"]], judges=["p", "q"])
    for name in ("agreement_rate", "cohen_kappa", "scott_pi", "krippendorff_alpha_nominal", "gwet_ac1"):
        assert np.isnan(value(statistic_of(MEASURES[name], apart))), name
        assert reason_undefined(apart, name) == "undefined: no item was answered by both 'p' and 'q'"


def test_weights_are_one_on_the_diagonal_and_zero_at_the_ends() -> None:
    for scheme in ("linear", "quadratic", "ordinal"):
        weights = agreement_weights(scheme, 4)
        assert np.all(np.diag(weights) == 1)
        assert weights[0, 3] == 0
        assert np.array_equal(weights, weights.T)
    assert agreement_weights("ordinal", 4)[0].round(4).tolist() == [1, 0.8333, 0.5, 0]
    with pytest.raises(InputError, match="weights 'cubic' are not known"):
        agreement_weights("cubic", 3)


def test_requests_that_do_not_suit_the_answers() -> None:
    words = ratings_from_matrix([["good", "bad"], ["bad", "bad"]])
    assert "declare it by levels, lowest first" in misfit_reason(MEASURES["krippendorff_alpha_ordinal"], words)
    with pytest.raises(InputError, match="needs the order of the levels"):
        krippendorff_alpha(words, "ordinal")
    with pytest.raises(InputError, match="are not numbers"):
        krippendorff_alpha(words, "interval")
    with pytest.raises(InputError, match="scores of at least 0, and there is a -1"):
        krippendorff_alpha(ratings_from_matrix([[-1, 2]]), "ratio")
    with pytest.raises(InputError, match="metric 'cardinal' is not known"):
        krippendorff_alpha(words, "cardinal")
    with pytest.raises(InputError, match="ICC form '4_1' is not known"):
        intraclass_correlation(words, "4_1")
    with pytest.raises(InputError, match="did you mean 'gwet_ac"):
        find_measure("gwet_ac")
    with pytest.raises(InputError, match="answer 'good' is not among the levels 'bad'"):
        ratings_from_matrix([["good"]], levels=["bad"])
    with pytest.raises(InputError, match="judge 'z' is not in the table; its judges are '1', '2'"):
        words.select_judges(["z"])


def test_majority_needs_more_than_half() -> None:
    panel = ratings_from_matrix([["x", "x", "y", "y"], ["x", "x", "x", "y"], ["y", None, None, None], [None] * 4])
    assert majority_answer(panel).tolist() == [-1, 0, 1, -1]
    votes = add_tie_level(replace(panel, tie="tie"))
    assert votes.levels == ("x", "tie", "y")
    assert majority_answer(votes).tolist() == [1, 0, 2, -1]
    with pytest.raises(InputError, match="a majority of scores with 30 levels means little"):
        majority_answer(ratings_from_matrix([[float(i)] for i in range(30)]))


def test_shares_of_units_where_m_judges_agree() -> None:
    panel = ratings_from_matrix([["a"] * 4, ["a", "a", "a", "b"], ["a", "a", "b", "b"], ["a", "a", "a", None]])
    assert [value(share_agreeing(panel, m)) for m in (4, 3, 2)] == pytest.approx([1 / 3, 2 / 3, 1.0])
    with pytest.raises(InputError, match="at least 5 of 4 judges"):
        share_agreeing(panel, 5)


@given(st.lists(st.sampled_from("wlt"), min_size=1, max_size=30))
def test_win_rates(outcomes: list[str]) -> None:
    won, lost, tied = (np.array(outcomes) == each for each in "wlt")
    half = value(win_rate(won, lost, tied, "half won"))
    assert half == pytest.approx(1 - value(win_rate(lost, won, tied, "half won")))
    assert value(win_rate(won, lost, tied, "not won")) == pytest.approx(won.mean())
    dropped = value(win_rate(won, lost, tied, "left out"))
    decided = won.sum() + lost.sum()
    assert np.isnan(dropped) if decided == 0 else dropped == pytest.approx(won.sum() / decided)
    with pytest.raises(InputError, match="ties 'lost' is not known"):
        win_rate(won, lost, tied, "lost")
