"""Checks of a fitted panel: what its votes do that the model cannot explain, and what to do about it."""
