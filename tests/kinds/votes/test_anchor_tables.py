"""Reading anchors and families: what is wrong is named, what cannot be used is said."""

from __future__ import annotations

import pandas as pd
import pytest

import voirdire
from voirdire.errors import InputError
from voirdire.kinds import read_anchors
from voirdire.tables import Votes, read_votes
from voirdire.tables.families import family_codes, read_families


def frame(*rows: tuple[str, ...], columns: tuple[str, ...] = ("first", "second", "winner")) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=list(columns))


@pytest.fixture
def panel() -> Votes:
    rows = [("a", "x", "y", "x"), ("b", "y", "z", "z"), ("a", "z", "x", "x")]
    return read_votes(frame(*rows, columns=("judge", "first", "second", "winner")))


def test_anchors_are_coded_as_the_panel_s_votes(panel: Votes) -> None:
    anchors = read_anchors(frame(("z", "y", "second"), ("x", "z", "tie")), panel)
    assert anchors.votes.items == panel.items == ("x", "y", "z")
    assert anchors.votes.first.tolist() == [0, 2]
    assert anchors.votes.counts.tolist() == [[0, 0, 1], [0, 1, 0]]
    assert anchors.count == 2
    assert not anchors.overall
    assert anchors.notes == ()


def test_items_that_no_judge_saw_are_reported_and_left_out(panel: Votes) -> None:
    anchors = read_anchors(frame(("x", "y", "x"), ("x", "yy", "x"), ("q", "r", "q")), panel)
    assert anchors.count == 1
    assert "2 anchors are about items that no judge has seen ('q', 'r', 'yy'" in anchors.notes[0]
    with pytest.raises(InputError, match=r"all 1 anchor is about an item that no judge has seen \('q', 'r'"):
        read_anchors(frame(("q", "r", "q")), panel)


def test_pairs_that_no_judge_saw_inform_strengths_only() -> None:
    votes = frame(("a", "x", "y", "x"), ("a", "y", "z", "y"), columns=("judge", "first", "second", "winner"))
    anchors = read_anchors(frame(("x", "z", "x")), read_votes(votes))
    assert "1 anchors are on pairs that no judge has seen" in anchors.notes[0]


def test_answers_under_no_criterion_are_about_the_whole(panel: Votes) -> None:
    votes = frame(("a", "x", "y", "x", "style"), columns=("judge", "first", "second", "winner", "criterion"))
    several = pd.concat([votes, votes.assign(criterion="facts")])
    assert read_anchors(frame(("x", "y", "x")), read_votes(several)).overall
    assert not read_anchors(frame(("x", "y", "x")), read_votes(votes)).overall  # one criterion is the whole
    named = frame(("x", "y", "x", "style"), columns=("first", "second", "winner", "criterion"))
    assert not read_anchors(named, read_votes(votes)).overall
    with pytest.raises(InputError, match="criterion 'styl' is none of the 1 known ones; did you mean 'style'"):
        read_anchors(named.assign(criterion="styl"), read_votes(votes))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (frame(("x", "y", "x"), ("y", "x", "y")), "the pair 'x', 'y' is answered both ways; keep one answer"),
        (frame(("x", "y", "w")), "winner 'w' is neither"),
        (frame(("x", "y"), columns=("first", "second")), "column 'winner' is missing"),
    ],
)
def test_faults_are_named(panel: Votes, table: pd.DataFrame, message: str) -> None:
    with pytest.raises(InputError) as error:
        read_anchors(table, panel)
    assert any(message in problem for problem in error.value.problems)


@pytest.mark.parametrize("answer", ["winner", "score", "label", "rank"])
def test_a_column_judge_says_who_answered_as_person_does(answer: str) -> None:
    if answer == "winner":
        table = frame(("x", "y", "x"), ("y", "z", "y"), ("x", "z", "z"))
    else:
        table = pd.DataFrame({"item": ["x", "y", "z"], answer: [1, 2, 3]})
    panel = pd.concat([table.assign(judge=name) for name in "abc"])
    people = pd.concat([table.assign(person=name) for name in ("ann", "bob")])
    known = voirdire.fit(panel, anchors=people, method="map")
    said = voirdire.fit(panel, anchors=people.rename(columns={"person": "judge"}), method="map")
    assert said.as_dict()["items"] == known.as_dict()["items"]
    assert "anchors: column 'judge' says who answered; it is read as 'person'." in said.notes
    both = voirdire.fit(panel, anchors=people.assign(judge="form"), method="map")
    assert both.as_dict()["items"] == known.as_dict()["items"]
    assert "anchors: column 'judge' is left out, as 'person' says who answered." in both.notes


def test_families_from_a_mapping_or_a_table(tmp_path) -> None:
    expected = {"a": "big", "b": "b", "c": "big"}
    assert read_families({"a": "big", "c": "big"}, "abc") == expected
    table = frame(("a", "big"), ("c", "big"), columns=("judge", "family"))
    assert read_families(table, "abc") == expected
    table.to_csv(tmp_path / "families.csv", index=False)
    assert read_families(tmp_path / "families.csv", "abc") == expected
    assert family_codes(expected, "abc").tolist() == [1, 0, 1]


def test_all_faults_of_families_at_once() -> None:
    table = frame(("a", "big"), ("a", "small"), ("d", "big"), columns=("judge", "family"))
    with pytest.raises(InputError) as error:
        read_families(table, ["a", "b"])
    assert len(error.value.problems) == 2
    with pytest.raises(InputError, match="int is neither a mapping of judge to family nor a table"):
        read_families(3, ["a"])
