"""The tables of a journal, of this version and of those before."""

from __future__ import annotations

import sqlite3
from contextlib import closing

_PROMPTS = """
create table if not exists prompts (
    judge text, key text, prompt blob, primary key (judge, key)
) without rowid;
"""
_BATCHES = """
create table if not exists batches (
    name text primary key, judge text, file text, batch text, status text, time text
) without rowid;
create table if not exists batched (
    judge text, key text, number integer, batch text, custom text, form text, expected real, noted integer, reply blob,
    primary key (judge, key, number)
) without rowid;
"""
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
#: The tables of this version, and of those before.
VERSIONS = (_TABLES + _PROMPTS + _BATCHES, _TABLES + _PROMPTS, _TABLES)


def layout_when_new(tables: str) -> list[tuple[str, str, str]]:
    """:func:`layout` of a new file with these tables."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(tables)
        return layout(database)


def layout(database: sqlite3.Connection) -> list[tuple[str, str, str]]:
    """The tables as they were made, and whatever else there is: views, triggers."""
    return sorted(
        (kind, name, sql or "")
        for kind, name, sql in database.execute("select type, name, sql from sqlite_master")
    )
