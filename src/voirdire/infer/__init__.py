"""Inference: the mode, the Laplace approximation, NUTS, and their diagnostics."""

from __future__ import annotations

from voirdire.doors import open_door

__getattr__, __dir__ = open_door(
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
