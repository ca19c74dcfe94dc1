"""Labels of judges who share mistakes: families named and found, ordered labels, what is stored and asked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.errors import InputError
from voirdire.infer import find_mode
from voirdire.kinds import Request, encode_labels
from voirdire.kinds.labels.families import find_families
from voirdire.kinds.labels.kind import LABELS
from voirdire.kinds.labels.states import leave_judge_out, panel_class_probabilities
from voirdire.model import load_model
from voirdire.tables import read_labels

FAMILY = {"a": "A", "a2": "A", "a3": "A"}


def rows(said: dict[str, np.ndarray], names: str) -> pd.DataFrame:
    found = [(judge, f"i{n:03d}", names[y]) for judge, labels in said.items() for n, y in enumerate(labels)]
    return pd.DataFrame(found, columns=["judge", "item", "label"])


@pytest.fixture(scope="module")
def copied() -> tuple[pd.DataFrame, np.ndarray]:
    """Eight honest judges and two copies of the worst."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 150)
    chance = dict(zip("abcdefgh", [0.6, *[0.75] * 7], strict=True))
    said = {name: np.where(rng.random(150) < p, truth, 1 - truth) for name, p in chance.items()}
    for name in ("a2", "a3"):
        said[name] = np.where(rng.random(150) < 0.97, said["a"], 1 - said["a"])
    return rows(said, "ny"), truth


@pytest.fixture(scope="module")
def graded() -> tuple[pd.DataFrame, np.ndarray]:
    """Five judges with cutpoints of their own on four levels."""
    rng = np.random.default_rng(8)
    value = rng.normal(size=120)
    said = {
        name: (value[:, None] + rng.logistic(scale=0.3, size=(120, 1)) > np.array([-0.8, 0.1, 0.9]) + shift).sum(axis=1)
        for name, shift in zip("abcde", rng.normal(scale=0.2, size=5), strict=True)
    }
    return rows(said, "0123"), value


def test_copies_are_found_and_count_once(copied: tuple[pd.DataFrame, np.ndarray]) -> None:
    table, _ = copied
    found = find_families(read_labels(table))
    assert {judge for judge, family in found.items() if family == "a"} == set(FAMILY)
    assert len(set(found.values())) == 8
    honest = table[~table["judge"].isin(["a2", "a3"])]
    assert find_families(read_labels(honest)) == {}
    assert LABELS.default_model(read_labels(honest), Request())[0] == "hierarchical-dawid-skene"
    model, why = LABELS.default_model(read_labels(table), Request())
    assert (model, why) == ("family-dawid-skene", "3 of 10 judges answer like another")
    alone = voirdire.fit(honest, method="map", model="hierarchical-dawid-skene").classes()
    kept = {}
    for families in (None, {}):
        fit = voirdire.fit(table, method="map", model="family-dawid-skene", families=families)
        kept[families is None] = np.abs(fit.classes()["p_y"] - alone["p_y"]).mean()
    assert kept[True] < 0.5 * kept[False]
    assert kept[True] < 0.03


def planted(seed: int) -> tuple[np.random.Generator, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng, rng.integers(0, 2, 300)


@pytest.mark.parametrize("seed", range(3))
def test_copies_of_one_judge_of_two_labels_are_found(seed: int) -> None:
    """Copies that are a third of a panel of modest judges do not pass for what all have in common."""
    rng, truth = planted(seed)
    said = {f"h{k}": np.where(rng.random(300) < p, truth, 1 - truth) for k, p in enumerate(np.linspace(0.6, 0.85, 16))}
    said |= {f"copy{k}": np.where(rng.random(300) < 0.95, said["h4"], 1 - said["h4"]) for k in range(7)}
    families = find_families(read_labels(rows(said, "ny")))
    assert {judge for judge, family in families.items() if family == "copy0"} == {"h4", *(f"copy{k}" for k in range(7))}


@pytest.mark.slow
def test_families_found_that_do_not_account_for_the_answers_are_no_default() -> None:
    """Ten good judges alike, beside six families fooled in one way: by the labels alone either may be right."""
    rng, truth = planted(1)
    seen = np.where(rng.random(300) < 0.58, truth, 1 - truth)  # what fools the others
    good = np.where(rng.random(300) < 0.87, truth, 1 - truth)
    said = {f"good{k}": np.where(rng.random(300) < 0.95, good, 1 - good) for k in range(10)}
    for family in range(6):
        effect = rng.normal(1.1, 2.0, 300)
        for k in range(5):
            right = rng.random(300) < 1.0 / (1.0 + np.exp(-effect))
            said[f"f{family}{k}"] = np.where(right, seen, 1 - seen)
    table = read_labels(rows(said, "ny"))
    families = list(find_families(table).values())
    assert sum(families.count(family) > 1 for family in families) > 0.2 * len(families)
    model, why = LABELS.default_model(table, Request())
    assert model == "hierarchical-dawid-skene"
    assert "families do not explain" in why


def test_families_are_named_in_the_result_and_kept(copied: tuple[pd.DataFrame, np.ndarray], tmp_path: Path) -> None:
    fit = voirdire.fit(copied[0], method="map", families=FAMILY)
    assert fit.model.name == "family-dawid-skene"
    assert "families" in fit.notes[0]
    assert fit.problem.density.blocks == ((0, 1, 2),)
    again = voirdire.load(fit.save(tmp_path / "run"))
    assert again.problem.density == fit.problem.density
    pd.testing.assert_frame_equal(again.classes(), fit.classes())
    with pytest.raises(InputError, match="take family-dawid-skene"):
        voirdire.fit(copied[0], model="dawid-skene", families=FAMILY)


def test_grades_have_a_model_of_their_own(graded: tuple[pd.DataFrame, np.ndarray]) -> None:
    table, value = graded
    fit = voirdire.fit(table, method="map")
    assert fit.notes[0] == (
        "No model was named: ordered-labels, because its labels are whole numbers, and taken as grades they predict "
        "labels left out better (--model hierarchical-dawid-skene takes them as classes without an order)."
    )
    grade = fit.classes()["label"].astype(int)
    assert np.corrcoef(grade, value)[0, 1] > 0.85
    new = pd.DataFrame({"judge": list("abcde"), "item": "new", "label": list("33233")})
    assert fit.predict(new)["label"].tolist() == ["3"]
    assert fit.shares()["share"].sum() == pytest.approx(1.0)
    cells = fit.confusion().groupby(["judge", "class"])["probability"].sum()
    np.testing.assert_allclose(cells, 1.0)


def test_an_order_is_not_assumed(graded: tuple[pd.DataFrame, np.ndarray]) -> None:
    named = graded[0].assign(label=graded[0]["label"].map(dict(zip("0123", "wxyz", strict=True))))
    assert voirdire.fit(named, method="map").model.name == "hierarchical-dawid-skene"
    levels = list("wxyz")
    assert voirdire.fit(named, method="map", levels=levels).model.name == "ordered-labels"
    with pytest.raises(InputError, match="leave classes= out"):
        voirdire.fit(named, model="ordered-labels", levels=levels, classes=["x", "z"])


@pytest.mark.parametrize("name", ["ordered-labels", "shared-dawid-skene", "family-dawid-skene"])
def test_what_is_asked_anew_is_bayes_rule(name: str, graded: tuple[pd.DataFrame, np.ndarray]) -> None:
    """P(label asked anew) is the ratio of the probabilities of the labels with and without one more."""
    table = read_labels(graded[0])
    families = {"a": "F", "b": "F", "c": "c", "d": "d", "e": "e"}
    problem = encode_labels(load_model(name), table, families=families)
    density = problem.density
    values = density.values(find_mode(problem, tolerance=1e-2).x, np)
    counts = problem.data["labels"]["counts"][:1].copy()
    for judge in (0, 3):
        counts[:, density.judge_columns(np.array([judge]))] = 0.0
        one = {name: column[:1] for name, column in problem.data["labels"].items()}
        data = {"labels": one | {"counts": counts}}
        chance = leave_judge_out(density, values, data, judge)[1][0]
        log = lambda given, one=one: float(  # noqa: E731
            density.log_parts(values, {"labels": one | {"counts": given}}, np)[0][0][0]
        )
        for label in range(4):
            more = counts.copy()
            more[0, judge * 4 + label] = 1.0
            assert chance[label] == pytest.approx(np.exp(log(more) - log(counts)), rel=1e-9)
    if density.has_grades:
        np.testing.assert_allclose(panel_class_probabilities(density, values, problem.data).sum(axis=1), 1.0)


def test_what_is_drawn_has_the_labels_of_the_model(graded: tuple[pd.DataFrame, np.ndarray]) -> None:
    fit = voirdire.fit(graded[0], method="map")
    rng, kind = np.random.default_rng(0), fit.kind
    drawn = [kind.draw(fit.problem, fit.posterior.central_values, rng) for _ in range(40)]
    seen = np.bincount(fit.problem.table.label, minlength=4) / fit.problem.table.rows
    again = np.mean([np.bincount(table.label, minlength=4) / table.rows for table in drawn], axis=0)
    np.testing.assert_allclose(again, seen, atol=0.03)
