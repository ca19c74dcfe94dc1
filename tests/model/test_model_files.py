"""What the model files say beside their equation: what they reduce to, what mirrors them, which numbers they use."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model.lifts import LIFTS

from voirdire.model import load_model, specification_folder
from voirdire.model.specs import SECTIONS

MIRRORED = {
    *("crowd-bt", "crowd-bt-position", "learned-crowd-bt-position", "learned-maple-position"),
    *("crowd-bt-contexts", "maple-contexts", "maple-tastes", "learned-crowd-bt"),
    *("unordered-crowd-bt-contexts", "unordered-maple-contexts", "unordered-maple-tastes"),
    *("maple", "maple-position", "maple-criterion-reliability", "maple-fixed-weights"),
    *("rating-discrimination", "rating-maple"),
}


def test_it_reduces_to_the_models_it_names(case: Any, make_case: Callable[..., Any]) -> None:
    unweighed = case.model.data == "scores" and "weight" not in case.density.parameter_slices
    for reduction in case.model.reduces_to:
        simple = make_case(reduction.model, case.ties, **{"weighed": False} if unweighed else {})
        for x in simple.points[:3]:
            values = simple.values(x)
            if simple.covariates and not case.covariates:  # it holds where there is no slope
                values |= {name: 0.0 * of for name, of in values.items() if name.startswith(("effect:", "judge:"))}
            expected = simple.log_likelihood(values)
            for section in SECTIONS[case.model.data]:
                if section not in case.model.sections or section not in simple.model.sections:
                    continue
                ours, theirs = (getattr(model, section).kind for model in (case.model, simple.model))
                if ours != theirs and not (unweighed and section == "weights"):
                    values = LIFTS[ours][theirs](values)
            if "judge_item_effect" in values:  # of items in contexts: here the same in all of these
                shape = {p.name: p.shape(case.density.sizes) for p in case.density.parameters}["judge_item_effect"]
                own = np.asarray(values["judge_item_effect"])
                values["judge_item_effect"] = own[(..., *[None] * (len(shape) - own.ndim))]
            lifted = {
                # of contexts and tastes, and of spreads, the simpler model has none
                p.name: np.broadcast_to(values.get(p.name, 0.0), p.shape(case.density.sizes))
                for p in case.density.parameters
            }
            assert case.log_likelihood(lifted) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "simpler"),
    [
        ("bradley-terry-judge-ties", "bradley-terry"),
        ("bt-sigma", "bradley-terry-judge-ties"),
        ("bt-sigma-position", "bt-sigma"),
        ("learned-bt-sigma", "learned-bradley-terry"),
        ("learned-bt-sigma", "bt-sigma"),
        ("learned-bt-sigma-position", "learned-bt-sigma"),
        ("learned-bt-sigma-position", "bt-sigma-position"),
        ("crowd-bt", "bradley-terry-judge-ties"),
        ("crowd-bt-position", "crowd-bt"),
        ("learned-crowd-bt-position", "crowd-bt-position"),
        ("learned-maple-position", "maple-position"),
        ("learned-bradley-terry", "bradley-terry-judge-ties"),
        ("crowd-bt-contexts", "learned-crowd-bt-position"),
        ("maple-tastes", "learned-maple-position"),
        ("maple-contexts", "maple-tastes"),
        ("learned-crowd-bt", "crowd-bt"),
        ("learned-crowd-bt-position", "learned-crowd-bt"),
        ("unordered-maple-tastes", "maple"),
        ("maple-tastes", "unordered-maple-tastes"),
        ("unordered-crowd-bt-contexts", "learned-crowd-bt"),
        ("crowd-bt-contexts", "unordered-crowd-bt-contexts"),
        ("unordered-maple-contexts", "unordered-maple-tastes"),
        ("maple-contexts", "unordered-maple-contexts"),
        ("maple", "maple-fixed-reliability"),
        ("maple-position", "maple"),
        ("maple-criterion-reliability", "maple"),
        ("hierarchical-dawid-skene", "dawid-skene"),
        ("hierarchical-dawid-skene", "dawid-skene-pooled"),
        ("rating-cutpoints", "rating-severity"),
        ("rating-discrimination", "rating-cutpoints"),
    ],
)
def test_the_files_say_what_they_reduce_to(name: str, simpler: str) -> None:
    assert simpler in {reduction.model for reduction in load_model(name).reduces_to}


@pytest.mark.parametrize("path", sorted(specification_folder("models").glob("*.toml")), ids=lambda path: path.stem)
def test_the_equation_names_every_number_of_the_prior(path: Path) -> None:
    content = tomllib.loads(path.read_text())
    for section in (
        "strength",
        "weights",
        "reliability",
        "ties",
        "classes",
        "severity",
        "cutpoints",
        "repeats",
        "context",
        "taste",
        *["anchors"] * (content["data"] == "scores"),
    ):
        for key in content.get(section, {}):
            # "sd" belongs to several sections, so the equation must say whose it is
            wanted = rf"\b{section}\.{key}\b" if key in ("sd", "mean", "judge_sd") else rf"\b{key}\b"
            assert key == "kind" or re.search(wanted, content["equation"]), f"{section}.{key}"


def turned(values: dict[str, Any]) -> dict[str, Any]:
    """Every strength and weight of opposite sign, every coin turned over."""
    out = {**values, "strength": -values["strength"]}
    for name in (
        *("general", "weight", "reliability", "reliability_deviation", "raw_discrimination"),
        *("context_strength", "taste", *(name for name in values if name.startswith(("effect:", "judge:")))),
    ):
        if name in values:
            out[name] = -values[name]
    if "coin_first" in values:  # e1 -> 1 - e2, e2 -> 1 - e1
        out |= {"coin_first": -values["coin_second"], "coin_second": -values["coin_first"]}
    return out


def test_the_mirror_keeps_the_likelihood_and_is_its_own_inverse(case: Any) -> None:
    density = case.density
    if case.model.data == "labels":
        return  # tested with the renamings of classes
    assert density.has_mirror == (case.name in MIRRORED)
    if not density.has_mirror:
        with pytest.raises(ValueError, match="no mirror"):
            density.mirror_values(case.points[0], np)
        return
    for x in case.points:
        twin = density.mirror_values(x, np)
        np.testing.assert_allclose(density.mirror_values(twin, np), x, atol=1e-13)
        # human answers keep their direction
        ours, theirs = (float(density.log_panel_likelihood(case.values(y), case.problem.data, np)) for y in (x, twin))
        assert theirs == pytest.approx(ours, rel=1e-12)
        if density.people_log_probabilities(case.values(x), case.problem.data, np) and np.any(x):
            one, other = (density.log_people_likelihood(case.values(y), case.problem.data, np) for y in (x, twin))
            assert abs(one - other) > 0.01
        expected = turned(case.values(x))
        for name, value in case.values(twin).items():
            np.testing.assert_allclose(value, expected[name], atol=1e-12, err_msg=name)
    matrix = density.mirror_values(np.eye(density.size), np)
    if (
        "log_coin_mean" in density.parameter_slices
    ):  # judges are turned about a mean that stays: no linear map, but of volume 1
        x, step = case.points[0], 1e-5 * np.eye(density.size)
        matrix = (density.mirror_values(x + step, np) - density.mirror_values(x - step, np)) / 2e-5
        assert abs(np.linalg.det(matrix)) == pytest.approx(1.0, abs=1e-6)
        return
    np.testing.assert_allclose(density.mirror_values(case.points[2], np), case.points[2] @ matrix, atol=1e-12)
    assert abs(np.linalg.det(matrix)) == pytest.approx(1.0)


def test_without_a_mirror_the_likelihood_has_a_direction(case: Any) -> None:
    if case.density.has_mirror or case.model.data == "labels":
        return
    values = case.values(case.points[0])
    assert abs(case.log_likelihood(turned(values)) - case.log_likelihood(values)) > 0.01
