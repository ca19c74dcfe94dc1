"""Answers of a fit: one by one, their shares in tables of the same questions, and what a fit claims.

The probability of answers that a model has not seen is that by the mode of the posterior given those that it has seen.

Of scores and labels each answer is predicted by itself, also where a judge gave an item several:

    P(y_ki) = sum_l [y_ki = l] P(l | theta_i, judge k)                          scores of levels, votes
    P(y_ki) = sum_j P(j | the labels of i that were seen) P(y_ki | j, judge k)  labels

On a continuous scale it is the density per point of the scale, and at the ends the probability to stand there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from voirdire.model.terms.reliability import Values
from voirdire.typing import Bools, Floats, Ints


def sample_categorical(probability: Floats, rng: np.random.Generator) -> Ints:
    """Draw a column of each row, shape (rows,); rows need not sum to one, and take one uniform number each.

    Examples
    --------
    >>> sample_categorical(np.array([[0.0, 2.0], [1.0, 0.0]]), np.random.default_rng(0)).tolist()
    [1, 0]
    """
    ends = probability.cumsum(axis=1)
    return np.asarray((rng.random(len(probability))[:, None] * ends[:, -1:] > ends[:, :-1]).sum(axis=1))


#: Of each answer: log of its probability, and whether it was the most probable.
PredictionScores = tuple[Floats, Floats]


def score_predictions(probability: Floats, answer: Ints) -> PredictionScores:
    """Log probability of each answer, and 1 where it was the most probable.

    Parameters
    ----------
    probability : array, shape (answers, possible answers)
    answer : int array, shape (answers,)

    Examples
    --------
    >>> [part.round(2).tolist() for part in score_predictions(np.array([[0.25, 0.75], [0.5, 0.5]]), np.array([0, 0]))]
    [[-1.39, -0.69], [0.0, 1.0]]
    """
    p_answer = probability[np.arange(len(answer)), answer]
    return np.log(p_answer), (probability.argmax(axis=1) == answer).astype(float)


MAX_BLOCK_NUMBERS = 2_000_000  # numbers that are computed at once

LogFunction = Callable[[Values], Floats]


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers of one table.

    Attributes
    ----------
    table : str
        Name of the table.
    log : callable
        Of values with one leading axis, log probabilities of distinct answers, shape (draws, distinct).
    which : int array, shape (answers,)
        Distinct answer that each is.
    given : array, shape (answers, ...)
        The answers themselves, as numbers.
    about : dict of str to array, shape (answers,)
        Names of what each is about.
    wide : int
        Numbers that the log probabilities of one draw take while they are computed.
    """

    table: str
    log: LogFunction
    which: Ints
    given: npt.NDArray[Any]
    about: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    wide: int = 1

    def log_likelihood(self, values: Values) -> Floats:
        """Log probability of every answer under every draw, shape (draws, answers)."""
        (draws,) = {len(value) for value in values.values()}
        step = max(1, MAX_BLOCK_NUMBERS // max(self.wide, 1))
        parts = [
            self.log({name: value[start : start + step] for name, value in values.items()})
            for start in range(0, draws, step)
        ]
        return np.concatenate(parts)[:, self.which]


def repeated_indices(counts: npt.ArrayLike) -> Ints:
    """Index of each count, as often as it counts.

    Examples
    --------
    >>> repeated_indices([2, 0, 1]).tolist()
    [0, 0, 2]
    """
    repeats = np.rint(np.asarray(counts, dtype=float)).astype(np.int64)
    return np.repeat(np.arange(len(repeats)), repeats)


def map_over_draws(function: Callable[[Values], Floats]) -> LogFunction:
    """A function of one set of values, of each of many."""

    def log_by_draw(values: Values) -> Floats:
        (draws,) = {len(value) for value in values.values()}
        return np.stack(
            [function({name: value[draw] for name, value in values.items()}) for draw in range(draws)]
        )

    return log_by_draw


MAX_COLUMNS = 10  # answers told apart in the shares of a judge
OTHER_LABELS = "others"


class Shares(NamedTuple):
    """Share of wins of every item, or of each answer among those of every judge who gave any.

    Attributes
    ----------
    rows : list of str
        Items or judges.
    columns : list of str
        Of judges, levels of the scale (runs of neighbouring ones where there are more than ten) or labels (the nine
        most frequent and the others); of items none.
    share : array, shape (tables, rows) or (tables, rows, columns)
        NaN for an item that was never voted on.
    """

    rows: list[str]
    columns: list[str]
    share: Floats


class Calibration(NamedTuple):
    """Answers by their probability, all arrays of one shape: it, how often one came out, and out of how many."""

    chance: Floats
    hits: Floats
    total: Floats


def answer_shares(problem: Any, tables: Sequence[Any]) -> Shares:
    """Shares of each judge's answers; ``problem`` says which answers there are, and which a table gives."""
    answers = problem.given(problem.table)
    column, names = (_group_levels if problem.ordered else _group_labels)(problem.possible, answers)
    judge, size = problem.table.judge, len(problem.judges)
    n = np.bincount(judge, minlength=size)

    def judge_shares(answer_codes: Ints) -> Floats:
        counts = np.bincount(judge * len(names) + column[answer_codes], minlength=size * len(names))
        return np.asarray(counts.reshape(size, len(names))[n > 0] / n[n > 0, None])

    judges = [problem.judges[k] for k in np.flatnonzero(n)]
    return Shares(judges, names, np.stack([judge_shares(problem.given(table)) for table in tables]))


def _group_levels(levels: Sequence[str], answers: Ints) -> tuple[Ints, list[str]]:
    """Column of each level, and the columns' names."""
    parts = np.array_split(np.arange(len(levels)), min(MAX_COLUMNS, len(levels)))
    names = [
        levels[part[0]] if len(part) == 1 else f"{levels[part[0]]}\u2013{levels[part[-1]]}" for part in parts
    ]
    return np.repeat(np.arange(len(parts)), [len(part) for part in parts]), names


def _group_labels(labels: Sequence[str], answers: Ints) -> tuple[Ints, list[str]]:
    """Column of each label, the less common in one, and the columns' names."""
    size = len(labels)
    if size <= MAX_COLUMNS:
        return np.arange(size), list(labels)
    common = np.sort(np.argsort(-np.bincount(answers, minlength=size), kind="stable")[: MAX_COLUMNS - 1])
    column = np.full(size, MAX_COLUMNS - 1)
    column[common] = np.arange(MAX_COLUMNS - 1)
    return column, [*(labels[label] for label in common), OTHER_LABELS]


@dataclass(frozen=True, eq=False)
class Claims:
    """Answers of a fit, one for each unit: an item under a criterion, or a pair of items.

    Attributes
    ----------
    about : dict of str to array, shape (units,)
        Names: criterion, item; or criterion, first, second (by name) and context, where votes have some.
    answer : array, shape (units,)
        Label, number, or "first" or "second".
    confidence : array, shape (units,)
        The larger the surer. Any number serves that people's answers, as far as they check it, did not enter.
    taught : bool array, shape (units,)
        Units that people answered in the fit's own table.
    """

    about: dict[str, npt.NDArray[Any]]
    answer: npt.NDArray[Any]
    confidence: Floats
    taught: Bools

    def with_pairs(self, pairs: Sequence[Mapping[str, Any]]) -> Claims:
        """The same with the preferences that people's answers to other pairs teach, where there are such.

        Parameters
        ----------
        pairs : sequence of dict
            As of :class:`.Anchored`: first, second, p_first and perhaps criterion.
        """
        if not pairs:
            return self
        further = ("criterion",) if "criterion" in pairs[0] else ()
        p_low: dict[tuple[str, ...], float] = {}
        for pair in pairs:
            first, second, p = pair["first"], pair["second"], pair["p_first"]
            p_low[(*sorted((first, second)), *(pair[name] for name in further))] = (
                p if first < second else 1.0 - p
            )
        units = zip(*(self.about[name].tolist() for name in ("first", "second", *further)), strict=True)
        p_first = np.array([p_low[unit] for unit in units])
        answer = np.where(p_first >= 0.5, "first", "second").astype(object)
        return replace(self, answer=answer, confidence=np.maximum(p_first, 1.0 - p_first))


def consensus_signs(
    judge: Ints, question: Ints, net: Floats, answers: Floats | Ints, sweeps: int, tolerance: float = 0.0
) -> Floats:
    """Each judge's agreement with the consensus that explains most of the panel's agreement, in [-1, 1].

    Power iteration on the judges' agreement, from a point off the symmetric one.

    Parameters
    ----------
    judge, question : int array, shape (answers,)
    net : array, shape (answers,)
        Of answers of either side, weighed.
    answers : array, shape (judges,)
        How much each judge answered.
    sweeps : int
        At most.
    tolerance : float
        Change of the signs after which they are known.
    """
    signs = np.ones(len(answers)) + 1e-3 * np.cos(np.arange(len(answers)))
    for _ in range(sweeps):
        consensus = np.bincount(question, net * signs[judge])
        agreement = np.bincount(judge, net * consensus[question], len(answers))
        previous, signs = signs, agreement / np.maximum(answers, 1.0)
        signs = signs / max(np.abs(signs).max(), 1e-300)
        if np.abs(signs - previous).max() < tolerance:
            break
    return np.asarray(signs if (signs * answers).sum() >= 0 else -signs)
