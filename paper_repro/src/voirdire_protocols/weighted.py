"""Probability-weighted scores: sum of p(s) s over the scores s of the scale.

p(s) is the probability of the token s at the position of the answer's score, divided by the total probability of all
scores of the scale among the alternatives that the server sent (G-Eval, Liu et al. 2023; MAREval, eq. 1).
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from itertools import accumulate
from typing import Any, NamedTuple

from voirdire.collect.protocol import Logprobs

_SCORE_PATTERN = re.compile(r'"score"\s*:\s*"?(\d)')
_LOGPROB_TOLERANCE = 1e-3
_DIGIT_PATTERN = re.compile(r'\s*"?(\d)(?!\d)')


class WeightedScore(NamedTuple):
    """A weighted score, and the total probability of the scale's scores among the alternatives.

    Examples
    --------
    >>> WeightedScore(3.5, 0.9).mass
    0.9
    """

    value: float
    mass: float


def scale_problems(options: Any, otherwise: str) -> list[str]:
    """Return a sentence if token probabilities are used, but the scale has scores of more than one digit.

    Examples
    --------
    >>> from types import SimpleNamespace as Options
    >>> scale_problems(Options(low=1, high=5, weighting="logprobs"), "samples")
    []
    >>> scale_problems(Options(low=1, high=10, weighting="logprobs"), "samples")  # doctest: +ELLIPSIS
    ["options low and high are 1 and 10: token probabilities need scores of one digit; ..."]
    """
    if options.weighting != "logprobs" or 0 <= options.low < options.high <= 9:
        return []
    return [
        f"options low and high are {options.low} and {options.high}: token probabilities need scores of one digit;"
        f" give a scale within 0 to 9, or weighting = {otherwise!r}"
    ]


def expected_score(logprobs: Logprobs, low: int, high: int) -> WeightedScore | str:
    """Return the weighted score of an answer ``{"score": s}``, or the reason why there is none.

    Parameters
    ----------
    logprobs : tuple
        Per position the token and its alternatives with their log-probabilities.
    low, high : int
        The scale's ends, single digits.

    Examples
    --------
    >>> import math
    >>> alternatives = (("4", math.log(0.6)), ("3", math.log(0.2)), ("x", math.log(0.2)))
    >>> shown = (('{"score": ', ()), ("4", alternatives), ("}", ()))
    >>> expected_score(shown, 1, 5).value  # (0.6 * 4 + 0.2 * 3) / 0.8
    3.75
    >>> expected_score((), 1, 5)
    'the server gave no token probabilities'
    """
    if not logprobs:
        return "the server gave no token probabilities"
    written = "".join(token for token, _ in logprobs)
    matches = list(_SCORE_PATTERN.finditer(written))
    if not matches:
        return "the answer's score is not where its token probabilities could be read"
    target = matches[-1].start(1)
    ends = list(accumulate(len(token) for token, _ in logprobs))
    position = bisect_right(ends, target)
    token, alternatives = logprobs[position]
    start = ends[position] - len(token)
    # a token may start before the digit (" 4", ":4"); alternatives count if they have the same start
    prefix = token[: target - start].rstrip(' "')
    score_logprobs: dict[int, list[float]] = {}
    for text, logprob in alternatives:
        match = _DIGIT_PATTERN.match(text.removeprefix(prefix)) if text.startswith(prefix) else None
        if match and low <= int(match[1]) <= high:
            score_logprobs.setdefault(int(match[1]), []).append(logprob)
    # rounding may make a probability slightly larger than 1; NaN is refused, too
    if not all(logprob_value <= _LOGPROB_TOLERANCE for values in score_logprobs.values() for logprob_value in values):
        return "the server's log-probabilities are not all numbers of at most 0"
    weights = {
        score: math.fsum(math.exp(logprob_value) for logprob_value in values)
        for score, values in score_logprobs.items()
    }
    mass = math.fsum(weights.values())
    if not mass > 0:
        return f"no score from {low} to {high} is among the token's alternatives"
    return WeightedScore(math.fsum(score * weight for score, weight in weights.items()) / mass, mass)
