"""The journal of a run: an SQLite file with every request and every answer.

An answer is committed before the protocol sees it, so a run killed at any moment loses no answer that it used, and
started again asks nothing that has been answered. SQLite's write-ahead log keeps the file whole when the process is
killed; ``synchronous = NORMAL`` means that a power failure may cost the last answers, never the file.

Tables: ``setting`` (what the run was started with), ``requests`` (one row per request that was sent: judge, key, which
try, time, seconds, status, error, tokens, cost, the raw answer), ``answers`` (one row per question: its hash, the
answer or why there is none, log-probabilities, tries, tokens, cost, seconds). No key of a server is ever written.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from voirdire.collect.protocol import Answer, Key, Logprobs
from voirdire.errors import InputError

FILE = "journal.sqlite"
FORMAT = 1
_TABLES = """
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
"""


@dataclass(frozen=True)
class Sent:
    """One request that was sent, and what came of it.

    Examples
    --------
    >>> Sent("2026-01-31T12:00:00", 0.4, 200, None, 120, 6, 0.0, '{"winner": 1}').error is None
    True
    """

    time: str
    seconds: float
    status: int | None
    error: str | None
    tokens_in: int | None
    tokens_out: int | None
    cost: float
    answer: str | None


@dataclass(frozen=True)
class Kept:
    """One question's answer as the journal holds it.

    Examples
    --------
    >>> Kept("0f", Answer({"winner": 1})).hash
    '0f'
    """

    hash: str
    answer: Answer


def written(key: Key) -> str:
    """A question's key as text.

    Examples
    --------
    >>> written(("compare", "style", "a", "b", 1))
    '["compare","style","a","b",1]'
    """
    return json.dumps(list(key), separators=(",", ":"), ensure_ascii=False)


class Journal:
    """An open journal.

    Parameters
    ----------
    folder : Path
        Where it is; must exist.
    write : bool
        Whether this process is the one that asks. There can be only one at a time.

    Raises
    ------
    InputError
        It cannot be opened, is damaged, was made by a newer version, or another run is writing to it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = Journal(Path(folder))
    ...     journal.keep("small", ("ask", "a"), "0f", Answer({"winner": 1}), [])
    ...     found = journal.find("small", ("ask", "a"))
    ...     journal.close()
    >>> found.answer.content
    {'winner': 1}
    """

    def __init__(self, folder: Path, *, write: bool = True) -> None:
        self.path = folder / FILE
        self._lock: IO[bytes] | None = _lock(folder / ".lock", folder) if write else None
        try:
            self._db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=30)
            self._db.execute("pragma journal_mode = wal")
            self._db.execute("pragma synchronous = normal")
            self._db.executescript(_TABLES)
            self._db.execute("insert or ignore into setting values ('format', ?)", (str(FORMAT),))
            found = self.setting()["format"]
        except sqlite3.Error as error:
            self.close()
            raise InputError(
                f"journal {self.path}: cannot be used ({error}); name another output folder"
            ) from error
        if found != str(FORMAT):
            self.close()
            raise InputError(
                f"journal {self.path}: written in format {found}, this version reads {FORMAT}; upgrade voirdire"
            )

    def close(self) -> None:
        """Close the file and let others write."""
        if hasattr(self, "_db"):
            self._db.close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def setting(self) -> dict[str, str]:
        """What the run was started with, by part."""
        return dict(self._db.execute("select part, value from setting"))

    def begin(self, setting: Mapping[str, str]) -> list[str]:
        """Note what the run is started with; or which parts differ from what it was started with before."""
        before = self.setting()
        if len(before) > 1:
            return [part for part, value in setting.items() if before.get(part) != value]
        with self._db:
            self._db.execute("begin immediate")
            self._db.executemany("insert or replace into setting values (?, ?)", setting.items())
        return []

    def find(self, judge: str, key: Key) -> Kept | None:
        """A question's answer, if it has been given."""
        row = self._db.execute(
            "select hash, answer, missing, logprobs from answers where judge = ? and key = ?",
            (judge, written(key)),
        ).fetchone()
        if row is None:
            return None
        digest, answer, reason, logprobs = row
        content = None if answer is None else json.loads(answer)
        return Kept(digest, Answer(content, reason, _logprobs(json.loads(logprobs)) if logprobs else ()))

    def sent(self, judge: str, key: Key, number: int, request: Sent) -> None:
        """Note a request that brought no usable answer."""
        self._insert_request(judge, written(key), number, request)

    def keep(self, judge: str, key: Key, digest: str, answer: Answer, requests: list[Sent]) -> None:
        """Note a question's answer, and in the same transaction the last of its requests (the others are noted)."""
        name = written(key)
        with self._db:
            self._db.execute("begin immediate")
            if requests and answer.missing is None:
                self._insert_request(judge, name, len(requests), requests[-1])
            self._db.execute(
                "insert or replace into answers values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    judge,
                    name,
                    digest,
                    None if answer.content is None else json.dumps(answer.content),
                    answer.missing,
                    json.dumps(answer.logprobs) if answer.logprobs else None,
                    len(requests),
                    sum(one.tokens_in or 0 for one in requests),
                    sum(one.tokens_out or 0 for one in requests),
                    sum(one.cost for one in requests),
                    sum(one.seconds for one in requests),
                ),
            )

    def _insert_request(self, judge: str, name: str, number: int, request: Sent) -> None:
        self._db.execute(
            "insert into requests values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                judge, name, number, request.time, request.seconds, request.status, request.error,
                request.tokens_in, request.tokens_out, request.cost, request.answer,
            ),
        )  # fmt: skip

    def forget_missing(self) -> int:
        """Forget the questions without an answer, so that they are asked again; their requests stay noted."""
        return self._db.execute("delete from answers where missing is not null").rowcount

    def totals(self) -> dict[str, dict[str, float]]:
        """Per judge: requests sent, questions answered and missing, tokens, cost."""
        found: dict[str, dict[str, float]] = {}
        answers = self._db.execute(
            "select judge, count(missing), count(*) from answers group by judge"
        ).fetchall()
        requests = self._db.execute(
            "select judge, count(*), total(tokens_in), total(tokens_out), total(cost) from requests group by judge"
        ).fetchall()
        for judge, missing, count in answers:
            found.setdefault(judge, {}).update(answered=count - missing, missing=missing)
        for judge, count, read, wrote, cost in requests:
            found.setdefault(judge, {}).update(
                requests=count, tokens_in=int(read), tokens_out=int(wrote), cost=cost
            )
        nothing = {"requests": 0, "answered": 0, "missing": 0, "tokens_in": 0, "tokens_out": 0, "cost": 0.0}
        return {judge: nothing | row for judge, row in found.items()}


def _logprobs(found: list[Any]) -> Logprobs:
    return tuple((token, tuple((other, value) for other, value in others)) for token, others in found)


def _lock(path: Path, folder: Path) -> IO[bytes]:
    """Hold a lock for as long as the process lives, however it ends."""
    try:
        file = path.open("ab")
    except OSError as error:
        raise InputError(
            f"output folder {folder}: cannot be written ({error.strerror}); name another"
        ) from error
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError as error:
            file.close()
            raise InputError(
                f"output folder {folder}: another run is writing to it; wait for its end"
            ) from error
    except OSError as error:
        file.close()
        raise InputError(f"output folder {folder}: another run is writing to it; wait for its end") from error
    return file
