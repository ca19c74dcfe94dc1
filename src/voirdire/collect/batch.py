"""Batches of one judge's requests: half the price, answers within a day.

Requests wait until no other request is pending, then go to the server as one file. A protocol whose questions depend on
answers therefore works in waves, with one batch per wave and judge. Requests that failed temporarily, or gave no usable
answer, go into the next batch.

No request is paid for twice, whenever the process dies: the journal is written before each step
(:mod:`voirdire.collect.batch_rows`). If the process died before it knew a batch's id, the server's list is searched.
If the batch is not listed, its file is deleted, so that a pending request to create the batch fails, and the list is
searched once more.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from itertools import accumulate, count
from typing import Any, TypeVar

from voirdire.collect.batch_api import (
    ENDPOINT,
    FINAL_STATUSES,
    BatchApi,
    Table,
    batch_faults,
    request_outcome,
    result_files,
)
from voirdire.collect.batch_rows import BatchLine, BatchRows, QueuedRequest
from voirdire.collect.budget import Budget, Stop
from voirdire.collect.client import Client, Form, Request, request_body
from voirdire.collect.journal import Journal
from voirdire.collect.protocol import Judge, Key, key_text
from voirdire.collect.replies import NoReply, Reply
from voirdire.errors import InputError

_T = TypeVar("_T")
#: Most requests of a batch (servers' limit), and most bytes of its file (memory limit).
_MAX_REQUESTS, _MAX_FILE_BYTES = 20_000, 100 * 1024 * 1024
#: Seconds between two checks of the queue, and without a new request until the queue is sent in any case.
_QUEUE_PAUSE, _MAX_QUIET = 0.03, 10.0
#: Seconds between two checks of a batch, least and most; they increase.
_MIN_PAUSE, _MAX_PAUSE = 0.02, 60.0
_MIN_TIMEOUT = 300.0


class Batches:
    """The batches of one judge.

    Parameters
    ----------
    judge : Judge
        The judge. If it does not use batches (any more), only existing batches are waited for.
    client : Client
    journal : Journal
    budget : Budget
    idle : callable
        Returns True if only requests in batches are pending.
    """

    def __init__(
        self, judge: Judge, client: Client, journal: Journal, budget: Budget, idle: Callable[[], bool]
    ) -> None:
        self._judge, self._client, self._budget, self._idle = judge, client, budget, idle
        self._api = BatchApi(client, max(judge.timeout, _MIN_TIMEOUT))
        #: The judge's requests in the journal.
        self.rows = BatchRows(journal, judge.name)
        self._queue: list[QueuedRequest] = []
        self._replies: dict[str, asyncio.Future[Mapping[str, Any]]] = {}
        self._gathering: asyncio.Task[None] | None = None
        #: Task per batch that creates and follows it; names of the batches that only wait for the server.
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._following: set[str] = set()
        self._left: str | None = None

    @property
    def waiting_count(self) -> int:
        """Number of requests that wait for a batch, or in a batch."""
        return len(self._replies)

    async def recover_batches(self) -> None:
        """Find the batches that an interrupted run may have begun."""
        for begun in self.rows.open_batches():
            if begun.batch is not None:
                continue
            batch = None if begun.file is None else await self._find_batch(begun.name, begun.file)
            if batch is not None:
                self.rows.note_created(begun.name, batch)
                continue
            count, cost = self.rows.unanswered_requests()
            self.rows.drop_batch(begun.name)
            count_left, cost_left = self.rows.unanswered_requests()
            self._budget.reserve_sent(count_left - count, cost_left - cost)

    async def send(
        self, key: Key, number: int, request: Request, form: Form, expected: float, line: BatchLine | None
    ) -> Reply:
        """Return the reply to a question's request of this number: from its batch (``line``), or the next batch.

        Raises
        ------
        NoReply
            There is no answer, or none that is a chat completion.
        Stop
            The run ends before the batch does.
        """
        outcome = line.reply if line is not None else None
        if outcome is None:
            if self._left is not None:
                raise Stop(self._left)
            # the request's name in its batch, the same in every run
            custom = hashlib.sha256(f"{key_text(key)} {number}".encode()).hexdigest()[:32]
            future = self._replies[custom] = asyncio.get_running_loop().create_future()
            if line is not None:
                self._resume_batch(line.batch)
            else:
                entry: Table = {"custom_id": custom, "method": "POST", "url": ENDPOINT}
                entry["body"] = request_body(request, form)
                text = json.dumps(entry, default=dict).encode() + b"\n"
                self._queue.append(QueuedRequest(custom, key, number, form, expected, text))
                if self._gathering is None or self._gathering.done():
                    self._gathering = asyncio.create_task(self._gather_queue())
            outcome = await future
        if "reason" not in outcome:
            return self._client.parse_reply(json.dumps(outcome.get("body")).encode())
        raise NoReply(str(outcome["reason"]), status=outcome["status"], passing=outcome.get("passing") is True)

    def leave_batches(self, reason: str) -> None:
        """Stop waiting for batches; running batches continue at the server."""
        self._left = reason
        self._queue.clear()
        for custom in list(self._replies):
            self._settle_request(custom, Stop(reason))
        for name in self._following:
            self._tasks[name].cancel()

    def abandon_all(self) -> None:
        """Cancel all tasks."""
        for task in self._tasks.values():
            task.cancel()

    async def close(self) -> None:
        """Wait until every batch that is being created exists."""
        tasks = [*self._tasks.values(), *([self._gathering] if self._gathering else [])]
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _gather_queue(self) -> None:
        """Make batches of the queue as soon as no more requests arrive."""
        waiting, quiet = 0, 0.0
        while self._queue:
            await asyncio.sleep(_QUEUE_PAUSE)
            quiet = quiet + _QUEUE_PAUSE if len(self._queue) == waiting else 0.0
            waiting = len(self._queue)
            if waiting and quiet and (self._idle() or quiet >= _MAX_QUIET):
                lines = self._cut_batch()
                name, waiting = f"voirdire-{secrets.token_hex(8)}", 0
                self._start_task(name, [line.custom for line in lines], self._begin_and_follow(name, lines))

    def _cut_batch(self) -> list[QueuedRequest]:
        """Take the requests of one batch from the queue, in the order of the journal."""
        sizes = accumulate(len(line.line) for line in self._queue[:_MAX_REQUESTS])
        line_count = max(sum(size <= _MAX_FILE_BYTES for size in sizes), 1)
        lines, self._queue = self._queue[:line_count], self._queue[line_count:]
        return sorted(lines)

    def _resume_batch(self, name: str) -> None:
        """Follow a batch of an earlier run."""
        if name in self._tasks:
            return
        batch_ids = {batch.name: batch.batch for batch in self.rows.open_batches()}
        if batch_ids.get(name) is None:
            raise InputError(
                f"judge {self._judge.name!r}: the journal does not say which batch {name} is; it is damaged, name "
                "another output folder"
            )
        self._start_task(name, self.rows.request_names(name), self._follow_batch(name, str(batch_ids[name])))

    def _start_task(self, name: str, customs: list[str], work: Any) -> None:
        async def run_guarded() -> None:
            self._budget.progress.batched += len(customs)
            self._budget.show_progress()
            try:
                await work
            except (Exception, asyncio.CancelledError) as error:
                failure = error if isinstance(error, Exception) else Stop(self._left or "interrupted")
                for custom in customs:
                    self._settle_request(custom, failure)
            finally:
                self._budget.progress.batched -= len(customs)
                self._following.discard(name)

        self._tasks[name] = asyncio.create_task(run_guarded())

    def _settle_request(self, custom: str, outcome: Table | Exception) -> None:
        """Set the outcome of a request, or the exception that replaces it."""
        future = self._replies.pop(custom, None)
        if future is not None and not future.done():
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

    async def _begin_and_follow(self, name: str, lines: list[QueuedRequest]) -> None:
        """Create a batch, and follow it."""
        self.rows.note_made(name, datetime.now(UTC).isoformat(timespec="milliseconds"), lines)
        batch = await self._begin(name, b"".join(line.line for line in lines))
        self.rows.note_created(name, batch)
        if self._left is None:
            await self._follow_batch(name, batch)

    async def _begin(self, name: str, content: bytes) -> str:
        """Upload a file and create its batch; return the server's id of the batch."""

        async def begin_once() -> str:
            self.rows.note_uploaded(name, None)
            file = None
            try:
                file = await self._api.upload_file(name, content)
                self.rows.note_uploaded(name, file)
                return str((await self._api.create(file, name))["id"])
            except NoReply as error:
                refused = not error.passing and error.status is not None and 300 <= error.status < 500
                # the answer may have been lost, not the request
                batch = None if file is None or refused else await self._find_batch(name, file)
                if batch is None:
                    raise
                return batch

        try:
            return await self._retry_call(begin_once)
        except NoReply as error:
            self.rows.drop_batch(name)
            raise self._fatal_error(error, "no batch can be begun") from None

    async def _find_batch(self, name: str, file: str) -> str | None:
        """Find the server's id of a batch that may exist; None if it does not, and never will."""
        try:
            batch = await self._retry_call(lambda: self._api.find(name, file))
            if batch is None:
                try:
                    await self._retry_call(lambda: self._api.delete(file))
                except NoReply as error:
                    if error.passing:
                        raise
                await asyncio.sleep(4 * self._budget.panel.backoff)
                batch = await self._retry_call(lambda: self._api.find(name, file))
        except NoReply as error:
            raise self._fatal_error(error, "it is unknown whether a batch was created") from None
        return batch

    async def _follow_batch(self, name: str, batch: str) -> None:
        """Wait for the end of a batch, and set the outcomes of its requests."""
        self._following.add(name)
        customs = self.rows.request_names(name)
        pause = max(self._budget.panel.backoff, _MIN_PAUSE)
        try:
            while (state := await self._retry_call(lambda: self._api.get(batch))).get("status") not in FINAL_STATUSES:
                await asyncio.sleep(min(pause, _MAX_PAUSE))
                pause *= 1.5
            status, outcomes = str(state["status"]), await self._batch_outcomes(state, customs)
        except NoReply as error:
            if error.passing or error.status in (401, 403):
                raise self._fatal_error(error, f"batch {batch} cannot be fetched") from None
            reason = f"its batch {batch} cannot be fetched ({error.reason})"
            status, failure = "gone", {"status": None, "reason": reason, "passing": False}
            outcomes = dict.fromkeys(customs, failure)
        if status == "cancelled" and self._budget.stopped is None:
            self._budget.stopped = f"batch {batch} of judge {self._judge.name!r} was cancelled at its server"
        self.rows.note_ended(name, status, outcomes)
        for custom, outcome in outcomes.items():
            self._settle_request(custom, outcome)

    async def _batch_outcomes(self, state: Table, customs: list[str]) -> dict[str, Table]:
        """Return the outcome of each request of a batch that has ended."""
        rows: dict[str, Table] = {}
        for file in result_files(state):
            rows = {**await self._fetch_lines(file), **rows}
        faults = batch_faults(state, self._client.one_line)
        unknown_model = any(code == "model_not_found" for code, _, _ in faults)
        by_line = {line: message for _, message, line in faults if line is not None}
        batch_message = next((message for _, message, line in faults if line is None), None)
        outcomes = {}
        for number, custom in enumerate(customs, 1):
            message = by_line.get(number, batch_message)
            if custom in rows or message is None:
                outcomes[custom] = request_outcome(rows.get(custom), self._client.one_line, str(state["status"]))
            else:
                status = 404 if unknown_model else 400 if number in by_line else None
                outcomes[custom] = {"status": status, "reason": message, "passing": status is None}
        return outcomes

    async def _fetch_lines(self, file: str) -> dict[str, Table]:
        """Fetch the lines of a file of answers, again if it is damaged; finally return the readable lines."""
        rows: dict[str, Table] = {}

        async def fetch_lines() -> None:
            nonlocal rows
            rows = {}
            rows, damaged = await self._api.lines(file)
            if damaged:
                raise NoReply(f"{damaged} lines of its file are no answers", passing=True)

        try:
            await self._retry_call(fetch_lines)
        except NoReply:
            if not rows:
                raise
        return rows

    async def _retry_call(self, call: Callable[[], Awaitable[_T]]) -> _T:
        """Retry a call that fails temporarily, as often as a request."""
        for tries in count(1):
            try:
                return await call()
            except NoReply as error:
                if not error.passing or tries >= self._budget.panel.request_tries:
                    raise
                if self._left is not None:
                    raise Stop(self._left) from None
                pause = self._budget.panel.backoff * 2.0 ** (tries - 1)
                await asyncio.sleep(min(pause if error.after is None else error.after, _MAX_PAUSE))
        raise AssertionError

    def _fatal_error(self, trouble: NoReply, problem: str) -> Exception:
        """Return the exception that ends the run: `Stop` for a temporary fault, `InputError` for a lasting one."""
        reason = f"judge {self._judge.name!r} at {self._client.address}: {problem} ({trouble.reason})"
        self._budget.stopped = self._budget.stopped or reason
        if trouble.passing:
            return Stop(reason)
        if trouble.status in (401, 403):
            return InputError(f"{reason}; check the key in {self._judge.api_key_env or 'api_key_env'}")
        return InputError(f"{reason}; remove batch = true if the server has no batches")
