"""Limits of a run: what it may ask and cost, how far it is, and why it stops."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from voirdire.collect.panel import Panel
from voirdire.collect.protocol import Answer


class Stop(Exception):
    """The run ends before it is done: the reason."""


@dataclass
class Progress:
    """Progress of a run.

    Attributes
    ----------
    done, missing : int
        Questions with an answer, and those that have none in the end.
    least, most : int
        Bounds on the number of questions.
    requests, cost, seconds : int, float, float
        Requests sent and their cost, also by runs before; seconds since this run began.
    asked : int
        Questions of this run that were not in the journal.
    batched : int
        Requests in batches that their servers have not ended yet.
    """

    done: int = 0
    missing: int = 0
    least: int = 0
    most: int = 0
    requests: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    asked: int = 0
    batched: int = 0


class Budget:
    """Keeps a run within its limits, and says how far it is.

    Parameters
    ----------
    panel : Panel
        How often things are tried.
    max_cost, max_calls : float, int, optional
        What the run may cost and ask, with what runs before it have asked.
    show : callable, optional
        Called with ``progress`` after every question.

    Examples
    --------
    >>> budget = Budget(Panel(()), max_cost=1.0)
    >>> budget.record_cost(budget.reserve_cost(0.75), 0.5)
    >>> budget.progress.cost
    0.5
    >>> budget.reserve_cost(0.75)
    Traceback (most recent call last):
    ...
    voirdire.collect.budget.Stop: stopped at a cost of 0.5: one more request may pass max_cost 1
    """

    def __init__(
        self,
        panel: Panel,
        max_cost: float | None = None,
        max_calls: int | None = None,
        show: Callable[[Progress], None] | None = None,
    ) -> None:
        self.panel, self._max_cost, self._max_calls, self._show = panel, max_cost, max_calls, show
        self.progress = Progress()
        self._begun = time.monotonic()
        self._reserved = 0.0
        #: Why nothing more is asked, once it is so.
        self.stopped: str | None = None
        #: Whether that is one of the bounds; what is within it is still asked and waited for.
        self.at_bound = False

    def raise_if_stopped(self) -> None:
        """Raise `Stop` once the run is to stop."""
        if self.stopped is not None:
            raise Stop(self.stopped)

    def reserve_sent(self, requests: int, cost: float) -> None:
        """Set aside what requests cost that were sent before; less than nothing for those that were not after all."""
        self.progress.requests += requests
        self._reserved += cost

    def reserve_cost(self, cost: float) -> float:
        """Set aside what a request may cost until it is paid; the run stops if it may not cost that much."""
        progress, most = self.progress, self._max_cost
        self.raise_if_stopped()
        if self._max_calls is not None and progress.requests >= self._max_calls:
            self.stopped = f"stopped at {progress.requests} requests (max_calls)"
        elif most is not None and progress.cost + self._reserved + cost > most:
            spent = progress.cost + self._reserved
            self.stopped = f"stopped at a cost of {spent:.4g}: one more request may pass max_cost {most:g}"
        self.at_bound = self.stopped is not None
        self.raise_if_stopped()
        self.reserve_sent(1, cost)
        return cost

    def record_cost(self, reserved: float, cost: float) -> None:
        """Count what a request has cost, in place of what was set aside for it."""
        self._reserved -= reserved
        self.progress.cost += cost

    def count(self, answer: Answer) -> None:
        """Count a question that has its answer, or will have none."""
        self.progress.done += answer.missing is None
        self.progress.missing += answer.missing is not None
        self.tell()

    def tell(self) -> None:
        """Show how far the run is."""
        self.progress.seconds = time.monotonic() - self._begun
        if self._show is not None:
            self._show(self.progress)
