"""Latent states of items, and effects of families, in models with shared errors.

The state of an item is its class, or the node of its value. Given the state, families of judges are independent, and
the effect of each family, which takes one of a few values, is summed out (:mod:`voirdire.model.terms.shared_errors`,
:mod:`voirdire.model.terms.shared_errors`). The judges of a family form a block. A judge without family that labels no
item twice needs no block, as its effect can be summed out beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from voirdire.kinds.answers import sample_categorical
from voirdire.kinds.labels.layout import Patterns
from voirdire.model.density import Data
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.score_probabilities import log_expectation
from voirdire.model.terms.term import Values
from voirdire.typing import Floats, Ints


def log_joint(density: Any, values: Values, counts: Array, xp: Any) -> Array:
    """Log P(labels | state) of items, shape (items, states).

    Parameters
    ----------
    counts : array, shape (items, judges x labels)
    """
    alone, total = density.unblocked_judges, 0.0
    if len(alone):
        rates = _log_marginal_rates(density, values, alone, None, xp)
        total = xp.dot(counts[:, density.judge_columns(alone)], _flatten_rates(rates.transpose(0, 2, 1)))
    for number, block in enumerate(density.blocks):
        judges = np.array(block)
        block_counts = counts[:, density.judge_columns(judges)]
        of_item: Any = slice(None)
        if isinstance(counts, np.ndarray):  # not traced: each distinct pattern is computed once
            patterns = Patterns.from_counts(block_counts)
            block_counts, of_item = patterns.counts, patterns.of_item
        block_log = _log_block_effects(density, values, block_counts, judges, number, xp)
        total = total + log_expectation(block_log, 0.0, xp)[of_item]
    return total


def log_rates(density: Any, values: Values, xp: Any) -> Array:
    """Log P(label | state) of every judge, with effects summed out, shape (judges, states, labels)."""
    rates_by_judge: list[Array] = [None] * sum(len(judges) for judges, _ in _effect_groups(density))
    for judges, number in _effect_groups(density):
        rates = _log_marginal_rates(density, values, judges, number, xp)
        for row, k in enumerate(judges):
            rates_by_judge[k] = rates[row]
    return xp.stack(rates_by_judge)


def _effect_groups(density: Any) -> list[tuple[Ints, int | None]]:
    """Groups of judges with a common effect, with the number of their block; None for a judge alone."""
    blocks = [(np.array(block), number) for number, block in enumerate(density.blocks)]
    return [*blocks, *((np.array([k]), None) for k in density.unblocked_judges)]


def _log_marginal_rates(density: Any, values: Values, judges: Ints, block: int | None, xp: Any) -> Array:
    """Log P(label | state) of some judges, shape (judges, states, labels)."""
    weight = density.effects(values, block, xp)
    nodes = density.nodes(values, judges, xp).transpose(0, 3, 1, 2)
    return log_expectation(nodes, weight, xp).transpose(0, 2, 1)


def _log_effect_probabilities(
    density: Any, values: Values, counts: Array, judges: Ints, block: int | None, xp: Any
) -> Array:
    """Log P(labels of some judges, effect | state), shape (items, states, effects)."""
    return _log_block_effects(density, values, counts[:, density.judge_columns(judges)], judges, block, xp)


def _log_block_effects(density: Any, values: Values, counts: Array, judges: Ints, block: int | None, xp: Any) -> Array:
    """As :func:`_log_effect_probabilities`, with counts of the labels of these judges only."""
    nodes = density.nodes(values, judges, xp)
    log = xp.dot(counts, _flatten_rates(nodes.transpose(0, 3, 1, 2)))
    return log.reshape((-1, nodes.shape[1], nodes.shape[2])) + density.effects(values, block, xp)


def _flatten_rates(rates: Array) -> Array:
    """Flatten rates to two axes: judges and labels, and all other axes."""
    shape = rates.shape
    return rates.reshape((shape[0] * shape[1], -1))


def repeat_probabilities(density: Any, values: Values, data: Data) -> Iterator[tuple[int, Floats]]:
    """Yield each judge's number with P(repeated label | all labels of an item), shape (distinct, labels).

    The probability includes the effect of the judge's family on the item.
    """
    part, state = data["labels"], density.state_probabilities(values, data)
    for judges, number in _effect_groups(density):
        log = _log_effect_probabilities(density, values, part["counts"], judges, number, np)
        log -= log.max(axis=-1, keepdims=True)
        effect = np.exp(log)
        effect *= (state / effect.sum(axis=-1))[..., None]
        rates = np.exp(density.nodes(values, judges, np))
        for k, of_judge in zip(judges, rates, strict=True):
            yield int(k), effect.reshape(len(state), -1) @ of_judge.reshape(-1, density.labels)


def panel_class_probabilities(density: Any, values: Values, data: Data) -> Floats:
    """P(class | labels): distribution of a new label by a random judge of the panel, shape (distinct, classes)."""
    total = np.zeros((len(data["labels"]["counts"]), density.classes))
    for _, chance in repeat_probabilities(density, values, data):
        total += chance[:, : density.classes]
    total *= data["labels"]["known"] == 0.0
    probabilities: Floats = total / np.maximum(total.sum(axis=1, keepdims=True), 1e-300)
    return probabilities


def leave_judge_out(density: Any, values: Values, data: Data, judge: int) -> tuple[Floats, Floats]:
    """P(state) of items without one judge's labels, (distinct, states), and P(label of the judge), (distinct, labels).

    Shares and rates stay those of all labels.
    """
    counts = data["labels"]["counts"].copy()
    counts[:, density.judge_columns(np.array([judge]))] = 0.0
    state = density.state_probabilities(values, data | {"labels": data["labels"] | {"counts": counts}})
    judges, number = next(group for group in _effect_groups(density) if judge in group[0])
    log = _log_effect_probabilities(density, values, counts, judges, number, np)
    effect = np.exp(log - log.max(axis=-1, keepdims=True))
    effect *= (state / effect.sum(axis=-1))[..., None]
    rates = np.exp(density.nodes(values, np.array([judge]), np))[0]
    return state, effect.reshape(len(state), -1) @ rates.reshape(-1, density.labels)


def draw_states_and_rates(
    density: Any, values: Values, data: Data, rng: np.random.Generator
) -> tuple[Ints, Iterator[tuple[int, Floats]]]:
    """Draw states of items given their labels, shape (distinct,), and yield each judge's P(label | state, effect).

    Probabilities have shape (distinct, labels). Effects of families are drawn given their labels.
    """
    belief = density.state_probabilities(values, data)
    state = sample_categorical(belief, rng)

    def judge_rates() -> Iterator[tuple[int, Floats]]:
        rows = np.arange(len(state))
        for judges, number in _effect_groups(density):
            log = _log_effect_probabilities(density, values, data["labels"]["counts"], judges, number, np)[rows, state]
            effect = sample_categorical(np.exp(log - log.max(axis=-1, keepdims=True)), rng)
            for k, of_judge in zip(judges, np.exp(density.nodes(values, judges, np)), strict=True):
                yield int(k), of_judge[state, effect]

    return state, judge_rates()


def expand_units(data: Data, row: Ints) -> Data:
    """Expand data from distinct items to all units; ``row`` is the index of each unit among the distinct items."""
    part = {name: column[row] for name, column in data["labels"].items()}
    return {"labels": part | {"weight": np.ones(len(row))}}
