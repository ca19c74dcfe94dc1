"""Draws of every kind against the probabilities that the kind gives the same answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from voirdire.kinds import kind_of
from voirdire.model import draw_from_prior, load_model
from voirdire_studies.prior_panels import panel_of

DRAWS = 400


def _shares(problem: Any, table: Any) -> np.ndarray:
    """Shares of every answer in a table, whoever gave it."""
    if table.data == "votes":
        return np.asarray(table.counts.sum(axis=0) / table.counts.sum())
    given = problem.answer_codes(table)
    return np.bincount(given, minlength=len(problem.possible)) / len(given)


@pytest.mark.parametrize("name", ["crowd-bt-position", "rating-severity", "joint-severity"])
def test_draws_have_the_probabilities_of_the_kind(name: str) -> None:
    """The mean share of each answer over 400 tables, within 4.5 Monte Carlo errors of the mean probability."""
    panel = panel_of(load_model(name), {"judges": 2, "items": 4, "criteria": 1}, False)
    rng = np.random.default_rng(1)
    _, problem = panel.draw_problem(panel.model, rng)
    values = problem.density.values(draw_from_prior(problem.density, rng), np)
    kind: Any = kind_of(problem)
    tables = [kind.draw(problem, values, rng) for _ in range(DRAWS)]
    for of in ("votes", "scores"):
        part = problem.part(of)
        if part is None:
            continue
        table = part.votes if of == "votes" else part.table
        items = (table.first, table.second) if of == "votes" else (table.item,)
        chance = kind.response_probabilities(problem, values, (table.judge, table.criterion, *items))
        drawn = np.array([_shares(part, getattr(one, of, one)) for one in tables])
        error = np.sqrt((chance * (1 - chance)).sum(axis=0) / DRAWS) / len(chance)  # answers are drawn alone
        assert (np.abs(drawn.mean(axis=0) - chance.mean(axis=0)) < 4.5 * error + 1e-9).all()
        assert drawn.std(axis=0).max() > 0
