"""Every model's quantities on natural scales, and its answers one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from voirdire.kinds import kind_of
from voirdire.model.natural_scales import LOG_PARAMETERS, LOGIT_PARAMETERS, QUANTITY_FACTS, estimated_name, natural_name


def draws(case: Any) -> dict[str, np.ndarray]:
    return case.density.values(np.stack(case.points[:2]), np)


def test_every_quantity_has_a_definition_and_named_dimensions(case: Any) -> None:
    kind, coords = kind_of(case.problem), case.problem.coords
    for name, of in kind.quantities(case.problem, draws(case)).items():
        assert ":" in name or name in QUANTITY_FACTS, name
        assert of.draws.shape == (2, *(len(coords[dim]) for dim in of.dims)), name
        assert np.isfinite(of.draws).all(), name


def test_answers_one_by_one_have_the_likelihood_of_the_whole(case: Any) -> None:
    answers = kind_of(case.problem).single(case.problem)
    if case.model.pool != "none" or case.name in ("mean-score", "median-score", "majority-label"):
        assert not answers
        return
    values = draws(case)
    log = np.concatenate([one.log_likelihood(values) for one in answers], axis=1)
    for at, x in enumerate(case.points[:2]):
        want = case.log_likelihood(case.values(x))
        assert log[at].sum() == pytest.approx(want, rel=1e-9, abs=1e-8)
    for one in answers:
        assert len(one.answer_numbers) == len(one.distinct_index)
        assert all(len(names) == len(one.distinct_index) for names in one.about.values())


def test_names_are_by_one_rule(case: Any) -> None:
    for parameter in case.density.parameters:
        name = parameter.name
        estimated = estimated_name(name)
        assert estimated in (name, f"log_{name}", f"logit_{name}")
        if name in LOGIT_PARAMETERS | LOG_PARAMETERS:
            assert estimated != name
            assert natural_name(name) == name
