"""Tables of six judges, the first with a planted bias: votes, votes in both orders, scores and labels.

Every function takes the planted bias and a generator. Judges answer in two runs, except for votes in both orders.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from voirdire.model.terms.arrays import logistic_sigmoid

if TYPE_CHECKING:
    import pandas as pd

    from voirdire.typing import Bools, Ints

JUDGES, ITEMS, LABELLED, VOTES, MODELS, CONTEXTS = 6, 150, 300, 250, 12, 25
CLEAN = "none"


class AuditedPanel(NamedTuple):
    """Table with the families of its items and judges."""

    table: pd.DataFrame
    items: dict[str, str]
    judges: dict[str, str]


def make_scores(planted: str, rng: np.random.Generator) -> AuditedPanel:
    """Draw scores from 1 to 5 of 150 items in two runs."""
    import pandas as pd

    quality, length = rng.normal(size=(2, ITEMS))
    family = rng.integers(0, 2, ITEMS)
    frames, before = [], np.zeros(ITEMS)
    for judge in range(JUDGES):
        score = 3 + quality + 0.8 * rng.normal(size=ITEMS)
        if judge == 0:
            score = score + {
                "length": 0.5 * length,
                "own": 1.0 * (family == 0),
                "severity": np.full(ITEMS, -0.8),
                "drift": -np.linspace(-1, 1, ITEMS),
                "noise": 1.3 * rng.normal(size=ITEMS),
            }.get(planted, np.zeros(ITEMS))
        if judge == 1 and planted == "copies":
            score = before + 0.1 * rng.normal(size=ITEMS)
        before = score
        for run in range(2):
            given = np.clip(np.round(score), 1, 5).astype(int)
            if judge == 0 and planted == "flips":
                step = np.clip(given + rng.choice([-1, 1], ITEMS), 1, 5)
                given = np.where(rng.random(ITEMS) < 0.35, step, given)
            columns = {"judge": f"j{judge}", "item": item_names(ITEMS), "score": given, "run": f"r{run}"}
            frames.append(pd.DataFrame({**columns, "time": np.arange(ITEMS), "length": length}))
    return _panel(frames, item_names(ITEMS), family)


def make_labels(planted: str, rng: np.random.Generator) -> AuditedPanel:
    """Draw labels pass and fail of 300 items in two runs."""
    import pandas as pd

    quality, length = 2.0 * rng.normal(size=LABELLED), rng.normal(size=LABELLED)
    family = rng.integers(0, 2, LABELLED)
    frames, before = [], np.zeros(LABELLED, bool)
    for judge in range(JUDGES):
        odds = 1.5 * quality
        if judge == 0:
            odds = odds + {
                "length": 1.0 * length,
                "own": 1.5 * (family == 0),
                "severity": np.full(LABELLED, -1.2),
                "drift": -1.5 * np.linspace(-1, 1, LABELLED),
            }.get(planted, np.zeros(LABELLED))
        passes = rng.random(LABELLED) < logistic_sigmoid(odds, np)
        if judge == 0 and planted == "noise":
            passes = np.where(rng.random(LABELLED) < 0.6, rng.random(LABELLED) < 0.5, passes)
        if judge == 1 and planted == "copies":
            passes = np.where(rng.random(LABELLED) < 0.95, before, passes)
        before = passes
        for run in range(2):
            given = passes ^ (rng.random(LABELLED) < 0.25) if judge == 0 and planted == "flips" else passes
            columns = {"judge": f"j{judge}", "item": item_names(LABELLED), "run": f"r{run}"}
            made = pd.DataFrame({**columns, "label": np.where(given, "pass", "fail")})
            frames.append(made.assign(time=np.arange(LABELLED), length=length))
    return _panel(frames, item_names(LABELLED), family)


def make_votes(planted: str, rng: np.random.Generator) -> AuditedPanel:
    """Draw votes on 250 pairs of 12 models in two runs, each pair in one order.

    A "slide" changes linearly from normal answers to coin tosses; a "drift" gives coin tosses in the second half.
    """
    quality, length = 1.5 * rng.normal(size=MODELS), rng.normal(size=MODELS)
    family = np.arange(MODELS) % 2
    first, second = np.array([rng.choice(MODELS, 2, replace=False) for _ in range(VOTES)]).T
    frames, before = [], np.zeros(VOTES, bool)
    for judge in range(JUDGES):
        odds = 1.5 * (quality[first] - quality[second])
        if judge == 0 and planted == "length":
            odds = odds + 1.2 * (length[first] - length[second])
        if judge == 0 and planted == "own":
            odds = odds + 2.0 * ((family[first] == 0).astype(float) - (family[second] == 0))
        wins = rng.random(VOTES) < logistic_sigmoid(odds, np)
        coin = rng.random(VOTES) < 0.5
        if judge == 0:
            time = np.arange(VOTES) / (VOTES - 1)
            part = {
                "noise": np.full(VOTES, 0.7),
                "drift": (time > 0.5).astype(float),
                "slide": time,
                "slide up": 1.0 - time,
            }.get(planted, np.zeros(VOTES))
            wins = np.where(rng.random(VOTES) < part, coin, wins)
            wins |= (planted == "position") & (rng.random(VOTES) < 0.35)
        if judge == 1 and planted == "copies":
            wins = np.where(rng.random(VOTES) < 0.95, before, wins)
        before = wins
        for run in range(2):
            given = wins ^ (rng.random(VOTES) < 0.25) if judge == 0 and planted == "flips" else wins
            columns = {"length_first": length[first], "length_second": length[second]}
            frames.append(_votes(judge, run, first, second, given).assign(time=np.arange(VOTES), **columns))
    return _panel(frames, [f"m{n}" for n in range(MODELS)], family)


def make_votes_in_orders(planted: str, rng: np.random.Generator) -> AuditedPanel:
    """Draw votes on 250 pairs of 12 models, each in both orders, and with "swap" twice in each.

    A judge with "swap" answers by position in 45% of pairs: the first position in half of them, the second in the
    others, so that its errors favour no position.
    """
    import pandas as pd

    quality = 1.5 * rng.normal(size=MODELS)
    pairs = np.column_stack(np.triu_indices(MODELS, 1))
    each = [rng.choice(len(pairs), VOTES // CONTEXTS, replace=False) for _ in range(CONTEXTS)]
    item_a, item_b = pairs[np.array(each).T.ravel()].T  # no pair twice in a context
    frames = []
    for judge in range(JUDGES):
        by_place = (rng.random(VOTES) < 0.45) & (judge == 0) & (planted == "swap")
        takes_first = rng.random(VOTES) < 0.5
        better = rng.random(VOTES) < logistic_sigmoid(1.5 * (quality[item_a] - quality[item_b]), np)
        for run in range(2 if planted == "swap" else 1):
            for turned in (False, True):
                first, second = (item_b, item_a) if turned else (item_a, item_b)
                again = rng.random(VOTES) < 0.05
                wins = better ^ turned ^ again
                if judge == 0 and planted == "noise":
                    wins = np.where(rng.random(VOTES) < 0.7, rng.random(VOTES) < 0.5, wins)
                wins |= (judge == 0) & (planted == "position") & (rng.random(VOTES) < 0.35)
                frames.append(_votes(judge, run, first, second, np.where(by_place, takes_first, wins)))
    return AuditedPanel(pd.concat(frames, ignore_index=True), {}, {})


def item_names(count: int) -> list[str]:
    """Return names of items.

    Examples
    --------
    >>> item_names(2)
    ['i0', 'i1']
    """
    return [f"i{number}" for number in range(count)]


def _votes(judge: int, run: int, first: Ints, second: Ints, won: Bools) -> pd.DataFrame:
    import pandas as pd

    columns = {"judge": f"j{judge}", "context": [f"c{n % CONTEXTS}" for n in range(len(first))], "run": f"r{run}"}
    columns |= {"first": [f"m{n}" for n in first], "second": [f"m{n}" for n in second]}
    return pd.DataFrame(columns | {"winner": np.where(won, "first", "second")})


def _panel(frames: list[pd.DataFrame], names: list[str], family: Ints) -> AuditedPanel:
    import pandas as pd

    items = {name: f"f{number}" for name, number in zip(names, family, strict=True)}
    judges = {f"j{judge}": "f0" if judge == 0 else "other" for judge in range(JUDGES)}
    return AuditedPanel(pd.concat(frames, ignore_index=True), items, judges)


#: Tables by name, with the biases that are possible there.
TABLES: dict[str, tuple[Callable[[str, np.random.Generator], AuditedPanel], tuple[str, ...]]] = {
    "votes": (
        make_votes,
        ("position", "length", "own", "flips", "drift", "slide", "slide up", "noise", "copies", CLEAN),
    ),
    "orders": (make_votes_in_orders, ("position", "swap", "noise", CLEAN)),
    "scores": (make_scores, ("length", "own", "severity", "flips", "drift", "noise", "copies", CLEAN)),
    "labels": (make_labels, ("length", "own", "severity", "flips", "drift", "noise", "copies", CLEAN)),
}
