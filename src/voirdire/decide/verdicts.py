"""A verdict on each judge: keep, recalibrate, drop, or ask people; and the information that verdicts go by.

Of a joint distribution p of what is asked about and what is answered, an answer tells

    sum p log(p / (row sum times column sum))

nats (mutual information, Shannon 1948): of two equally likely things 0 to ln 2. What is asked about differs. Of a fit
(``information``) it is what is right, by the model: the class of an item of the table's mix, or which of two typical
items is better. Of an audit (``agreement_information``) it is what people, or most of the other judges, have answered
in the table's own questions, by counting: it is lower where these err, too, and where questions are hard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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
    apart = joint.sum(axis=-1, keepdims=True) * joint.sum(axis=-2, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(joint > 0.0, joint * np.log(joint / apart), 0.0).sum(axis=(-1, -2)))


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
    return Verdict(KEEP, f"an answer tells {information:.2f} nats of {of}, and no bias was found")
