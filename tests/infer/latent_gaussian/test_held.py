"""Modes of tables that are nearly alike are those that each has by itself."""

from __future__ import annotations

import numpy as np
import pandas as pd

from voirdire.infer.latent_gaussian.few_observations import is_sparse
from voirdire.infer.latent_gaussian.marginal import find_conditional_mode
from voirdire.infer.latent_gaussian.mode import MODE_TOLERANCE, find_modes_at_spreads
from voirdire.kinds import encode_votes
from voirdire.model import load_model
from voirdire.tables import read_votes


def test_modes_with_shared_coordinates_are_those_of_each_table() -> None:
    rng = np.random.default_rng(5)
    first = rng.integers(0, 6, 600)
    second = (first + rng.integers(1, 6, 600)) % 6
    won = rng.random(600) < 1 / (1 + np.exp(0.6 * (first - second)))
    judge = rng.integers(0, 4, 600)
    table = pd.DataFrame(
        {"judge": judge, "first": first, "second": second, "winner": np.where(won, "first", "second")}
    ).astype({"judge": str, "first": str, "second": str})
    problem = encode_votes(load_model("learned-crowd-bt-position"), read_votes(table))
    part = problem.data["votes"]
    without = {**problem.data, "votes": {**part, "weight": part["weight"] * (part["judge"] != 2)}}
    density, start = problem.density, problem.density.starts(problem.data)[0]
    assert not is_sparse(density.latent_model(problem.data))
    for data, mode in zip(
        (problem.data, without), find_modes_at_spreads(density, [problem.data, without], start), strict=True
    ):
        field = density.latent_model(data)
        x, hyper = field.latent(start)
        expected = find_conditional_mode(field, hyper, x)
        off = field.latent(mode)[0] - field.latent(field.flat(expected.x, hyper))[0]
        assert np.linalg.norm(expected.factor.from_draws(off[:, None])) < 3 * MODE_TOLERANCE
        np.testing.assert_allclose(field.latent(mode)[1], hyper)
