"""Decisions: which items share the first place, which are distinguishable, what a choice costs, what settles it."""
