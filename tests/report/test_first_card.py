"""What a page says first is what the checks say; judges who are swayed by position are not simply good."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.errors import InputError
from voirdire.model import Check
from voirdire.report.compare import compare_fits, compare_page
from voirdire.report.figures.rows import rows_comparing_runs
from voirdire.report.fit_page import fit_page
from voirdire.report.output import render_page
from voirdire.report.page import Figure
from voirdire.report.rows_page import rows_page
from voirdire.report.sections.judges import better_than_chance_sentence
from voirdire.report.sources import read_run, save_rows
from voirdire.report.table import Table

VOTES = pd.DataFrame(
    [(j, a, b, min(a, b)) for j in "abc" for a, b in itertools.permutations("uvwx", 2)],
    columns=["judge", "first", "second", "winner"],
)
LABELS = pd.DataFrame({"judge": list("abc") * 4, "item": list("uuuvvvwwwxxx"), "label": list("yyynnnyynnny")})


def plain(title: str) -> str:
    return title.translate({0x2068: None, 0x2069: None})


def test_the_first_card_holds_the_checks_and_nothing_contradicts_them() -> None:
    votes = pd.DataFrame(
        [(j, a, b, a) for j in "abc" for a, b in itertools.combinations(["u", "v", "w", "x", "<y>"], 2)],
        columns=["judge", "first", "second", "winner"],
    )
    fit = voirdire.fit(votes, method="map")
    page = fit_page(fit)
    assert page.tiles[0][0] == "Checks"
    assert page.title == "Report of a judge panel: \u2068u\u2069, \u2068v\u2069, \u2068w\u2069 and 2 more items"
    object.__setattr__(
        fit, "method_checks", (*fit.method_checks, Check("orientation", "fail", 0.5, "It may be turned round."))
    )
    fit.__dict__.pop("all_checks")
    page = fit_page(fit)
    assert page.tiles[0][:2] == ("Checks", "failed")
    assert page.tiles[1] == ("Best item", "\u2068u\u2069", "not to be relied on: checks failed")
    judges = next(section for section in page.sections if section.name == "judges")
    assert judges.blocks[0].text.endswith("But checks failed: see what the checks say before trusting this.")


@pytest.mark.parametrize(
    ("table", "doubt"),
    [(VOTES, "the panel may be wrong as a whole"), (LABELS, "the names of classes may be exchanged")],
)
def test_what_may_be_turned_round_is_said_where_it_is_claimed(table: pd.DataFrame, doubt: str) -> None:
    fit = voirdire.fit(table, method="map")
    object.__setattr__(fit, "method_checks", (Check("orientation", "warn", 0.1, ""),))
    page = fit_page(fit)
    assert page.tiles[1][2] == f"not to be relied on: {doubt}"
    leads = [section.blocks[0] for section in page.sections if section.name in ("best", "classes", "judges")]
    assert all(lead.text.endswith(f"But {doubt}: see what the checks say before trusting this.") for lead in leads)


def test_titles_name_the_data(tmp_path: Path) -> None:
    one, two = (voirdire.fit(VOTES, model=name, method="map") for name in ("bradley-terry", "crowd-bt"))
    title = compare_page(compare_fits({"one": one, "two": two})).title
    assert plain(title) == "Comparison of fits: u, v, w and 1 more items"
    rows = voirdire.agreement(VOTES, resamples=50)
    for settings, about in (({"table": "votes.csv"}, "votes.csv"), ({}, "a, b, c")):
        run = read_run(save_rows(rows, tmp_path / about, "agree", settings))
        assert plain(rows_page(run).title) == f"Agreement of judges: {about}"


def test_runs_that_rank_alike_are_all_seen() -> None:
    """Of marks in one place each is a ring around the next."""
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    rows_comparing_runs(["u"], ["one", "two"], np.ones((1, 2)), None, "rank").draw(ax, slice(None))
    sizes = [line.get_markersize() for line in ax.lines]
    plt.close(ax.figure)
    assert sizes[0] - sizes[1] > 2


def test_no_position_bias_is_claimed_where_one_item_is_always_first() -> None:
    rng = np.random.default_rng(1)
    chosen = rng.random((3, 60)) < np.array([0.5, 0.9, 0.95])[:, None]
    rows = [(j, f"m{k % 6}", chosen[i, k]) for i, j in enumerate("abc") for k in range(60)]
    table = pd.DataFrame(rows, columns=["judge", "second", "winner"]).assign(first="ref")
    table["winner"] = np.where(table["winner"], "first", "second")
    fit = voirdire.fit(table, model="crowd-bt-position", method="laplace")
    page = fit_page(fit)
    assert "swayed" not in render_page(page, "md")
    judges = next(section for section in page.sections if section.name == "judges")
    assert "position" not in [block.name for block in judges.blocks if isinstance(block, Figure)]
    shown = next(block for block in judges.blocks if isinstance(block, Table))
    assert "position_bias" not in [column.key for column in shown.columns]
    assert shown.notes[-1] == "Position bias is left out: ref is always first."
    assert "position_bias" in fit.judges()
    with pytest.raises(InputError, match="cannot be estimated from these data: ref is always first"):
        fit.plot("position")


def test_a_judge_who_is_swayed_by_position_is_said_to_be() -> None:
    good = {"reliability_low": 0.6, "reliability_high": 0.8, "position_bias_low": -0.05, "position_bias_high": 0.08}
    swayed = good | {"position_bias_low": 0.3, "position_bias_high": 0.44}
    assert better_than_chance_sentence([good, swayed]) == "2 better than chance, 1 swayed by position"
    assert better_than_chance_sentence([good, swayed], full_sentence=True) == (
        "2 of 2 judges are better than chance; one judge is swayed by the order in which items are shown "
        "(position bias above 0.1)."
    )
    assert better_than_chance_sentence([good, good]) == "2 better than chance"
