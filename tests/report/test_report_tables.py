"""Rounding, tables, and names as data in every format."""

from __future__ import annotations

import html
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from voirdire.report.rounding import column_decimals, decimals_of_width, fixed_decimals
from voirdire.report.table import make_table
from voirdire.report.text_formats import escape_latex as tex
from voirdire.report.text_formats import escape_markdown as md
from voirdire.report.text_formats import latex_table, markdown_table


@given(st.floats(1e-5, 1e5))
def test_the_width_keeps_two_significant_digits_and_no_more(width: float) -> None:
    decimals = decimals_of_width(width)
    assert decimals == 0 or 10 <= width * 10**decimals < 100 * (1 + 1e-12)
    if decimals == 0:
        assert width >= 10 * (1 - 1e-12)


def test_a_column_has_the_decimals_of_its_median_width() -> None:
    assert column_decimals([0.03, 0.2, 0.4]) == 2
    assert column_decimals([0.03, 0.03, 0.4]) == 3
    assert column_decimals([None, math.nan, 0.0], [0.5, 0.75]) == 3


@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_a_rounded_number_is_never_minus_zero(value: float, decimals: int) -> None:
    shown = fixed_decimals(value, decimals).replace(",", "")
    assert not re.fullmatch(r"-0(\.0*)?", shown)
    assert math.isclose(float(shown), value, abs_tol=0.5000001 * 10.0**-decimals)


def rows() -> list[dict[str, object]]:
    return [
        {"judge": "ann", "votes": 7, "value": 0.51234, "low": 0.41, "high": 0.62, "note": ""},
        {"judge": "bob", "votes": 2, "value": None, "low": None, "high": None, "note": "no overlap"},
        {"judge": "cyd", "votes": 3, "value": None, "low": None, "high": None, "note": "no overlap"},
    ]


def test_undefined_cells_have_footnotes() -> None:
    made = make_table("t", "A", rows(), note_key="note")
    cells, footnotes = made.table_cells()
    assert [cell.text for cell in cells[0]] == ["ann", "7", "0.51"]
    assert cells[0][2].interval == "[0.41, 0.62]"
    assert [(row[2].text, row[2].footnote) for row in cells] == [("0.51", None), ("–", 1), ("–", 1)]
    assert footnotes == ["no overlap"]
    assert "1. no overlap" in markdown_table(made)
    assert r"\footnotesize $^{1}$ no overlap" in latex_table(made)


def test_whole_numbers_with_a_fractional_interval_are_no_counts() -> None:
    made = make_table("t", "A", [{"item": "a", "score": -1.0, "low": -1.5, "high": -0.5}])
    (cell,) = [row[1] for row in made.table_cells()[0]]
    assert (cell.text, cell.interval) == ("-1.0", "[-1.5, -0.5]")


def test_a_copy_holds_raw_values_of_every_key() -> None:
    names, raw = make_table("t", "A", rows(), note_key="note", drop=("votes",)).raw_values()
    assert names == ["judge", "votes", "value", "low", "high", "note"]
    assert raw[0] == ["ann", 7, 0.51234, 0.41, 0.62, ""]
    assert raw[1][2] is None


def test_a_copy_names_columns_that_have_no_name_of_their_own() -> None:
    rows = [{"item": "a", "c0": 1.5, "c0_low": 1.0, "c0_high": 2.0}]
    made = make_table("t", "A", rows, heads={"c0": "tone"}, names={"c0": "tone", "c0_low": "tone low"})
    assert made.raw_values()[0] == ["item", "tone", "tone low", "c0_high"]
    assert [column.head for column in made.columns] == ["item", "tone"]


def test_a_column_without_a_value_is_left_out_and_named() -> None:
    made = make_table("t", "A", [{"judge": "a", "position_bias": None}, {"judge": "b", "position_bias": math.nan}])
    assert [column.key for column in made.columns] == ["judge"]
    assert made.notes == ("Undefined here, so left out: position bias.",)


def test_unknown_columns_appear_by_themselves() -> None:
    made = make_table("t", "A", [{"judge": "a", "new_thing": 0.5, "new_thing_low": 0.4, "new_thing_high": 0.6}])
    assert [(column.head, column.low) for column in made.columns] == [("judge", None), ("new thing", "new_thing_low")]


@given(st.text(max_size=60))
def test_markdown_cannot_be_broken_out_of(name: str) -> None:
    shown = md(name)
    assert "\n" not in shown
    assert not re.search(r"(?<!\\)(?:\\\\)*[|<>\[\]*_`]", shown)


@pytest.mark.parametrize(
    "name", ["2.5", "1. x", "12) y", "7.6e-07 is it", "&amp;", "&copy; b", "- x", "+1", "=x", ".5", "<b>|c"]
)
def test_markdown_shows_a_name_as_it_is(name: str) -> None:
    shown = MarkdownIt("commonmark").render(md(name))
    assert html.unescape(shown) == f"<p>{name}</p>\n"


@given(st.text(max_size=60))
def test_latex_has_no_open_special(name: str) -> None:
    shown = re.sub(r"\\(?:[a-z]+(?:\{[0-9A-F]*\})?|[{}$%&#_])", "", tex(name), flags=re.IGNORECASE)
    assert not re.search(r"[$%&#_~^\\]", shown.replace("$-$", ""))
    assert shown.count("{") == shown.count("}")


def test_what_rounding_leaves_of_a_score_is_shown_as_zero_and_a_small_p_value_as_it_is() -> None:
    rows = [{"item": "x", "score": 0.52, "p": 0.3}, {"item": "y", "score": -2.8e-14, "p": 7e-14}]
    rows.append({"item": "z", "score": -0.52, "p": 0.2})
    shown = [[cell.text for cell in row] for row in make_table("t", "Items", rows).table_cells()[0]]
    assert [row[1] for row in shown] == ["0.52", "0.00", "-0.52"]
    assert shown[1][2] == "7e-14"
