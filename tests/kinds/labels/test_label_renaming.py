"""Classes may change names: what that leaves alone, and how draws are brought under one name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp

from voirdire.infer import find_mode, laplace_approximation, mirror
from voirdire.infer.refine import _weigh_draws, skewed_approximation
from voirdire.kinds import LabelsProblem, encode_labels
from voirdire.kinds.labels.density import MAX_TWINS
from voirdire.kinds.labels.renaming import best_renaming, log_permanent
from voirdire.model import load_model
from voirdire.tables import read_labels

LABELS = ["a", "b", "c"]


def encoded(name: str, labels: list[str], known: str = "") -> LabelsProblem:
    rng = np.random.default_rng(0)
    rows = {"judge": rng.choice(["j", "k"], 40), "item": rng.choice(list("uvwxyz"), 40)}
    table = read_labels(pd.DataFrame(rows | {"label": rng.choice(labels, 40)}), levels=labels)
    anchors = None
    if known:
        first = pd.DataFrame({"item": list("uvwxyz")[: len(known)], "label": list(known)})
        anchors = read_labels(first, levels=labels, judge="people")
    return encode_labels(load_model(name), table, anchors=anchors)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_the_permanent_sums_over_all_renamings(size: int) -> None:
    scores = np.random.default_rng(size).normal(size=(4, size, size))
    rows = np.arange(size)
    each = np.stack([scores[:, rows, list(order)].sum(axis=1) for order in permutations(range(size))])
    np.testing.assert_allclose(log_permanent(scores, size, np), logsumexp(each, axis=0), rtol=1e-12)
    best = best_renaming(scores)
    reached = np.take_along_axis(scores, best[..., None], axis=-1).sum(axis=(1, 2))
    np.testing.assert_allclose(reached, each.max(axis=0), rtol=1e-12)


CASES = [
    ("hierarchical-dawid-skene", LABELS, ""),
    ("dawid-skene", LABELS, ""),
    ("dawid-skene", LABELS[:2], ""),
    ("dawid-skene", LABELS, "c"),
    ("hierarchical-dawid-skene", LABELS[:2], ""),
    ("dawid-skene-pooled", LABELS, ""),
    ("hierarchical-dawid-skene", LABELS, "c"),
    ("one-coin-label", LABELS[:2], ""),
]


@pytest.mark.parametrize(("name", "labels", "known"), CASES)
def test_renaming_keeps_the_likelihood_and_the_prior_sums_over_all_names(
    name: str, labels: list[str], known: str
) -> None:
    problem = encoded(name, labels, known)
    density = problem.density
    assert density.has_mirror
    x = np.random.default_rng(1).normal(size=density.size)
    free = len(labels) - len(set(known))
    others = list(permutations(range(free)))[1:]
    twins = [density.rename_classes(x, density._class_order(names), np) for names in others]
    likelihood = density.log_likelihood(density.values(x, np), problem.data, np)
    for twin in twins:
        again = density.log_likelihood(density.values(twin, np), problem.data, np)
        assert again == pytest.approx(likelihood, rel=1e-12)
        assert not np.allclose(twin, x)
    priors = [density.log_prior(y, np) for y in [x, *twins]]
    total = density.symmetric_log_prior(x, problem.data, np)
    assert total == pytest.approx(logsumexp(priors), rel=1e-12)
    folded, ratio, turned = mirror.fold_draws(density, np.stack([x, *twins]), problem.data)
    # all twins are brought to the one that the prior prefers
    np.testing.assert_allclose(folded, np.broadcast_to(folded[0], folded.shape), atol=1e-12)
    assert density.log_prior(folded[0], np) == pytest.approx(max(priors), rel=1e-12)
    np.testing.assert_allclose(ratio, np.expm1(logsumexp(priors) - max(priors)), rtol=1e-9)
    assert turned.sum() == len(twins)


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_draws_that_count_are_folded_from_where_they_are_or_from_a_twin(classes: int) -> None:
    """Seven classes have 5,040 names, and as many copies of all draws do not fit into memory."""
    density = encoded("hierarchical-dawid-skene", list("abcdefg")[:classes]).density
    draws = 2.0 * np.random.default_rng(3).normal(size=(300, density.size))
    folded, counting, twins = density.fold_with_twins(draws, {})
    np.testing.assert_array_equal(folded, density.fold_orientations(draws, {})[0])
    each = [folded, *twins]
    assert len(each) <= MAX_TWINS + 1
    assert counting.all() == (classes < 7)
    here = np.array([np.isclose(one, draws, atol=1e-9).all(axis=1) for one in each])
    np.testing.assert_array_equal(here.any(axis=0), counting)


@pytest.mark.slow
def test_weights_of_proposals_are_right_however_few_names_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Means of shares and matrices by the names of all proposals, and of those that kept their names alone."""
    problem = encoded("hierarchical-dawid-skene", LABELS)
    approximation = laplace_approximation(problem, find_mode(problem))
    proposal = skewed_approximation(problem, replace(approximation, root=2.0 * approximation.root))
    means, errors = [], []
    for most in (MAX_TWINS, 1):
        monkeypatch.setattr("voirdire.kinds.labels.density.MAX_TWINS", most)
        found = _weigh_draws(problem, proposal, 40_000, np.random.default_rng(4))
        values = problem.density.values(found.draws, np)
        x = np.concatenate([np.exp(values["class_share"][:, 0]), values["confusion"][:, 0]], axis=1)
        means.append(found.weights @ x)
        errors.append(found.weights**2 @ (x - means[-1]) ** 2)
    assert (np.abs(means[0] - means[1]) < 4 * np.sqrt(errors[0] + errors[1])).all()


def test_swapping_two_classes_is_its_own_inverse() -> None:
    for name in ("dawid-skene", "hierarchical-dawid-skene", "one-coin-label"):
        density = encoded(name, LABELS[:2]).density
        x = np.random.default_rng(2).normal(size=(3, density.size))
        np.testing.assert_allclose(density.mirror_values(density.mirror_values(x, np), np), x, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "labels", "known"),
    [
        ("one-coin-label", LABELS, ""),
        ("majority-label", LABELS, ""),
        ("hierarchical-dawid-skene", LABELS, "ab"),
        ("hierarchical-dawid-skene", LABELS[:2], "a"),
    ],
)
def test_names_that_cannot_change(name: str, labels: list[str], known: str) -> None:
    density = encoded(name, labels, known).density
    assert not density.has_mirror
    with pytest.raises(ValueError, match="no mirror"):
        density.mirror_values(np.zeros(density.size), np)


def test_the_class_is_the_one_by_bayes_and_repeats_count(
    simulate: Callable[..., tuple[pd.DataFrame, pd.Series]],
) -> None:
    from voirdire.kinds.labels.class_probabilities import class_probabilities

    good = np.array([[0.9, 0.1], [0.2, 0.8]])
    table = read_labels(simulate([good, good], [0.5, 0.5], 20, ["n", "y"], 3)[0])
    problem = encode_labels(load_model("dawid-skene-pooled"), table)
    assert len(problem.data["labels"]["weight"]) < 20  # items with the same labels are counted together
    assert problem.data["labels"]["weight"].sum() == 20
    zero: dict[str, Any] = problem.density.values(np.zeros(problem.density.size), np)
    chance = class_probabilities(problem.density, [zero], problem.data)[problem.unit_row]
    right = np.exp(1.5) / (1 + np.exp(1.5))
    for unit in range(20):
        labels = table.label[table.item == problem.unit_item[unit]]
        likely = [np.prod(np.where(labels == j, right, 1 - right)) for j in (0, 1)]
        np.testing.assert_allclose(chance[unit], np.array(likely) / sum(likely), rtol=1e-12)
