"""Agreement of sets of labels: Krippendorff's alpha with the distances of Jaccard and MASI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire import InputError
from voirdire.agreement.coefficients.alpha import set_distances

pytestmark = pytest.mark.filterwarnings("ignore:.*are lists")
REFERENCE = json.loads((Path(__file__).parents[2] / "reference" / "sets_nltk.json").read_text())
MEASURES = ["krippendorff_alpha_masi", "krippendorff_alpha_jaccard"]


def table(rows: list[tuple[str, str, list[str]]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["judge", "item", "label"])


@pytest.mark.parametrize(
    ("a", "b", "jaccard", "masi"),
    [
        ("", "", 0.0, 0.0),
        ("", "p", 1.0, 1.0),
        ("pq", "qp", 0.0, 0.0),
        ("pq", "pqrs", 1 / 2, 1 - 1 / 2 * 2 / 3),
        ("pq", "qr", 2 / 3, 1 - 1 / 3 * 1 / 3),
        ("pqr", "qrs", 1 / 2, 1 - 1 / 2 * 1 / 3),
        ("p", "q", 1.0, 1.0),
    ],
)
def test_distances_by_hand(a: str, b: str, jaccard: float, masi: float) -> None:
    for name, value in (("jaccard", jaccard), ("masi", masi)):
        found = set_distances([tuple(a), tuple(b)], name)  # type: ignore[arg-type]
        np.testing.assert_allclose(found, [[0, value], [value, 0]], atol=1e-15)


@pytest.mark.parametrize(("a", "b", "masi", "jaccard"), REFERENCE["distances"])
def test_distances_are_those_of_nltk(a: list[str], b: list[str], masi: float, jaccard: float) -> None:
    assert set_distances([a, b], "masi")[0, 1] == pytest.approx(masi, abs=1e-12)
    assert set_distances([a, b], "jaccard")[0, 1] == pytest.approx(jaccard, abs=1e-12)


def test_alpha_is_that_of_nltk() -> None:
    found = voirdire.agreement(table(REFERENCE["answers"]), measures=MEASURES, pairs=False, resamples=100)
    expected = [REFERENCE["alpha"]["masi"], REFERENCE["alpha"]["jaccard"]]
    np.testing.assert_allclose(found["value"], expected, atol=1e-12)


def test_alpha_by_hand() -> None:
    """Items pq|p, q|q: half of the pairs in items differ; of 12 ordered pairs 2 are pq-p, 4 pq-q, 4 p-q."""
    rows = [("a", "x", ["p", "q"]), ("b", "x", ["p"]), ("a", "y", ["q"]), ("b", "y", ["q"])]
    found = voirdire.agreement(table(rows), measures=MEASURES, resamples=100)
    for value, one in zip(found["value"], (1 - 1 / 2 * 2 / 3, 1 / 2), strict=True):
        assert value == pytest.approx(1 - (one / 2) / ((2 * one + 4 * one + 4 * 1) / 12), abs=1e-12)


def test_sets_of_one_have_the_nominal_alpha() -> None:
    rng = np.random.default_rng(3)
    rows = [(judge, f"i{item}", [str(rng.choice(list("pqr")))]) for judge in "abc" for item in range(20)]
    plain = table([(judge, item, label[0]) for judge, item, label in rows])
    rows.append(("a", "alone", []))  # an item with one answer counts for nothing, and shows that cells are sets
    found = voirdire.agreement(table(rows), measures=MEASURES, pairs=False, resamples=100)
    nominal = voirdire.agreement(plain, measures=["krippendorff_alpha_nominal"], pairs=False, resamples=100)
    np.testing.assert_allclose(found["value"], nominal["value"].iloc[0], atol=1e-12)


def test_measures_of_sets_by_default_have_intervals_and_pairs() -> None:
    found = voirdire.agreement(table(REFERENCE["answers"]), resamples=500)
    assert list(dict.fromkeys(found["measure"])) == ["agreement_rate", *MEASURES]
    assert set(found["judges"]) == {("a", "b", "c"), ("a", "b"), ("a", "c"), ("b", "c")}
    panel = found[found["judges"] == ("a", "b", "c")]
    assert (panel["low"] < panel["value"]).all()
    assert (panel["value"] < panel["high"]).all()


@pytest.mark.parametrize(
    ("rows", "measure", "message"),
    [
        (
            [("a", "x", "p"), ("b", "x", "q")],
            "krippendorff_alpha_masi",
            "compares sets of labels, and each answer is one",
        ),
        ([("a", "x", ["p", "q"]), ("b", "x", [])], "krippendorff_alpha_ordinal", "needs the order of the answers"),
        ([("a", "x", ["1", "2"]), ("b", "x", [])], "pearson", "needs numbers"),
        (
            [("a", "x", ["p", "q"]), ("b", "x", [])],
            "krippendorff_alpha_massi",
            "did you mean 'krippendorff_alpha_masi'",
        ),
    ],
)
def test_measures_that_do_not_suit_are_refused(rows: list[Any], measure: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        voirdire.agreement(table(rows), measures=measure)


def test_humans_who_name_sets_are_compared_with_judges_who_do() -> None:
    rng = np.random.default_rng(5)
    sets = [["p"], ["q"], ["p", "q"], []]
    truth = [sets[k] for k in rng.integers(4, size=60)]
    rows = [(j, f"i{n}", truth[n] if rng.random() < 0.7 else sets[rng.integers(4)]) for j in "ab" for n in range(60)]
    people = pd.DataFrame({"item": [f"i{n}" for n in range(20)], "label": truth[:20]})
    found = voirdire.agreement(table(rows), humans=people, resamples=100)
    assert found["value"].between(0.5, 1).any()
