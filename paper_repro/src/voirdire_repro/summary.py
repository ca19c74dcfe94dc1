"""Summary of verdicts, per claim and by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from voirdire_repro.claims import Claim, System
from voirdire_repro.faults import KINDS
from voirdire_repro.verdicts import VERDICTS, Row


@dataclass(frozen=True)
class Summary:
    """Claim with the verdicts on its figures."""

    claim: Claim
    rows: tuple[Row, ...]

    @property
    def verdicts(self) -> dict[str, int]:
        """Number of figures by verdict, in the order of ``VERDICTS``."""
        counted = Counter(row.verdict for row in self.rows)
        return {verdict: counted[verdict] for verdict in VERDICTS if counted[verdict]}

    @property
    def in_words(self) -> str:
        """Verdicts in words: one verdict if all figures have it, else each with its number."""
        counts = self.verdicts
        if len(counts) == 1:
            return next(iter(counts))
        return ", ".join(f"{verdict} {count}" for verdict, count in counts.items())

    @property
    def published(self) -> str:
        """Published figure if there is one, else the number of figures."""
        return figure_text(self.rows[0].published) if len(self.rows) == 1 else f"{len(self.rows)} figures"

    @property
    def ours(self) -> str:
        """Our figure; for several figures, the largest difference from the published ones."""
        if len(self.rows) == 1:
            ours, margin = self.rows[0].ours, self.rows[0].margin
            if isinstance(ours, str) and margin:
                return f"{ours}: {margin}"
            return margin or ("" if ours is None else figure_text(ours))
        gaps = [
            abs(row.published - row.ours)
            for row in self.rows
            if isinstance(row.published, float) and isinstance(row.ours, float)
        ]
        return f"within {max(gaps):.2g}" if gaps else ""


def figure_text(value: float | str) -> str:
    """Format a figure with at most six digits.

    Examples
    --------
    >>> figure_text(0.47267755), figure_text(61350.0), figure_text("a > b")
    ('0.472678', '61350', 'a > b')
    """
    return value if isinstance(value, str) else f"{value:.6g}"


def summarise_claims(system: System, rows: Sequence[Row]) -> list[Summary]:
    """Return the claims of a system, each with its rows."""
    return [Summary(claim, tuple(r for r in rows if r.claim == claim.id)) for claim in system.claims]


def count_verdicts(rows: Sequence[Row]) -> dict[str, dict[str, int]]:
    """Count the figures of each kind by verdict; kinds and verdicts that do not occur are 0.

    Examples
    --------
    >>> count_verdicts([])["rerun"]["reproduced"]
    0
    """
    counted = Counter((row.kind, row.verdict) for row in rows)
    return {kind: {verdict: counted[kind, verdict] for verdict in VERDICTS} for kind in KINDS}
