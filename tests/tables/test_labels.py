"""Tables of labels: what is read, declared levels, and every problem said at once."""

from __future__ import annotations

import pandas as pd
import pytest

from voirdire.errors import InputError
from voirdire.tables import read_labels, read_table
from voirdire.tables.labels import Labels

TABLE = pd.DataFrame({"judge": ["b", "a", "b"], "item": ["x", "x", "y"], "label": ["yes", "no", "unsure"]})


def test_labels_are_sorted_unless_they_are_declared() -> None:
    plain = read_labels(TABLE)
    assert (plain.labels, plain.label.tolist(), plain.declared) == (("no", "unsure", "yes"), [2, 0, 1], False)
    declared = read_labels(TABLE, levels=["yes", "unsure", "no", "never"])
    assert (declared.labels, declared.label.tolist()) == (("yes", "unsure", "no", "never"), [0, 2, 1])
    assert declared.declared
    again = read_labels(plain, levels=["yes", "unsure", "no"])
    assert again.label.tolist() == [0, 2, 1]
    assert read_labels(plain) is plain
    assert isinstance(read_table(TABLE), Labels)


def test_numbers_are_sorted_by_value() -> None:
    table = TABLE.assign(label=["10", "9", "-1"])
    assert read_labels(table).labels == ("-1", "9", "10")
    assert read_labels(TABLE.assign(label=[10, 9, -1])).labels == ("-1", "9", "10")
    assert read_labels(TABLE.assign(label=[True, False, True])).labels == ("False", "True")


def test_anchors_have_no_judge() -> None:
    assert read_labels(TABLE.drop(columns="judge").iloc[1:], judge="expert").judges == ("expert",)


def test_every_problem_at_once() -> None:
    table = pd.DataFrame({"judge": ["a", "", "c"], "item": ["x", "y", None], "label": ["Yes", "maybe", None]})
    with pytest.raises(InputError) as caught:
        read_labels(table, levels=["no", "yes"])
    assert list(caught.value.problems) == [
        "labels: row 1: label 'Yes' is none of 'no', 'yes'; did you mean 'yes'?",
        "labels: row 2: judge is empty",
        "labels: row 2: label 'maybe' is none of 'no', 'yes'",
        "labels: row 3: item is empty",
        "labels: row 3: label is empty",
    ]


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        (["no", "no", "yes", "unsure"], "levels 'no', 'no', 'yes', 'unsure' name one label twice"),
        (["yes"], "are fewer than two"),
        ([], "are fewer than two"),
        (["no", None, "yes"], "are not all names"),
    ],
)
def test_levels_are_checked(levels: list[object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_labels(TABLE, levels=levels)


def test_empty_tables() -> None:
    with pytest.raises(InputError, match="there are no labels"):
        read_labels(TABLE.iloc[:0])
    with pytest.raises(InputError, match="column 'label' is missing"):
        read_labels(TABLE.drop(columns="label"))


def test_published_table(shared) -> None:
    labels = read_labels(shared / "data" / "dices350_labels.csv")
    assert (labels.rows, len(labels.judges), len(labels.items)) == (43_050, 123, 350)
    expert = read_labels(shared / "data" / "dices350_expert.csv", judge="expert")
    assert (expert.rows, expert.labels) == (350, ("No", "Yes"))
