"""From repeated answers to one decision: the majority of runs, and the rule of swapped positions.

Majority: an answer given by more than half of the R runs, else a tie. Swap: a side wins only if it wins in both
orders, else a tie (MASA). Where an answer is missing, the decision is the one that every possible answer in its
place would lead to; if they would lead to different ones, there is no decision.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

TIE = "tie"


def majority(answers: Sequence[str | None]) -> str | None:
    """The answer of more than half of the runs, "tie" without one, None if that hangs on a missing answer.

    Examples
    --------
    >>> majority(["a", "b", "a"]), majority(["a", "b", "tie"])
    ('a', 'tie')
    >>> majority(["a", "a", None]), majority(["a", "b", None])
    ('a', None)
    """
    given = Counter(answer for answer in answers if answer is not None)
    gaps = len(answers) - given.total()
    for answer, count in given.items():
        if 2 * count > len(answers):
            return answer
    # whether the missing answers could make anything but a tie
    best = max((count for answer, count in given.items() if answer != TIE), default=0)
    return TIE if 2 * (best + gaps) <= len(answers) else None


def swapped(one: str | None, other: str | None) -> str | None:
    """The winner in both orders (named by item, not by position), "tie" if they differ, None if unknown.

    Examples
    --------
    >>> swapped("a", "a"), swapped("a", "b"), swapped("tie", None), swapped("a", None)
    ('a', 'tie', 'tie', None)
    """
    if one is None or other is None:
        return TIE if TIE in (one, other) else None
    return one if one == other else TIE
