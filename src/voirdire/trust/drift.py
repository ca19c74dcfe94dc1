"""Change of judges over time, by bets that are valid at any number of looks.

Let x_1, x_2, ... be a judge's answers minus their expectation, in order of time. If the judge does not change,
all orders are equally likely: given the bag of the first t values, x_t is any of them. With w_t(x) the value x minus
the bag's mean in the bag's standard deviations, rescaled so that no value of the bag exceeds CLIP_SDS, the bet of size
m pays

    e_t = exp(m w_t(x_t)) / mean over x of the bag of exp(m w_t(x)),

with mean 1 (a conformal e-value: Vovk 2020, arXiv 2001.05989). The bet on a change after answer a is the product of e_t
over t > a; the evidence M (an e-value) is the mean of the products over sizes m and places a = 12, 18, 27, ... with
stakes w_j (which fall as 1 / (j + 3)). At any one look its expectation is exactly 1. If the bag were known in advance,
M would ever reach 1 / alpha with probability at most alpha (Ville); the check therefore uses its largest value so
far, which is valid for a look after every answer. Learning the bag costs little if no value is extreme,
which CLIP_SDS ensures: in sequences of 400 answers with a look after each, and 1 in 100 to all of the rarer kind, M
reached 20 in at most 3%. Judges and quantities share alpha. Consecutive answers about one question are one witness.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from voirdire.model.problem import Check
from voirdire.tables.numbers import count_in_words
from voirdire.trust.random_walk import Habit, Stretch, habit_stretches
from voirdire.typing import Floats, Ints

FALSE_ALARM_RATE = 0.05  # probability of any reported change where no judge changes, over all looks
MIN_WITNESSES = 20  # smallest number of witnesses of a judge
BET_SIZES = np.array([-0.8, -0.5, -0.25, 0.25, 0.5, 0.8])  # sizes of bets, per standard deviation
CLIP_SDS = 2.0  # largest size of a value, in standard deviations of its bag
FIRST_CHANGE, CHANGE_RATIO = 12, 1.5  # first candidate change, and ratio of successive ones
FIRST_STAKE = 0.75  # share of a judge's stake on the first quantity; the others divide the rest
VALUE_BINS = 64  # number of bins between the smallest and the largest value
MAX_WITNESSES = 20_000  # largest number of witnesses of a judge; above it, neighbours are averaged
MAX_SHOWN_CHANGES = 3
SEED_STREAM = 2003  # stream of random numbers that is independent of simulations with the same seed


@dataclass(frozen=True, eq=False)
class AnswersOverTime:
    """Quantities followed over time, one entry per answer.

    Attributes
    ----------
    judges : tuple of str
    judge : int array, shape (answers,)
    time : array, shape (answers,)
    question : int array, shape (answers,)
        Consecutive answers to one question are one witness.
    beyond : mapping of (str, str) to array, shape (answers,)
        Answers minus their expectation, by the words for positive and for negative values.
    habits : tuple of Habit
        Habits of judges that may change; see :mod:`.trust.random_walk`.
    """

    judges: tuple[str, ...]
    judge: Ints
    time: Floats
    question: Ints
    beyond: Mapping[tuple[str, str], Floats]
    habits: tuple[Habit, ...] = ()


def habits_over_time(parts: Sequence[AnswersOverTime | None], prob: float) -> dict[str, list[Any]]:
    """Habits of judges in blocks of time: judge, habit, start, end, answers, value, low, high.

    See :mod:`.trust.random_walk`. Empty columns where no judge has two blocks of answers.
    """
    rows = [
        asdict(stretch) | {"judge": part.judges[stretch.judge]}
        for part in parts
        if part is not None
        for stretch in habit_stretches(part.judge, part.time, part.habits, prob)
    ]
    return {field.name: [row[field.name] for row in rows] for field in fields(Stretch)}


class Evidence(NamedTuple):
    """Logarithm of the largest evidence of the bets, the estimated last answer before the change, and its sign."""

    log: float
    start: int
    sign: float


def check_drift(*parts: AnswersOverTime | None, seed: int = 0) -> list[Check]:
    """Check for judges whose answers change with time; empty where no judge has enough answers.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200) + np.repeat([0.0, 1.5], 100)
    >>> each = np.arange(200)
    >>> check_drift(AnswersOverTime(("ann",), each * 0, each * 1.0, each, {("severe", "lenient"): x}))[0].message[:50]
    'ann becomes more severe (from about answer 100 of '
    """
    quantities = [quantity for part in parts if part is not None for quantity in _watched_quantities(part, seed)]
    if not quantities:
        return []
    watched = sum(quantity.stake for quantity in quantities)
    changed = [
        quantity
        for quantity in quantities
        if quantity.evidence.log >= np.log(watched / (FALSE_ALARM_RATE * quantity.stake))
    ]
    changed.sort(key=lambda quantity: -quantity.evidence.log)
    if not changed:
        message = (
            f"No judge's answers change detectably with time (false alarms {FALSE_ALARM_RATE:.0%} over all looks)."
        )
        return [Check("drift", "ok", 0.0, message)]
    changes = [
        f"{quantity.judge} becomes more {quantity.word} "
        f"(from about answer {quantity.evidence.start * -(-quantity.size // MAX_WITNESSES)} of {quantity.size})"
        for quantity in changed[:MAX_SHOWN_CHANGES]
    ]
    hidden = len(changed) - MAX_SHOWN_CHANGES
    rest_note = f" and {count_in_words(hidden, 'more changes')}" if hidden > 0 else ""
    message = (
        f"{'; '.join(changes)}{rest_note}: the judge or what it was asked changed with time. Look whether its version "
        "or prompt did, fit the times apart, and ask questions in random order."
    )
    return [Check("drift", "warn", float(len({quantity.judge for quantity in changed})), message)]


class _WatchedQuantity(NamedTuple):
    """A quantity of a judge: word for its direction, evidence, number of witnesses, share of the judge's stake."""

    judge: str
    word: str
    evidence: Evidence
    size: int
    stake: float


def _watched_quantities(answers: AnswersOverTime, seed: int) -> Iterator[_WatchedQuantity]:
    """Quantities of each judge with enough answers."""
    other_stake = (1.0 - FIRST_STAKE) / max(len(answers.beyond) - 1, 1)
    for k, name in enumerate(answers.judges):
        rows = np.flatnonzero(answers.judge == k)
        if len(rows) < MIN_WITNESSES or np.ptp(answers.time[rows]) == 0.0:
            continue
        order, unit = _time_ordered_answers(answers, rows, seed)
        count = np.bincount(unit)
        if len(count) < MIN_WITNESSES:
            continue
        for index, (words, values) in enumerate(answers.beyond.items()):
            evidence = largest_evidence(_thin_series(np.bincount(unit, values[order]) / np.sqrt(count)))
            stake = 1.0 if len(answers.beyond) == 1 else other_stake if index else FIRST_STAKE
            yield _WatchedQuantity(name, words[0 if evidence.sign > 0 else 1], evidence, len(count), stake)


def _time_ordered_answers(answers: AnswersOverTime, rows: Ints, seed: int) -> tuple[Ints, Ints]:
    """A judge's answers in time order (at equal times by question, in random order), and their witnesses."""
    names, question = np.unique(answers.question[rows], return_inverse=True)
    random_order = np.random.default_rng((seed, SEED_STREAM)).permutation(len(names))[question]
    order = np.lexsort((random_order, answers.time[rows]))
    changes = np.diff(question[order]) != 0
    return rows[order], np.concatenate([[0], np.cumsum(changes)])


def _thin_series(x: Floats) -> Floats:
    """Average neighbouring values where there are more than :data:`MAX_WITNESSES`."""
    group_size = -(-len(x) // MAX_WITNESSES)
    return x if group_size == 1 else x[: len(x) // group_size * group_size].reshape(-1, group_size).mean(axis=1)


def log_evidence_steps(x: Floats) -> Floats:
    """Log payoffs of bets of each of :data:`BET_SIZES` at each answer, shape (sizes, answers); see the module.

    Examples
    --------
    >>> log_evidence_steps(np.array([1.0, 1.0, 0.0])).round(2)[[0, -1]].tolist()
    [[-0.0, -0.0, 0.79], [0.0, 0.0, -1.38]]
    """
    low, width = float(x.min()), float(np.ptp(x))
    if width == 0.0:
        return np.zeros((len(BET_SIZES), len(x)))
    code = np.rint((x - low) / width * (VALUE_BINS - 1)).astype(np.int64)
    value = np.linspace(0.0, 1.0, VALUE_BINS)
    bag = np.cumsum(np.eye(VALUE_BINS)[code], axis=0) / np.arange(1, len(x) + 1)[:, None]
    mean = bag @ value
    deviation = value - mean[:, None]
    sd = np.sqrt(np.maximum(bag @ value**2 - mean**2, 0.0))
    farthest = np.where(bag > 0, np.abs(deviation), 0.0).max(axis=1)
    w = deviation / np.maximum(np.maximum(sd, farthest / CLIP_SDS), 1e-9)[:, None]
    w *= (sd > 1e-9)[:, None]
    observed = w[np.arange(len(x)), code]
    return np.array([m * observed - np.log((bag * np.exp(np.minimum(m * w, 50.0))).sum(axis=1)) for m in BET_SIZES])


def running_log_evidence(x: Floats, change_points: tuple[Ints, Floats] | None = None) -> Floats:
    """Logarithm of the evidence after each number of answers, shape (answers + 1,).

    Parameters
    ----------
    x : float array, shape (answers,)
    change_points : (int array, float array), optional
        Candidate changes as numbers of answers before them, and their stakes, which sum to 1 at most.

    Examples
    --------
    >>> float(running_log_evidence(np.array([1.0, 2.0])).round(6)[-1])
    0.0
    """
    total = np.concatenate([np.zeros((len(BET_SIZES), 1)), np.cumsum(log_evidence_steps(x), axis=1)], axis=1)
    log = np.full(len(x) + 1, -np.inf)
    for start, stake in zip(*map(np.ndarray.tolist, change_points or _bet_times_and_stakes()), strict=True):
        # bets on later changes keep their stakes
        log[:start] = np.logaddexp(log[:start], np.log(stake))
        part = np.logaddexp.reduce(total[:, start:] - total[:, start : start + 1], axis=0)
        log[start:] = np.logaddexp(log[start:], np.log(stake / len(BET_SIZES)) + part)
    return log


def _bet_times_and_stakes() -> tuple[Ints, Floats]:
    """Candidate changes as numbers of answers before them, and the stakes, which sum to one."""
    size = 1 + int(np.log(MAX_WITNESSES / FIRST_CHANGE) / np.log(CHANGE_RATIO))
    stakes = 1.0 / (3.0 + np.arange(size))
    return np.rint(FIRST_CHANGE * CHANGE_RATIO ** np.arange(size)).astype(np.int64), stakes / stakes.sum()


def largest_evidence(x: Floats) -> Evidence:
    """The largest evidence so far for a change in ``x``; see the module.

    The estimated change maximises the difference between the means before and after it, in standard errors, over the
    answers up to the largest evidence.

    Examples
    --------
    >>> largest_evidence(np.repeat([0.0, 1.0], 60)).start
    60
    """
    log = running_log_evidence(x)
    answers_seen = max(int(log.argmax()), 2)
    n = np.arange(1, answers_seen)
    distance = (n * x[:answers_seen].mean() - np.cumsum(x[:answers_seen])[:-1]) / np.sqrt(n * (answers_seen - n))
    position = int(np.abs(distance).argmax())
    return Evidence(float(log.max()), position + 1, float(np.sign(distance[position])))
