"""Large tables of labels: only labels that were given are held, with the numbers of tables that hold all."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.errors import InputError
from voirdire.infer import Posterior, find_mode
from voirdire.kinds import LabelsProblem, encode_labels
from voirdire.kinds.labels import families, influence, matrix_free_draws, problem, systems
from voirdire.kinds.labels import layout as sparse_counts
from voirdire.kinds.labels import wide_residuals as sums_of_pairs
from voirdire.kinds.labels.curvature import Curvature, negative_hessian
from voirdire.kinds.labels.dependence import label_residuals
from voirdire.kinds.labels.expected import ExpectedLabels
from voirdire.kinds.labels.wide_residuals import wide_residuals
from voirdire.model import load_model
from voirdire.tables import read_labels
from voirdire.tables.labels import Labels

MODELS = ("hierarchical-dawid-skene", "dawid-skene")


def labels(items: int = 400, judges: int = 20, each: int = 5, right: float = 0.7, criteria: int = 1) -> Labels:
    """Labels of a few judges an item, drawn anew; the last label is no class."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, (items, criteria))
    rows = []
    for i in range(items):
        for c in range(criteria):
            for j in rng.permutation(judges)[:each]:
                said = truth[i, c] if rng.random() < right else rng.integers(0, 3)
                rows.append((f"j{j:02}", f"i{i}", f"c{c}", "abc"[said]))
    return read_labels(pd.DataFrame(rows, columns=["judge", "item", "criterion", "label"]))


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of any size are taken as large ones."""
    monkeypatch.setattr(sparse_counts, "MAX_DENSE_NUMBERS", 0)
    monkeypatch.setattr(sparse_counts, "SPARSE_RATIO", 0)


def both(monkeypatch: pytest.MonkeyPatch, model: str, table: Labels) -> tuple[LabelsProblem, LabelsProblem]:
    held = encode_labels(load_model(model), table)
    with monkeypatch.context() as patch:
        patch.setattr(sparse_counts, "MAX_DENSE_NUMBERS", 0)
        patch.setattr(sparse_counts, "SPARSE_RATIO", 0)
        given = encode_labels(load_model(model), table)
    assert given.is_sparse
    assert not held.is_sparse
    return held, given


@pytest.mark.parametrize("model", MODELS)
def test_density_and_mode_are_those_of_a_table_that_holds_all(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    held, given = both(monkeypatch, model, labels(criteria=2))
    x = np.random.default_rng(2).normal(0, 0.5, held.density.size)
    one, other = (ExpectedLabels(each.density, each.data).value_gradient(x) for each in (held, given))
    np.testing.assert_allclose(other[0], one[0], rtol=1e-12)
    np.testing.assert_allclose(other[1], one[1], atol=1e-9)
    for start, same in zip(held.density.starts(held.data), given.density.starts(given.data), strict=True):
        np.testing.assert_allclose(same, start, atol=1e-9)
    np.testing.assert_allclose(find_mode(given).x, find_mode(held).x, atol=1e-5)  # each up to its search's tolerance
    values = held.density.values(x, np)
    joint = held.density.joint(values, held.data, np)[held.unit_row]
    np.testing.assert_allclose(given.density.joint(values, given.data, np), joint, atol=1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_products_are_those_with_the_hessian(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_counts, "BATCH_SIZE", 500)  # several parts
    held, given = both(monkeypatch, model, labels(criteria=2))
    x = np.random.default_rng(2).normal(0, 0.5, held.density.size)
    matrix = negative_hessian(ExpectedLabels(held.density, held.data), x)
    curvature = Curvature(ExpectedLabels(given.density, given.data), x)
    np.testing.assert_allclose(curvature.multiply(np.eye(x.size)), matrix, atol=1e-8)
    own = held.density.parameter_slices["confusion_judge"]
    block = matrix[own, own].reshape(20, 6, 20, 6)[np.arange(20), :, np.arange(20)]
    np.testing.assert_allclose(curvature.judge_blocks(), block, atol=1e-8)


@pytest.mark.parametrize(
    ("turned", "most"),
    [
        pytest.param(matrix_free_draws.MAX_REMAINDER, 0, id="directions"),
        pytest.param(0.0, matrix_free_draws.MAX_TERMS, id="terms"),
        pytest.param(0.0, 0, id="Lanczos", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("model", MODELS)
def test_draws_have_the_covariance_of_the_hessian(
    model: str, turned: float, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, given = both(monkeypatch, model, labels(items=150, each=8))
    monkeypatch.setattr(matrix_free_draws, "MAX_DENSE_PARAMETERS", 0)
    monkeypatch.setattr(matrix_free_draws, "MAX_REMAINDER", turned)
    monkeypatch.setattr(matrix_free_draws, "MAX_TERMS", most)
    x = find_mode(held).x
    covariance = np.linalg.inv(negative_hessian(ExpectedLabels(held.density, held.data), x))
    expected = ExpectedLabels(given.density, given.data)
    draws, proper = matrix_free_draws.laplace_draws(expected, x, 2000, np.random.default_rng(0))
    assert proper
    sd = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(draws.std(axis=0) / sd, 1.0, atol=0.07)
    np.testing.assert_allclose((draws.mean(axis=0) - x) / sd, 0.0, atol=0.08)
    # of sums over the whole panel, in which what judges share counts most
    turn = np.tile(np.eye(6), 20)
    panel = np.zeros((6, x.size))
    panel[:, held.density.parameter_slices["confusion_judge"]] = turn
    spread = np.sqrt(np.diag(panel @ covariance @ panel.T))
    np.testing.assert_allclose((draws @ panel.T).std(axis=0) / spread, 1.0, atol=0.07)


def test_residuals_are_those_of_a_table_that_holds_all(monkeypatch: pytest.MonkeyPatch) -> None:
    held, given = both(monkeypatch, "hierarchical-dawid-skene", labels(each=12, right=0.97))
    mode = find_mode(held).x  # classes are sure, so that draws are alike
    one = label_residuals(held, Posterior(held.density, mode, None), np.random.default_rng(0)).pair_statistics()
    found = wide_residuals(given, Posterior(given.density, mode, None), np.random.default_rng(0))
    for dense, few in zip(one, found.pair_statistics(), strict=True):
        np.testing.assert_allclose(few, dense, atol=1e-9)
    upper = np.triu_indices(20, 1)
    np.testing.assert_allclose(found.groups.sum(axis=1)[0], found.pair_statistics()[0][upper], atol=1e-9)


def test_agreements_are_those_of_a_table_that_holds_all(monkeypatch: pytest.MonkeyPatch) -> None:
    table = labels()
    every = np.arange(20)
    one = families._pairwise_agreements(table, every)
    monkeypatch.setattr(families, "MAX_TABLE_NUMBERS", 0)
    for few, held in zip(families._pairwise_agreements(table, every), one, strict=True):
        np.testing.assert_allclose(few, held, atol=1e-9)


def test_copies_are_found_by_items_drawn_at_random(monkeypatch: pytest.MonkeyPatch) -> None:
    table = labels(items=600, each=8)
    copy = pd.DataFrame(
        {
            "judge": np.array(table.judges)[table.judge],
            "item": np.array(table.items)[table.item],
            "label": table.answers,
        }
    )
    both_copies = pd.concat([copy, copy[copy.judge == "j03"].assign(judge="copy")])
    monkeypatch.setattr(families, "MAX_TABLE_NUMBERS", 0)
    monkeypatch.setattr(sums_of_pairs, "MAX_LABEL_PAIRS", 20_000)  # about half of the items
    found = families.find_families(read_labels(both_copies))
    assert found["copy"] == found["j03"]
    assert len(set(found.values())) == 20


@pytest.mark.usefixtures("wide")
def test_a_fit_says_what_it_thins_out(monkeypatch: pytest.MonkeyPatch) -> None:
    table = labels(items=300)
    monkeypatch.setattr(influence, "MAX_SAMPLED_ITEMS", 100)
    monkeypatch.setattr(sums_of_pairs, "MAX_LABEL_PAIRS", 5_000)
    fit = voirdire.fit(table, model="hierarchical-dawid-skene")
    said = {row["check"]: row["message"] for row in fit.as_dict()["checks"]}
    assert "of 100 classes (drawn at random from 300)" in said["influence"]
    assert "of 300 items, drawn at random" in said["dependence"]
    assert any("300 items" in note or "labels): intervals" in note for note in fit.notes)
    again = voirdire.fit(table, model="hierarchical-dawid-skene")
    assert again.judges().equals(fit.judges())


def test_a_fit_has_the_numbers_of_a_table_that_holds_all(monkeypatch: pytest.MonkeyPatch) -> None:
    table = labels(items=600, each=8)
    held = voirdire.fit(table, model="hierarchical-dawid-skene", method="laplace")
    monkeypatch.setattr(sparse_counts, "MAX_DENSE_NUMBERS", 0)
    monkeypatch.setattr(sparse_counts, "SPARSE_RATIO", 0)
    given = voirdire.fit(table, model="hierarchical-dawid-skene", method="laplace")
    assert given.problem.is_sparse
    for name in ("reliability", "reliability_low", "reliability_high"):
        np.testing.assert_allclose(given.judges()[name], held.judges()[name], atol=0.015)
    column = "probability_panel"
    off = np.abs(given.classes()[column] - held.classes()[column])
    assert off.max() < 0.05
    assert off.mean() < 0.005  # each is a mean over 500 draws
    assert (given.classes()["label"] == held.classes()["label"]).mean() > 0.99


@pytest.mark.usefixtures("wide")
def test_what_does_not_fit_is_refused_with_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problem, "MAX_TABLE_NUMBERS", 1000)
    table = labels()
    with pytest.raises(InputError, match=r"400 items x 20 judges x 3 labels .* GiB; take hierarchical-dawid-skene"):
        voirdire.fit(table, model="one-coin-label")
    with pytest.raises(InputError, match="GiB to sample by method 'nuts'; leave the method out"):
        voirdire.fit(table, model="hierarchical-dawid-skene", method="nuts")


@pytest.mark.usefixtures("wide")
def test_large_tables_of_systems_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(systems, "MAX_BELIEF_BYTES", 2**20)
    rows = [(f"j{j}", f"p{c}", f"s{s}", "ab"[(c + s + j) % 2]) for j in range(3) for c in range(80) for s in range(4)]
    table = pd.DataFrame(rows, columns=["judge", "context", "system", "label"])
    with pytest.raises(InputError, match=r"320 items of systems .* GiB; fit without the columns context and system"):
        voirdire.fit(table, model="hierarchical-dawid-skene")


@pytest.mark.slow
@pytest.mark.usefixtures("wide")
def test_nuts_holds_all_numbers_of_a_table_that_is_small_enough() -> None:
    table = labels(items=60)
    how = {"model": "dawid-skene", "seed": 0}
    fit = voirdire.fit(table, method="nuts", draws=100, warmup=50, chains=1, **how)
    near = voirdire.fit(table, method="laplace", **how)
    np.testing.assert_allclose(fit.judges()["reliability"], near.judges()["reliability"], atol=0.1)
    assert near.idata.log_likelihood.sizes["answer"] == 60


def test_labels_that_are_texts_are_said_to_be_no_classes() -> None:
    rows = [(judge, f"q{i}", f"text {i} of {judge}") for judge in "abc" for i in range(80)]
    with pytest.raises(InputError, match=r"240 labels are rather names or texts than classes: name another column"):
        voirdire.fit(pd.DataFrame(rows, columns=["judge", "item", "label"]))
