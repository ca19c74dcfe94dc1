"""What anchors were used for, as part of a fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

MODES = ("joint", "cut")


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
