"""Batches of an OpenAI-compatible server: upload a file of requests, begin a batch, look at it, fetch its answers.

Nothing here is tried twice: what fails raises ``NoReply``, as a single request does.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from voirdire.collect.client import Client
from voirdire.collect.replies import NoReply, error_message, may_succeed_later

#: Where the requests of a batch go, and how long a server may take over them.
ENDPOINT, WINDOW = "/v1/chat/completions", "24h"
#: Of the metadata of a batch: what this program calls it.
MARK = "voirdire"
#: Statuses that do not change any more.
ENDED = ("completed", "failed", "expired", "cancelled")
#: What the servers' names of files and batches look like; they become parts of addresses.
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,200}")
_PAGES, _PAGE = 100, 100


@dataclass(frozen=True)
class Batch:
    """A batch as its server describes it.

    Attributes
    ----------
    id, status : str
        Its name at the server, and how far it is.
    input_file, output_file, error_file : str or None
        Names of files at the server.
    name : str or None
        What this program called it.
    errors : tuple of (str, str, int or None)
        Code, message and line (from 1) of what kept it from running.

    Examples
    --------
    >>> Batch("batch_1", "in_progress").ended
    False
    """

    id: str
    status: str
    input_file: str | None = None
    output_file: str | None = None
    error_file: str | None = None
    name: str | None = None
    errors: tuple[tuple[str, str, int | None], ...] = ()

    @property
    def ended(self) -> bool:
        """True where it will not change any more."""
        return self.status in ENDED


class BatchApi:
    """The batches of one server.

    Parameters
    ----------
    client : Client
    timeout : float
        Seconds for each call.
    """

    def __init__(self, client: Client, timeout: float) -> None:
        self._client, self._timeout = client, timeout

    async def upload_file(self, name: str, content: bytes) -> str:
        """Upload a file of requests, one a line; what the server calls it."""
        file = (f"{name}.jsonl", content, "application/jsonl")
        return self._read_id(await self._json("files", "create", file=file, purpose="batch"), "file")

    async def create(self, file: str, name: str) -> Batch:
        """Begin a batch of an uploaded file."""
        how = {"endpoint": ENDPOINT, "completion_window": WINDOW, "metadata": {MARK: name}}
        return self._read_batch(await self._json("batches", "create", input_file_id=file, **how))

    async def get(self, batch: str) -> Batch:
        """State of a batch."""
        return self._read_batch(await self._json("batches", "retrieve", batch))

    async def listed(self) -> AsyncIterator[Batch]:
        """All batches of the key, as many as a server lists on a hundred pages."""
        after: dict[str, str] = {}
        for _ in range(_PAGES):
            page = await self._json("batches", "list", limit=_PAGE, **after)
            rows = page.get("data")
            if not isinstance(rows, list):
                raise NoReply("the server's answer is no list of batches", passing=True)
            for row in rows:
                yield self._read_batch(row)
            if not rows or page.get("has_more") is not True:
                return
            after = {"after": self._read_batch(rows[-1]).id}

    async def delete(self, file: str) -> None:
        """Delete an uploaded file."""
        await self._json("files", "delete", file)

    async def lines(self, file: str) -> tuple[dict[str, Mapping[str, Any]], int]:
        """Lines of a file of answers by ``custom_id`` (of equal ones the first); how many lines are no answers."""
        content = await self._call_sdk("files", "content", file)
        found: dict[str, Mapping[str, Any]] = {}
        damaged = 0
        for line in filter(bytes.strip, content.split(b"\n")):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            if isinstance(row, Mapping) and isinstance(row.get("custom_id"), str):
                found.setdefault(row["custom_id"], row)
            else:
                damaged += 1
        return found, damaged

    async def _call_sdk(self, group: str, method: str, *args: Any, **given: Any) -> bytes:
        def call_group(sdk: Any) -> Any:
            return getattr(getattr(sdk, group).with_raw_response, method)(
                *args, timeout=self._timeout, **given
            )

        return await self._client.call(call_group, self._timeout)

    async def _json(self, group: str, method: str, *args: Any, **given: Any) -> Mapping[str, Any]:
        content = await self._call_sdk(group, method, *args, **given)
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, Mapping):
            start = self._client.said(content[:200].decode("utf-8", "replace"))[:60]
            raise NoReply(f"the server's answer is no JSON object: {start!r}", passing=True)
        return found

    def _read_id(self, found: Mapping[str, Any], what: str) -> str:
        name = found.get("id")
        if not isinstance(name, str) or not _ID.fullmatch(name):
            raise NoReply(f"the server's answer names no {what}", passing=True)
        return name

    def _read_batch(self, found: Any) -> Batch:
        if not isinstance(found, Mapping):
            raise NoReply("the server's answer is no batch", passing=True)
        metadata, errors = found.get("metadata"), found.get("errors")
        rows = errors.get("data") if isinstance(errors, Mapping) else None
        told = tuple(
            (
                str(row.get("code")),
                self._client.said(str(row.get("message") or row.get("code"))),
                row["line"] if isinstance(row.get("line"), int) else None,
            )
            for row in (rows if isinstance(rows, list) else [])
            if isinstance(row, Mapping)
        )
        name = metadata.get(MARK) if isinstance(metadata, Mapping) else None
        files = {f"{part}_file": found.get(f"{part}_file_id") for part in ("input", "output", "error")}
        known = {part: file for part, file in files.items() if isinstance(file, str) and _ID.fullmatch(file)}
        named = name if isinstance(name, str) else None
        return Batch(
            self._read_id(found, "batch"), str(found.get("status")), name=named, errors=told, **known
        )


def request_outcome(row: Mapping[str, Any] | None, said: Callable[[str], str], status: str) -> dict[str, Any]:
    """Outcome of a request in a line of a batch's files: ``status`` and ``body``, or ``reason`` and ``passing``.

    Parameters
    ----------
    row : mapping or None
        The line, None where there is none.
    said : callable
        Makes what a server says fit to be shown.
    status : str
        How the batch ended.

    Examples
    --------
    >>> request_outcome({"response": {"status_code": 200, "body": {"choices": []}}}, str, "completed")
    {'status': 200, 'body': {'choices': []}}
    >>> request_outcome({"error": {"code": "batch_expired", "message": "Too late."}}, str, "expired")
    {'status': None, 'reason': 'batch_expired: Too late.', 'passing': True}
    """
    response = row.get("response") if row is not None else None
    code = response.get("status_code") if isinstance(response, Mapping) else None
    if isinstance(response, Mapping) and isinstance(code, int) and not isinstance(code, bool):
        body = response.get("body")
        if code == 200:
            return {"status": 200, "body": body}
        reason = said(f"HTTP {code}: {error_message(body) or 'no reason given'}")
        return {"status": code, "reason": reason, "passing": may_succeed_later(code)}
    error = row.get("error") if row is not None else None
    if isinstance(error, Mapping):
        reason = said(": ".join(str(error[part]) for part in ("code", "message") if error.get(part)))
    else:
        reason = f"its batch is {status}, without an answer to it"
    return {"status": None, "reason": reason or f"its batch is {status}, with an error", "passing": True}
