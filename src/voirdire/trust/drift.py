"""Whether judges change with time, by bets that are valid however often one looks.

Let x_1, x_2, ... be what a judge's answers are beyond expectation, in order of time. If the judge does not change,
every order is as likely, and the conformal p-values

    p_t = (number of s < t with x_s < x_t + u_t (1 + number with x_s = x_t)) / t,   u_t uniform,

are independent and uniform (Vovk, Nouretdinov and Gammerman 2003), so that z_t = Phi^-1(p_t) are independent standard
normal. A change after answer a with shift m is bet on by exp(m S - m^2 n / 2), S the sum of the n values of z after it;
over m ~ Normal(0, s^2) and places a = 8, 12, 18, ... of weight 1 / ((j+1)(j+2)) the wealth is

    M = sum_j w_j (1 + s^2 n_j)^(-1/2) exp(s^2 S_j^2 / (2 (1 + s^2 n_j))).

By Ville's inequality M ever reaches 1 / alpha with probability at most alpha: the check looks at its largest value so
far, and looking again after every answer costs nothing. Judges and quantities share alpha (Bonferroni). Consecutive
answers about one question are one witness.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from voirdire.model.check import Check
from voirdire.typing import Floats, Ints

ALPHA = 0.05  # chance that any judge is said to change where none does, over all looks
FEWEST = 20  # witnesses of a judge
PRIOR = 0.5  # standard deviation of a change, in those of z
FIRST, RATIO = 8, 1.5  # places of changes that are bet on
MOST = 20_000  # witnesses of a judge; of more, neighbours are averaged
SHOWN = 3
OWN = 2003  # of random numbers that no simulation with the same seed has drawn


@dataclass(frozen=True, eq=False)
class OverTime:
    """What is looked at over time, one entry per answer.

    Attributes
    ----------
    judges : tuple of str
    judge : int array, shape (answers,)
    time : array, shape (answers,)
    question : int array, shape (answers,)
        Neighbours of one question are one witness.
    beyond : mapping of (str, str) to array, shape (answers,)
        Answers beyond expectation, by the words for more and for less of it.
    """

    judges: tuple[str, ...]
    judge: Ints
    time: Floats
    question: Ints
    beyond: Mapping[tuple[str, str], Floats]


class Wealth(NamedTuple):
    """Logarithm of the largest wealth of the bets, after which answer a change seems to come, and its sign."""

    log: float
    start: int
    sign: float


def drift(*parts: OverTime | None, seed: int = 0) -> list[Check]:
    """The check: judges whose answers change with time; nothing where no judge has enough of them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200) + np.repeat([0.0, 1.5], 100)
    >>> each = np.arange(200)
    >>> drift(OverTime(("ann",), each * 0, each * 1.0, each, {("severe", "lenient"): x}))[0].message[:50]
    'ann becomes more severe (from about answer 91 of 2'
    """
    found = [one for seen in parts if seen is not None for one in _looked_at(seen, seed)]
    if not found:
        return []
    log_bound = float(np.log(len(found) / ALPHA))
    clear = sorted((one for one in found if one[2].log >= log_bound), key=lambda one: -one[2].log)
    if not clear:
        message = (
            f"No judge's answers are seen to change with time (false alarms {ALPHA:.0%} over all looks)."
        )
        return [Check("drift", "ok", 0.0, message)]
    said = [
        f"{name} becomes more {word} (from about answer {wealth.start * -(-size // MOST)} of {size})"
        for name, word, wealth, size in clear[:SHOWN]
    ]
    more = f" and {len(clear) - SHOWN} more changes" if len(clear) > SHOWN else ""
    message = (
        f"{'; '.join(said)}{more}: the judge or what it was asked changed with time. Look whether its version or "
        "prompt did, fit the times apart, and ask questions in random order."
    )
    return [Check("drift", "warn", float(len({name for name, *_ in clear})), message)]


def _looked_at(seen: OverTime, seed: int) -> Iterator[tuple[str, str, Wealth, int]]:
    """Of judges with enough answers each quantity: judge, where it goes in words, how surely, witnesses."""
    for k, name in enumerate(seen.judges):
        rows = np.flatnonzero(seen.judge == k)
        if len(rows) < FEWEST or np.ptp(seen.time[rows]) == 0.0:
            continue
        order, unit = _witnesses(seen, rows, seed)
        count = np.bincount(unit)
        if len(count) < FEWEST:
            continue
        for words, beyond in seen.beyond.items():
            wealth = largest_wealth(_thinned(np.bincount(unit, beyond[order]) / count), seed)
            yield name, words[0 if wealth.sign > 0 else 1], wealth, len(count)


def _witnesses(seen: OverTime, rows: Ints, seed: int) -> tuple[Ints, Ints]:
    """A judge's answers in order of time (of one time: question by question, in random order), and their witnesses."""
    names, place = np.unique(seen.question[rows], return_inverse=True)
    chance = np.random.default_rng((seed, OWN)).permutation(len(names))[place]
    order = np.lexsort((chance, seen.time[rows]))
    changes = np.diff(place[order]) != 0
    return rows[order], np.concatenate([[0], np.cumsum(changes)])


def _thinned(x: Floats) -> Floats:
    """Means of neighbours, where there are very many."""
    times = -(-len(x) // MOST)
    return x if times == 1 else x[: len(x) // times * times].reshape(-1, times).mean(axis=1)


def conformal(x: Floats, seed: int = 0) -> Floats:
    """Values z_t, independent standard normal where every order of ``x`` is as likely.

    Examples
    --------
    >>> conformal(np.array([1.0, 2.0, 0.0])).round(1).tolist()
    [0.6, 0.5, -1.3]
    """
    from scipy.special import ndtri

    u = np.random.default_rng((seed, OWN)).random(len(x))
    before: list[float] = []
    p = np.empty(len(x))
    for t, value in enumerate(np.round(x, 9).tolist()):
        low, high = bisect_left(before, value), bisect_right(before, value)
        p[t] = (low + u[t] * (high - low + 1)) / (t + 1)
        insort(before, value)
    return np.asarray(ndtri(np.clip(p, 1e-12, 1.0 - 1e-12)), dtype=float)


def largest_wealth(x: Floats, seed: int = 0) -> Wealth:
    """The largest wealth so far of the bets that ``x`` changes; see the module.

    Examples
    --------
    >>> bool(largest_wealth(np.arange(30.0)).log > np.log(1 / ALPHA))
    True
    """
    total = np.concatenate([[0.0], np.cumsum(conformal(x, seed))])
    starts: list[int] = []
    weights: list[float] = []
    while (start := round(FIRST * RATIO ** len(starts))) < len(x):
        weights.append(1.0 / ((len(starts) + 1) * (len(starts) + 2)))
        starts.append(start)
    # bets on places that are still to come hold what they were given
    log = np.full(len(x) + 1, np.log1p(-sum(weights)))
    best = np.full(len(x) + 1, -np.inf)
    at, sums = np.zeros(len(x) + 1, dtype=np.int64), np.zeros(len(x) + 1)
    for start, weight in zip(starts, weights, strict=True):
        n = np.arange(len(x) + 1 - start)
        s = total[start:] - total[start]
        spread = 1.0 + PRIOR**2 * n
        part = np.log(weight) - 0.5 * np.log(spread) + 0.5 * PRIOR**2 * s**2 / spread
        log[:start] = np.logaddexp(log[:start], np.log(weight))
        log[start:] = np.logaddexp(log[start:], part)
        better = part > best[start:]
        at[start:][better], sums[start:][better] = start, s[better]
        best[start:] = np.maximum(best[start:], part)
    top = int(log.argmax())
    return Wealth(float(log[top]), int(at[top]), float(np.sign(sums[top])))
