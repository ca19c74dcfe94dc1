"""Counting a panel's answers by comparison, and how many of them people find right."""

from __future__ import annotations

import numpy as np
import pandas as pd

from voirdire.kinds import read_anchors
from voirdire.kinds.votes.comparisons import collect_comparisons, decided_comparisons, right_and_wrong
from voirdire.tables import read_votes

ROWS = [("a", "x", "y", "x"), ("a", "y", "x", "x"), ("a", "z", "w", "tie"), ("b", "y", "x", "y"), ("b", "w", "z", "z")]
VOTES = read_votes(pd.DataFrame(ROWS, columns=["judge", "first", "second", "winner"]))


def test_counts_by_order_shown() -> None:
    found = collect_comparisons(VOTES, criteria=False)
    assert [(VOTES.items[i], VOTES.items[j]) for i, j in zip(found.item_a, found.item_b, strict=True)] == [
        ("w", "z"),
        ("x", "y"),
    ]
    a, b = found.counts
    assert a[1].tolist() == [[1, 0, 0], [1, 0, 0]]  # x first: x; y first: x
    assert a[0].tolist() == [[0, 0, 0], [0, 0, 1]]
    assert b[1].tolist() == [[0, 0, 0], [0, 1, 0]]
    np.testing.assert_array_equal(found.mean_answers, [[0, 1], [-1, -1]])


def test_right_and_wrong_by_position_of_the_better_item() -> None:
    """People prefer y to x and z to w: judge a is wrong in both orders, b right in either."""
    people = pd.DataFrame([("x", "y", "y"), ("z", "w", "z")], columns=["first", "second", "winner"])
    found = collect_comparisons(VOTES, criteria=False)
    rows, answers = decided_comparisons(found, read_anchors(people, VOTES), criteria=False)
    assert rows.tolist() == [0, 1]
    assert answers.tolist() == [-1, -1]
    right, wrong = right_and_wrong(found, rows, answers)
    assert right.tolist() == [[0, 0], [1, 1]]
    assert wrong.tolist() == [[1, 1], [0, 0]]


def test_ties_of_people_teach_nothing() -> None:
    people = pd.DataFrame([("x", "y", "tie")], columns=["first", "second", "winner"])
    rows, _ = decided_comparisons(
        collect_comparisons(VOTES, criteria=False), read_anchors(people, VOTES), criteria=False
    )
    assert len(rows) == 0
