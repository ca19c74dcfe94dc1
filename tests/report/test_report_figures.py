"""Figures show the numbers of the tables; what is computed for them is right."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from voirdire import Fit, InputError, fit
from voirdire.report.figure_style import empty_figure, to_svg
from voirdire.report.figures import FIGURE_KINDS, forest, plot
from voirdire.report.figures.coefficients import phase_bars
from voirdire.report.figures.heat import draw_matrix, similarity_order
from voirdire.report.figures.rows import draw_parts
from voirdire.report.pair_agreement import PairAgreement, observed_over_expected
from voirdire.report.ppc import calibration_bins, cell_probability_draws, replicated_shares

NOT_HERE = {"strengths": "only one criterion", "trace": "has no chains"} | dict.fromkeys(
    ("classes", "confusion", "shares"), "is for fits of labels"
)
NOT_HERE |= {"severity": "knows no severity", "systems": "is for fits of labels or scores"} | dict.fromkeys(
    ("calibration-scores", "ppc-scores"), "there are no scores"
)
OF_LABELS = ("judges", "mirror", "classes", "confusion", "shares", "ppc", "calibration")


@pytest.mark.parametrize("kind", FIGURE_KINDS)
def test_every_kind_draws_on_the_axes_it_is_given(small: Fit, kind: str) -> None:
    figure, ax = plt.subplots()
    try:
        if kind in NOT_HERE:
            with pytest.raises(InputError, match=NOT_HERE[kind]):
                small.plot(kind, ax=ax)
        else:
            assert small.plot(kind, ax=ax) is ax
            assert ax.has_data()
            figure.canvas.draw()
    finally:
        plt.close(figure)


@pytest.mark.parametrize("kind", FIGURE_KINDS)
def test_every_kind_knows_whether_labels_have_it(labelled: Fit, kind: str) -> None:
    if kind not in OF_LABELS:
        with pytest.raises(InputError):
            labelled.plot(kind)
        return
    ax = labelled.plot(kind)
    try:
        assert ax.has_data()
        ax.figure.canvas.draw()
    finally:
        plt.close(ax.figure)


def test_a_matrix_has_the_most_reliable_judge_on_top(labelled: Fit) -> None:
    ax = labelled.plot("confusion")
    judges = labelled.judges().sort_values("reliability", ascending=False)["judge"].tolist()
    shown = np.asarray(ax.images[0].get_array())
    found = labelled.confusion()
    best = found[found["judge"] == judges[0]]
    assert [text.get_text() for text in ax.get_yticklabels()] == judges
    np.testing.assert_allclose(shown[0], best["probability"])
    np.testing.assert_allclose(shown.reshape(len(judges), 2, 3).sum(axis=2), 1.0)
    plt.close(ax.figure)


def test_the_items_that_are_least_sure_are_shown(labelled: Fit) -> None:
    ax = labelled.plot("classes")
    found = labelled.classes()
    wanted = found[~found["known"]].sort_values("probability", kind="stable").head(40)
    assert [text.get_text() for text in ax.get_yticklabels()] == wanted["item"].tolist()
    np.testing.assert_allclose(np.asarray(ax.images[0].get_array()).max(axis=1), wanted["probability"])
    plt.close(ax.figure)


@pytest.mark.slow
def test_parts_of_a_long_forest_share_rows_and_scale(many: Fit) -> None:
    drawn = draw_parts(forest.judge_rows(many))
    axes = [figure.axes[0] for figure in drawn]
    names = [text.get_text() for ax in axes for text in ax.get_yticklabels()]
    assert len(drawn) == 3
    assert names == many.judges().sort_values("reliability", ascending=False, kind="stable")["judge"].tolist()
    assert len({(ax.get_xlim(), ax.get_ylim()) for ax in axes}) == 1


def test_a_figure_of_its_own_grows_with_its_rows() -> None:
    names = [f"judge {k:03d}" for k in range(200)]
    table = pd.DataFrame({"judge": names, "first": ["x", "y"] * 100, "second": "z", "winner": "first"})
    ax = plot(fit(table, model="crowd-bt", method="map"), "judges")
    try:
        assert ax.figure.get_size_inches()[1] > 30
        assert sorted(text.get_text() for text in ax.get_yticklabels()) == names
        ax.figure.canvas.draw()
    finally:
        plt.close(ax.figure)


def test_an_unknown_kind_is_answered_with_the_nearest(small: Fit) -> None:
    with pytest.raises(InputError, match=r"kind 'rankin' \(did you mean 'ranking'\?\) is none of ranking, judges"):
        small.plot("rankin")


@pytest.mark.parametrize("kind", ["rank-probability", "mirror", "judges", "position"])
def test_a_fit_that_has_nothing_to_show_says_why(mode: Fit, kind: str) -> None:
    with pytest.raises(InputError, match=r"draws|mirrored|alike|position bias"):
        mode.plot(kind)
    assert plt.get_fignums() == []


def points(ax: plt.Axes) -> np.ndarray:
    """Marks of a figure, by row."""
    found = [line.get_xydata() for line in ax.lines if line.get_marker() not in ("None", None, "")]
    data = np.concatenate([part for part in found if len(part)])
    return data[np.argsort(data[:, 1])]


def test_forests_show_the_tables(small: Fit) -> None:
    for kind, table, value, low in (
        ("ranking", small.ranking(), "score", "low"),
        ("judges", small.judges().sort_values("reliability", ascending=False), "reliability", "reliability_low"),
    ):
        _, ax = plt.subplots()
        small.plot(kind, ax=ax)
        np.testing.assert_allclose(points(ax)[:, 0], table[value])
        starts = sorted(float(p[0, 0]) for c in ax.collections for p in c.get_segments())
        np.testing.assert_allclose(starts, sorted(table[low]))
        assert [text.get_text() for text in ax.get_yticklabels()] == table.iloc[:, 0].tolist()
        plt.close(ax.figure)


def test_rank_probabilities_are_those_of_the_draws(small: Fit) -> None:
    _, ax = plt.subplots()
    small.plot("rank-probability", ax=ax)
    share = np.asarray(ax.images[0].get_array()) ** 2
    np.testing.assert_allclose(share.sum(axis=0), 1.0)
    np.testing.assert_allclose(share.sum(axis=1), 1.0)
    np.testing.assert_allclose(share[:, 0], small.ranking()["p_best"])
    plt.close(ax.figure)


def test_position_marks_are_the_two_coins(small: Fit) -> None:
    _, ax = plt.subplots()
    small.plot("position", ax=ax)
    first, second = (line.get_xdata() for line in ax.lines if line.get_marker() in "os" and len(line.get_xdata()))
    judges = small.judges()
    np.testing.assert_allclose(sorted(first + second), sorted(2 * judges["reliability"]))
    np.testing.assert_allclose(sorted(abs(first - second)), sorted(2 * judges["position_bias"].abs()))
    plt.close(ax.figure)


def test_agreement_of_few_judges_has_its_numbers() -> None:
    """Of two judges a pale cell beside a blank one said nothing."""
    names, ratio = ("a", "b"), np.array([[0.0, np.log2(1.03)], [np.log2(1.03), 0.0]])
    ax = empty_figure(2, 2).subplots()
    draw_matrix(ax, ratio, names, np.zeros((2, 2), dtype=bool))
    assert sorted(text.get_text() for text in ax.texts) == ["", "", "1.03", "1.03"]


def test_common_votes_are_counted_once() -> None:
    """A judge that answered twice and one that answered three times have two votes in common, not six."""
    rows = {
        "judge": ["a"] * 2 + ["b"] * 3 + ["a", "b"],
        "first": ["x"] * 5 + ["y"] * 2,
        "second": ["y"] * 5 + ["z"] * 2,
    }
    found = observed_over_expected(fit(pd.DataFrame(rows | {"winner": "first"}), model="crowd-bt", method="map"))
    assert found.common[0, 1] == 3
    assert found.observed[0, 1] == 1.0


def test_agreement_is_that_of_every_pair_of_votes(mode: Fit) -> None:
    found = observed_over_expected(mode)
    votes = mode.problem.votes
    cell = votes.row_cell
    chance = cell_probability_draws(mode, 1)[0][cell]
    first, second = votes.first[cell], votes.second[cell]
    turned = first > second
    outcome = np.where(turned & (votes.row_outcome < 2), 1 - votes.row_outcome, votes.row_outcome)
    chance[turned] = chance[turned][:, [1, 0, 2]]
    key = np.minimum(first, second) * 100 + np.maximum(first, second)
    judge = votes.judge[cell]
    for a, b in combinations(range(len(votes.judges)), 2):
        pairs = [(i, j) for i in np.flatnonzero(judge == a) for j in np.flatnonzero(judge == b) if key[i] == key[j]]
        once = [min((key[judge == k] == unit).sum() for k in (a, b)) for unit in np.unique(key)]
        assert found.common[a, b] == sum(once)
        observed = np.mean([outcome[i] == outcome[j] for i, j in pairs])
        expected = np.mean([chance[i] @ chance[j] for i, j in pairs])
        np.testing.assert_allclose([found.observed[a, b], found.expected[a, b]], [observed, expected])


def test_a_copy_stands_out() -> None:
    """A copied judge is the pair that agrees most beyond expectation, and stands beside its source."""
    rng = np.random.default_rng(0)
    rows = 400
    first = rng.integers(6, size=rows)
    second = (first + rng.integers(1, 6, size=rows)) % 6
    winner = {name: np.where((first < second) == (rng.random(rows) < 0.75), "first", "second") for name in "abcd"}
    winner["copy"] = np.where(rng.random(rows) < 0.95, winner["c"], winner["a"])
    parts = [
        pd.DataFrame({"judge": name, "first": first.astype(str), "second": second.astype(str), "winner": one})
        for name, one in winner.items()
    ]
    found = observed_over_expected(
        fit(pd.concat(parts).assign(context=[*range(rows)] * 5), model="crowd-bt", method="map")
    )
    top = found.pair_records()[0]
    assert {top["judge a"], top["judge b"]} == {"c", "copy"}
    assert top["ratio"] > 1.3
    a, b = (found.judges.index(name) for name in ("c", "copy"))
    assert found.clear_pairs[a, b]
    assert found.clear_pairs[b, a]
    order = [found.judges[k] for k in similarity_order(np.where(found.clear_pairs, found.log_ratio, 0.0))]
    assert abs(order.index("c") - order.index("copy")) == 1


def test_chance_makes_no_pair_clear() -> None:
    """Of judges who are independent given the fit, hardly a pair is called clear; the tests are exact binomial ones."""
    judges, votes = 40, 30.0
    rng = np.random.default_rng(3)
    expected = np.triu(rng.uniform(0.4, 0.8, (judges, judges)), 1)
    expected = expected + expected.T
    common = np.full((judges, judges), votes)
    clear = []
    for _ in range(50):
        agreed = np.triu(rng.binomial(int(votes), expected), 1) / votes
        clear.append(PairAgreement(tuple("j" * judges), common, agreed + agreed.T, expected).clear_pairs.any())
    # under the null a false discovery rate of 0.1 is the probability of any; its Monte Carlo error is 0.04
    assert np.mean(clear) <= 0.1 + 3 * 0.042
    one = np.array([[1.0, 0.9], [0.9, 1.0]])
    found = PairAgreement(("a", "b"), np.full((2, 2), 30.0), one, np.full((2, 2), 0.5))
    assert found.clear_pairs.tolist() == [[False, True], [True, False]]


def test_shares_of_wins(small: Fit) -> None:
    (_, _, (observed,)), (_, _, drawn) = replicated_shares(small)
    votes = small.problem.votes
    cell = votes.row_cell
    for item in range(len(votes.items)):
        first = (votes.first[cell] == item) * np.array([1, 0, 0.5])[votes.row_outcome]
        second = (votes.second[cell] == item) * np.array([0, 1, 0.5])[votes.row_outcome]
        shown = (votes.first[cell] == item) | (votes.second[cell] == item)
        np.testing.assert_allclose(observed[item], (first + second).sum() / shown.sum())
    # the model is the right one: replicated tables are centred on the table, within their own spread
    assert (np.abs(drawn.mean(axis=0) - observed) < 3 * drawn.std(axis=0)).all()


def test_calibration_counts_every_vote_twice(small: Fit) -> None:
    bins = calibration_bins(small)
    assert bins["n"].sum() == 2 * small.problem.votes.rows
    decided = (small.problem.votes.row_outcome < 2).sum()
    np.testing.assert_allclose((bins["observed"] * bins["n"]).sum(), decided)
    assert (np.diff(bins["predicted"]) > 0).all()


def test_a_trace_names_the_value_that_mixes_worst(small: Fit) -> None:
    """Draws laid out as four chains, one of which is elsewhere in one item's strength."""
    assert small.posterior.draws is not None
    chains = small.posterior.draws.reshape(4, 1000, -1).copy()
    place = small.problem.density.parameter_slices["strength"].start
    chains[2, :, place] += 5.0
    moved = replace(small, posterior=replace(small.posterior, draws=chains), method="nuts", sampler="numpyro")
    _, ax = plt.subplots()
    moved.plot("trace", ax=ax)
    assert len(ax.lines) == 4
    assert len(ax.lines[0].get_xdata()) == 1000
    assert ax.get_title(loc="left").startswith("strength[overall, item 0")
    means = [float(np.mean(line.get_ydata())) for line in ax.lines]
    assert abs(means[2] - means[0]) > 3 > abs(means[1] - means[0])
    plt.close(ax.figure)


def test_bars_of_two_phases_stand_side_by_side() -> None:
    rows = [
        {"judges": [who], "criterion": None, "level": phase, "value": value, "low": value - 0.1, "high": value + 0.1}
        for who, before, after in (("doctors", 0.2, 0.5), ("patients", 0.3, 0.4))
        for phase, value in (("before", before), ("after", after), ("after - before", after - before))
    ]
    (ax,) = phase_bars(rows).axes
    assert sorted(round(bar.get_height(), 6) for bar in ax.patches) == [0.2, 0.3, 0.4, 0.5]


def test_an_svg_asks_for_nothing_and_clashes_with_no_other() -> None:
    names = ["<script>x</script>", "$x_1$ & $y", "\u65e5\u672c", "\u05d0\u05d1 \u202e", "tab\tand\x07bell"]
    table = pd.DataFrame({"judge": "a", "first": names, "second": "z", "winner": ["first", "second"] * 2 + ["first"]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = fit(table, model="bradley-terry", method="map").plot("ranking")
        svg = to_svg(ax.figure, "one")
    plt.close(ax.figure)
    assert "<script" not in svg
    assert "&lt;script&gt;" in svg
    assert "$x_1$ &amp; $y" in svg  # a dollar is no formula
    assert "\u65e5\u672c" in svg
    assert "\x07" not in svg
    assert "\u202e" not in svg
    assert all(one.startswith("one-") for one in svg.split('id="')[1:])
    assert "http" not in svg.replace("http://www.w3.org/", "")
