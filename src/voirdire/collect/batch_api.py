"""Batches of an OpenAI-compatible server: upload a file of requests, create a batch, get its state and answers.

No call is retried here: a failed call raises ``NoReply``, like a single request.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from voirdire.collect.client import Client
from voirdire.collect.replies import NoReply, error_message, may_succeed_later

Table: TypeAlias = dict[str, Any]
#: Endpoint of the requests of a batch, and the time that the server may take.
ENDPOINT, COMPLETION_WINDOW = "/v1/chat/completions", "24h"
#: Key in a batch's metadata that holds voirdire's name of the batch.
METADATA_KEY = "voirdire"
#: Statuses of a batch that has ended.
FINAL_STATUSES = ("completed", "failed", "expired", "cancelled")
#: Pattern of the servers' ids of files and batches; they become parts of addresses.
_ID_PATTERN = re.compile(r"[A-Za-z0-9_.:-]{1,200}")
_MAX_PAGES, _PAGE_SIZE = 100, 100


class BatchApi:
    """Batches of one server. Methods return the server's JSON object after checking its ``id``.

    Parameters
    ----------
    client : Client
    timeout : float
        Seconds for each call.
    """

    def __init__(self, client: Client, timeout: float) -> None:
        self._client, self._timeout = client, timeout

    async def upload_file(self, name: str, content: bytes) -> str:
        """Upload a file of requests, one per line; return the server's id of the file."""
        file = (f"{name}.jsonl", content, "application/jsonl")
        uploaded = _check_id(await self._json("files", "create", file=file, purpose="batch"), "file")
        return str(uploaded["id"])

    async def create(self, file: str, name: str) -> Table:
        """Create a batch of an uploaded file."""
        fields = {"endpoint": ENDPOINT, "completion_window": COMPLETION_WINDOW, "metadata": {METADATA_KEY: name}}
        return _check_id(await self._json("batches", "create", input_file_id=file, **fields))

    async def get(self, batch: str) -> Table:
        """Return the state of a batch."""
        return _check_id(await self._json("batches", "retrieve", batch))

    async def find(self, name: str, file: str) -> str | None:
        """Find the server's id of a batch by its name or its file; reads at most a hundred pages of the list."""
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
        """Return a file's answers by ``custom_id`` (the first of duplicates), and the number of invalid lines."""
        content = await self._call_sdk("files", "content", file)
        rows = [_read_table(line) for line in filter(bytes.strip, content.split(b"\n"))]
        named_rows = [row for row in rows if row is not None and isinstance(row.get("custom_id"), str)]
        return {row["custom_id"]: row for row in reversed(named_rows)}, len(rows) - len(named_rows)

    async def _call_sdk(self, group: str, method: str, *args: Any, **given: Any) -> bytes:
        def call_group(sdk: Any) -> Any:
            raw = getattr(sdk, group).with_raw_response
            return getattr(raw, method)(*args, timeout=self._timeout, **given)

        return await self._client.response_bytes(call_group, self._timeout)

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


def _check_id(answer: Any, kind: str = "batch") -> Table:
    """Return a server's JSON object after checking that its ``id`` can be part of an address."""
    name = answer.get("id") if isinstance(answer, dict) else None
    if not isinstance(name, str) or not _ID_PATTERN.fullmatch(name):
        raise NoReply(f"the server's answer names no {kind}", passing=True)
    return dict(answer)


def result_files(batch: Table) -> list[str]:
    """Return the ids of the files of answers and of errors of a batch that has ended.

    Examples
    --------
    >>> result_files({"id": "batch_1", "output_file_id": "file-2", "error_file_id": None})
    ['file-2']
    """
    names = (batch.get(f"{part}_file_id") for part in ("output", "error"))
    return [file for file in names if isinstance(file, str) and _ID_PATTERN.fullmatch(file)]


def batch_faults(batch: Table, format_text: Callable[[str], str]) -> list[tuple[str, str, int | None]]:
    """Return the faults that prevented a batch: code, printable code and message, line (from 1) or None.

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
            f"{row.get('code')}: {format_text(str(row.get('message') or row.get('code')))}",
            row["line"] if isinstance(row.get("line"), int) else None,
        )
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict)
    ]


def request_outcome(row: Mapping[str, Any] | None, format_text: Callable[[str], str], status: str) -> dict[str, Any]:
    """Return a request's outcome from a line of a batch's files: ``status``, and ``body`` or ``reason``, ``passing``.

    Parameters
    ----------
    row : mapping or None
        The line; None if there is none.
    format_text : callable
        Converts a server's text for messages.
    status : str
        Final status of the batch.

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
        reason = format_text(f"HTTP {code}: {error_message(body) or 'no reason given'}")
        return {"status": code, "reason": reason, "passing": may_succeed_later(code)}
    error = row.get("error") if row is not None else None
    if isinstance(error, Mapping):
        reason = format_text(": ".join(str(error[part]) for part in ("code", "message") if error.get(part)))
    else:
        reason = f"its batch is {status}, without an answer to it"
    return {"status": None, "reason": reason or f"its batch is {status}, with an error", "passing": True}
