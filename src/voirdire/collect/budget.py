"""Limits of a run: what it may ask and cost, how far it is, and why it stops."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from voirdire.collect.protocol import Answer


class Stop(Exception):
    """The run ends before it is done: the reason."""


@dataclass(frozen=True)
class Limits:
    """Limits of how often things are tried, and of what a run may cost.

    Examples
    --------
    >>> Limits().answer_tries
    3
    """

    answer_tries: int = 3
    request_tries: int = 6
    backoff: float = 0.5
    max_cost: float | None = None
    max_calls: int | None = None


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
    limits : Limits
    progress : Progress
        Where the run stands when it begins.
    show : callable, optional
        Called with ``progress`` after every question.

    Examples
    --------
    >>> budget = Budget(Limits(max_cost=1.0), Progress())
    >>> budget.record_cost(budget.reserve_cost(0.75), 0.5)
    >>> budget.progress.cost
    0.5
    >>> budget.reserve_cost(0.75)
    Traceback (most recent call last):
    ...
    voirdire.collect.budget.Stop: stopped at a cost of 0.5: one more request may pass max_cost 1
    """

    def __init__(
        self, limits: Limits, progress: Progress, show: Callable[[Progress], None] | None = None
    ) -> None:
        self.limits, self.progress, self._show = limits, progress, show
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
        limits, progress = self.limits, self.progress
        self.raise_if_stopped()
        if limits.max_calls is not None and progress.requests >= limits.max_calls:
            self.stopped = f"stopped at {progress.requests} requests (max_calls)"
        elif limits.max_cost is not None and progress.cost + self._reserved + cost > limits.max_cost:
            self.stopped = (
                f"stopped at a cost of {progress.cost + self._reserved:.4g}: one more request may pass max_cost "
                f"{limits.max_cost:g}"
            )
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
