"""Checks of a fitted panel: patterns in its votes that the model cannot explain, and remedies."""
