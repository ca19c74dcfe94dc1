"""A verdict on each judge: keep, recalibrate, drop, or ask people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

KEEP, RECALIBRATE, DROP, ASK = "keep", "recalibrate", "drop", "ask people"
LITTLE = 0.02  # nats: an answer that is right with .6 where both are as likely


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


def verdict_on(
    information: float | None,
    most: float | None,
    biases: Sequence[str],
    copy_of: str | None = None,
    unknown: str = "",
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

    Examples
    --------
    >>> verdict_on(0.3, 0.4, []).verdict, verdict_on(0.3, 0.4, ["picks first"]).verdict
    ('keep', 'recalibrate')
    >>> verdict_on(0.001, 0.01, []).verdict, verdict_on(None, None, []).verdict
    ('drop', 'ask people')
    >>> verdict_on(0.001, 0.1, []).why
    'too few answers say whether the judge knows what is right (0.00 nats an answer, at most 0.10)'
    """
    if copy_of is not None:
        return Verdict(DROP, f"answers as {copy_of} does, mistakes and all: its answers add nothing")
    if information is None or most is None:
        return Verdict(ASK, unknown or "nothing says how often it is right")
    if most < LITTLE:
        return Verdict(DROP, f"an answer tells at most {most:.3f} nats of what is right")
    if biases:
        return Verdict(RECALIBRATE, "; ".join(biases))
    if unknown:
        return Verdict(ASK, unknown)
    if information < LITTLE:
        few = "too few answers say whether the judge knows what is right"
        return Verdict(ASK, f"{few} ({information:.2f} nats an answer, at most {most:.2f})")
    return Verdict(KEEP, f"an answer tells {information:.2f} nats of what is right, and no bias was found")
