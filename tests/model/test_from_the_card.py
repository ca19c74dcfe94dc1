"""Models written anew, in plain NumPy, from what ``voirdire models NAME`` shows have the modes of the package."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import linalg, optimize, special
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.infer import find_mode

Values = dict[str, Any]
PI = np.pi


def card_of(name: str) -> dict[str, Any]:
    return json.loads(CliRunner().invoke(app, ["models", name, "--json"]).stdout)


# The densities of the card, of complex numbers too: gradients are exact by steps along the imaginary axis.


def normal(x: Any, m: Any, s: Any) -> Any:
    return (-((x - m) ** 2) / (2 * s**2) - np.log(s) - np.log(2 * PI) / 2).sum()


def logit_beta(x: Any, a: float, b: float, r: float) -> Any:
    p = s(x)
    mixed = (1 - r) * p**a * (1 - p) ** b + r * p**b * (1 - p) ** a
    return (np.log(mixed) - special.betaln(a, b)).sum()


def s(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def plane(n: int) -> Any:
    """An orthonormal basis of the hyperplane of sum zero, one of many."""
    return linalg.null_space(np.ones((1, n)))


def mode_of(log_density: Callable[[Any], Any], size: int) -> Any:
    """Where a log density is highest, from zero: a quasi-Newton search, then Newton's steps."""

    def gradient(x: Any) -> Any:
        return np.array([log_density(x + 1e-30j * unit).imag for unit in np.eye(size)]) / 1e-30

    x = optimize.minimize(lambda x: -log_density(x).real, np.zeros(size), jac=lambda x: -gradient(x), method="BFGS").x
    for _ in range(8):
        if np.abs(gradient(x)).max() < 1e-11:
            break
        step = 1e-5 * np.eye(size)
        hessian = np.array([gradient(x + one) - gradient(x - one) for one in step]) / 2e-5
        x = x - np.linalg.solve(hessian, gradient(x))
    assert np.abs(gradient(x)).max() < 1e-9
    return x


# Tables


def votes() -> pd.DataFrame:
    """Three judges, five items, ties; each judge sees pairs of its own choice, in either order."""
    rng = np.random.default_rng(5)
    theta, rows = np.linspace(1.5, -1.5, 5), []
    for judge, right in (("a", 0.95), ("b", 0.85), ("c", 0.6)):
        for i, j in combinations(range(5), 2):
            for turn in range(2 if rng.random() < 0.7 else 3):
                first, second = (i, j) if turn % 2 else (j, i)
                better = (rng.random() < s(theta[first] - theta[second])) == (rng.random() < right)
                winner = "tie" if rng.random() < 0.2 else "first" if better else "second"
                rows.append((judge, f"i{first}", f"i{second}", winner))
    return pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])


def labels() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 25)
    rows = [
        (judge, f"i{n:02d}", "xyz"[label if rng.random() < right else rng.integers(3)])
        for judge, right in (("a", 0.9), ("b", 0.8), ("c", 0.7), ("d", 0.8))
        for n, label in enumerate(truth)
        if rng.random() < 0.8
    ]
    return pd.DataFrame(rows, columns=["judge", "item", "label"])


# Models


def log_votes(
    table: pd.DataFrame,
    theta: Any,
    tie: Any,
    first: Callable[[int, Any], Any],
    scale: Callable[[int], Any] = lambda k: 1.0,
) -> Any:
    """Log likelihood; ``tie`` is log nu of each judge, ``first`` the chance of a decided vote for the first item.

    ``scale`` is what a judge multiplies differences by.
    """
    total = 0.0
    for judge, one, two, winner in table.itertuples(index=False):
        k = "abc".index(judge)
        d = theta[int(one[1])] - theta[int(two[1])]
        nu = np.exp(tie[k])
        p_tie = nu / (nu + 2 * np.cosh(scale(k) * d / 2))
        p = first(k, d)
        total += np.log({"tie": p_tie, "first": (1 - p_tie) * p, "second": (1 - p_tie) * (1 - p)}[winner])
    return total


def crowd_bt_position(card: dict[str, Any], table: pd.DataFrame) -> Values:
    strength, coin, ties = (card["prior"][name] for name in ("strength", "reliability", "ties"))
    basis = plane(5)

    def named(x: Any) -> Values:
        return {
            "strength": basis @ x[:4],
            "coin_first": x[4:7],
            "coin_second": x[7:10],
            "tie": x[10],
            "tie_judge": x[11:],
        }

    def log_density(x: Any) -> Any:
        v = named(x)
        e1, e2 = s(v["coin_first"]), s(v["coin_second"])
        total = log_votes(
            table, v["strength"], v["tie"] + v["tie_judge"], lambda k, d: e1[k] * s(d) + (1 - e2[k]) * s(-d)
        )
        total += normal(x[:4], 0, strength["sd"]) + normal(v["tie"], ties["mean"], ties["sd"])
        total += normal(v["tie_judge"], 0, ties["judge_sd"])
        return total + logit_beta(x[4:10], coin["a"], coin["b"], coin["reversed"])

    return named(mode_of(log_density, 14))


def hierarchical_dawid_skene(card: dict[str, Any], table: pd.DataFrame) -> Values:
    shares, coin = card["prior"]["classes"], card["prior"]["reliability"]
    basis = plane(3)
    items = [
        [("abcd".index(judge), "xyz".index(label)) for judge, _, label in rows.itertuples(index=False)]
        for _, rows in table.groupby("item")
    ]

    def named(x: Any) -> Values:
        return {
            "class_share": (basis @ x[:2])[None],
            "confusion": x[2:8].reshape(3, 2) @ basis.T,
            "confusion_judge": x[8:].reshape(4, 3, 2) @ basis.T,
        }

    def log_density(x: Any) -> Any:
        v = named(x)
        share = np.exp(v["class_share"][0]) / np.exp(v["class_share"][0]).sum()
        rate = np.exp(coin["lean"] * np.eye(3) + v["confusion"] + v["confusion_judge"])
        rate = rate / rate.sum(axis=-1, keepdims=True)
        total = sum(
            np.log(sum(share[j] * np.prod([rate[k, j, label] for k, label in given]) for j in range(3)))
            for given in items
        )
        total += normal(x[:2], 0, shares["sd"]) + normal(x[2:8], 0, coin["sd"])
        return total + normal(x[8:], 0, coin["judge_sd"])

    return named(mode_of(log_density, 32))


def bt_sigma_position(card: dict[str, Any], table: pd.DataFrame) -> Values:
    strength, sharpness, ties = (card["prior"][name] for name in ("strength", "reliability", "ties"))
    basis, of_judges = plane(5), plane(3)

    def named(x: Any) -> Values:
        return {
            "strength": basis @ x[:4],
            "log_discrimination": of_judges @ x[4:6],
            "shift": x[6:9],
            "tie": x[9],
            "tie_judge": x[10:],
        }

    def log_density(x: Any) -> Any:
        v = named(x)
        a, b = np.exp(v["log_discrimination"]), v["shift"]
        total = log_votes(
            table, v["strength"], v["tie"] + v["tie_judge"], lambda k, d: s(a[k] * d + b[k]), lambda k: a[k]
        )
        total += normal(x[:4], 0, strength["sd"]) + normal(x[4:6], 0, sharpness["sd"])
        total += normal(v["shift"], 0, sharpness["shift_sd"]) + normal(v["tie"], ties["mean"], ties["sd"])
        return total + normal(v["tie_judge"], 0, ties["judge_sd"])

    return named(mode_of(log_density, 13))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("written", "table"), [(crowd_bt_position, votes), (hierarchical_dawid_skene, labels), (bt_sigma_position, votes)]
)
def test_a_model_written_from_its_card_has_the_mode_of_the_package(
    written: Callable[[dict[str, Any], pd.DataFrame], Values], table: Callable[[], pd.DataFrame]
) -> None:
    name = written.__name__.replace("_", "-")
    found = voirdire.fit(table(), model=name, method="map")
    centre = found.problem.density.values(find_mode(found.problem, tolerance=1e-9).x, np)
    ours = written(card_of(name), table())
    assert set(centre) <= set(ours)
    for key, value in centre.items():
        np.testing.assert_allclose(ours[key], np.asarray(value).reshape(np.shape(ours[key])), atol=1e-6)


def test_a_card_names_every_parameter_of_a_fit() -> None:
    """With ties and human answers all terms of a model take part."""
    people = pd.DataFrame({"first": ["i0"], "second": ["i1"], "winner": ["first"]})
    for name in ("crowd-bt-position", "learned-crowd-bt-position", "bt-sigma-position"):
        found = voirdire.fit(votes(), model=name, method="map", anchors=people)
        assert {one["name"] for one in card_of(name)["parameters"]} == set(found.problem.density.parameter_slices)
