"""Scales of scores, and tables that do not fit them: every problem is named, all at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.kinds import encode_scores
from voirdire.kinds.scores.scale import Scale, continuous_scale, ordinal_scale
from voirdire.model import load_model
from voirdire.tables import read_scores
from voirdire.tables.problems import Problems


def table(scores: list[Any], **more: Any) -> pd.DataFrame:
    count = len(scores)
    judges = [f"judge-{row % 2}" for row in range(count)]
    items = [f"item-{row // 2}" for row in range(count)]
    return pd.DataFrame({"judge": judges, "item": items, "score": scores} | more)


def refused(frame: pd.DataFrame, model: str = "rating-severity", **request: Any) -> list[str]:
    with pytest.raises(voirdire.InputError) as caught:
        voirdire.fit(frame, model=model, method="map", **request)
    return list(caught.value.problems)


def test_the_scale_is_the_whole_numbers_between_the_ends() -> None:
    found = ordinal_scale(np.array([3.0, 1.0, 5.0]), None, Problems("scores"))
    assert found == Scale((1.0, 2.0, 3.0, 4.0, 5.0))
    assert ordinal_scale(np.array([0.0, 1.5]), ["0", "1.5", "3"], Problems("scores")) == Scale((0.0, 1.5, 3.0))
    assert continuous_scale(np.array([0.2, 0.7]), None, Problems("scores")) == Scale((0.2, 0.7))
    assert continuous_scale(np.array([0.2, 0.7]), [0, 0.5, 1], Problems("scores")) == Scale((0.0, 1.0))


def test_scores_outside_the_scale() -> None:
    found = refused(table([1, 2, 6, 2, 0, 6]), levels=[1, 2, 3, 4, 5])
    assert found == [
        "scores: rows 3 and 6: score 6 is outside the scale 1, 2, 3, 4, 5",
        "scores: row 5: score 0 is outside the scale 1, 2, 3, 4, 5",
    ]
    assert refused(table([1, 3, 5, 2]), levels=[1, 3, 5]) == [
        "scores: row 4: score 2 is none of the levels 1, 3, 5; name all levels, or take "
        "rating-continuous (model=..., --model)"
    ]


def test_scales_that_are_none() -> None:
    assert refused(table([3, 3, 3, 3])) == [
        "scores: every score is 3, and a scale has two levels at least; name its levels (levels=..., --levels)"
    ]
    assert refused(table([1, 2, 1, 2]), levels=[1]) == [
        "scores: the scale has one level, 1; name two levels at least (levels=..., --levels)"
    ]
    assert refused(table([1, 2, 1, 2]), levels=["low", "high"]) == [
        "scores: level 'low' is not a number; the levels of a scale of scores are numbers",
        "scores: level 'high' is not a number; the levels of a scale of scores are numbers",
    ]
    assert refused(table([0, 100, 50, 70])) == [
        "scores: scores go from 0 to 100 (row 2); name the scale's levels (levels=..., --levels), or take "
        "rating-continuous (model=..., --model)"
    ]


@pytest.mark.parametrize("levels", [None, [0, 100]])
def test_whole_scores_of_many_values_are_of_a_continuous_scale(levels: list[int] | None) -> None:
    """Scores from 0 to 100 need no levels, and doctor calls such a table ready for a fit."""
    frame = table(list(range(3, 93, 3)))
    found = voirdire.fit(frame, method="map", levels=levels)
    assert found.model.name == "rating-continuous"
    assert any("scores of more than 13 different numbers" in note for note in found.notes)
    assert found.problem.scale.levels == ((0, 100) if levels else (3, 90))
    found = voirdire.fit(frame, method="map", levels=levels, anchors=frame.head(20).drop(columns="judge"))
    assert found.model.name == "rating-continuous"


def test_scores_between_the_levels_are_refused() -> None:
    assert refused(table([1, 2.5, 3, 2.5])) == [
        "scores: rows 2 and 4: score 2.5 is not a whole number; name the scale's levels (levels=..., --levels), "
        "or take rating-continuous (model=..., --model)"
    ]


def test_items_without_a_score_and_judges_of_two_groups_are_named_together() -> None:
    frame = table([1, 2, 3, 9, 2, 2], criterion=["a", "a", "a", "a", "b", "b"], group=list("gghggg"))
    assert refused(frame, levels=[1, 2, 3]) == [
        "scores: item 'item-2' has no score under criterion 'a'; score every item, or leave it out",
        "scores: item 'item-0' and 1 more items have no score under criterion 'b'; score every item, or leave it out",
        "scores: row 3: judge 'judge-0' is of group 'h' here and of group 'g' before; give judges of different groups "
        "different names",
        "scores: row 4: score 9 is outside the scale 1, 2, 3",
    ]


def test_judges_of_no_group() -> None:
    """Tables may hold judges without a group (a panel beside its members); a fit has to know what they are."""
    some = table([1, 2, 2, 1], group=["g", "g", "", ""], judge=["a", "a", "b", "b"], item=["x", "y"] * 2)
    assert read_scores(some).group.tolist() == [0, 0, -1, -1]
    assert refused(some) == [
        "scores: judge 'b' is of no group, but others are of one; name it, or leave out the column"
    ]
    none = some.assign(group=None)
    assert encode_scores(load_model("rating-severity"), read_scores(none)).groups == ("all",)


def test_what_other_tables_take_is_refused() -> None:
    frame = table([1, 2, 2, 1])
    assert refused(frame, classes=["1"]) == ["classes= is not for tables of scores; leave it out"]
    assert refused(frame, model="maple") == [
        "model maple is for votes, but the table has scores; take "
        + ", ".join(name for name in voirdire.models() if load_model(name).data == "scores")
    ]


def test_the_cost_follows_distinct_answers() -> None:
    model = load_model("rating-severity")
    frame = pd.concat([table([1, 2, 3, 1])] * 50)
    counted = encode_scores(model, read_scores(frame)).data["scores"]
    assert len(counted["weight"]) == 4
    assert counted["counts"].sum() == 200
    once = encode_scores(model, read_scores(table([1, 2, 3, 1]))).data["scores"]
    assert once["weight"].tolist() == [1.0] * 4
