"""Fits beside each other, and PSIS-LOO against ArviZ's own comparison."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau, spearmanr
from typer.testing import CliRunner

from voirdire import Fit, InputError, fit
from voirdire.cli import app
from voirdire.report import loo
from voirdire.report.compare import compare_fits, compare_page, read_fits
from voirdire.report.output import render_page
from voirdire.report.page import Figure


@pytest.fixture(scope="module")
def plain(small: Fit) -> Fit:
    return fit(small.problem.votes, model="bradley-terry", seed=2)


def direct(fitted: Fit) -> Any:
    """ArviZ on one row per vote, written out anew."""
    import arviz as az

    from voirdire.kinds.votes.response_probabilities import cell_probabilities

    draws = fitted.posterior.draws
    assert draws is not None
    votes = fitted.problem.coded_votes
    density = fitted.problem.density
    log, some = [], draws[0, :: -(-draws.shape[1] // loo.MAX_DRAWS)]
    for x in some:
        chance = cell_probabilities(fitted.model, density, [density.values(x, np)], votes)
        log.append(np.log(chance[votes.row_cell, votes.row_outcome]))
    # the strengths, from which ArviZ takes the effective number of draws
    posterior = {"strength": density.values(some[None], np)["strength"]}
    values = {"posterior": posterior, "log_likelihood": {"votes": np.array(log)[None]}}
    return az.from_dict(**values) if az.__version__.startswith("0.") else az.from_dict(values)


def test_loo_is_that_of_arviz_on_single_votes(small: Fit, plain: Fit) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*ArviZ is undergoing", FutureWarning)
        import arviz as az
    fits = {"small": small, "plain": plain}
    rows = {
        row["run"]: row for row in loo.comparison_rows({name: loo.pointwise_loo(one) for name, one in fits.items()})
    }
    data = {name: direct(one) for name, one in fits.items()}
    old = az.__version__.startswith("0.")
    # ArviZ before 1.0 divides variances by n, and we by n - 1 as it does since
    size = len(next(iter(data.values())).log_likelihood["votes"][0, 0])
    wider = np.sqrt(size / (size - 1)) if old else 1.0
    for name, one in data.items():
        found = az.loo(one, pointwise=True)
        np.testing.assert_allclose(rows[name]["elpd"], found.elpd_loo if old else found.elpd, rtol=1e-6)
        np.testing.assert_allclose(rows[name]["se"], found.se * wider, rtol=1e-6)
        np.testing.assert_allclose(rows[name]["p"], found.p_loo if old else found.p, rtol=1e-4, atol=1e-4)
    parts = {name: az.loo(one, pointwise=True) for name, one in data.items()}
    pointwise = {name: np.asarray(one.loo_i if old else one.elpd_i) for name, one in parts.items()}
    worse = min(pointwise, key=lambda name: pointwise[name].sum())
    apart = pointwise[worse] - pointwise[next(name for name in pointwise if name != worse)]
    np.testing.assert_allclose(rows[worse]["difference"], apart.sum(), rtol=1e-5)
    np.testing.assert_allclose(rows[worse]["difference_se"], np.sqrt(size) * apart.std(ddof=1), rtol=1e-5)


def test_ranks_shifts_and_correlations(small: Fit, plain: Fit) -> None:
    found = compare_fits({"a": small, "b": plain})
    one, two = (fitted.ranking().set_index("item") for fitted in (small, plain))
    for row in found.items:
        places = one.loc[row["item"], "rank"], two.loc[row["item"], "rank"]
        assert (row["rank a"], row["rank b"]) == places
        assert row["shift"] == abs(places[0] - places[1])
        assert row["score b"] == two.loc[row["item"], "score"]
    both = one["score"].align(two["score"])
    (pair,) = found.correlations
    assert pair["spearman"] == pytest.approx(spearmanr(*both).statistic)
    assert pair["kendall_tau_b"] == pytest.approx(kendalltau(*both).statistic)
    judges = small.judges().set_index("judge")
    for row in found.judges:
        assert row["a"] == judges.loc[row["judge"], "reliability"]
        assert "b" not in row
    assert any("takes all judges alike" in note for note in found.notes)


def test_a_fit_against_itself_does_not_differ(small: Fit) -> None:
    found = compare_fits({"one": small, "two": replace(small)})
    assert all(row["shift"] == 0 for row in found.items)
    assert [row["difference"] for row in found.loo] == [0.0, 0.0]
    assert found.correlations[0]["spearman"] == 1.0
    assert "All 6 items stand in the same order." in render_page(compare_page(found), "md")
    (drawn,) = [block for block in compare_page(found).sections[2].blocks if isinstance(block, Figure)]
    (figure,) = drawn.draw()
    first, second = figure.axes[0].lines[:2]
    reliability = [row["one"] for row in found.judges]
    np.testing.assert_allclose(first.get_xdata(), reliability)
    np.testing.assert_allclose(second.get_xdata(), reliability)
    assert (np.asarray(second.get_ydata()) > np.asarray(first.get_ydata())).all()  # below each other


def test_what_cannot_be_compared_is_said(small: Fit, mode: Fit) -> None:
    other = pd.DataFrame({"judge": "z", "first": ["item 00"] * 3, "second": ["item 01"] * 3, "winner": "first"})
    found = compare_fits({"small": small, "mode": mode, "other": fit(other, model="bradley-terry")})
    assert found.loo == []
    text = " ".join(found.notes)
    assert "mode: no leave-one-out prediction, method 'map' has no draws" in text
    assert "other: its answers are not those of the other fits" in text
    assert "4 items are not in all runs: ranks and shifts are among the 2 that are." in text
    assert found.correlations[1]["spearman"] is None
    json.dumps(found.as_dict(), allow_nan=False)
    assert "undefined: fewer than 3 items in common" in render_page(compare_page(found), "md")


def test_fits_without_a_common_item_are_refused(small: Fit) -> None:
    table = pd.DataFrame({"judge": "z", "first": ["x"] * 3, "second": "y", "winner": "first"})
    with pytest.raises(InputError, match="a and b have no item in common"):
        compare_fits({"a": small, "b": fit(table, model="bradley-terry", method="map")})
    with pytest.raises(InputError, match="two fits or more"):
        compare_fits({"a": small})


def test_fits_of_labels_are_refused(small: Fit) -> None:
    labels = pd.DataFrame({"judge": ["a", "b"] * 2, "item": ["i", "i", "j", "j"], "label": list("yyny")})
    said = r"^labels: a fit of labels has no scores of items, by which fits are compared; leave it out, or compare "
    said += "models by cross_validate"
    with pytest.raises(InputError, match=said):
        compare_fits({"votes": small, "labels": fit(labels, method="map")})


@pytest.mark.slow
def test_the_verb(small: Fit, mode: Fit, study: Path, tmp_path: Path) -> None:
    def run(*arguments: object) -> Any:
        return CliRunner().invoke(app, ["compare", *map(str, arguments)], catch_exceptions=False)

    one, two = small.save(tmp_path / "one"), mode.save(tmp_path / "two")
    done = run(one, two, "--json", "-o", tmp_path / "a.html")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert [row["run"] for row in found["runs"]] == ["one", "two"]
    assert "<svg" in (tmp_path / "a.html").read_text(encoding="utf-8")
    shown = run(one, two)
    assert ["one", "two", "6"] in [line.split()[:3] for line in shown.stdout.splitlines()]
    assert "Do they rank alike?" in shown.stdout
    assert not [mark for mark in ("|", "**", "##", "\\") if mark in shown.stdout]  # a table, not its Markdown
    for arguments, message in (
        ((one,), "comparing takes two runs or more"),
        ((one, one), "is given twice"),
        ((one, study), "holds no fit"),
        ((one, tmp_path / "gone"), "there is no such folder"),
        ((one, two, "-o", tmp_path / "a.html"), "exists; name another file"),
    ):
        refused = run(*arguments)
        assert refused.exit_code == 1
        assert message in refused.stderr
    assert run(one, two, "--overwrite").exit_code == 2
    copy = mode.save(tmp_path / "deep" / "one")
    assert list(read_fits([one, copy])) == [str(one), str(copy)]
