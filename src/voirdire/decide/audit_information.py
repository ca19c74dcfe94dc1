"""Measures of a judge that are no bias: how far single answers are off, and the information that its answers have."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voirdire.decide.audit_answers import Answers
from voirdire.decide.audit_effects import agreement_information, mean_effect, truth_for

INFORMATION = "agreement_information"
SCORED = 3  # different numbers from which on their order tells, beside which cells are few


class Found(NamedTuple):
    """A measure of a judge.

    Attributes
    ----------
    measure, note : str
    value : float
    low, high : float or None
    n : int
        Units.
    found : bool or None
        Whether it is a bias; None where it is none of its kind.
    """

    measure: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    found: bool | None
    note: str


def information_rows(answers: Answers, judge: int, fit: float | None, prob: float) -> list[Found]:
    """The outfit of a judge, and the information that its answers have of what they are compared with.

    Parameters
    ----------
    answers : Answers
    judge : int
    fit : float or None
        Its outfit.
    prob : float
        Coverage of intervals.
    """
    rows = []
    if fit is not None:
        note = "1 is like the panel, item by item; above 1.5 single answers are far off"
        rows.append(Found("outfit", fit, None, None, len(answers.rows_of_judge[judge]), None, note))
    different = len(np.unique(answers.value[~np.isnan(answers.value)]))
    scored = not answers.paired and different >= SCORED
    numbers = _score_information(answers, judge, prob) if scored else []
    told = None if numbers else agreement_information(answers, judge)
    truth = truth_for(answers, judge)
    if numbers:
        rows += numbers
    elif told is not None and truth is not None:
        rows_, true, by_people = truth
        right = mean_effect((answers.said[rows_] == true).astype(float), answers.unit[rows_])
        error = 0.0 if right is None else right.error
        of = "people say" if by_people else "most of the other judges say"
        half = _information_half_width(told, len(rows_), prob) + error**2
        note = f"nats that an answer tells of what {of}; right {0 if right is None else right.value:.0%} of the time"
        units = len(np.unique(answers.unit[rows_]))
        rows.append(Found(INFORMATION, told, max(told - half, 0.0), told + half, units, None, note))
    elif truth is None and not np.isnan(answers.value).all():
        rows += _score_information(answers, judge, prob)
    return rows


def _information_half_width(told: float, n: int, prob: float) -> float:
    """Half the width of the interval of information, whose variance is near none about twice its value over n."""
    from scipy.special import ndtri

    return float(ndtri((1 + prob) / 2)) * float(np.sqrt(2 * told / n + 0.5 / n**2))


def _score_information(answers: Answers, judge: int, prob: float) -> list[Found]:
    """Information of scores: -log(1 - r^2) / 2 of the correlation with what they are compared with."""
    used, e, by_people = answers.beyond(judge)
    own = answers.value[used]
    n = len(np.unique(answers.unit[used]))
    if n < 10 or np.ptp(own) == 0 or np.ptp(own - e) == 0:
        return []
    r = float(np.corrcoef(own, own - e)[0, 1])
    from scipy.special import ndtri

    half = float(ndtri((1 + prob) / 2)) / np.sqrt(max(n - 3, 1))
    ends = np.tanh(np.arctanh(np.clip(r, -0.9999, 0.9999)) + np.array([-half, half]))
    value, low, high = (abs(0.5 * float(np.log(1 - min(max(one, 0.0), 0.9999) ** 2))) for one in (r, *ends))
    of = "people's" if by_people else "the other judges' mean"
    note = f"nats of a normal score with correlation {r:.2f} with {of}"
    return [Found(INFORMATION, value, low, high, n, None, note)]
