"""Verdict on each judge (keep, recalibrate, drop, or ask people), and the information on which it is based.

With p the joint distribution of the truth (or reference) and an answer, the mutual information (Shannon 1948) is

    sum p log(p / (row sum times column sum))

nats: for two equally likely classes 0 to ln 2. The reference differs. For a fit (``information``) it is the truth under
the model: the class of an item from the table's distribution, or the better of two typical items. For an audit
(``agreement_information``) it is the answer of people, or of most of the other judges, to the table's own questions, by
counting. The latter is lower where these answers are wrong, too, and where questions are hard.

For votes, scores and rankings of a fit, an answer to which of two typical items is better, right with probability p,
has ln 2 + p ln p + (1 - p) ln (1 - p) nats. For labels it has sum_c s_c sum_l r_cl ln(r_cl / sum_c s_c r_cl), with
s the shares of the classes and r the judge's rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voirdire.fit.answer_weight import detect_families
from voirdire.kinds.checks import ORIENTATION_CHECKS
from voirdire.kinds.fit import Fit
from voirdire.typing import Floats

KEEP, RECALIBRATE, DROP, ASK = "keep", "recalibrate", "drop", "ask people"
MIN_NATS = 0.02  # nats in an answer that is right with probability .6 between two equally likely classes


def mutual_information(joint: Floats) -> Floats:
    """Mutual information in nats, from joint probabilities of shape (..., rows, columns).

    Examples
    --------
    >>> float(mutual_information(np.array([[0.5, 0.0], [0.0, 0.5]])).round(3)), float(np.log(2).round(3))
    (0.693, 0.693)
    >>> float(mutual_information(np.full((2, 2), 0.25)))
    0.0
    """
    from scipy.special import rel_entr

    independent = joint.sum(axis=-1, keepdims=True) * joint.sum(axis=-2, keepdims=True)
    information = rel_entr(joint, independent).sum(axis=(-1, -2))
    return np.where(information < 1e-12, 0.0, information)  # removes rounding errors at zero; NaN is unknown


@dataclass(frozen=True)
class Verdict:
    """A verdict with its reason.

    Attributes
    ----------
    verdict : "keep", "recalibrate", "drop" or "ask people"
    why : str
    """

    verdict: str
    why: str


def judge_verdict(
    information: float | None,
    upper: float | None,
    biases: Sequence[str],
    copy_of: str | None = None,
    unknown: str = "",
    reference: str = "what is right",
    clean: str = "no bias was found",
) -> Verdict:
    """Decide on a judge.

    Rules in this order: a copy of a judge that is kept, or a judge with almost no information (upper end below
    `MIN_NATS`), is dropped; where the information is unknown, people are asked; a judge with biases is recalibrated;
    people are asked, too, where there may be almost no information (the estimate is below `MIN_NATS`).

    Parameters
    ----------
    information, upper : float or None
        Nats of information in an answer, and the upper end of its interval (infinite without one); None where not
        known.
    biases : sequence of str
        Descriptions of the biases that were found.
    copy_of : str, optional
        A judge with almost identical answers.
    unknown : str
        Reason for which the information is unknown.
    reference : str
        Description of the quantity that the information is about.
    clean : str
        Text where there is no bias, according to the kind of test.

    Examples
    --------
    >>> judge_verdict(0.3, 0.4, []).verdict, judge_verdict(0.3, 0.4, ["picks first"]).verdict
    ('keep', 'recalibrate')
    >>> judge_verdict(0.001, 0.01, []).verdict, judge_verdict(None, None, []).verdict
    ('drop', 'ask people')
    >>> judge_verdict(0.001, 0.1, []).why
    'there are too few answers to know whether the judge is informative (0.00 nats an answer, at most 0.10)'
    """
    if copy_of is not None:
        return Verdict(DROP, f"answers as {copy_of} does, mistakes and all: its answers add nothing")
    if information is None or upper is None:
        return Verdict(ASK, unknown or "it is unknown how often it is right")
    if upper < MIN_NATS:
        return Verdict(DROP, f"an answer has at most {upper:.3f} nats of information about {reference}")
    if biases:
        return Verdict(RECALIBRATE, "; ".join(biases))
    if unknown:
        return Verdict(ASK, unknown)
    if information < MIN_NATS and upper == np.inf:
        return Verdict(
            ASK, f"an answer has {information:.2f} nats of information about {reference}, by a fit without intervals"
        )
    if information < MIN_NATS:
        reason = "there are too few answers to know whether the judge is informative"
        return Verdict(ASK, f"{reason} ({information:.2f} nats an answer, at most {upper:.2f})")
    return Verdict(KEEP, f"an answer has {information:.2f} nats of information about {reference}, and {clean}")


FALSE_ALARM = 0.015  # probability of finding anything but drift for a judge without a bias
MIN_BIAS = 0.02  # smallest bias that matters, relative to the range of answers
_CLEAN = f"no position bias beyond {MIN_BIAS} was found"
_AUDIT_HINT = "voirdire audit looks for biases"


def alarm_interval(alarm: float, sides: int = 2) -> float:
    """Coverage of the interval with which a bias is found with probability ``alarm`` for a judge without one."""
    return 1.0 - alarm * (2 / sides)


def bias_direction(
    value: float, low: float, high: float, *, none: float = 0.0, matters: float, two_sided: bool = True
) -> int:
    """Direction of a bias: 1 above ``none``, -1 below, 0 where no bias is found.

    A bias is found where it is large enough to matter and its interval excludes ``none``. Audits and the verdicts of a
    fit use this rule.

    Parameters
    ----------
    value, low, high : float
        The measure with its interval of coverage :func:`alarm_interval`; NaN where unknown.
    none : float
        Value of a judge without the bias.
    matters : float
        Distance from ``none`` beyond which it matters.
    two_sided : bool
        False where values below ``none`` are not a bias.

    Examples
    --------
    >>> bias_direction(0.05, 0.03, 0.07, matters=MIN_BIAS), bias_direction(0.05, -0.01, 0.11, matters=MIN_BIAS)
    (1, 0)
    """
    if low > none and value - none > matters:
        return 1
    return -1 if two_sided and high < none and none - value > matters else 0


def verdicts(fit: Fit) -> list[dict[str, Any]]:
    """Verdict on each judge: judge, verdict, why, information (None where unknown).

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> votes = pd.DataFrame({"judge": ["a", "b"] * 20, "first": "x", "second": "y", "winner": ["x", "x"] * 20})
    >>> [row["verdict"] for row in verdicts(fit(votes, model="crowd-bt", method="laplace"))]
    ['keep', 'keep']
    """
    judges = fit.tables["judges"]
    names = list(judges["judge"])
    shifts = _position_biases(fit)
    value, upper = _judge_information(fit, len(names))
    failed = [check.message for check in fit.all_checks if check.check in ORIENTATION_CHECKS and check.level == "fail"]
    unknown = "the panel may be wrong as a whole: " + failed[0] if failed else ""
    copies = _find_copies(fit)
    rows = []
    for index, name in enumerate(names):
        information = None if np.isnan(value[index]) else float(value[index])
        high = np.inf if np.isnan(upper[index]) else float(upper[index])
        reason = unknown or "the model does not say how often it is right"
        biases = [] if shifts is None else _bias_messages(*(float(ends[index]) for ends in shifts))
        clean = _AUDIT_HINT if shifts is None or np.isnan(shifts[1][index]) else _CLEAN
        unsure_why = reason if information is None else unknown
        verdict = judge_verdict(information, high, biases, copies.get(name), unsure_why, clean=clean)
        rows.append({"judge": name, "verdict": verdict.verdict, "why": verdict.why, "information": information})
    return rows


def _judge_information(fit: Fit, judges: int) -> tuple[Floats, Floats]:
    """Nats of information in an answer of each judge, and the upper end of its interval; NaN where unknown."""
    columns, density = fit.tables["judges"], fit.problem.density
    if "p_right" in columns:
        right, upper = (np.asarray(columns[name], dtype=float) for name in ("p_right", "p_right_high"))
        return _pair_information(right), _pair_information(upper)
    if not getattr(density, "latent", False):
        return np.full(judges, np.nan), np.full(judges, np.nan)
    shown = fit.posterior.summarise_quantities(lambda values: {"": _class_information(density, values)}, fit.prob)[""]
    return shown.point, shown.high


def _pair_information(right: Floats) -> Floats:
    p = np.clip(right, 0.5, 1.0)
    return mutual_information(0.5 * np.stack([p, 1.0 - p, 1.0 - p, p], axis=-1).reshape(*p.shape, 2, 2))


def _class_information(density: Any, values: Any) -> Floats:
    rates = np.exp(density.rates(values, np))  # (..., judges, classes, labels)
    share = np.exp(density.shares(values, np)).mean(axis=-2)[..., None, :, None]
    return mutual_information(share * rates)


def _position_biases(fit: Fit) -> tuple[Floats, Floats, Floats] | None:
    """Position bias of each judge with the interval of its test; None without such a quantity.

    The interval is the fit's, widened as for a normal distribution, because few draws determine its far ends. NaN where
    the order shown does not identify the bias, or the fit has no draws.
    """
    from scipy.special import ndtri

    judges = fit.tables["judges"]
    if "position_bias_low" not in judges or fit.kind.fixed_order(fit.problem) is not None:
        return None
    value, low, high = (np.asarray(judges[f"position_bias{end}"], dtype=float) for end in ("", "_low", "_high"))
    widening = ndtri((1 + alarm_interval(FALSE_ALARM)) / 2) / ndtri((1 + fit.prob) / 2)
    return value, value - widening * (value - low), value + widening * (high - value)


def _bias_messages(value: float, low: float, high: float) -> list[str]:
    """Describe a position bias in words; empty where none is found."""
    direction = bias_direction(value, low, high, matters=MIN_BIAS)
    place = "first" if direction > 0 else "second"
    return [f"picks the {place} item too often ({value:+.2f}); show both orders"] if direction else []


def _find_copies(fit: Fit) -> dict[str, str]:
    """Judges with answers down-weighted as duplicates, each with the first judge of its group."""
    weight = getattr(fit.problem, "answer_weight", None)
    if weight is None or np.all(weight == 1) or fit.families:
        return {}
    groups = detect_families(fit.problem, fit.posterior.centre)
    return {judge: first for judge, first in groups.items() if judge != first}
