"""Doubt that the mode of a model of votes is the highest, and other starts of the search."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.kinds.votes.starts import agreement_signs, starting_point
from voirdire.model.density import Data, LogDensity
from voirdire.typing import Floats

MIRROR_MARGIN = 5.0  # on the log prior: below it the mirrored mode might win after a search of its own
REVERSED_SHARE = 0.25
ALIKE = 0.95  # cosine of the judges' informedness under two points from which one mode is reached


def alternative_starts(density: LogDensity, x: Floats, data: Data) -> list[Floats]:
    """The mirror of a mode in doubt, and a start whose judges' signs come from how they agree, where that is another.

    Parameters
    ----------
    x : array, shape (size,)
        The mode that was found.
    """
    if not is_mode_doubtful(density, x, data):
        return []
    mirrored = np.asarray(density.mirror_values(x, np))
    signed = starting_point(density, data, agreement_signs(density, data))
    return [mirrored] if _same_signs(density, signed, x, data) else [mirrored, signed]


def _same_signs(density: LogDensity, start: Floats, x: Floats, data: Data) -> bool:
    """True if a start weighs the judges as a known mode or its mirror does, and so leads to one of the two."""
    part = data["votes"]
    root = np.sqrt(np.bincount(part["judge"], part["weight"], density.judges))
    one, other = (root * _judge_informedness(density.values(point, np)) for point in (start, x))
    return bool(abs(one @ other) >= ALIKE * np.linalg.norm(one) * np.linalg.norm(other))


def is_mode_doubtful(density: LogDensity, x: Floats, data: Data) -> bool:
    """True if a mode might not be the highest, so that other starts are worth their cost."""
    if not density.has_mirror or "pinned" in data:
        return False
    there = density.log_oriented(density.mirror_values(x, np), data, np)
    if there > density.log_oriented(x, data, np) - MIRROR_MARGIN:
        return True
    informedness = _judge_informedness(density.values(x, np))
    part = data["votes"]
    information = np.bincount(part["judge"], part["weight"], density.judges) * informedness
    return bool(-information[information < 0].sum() > REVERSED_SHARE * np.abs(information).sum())


def _judge_informedness(values: dict[str, Any]) -> Floats:
    """Informedness of each judge's answers, from -1 (always wrong) to 1."""
    coins = [values[name] for name in ("reliability", "coin_first", "coin_second") if name in values]
    return np.asarray(np.mean(np.tanh(0.5 * np.stack(coins)), axis=0))
