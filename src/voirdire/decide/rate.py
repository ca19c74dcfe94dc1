"""Share of items that people would call good, from answers of judges to all items and of people to some."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from voirdire.agreement.engine.resampling import Resampling
from voirdire.agreement.ppi.estimate import Sample, powered_estimate
from voirdire.agreement.ppi.intervals import powered_interval
from voirdire.agreement.ppi.rows import MAX_STANDARD_ERRORS, standardised_prediction_difference
from voirdire.decide.good_answers import Judged, read_judged
from voirdire.decide.strata import Share, answers_needed, cut_strata, rogan_gladen, share_of_good
from voirdire.errors import InputError, raise_problems
from voirdire.settings import PROB, is_number, share_problems

JOINT, POWERED, CORRECTED, PEOPLE = "joint", "prediction-powered", "rogan-gladen", "people"
MIN_PEOPLE_ANSWERS = 10  # number of human answers below which judges' answers are not used
RULE = (
    "The joint model where people answered ten items or more and judges' answers differ between items: people's "
    "answers within levels of judges' answers, weighted by the frequency of the level; else people alone. It is valid "
    "for any quality of the judges, if the items that people answered are a random sample."
)


def rate(
    table: object,
    humans: object = None,
    *,
    people: Sequence[str] | str = (),
    by: str | None = None,
    judges: Sequence[str] | None = None,
    positive: object = None,
    levels: Sequence[object] | None = None,
    margin: float = 0.03,
    prob: float = PROB,
) -> dict[str, Any]:
    """Estimate the share of items that people would call good.

    Parameters
    ----------
    table : path, dataframe, Labels or Scores
        The judges' answers.
    humans : path or dataframe, or a list of them
        Labels or scores of people, for a random sample of the items. Of several people's labels for an item the most
        frequent one counts, of their scores the mean.
    people : sequence of str, optional
        Judges of the table who are people, instead of or in addition to ``humans``.
    by : str, optional
        A column of the table, to estimate the share in each of its groups, too. Systems are always estimated.
    judges : sequence of str, optional
        The judges to use; all by default.
    positive : str or float, optional
        The good label, by default the one whose word is known to be good; for people's scores the lowest good score.
    levels : sequence, optional
        All possible labels.
    margin : float
        Half-width of the interval for which ``needed`` is computed.
    prob : float
        Coverage of the intervals.

    Returns
    -------
    dict
        rate, low, high; estimator (see `RULE`) with ``rule``; humans (items that people answered), items, judges;
        needed (total human answers until the interval has the half-width ``margin``; None where answers to all items
        are too few), margin, prob; estimators: all four, with rate, low and high (None where undefined); by: by, group,
        rate, low, high, estimator, humans, items; differences of systems, paired by their common
        contexts: a, b, difference, low, high, p_value, contexts (of both); note.

    Raises
    ------
    InputError
        A table or an argument is wrong, people and judges have no item in common, or the good class is not known.

    Examples
    --------
    >>> import pandas as pd
    >>> judged = pd.DataFrame({"judge": "gpt", "item": range(200), "label": ["pass", "pass", "fail", "pass"] * 50})
    >>> people = pd.DataFrame({"item": range(40), "label": ["pass", "fail", "fail", "pass"] * 10})
    >>> found = rate(judged, people)
    >>> found["estimator"], round(found["rate"], 2), round(found["low"], 2), round(found["high"], 2)
    ('joint', 0.51, 0.4, 0.62)
    """
    if not (is_number(margin) and 0 < margin < 1):
        raise InputError(
            f"margin {margin!r} is not between 0 and 1; 0.03 is an interval of the rate and 3 points to both sides"
        )
    raise_problems(share_problems(prob=(prob, PROB)))
    by = None if by is None else str(by)
    judged = read_judged(table, humans, people=people, by=by, judges=judges, positive=positive, levels=levels)
    overall, share = _estimate_rate(judged, prob)
    answered = ~np.isnan(judged.good)
    from scipy.special import ndtri

    needed = None if share is None else answers_needed(share, len(answered), margin / float(ndtri((1 + prob) / 2)))
    groups, differences = [], []
    for name, (names, code) in judged.groups.items():
        shares = {}
        for index, group in enumerate(names):
            row, shares[group] = _estimate_rate(judged.select_items(code == index), prob)
            groups.append({"by": name, "group": group, **row})
        if name == "system":
            differences = _system_differences(judged, names, code, shares, prob)
    return {
        **overall,
        "rule": RULE,
        "judges": list(judged.judges),
        "margin": margin,
        "needed": needed,
        "prob": prob,
        "estimators": _all_estimates(judged, prob),
        "by": groups,
        "differences": differences,
        "note": "; ".join(filter(None, [judged.note, _rate_note(judged, overall["estimator"])])),
    }


def _estimate_rate(judged: Judged, prob: float) -> tuple[dict[str, Any], Share | None]:
    """Estimate by the rule, as a row, and its :class:`Share`; None in place of the share without human answers."""
    answered = ~np.isnan(judged.good)
    n = int(answered.sum())
    row: dict[str, Any] = {"rate": None, "low": None, "high": None, "estimator": PEOPLE}
    counts = {"humans": n, "items": len(answered)}
    if n < 2:
        return row | counts, None
    people_only = n < MIN_PEOPLE_ANSWERS or answered.all() or np.ptp(judged.predicted) == 0
    stratum = np.zeros(len(answered), np.int64) if people_only else cut_strata(judged.predicted, answered)
    share = share_of_good(judged.good, stratum, judged.clusters)
    if people_only:
        return _powered_estimate(judged, 0.0, prob) | {"estimator": PEOPLE} | counts, share
    return share.result_row(prob) | {"estimator": JOINT} | counts, share


def _powered_sample(judged: Judged) -> Sample:
    clustered = len(np.unique(judged.clusters)) < len(judged.good)
    answered, groups = ~np.isnan(judged.good), judged.clusters if clustered else None
    return Sample.of_values(np.nan_to_num(judged.good), judged.predicted, answered, groups)


def _powered_estimate(judged: Judged, weight: float | None, prob: float) -> dict[str, Any]:
    sample = _powered_sample(judged)
    estimate = powered_estimate(sample, weight)
    ends = powered_interval(sample, estimate, "wilson", share=True, weight=weight, resampling=Resampling(prob=prob))
    return {"rate": min(max(estimate.value, 0.0), 1.0), "low": ends.low, "high": ends.high}


def _all_estimates(judged: Judged, prob: float) -> list[dict[str, Any]]:
    from scipy.special import ndtri

    answered = ~np.isnan(judged.good)
    share = share_of_good(judged.good, cut_strata(judged.predicted, answered), judged.clusters)
    value, variance = rogan_gladen((judged.predicted >= 0.5).astype(float), judged.good)
    half = float(ndtri((1 + prob) / 2)) * math.sqrt(variance)
    ends = [None] * 3 if math.isnan(value) else [value, max(value - half, 0.0), min(value + half, 1.0)]
    return [
        {"estimator": JOINT, **share.result_row(prob)},
        {"estimator": POWERED, **_powered_estimate(judged, None, prob)},
        {"estimator": CORRECTED, **dict(zip(("rate", "low", "high"), ends, strict=True))},
        {"estimator": PEOPLE, **_powered_estimate(judged, 0.0, prob)},
    ]


def _system_differences(
    judged: Judged, names: tuple[str, ...], code: np.ndarray[Any, Any], shares: dict[str, Share | None], prob: float
) -> list[dict[str, Any]]:
    """Differences between all pairs of systems, paired by their common contexts."""
    from scipy.stats import norm

    rows = []
    for a, b in combinations(range(len(names)), 2):
        share_a, share_b = shares[names[a]], shares[names[b]]
        if share_a is None or share_b is None:
            continue
        cluster_parts = np.zeros((2, int(judged.clusters.max()) + 1))
        for index, (place, share) in enumerate(((a, share_a), (b, share_b))):
            np.add.at(cluster_parts[index], judged.clusters[code == place], share.parts)
        covariance = float(cluster_parts[0] @ cluster_parts[1])
        error = math.sqrt(max(share_a.variance + share_b.variance - 2 * covariance, 0.0))
        difference, half = share_a.value - share_b.value, float(norm.ppf((1 + prob) / 2)) * error
        contexts = len(np.intersect1d(*(judged.clusters[code == place] for place in (a, b))))
        p = float(2 * norm.sf(abs(difference) / error)) if error > 0 else 1.0
        ends = {"low": max(difference - half, -1.0), "high": min(difference + half, 1.0)}
        row = {"a": names[a], "b": names[b], "difference": difference, **ends}
        rows.append(row | {"p_value": p, "contexts": contexts})
    return rows


def _rate_note(judged: Judged, estimator: str) -> str:
    answered = ~np.isnan(judged.good)
    people_good, notes = judged.good[answered], []
    if np.ptp(people_good) == 0:
        verdict = "good" if people_good[0] else "not good"
        notes.append(
            f"people called all {len(people_good)} items {verdict}: judges' errors on the others are not known"
        )
    if estimator == PEOPLE and not answered.all():
        reason = (
            f"only {len(people_good)} human answers"
            if len(people_good) < MIN_PEOPLE_ANSWERS
            else "judges say the same of every item"
        )
        notes.append(f"{reason}: people alone")
    distance = standardised_prediction_difference(_powered_sample(judged))
    if abs(distance) > MAX_STANDARD_ERRORS:
        notes.append(
            f"judges answer people's items otherwise than the rest ({distance:+.1f} standard errors): these are no "
            "random sample, and the rate is of items like them"
        )
    return "; ".join(notes)
