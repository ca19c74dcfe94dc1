"""Designs of votes and scores give what the densities of their models do, term by term, whatever the table has."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
import pytest

from voirdire import InputError
from voirdire.kinds import Request, find_kind
from voirdire.model import load_model, model_names
from voirdire.tables import read_rankings, read_scores, read_votes

VOTES, ITEMS = 240, 5
PEOPLE = pd.DataFrame({"first": ["i0", "i1", "i3"], "second": ["i2", "i3", "i4"], "winner": ["first", "second", "tie"]})


def votes(*columns: str) -> pd.DataFrame:
    """Votes with ties, and with the columns named."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, ITEMS, VOTES)
    second = (first + rng.integers(1, ITEMS, VOTES)) % ITEMS
    table = {
        "judge": [f"j{k}" for k in rng.integers(0, 4, VOTES)],
        "first": [f"i{k}" for k in first],
        "second": [f"i{k}" for k in second],
        "winner": rng.choice(["first", "second", "tie"], VOTES),
    }
    more = {
        "context": [f"c{k}" for k in rng.integers(0, 6, VOTES)],
        "criterion": [f"k{k}" for k in rng.integers(0, 3, VOTES)],
        "length_first": rng.random(VOTES),
        "length_second": rng.random(VOTES),
    }
    return pd.DataFrame(table | {name: more[name] for name in columns})


def scores(criteria: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = [(f"j{k}", f"i{i}", f"k{c}") for k in range(4) for i in range(8) for c in range(criteria)]
    table = pd.DataFrame(rows, columns=["judge", "item", "criterion"])
    table = table.assign(score=rng.integers(1, 6, len(rows)), group=np.where(table["judge"] == "j0", "g", "h"))
    return table if criteria > 1 else table.drop(columns="criterion")


TABLES: dict[str, dict[str, tuple[pd.DataFrame, dict[str, Any]]]] = {
    "votes": {
        "plain": (votes(), {}),
        "contexts": (votes("context"), {}),
        "criteria in contexts": (votes("criterion", "context"), {}),
        "covariates": (votes("length_first", "length_second"), {"covariates": ["length"]}),
        "people": (votes(), {"anchors": PEOPLE}),
        "people in contexts": (votes("context"), {"anchors": PEOPLE.assign(context=["c0", "c1", "c2"])}),
        "people of the whole": (votes("criterion"), {"anchors": PEOPLE}),
        "votes on criteria": (
            votes("criterion"),
            {"criteria": pd.DataFrame({"judge": "j0", "first": ["k0", "k1"], "second": "k2", "winner": "first"})},
        ),
    },
    "scores": {
        "one criterion": (scores(1), {}),
        "criteria": (scores(3), {}),
        "families": (scores(1), {"families": {"j0": "f", "j1": "f"}}),
        "people": (scores(3), {"anchors": pd.DataFrame({"item": ["i0", "i1"], "criterion": "k0", "score": [2, 5]})}),
    },
}
TABLES["rankings"] = {
    "rankings": (
        pd.DataFrame(
            [
                (f"j{n % 4}", f"c{n % 6}", f"i{i}", rank)
                for n in range(60)
                for rank, i in enumerate(np.random.default_rng(n).permutation(ITEMS)[: 2 + n % 3])
            ],
            columns=["judge", "context", "item", "rank"],
        ).assign(run=lambda rows: (rows["rank"] == 0).cumsum()),
        {},
    )
}
CASES = [(data, table) for data, tables in TABLES.items() for table in tables]


def encoded(data: str, table: str) -> list[Any]:
    """The problems of the models that learn spreads and take the table."""
    rows, how = TABLES[data][table]
    request, found = Request(**how), []
    readers = {"scores": read_scores, "rankings": read_rankings}
    read = read_votes(rows, keep=request.columns) if data == "votes" else readers[data](rows)
    for model in map(load_model, model_names()):
        if model.data == data:
            with suppress(InputError):  # a model that has no section for what the table has
                found.append(find_kind(data).encode_table(model, read, request)[0])
    return [problem for problem in found if problem.density.uses_marginal_likelihood]


@pytest.mark.parametrize(("data", "table"), CASES)
def test_its_likelihood_is_that_of_the_density(data: str, table: str) -> None:
    problems = encoded(data, table)
    assert len(problems) >= 2
    for problem in problems:
        density, given = problem.density, problem.data
        field, rng = density.latent_model(given), np.random.default_rng(1)
        latent, hyper = rng.normal(size=(3, field.size)), rng.normal(-0.5, 0.3, (3, len(field.hypers)))
        for x, h in zip(latent, hyper, strict=True):
            flat, where = field.flat(x, h), problem.model.name
            expected = float(density.log_likelihood(density.values(flat, np), given, np))
            found = float(field.answers.value_gradient(field.predictors(x, h))[0])
            assert found == pytest.approx(expected, rel=1e-10), where
            np.testing.assert_allclose(field.flat(*field.latent(flat)), flat, atol=1e-9, err_msg=where)
