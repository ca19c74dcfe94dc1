"""How often trust checks fire on panels that are as the model says, and on panels that are not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from voirdire.simulate import Copycat, OneCoin, TwoCoin

sys.path.insert(0, str(Path(__file__).parent))
from simulated import HONEST, fired

COPIES = {f"copy-{n}": Copycat("honest-0.60", 0.9) for n in (1, 2)}
LEANING = {f"first-{n}": TwoCoin(0.95, 0.4) for n in (1, 2)}
ADVERSARIES = {f"adversary-{n}": OneCoin(0.1) for n in (1, 2)}
LONGEST = (pytest.mark.slow, pytest.mark.long)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "count"),
    [
        ("crowd-bt-position", 20),
        pytest.param("crowd-bt-position", 200, marks=LONGEST),
        pytest.param("crowd-bt", 200, marks=LONGEST),
    ],
)
def test_panels_as_the_model_says_raise_few_alarms(model: str, count: int) -> None:
    """Every fail-level check fires in at most 5% of panels of eight honest judges."""
    levels, _ = fired(HONEST, model, count)
    for (check, level), times in levels.items():
        if level == "fail":
            assert times <= 0.05 * count, check
    for check in ("dependence", "position", "judge-item-interaction", "below-chance"):
        assert levels[check, "warn"] <= 0.05 * count, check


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    ("planted", "model", "check", "count"),
    [
        (COPIES | LEANING, "crowd-bt-position", ("dependence", "position"), 20),
        pytest.param(COPIES, "crowd-bt-position", ("dependence",), 200, marks=LONGEST),
        pytest.param(LEANING, "crowd-bt-position", ("position",), 200, marks=LONGEST),
        pytest.param(LEANING, "crowd-bt", ("position",), 200, marks=LONGEST),
        pytest.param(ADVERSARIES, "crowd-bt-position", ("below-chance",), 40, marks=pytest.mark.slow),
        pytest.param(ADVERSARIES, "crowd-bt-position", ("below-chance",), 200, marks=LONGEST),
    ],
)
def test_what_is_planted_is_found(planted: dict, model: str, check: tuple[str, ...], count: int) -> None:
    """The right check fires in at least 90% of panels with bad judges among eight honest ones."""
    _, times = fired(HONEST | planted, model, count)
    assert all(times[name] >= 0.9 * count for name in check)
