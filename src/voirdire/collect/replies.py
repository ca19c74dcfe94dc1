"""Replies of a server: a chat completion, or the reason why there is none and the time to wait."""

from __future__ import annotations

import email.utils
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from voirdire.collect.protocol import Logprobs

#: Headers with the time to wait, and the number of their units per second.
WAIT_HEADERS = {"retry-after-ms": 1000.0, "retry-after": 1.0}
#: Statuses below 500 after which the same request may succeed later.
_RETRY_STATUSES = {408, 409, 425, 429}
#: Most tokens of an answer; a larger number is treated as missing.
_MAX_TOKENS = 10**9
#: Tolerance of log-probabilities above 0, for rounding.
_LOGPROB_TOLERANCE = 0.01


@dataclass(frozen=True)
class Reply:
    """Reply of a server: text, finish reason, log-probabilities, token counts (None if not sent).

    Examples
    --------
    >>> Reply("yes", "stop").tokens_in is None
    True
    """

    text: str
    finish: str | None
    logprobs: Logprobs = ()
    tokens_in: int | None = None
    tokens_out: int | None = None


class NoReply(Exception):
    """Error of a request without a valid reply.

    Attributes
    ----------
    reason : str
        Description of the fault, without any key.
    status : int or None
        The HTTP status, if there was one.
    passing : bool
        True if the fault is temporary: the same request may succeed later.
    after : float or None
        Seconds that the server asks to wait.
    """

    def __init__(self, reason: str, *, status: int | None = None, passing: bool, after: float | None = None) -> None:
        super().__init__(reason)
        self.reason, self.status, self.passing, self.after = reason, status, passing, after


def error_message(body: Any) -> str:
    """Return the message in the body of an error, "" if there is none.

    Examples
    --------
    >>> error_message({"error": {"message": "slow down"}})
    'slow down'
    """
    message = body
    for part in ("error", "message"):
        message = message.get(part, message) if isinstance(message, Mapping) else message
    try:
        return str(message or "")
    except RecursionError:
        return "a reason that is nested too deeply"


def may_succeed_later(status: int) -> bool:
    """Return True if a request with this HTTP status may succeed later.

    Examples
    --------
    >>> may_succeed_later(429), may_succeed_later(400)
    (True, False)
    """
    return status in _RETRY_STATUSES or status >= 500


def retry_after(headers: Any) -> float | None:
    """Return the seconds of Retry-After (a number or a date), or None."""
    value = None
    for name, unit in WAIT_HEADERS.items():
        value = headers.get(name, value)
        try:
            return max(0.0, float(value) / unit)
        except (TypeError, ValueError):
            continue
    try:
        return max(0.0, email.utils.parsedate_to_datetime(str(value)).timestamp() - time.time())
    except (TypeError, ValueError, LookupError, OverflowError, OSError):
        return None


def read_reply(content: bytes) -> Reply | None:
    """Parse a chat completion; None if the content is anything else."""
    try:
        completion = json.loads(content)
        choice = completion["choices"][0]
        message = choice["message"]
        text = message.get("content")
        if isinstance(text, list):  # some servers send parts
            text = "".join(part.get("text", "") for part in text)
        refusal = message.get("refusal")
        finish = f"refused: {refusal}" if refusal else choice.get("finish_reason")
        if not isinstance(text, str | None) or not isinstance(finish, str | None):
            return None
        usage = completion.get("usage") or {}
        read, wrote = _token_count(usage.get("prompt_tokens")), _token_count(usage.get("completion_tokens"))
        tokens = (choice.get("logprobs") or {}).get("content") or []
        positions = [(entry["token"], entry.get("top_logprobs") or [entry]) for entry in tokens]
        pairs = [(token, [(entry["token"], entry["logprob"]) for entry in others]) for token, others in positions]
        return Reply(text or "", finish, read_logprobs(pairs), read, wrote)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def _token_count(value: Any) -> int | None:
    """Return a valid number of tokens; None for anything else."""
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return value if is_integer and 0 <= value <= _MAX_TOKENS else None


def read_logprobs(positions: Iterable[tuple[Any, Iterable[tuple[Any, Any]]]]) -> Logprobs:
    """Check log-probabilities by position: a token, and its alternatives with their log-probabilities.

    Raises
    ------
    ValueError, TypeError or OverflowError
        The input has another form.

    Examples
    --------
    >>> read_logprobs([["1", [["1", -0.5], ["2", -1]]]])
    (('1', (('1', -0.5), ('2', -1.0))),)
    """
    pairs = tuple((token, tuple((other, value) for other, value in others)) for token, others in positions)
    for token, others in pairs:
        for text, value in ((token, 0.0), *others):
            if not isinstance(text, str) or isinstance(value, str | bool) or not float(value) <= _LOGPROB_TOLERANCE:
                raise ValueError("no token with its log-probability")
    return tuple((token, tuple((other, float(value)) for other, value in others)) for token, others in pairs)
