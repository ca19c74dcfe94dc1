"""Whole numbers as labels: grades where their order predicts labels left out, else names of classes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.kinds import Request
from voirdire.kinds.labels.default import order_predicts_better
from voirdire.kinds.labels.kind import LABELS
from voirdire.tables import read_labels

Simulated = Callable[..., tuple[pd.DataFrame, Any]]
UNORDERED, ORDERED = "hierarchical-dawid-skene", "ordered-labels"


def chosen(table: pd.DataFrame, **levels: Any) -> tuple[str, str]:
    return LABELS.default_model(read_labels(table, **levels), Request())


@pytest.mark.slow
@pytest.mark.parametrize("how", [{}, {"classes": 3}, {"classes": 6, "items": 150}, {"judges": 8, "per": 8}])
@pytest.mark.parametrize("seed", range(6))
def test_numbers_that_name_classes_are_no_grades(seed: int, how: dict[str, Any], crowd: Simulated) -> None:
    table, _ = crowd(seed, **how)
    model, why = chosen(table)
    assert model == UNORDERED
    levels = ",".join(str(label + 1) for label in range(how.get("classes", 4)))
    assert why == (
        "the table has labels; its labels are whole numbers, and taken as grades they do not predict labels left out "
        f"better (--levels {levels} says that they are grades)"
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("how", [{}, {"levels": 6}, {"judges": 30, "per": 12, "noise": 0.6}])
def test_grades_are_taken_for_grades(seed: int, how: dict[str, Any], graders: Simulated) -> None:
    table, _ = graders(seed, **how)
    model, why = chosen(table)
    assert model == ORDERED
    assert "predict labels left out better (--model hierarchical-dawid-skene" in why


def test_what_was_said_is_not_tried(crowd: Simulated, graders: Simulated) -> None:
    """Levels that are given are grades, classes that are given are classes, and words are never grades."""
    table, _ = crowd(0)
    assert chosen(table, levels=[1, 2, 3, 4]) == (ORDERED, "the levels of its labels were given in their order")
    graded, _ = graders(0)
    named = graded.assign(label=graded["label"].map(dict(enumerate("abcd"))))
    assert chosen(named) == (UNORDERED, "the table has labels")
    request = Request(classes=["0", "1", "2", "3"])
    assert LABELS.default_model(read_labels(graded), request)[0] == UNORDERED
    two = graded.assign(label=(graded["label"] > 1).astype(int))
    assert chosen(two) == (UNORDERED, "the table has labels")


def test_the_choice_does_not_hang_on_the_order_of_rows(graders: Simulated) -> None:
    table, _ = graders(1, items=60, per=4, noise=0.5)
    turned = table.sample(frac=1.0, random_state=3)
    assert chosen(table) == chosen(turned)


@pytest.mark.parametrize("rows", [[("a", "x", 1), ("b", "y", 2), ("c", "z", 3)], [("a", "x", n) for n in (1, 2, 3)]])
def test_of_few_labels_nothing_is_clear(rows: list[tuple[str, str, int]]) -> None:
    assert not order_predicts_better(read_labels(pd.DataFrame(rows, columns=["judge", "item", "label"])))


def test_little_is_lost_where_grades_are_not_told(graders: Simulated) -> None:
    """Sparse grades: whichever model is taken, items are called right as often, up to noise (4 tables of 150 items)."""
    right: dict[str, list[float]] = {"default": [], ORDERED: []}
    for seed in range(4):
        table, value = graders(seed, judges=20, items=150, per=3, levels=4)
        grade = np.searchsorted(np.quantile(value, [0.25, 0.5, 0.75]), value)
        for model in right:
            how = {} if model == "default" else {"model": model}
            found = voirdire.fit(table, method="map", **how).classes().sort_values("item")
            right[model].append(float((found["label"].astype(int) == grade).mean()))
    assert np.mean(right["default"]) > np.mean(right[ORDERED]) - 0.03


def test_breeds_are_classes(shared: Path) -> None:
    """Breeds of dogs, named 1 to 4, by workers who are no families."""
    table = pd.read_csv(shared / "data" / "dogs_labels.csv")
    gold = pd.read_csv(shared / "data" / "dogs_gold.csv")
    number = {f"c{n}": n + 1 for n in range(4)}
    for names in (number, {one: one for one in number}):
        fit = voirdire.fit(table.assign(label=table["label"].map(names)), method="map")
        assert fit.model.name == UNORDERED
        assert not any("Families found" in note for note in fit.notes)
        found = fit.accuracy(gold.assign(label=gold["label"].map(names)), resamples=100)
        assert found.set_index("measure").loc["accuracy", "value"] >= 0.835


def test_grades_of_relevance_are_grades(shared: Path) -> None:
    table = pd.read_csv(shared / "data" / "llmjudge_dev_labels.csv", usecols=["judge", "item", "label"])
    assert order_predicts_better(read_labels(table))
