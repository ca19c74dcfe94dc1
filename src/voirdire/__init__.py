"""Bayesian aggregation of judge panels: what is better, whom to trust, which criteria matter, how sure."""

from voirdire.errors import InputError

__all__ = ["InputError"]
__version__ = "0.1.0"
