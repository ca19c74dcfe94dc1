"""Batches of an OpenAI-compatible server: upload a file of requests, begin a batch, look at it, fetch its answers.

Nothing here is tried twice: what fails raises ``NoReply``, as a single request does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from voirdire.collect.client import Client
from voirdire.collect.replies import NoReply, error_message, may_succeed_later

Table: TypeAlias = dict[str, Any]
#: Where the requests of a batch go, and how long a server may take over them.
ENDPOINT, COMPLETION_WINDOW = "/v1/chat/completions", "24h"
#: Key in a batch's metadata, under which stands our name of the batch.
METADATA_KEY = "voirdire"
#: Statuses that do not change any more.
FINAL_STATUSES = ("completed", "failed", "expired", "cancelled")
#: What the servers' names of files and batches look like; they become parts of addresses.
_ID_PATTERN = re.compile(r"[A-Za-z0-9_.:-]{1,200}")
_MAX_PAGES, _PAGE_SIZE = 100, 100


class BatchApi:
    """The batches of one server, each as the table that the server gives, whose ``id`` can stand in an address.

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
        uploaded = _check_id(await self._json("files", "create", file=file, purpose="batch"), "file")
        return str(uploaded["id"])

    async def create(self, file: str, name: str) -> Table:
        """Begin a batch of an uploaded file."""
        fields = {
            "endpoint": ENDPOINT,
            "completion_window": COMPLETION_WINDOW,
            "metadata": {METADATA_KEY: name},
        }
        return _check_id(await self._json("batches", "create", input_file_id=file, **fields))

    async def get(self, batch: str) -> Table:
        """State of a batch."""
        return _check_id(await self._json("batches", "retrieve", batch))

    async def find(self, name: str, file: str) -> str | None:
        """The server's name of a batch, by our name of it or its file, on at most a hundred pages of the list."""
        after: dict[str, str] = {}
        for _ in range(_MAX_PAGES):
            page = await self._json("batches", "list", limit=_PAGE_SIZE, **after)
            rows = page.get("data")
            if not isinstance(rows, list):
                raise NoReply("the server's answer is no list of batches", passing=True)
            for row in map(_check_id, rows):
                metadata = row.get("metadata")
                if row.get("input_file_id") == file or (
                    isinstance(metadata, dict) and metadata.get(METADATA_KEY) == name
                ):
                    return str(row["id"])
            if not rows or page.get("has_more") is not True:
                break
            after = {"after": rows[-1]["id"]}
        return None

    async def delete(self, file: str) -> None:
        """Delete an uploaded file."""
        await self._json("files", "delete", file)

    async def lines(self, file: str) -> tuple[dict[str, Table], int]:
        """Lines of a file of answers by ``custom_id`` (of equal ones the first); how many lines are no answers."""
        content = await self._call_sdk("files", "content", file)
        rows = [_read_table(line) for line in filter(bytes.strip, content.split(b"\n"))]
        named_rows = [row for row in rows if row is not None and isinstance(row.get("custom_id"), str)]
        return {row["custom_id"]: row for row in reversed(named_rows)}, len(rows) - len(named_rows)

    async def _call_sdk(self, group: str, method: str, *args: Any, **given: Any) -> bytes:
        def call_group(sdk: Any) -> Any:
            raw = getattr(sdk, group).with_raw_response
            return getattr(raw, method)(*args, timeout=self._timeout, **given)

        return await self._client.call(call_group, self._timeout)

    async def _json(self, group: str, method: str, *args: Any, **given: Any) -> Table:
        content = await self._call_sdk(group, method, *args, **given)
        table = _read_table(content)
        if table is None:
            start = self._client.one_line(content[:200].decode("utf-8", "replace"))[:60]
            raise NoReply(f"the server's answer is no JSON object: {start!r}", passing=True)
        return table


def _read_table(content: bytes) -> Table | None:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _check_id(found: Any, what: str = "batch") -> Table:
    """Check that an answer of the server has an ``id`` that can stand in an address."""
    name = found.get("id") if isinstance(found, dict) else None
    if not isinstance(name, str) or not _ID_PATTERN.fullmatch(name):
        raise NoReply(f"the server's answer names no {what}", passing=True)
    return dict(found)


def result_files(batch: Table) -> list[str]:
    """Files of the answers of a batch that has ended, and of the errors.

    Examples
    --------
    >>> result_files({"id": "batch_1", "output_file_id": "file-2", "error_file_id": None})
    ['file-2']
    """
    names = (batch.get(f"{part}_file_id") for part in ("output", "error"))
    return [file for file in names if isinstance(file, str) and _ID_PATTERN.fullmatch(file)]


def batch_faults(batch: Table, said: Callable[[str], str]) -> list[tuple[str, str, int | None]]:
    """Faults that kept a batch from running: code, both code and message as they can be shown, line (from 1).

    Examples
    --------
    >>> batch_faults({"errors": {"data": [{"code": "too_long", "message": "Too long.", "line": 3}]}}, str)
    [('too_long', 'too_long: Too long.', 3)]
    """
    errors = batch.get("errors")
    rows = errors.get("data") if isinstance(errors, dict) else None
    return [
        (
            str(row.get("code")),
            f"{row.get('code')}: {said(str(row.get('message') or row.get('code')))}",
            row["line"] if isinstance(row.get("line"), int) else None,
        )
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict)
    ]


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
