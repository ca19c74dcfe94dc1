"""Limits of a run on requests and cost, its progress, and estimates of tokens and cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from voirdire.collect.client import Request
from voirdire.collect.panel import Panel
from voirdire.collect.protocol import Answer, Judge
from voirdire.collect.replies import Reply

#: Price of a request in a batch, as a share of the ordinary price.
BATCH_PRICE_SHARE = 0.5


class Stop(Exception):
    """Early end of a run; the message is the reason."""


@dataclass
class Progress:
    """Progress of a run.

    Attributes
    ----------
    done, missing : int
        Questions with an answer, and questions that finally have none.
    least, most : int
        Bounds on the number of questions.
    requests, cost, seconds : int, float, float
        Requests sent and their cost, including earlier starts; seconds since this start.
    asked : int
        Questions of this start that were not in the journal.
    batched : int
        Requests in batches that have not ended.
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
    """Budget of a run: limits of cost and requests, and progress.

    Parameters
    ----------
    panel : Panel
        Panel, with its numbers of tries.
    max_cost, max_calls : float, int, optional
        Limits of the cost and the number of requests, including earlier starts.
    show : callable, optional
        Called with ``progress`` after every question.

    Examples
    --------
    >>> budget = Budget(Panel(()), max_cost=1.0)
    >>> budget.settle_reserved_cost(budget.reserve_cost(0.75), 0.5)
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
        #: Reason why no more questions are asked; None while the run goes on.
        self.stopped: str | None = None
        #: True if the reason is a limit; pending requests within it are then waited for.
        self.at_bound = False

    def raise_if_stopped(self) -> None:
        """Raise `Stop` if the run is to stop."""
        if self.stopped is not None:
            raise Stop(self.stopped)

    def reserve_sent(self, requests: int, cost: float) -> None:
        """Reserve the cost of requests sent earlier; negative values release it for requests that were not sent."""
        self.progress.requests += requests
        self._reserved += cost

    def reserve_cost(self, cost: float) -> float:
        """Reserve the expected cost of a request; raise `Stop` if it would exceed a limit."""
        progress, max_cost = self.progress, self._max_cost
        self.raise_if_stopped()
        if self._max_calls is not None and progress.requests >= self._max_calls:
            self.stopped = f"stopped at {progress.requests} requests (max_calls)"
        elif max_cost is not None and progress.cost + self._reserved + cost > max_cost:
            spent = progress.cost + self._reserved
            self.stopped = f"stopped at a cost of {spent:.4g}: one more request may pass max_cost {max_cost:g}"
        self.at_bound = self.stopped is not None
        self.raise_if_stopped()
        self.reserve_sent(1, cost)
        return cost

    def settle_reserved_cost(self, reserved: float, cost: float) -> None:
        """Replace a request's reserved cost by its actual cost."""
        self._reserved -= reserved
        self.progress.cost += cost

    def count_question(self, answer: Answer) -> None:
        """Count a question as done or missing."""
        self.progress.done += answer.missing is None
        self.progress.missing += answer.missing is not None
        self.show_progress()

    def show_progress(self) -> None:
        """Show the progress of the run."""
        self.progress.seconds = time.monotonic() - self._begun
        if self._show is not None:
            self._show(self.progress)


def count_text_tokens(text: str) -> int:
    """Estimate the number of tokens of a text.

    Tokens per character: ASCII 1/4, digits 2/3, letters of other alphabets 1/2, characters of three bytes in UTF-8
    (Chinese, Japanese) 1.1. Models' tokenizers differ from this by at most a factor of two.

    Examples
    --------
    >>> count_text_tokens("x" * 400), count_text_tokens("2024"), count_text_tokens("理由を述べる")
    (100, 3, 7)
    """
    ascii_text = text.encode("ascii", "ignore")
    digits = len(ascii_text) - len(ascii_text.translate(None, b"0123456789"))
    non_ascii = len(text) - len(ascii_text)
    wide = len(text.encode("utf-8", "surrogatepass")) - len(ascii_text) - 2 * non_ascii
    return ceil((len(ascii_text) - digits) / 4 + digits * 2 / 3 + non_ascii / 2 + 0.6 * wide)


def estimate_answer_tokens(schema: Mapping[str, Any] | None, max_tokens: int | None = None) -> int:
    """Estimate the tokens of an answer: 4 per field, 3 per choice, 80 per free text, 250 without a schema.

    Examples
    --------
    >>> estimate_answer_tokens({"type": "object", "properties": {"winner": {"enum": [1, 2]}}})
    9
    """
    tokens = 250 if schema is None else _schema_tokens(schema)
    return tokens if max_tokens is None else min(tokens, max_tokens)


def _schema_tokens(schema: Mapping[str, Any]) -> int:
    if "properties" in schema:
        return 2 + sum(4 + _schema_tokens(inner) for inner in schema["properties"].values())
    if "items" in schema:
        return 2 + list_entries(schema) * (1 + _schema_tokens(schema["items"]))
    if schema.get("type") == "string" and "enum" not in schema:
        return min(80, int(schema.get("maxLength", 320)) // 4)
    return 3


def list_entries(schema: Mapping[str, Any]) -> int:
    """Estimate the number of entries of a list in an answer.

    Examples
    --------
    >>> list_entries({"items": {"type": "string"}, "minItems": 2})
    2
    """
    return max(1, int(schema.get("minItems", 3)))


def token_price(judge: Judge, read: float, wrote: float) -> float:
    """Return the cost of tokens read and written; half of it in batches.

    Examples
    --------
    >>> token_price(Judge("a", "m", price_in=1.0, price_out=2.0), 500_000, 250_000)
    1.0
    >>> token_price(Judge("a", "m", price_in=1.0, price_out=2.0, batch=True), 500_000, 250_000)
    0.5
    """
    share = BATCH_PRICE_SHARE if judge.batch else 1.0
    return share * ((judge.price_in or 0.0) * read + (judge.price_out or 0.0) * wrote) / 1e6


def expected_cost(judge: Judge, request: Request) -> float:
    """Estimate the cost of a request.

    Examples
    --------
    >>> expected_cost(Judge("a", "m", price_in=4.0, price_out=4.0), Request("m", "", "x" * 400))
    0.0014
    """
    read = count_text_tokens(request.system + request.user)
    return token_price(judge, read, estimate_answer_tokens(request.schema, judge.max_tokens))


def reply_cost(judge: Judge, request: Request, reply: Reply) -> float:
    """Return the cost of a reply; tokens are estimated from its length if the server does not count them.

    Examples
    --------
    >>> reply_cost(Judge("a", "m", price_in=4.0), Request("m", "", "x" * 400), Reply("yes", "stop"))
    0.0004
    """
    read = count_text_tokens(request.system + request.user) if reply.tokens_in is None else reply.tokens_in
    wrote = count_text_tokens(reply.text) if reply.tokens_out is None else reply.tokens_out
    return token_price(judge, read, wrote)
