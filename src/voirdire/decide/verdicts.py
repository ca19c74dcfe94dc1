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
from voirdire.kinds.checks import ORIENTATION
from voirdire.kinds.fit import Fit
from voirdire.typing import Floats

KEEP, RECALIBRATE, DROP, ASK = "keep", "recalibrate", "drop", "ask people"
LITTLE = 0.02  # nats: an answer that is right with .6 where both are as likely


def mutual_information(joint: Floats) -> Floats:
    """Nats that one of two things tells of the other, of joint probabilities, shape (..., rows, columns).

    Examples
    --------
    >>> float(mutual_information(np.array([[0.5, 0.0], [0.0, 0.5]])).round(3)), float(np.log(2).round(3))
    (0.693, 0.693)
    >>> float(mutual_information(np.full((2, 2), 0.25)))
    0.0
    """
    from scipy.special import rel_entr

    apart = joint.sum(axis=-1, keepdims=True) * joint.sum(axis=-2, keepdims=True)
    return np.asarray(rel_entr(joint, apart).sum(axis=(-1, -2)))


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
    below `LITTLE`), are dropped; where it is not known what they tell, people are asked; biases call for recalibration;
    people are asked, too, where answers may tell next to nothing (the information itself is below `LITTLE`).

    Parameters
    ----------
    information, most : float or None
        Nats an answer tells of the truth, and the upper end of its interval; None where it is not known.
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
    if most < LITTLE:
        return Verdict(DROP, f"an answer tells at most {most:.3f} nats of {of}")
    if biases:
        return Verdict(RECALIBRATE, "; ".join(biases))
    if unknown:
        return Verdict(ASK, unknown)
    if information < LITTLE:
        few = "too few answers say whether the judge knows what is right"
        return Verdict(ASK, f"{few} ({information:.2f} nats an answer, at most {most:.2f})")
    return Verdict(KEEP, f"an answer tells {information:.2f} nats of {of}, and {clean}")


LARGE = 0.1  # of a position bias
_CLEAN = f"no position bias beyond {LARGE} was found"
_NOT_LOOKED = "voirdire audit looks for biases"


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
    names, clean = list(judges["judge"]), _CLEAN if "position_bias" in judges else _NOT_LOOKED
    value, most = _judge_information(fit, len(names))
    unsure = [one.message for one in fit.all_checks if one.check in ORIENTATION and one.level == "fail"]
    unknown = "the panel may be wrong as a whole: " + unsure[0] if unsure else ""
    copies = _find_copies(fit)
    rows = []
    for at, name in enumerate(names):
        told = None if np.isnan(value[at]) else float(value[at])
        high = told if np.isnan(most[at]) else float(most[at])
        why = unknown or "the model does not say how often it is right"
        biases, unsure_why = _bias_messages(judges, at), why if told is None else unknown
        found = judge_verdict(told, high, biases, copies.get(name), unsure_why, clean=clean)
        rows.append({"judge": name, "verdict": found.verdict, "why": found.why, "information": told})
    return rows


def _judge_information(fit: Fit, judges: int) -> tuple[Floats, Floats]:
    """Nats that an answer of each judge tells, and the upper end of its interval; NaN where it is not known."""
    columns, density = fit.tables["judges"], fit.problem.density
    if "p_right" in columns:
        right, most = (np.asarray(columns[name], dtype=float) for name in ("p_right", "p_right_high"))
        return _pair_information(right), _pair_information(most)
    if not getattr(density, "latent", False):
        return np.full(judges, np.nan), np.full(judges, np.nan)
    shown = fit.posterior.shown(lambda values: {"": _class_information(density, values)}, fit.prob)[""]
    return shown.point, shown.high


def _pair_information(right: Floats) -> Floats:
    p = np.clip(right, 0.5, 1.0)
    return mutual_information(0.5 * np.stack([p, 1.0 - p, 1.0 - p, p], axis=-1).reshape(*p.shape, 2, 2))


def _class_information(density: Any, values: Any) -> Floats:
    rates = np.exp(density.rates(values, np))  # (..., judges, classes, labels)
    share = np.exp(density.shares(values, np)).mean(axis=-2)[..., None, :, None]
    return mutual_information(share * rates)


def _bias_messages(judges: Any, at: int) -> list[str]:
    """Biases in words: a position bias whose interval excludes none and that is large."""
    if "position_bias" not in judges:
        return []
    value, low, high = (
        float(judges[name][at]) for name in ("position_bias", "position_bias_low", "position_bias_high")
    )
    if abs(value) > LARGE and (low > 0 or high < 0):
        return [
            f"picks the {'first' if value > 0 else 'second'} item too often ({value:+.2f}); show both orders"
        ]
    return []


def _find_copies(fit: Fit) -> dict[str, str]:
    """Judges whose answers were weighed down as duplicates, each with the first that it is alike."""
    weight = getattr(fit.problem, "answer_weight", None)
    if weight is None or np.all(weight == 1) or fit.families:
        return {}
    groups = detect_families(fit.problem, fit.posterior.centre)
    return {judge: first for judge, first in groups.items() if judge != first}
