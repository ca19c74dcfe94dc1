"""A verdict on each judge: keep, recalibrate, drop, or ask people; and the information that verdicts go by.

Of a joint distribution p of what is asked about and what is answered, an answer tells

    sum p log(p / (row sum times column sum))

nats (mutual information, Shannon 1948): of two equally likely things 0 to ln 2. What is asked about differs. Of a fit
(``information``) it is what is right, by the model: the class of an item of the table's mix, or which of two typical
items is better. Of an audit (``agreement_information``) it is what people, or most of the other judges, have answered
in the table's own questions, by counting: it is lower where these err, too, and where questions are hard.

Verdicts on the judges of a fit: what an answer tells of the truth, and whether to keep the judge.

Of votes, scores and rankings a question is which of two typical items is better: an answer that is right with
probability p tells ln 2 + p ln p + (1 - p) ln (1 - p) nats. Of labels it is the class of an item of the table's mix,
with shares s and the judge's rates r: sum_c s_c sum_l r_cl ln(r_cl / sum_c s_c r_cl). It is about what is right, not
about what others answer, which is an audit's.
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
MIN_NATS = 0.02  # nats: an answer that is right with .6 where both are as likely


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
    return np.where(
        information < 1e-12, 0.0, information
    )  # of none rounding leaves something; NaN is not known


@dataclass(frozen=True)
class Verdict:
    """A verdict, and why.

    Attributes
    ----------
    verdict : "keep", "recalibrate", "drop" or "ask people"
    why : str
    """

    verdict: str
    why: str


def judge_verdict(
    information: float | None,
    most: float | None,
    biases: Sequence[str],
    copy_of: str | None = None,
    unknown: str = "",
    of: str = "what is right",
    clean: str = "no bias was found",
) -> Verdict:
    """Decide on a judge.

    In this order: a copy of a judge that is kept, or answers that tell next to nothing (an upper end of the information
    below `MIN_NATS`), are dropped; where it is not known what they tell, people are asked; biases call for
    recalibration; people are asked, too, where answers may tell next to nothing (the information itself is below
    `MIN_NATS`).

    Parameters
    ----------
    information, most : float or None
        Nats an answer tells of the truth, and the upper end of its interval (infinite without one); None where not
        known.
    biases : sequence of str
        What was found, in words.
    copy_of : str, optional
        A judge that answers alike.
    unknown : str
        Why nothing is known of it, in words.
    of : str
        What the information is of, in words.
    clean : str
        What is said where there is no bias, by how it was looked for.

    Examples
    --------
    >>> judge_verdict(0.3, 0.4, []).verdict, judge_verdict(0.3, 0.4, ["picks first"]).verdict
    ('keep', 'recalibrate')
    >>> judge_verdict(0.001, 0.01, []).verdict, judge_verdict(None, None, []).verdict
    ('drop', 'ask people')
    >>> judge_verdict(0.001, 0.1, []).why
    'too few answers say whether the judge knows what is right (0.00 nats an answer, at most 0.10)'
    """
    if copy_of is not None:
        return Verdict(DROP, f"answers as {copy_of} does, mistakes and all: its answers add nothing")
    if information is None or most is None:
        return Verdict(ASK, unknown or "nothing says how often it is right")
    if most < MIN_NATS:
        return Verdict(DROP, f"an answer tells at most {most:.3f} nats of {of}")
    if biases:
        return Verdict(RECALIBRATE, "; ".join(biases))
    if unknown:
        return Verdict(ASK, unknown)
    if information < MIN_NATS and most == np.inf:
        return Verdict(ASK, f"an answer tells {information:.2f} nats of {of}, by a fit without intervals")
    if information < MIN_NATS:
        reason = "too few answers say whether the judge knows what is right"
        return Verdict(ASK, f"{reason} ({information:.2f} nats an answer, at most {most:.2f})")
    return Verdict(KEEP, f"an answer tells {information:.2f} nats of {of}, and {clean}")


FALSE_ALARM = 0.015  # chance that anything but drift is found of a judge without a bias
MIN_BIAS = 0.02  # of the range of answers that matters
_CLEAN = f"no position bias beyond {MIN_BIAS} was found"
_AUDIT_HINT = "voirdire audit looks for biases"


def alarm_interval(alarm: float, sides: int = 2) -> float:
    """Coverage of the interval by which a bias is found with a chance of ``alarm`` in a judge that has none."""
    return 1.0 - alarm * (2 / sides)


def bias_direction(
    value: float, low: float, high: float, *, none: float = 0.0, matters: float, two_sided: bool = True
) -> int:
    """Direction of a bias: 1 above none, -1 below, 0 where none is found.

    A bias is found where it is large enough to matter and its interval excludes that there is none; audits and the
    verdicts of a fit go by it.

    Parameters
    ----------
    value, low, high : float
        The measure with its interval of coverage :func:`alarm_interval`; NaN where it is not known.
    none : float
        Value of a judge without the bias.
    matters : float
        Distance from ``none`` beyond which it matters.
    two_sided : bool
        If not, values below ``none`` are no bias.

    Examples
    --------
    >>> bias_direction(0.05, 0.03, 0.07, matters=MIN_BIAS), bias_direction(0.05, -0.01, 0.11, matters=MIN_BIAS)
    (1, 0)
    """
    if low > none and value - none > matters:
        return 1
    return -1 if two_sided and high < none and none - value > matters else 0


def verdicts(fit: Fit) -> list[dict[str, Any]]:
    """Verdict on each judge: judge, verdict, why, information (None where it is not known).

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
    failed = [
        check.message
        for check in fit.all_checks
        if check.check in ORIENTATION_CHECKS and check.level == "fail"
    ]
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
        rows.append(
            {"judge": name, "verdict": verdict.verdict, "why": verdict.why, "information": information}
        )
    return rows


def _judge_information(fit: Fit, judges: int) -> tuple[Floats, Floats]:
    """Information in nats of an answer of each judge, and the upper end of its interval; NaN where not known."""
    columns, density = fit.tables["judges"], fit.problem.density
    if "p_right" in columns:
        right, upper = (np.asarray(columns[name], dtype=float) for name in ("p_right", "p_right_high"))
        return _pair_information(right), _pair_information(upper)
    if not getattr(density, "latent", False):
        return np.full(judges, np.nan), np.full(judges, np.nan)
    shown = fit.posterior.summarise_quantities(
        lambda values: {"": _class_information(density, values)}, fit.prob
    )[""]
    return shown.point, shown.high


def _pair_information(right: Floats) -> Floats:
    p = np.clip(right, 0.5, 1.0)
    return mutual_information(0.5 * np.stack([p, 1.0 - p, 1.0 - p, p], axis=-1).reshape(*p.shape, 2, 2))


def _class_information(density: Any, values: Any) -> Floats:
    rates = np.exp(density.rates(values, np))  # (..., judges, classes, labels)
    share = np.exp(density.shares(values, np)).mean(axis=-2)[..., None, :, None]
    return mutual_information(share * rates)


def _position_biases(fit: Fit) -> tuple[Floats, Floats, Floats] | None:
    """Position bias of each judge with the interval by which it is tested; None without such a quantity.

    The interval is the fit's, as much wider as one of a normal value: few draws say where its far ends are. NaN where
    the order shown does not tell it, or the fit has no draws.
    """
    from scipy.special import ndtri

    judges = fit.tables["judges"]
    if "position_bias_low" not in judges or fit.kind.fixed_order(fit.problem) is not None:
        return None
    value, low, high = (
        np.asarray(judges[f"position_bias{end}"], dtype=float) for end in ("", "_low", "_high")
    )
    widening = ndtri((1 + alarm_interval(FALSE_ALARM)) / 2) / ndtri((1 + fit.prob) / 2)
    return value, value - widening * (value - low), value + widening * (high - value)


def _bias_messages(value: float, low: float, high: float) -> list[str]:
    """A position bias in words, where it is found."""
    direction = bias_direction(value, low, high, matters=MIN_BIAS)
    place = "first" if direction > 0 else "second"
    return [f"picks the {place} item too often ({value:+.2f}); show both orders"] if direction else []


def _find_copies(fit: Fit) -> dict[str, str]:
    """Judges whose answers were weighed down as duplicates, each with the first judge of its group."""
    weight = getattr(fit.problem, "answer_weight", None)
    if weight is None or np.all(weight == 1) or fit.families:
        return {}
    groups = detect_families(fit.problem, fit.posterior.centre)
    return {judge: first for judge, first in groups.items() if judge != first}
