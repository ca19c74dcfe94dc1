"""Measures of a judge that are not biases: outfit, and the information in its answers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voirdire.decide.audit_answers import Answers
from voirdire.decide.audit_effects import agreement_information, known_answers_of_judge, mean_effect

INFORMATION = "agreement_information"
MIN_SCORE_LEVELS = 3  # distinct numbers from which correlation replaces the table of levels


class MeasureRow(NamedTuple):
    """One measure of a judge.

    Attributes
    ----------
    measure, note : str
        Name and meaning.
    value : float
    low, high : float or None
        Ends of the interval.
    n : int
        Number of units.
    found : bool or None
        True where a bias is found; None for measures that are not biases.
    """

    measure: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    found: bool | None
    note: str


def information_rows(answers: Answers, judge: int, fit: float | None, prob: float) -> list[MeasureRow]:
    """Outfit of a judge, and the information in its answers about the reference.

    Parameters
    ----------
    answers : Answers
    judge : int
    fit : float or None
        Outfit of the judge.
    prob : float
        Coverage of intervals.
    """
    rows = []
    if fit is not None:
        note = "1 is like the panel, item by item; above 1.5 single answers are far off"
        rows.append(MeasureRow("outfit", fit, None, None, len(answers.rows_of_judge[judge]), None, note))
    distinct = len(np.unique(answers.value[~np.isnan(answers.value)]))
    scored = not answers.paired and distinct >= MIN_SCORE_LEVELS
    numbers = _score_information(answers, judge, prob) if scored else []
    information = None if numbers else agreement_information(answers, judge)
    truth = known_answers_of_judge(answers, judge)
    if numbers:
        rows += numbers
    elif information is not None and truth is not None:
        judged_rows, true, by_people = truth
        right = mean_effect((answers.level[judged_rows] == true).astype(float), answers.unit[judged_rows])
        error = 0.0 if right is None else right.error
        reference = "people say" if by_people else "most of the other judges say"
        half = _information_half_width(information, len(judged_rows), prob) + error**2
        share = 0 if right is None else right.value
        note = f"nats of information about what {reference}; right {share:.0%} of the time"
        units = len(np.unique(answers.unit[judged_rows]))
        rows.append(
            MeasureRow(INFORMATION, information, max(information - half, 0.0), information + half, units, None, note)
        )
    elif truth is None and not np.isnan(answers.value).all():
        rows += _score_information(answers, judge, prob)
    return rows


def _information_half_width(information: float, n: int, prob: float) -> float:
    """Half-width of the interval of information; near zero its variance is about twice its value over n."""
    from scipy.special import ndtri

    return float(ndtri((1 + prob) / 2)) * float(np.sqrt(2 * information / n + 0.5 / n**2))


def _score_information(answers: Answers, judge: int, prob: float) -> list[MeasureRow]:
    """Information of scores: -log(1 - r^2) / 2, with r their correlation with the reference."""
    rows, e, by_people = answers.reference_differences(judge)
    scores = answers.value[rows]
    n = len(np.unique(answers.unit[rows]))
    if n < 10 or np.ptp(scores) == 0 or np.ptp(scores - e) == 0:
        return []
    r = float(np.corrcoef(scores, scores - e)[0, 1])
    from scipy.special import ndtri

    half = float(ndtri((1 + prob) / 2)) / np.sqrt(max(n - 3, 1))
    ends = np.tanh(np.arctanh(np.clip(r, -0.9999, 0.9999)) + np.array([-half, half]))
    value, low, high = (
        abs(0.5 * float(np.log(1 - min(max(correlation, 0.0), 0.9999) ** 2))) for correlation in (r, *ends)
    )
    reference = "people's" if by_people else "the other judges' mean"
    note = f"nats of a normal score with correlation {r:.2f} with {reference}"
    return [MeasureRow(INFORMATION, value, low, high, n, None, note)]
