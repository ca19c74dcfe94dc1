"""What anchors were used for, as part of a fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

MODES = ("joint", "cut")
DEFAULT = {"pairs": "stacking", "linked": "joint"}  # the way to use anchors that others must clearly beat


@dataclass(frozen=True)
class Anchored:
    """How anchors were used.

    Attributes
    ----------
    mode : str
        "joint" or "cut": whose posterior the tables of items and judges show.
    chosen : str
        The method that answers comparisons.
    methods : tuple of dict
        Per method: ``method``, ``log_loss`` and ``log_loss_se`` (mean and standard error over anchors left out one at
        a time), ``accuracy`` (share of them answered rightly, halves for ties), ``chosen``.
    pairs : tuple of dict
        For tables of unconnected pairs: ``criterion`` (where there are several), ``first``, ``second``, ``p_first``.
    """

    mode: str
    chosen: str
    methods: tuple[dict[str, Any], ...]
    pairs: tuple[dict[str, Any], ...] = field(default=())


def in_words(anchored: Anchored, asked: str | None, answers: str = "votes") -> str:
    """What was done with the anchors, and why; ``answers`` is what judges gave."""
    if asked is not None and not anchored.methods:
        return f"Anchors are used as asked: {asked}."
    if not anchored.methods:
        why = "nothing else was possible"
    elif anchored.chosen in DEFAULT.values():
        why = "no other way predicts left-out anchors clearly better"
    else:
        why = "it predicts left-out anchors clearly better than the default"
    judges = "the anchors alone" if anchored.mode == "cut" else f"{answers} and anchors together"
    return f"Anchors: {anchored.chosen}, because {why}; items and judges are shown as {judges} have them."
