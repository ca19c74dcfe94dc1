"""One problem and a few points per model file and kind of table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from voirdire.problem import pose
from voirdire.specs import load_model, model_names
from voirdire.tables.votes import read_votes

ITEMS, CRITERIA, JUDGES = ["w", "x", "y", "z"], ["clear", "kind", "true"], ["ann", "bob", "cem"]


def random_rows(names: list[str], judges: list[str], count: int, ties: bool, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, len(names), count)
    second = (first + rng.integers(1, len(names), count)) % len(names)
    outcomes = ["first", "second", "tie"] if ties else ["first", "second"]
    return pd.DataFrame(
        {
            "judge": rng.choice(judges, count),
            "criterion": rng.choice(CRITERIA, count),
            "first": np.array(names)[first],
            "second": np.array(names)[second],
            "winner": rng.choice(outcomes, count),
        }
    )


class Case:
    """A model posed to a random table: repeated votes, both orders, and a judge who votes on criteria alone."""

    def __init__(self, name: str, ties: bool) -> None:
        self.name, self.ties, self.model = name, ties, load_model(name)
        self.votes = random_rows(ITEMS, JUDGES, 70, ties, seed=1)
        self.on_criteria = random_rows(CRITERIA, [*JUDGES, "dot"], 25, ties, seed=2).drop(columns="criterion")
        self.new_votes = random_rows(ITEMS, JUDGES, 40, ties, seed=5)
        given = read_votes(self.on_criteria) if self.model.criteria == "separate" else None
        self.problem = pose(self.model, read_votes(self.votes), given)
        self.program = self.problem.program
        rng = np.random.default_rng(3)
        # two ordinary points, a wide one with near-certain coins, and the origin
        self.points = [rng.normal(size=self.program.size) * scale for scale in (1.0, 1.0, 2.0, 0.0)]

    def values(self, x: np.ndarray) -> dict[str, Any]:
        return self.program.values(x, np)

    def log_likelihood(self, values: dict[str, Any]) -> float:
        return float(self.program.log_likelihood(values, self.problem.data, np))


@pytest.fixture(
    scope="module",
    params=[(name, ties) for name in model_names() for ties in (False, True)],
    ids=lambda param: f"{param[0]}-{'ties' if param[1] else 'decided'}",
)
def case(request: pytest.FixtureRequest) -> Case:
    return Case(*request.param)


@pytest.fixture(scope="session")
def make_case() -> Callable[[str, bool], Case]:
    return Case
