"""Polars in, Polars out: the same tables as from pandas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import voirdire

pl = pytest.importorskip("polars")

VOTES = pd.DataFrame(
    {
        "judge": ["a", "b", "c"] * 6,
        "first": ["x", "y", "x"] * 6,
        "second": ["y", "z", "z"] * 6,
        "winner": ["first"] * 13 + ["second"] * 5,
    }
)


def in_polars(table: pd.DataFrame) -> Any:
    return pl.DataFrame({name: column.tolist() for name, column in table.items()})


def same(found: Any, want: pd.DataFrame) -> None:
    assert isinstance(found, pl.DataFrame)
    assert found.columns == list(want.columns)
    for name in want:
        for one, other in zip(found[name].to_list(), want[name].tolist(), strict=True):
            other = list(other) if isinstance(other, tuple) else other
            assert one == other or ((one != one or one is None) and pd.isna(other)), name


@pytest.mark.parametrize("lazy", [False, True])
def test_a_fit_of_polars_shows_polars_and_everything_else_works(tmp_path: Path, lazy: bool) -> None:
    table = in_polars(VOTES)
    fit = voirdire.fit(table.lazy() if lazy else table, model="crowd-bt", method="laplace")
    want = voirdire.fit(VOTES, model="crowd-bt", method="laplace")
    for name in ("ranking", "judges", "checks", "strengths"):
        same(getattr(fit, name)(), getattr(want, name)())
    same(fit.next_comparisons(2, who="judge"), want.next_comparisons(2, who="judge"))
    same(fit.predict(table.head(2)), want.predict(VOTES.head(2)))
    assert fit._repr_html_() == want._repr_html_()
    fit.plot("ranking")
    assert fit.report(tmp_path / "fit.md").is_file()
    fit.save(tmp_path / "run")
    assert isinstance(voirdire.load(tmp_path / "run").ranking(), pd.DataFrame)
    assert isinstance(fit.update(table).ranking(), pl.DataFrame)


def test_labels_and_agreement_and_correlation() -> None:
    labels = pd.DataFrame(
        [(judge, item, "yes" if item < "d" else "no") for judge in "uvw" for item in "abcdef"],
        columns=["judge", "item", "label"],
    )
    fit = voirdire.fit(in_polars(labels), method="map")
    want = voirdire.fit(labels, method="map")
    same(fit.classes(), want.classes())  # type: ignore[attr-defined]
    truth = labels[labels["judge"] == "u"][["item", "label"]]
    same(fit.accuracy(truth, resamples=50), want.accuracy(truth, resamples=50))  # type: ignore[attr-defined]
    same(voirdire.agreement(in_polars(labels), resamples=50), voirdire.agreement(labels, resamples=50))
    humans = labels[labels["judge"] == "u"].head(4)[["item", "label"]]
    same(voirdire.agreement(in_polars(labels), humans=in_polars(humans)), voirdire.agreement(labels, humans=humans))
    scores = pd.DataFrame({"judge": ["h"] * 9 + ["a"] * 9, "item": [*range(9)] * 2, "score": [*range(9)] * 2})
    same(voirdire.metaeval(in_polars(scores), "h", resamples=50), voirdire.metaeval(scores, "h", resamples=50))
