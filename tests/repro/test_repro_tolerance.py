"""Tolerances by the figure's own standard error: the formulas against simulation, and judges that know nothing."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from voirdire_repro import judge_claims, load_system, system_names
from voirdire_repro.claims import Claim, System
from voirdire_repro.tables import Cell, Table
from voirdire_repro.tolerance import own_error

CORRELATIONS = ("maj_eval", "debate", "mareval")


def by_correlation(claim: Claim) -> bool:
    return isinstance(claim.tolerance, dict) and "correlation" in claim.tolerance


def answered(system: System, folder: Path, value: Callable[[Cell], float]) -> None:
    """Results in which each figure of each run is the given one."""
    runs = {run for claim in system.claims for run in claim.runs}
    for run in runs:
        here = folder / system.system / run
        here.mkdir(parents=True)
        for name, table in [(n + end, table) for n, table in system.tables.items() for end in ("", "-adam")]:
            with (here / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
                rows = csv.writer(file)
                rows.writerow([*table.columns, "value"])
                rows.writerows([*cell.by.values(), value(cell)] for cell in table.cells)


@pytest.mark.parametrize("name", CORRELATIONS)
def test_a_judge_without_any_correlation_reproduces_nothing(name: str, tmp_path: Path) -> None:
    system = load_system(name)
    answered(system, tmp_path, lambda cell: 0.0)
    claims = {claim.id for claim in system.claims if by_correlation(claim)}
    rows = [row for row in judge_claims(system, fetch=False, results=tmp_path) if row.claim in claims]
    assert len(rows) >= 80
    assert {row.verdict for row in rows} <= {"failed", "undecided"}


def test_a_score_that_never_varies_reproduces_no_spread(tmp_path: Path) -> None:
    system = load_system("mareval")
    answered(system, tmp_path, lambda cell: 0.0)
    rows = judge_claims(system, fetch=False, results=tmp_path)
    verdicts = [row.verdict for row in rows if row.claim == "table2-runs"]
    assert len(verdicts) == 42
    assert set(verdicts) <= {"failed", "undecided"}
    assert verdicts.count("failed") > 30


def test_a_score_drawn_from_its_scale_seldom_reproduces_an_example(tmp_path: Path) -> None:
    """Of five levels one or, at a half, two come within half a level."""
    system = load_system("maj_eval")
    reproduced = 0
    for level in range(5):
        folder = tmp_path / str(level)
        answered(system, folder, lambda cell, level=level: level / 4 if "MSLR" in str(cell.keys) else 1 + level)
        rows = judge_claims(system, fetch=False, results=folder)
        own = [row for row in rows if row.claim.startswith("table5-runs")]
        assert len(own) == 6
        reproduced += sum(row.verdict == "reproduced" for row in own)
    assert reproduced / (5 * 6) <= 0.25


@pytest.mark.parametrize("name", system_names())
def test_the_published_figures_themselves_are_within_every_tolerance(name: str, tmp_path: Path) -> None:
    system = load_system(name)
    answered(system, tmp_path, lambda cell: cell.value)
    filled = {claim.id for claim in system.claims if claim.kind == "needs-llm" and claim.figures[0].keys}
    rows = [row for row in judge_claims(system, fetch=False, results=tmp_path) if row.claim in filled]
    assert rows
    assert {row.verdict for row in rows} <= {"reproduced", "undecided"}
    decided = [row for row in rows if row.verdict == "reproduced"]
    assert len(decided) > 0.4 * len(rows)


@pytest.mark.slow
@pytest.mark.parametrize("n", [70, 360])
@pytest.mark.parametrize("r", [0.0, 0.5])
def test_standard_errors_of_coefficients(n: int, r: float) -> None:
    """Of 2,000 samples of a bivariate normal; the sd of an sd is 1.6%, the formulas are approximations."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((2000, n))
    y = r * x + np.sqrt(1 - r**2) * rng.standard_normal((2000, n))
    drawn = {
        "pearson": [np.corrcoef(a, b)[0, 1] for a, b in zip(x, y, strict=True)],
        "spearman": [
            np.corrcoef(a, b)[0, 1] for a, b in zip(stats.rankdata(x, axis=1), stats.rankdata(y, axis=1), strict=True)
        ],
        "kendall": [stats.kendalltau(a, b).statistic for a, b in zip(x[:1000], y[:1000], strict=True)],
    }
    for name, values in drawn.items():
        cell = Cell("t", (("coefficient", name),), str(float(np.mean(values))))
        error = own_error({"correlation": n}, Table("t", "", ("coefficient",), (cell,)), cell)
        assert error == pytest.approx(2 * np.std(values), rel=0.1), name


def test_standard_errors_of_means_and_shares() -> None:
    keys = (("theme", "t"), ("method", "m"))
    mean, sd = (Cell("table3", (*keys, ("statistic", one)), text) for one, text in (("mean", "0.8"), ("sd", "0.05")))
    table = Table("table3", "", ("theme", "method", "statistic"), (mean, sd))
    rng = np.random.default_rng(6)
    ours, theirs = (0.8 + 0.05 * rng.standard_normal((20_000, 10)) for _ in range(2))
    gap = np.std(ours.mean(axis=1) - theirs.mean(axis=1))
    assert own_error({"samples": 10}, table, mean) == pytest.approx(2 * gap, rel=0.03)
    gap = np.std(ours.std(axis=1, ddof=1) - theirs.std(axis=1, ddof=1))
    assert own_error({"samples": 10}, table, sd) == pytest.approx(2 * gap, rel=0.06)
    share = Cell("t", (("dataset", "d"), ("statistic", "value")), "40")
    found = own_error({"share": 50}, Table("t", "", ("dataset", "statistic"), (share,)), share)
    assert found == pytest.approx(200 * np.std(rng.binomial(50, 0.4, 100_000) / 50), rel=0.02)


@pytest.mark.parametrize("share", [0.01, 0.1])
def test_standard_errors_of_spreads(share: float) -> None:
    """Scores that a share of 360 items changes by one level in one of three repetitions."""
    rng = np.random.default_rng(7)
    varies = rng.random((2, 4_000, 360)) < share
    spreads = (varies / np.sqrt(3)).mean(axis=2)  # the sd of (0, 0, 1) is 1 / sqrt(3)
    assert np.std([0, 0, 1], ddof=1) == pytest.approx(1 / np.sqrt(3))
    value = share / np.sqrt(3)
    cell = Cell("t", (("criterion", "c"),), f"{value}")
    table = Table("t", "", ("criterion",), (cell,))
    assert own_error({"spread": 360}, table, cell) == pytest.approx(2 * np.std(spreads[0] - spreads[1]), rel=0.05)
    average = Cell("t", (("criterion", "average"),), f"{value}")
    six = (average, *(Cell("t", (("criterion", str(k)),), f"{value}") for k in range(6)))
    found = own_error({"spread": 360}, Table("t", "", ("criterion",), six), average)
    assert found == pytest.approx(own_error({"spread": 360}, table, cell) / np.sqrt(6))


def test_products_of_two_printed_numbers_are_no_claims() -> None:
    for name in system_names():
        for claim in load_system(name).claims:
            if claim.check.get("kind") == "total":
                of = claim.check["of"]
                assert len(of) > 1 or isinstance(of[0], dict), claim.id
