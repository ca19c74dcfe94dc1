"""Change of judges over time, by bets that are valid however often one looks.

Let x_1, x_2, ... be what a judge's answers are beyond expectation, in order of time. If the judge does not change,
every order is as likely: given the bag of the first t, x_t is any of them. With w_t(x) the value x less the bag's mean
in its standard deviations, drawn in so that none of the bag is beyond CLIP_SDS of them, the bet of size m pays

    e_t = exp(m w_t(x_t)) / mean over x of the bag of exp(m w_t(x)),

1 on average (a conformal e-value: Vovk 2020, arXiv 2001.05989). A change after answer a is bet on by the product of e_t
over t > a; over sizes m and places a = 12, 18, 27, ... of stake w_j (which falls as 1 / (j + 3)) the evidence M (an
e-value) is the mean of the products. At any one look its expectation is 1, exactly. Were the bag known beforehand, M
would reach 1 / alpha ever with probability at most alpha (Ville); so the check looks at its largest value so far, and
looking again after every answer costs nothing. That the bag is learned on the way costs little where no value is far
out, which CLIP_SDS sees to: of 400 answers looked at one by one, 1 in 100 to all alike in kind, M reached 20 in at most
3% of sequences. Judges and quantities share alpha. Consecutive answers about one question are one witness.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from voirdire.model.problem import Check
from voirdire.tables.words import count_in_words
from voirdire.trust.random_walk import Habit, Stretch, habit_stretches
from voirdire.typing import Floats, Ints

FALSE_ALARM_RATE = 0.05  # chance that any judge is said to change where none does, over all looks
MIN_WITNESSES = 20  # witnesses of a judge
BET_SIZES = np.array([-0.8, -0.5, -0.25, 0.25, 0.5, 0.8])  # of bets, by standard deviation
CLIP_SDS = 2.0  # standard deviations that the farthest value of a bag counts for
FIRST_CHANGE, CHANGE_RATIO = 12, 1.5  # places of changes that are bet on
FIRST_STAKE = 0.75  # of a judge's, on the quantity that is named first; the others share the rest
VALUE_BINS = 64  # of values, between the least and the largest
MAX_WITNESSES = 20_000  # witnesses of a judge; of more, neighbours are averaged
MAX_SHOWN_CHANGES = 3
SEED_STREAM = 2003  # of random numbers that no simulation with the same seed has drawn


@dataclass(frozen=True, eq=False)
class AnswersOverTime:
    """Quantities followed over time, one entry per answer.

    Attributes
    ----------
    judges : tuple of str
    judge : int array, shape (answers,)
    time : array, shape (answers,)
    question : int array, shape (answers,)
        Neighbours of one question are one witness.
    beyond : mapping of (str, str) to array, shape (answers,)
        Answers beyond expectation, by the words for more and for less of it.
    habits : tuple of Habit
        Of judges, which may change; see :mod:`.trust.walk`.
    """

    judges: tuple[str, ...]
    judge: Ints
    time: Floats
    question: Ints
    beyond: Mapping[tuple[str, str], Floats]
    habits: tuple[Habit, ...] = ()


def habits_over_time(parts: Sequence[AnswersOverTime | None], prob: float) -> dict[str, list[Any]]:
    """Habits of judges in blocks of time: judge, habit, start, end, answers, value, low, high; see :mod:`.trust.walk`.

    Empty columns where no judge has two blocks of answers.
    """
    rows = [
        asdict(stretch) | {"judge": part.judges[stretch.judge]}
        for part in parts
        if part is not None
        for stretch in habit_stretches(part.judge, part.time, part.habits, prob)
    ]
    return {field.name: [row[field.name] for row in rows] for field in fields(Stretch)}


class Evidence(NamedTuple):
    """Logarithm of the largest evidence of the bets, after which answer a change seems to come, and its sign."""

    log: float
    start: int
    sign: float


def check_drift(*parts: AnswersOverTime | None, seed: int = 0) -> list[Check]:
    """The check: judges whose answers change with time; nothing where no judge has enough of them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200) + np.repeat([0.0, 1.5], 100)
    >>> each = np.arange(200)
    >>> check_drift(AnswersOverTime(("ann",), each * 0, each * 1.0, each, {("severe", "lenient"): x}))[0].message[:50]
    'ann becomes more severe (from about answer 100 of '
    """
    quantities = [
        quantity for part in parts if part is not None for quantity in _watched_quantities(part, seed)
    ]
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
            "No judge's answers are seen to change with time "
            f"(false alarms {FALSE_ALARM_RATE:.0%} over all looks)."
        )
        return [Check("drift", "ok", 0.0, message)]
    changes = [
        f"{quantity.judge} becomes more {quantity.word} "
        f"(from about answer {quantity.evidence.start * -(-quantity.size // MAX_WITNESSES)} of {quantity.size})"
        for quantity in changed[:MAX_SHOWN_CHANGES]
    ]
    rest_note = (
        f" and {count_in_words(len(changed) - MAX_SHOWN_CHANGES, 'more changes')}"
        if len(changed) > MAX_SHOWN_CHANGES
        else ""
    )
    message = (
        f"{'; '.join(changes)}{rest_note}: the judge or what it was asked changed with time. Look whether its version "
        "or prompt did, fit the times apart, and ask questions in random order."
    )
    return [Check("drift", "warn", float(len({quantity.judge for quantity in changed})), message)]


class _WatchedQuantity(NamedTuple):
    """A quantity of a judge: where it goes in words, how surely, witnesses, part of the judge's stake."""

    judge: str
    word: str
    evidence: Evidence
    size: int
    stake: float


def _watched_quantities(seen: AnswersOverTime, seed: int) -> Iterator[_WatchedQuantity]:
    """Quantities of each judge with enough answers."""
    other_stake = (1.0 - FIRST_STAKE) / max(len(seen.beyond) - 1, 1)
    for k, name in enumerate(seen.judges):
        rows = np.flatnonzero(seen.judge == k)
        if len(rows) < MIN_WITNESSES or np.ptp(seen.time[rows]) == 0.0:
            continue
        order, unit = _time_ordered_answers(seen, rows, seed)
        count = np.bincount(unit)
        if len(count) < MIN_WITNESSES:
            continue
        for index, (words, values) in enumerate(seen.beyond.items()):
            evidence = largest_evidence(_thin_series(np.bincount(unit, values[order]) / np.sqrt(count)))
            stake = 1.0 if len(seen.beyond) == 1 else other_stake if index else FIRST_STAKE
            yield _WatchedQuantity(name, words[0 if evidence.sign > 0 else 1], evidence, len(count), stake)


def _time_ordered_answers(seen: AnswersOverTime, rows: Ints, seed: int) -> tuple[Ints, Ints]:
    """A judge's answers in order of time (of one time: question by question, in random order), and their witnesses."""
    names, question = np.unique(seen.question[rows], return_inverse=True)
    random_order = np.random.default_rng((seed, SEED_STREAM)).permutation(len(names))[question]
    order = np.lexsort((random_order, seen.time[rows]))
    changes = np.diff(question[order]) != 0
    return rows[order], np.concatenate([[0], np.cumsum(changes)])


def _thin_series(x: Floats) -> Floats:
    """Means of neighbours, where there are very many."""
    group_size = -(-len(x) // MAX_WITNESSES)
    return (
        x if group_size == 1 else x[: len(x) // group_size * group_size].reshape(-1, group_size).mean(axis=1)
    )


def log_evidence_steps(x: Floats) -> Floats:
    """Logarithms of what bets of each of :data:`BET_SIZES` pay at each answer, shape (sizes, answers); see the module.

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
    return np.array(
        [m * observed - np.log((bag * np.exp(np.minimum(m * w, 50.0))).sum(axis=1)) for m in BET_SIZES]
    )


def running_log_evidence(x: Floats, places: tuple[Ints, Floats] | None = None) -> Floats:
    """Logarithm of the evidence after each number of answers, shape (answers + 1,).

    Parameters
    ----------
    x : float array, shape (answers,)
    places : (int array, float array), optional
        Answers after which a change is bet on, and their stakes, which sum to 1 at most.

    Examples
    --------
    >>> float(running_log_evidence(np.array([1.0, 2.0])).round(6)[-1])
    0.0
    """
    total = np.concatenate([np.zeros((len(BET_SIZES), 1)), np.cumsum(log_evidence_steps(x), axis=1)], axis=1)
    log = np.full(len(x) + 1, -np.inf)
    for start, stake in zip(*map(np.ndarray.tolist, places or _bet_times_and_stakes()), strict=True):
        # bets on places that are still to come hold what they were given
        log[:start] = np.logaddexp(log[:start], np.log(stake))
        part = np.logaddexp.reduce(total[:, start:] - total[:, start : start + 1], axis=0)
        log[start:] = np.logaddexp(log[start:], np.log(stake / len(BET_SIZES)) + part)
    return log


def _bet_times_and_stakes() -> tuple[Ints, Floats]:
    """Answers after which a change is bet on, and the stakes, which sum to one."""
    size = 1 + int(np.log(MAX_WITNESSES / FIRST_CHANGE) / np.log(CHANGE_RATIO))
    stakes = 1.0 / (3.0 + np.arange(size))
    return np.rint(FIRST_CHANGE * CHANGE_RATIO ** np.arange(size)).astype(np.int64), stakes / stakes.sum()


def largest_evidence(x: Floats) -> Evidence:
    """The largest evidence so far of the bets that ``x`` changes; see the module.

    The change seems to come where the means before and after it, of what was seen then, are farthest apart in their
    standard error.

    Examples
    --------
    >>> largest_evidence(np.repeat([0.0, 1.0], 60)).start
    60
    """
    log = running_log_evidence(x)
    answers_seen = max(int(log.argmax()), 2)
    n = np.arange(1, answers_seen)
    distance = (n * x[:answers_seen].mean() - np.cumsum(x[:answers_seen])[:-1]) / np.sqrt(
        n * (answers_seen - n)
    )
    position = int(np.abs(distance).argmax())
    return Evidence(float(log.max()), position + 1, float(np.sign(distance[position])))
