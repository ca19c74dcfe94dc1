"""The hand-derived gradient of ordered labels against automatic derivatives."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from voirdire.infer.autodiff import TAPE_NUMPY, value_and_gradient
from voirdire.kinds import LabelsProblem, encode_labels
from voirdire.model import load_model
from voirdire.tables import read_labels


def encoded(levels: int, families: dict[str, str] | None = None) -> LabelsProblem:
    """Items with the same labels, items nobody labelled twice and some that a judge did."""
    rng = np.random.default_rng(levels)
    rows = [
        (f"j{k}", f"i{i:02}", int(rng.integers(0, levels))) for k in range(6) for i in range(14) if rng.random() < 0.8
    ]
    rows += [("j5", f"i{i:02}", int(rng.integers(0, levels))) for i in range(3)]
    rows += [(f"j{k}", item, 0) for k in range(6) for item in ("same", "again")]
    table = read_labels(pd.DataFrame(rows, columns=["judge", "item", "label"]), levels=range(levels))
    return encode_labels(load_model("ordered-labels"), table, families=families)


@pytest.mark.parametrize("levels", [2, 3, 5])
@pytest.mark.parametrize("families", [None, {"j0": "F", "j1": "F", "j3": "G", "j4": "G"}])
def test_value_and_gradient(levels: int, families: dict[str, str] | None) -> None:
    problem = encoded(levels, families)
    density, data = problem.density, problem.data
    assert data["labels"]["weight"].max() > 1
    assert len(density.blocks) == (1 if families is None else 3)  # j5 repeats itself
    by_hand = density.closed_form(data)
    assert by_hand is not None
    for seed in range(3):
        x = np.random.default_rng(seed).normal(0, 1.0, density.size)
        value, slope = by_hand.value_gradient(x)
        other, automatic = value_and_gradient(lambda node: -density.log_density(node, data, TAPE_NUMPY), x)
        assert value == pytest.approx(other, rel=1e-12)
        np.testing.assert_allclose(slope, automatic, rtol=1e-10, atol=1e-10)


def test_known_grades_have_no_gradient_by_hand() -> None:
    problem = encoded(3)
    known = np.full(len(problem.unit_item), -1)
    known[:2] = 1
    anchored = encode_labels(problem.model, problem.table, known=known)
    assert anchored.density.closed_form(anchored.data) is None
