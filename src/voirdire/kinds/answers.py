"""Single answers of a fit, shares of answers in tables of the same questions, and claims of a fit.

The probability of held-out answers is computed at the mode of the posterior given the other answers.

Each score or label is predicted by itself, also if a judge gave an item several:

    P(y_ki) = sum_l [y_ki = l] P(l | theta_i, judge k)                          scores of levels, votes
    P(y_ki) = sum_j P(j | the labels of i that were seen) P(y_ki | j, judge k)  labels

On a continuous scale it is the density per point of the scale, and at the ends the probability of that end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from voirdire.model.terms.term import Values
from voirdire.typing import Bools, Floats, Ints


def sample_categorical(probability: Floats, rng: np.random.Generator) -> Ints:
    """Draw a column for each row, shape (rows,), with one uniform number a row; rows need not sum to one.

    Examples
    --------
    >>> sample_categorical(np.array([[0.0, 2.0], [1.0, 0.0]]), np.random.default_rng(0)).tolist()
    [1, 0]
    """
    ends = probability.cumsum(axis=1)
    return np.asarray((rng.random(len(probability))[:, None] * ends[:, -1:] > ends[:, :-1]).sum(axis=1))


#: Log probability of each answer, and 1 where it was the most probable, shape (answers,) each.
PredictionScores = tuple[Floats, Floats]


def score_predictions(probability: Floats, answer: Ints) -> PredictionScores:
    """Compute the log probability of each answer, and 1 where it was the most probable, else 0.

    Parameters
    ----------
    probability : array, shape (answers, possible answers)
        Probability of every possible answer.
    answer : int array, shape (answers,)
        Codes of the answers.

    Examples
    --------
    >>> [part.round(2).tolist() for part in score_predictions(np.array([[0.25, 0.75], [0.5, 0.5]]), np.array([0, 0]))]
    [[-1.39, -0.69], [0.0, 1.0]]
    """
    p_answer = probability[np.arange(len(answer)), answer]
    return np.log(p_answer), (probability.argmax(axis=1) == answer).astype(float)


MAX_BLOCK_NUMBERS = 2_000_000  # numbers computed at once

LogFunction = Callable[[Values], Floats]


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers of one table.

    Attributes
    ----------
    table : str
        Name of the table.
    log_probabilities : callable
        Function from values with one leading axis to log probabilities of distinct answers, shape (draws, distinct).
    distinct_index : int array, shape (answers,)
        Index of the distinct answer.
    answer_numbers : array, shape (answers, ...)
        Answers as numbers.
    about : dict of str to array, shape (answers,)
        Names of the judge, items, ... of each answer.
    numbers_per_draw : int
        Numbers in memory while the log probabilities of one draw are computed.
    """

    table: str
    log_probabilities: LogFunction
    distinct_index: Ints
    answer_numbers: npt.NDArray[Any]
    about: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    numbers_per_draw: int = 1

    def log_likelihood(self, values: Values) -> Floats:
        """Compute the log probability of every answer under every draw, shape (draws, answers)."""
        (draws,) = {len(value) for value in values.values()}
        step = max(1, MAX_BLOCK_NUMBERS // max(self.numbers_per_draw, 1))
        parts = [
            self.log_probabilities({name: value[start : start + step] for name, value in values.items()})
            for start in range(0, draws, step)
        ]
        return np.concatenate(parts)[:, self.distinct_index]


def repeated_indices(counts: npt.ArrayLike) -> Ints:
    """Repeat the index of each count that number of times.

    Examples
    --------
    >>> repeated_indices([2, 0, 1]).tolist()
    [0, 0, 2]
    """
    repeats = np.rint(np.asarray(counts, dtype=float)).astype(np.int64)
    return np.repeat(np.arange(len(repeats)), repeats)


def map_over_draws(function: Callable[[Values], Floats]) -> LogFunction:
    """Apply a function of one set of values to each of many sets."""

    def log_by_draw(values: Values) -> Floats:
        (draws,) = {len(value) for value in values.values()}
        return np.stack([function({name: value[draw] for name, value in values.items()}) for draw in range(draws)])

    return log_by_draw


MAX_COLUMNS = 10  # distinct columns in the shares of a judge
OTHER_LABELS = "others"


class Shares(NamedTuple):
    """Shares of wins of items, or shares of each answer among the answers of judges.

    Attributes
    ----------
    rows : list of str
        Items or judges.
    columns : list of str
        For judges: levels of the scale (ranges of neighbouring levels if there are more than ten), or labels (the nine
        most frequent and the others). Empty for items.
    share : array, shape (tables, rows) or (tables, rows, columns)
        NaN for an item without votes.
    """

    rows: list[str]
    columns: list[str]
    share: Floats


class Calibration(NamedTuple):
    """Counts of answers by probability, arrays of one shape: the probability, the number of hits, and of trials."""

    chance: Floats
    hits: Floats
    total: Floats


def answer_shares(problem: Any, tables: Sequence[Any]) -> Shares:
    """Compute the shares of each judge's answers; ``problem`` has the possible answers and reads those of a table."""
    answers = problem.answer_codes(problem.table)
    column, names = (_group_levels if problem.ordered else _group_labels)(problem.possible, answers)
    judge, size = problem.table.judge, len(problem.judges)
    n = np.bincount(judge, minlength=size)

    def judge_shares(answer_codes: Ints) -> Floats:
        counts = np.bincount(judge * len(names) + column[answer_codes], minlength=size * len(names))
        return np.asarray(counts.reshape(size, len(names))[n > 0] / n[n > 0, None])

    judges = [problem.judges[k] for k in np.flatnonzero(n)]
    return Shares(judges, names, np.stack([judge_shares(problem.answer_codes(table)) for table in tables]))


def _group_levels(levels: Sequence[str], answers: Ints) -> tuple[Ints, list[str]]:
    """Column of each level, and names of the columns."""
    parts = np.array_split(np.arange(len(levels)), min(MAX_COLUMNS, len(levels)))
    names = [levels[part[0]] if len(part) == 1 else f"{levels[part[0]]}\u2013{levels[part[-1]]}" for part in parts]
    return np.repeat(np.arange(len(parts)), [len(part) for part in parts]), names


def _group_labels(labels: Sequence[str], answers: Ints) -> tuple[Ints, list[str]]:
    """Column of each label (one column for the less common labels), and names of the columns."""
    size = len(labels)
    if size <= MAX_COLUMNS:
        return np.arange(size), list(labels)
    common = np.sort(np.argsort(-np.bincount(answers, minlength=size), kind="stable")[: MAX_COLUMNS - 1])
    column = np.full(size, MAX_COLUMNS - 1)
    column[common] = np.arange(MAX_COLUMNS - 1)
    return column, [*(labels[label] for label in common), OTHER_LABELS]


@dataclass(frozen=True, eq=False)
class Claims:
    """Claims of a fit, one for each unit: an item under a criterion, or a pair of items.

    Attributes
    ----------
    about : dict of str to array, shape (units,)
        Names: criterion, item; or criterion, first, second (sorted) and, if votes have contexts, context.
    answer : array, shape (units,)
        Label, number, or "first" or "second".
    confidence : array, shape (units,)
        Confidence in the answer, on any increasing scale. It must not depend on the human answers that check it.
    taught : bool array, shape (units,)
        Units that people answered in the table of the fit.
    """

    about: dict[str, npt.NDArray[Any]]
    answer: npt.NDArray[Any]
    confidence: Floats
    taught: Bools

    def with_pair_predictions(self, pairs: Sequence[Mapping[str, Any]]) -> Claims:
        """Replace the answers by predictions of unconnected pairs from people's answers, if there are any.

        Parameters
        ----------
        pairs : sequence of dict
            Pairs of :class:`.Anchored`: first, second, p_first and perhaps criterion.
        """
        if not pairs:
            return self
        further = ("criterion",) if "criterion" in pairs[0] else ()
        p_low: dict[tuple[str, ...], float] = {}
        for pair in pairs:
            first, second, p = pair["first"], pair["second"], pair["p_first"]
            p_low[(*sorted((first, second)), *(pair[name] for name in further))] = p if first < second else 1.0 - p
        units = zip(*(self.about[name].tolist() for name in ("first", "second", *further)), strict=True)
        p_first = np.array([p_low[unit] for unit in units])
        answer = np.where(p_first >= 0.5, "first", "second").astype(object)
        return replace(self, answer=answer, confidence=np.maximum(p_first, 1.0 - p_first))


def consensus_signs(
    judge: Ints, question: Ints, net: Floats, answers: Floats | Ints, sweeps: int, tolerance: float = 0.0
) -> Floats:
    """Compute each judge's agreement with the main consensus of the panel, shape (judges,), in [-1, 1].

    By power iteration on the judges' agreement, from a start that breaks symmetry.

    Parameters
    ----------
    judge, question : int array, shape (answers,)
        Codes of the judge and the question of each answer.
    net : array, shape (answers,)
        Weighted difference of the answers for the two sides.
    answers : array, shape (judges,)
        Weighted number of answers of each judge.
    sweeps : int
        Largest number of iterations.
    tolerance : float
        Change of the signs below which iterations end.
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
