"""Designs: order, start, links."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from voirdire.adaptive.design import MIN_STARTING_QUESTIONS, design_order, linkable_groups, starting_questions


def questions(items: int = 7, judges: str = "abc", contexts: tuple[str, ...] = ()) -> pd.DataFrame:
    rows = []
    for context in contexts or ("",):
        names = [f"{context}{number}" for number in range(items)]
        rows += [(judge, context, *pair) for judge in judges for pair in combinations(names, 2)]
    table = pd.DataFrame(rows, columns=["judge", "context", "first", "second"])
    return table if contexts else table.drop(columns="context")


def test_a_cyclic_design_is_balanced() -> None:
    table = questions(7)
    asked = table.iloc[design_order(table, "cyclic", 3)[:14]]
    # 7 neighbours and 7 that are two apart: every item four times, no pair twice, judges in turn
    assert pd.concat([asked["first"], asked["second"]]).value_counts().tolist() == [4] * 7
    assert not asked.duplicated(["first", "second"]).any()
    assert asked["judge"].value_counts().max() - asked["judge"].value_counts().min() <= 1


@pytest.mark.parametrize("design", ["cyclic", "random"])
def test_a_design_asks_everything_once_and_by_its_seed(design: str) -> None:
    table = questions(6, contexts=("p", "q"))
    one, again, other = (design_order(table, design, seed) for seed in (0, 0, 1))  # type: ignore[arg-type]
    assert sorted(one) == list(range(len(table)))
    assert one.tolist() == again.tolist() != other.tolist()


@pytest.mark.parametrize("design", ["cyclic", "random"])
@pytest.mark.parametrize("seed", range(5))
def test_the_start_links_everything_and_asks_everybody(design: str, seed: int) -> None:
    table = questions(6, "abcd", ("p", "q"))
    groups = linkable_groups(table)
    chosen = table.iloc[starting_questions(table, design_order(table, design, seed))]  # type: ignore[arg-type]
    assert sorted(map(sorted, linkable_groups(chosen))) == sorted(map(sorted, groups))
    assert (chosen["judge"].value_counts()[list("abcd")] >= MIN_STARTING_QUESTIONS).all()
    assert len(chosen) <= 10 + 4 * MIN_STARTING_QUESTIONS


def test_criteria_are_each_linked() -> None:
    table = pd.concat([questions(4).assign(criterion=name) for name in ("style", "facts")], ignore_index=True)
    chosen = table.iloc[starting_questions(table, np.arange(len(table)))]
    for _, part in chosen.groupby("criterion"):
        assert len(linkable_groups(part)) == 1


def test_questions_that_are_alike_are_of_all_judges_in_turn_and_of_all_prompts() -> None:
    """A table of 80 prompts in their order: no pair is asked of one judge alone, or of the first prompts."""
    table = pd.concat([questions(5, "abcd").assign(prompt=prompt) for prompt in range(80)], ignore_index=True)
    asked = table.iloc[design_order(table.drop(columns="prompt"), "cyclic", 1)[:200]]
    share = asked.groupby(["first", "second"])["judge"].value_counts()
    assert len(share) == 10 * 4
    assert (share == 5).all()
    assert 30 < asked["prompt"].mean() < 50
