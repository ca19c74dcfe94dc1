"""Checks of published numbers: transcribed tables, claims about them, and a verdict on each figure."""

from voirdire_repro.claims import Claim, System, load_system, system_names
from voirdire_repro.verdicts import Row, judge_claims, unexplained_lines

__all__ = ["Claim", "Row", "System", "judge_claims", "load_system", "system_names", "unexplained_lines"]
