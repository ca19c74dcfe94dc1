"""What tests of several kinds of tables ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest


def _covered(fit: Any, truth: dict[str, Any]) -> dict[str, np.ndarray]:
    found = fit.as_dict()
    rows: dict[str, list[dict[str, Any]]] = {
        "length": found["covariates"][:1],
        "own-family": found["own_family"],
        "items": sorted(found["items"], key=lambda row: row["item"]),
    }
    for row in found["terms"]:
        rows.setdefault(row["term"], []).append(row)
    return {
        name: np.array([row["low"] <= value <= row["high"] for row, value in zip(rows[name], values, strict=True)])
        for name, values in truth.items()
    }


@pytest.fixture(scope="session")
def covered() -> Callable[[Any, dict[str, Any]], dict[str, np.ndarray]]:
    """Which intervals of a fit with terms hold what stands behind them, by term; of items and of both covariates."""
    return _covered
