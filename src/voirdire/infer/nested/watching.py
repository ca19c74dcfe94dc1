"""Reports on chains while they run, and requests that they end."""

from __future__ import annotations

import numpy as np

from voirdire.infer.method import Progress
from voirdire.infer.posterior import integrated_scores
from voirdire.infer.stopping import Stop
from voirdire.model.problem import Problem
from voirdire.typing import Floats

RECENT = 50  # draws of each chain that tell what is first so far


class Watching:
    """A count of the moves that chains have made, with what is known of them in words.

    Parameters
    ----------
    problem : Problem
    stop : Stop
    progress : callable or None
        See :class:`.Method`.

    Attributes
    ----------
    total : int
        Moves in all, as far as is known.
    """

    def __init__(self, problem: Problem, stop: Stop, progress: Progress | None) -> None:
        self._problem, self._stop, self._progress = problem, stop, progress
        self._done, self._said, self.total = 0, "", 0

    def count_move(self) -> None:
        """Count a move.

        Raises
        ------
        Stopped
            The chains are asked to end.
        """
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, max(self.total, self._done), self._said)
        self._stop.check()

    def note_draws(self, draws: Floats, rhat: float, ess: float) -> None:
        """Take note of draws, shape (chains, draws, size), and how nearly chains have met."""
        if self._progress is None:
            return
        recent = draws[:, -RECENT:].reshape(-1, draws.shape[2])
        found = integrated_scores(self._problem.density, self._problem.density.values(recent, np))
        first = self._problem.items[int(found.mean(axis=0).argmax())]
        self._said = f"R-hat {rhat:.2f}, effective sample size {ess:.0f}, {first} first"
