"""What is measured in points says so everywhere, and answers that are no votes are not called votes."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app


@pytest.fixture(scope="module")
def marks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Marks from 0 to 100 by three judges on five items, under two criteria."""
    rng = np.random.default_rng(0)
    rows = [
        (judge, item, criterion, round(float(np.clip(60 + 6 * n + 4 * k + rng.normal(0, 5), 1, 99)), 1))
        for k, judge in enumerate("abc")
        for n, item in enumerate("vwxyz")
        for criterion in ("depth", "style")
    ]
    path = tmp_path_factory.mktemp("marks") / "scores.csv"
    pd.DataFrame(rows, columns=["judge", "item", "criterion", "score"]).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("model", ["rating-continuous", "mean-score"])
def test_points_are_named_in_every_table_figure_and_page(marks: Path, tmp_path: Path, model: str) -> None:
    fit = voirdire.fit(marks, model=model, method="map", levels=[0, 100])
    page = fit.report(tmp_path / "report.html").read_text()
    seen = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.S)
    assert "log-odds" not in seen
    assert "score (points)" in seen
    assert "<th>score (points)</th>" in fit._repr_html_()
    with plt.rc_context():
        assert fit.plot("ranking").get_xlabel() == "score (points)"
        key = fit.plot("strengths").child_axes[0]
    low, middle, high = (text.get_text() for text in key.get_xticklabels())
    assert (float(low) < 50, middle, float(high) > 60) == (True, "50", True)  # the middle of the scale
    assert float(low) + float(high) == pytest.approx(100, abs=0.11)
    plt.close("all")
    done = CliRunner().invoke(app, ["fit", str(marks), "--model", model, "--method", "map", "--levels", "0,100"])
    assert re.search(r"^ *rank +item +points", done.stdout, re.M)
    # what the command calls its columns is not what tables have from then on
    assert "severity (points)" not in fit.judges()
    assert fit.kind.heading == {"votes": "answers"}


def test_answers_that_are_no_votes_are_called_answers(marks: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    pd.DataFrame(
        [(judge, item, "yes" if item < "d" else "no") for judge in "uvw" for item in "abcdef"],
        columns=["judge", "item", "label"],
    ).to_csv(labels, index=False)
    stars = pd.read_csv(marks).assign(score=lambda rows: (rows["score"] // 10).astype(int))
    stars.to_csv(tmp_path / "stars.csv", index=False)
    for table, model in ((tmp_path / "stars.csv", "rating-discrimination"), (labels, "hierarchical-dawid-skene")):
        done = CliRunner().invoke(app, ["fit", str(table), "--model", model, "--method", "map"])
        assert re.search(r"^ *judge +answers ", done.stdout, re.M), done.stdout
        assert "votes" not in done.stdout
        page = voirdire.fit(table, model=model, method="map").report(tmp_path / f"{model}.md").read_text()
        assert re.search(r"judge \|( group \|)? answers", page)
