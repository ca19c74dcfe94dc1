"""The bootstrap: against scipy, against loops that do by hand what it does by matrix products, and its edges."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from voirdire.agreement import PlainStatistic, bootstrap
from voirdire.agreement.coefficients.alpha import krippendorff_alpha
from voirdire.agreement.coefficients.correlation import kendall_statistic, pearson_statistic, spearman_statistic
from voirdire.agreement.coefficients.icc import intraclass_correlation
from voirdire.agreement.coefficients.panel import fleiss_kappa, gwet_ac, panel_agreement
from voirdire.agreement.coefficients.ratings import ratings_from_matrix
from voirdire.agreement.coefficients.two import agreement_rate, cohen_kappa, conger_kappa
from voirdire.agreement.engine.combine import crossed_statistic, difference_statistic, group_statistic, mean_statistic
from voirdire.agreement.engine.intervals import bootstrap_interval, standard_errors
from voirdire.agreement.engine.resampling import bootstrap_weights, leave_one_out_weights
from voirdire.agreement.engine.statistic import CountStatistic, WeightedStatistic, mean_over_units
from voirdire.errors import InputError

RNG = np.random.default_rng(5)
X = RNG.normal(size=60)
Y = X + RNG.normal(size=60)
GROUPS = np.repeat(np.arange(12), 5)


def mean_of_x() -> CountStatistic:
    return CountStatistic(np.column_stack([np.ones(60), X]), lambda t: t[..., 1] / t[..., 0])


def panel(judges: int = 5, units: int = 30, missing: float = 0.2, seed: int = 0):
    rng = np.random.default_rng(seed)
    true = rng.integers(0, 3, units)
    noise = rng.random((units, judges)) < 0.5
    rows = np.where(noise, rng.integers(0, 3, (units, judges)), true[:, None]) + 1.0
    rows[rng.random((units, judges)) < missing] = np.nan
    return ratings_from_matrix(rows.tolist())


def test_chunks_do_not_change_the_stream() -> None:
    weights = np.concatenate(list(bootstrap_weights(700, 500, np.random.default_rng(3))))
    drawn = np.random.default_rng(3).integers(0, 700, (500, 700))
    assert np.array_equal(weights, [np.bincount(row, minlength=700) for row in drawn])


def test_leave_one_out_leaves_each_out_once() -> None:
    weights = np.concatenate(list(leave_one_out_weights(300)))
    assert np.array_equal(weights, 1 - np.eye(300))


@pytest.mark.parametrize(("ours", "theirs"), [("percentile", "percentile"), ("basic", "basic"), ("bca", "BCa")])
def test_intervals_are_scipys_on_the_same_resamples(ours: str, theirs: str) -> None:
    for statistic, function in (
        (mean_of_x(), lambda x, y: np.mean(x)),
        (pearson_statistic(X, Y), lambda x, y: np.corrcoef(x, y)[0, 1]),
        (spearman_statistic(X, Y), lambda x, y: stats.spearmanr(x, y)[0]),
    ):
        found = bootstrap([statistic], resamples=400, prob=0.95, seed=11, interval=ours)[0]
        expected = stats.bootstrap(
            (X, Y),
            function,
            paired=True,
            vectorized=False,
            n_resamples=400,
            rng=np.random.default_rng(11),
            method=theirs,
        )
        assert np.abs(np.sort(found.draws) - np.sort(expected.bootstrap_distribution)).max() < 1e-12
        ends = expected.confidence_interval
        assert (found.interval.low, found.interval.high) == pytest.approx((ends.low, ends.high), abs=1e-12)


def test_bca_counts_ties_with_the_estimate_half() -> None:
    draws = np.array([0.0, 1.0, 1.0, 2.0])
    even = bootstrap_interval(1.0, draws, 0.5, "bca", jackknife=np.array([0.9, 1.0, 1.1]))
    assert (even.low, even.high) == pytest.approx(tuple(np.quantile(draws, [0.25, 0.75])), abs=1e-12)


def test_bca_jackknifes_the_data_not_the_resamples() -> None:
    one = bootstrap([mean_of_x()], resamples=200, prob=0.95, interval="bca")[0]
    two = bootstrap([mean_of_x()], resamples=5000, prob=0.95, interval="bca")[0]
    values = np.array([np.delete(X, u).mean() for u in range(60)])
    a = np.sum((values.mean() - values) ** 3) / (6 * np.sum((values.mean() - values) ** 2) ** 1.5)
    z0 = stats.norm.ppf(np.mean(two.draws < X.mean()))
    z = z0 + stats.norm.ppf([0.025, 0.975])
    ends = np.quantile(two.draws, stats.norm.cdf(z0 + z / (1 - a * z)))
    assert (two.interval.low, two.interval.high) == pytest.approx(tuple(ends), abs=1e-12)
    assert abs(one.interval.low - two.interval.low) < 0.1


def test_studentised_interval_by_hand() -> None:
    found = bootstrap([mean_of_x()], resamples=500, prob=0.95, seed=2, interval="studentised")[0]
    drawn = X[np.random.default_rng(2).integers(0, 60, (500, 60))]
    t = (drawn.mean(axis=1) - X.mean()) / (drawn.std(axis=1, ddof=1) / 60**0.5)
    spread = X.std(ddof=1) / 60**0.5
    expected = X.mean() - spread * np.quantile(t, [0.975, 0.025])
    assert (found.interval.low, found.interval.high) == pytest.approx(tuple(expected), abs=1e-6)


def test_standard_errors_of_count_statistics_are_near_the_jackknifes() -> None:
    ratings = panel(judges=3, units=400)
    for statistic in (cohen_kappa(ratings.select_judges(["1", "2"])), krippendorff_alpha(ratings, "ordinal").fixed()):
        ones = np.ones((1, 400))
        delta = standard_errors(statistic, ones)[0]
        values = np.concatenate([statistic.values(w) for w in leave_one_out_weights(400)])
        n = int(statistic.support.sum())
        values = values[statistic.support]
        jackknife = ((n - 1) / n * np.sum((values - values.mean()) ** 2)) ** 0.5
        assert delta == pytest.approx(jackknife, rel=0.02)


def test_plain_functions_see_the_same_resamples() -> None:
    plain = PlainStatistic(60, lambda index: float(X[index].mean()))
    one, two = bootstrap([plain, mean_of_x()], resamples=300, seed=4)
    assert np.abs(one.draws - two.draws).max() < 1e-12
    assert one.estimate == pytest.approx(two.estimate)


def test_rank_correlations_of_resamples_are_scipys() -> None:
    x, y = np.round(X, 0), np.round(Y, 1)
    weights = next(bootstrap_weights(60, 40, np.random.default_rng(0)))
    for statistic, function in (
        (pearson_statistic(x, y), lambda a, b: stats.pearsonr(a, b)[0]),
        (spearman_statistic(x, y), lambda a, b: stats.spearmanr(a, b)[0]),
        (kendall_statistic(x, y, "b"), lambda a, b: stats.kendalltau(a, b)[0]),
        (kendall_statistic(x, y, "c"), lambda a, b: stats.kendalltau(a, b, variant="c")[0]),
    ):
        by_hand = [function(np.repeat(x, row), np.repeat(y, row)) for row in weights.astype(int)]
        assert np.abs(statistic.values(weights) - by_hand).max() < 1e-12


def test_coefficients_of_resamples_are_those_of_the_drawn_units() -> None:
    ratings = panel()
    weights = next(bootstrap_weights(30, 25, np.random.default_rng(0)))
    for make in (
        lambda r: krippendorff_alpha(r, "nominal"),
        lambda r: krippendorff_alpha(r, "ordinal"),
        lambda r: krippendorff_alpha(r, "interval"),
        lambda r: krippendorff_alpha(r, "ratio"),
        fleiss_kappa,
        lambda r: fleiss_kappa(r, "linear"),
        conger_kappa,
        lambda r: conger_kappa(r, "quadratic"),
        gwet_ac,
        lambda r: gwet_ac(r, "quadratic"),
        panel_agreement,
        lambda r: intraclass_correlation(r, "2_1"),
        lambda r: cohen_kappa(r.select_judges(["1", "2"]), "linear"),
    ):
        whole = make(ratings)
        fixed = whole.fixed() if hasattr(whole, "fixed") else whole
        for row, value in zip(weights, fixed.values(weights), strict=True):
            drawn = ratings_from_matrix(
                ratings.numeric_answers()[np.repeat(np.arange(30), row.astype(int))].tolist(), levels=[1.0, 2.0, 3.0]
            )
            again = make(drawn)
            again = again.fixed() if hasattr(again, "fixed") else again
            assert value == pytest.approx(float(again.values(np.ones((1, 30)))[0]), abs=1e-10)


def test_contexts_are_drawn_whole() -> None:
    statistic = mean_of_x()
    found = bootstrap([statistic], unit="context", groups=GROUPS, resamples=200, seed=9)[0]
    drawn = np.random.default_rng(9).integers(0, 12, (200, 12))
    by_hand = [np.concatenate([X[group == GROUPS] for group in row]).mean() for row in drawn]
    assert np.abs(found.draws - by_hand).max() < 1e-12
    ranks = group_statistic(spearman_statistic(X, Y), GROUPS)
    weights = next(bootstrap_weights(12, 10, np.random.default_rng(9)))
    expanded = weights[:, GROUPS].astype(int)
    by_hand = [stats.spearmanr(np.repeat(X, row), np.repeat(Y, row))[0] for row in expanded]
    assert np.abs(ranks.values(weights) - by_hand).max() < 1e-12


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval"])
def test_a_judge_drawn_twice_is_not_compared_with_itself(metric: str) -> None:
    ratings = panel(judges=4, units=12, missing=0.15, seed=2)
    numbers = ratings.numeric_answers()
    made = krippendorff_alpha(ratings, metric)
    for v in ([2, 1, 1, 0], [0, 3, 1, 0], [1, 1, 1, 1]):
        ours = made.two_way(np.ones((1, 12)), np.array([v], float))[0]
        columns = np.repeat(np.arange(4), v)
        margins = np.zeros(3)
        for row in numbers:
            given = [c for c in columns if not np.isnan(row[c])]
            if any(a != b for a in given for b in given):
                for c in given:
                    margins[int(row[c]) - 1] += 1
        ranks = np.cumsum(margins) - margins / 2
        observed = 0.0
        for row in numbers:
            given = [c for c in columns if not np.isnan(row[c])]
            pairs = [(a, b) for i, a in enumerate(given) for j, b in enumerate(given) if i != j and a != b]
            for a, b in pairs:
                observed += len(given) / len(pairs) * gap(metric, ranks, row[a], row[b])
        expected = sum(margins[c] * margins[k] * gap(metric, ranks, c + 1, k + 1) for c in range(3) for k in range(3))
        assert ours == pytest.approx(1 - (margins.sum() - 1) * observed / expected, abs=1e-12)


def gap(metric: str, ranks: np.ndarray, a: float, b: float) -> float:
    if metric == "nominal":
        return float(a != b)
    return (a - b) ** 2 if metric == "interval" else (ranks[int(a) - 1] - ranks[int(b) - 1]) ** 2


def test_copies_of_judges_do_not_pass_for_agreement() -> None:
    rng = np.random.default_rng(1)
    noise = ratings_from_matrix(rng.integers(0, 3, (200, 6)).tolist())
    for made in (krippendorff_alpha(noise), fleiss_kappa(noise), conger_kappa(noise), gwet_ac(noise)):
        found = bootstrap([made], unit="judge", resamples=2000)[0]
        # Judges who say anything at random agree with nobody, however often they are drawn.
        assert abs(found.draws.mean()) < 0.02
    scores = ratings_from_matrix(rng.normal(size=(200, 6)).tolist())
    found = bootstrap([intraclass_correlation(scores)], unit="judge", resamples=2000)[0]
    assert abs(found.draws.mean() - found.estimate) < 0.005


def test_both_ways_is_wider_than_either() -> None:
    made = krippendorff_alpha(panel(judges=12, units=80))
    widths = {}
    for unit in ("item", "judge", "both"):
        ends = bootstrap([made], unit=unit, resamples=2000)[0].interval
        widths[unit] = ends.high - ends.low
    assert widths["both"] > max(widths["item"], widths["judge"])
    # It counts what judges and items do together more than once, so it errs on the wide side (Owen 2007).
    assert 0.8 < widths["both"] ** 2 / (widths["item"] ** 2 + widths["judge"] ** 2) < 2


def test_judge_bca_jackknifes_judges() -> None:
    made = panel_agreement(panel(judges=8, units=60))
    plain = bootstrap([made], unit="judge", resamples=2000, seed=1)[0].interval
    corrected = bootstrap([made], unit="judge", resamples=2000, seed=1, interval="bca")[0].interval
    assert corrected.low != plain.low
    assert abs(corrected.low - plain.low) < 0.05


def test_crossed_cells_weigh_row_times_column() -> None:
    rows, columns = np.divmod(np.arange(60), 6)
    crossed = crossed_statistic(mean_of_x(), rows, columns)
    w, v = RNG.integers(0, 3, (4, 10)).astype(float), RNG.integers(0, 3, (4, 6)).astype(float)
    cells = (w[:, :, None] * v[:, None, :]).reshape(4, 60)
    assert np.allclose(crossed.two_way(w, v), cells @ X / cells.sum(axis=1))


def test_paired_differences_use_the_same_resamples() -> None:
    truth = np.array([0, 1] * 20)
    a = np.where(np.arange(40) < 34, truth, 1 - truth)
    b = np.where(np.arange(40) < 30, truth, 1 - truth)
    one = agreement_rate(ratings_from_matrix(np.column_stack([a, truth]).tolist()))
    two = agreement_rate(ratings_from_matrix(np.column_stack([b, truth]).tolist()))
    gap, first, second = bootstrap([difference_statistic(one, two), one, two], resamples=3000)
    assert np.abs(gap.draws - (first.draws - second.draws)).max() < 1e-12
    assert gap.estimate == pytest.approx(0.1)
    assert gap.share_at_least_zero == np.mean(first.draws >= second.draws)
    # b's right answers are all right by a, so on the same resample a is never worse.
    assert gap.share_at_least_zero == 1.0
    mean = bootstrap([mean_statistic([one, two])], resamples=3000)[0]
    assert np.abs(mean.draws - (first.draws + second.draws) / 2).max() < 1e-12


def test_differences_of_unlike_statistics_and_of_panels() -> None:
    mixed = difference_statistic(spearman_statistic(X, Y), pearson_statistic(X, Y))
    assert isinstance(mixed, WeightedStatistic)
    ones = np.ones((1, 60))
    assert mixed.values(ones)[0] == pytest.approx(stats.spearmanr(X, Y)[0] - stats.pearsonr(X, Y)[0])
    one, two = krippendorff_alpha(panel(seed=1)), krippendorff_alpha(panel(seed=2))
    w, v = np.ones((2, 30)), np.array([[1.0] * 5, [2.0, 1.0, 1.0, 1.0, 0.0]])
    assert np.allclose(difference_statistic(one, two).two_way(w, v), one.two_way(w, v) - two.two_way(w, v))
    with pytest.raises(ValueError, match="same units"):
        difference_statistic(mean_of_x(), mean_over_units(np.ones(3, bool), np.ones(3, bool)))
    with pytest.raises(ValueError, match="two statistics with judges"):
        difference_statistic(one, mean_of_x())


def test_units_that_say_nothing_are_not_resampled() -> None:
    rows = [["a", "a"], ["a", "b"], ["b", "b"], ["a", "a"]] * 10
    full = agreement_rate(ratings_from_matrix(rows))
    sparse = agreement_rate(ratings_from_matrix(rows + [["a", None]] * 500, levels=["a", "b"]))
    one, two = bootstrap([full], resamples=500)[0], bootstrap([sparse], resamples=500)[0]
    assert np.array_equal(one.draws, two.draws)


def test_results_do_not_depend_on_what_else_is_asked_for() -> None:
    alone = bootstrap([mean_of_x()], resamples=300, seed=3)[0]
    other = agreement_rate(ratings_from_matrix([["a", "b"]] * 60))
    together = bootstrap([other, mean_of_x(), pearson_statistic(X, Y)], resamples=300, seed=3)[1]
    assert np.array_equal(alone.draws, together.draws)
    assert not np.array_equal(alone.draws, bootstrap([mean_of_x()], resamples=300, seed=4)[0].draws)


def test_undefined_resamples_are_counted_and_too_many_make_no_interval() -> None:
    rare = np.arange(60) < 3
    few = CountStatistic(
        np.column_stack([rare, np.ones(60)]).astype(float), lambda t: np.where(t[..., 0] > 0, t[..., 0], np.nan)
    )
    found = bootstrap([few], resamples=1000, seed=0)[0]
    lost = int(np.isnan(found.draws).sum())
    assert 20 <= lost <= 50
    assert found.interval.note == f"undefined in {lost} of 1000 resamples, left out"
    rarer = CountStatistic(
        np.column_stack([np.arange(60) < 1, np.ones(60)]).astype(float),
        lambda t: np.where(t[..., 0] > 0, t[..., 0], np.nan),
    )
    nothing = bootstrap([rarer], resamples=1000)[0].interval
    assert (nothing.low, nothing.high) == (None, None)
    assert nothing.note.startswith("no interval: undefined in")


def test_perfect_agreement_has_an_interval_without_width_and_says_so() -> None:
    found = bootstrap([agreement_rate(ratings_from_matrix([["a", "a"], ["b", "b"]] * 10))], resamples=100)[0]
    assert (found.estimate, found.interval.low, found.interval.high) == (1.0, 1.0, 1.0)
    assert "no width" in found.interval.note


def test_nothing_to_resample_is_undefined() -> None:
    found = bootstrap([agreement_rate(ratings_from_matrix([["a", None]]))], resamples=10)[0]
    assert np.isnan(found.estimate)
    assert (found.interval.low, found.interval.high) == (None, None)


def test_more_resamples_narrow_the_noise_not_the_interval() -> None:
    widths = [
        np.ptp([bootstrap([mean_of_x()], resamples=b, seed=s)[0].interval.low for s in range(8)]) for b in (100, 6400)
    ]
    assert widths[1] < widths[0] / 3
    lows = [bootstrap([mean_of_x()], resamples=6400, prob=prob)[0].interval.low for prob in (0.5, 0.8, 0.95, 0.99)]
    assert all(a > b for a, b in pairwise(lows))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"resamples": 0}, "resamples 0 is not a positive whole number"),
        ({"resamples": 1.5}, "resamples 1.5 is not a positive whole number"),
        ({"unit": "rater"}, "unit 'rater' is not offered here"),
        ({"prob": 1.0}, "prob 1.0 is not between 0 and 1"),
        ({"interval": "normal"}, "interval 'normal' is not offered here"),
        ({"unit": "context"}, "needs a context for every item"),
        ({"unit": "judge"}, "resamples judges, which only statistics of a whole panel have"),
        ({"unit": "both", "interval": "bca"}, "bca interval is not defined when judges and items"),
        ({"unit": "judge", "interval": "studentised"}, "studentised interval is not offered"),
    ],
)
def test_wrong_requests(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bootstrap([mean_of_x()], **{"resamples": 10, **settings})


@pytest.mark.parametrize("method", ["percentile", "basic"])
def test_no_interval_where_no_resample_lies_beyond_its_ends(method: str) -> None:
    draws = np.arange(1000.0)
    assert bootstrap_interval(500.0, draws, 0.998, method).low is not None
    found = bootstrap_interval(500.0, draws, 0.999, method)
    assert (found.low, found.high) == (None, None)
    assert found.note == "no interval: 1,000 resamples are too few for one of 99.9%, which needs 2,000"
