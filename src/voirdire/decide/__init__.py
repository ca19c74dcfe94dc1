"""Decisions: who shares the first place, who is distinguishable, what a choice costs, what would settle it."""
