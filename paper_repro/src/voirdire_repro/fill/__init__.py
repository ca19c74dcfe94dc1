"""Figures of the published tables and texts from the answers of a run, by kind of statistic."""

from __future__ import annotations

from collections.abc import Callable

from voirdire_repro.fill.correlation import correlations
from voirdire_repro.fill.filled import Filled
from voirdire_repro.fill.outcomes import shares
from voirdire_repro.fill.themes import concordance
from voirdire_repro.job import Job

__all__ = ["STATISTICS", "Filled"]

STATISTICS: dict[str, Callable[[Job], Filled]] = {
    "correlation": correlations,
    "concordance": concordance,
    "shares": shares,
}
