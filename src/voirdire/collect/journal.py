"""The journal of a run: an SQLite file with every request and every answer.

An answer is committed before the protocol receives it. A run killed at any moment therefore loses no answer that it has
used, and a resumed run asks no answered question again. SQLite's write-ahead log keeps the file intact if the process
is killed; with ``synchronous = NORMAL`` a power failure may lose the last answers, but never damages the file.

Tables: ``setting`` (the run's setting), ``requests`` (one row per sent request: judge, key, number of the try, time,
seconds, status, error, tokens, cost, raw answer), ``answers`` (one row per question: hash, answer or reason for its
absence, log-probabilities, tries, tokens, cost, seconds), ``prompts`` (both messages of every sent question,
compressed; absent from journals of older versions), ``batches`` and ``batched`` (see
:mod:`voirdire.collect.batch_rows`). No key of a server is ever written.
"""

from __future__ import annotations

import json
import math
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

from voirdire.collect.answers import DECODER
from voirdire.collect.protocol import Answer, Key, key_text
from voirdire.collect.redact import Redactor
from voirdire.collect.replies import read_logprobs
from voirdire.errors import InputError

JOURNAL_FILE = "journal.sqlite"
JOURNAL_FORMAT = 1
_TABLES_SQL = """
create table if not exists setting (part text primary key, value text not null);
create table if not exists requests (
    judge text, key text, number integer, time text, seconds real, status integer, error text,
    tokens_in integer, tokens_out integer, cost real, answer text
);
create table if not exists answers (
    judge text, key text, hash text, answer text, missing text, logprobs text,
    requests integer, tokens_in integer, tokens_out integer, cost real, seconds real,
    primary key (judge, key)
) without rowid;
create table if not exists prompts (
    judge text, key text, prompt blob, primary key (judge, key)
) without rowid;
create table if not exists batches (
    name text primary key, judge text, file text, batch text, status text, time text
) without rowid;
create table if not exists batched (
    judge text, key text, number integer, batch text, custom text, form text, expected real, noted integer, reply blob,
    primary key (judge, key, number)
) without rowid;
"""
#: Errors that a damaged file or damaged content may cause.
_DAMAGE_ERRORS = (
    sqlite3.Error, OSError, ValueError, TypeError, LookupError, OverflowError, RecursionError, zlib.error,
)  # fmt: skip
#: Most bytes of one cell: an answer of 8 MB whose every character is escaped.
MAX_CELL_BYTES = 64 * 1024 * 1024


#: Tables that journals of older versions lack.
_OLD_MISSING_TABLES = (("batches", "batched"), ("batches", "batched", "prompts"))
#: Totals of a judge without requests.
ZERO_TOTALS = {"requests": 0, "answered": 0, "missing": 0, "tokens_in": 0, "tokens_out": 0, "cost": 0.0}
_TOTALS_SQL = {
    ("answered", "missing"): "select judge, count(answer), count(missing) from answers group by judge",
    ("requests", "tokens_in", "tokens_out", "cost"): "select judge, count(*), cast(total(tokens_in) as integer), "
    "cast(total(tokens_out) as integer), total(cost) from requests group by judge",
}


@dataclass(frozen=True)
class SentRequest:
    """A sent request, and its outcome.

    Examples
    --------
    >>> SentRequest("2026-01-31T12:00:00", 0.4, 200, None, 120, 6, 0.0, '{"winner": 1}').error is None
    True
    """

    time: str
    seconds: float
    status: int | None
    error: str | None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float = 0.0
    answer: str | None = None


class Journal:
    """An open journal.

    Parameters
    ----------
    folder : Path
        Existing folder of the journal.
    write : bool
        True if this process runs the collection. Only one process at a time can do so.
    hide : Redactor, optional
        Redacts keys in every row.

    Raises
    ------
    InputError
        The journal cannot be opened, is damaged, was made by a newer version, or another run is writing to it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = Journal(Path(folder))
    ...     journal.record_answer("small", ("ask", "a"), "0f", Answer({"winner": 1}), [])
    ...     found = journal.find_answer("small", ("ask", "a"))
    ...     journal.close()
    >>> found
    ('0f', Answer(content={'winner': 1}, missing=None, logprobs=()))
    """

    def __init__(self, folder: Path, *, write: bool = True, hide: Redactor | None = None) -> None:
        self.path = folder / JOURNAL_FILE
        self._hide = hide or Redactor()
        with ExitStack() as opened:
            if write:
                opened.enter_context(closing(_lock_folder(folder)))
            with self.report_damage("cannot be used"):
                if self.path.exists() and not self.path.is_file():
                    raise self._refusal("is no file")
                options: dict[str, Any] = {"isolation_level": None, "check_same_thread": False, "timeout": 30}
                self._db = opened.enter_context(closing(sqlite3.connect(self.path, **options)))
                self._check_format()
            self._opened = opened.pop_all()

    def _check_format(self) -> None:
        self._db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_CELL_BYTES)
        for setting in ("trusted_schema = off", "journal_mode = wal", "synchronous = normal"):
            self._db.execute(f"pragma {setting}")
        with closing(sqlite3.connect(":memory:")) as empty_database:
            empty_database.executescript(_TABLES_SQL)
            layout = _database_layout(empty_database)
        old_layout = _database_layout(self._db)
        self._db.executescript(_TABLES_SQL)
        older_layouts = [[row for row in layout if row[1] not in lacking] for lacking in _OLD_MISSING_TABLES]
        # all tables are created before the first record; a journal with a setting cannot lack one
        if _database_layout(self._db) != layout or (
            old_layout not in (layout, *older_layouts) and self.stored_setting()
        ):
            raise self._refusal("its tables are not those of a journal")
        self._db.execute("insert or ignore into setting values ('format', ?)", (str(JOURNAL_FORMAT),))
        version = self.stored_setting()["format"]
        if version != str(JOURNAL_FORMAT):
            raise InputError(
                f"journal {self.path}: written in format {version!r:.20}, this version reads "
                f"{JOURNAL_FORMAT}; upgrade voirdire"
            )

    def select_rows(self, statement: str, *values: Any) -> list[Any]:
        """Return the rows that a statement selects."""
        with self.report_damage():
            return list(self._db.execute(statement, values))

    @contextmanager
    def write_transaction(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction that writes all of its changes or none."""
        with self.report_damage(), self._db:
            self._db.execute("begin immediate")
            yield self._db

    def execute_change(self, statement: str, *values: Any) -> int:
        """Execute a statement that changes the file; return the number of changed rows."""
        with self.write_transaction() as database:
            return database.execute(statement, values).rowcount

    @contextmanager
    def report_damage(self, fault: str = "is damaged, or its folder has been moved or filled up") -> Iterator[None]:
        """Convert errors of a damaged file, or damaged content, to an InputError."""
        try:
            yield
        except InputError:
            raise
        except _DAMAGE_ERRORS as error:
            message = str(error) if isinstance(error, sqlite3.Error | OSError) else ""
            reason = (message.splitlines() or [type(error).__name__])[0][:200]
            raise self._refusal(f"{fault} ({reason})") from error

    def _refusal(self, fault: str) -> InputError:
        return InputError(f"journal {self.path}: {fault}; name another output folder")

    def close(self) -> None:
        """Close the file, and release its lock."""
        self._opened.close()

    def stored_setting(self) -> dict[str, str]:
        """Return the run's setting, by part."""
        return dict(self.select_rows("select part, value from setting"))

    def begin_run(self, setting: Mapping[str, str]) -> list[str]:
        """Record the setting of a new run; for a resumed run, return the parts that differ."""
        before = self.stored_setting()
        setting = {part: self._hide.redact_text(value) for part, value in setting.items()}
        if len(before) > 1:
            return [part for part, value in setting.items() if before.get(part) != value]
        with self.write_transaction() as database:
            database.executemany("insert or replace into setting values (?, ?)", setting.items())
        return []

    def find_answer(self, judge: str, key: Key) -> tuple[str, Answer] | None:
        """Return a question's hash and its answer; None if it has no answer.

        Raises
        ------
        InputError
            The journal is damaged, or was changed by another program.
        """
        statement = "select hash, answer, missing, logprobs from answers where judge = ? and key = ?"
        for digest, answer, reason, logprobs in self.select_rows(statement, judge, key_text(key)):
            with self.report_damage():
                if (answer is None) == (reason is None) or not isinstance(reason, str | None):
                    raise ValueError("an answer and a reason for none")
                content = None if answer is None else DECODER.decode(answer)
                alternatives = read_logprobs(json.loads(logprobs)) if logprobs else ()
                return digest, Answer(content, reason, alternatives)
        return None

    def note_sent(self, judge: str, key: Key, number: int, request: SentRequest) -> None:
        """Record a request without a usable answer, unless it was recorded when its batch was read before."""
        with self.write_transaction():
            self._insert_request(judge, key_text(key), number, request)

    def record_answer(
        self,
        judge: str,
        key: Key,
        digest: str,
        answer: Answer,
        requests: list[SentRequest],
        prompt: tuple[str, str] | None = None,
    ) -> None:
        """Record a question's answer, and in the same transaction its last request (the others are recorded already).

        ``prompt`` is the system's and the user's message, which is stored compressed.
        """
        name = key_text(key)
        columns = ("tokens_in", "tokens_out", "cost", "seconds")
        totals = [sum(getattr(request, column) or 0 for request in requests) for column in columns]
        content = None if answer.content is None else self._redacted_json(answer.content)
        logprobs = self._redacted_json(answer.logprobs) if answer.logprobs else None
        with self.write_transaction():
            if requests and answer.missing is None:
                self._insert_request(judge, name, len(requests), requests[-1])
            if prompt is not None:
                self._insert("prompts", judge, name, self.pack_redacted(list(prompt)))
            self._db.execute("delete from batched where judge = ? and key = ?", (judge, name))
            reason = self._redacted(answer.missing)
            self._insert("answers", judge, name, digest, content, reason, logprobs, len(requests), *totals)

    def stored_prompts(self) -> Iterator[tuple[str, str, str, str, str | None]]:
        """Yield judge, key, system's and user's message, and answer of every question with a stored prompt.

        Raises
        ------
        InputError
            The journal is damaged.
        """
        with self.report_damage():
            rows = self._db.execute(
                "select p.judge, p.key, p.prompt, a.answer from prompts p left join answers a "
                "on a.judge = p.judge and a.key = p.key order by p.judge, p.key"
            )
            for judge, key, packed, answer in rows:
                system, user = unpack_value(packed)
                yield judge, key, str(system), str(user), answer

    def pack_redacted(self, value: Any) -> bytes:
        """Serialise a value as JSON, redact keys, and compress it."""
        return zlib.compress(self._redacted_json(value).encode("utf-8", "surrogatepass"))

    def _redacted_json(self, value: Any) -> str:
        return json.dumps(self._hide.redact_value(value))

    def _redacted(self, text: str | None) -> str | None:
        return None if text is None else self._hide.redact_text(text)

    def _insert(self, table: str, *values: Any) -> None:
        marks = ", ".join("?" * len(values))
        self._db.execute(f"insert or replace into {table} values ({marks})", values)

    def _insert_request(self, judge: str, name: str, number: int, request: SentRequest) -> None:
        row_key = (judge, name, number)
        statement = "select 1 from batched where judge = ? and key = ? and number = ? and noted"
        if self._db.execute(statement, row_key).fetchone():
            return
        self._db.execute("update batched set noted = 1 where judge = ? and key = ? and number = ?", row_key)
        error, answer = self._redacted(request.error), self._redacted(request.answer)
        self._insert("requests", *row_key, *astuple(replace(request, error=error, answer=answer)))

    def forget_missing(self) -> int:
        """Delete the missing answers, so that their questions are asked again; return their number. Keeps requests."""
        return self.execute_change("delete from answers where missing is not null")

    def totals_by_judge(self) -> dict[str, dict[str, float]]:
        """Return per judge: requests sent, questions answered and missing, tokens, cost."""
        totals: dict[str, dict[str, float]] = {}
        for names, statement in _TOTALS_SQL.items():
            for judge, *numbers in self.select_rows(statement):
                totals.setdefault(judge, dict(ZERO_TOTALS)).update(zip(names, numbers, strict=True))
        with self.report_damage():
            if not all(math.isfinite(row["cost"]) for row in totals.values()):
                raise ValueError("a cost that is no number")
        return totals


def unpack_value(packed: bytes) -> Any:
    """Decode a value of :meth:`Journal.pack_redacted`.

    Raises
    ------
    ValueError
        The value is too long, or damaged.
    """
    unpacker = zlib.decompressobj()
    text = unpacker.decompress(packed, MAX_CELL_BYTES)
    if unpacker.unconsumed_tail:
        raise ValueError("a value that is too long")
    return json.loads(text)


def _database_layout(database: sqlite3.Connection) -> list[tuple[str, str, str]]:
    """Return the SQL statements of all tables, views and triggers in the file."""
    return sorted(
        (kind, name, sql or "") for kind, name, sql in database.execute("select type, name, sql from sqlite_master")
    )


def _lock_folder(folder: Path) -> sqlite3.Connection:
    """Lock the folder; the lock ends with the process, however it ends."""
    path, prefix = folder / ".lock", f"output folder {folder}:"
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{prefix} {path.name} is no file; name another folder")
        with ExitStack() as opened:
            lock = opened.enter_context(closing(sqlite3.connect(path, isolation_level=None, timeout=0)))
            lock.execute("begin exclusive")
            opened.pop_all()
            return lock
    except (sqlite3.Error, OSError) as error:
        if "locked" in str(error):
            raise InputError(f"{prefix} another run is writing to it; wait for its end") from error
        raise InputError(f"{prefix} cannot be written ({error}); name another") from error
