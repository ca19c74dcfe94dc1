"""Journal tables of batches, so that no batch is paid for twice.

The journal records a batch before its file is uploaded, the file's id before the batch is created, the batch's id when
the server has returned it, and all its answers in one transaction, before they are used. A request stays in the table
until its question has an answer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from voirdire.collect.client import Form
from voirdire.collect.journal import Journal, unpack_value
from voirdire.collect.protocol import Key, key_text

_SCHEMA_FORMS = ("json_schema", "grammar", "text")


class QueuedRequest(NamedTuple):
    """A request that waits for its batch: ``custom_id``, key, number, form, estimated cost, its line in the file."""

    custom: str
    key: Key
    number: int
    form: Form
    expected: float
    line: bytes


class BatchLine(NamedTuple):
    """A request in a batch.

    Attributes
    ----------
    batch : str
        voirdire's name of the batch.
    form : Form
        Form of the request.
    expected : float
        Estimated cost.
    noted : bool
        True if the table of answered requests contains it.
    reply : mapping or None
        Its outcome (see :func:`voirdire.collect.batch_api.request_outcome`); None while the batch runs.
    """

    batch: str
    form: Form
    expected: float
    noted: bool
    reply: Mapping[str, Any] | None


class BegunBatch(NamedTuple):
    """A batch that has not ended: voirdire's name, and the server's ids of its file and batch (None if unknown)."""

    name: str
    file: str | None
    batch: str | None


class BatchRows:
    """One judge's batches in a journal.

    Parameters
    ----------
    journal : Journal
    judge : str

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = Journal(Path(folder))
    ...     rows = BatchRows(journal, "ann")
    ...     rows.note_made("b", "2026-01-31T12:00:00", [QueuedRequest("q1", ("ask", 1), 1, Form(), 0.5, b"")])
    ...     before = rows.find_line(("ask", 1), 1).reply, rows.unanswered_requests()
    ...     rows.note_ended("b", "completed", {"q1": {"status": 200, "body": {}}})
    ...     after = rows.find_line(("ask", 1), 1).reply, rows.open_batches()
    ...     journal.close()
    >>> before, after
    ((None, (1, 0.5)), ({'status': 200, 'body': {}}, []))
    """

    def __init__(self, journal: Journal, judge: str) -> None:
        self._journal, self._judge = journal, judge

    def note_made(self, name: str, time: str, lines: Sequence[QueuedRequest]) -> None:
        """Record a batch before it is sent."""
        rows = [
            (self._judge, key_text(key), number, name, custom, f"{form.schema} {form.logprobs:d}", cost)
            for custom, key, number, form, cost, _ in lines
        ]
        with self._journal.write_transaction() as database:
            database.execute("insert into batches values (?, ?, null, null, 'made', ?)", (name, self._judge, time))
            database.executemany("insert into batched values (?, ?, ?, ?, ?, ?, ?, 0, null)", rows)

    def note_uploaded(self, name: str, file: str | None) -> None:
        """Record the server's id of the file, before the batch is created."""
        self._journal.execute_change("update batches set file = ?, status = 'uploaded' where name = ?", file, name)

    def note_created(self, name: str, batch: str) -> None:
        """Record the server's id of the batch."""
        self._journal.execute_change("update batches set batch = ?, status = 'created' where name = ?", batch, name)

    def drop_batch(self, name: str) -> None:
        """Delete a batch that the server does not have."""
        with self._journal.write_transaction() as database:
            database.execute("delete from batched where batch = ?", (name,))
            database.execute("delete from batches where name = ?", (name,))

    def note_ended(self, name: str, status: str, outcomes: Mapping[str, Mapping[str, Any]]) -> None:
        """Record the outcomes of a batch, by ``custom_id``."""
        with self._journal.write_transaction() as database:
            database.executemany(
                "update batched set reply = ? where batch = ? and custom = ?",
                [(self._journal.pack_redacted(outcome), name, custom) for custom, outcome in outcomes.items()],
            )
            database.execute("update batches set status = ? where name = ?", (f"ended: {status}", name))

    def open_batches(self) -> list[BegunBatch]:
        """Return the batches that have not ended, oldest first."""
        rows = self._journal.select_rows(
            "select name, file, batch from batches where judge = ? and status not like 'ended%' order by time, name",
            self._judge,
        )
        return [BegunBatch(*row) for row in rows]

    def request_names(self, name: str) -> list[str]:
        """Return the ``custom_id`` of every request of a batch, sorted, as in its file."""
        rows = self._journal.select_rows("select custom from batched where batch = ? order by custom", name)
        return [str(custom) for (custom,) in rows]

    def unanswered_requests(self) -> tuple[int, float]:
        """Return the number of unanswered requests in batches, and their estimated cost."""
        statement = "select count(*), total(expected) from batched where judge = ? and not noted"
        ((count, cost),) = self._journal.select_rows(statement, self._judge)
        with self._journal.report_damage():
            if not math.isfinite(cost):
                raise ValueError("a cost that is no number")
        return int(count), float(cost)

    def find_line(self, key: Key, number: int) -> BatchLine | None:
        """Return a question's request of this number if it is in a batch, else None."""
        condition = "judge = ? and key = ? and number = ?"
        statement = f"select batch, form, expected, noted, reply from batched where {condition}"
        rows = self._journal.select_rows(statement, self._judge, key_text(key), number)
        for batch, form, expected, noted, packed in rows:
            with self._journal.report_damage():
                schema, _, logprobs = form.partition(" ")
                if schema not in _SCHEMA_FORMS or not math.isfinite(expected):
                    raise ValueError("a form that there is not, or a cost that is no number")
                reply = _unpack_reply(packed)
                return BatchLine(batch, Form(schema, logprobs == "1"), float(expected), bool(noted), reply)
        return None


def _unpack_reply(packed: bytes | None) -> Mapping[str, Any] | None:
    if packed is None:
        return None
    reply = unpack_value(packed)
    if not isinstance(reply, Mapping) or not isinstance(reply.get("status"), int | None):
        raise ValueError("an answer that is none")
    return reply
