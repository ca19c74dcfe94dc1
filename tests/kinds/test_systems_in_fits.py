"""Fits of systems over contexts say of systems what others say of items: container, first place, pages, screen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.errors import InputError
from voirdire.report.figure_blocks import figure_blocks
from voirdire.report.fit_page import fit_page
from voirdire.report.page import Text
from voirdire.report.table import Table


def favoured(kind: str, judges: tuple[str, ...] = ("fan", "ann", "ben")) -> pd.DataFrame:
    """Three systems of which the last is a little better, but for one judge who loves the first, and says much."""
    rng = np.random.default_rng(4)
    worth = rng.normal(size=(25, 3))
    rows = []
    for judge in judges:
        liked = np.array([3.0, 0.0, 0.0]) if judge == "fan" else np.array([0.0, 0.1, 0.9])
        for context in range(25):
            for place, system in enumerate(("anvil", "brick", "cedar")):
                y = worth[context, place] + liked[place] + 0.4 * rng.normal()
                rows.append((judge, f"c{context}", system, y))
    table = pd.DataFrame(rows, columns=["judge", "context", "system", "y"])
    if kind == "scores":
        return table.assign(score=np.clip(np.round(3 + table.pop("y")), 1, 5).astype(int))
    return table.assign(label=np.where(table.pop("y") > 0.5, "right", "wrong"))


HOW: dict[str, dict[str, Any]] = {"scores": {"levels": [1, 2, 3, 4, 5]}, "labels": {"positive": "right"}}


@pytest.fixture(scope="module", params=["scores", "labels"])
def fit(request: pytest.FixtureRequest) -> Any:
    table = favoured(request.param, ("ann", "ben", "cleo"))
    return voirdire.fit(table, method="laplace", about="panel", **HOW[request.param])


def test_the_container_has_what_the_table_of_systems_shows(fit: Any) -> None:
    posterior, found = fit.idata.posterior, fit.systems().set_index("system")
    assert posterior["system_score"].dims == ("chain", "draw", "system")
    near = found["sd"].max() / 10
    for name, row in found.iterrows():
        drawn = posterior["system_score"].sel(system=name)
        assert float(drawn.median()) == pytest.approx(row["score"], abs=near)
        assert float(drawn.std()) == pytest.approx(row["sd"], rel=0.12)
    assert posterior["system_score"].attrs["units"] == fit.kind.unit(fit.problem)
    if "system_share" in posterior:
        assert np.allclose(posterior["system_share"].sum("class"), 1.0)
        assert np.allclose(posterior["system_share"].sel({"class": "right"}), posterior["system_score"])


@pytest.mark.slow
def test_each_draw_of_a_system_goes_with_the_draw_of_the_fit() -> None:
    """Shares are of the draw that they stand beside: where right answers are common, systems have more."""
    posterior = voirdire.fit(favoured("labels", ("ann", "ben", "cleo")), method="laplace").idata.posterior
    of_all = posterior["class_share"].sel({"class": "right"}).to_numpy().ravel()
    of_systems = posterior["system_score"].mean("system").to_numpy().ravel()
    assert np.corrcoef(of_all, of_systems)[0, 1] > 0.2


def test_a_fit_without_systems_has_none_in_the_container() -> None:
    table = favoured("scores").drop(columns="context").groupby(["judge", "system"], as_index=False).first()
    found = voirdire.fit(table.rename(columns={"system": "item"}), method="laplace", levels=[1, 2, 3, 4, 5]).idata
    assert "system_score" not in found.posterior


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["scores", "labels"])
def test_the_judge_on_whom_the_first_system_hangs_is_named_as_a_fit_without_it_says(kind: str) -> None:
    table = favoured(kind)
    how = {"method": "laplace", "about": "panel", **HOW[kind]}
    if kind == "labels":
        how["model"] = "dawid-skene-pooled"  # all judges are trusted alike, so that the loud one is
    whole = voirdire.fit(table, **how)
    rest = voirdire.fit(table[table["judge"] != "fan"], **how)
    first = [one.systems()["system"].iloc[0] for one in (whole, rest)]
    assert first == ["anvil", "cedar"]
    said = whole.checks().set_index("check").loc["influence", "message"]
    assert "Which system is ranked first" in said
    assert "without fan it is cedar" in said
    assert "without ann" not in said
    even = voirdire.fit(table[table["judge"] != "fan"], **how).checks().set_index("check")
    assert "No single judge decides which system is first" in even.loc["influence", "message"]


def test_the_page_is_titled_by_systems_and_begins_with_them(fit: Any) -> None:
    page = fit_page(fit)
    order = fit.systems()["system"].tolist()
    title = page.title.replace("\u2068", "").replace("\u2069", "")
    assert title == f"Report of a judge panel: {', '.join(order)}"
    best = page.sections[0]
    assert best.title == "What is best?"
    lead = next(block.text for block in best.blocks if isinstance(block, Text))
    assert "3 systems" in lead or "systems share" in lead
    tables = [block for section in page.sections for block in section.blocks if isinstance(block, Table)]
    of_systems = [one for one in tables if any("system" in row for row in one.records)]
    assert [one.name for one in of_systems] == ["systems"]
    heads = [column.head for column in of_systems[0].columns]
    assert any(head.startswith("score (") and fit.kind.unit(fit.problem) in head for head in heads)
    assert ("Best system", order[0]) in [
        (tile[0], tile[1].replace("\u2068", "").replace("\u2069", "")) for tile in page.tiles
    ]


def test_systems_are_drawn(fit: Any) -> None:
    import matplotlib.pyplot as plt

    ax = fit.plot("systems")
    assert [text.get_text() for text in ax.get_yticklabels()] == fit.systems()["system"].tolist()
    assert ax.get_xlabel() == f"score ({fit.kind.unit(fit.problem)})"
    plt.close(ax.figure)


def test_figures_of_systems_are_refused_where_there_are_none() -> None:
    votes = pd.DataFrame({"judge": "a", "first": ["x"] * 3, "second": "y", "winner": ["x", "x", "y"]})
    fit = voirdire.fit(votes, model="bradley-terry")
    with pytest.raises(InputError, match="systems"):
        fit.plot("systems")
    (said,) = figure_blocks(fit, "systems", "Systems", "")
    assert isinstance(said, Text)
    unknown = voirdire.fit(favoured("labels").replace({"right": "north", "wrong": "south"}), method="laplace")
    with pytest.raises(InputError, match="not known which class is better"):
        unknown.plot("systems")


def test_ranks_of_systems_in_json_are_the_decisions(fit: Any) -> None:
    found, ranks = fit.as_dict(), fit.decide().ranks
    assert {name: tuple(ends) for name, ends in found["decision"]["ranks"].items()} == ranks
    of_each = fit.systems()[["system", "rank_low", "rank_high"]].to_numpy().tolist()
    assert [[row["system"], row["rank_low"], row["rank_high"]] for row in found["systems"]] == of_each
    assert not any("rank_low" in row for row in found["items"] if "label" in row)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["scores", "labels"])
def test_the_screen_has_a_table_of_systems(kind: str, tmp_path: Path) -> None:
    favoured(kind).to_csv(tmp_path / "table.csv", index=False)
    words = ["fit", str(tmp_path / "table.csv"), "--method", "laplace"]
    words += ["--levels", "1,2,3,4,5"] if kind == "scores" else ["--positive", "right"]
    shown = CliRunner().invoke(app, words).stdout
    assert "Systems, best first" in shown
    found = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    ranks = found["decision"]["ranks"]
    part = shown[shown.index("Systems, best first") :].split("\n\n")[0]
    for name, (low, high) in ranks.items():
        line = next(one for one in part.splitlines() if name in one)
        assert (str(low) if low == high else f"{low} to {high}") in line
