"""Specification of a study of audits: checks of its file."""

from __future__ import annotations

from typing import Any

from voirdire_studies.audit_panels import TABLES


def audits_problems(settings: dict[str, Any]) -> list[str]:
    """List the faults of the settings, one sentence each.

    Examples
    --------
    >>> audits_problems({"tables": ["votes", "rankings"]})
    ["tables: 'rankings' is none of votes, orders, scores, labels"]
    """
    return [f"tables: {name!r} is none of {', '.join(TABLES)}" for name in settings["tables"] if name not in TABLES]
