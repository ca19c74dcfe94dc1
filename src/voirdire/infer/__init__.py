"""Inference: the mode, the Laplace approximation, NUTS, and their diagnostics."""

from __future__ import annotations

from voirdire.doors import lazy_attributes

__getattr__, __dir__ = lazy_attributes(
    __name__,
    {
        "Derivatives": "derivatives",
        "Laplace": "laplace",
        "Posterior": "posterior",
        "find_mode": "mode",
        "find_modes": "mode",
        "integrated_scores": "posterior",
        "laplace_approximation": "laplace",
        "to_arviz": "diagnose",
    },
)
