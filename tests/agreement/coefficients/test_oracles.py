"""Every coefficient equals other software's to 1e-9 on published tables."""

from __future__ import annotations

import re
from itertools import combinations

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from voirdire.agreement.coefficients.match import ratings_by_criterion
from voirdire.agreement.coefficients.measures import MEASURES, statistic_of
from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.tables import read_table

TOLERANCE = 1e-9
CRITERIA = ("coherence", "fluency", "informativeness", "relevance")


def ours(point, name: str, ratings: Ratings) -> float:
    return point(statistic_of(MEASURES[name], ratings))


def answers(ratings: Ratings) -> np.ndarray:
    """Codes with NaN where missing, judges in rows: the form krippendorff takes."""
    return np.where(ratings.codes >= 0, ratings.codes, np.nan).T


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_cohen_kappa_is_scikit_learns_on_newsroom(tables, point, weights) -> None:
    name = "cohen_kappa" if weights is None else f"cohen_kappa_{weights}"
    for criterion in CRITERIA:
        ratings = tables[f"newsroom {criterion}"]
        for pair in combinations(ratings.judges, 2):
            two = ratings.select_judges(pair)
            theirs = cohen_kappa_score(*two.numeric_answers().T, labels=[1, 2, 3, 4, 5], weights=weights)
            assert ours(point, name, two) == pytest.approx(theirs, abs=TOLERANCE)


def test_cohen_kappa_is_scikit_learns_on_dices(tables, point) -> None:
    ratings = tables["dices350"]
    for pair in combinations(ratings.judges[:12], 2):
        two = ratings.select_judges(pair)
        assert ours(point, "cohen_kappa", two) == pytest.approx(
            cohen_kappa_score(*two.codes.T, labels=[0, 1, 2]), abs=TOLERANCE
        )


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_cohen_kappa_is_scikit_learns_on_llmfao(tables, point, weights) -> None:
    name = "cohen_kappa" if weights is None else f"cohen_kappa_{weights}"
    voters = tables["llmfao"]
    busiest = sorted(voters.judges, key=lambda judge: -voters.select_judges([judge]).is_rated.sum())[:10]
    for pair in combinations(busiest, 2):
        two = voters.select_judges(pair)
        both = two.keep_units(two.is_fully_rated)
        if len(both.codes) > 1:
            theirs = cohen_kappa_score(*both.codes.T, labels=[0, 1, 2], weights=weights)
            assert ours(point, name, two) == pytest.approx(theirs, abs=TOLERANCE)


def test_mirrored_kappa_is_scikit_learns_on_pairs_entered_in_both_orders(tables, point, shared) -> None:
    mirrored = ratings_by_criterion(read_table(shared / "data" / "llmfao_votes.csv"))[0].select_judges(
        ["gpt-3.5", "gpt-4"]
    )
    assert mirrored.mirrored
    first, second = tables["llmfao"].select_judges(["gpt-3.5", "gpt-4"]).codes.T
    doubled = cohen_kappa_score([*first, *(2 - first)], [*second, *(2 - second)])
    assert ours(point, "cohen_kappa", mirrored) == pytest.approx(doubled, abs=TOLERANCE)


def test_scott_pi_is_statsmodels_fleiss_kappa_of_two_judges(tables, point) -> None:
    cases = [tables[f"newsroom {criterion}"].select_judges(["rater-1", "rater-3"]) for criterion in CRITERIA]
    cases.append(tables["dices350"].select_judges(["rater-001", "rater-002"]))
    cases.append(tables["llmfao"].select_judges(["gpt-3.5", "gpt-4"]))
    for two in cases:
        counts = np.stack([(two.codes == level).sum(axis=1) for level in range(len(two.levels))], axis=1)
        assert ours(point, "scott_pi", two) == pytest.approx(statsmodels_fleiss(counts), abs=TOLERANCE)


def test_fleiss_kappa_is_statsmodels_where_nothing_is_missing(tables, point) -> None:
    for name in ("dices350", *(f"newsroom {criterion}" for criterion in CRITERIA)):
        ratings = tables[name]
        counts = np.stack([(ratings.codes == level).sum(axis=1) for level in range(len(ratings.levels))], axis=1)
        assert ours(point, "fleiss_kappa", ratings) == pytest.approx(statsmodels_fleiss(counts), abs=TOLERANCE)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_is_krippendorffs_on_scores(tables, point, metric) -> None:
    for name in (*(f"newsroom {criterion}" for criterion in CRITERIA), "topicalchat coherence", "topicalchat overall"):
        ratings = tables[name]
        theirs = krippendorff.alpha(ratings.numeric_answers().T, level_of_measurement=metric)
        assert ours(point, f"krippendorff_alpha_{metric}", ratings) == pytest.approx(theirs, abs=TOLERANCE)


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval"])
def test_alpha_is_krippendorffs_on_votes_most_of_which_are_missing(tables, point, metric) -> None:
    from voirdire.agreement.coefficients.alpha import krippendorff_alpha

    ratings = tables["llmfao"]
    if metric == "interval":
        from dataclasses import replace

        ratings = replace(ratings, values=np.arange(3.0))
    theirs = krippendorff.alpha(answers(ratings), level_of_measurement=metric)
    assert point(krippendorff_alpha(ratings, metric)) == pytest.approx(theirs, abs=TOLERANCE)


def test_alpha_is_krippendorffs_on_dices(tables, point) -> None:
    ratings = tables["dices350"]
    theirs = krippendorff.alpha(answers(ratings), level_of_measurement="nominal")
    assert ours(point, "krippendorff_alpha_nominal", ratings) == pytest.approx(theirs, abs=TOLERANCE)


def test_published_ordinal_alpha_of_newsroom(tables, point) -> None:
    published = {"coherence": 0.065, "fluency": -0.016, "informativeness": 0.285, "relevance": 0.115}
    for criterion, alpha in published.items():
        assert round(ours(point, "krippendorff_alpha_ordinal", tables[f"newsroom {criterion}"]), 3) == alpha


def test_gwet_fleiss_conger_and_icc_are_irrcacs_and_pingouins(tables, point, reference) -> None:
    checked = set()
    for name, coefficients in reference["agree_irrcac_pingouin"]["values"].items():
        table, *judges = re.fullmatch(r"(.*?)(?: (rater-\S+|gpt-3\.5) (rater-\S+|gpt-4))?", name).groups()
        ratings = tables[table] if judges == [None, None] else tables[table].select_judges(judges)
        for label, theirs in coefficients.items():
            measure = label.split(" ")[0]
            assert ours(point, measure, ratings) == pytest.approx(theirs, abs=TOLERANCE), (name, label)
            checked.add((measure, name))
    weighted = {f"{name}_kappa{weights}" for name in ("fleiss", "conger") for weights in ("", "_linear", "_quadratic")}
    assert {"gwet_ac1", "gwet_ac2", "gwet_ac2_linear", "gwet_ac2_ordinal", "icc_2_1", *weighted} <= {
        measure for measure, _ in checked
    }
    assert {("conger_kappa", "llmfao"), ("conger_kappa", "dices350")} <= checked


def test_icc_and_kappa_are_those_of_rs_psych(tables, point, reference) -> None:
    values = reference["agree_psych"]["values"]
    for name, coefficients in values.items():
        table, *judges = re.fullmatch(r"(.*?)(?: (rater-\S+) (rater-\S+))?", name).groups()
        ratings = tables[table] if judges == [None, None] else tables[table].select_judges(judges)
        if table == "dices350":
            from dataclasses import replace

            ratings = replace(ratings, ordered=True)
        for measure, theirs in coefficients.items():
            assert ours(point, measure, ratings) == pytest.approx(theirs, abs=TOLERANCE), (name, measure)
    assert len(values) == 4 * 4 + 6 + 3


def test_agreement_rate_by_counting(tables, point) -> None:
    for name, pair in (
        ("llmfao", ("gpt-3.5", "gpt-4")),
        ("dices350", ("rater-001", "rater-002")),
        ("newsroom fluency", ("rater-1", "rater-2")),
    ):
        first, second = tables[name].select_judges(pair).codes.T
        assert ours(point, "agreement_rate", tables[name].select_judges(pair)) == pytest.approx(
            np.mean(first == second), abs=1e-12
        )
    codes = tables["llmfao"].codes
    shares = []
    for row in codes:
        given = row[row >= 0]
        pairs = [a == b for a, b in combinations(given, 2)]
        shares += [np.mean(pairs)] if pairs else []
    assert ours(point, "agreement_rate", tables["llmfao"]) == pytest.approx(np.mean(shares), abs=1e-12)
