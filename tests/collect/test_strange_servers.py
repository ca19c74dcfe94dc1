"""Servers that answer oddly, endlessly or in a form of their own: an error of that answer, and never more."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from growth import grows_as_its_input
from scripted_server import Reply, completion, user

from voirdire.collect import collect
from voirdire.collect.answers import find_breach, parse_json, usable_content
from voirdire.collect.client import MAX_ANSWER_BYTES, _read_bounded
from voirdire.collect.replies import NoReply, retry_after
from voirdire.collect.replies import Reply as Received
from voirdire.errors import InputError

DEEP = 200_000
#: What may stand where something else is meant.
VALUES: list[Any] = [
    None, True, False, 0, -1, 3, 2**63, 10**400, 1.5, -1e300, float("inf"), float("nan"), "", "x", "\ud800", "\0",
    "9" * 5000, [], [[]], [None], ["x"], {}, {"x": 1}, {"text": 3}, [{"text": None}], [{"text": "{}"}],
    json.loads("[" * 400 + "]" * 400), "{" * DEEP, "[" * DEEP, '{"a":' * DEEP, '{"winner": 1e400}',
    '{"winner": 1' + "0" * 400 + "}", '{"winner": "\\ud800"}', '{"winner": NaN}', "```json\n" * 9000,
    "<think>" * 9000, '{"winner": 1}' * 9000, "\\" * DEEP, "null", "true",
]  # fmt: skip
BODIES: list[bytes] = [
    b"", b"\0", b"null", b"[]", b"{}", b"3", b'"x"', b"\xff\xfe{\0}\0", b"\xef\xbb\xbf{}", b"[" * DEEP, b"{" * DEEP,
    b'{"choices":' * DEEP, b'{"choices": [' + b"1," * DEEP, b"data: {}\n\n", b"<html>busy</html>", b"\x80" * 999,
    b"9" * 5000, b'{"choices": [{"message": {"content": "', b" " * (MAX_ANSWER_BYTES + 1),
    b"x" * (MAX_ANSWER_BYTES // 2),
]  # fmt: skip
HEADERS: list[dict[str, str]] = [
    {"Content-Encoding": "gzip"}, {"Content-Encoding": "deflate"}, {"Content-Encoding": "br"},
    {"Content-Encoding": "gzip, gzip"}, {"Content-Encoding": "\x80"}, {"Content-Type": "text/plain; charset=hex"},
    {"Content-Type": "application/json; charset=utf-7"}, {"Content-Length": "3"}, {"Content-Length": "x"},
    {"Transfer-Encoding": "chunked"}, {"Set-Cookie": "a=b"}, {"X": "y" * 200_000},
]  # fmt: skip
AFTER = [
    "Fri, 31 Dec 99999999999999999999 23:59:59 GMT", "Fri, 99 Foo 2026", "1e999", "nan", "-3", "", "soon", "9" * 5000,
    "Fri, 31 Dec 9999 23:59:59 -9999", "Mon, 01 Jan 0001 00:00:00 +2359",
]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Everywhere in a JSON value."""
    if path:
        yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield from places(inner, (*path, key))


@cache
def bomb() -> bytes:
    return gzip.compress(b" " * 10 * MAX_ANSWER_BYTES)


def fault(rng: np.random.Generator) -> Reply:
    """A reply with something wrong in its status, its headers or anywhere in its body."""
    made = completion('{"winner": 1}', logprobs=[("1", -0.1, [("1", -0.1), ("2", -3.0)])])
    kind = rng.integers(4)
    if kind == 0:
        *above, last = list(places(made))[rng.integers(len(list(places(made))))]
        target: Any = made
        for key in above:
            target = target[key]
        target[last] = VALUES[rng.integers(len(VALUES))]
        return Reply(json.dumps(made).encode())
    if kind == 1:
        content = VALUES[rng.integers(len(VALUES))]
        return Reply(json.dumps(completion(content if isinstance(content, str) else json.dumps(content))).encode())
    if kind == 2:
        status = int(rng.choice([200, 200, 200, 204, 206, 299, 400, 402, 418, 422, 429, 451, 500, 503, 599]))
        after = {"Retry-After": AFTER[rng.integers(len(AFTER))]} if status >= 400 else {}
        body = BODIES[rng.integers(len(BODIES))]
        return Reply(b"" if status == 204 else body, status, after)
    body = json.dumps(made).encode()
    packed = [body, gzip.compress(body), bomb(), zlib.compress(body)[:-6]]
    return Reply(packed[rng.integers(len(packed))], 200, HEADERS[rng.integers(len(HEADERS))])


def survive(tmp_path: Path, serve: Callable[..., Any], count: int) -> None:
    rng = np.random.default_rng(20261)
    faults = [fault(rng) for _ in range(count)]
    met = set()

    def script(request: dict[str, Any]) -> Any:
        number = int(re.findall(r"Round (\d+)", user(request))[0])
        if number % 2:  # now and then an answer, so that the server does not seem dead
            return {"winner": 1 + number % 3 % 2}
        met.add(number)
        return faults[number // 2]

    judge = {"name": "ann", "model": "m", "base_url": serve(script).url, "concurrency": 1, "timeout": 1.5}
    panel = {"judges": [judge], "answer_tries": 1, "request_tries": 1, "backoff": 0.0}
    items = pd.DataFrame({"id": ["a", "b"], "text": ["x", "y"]})
    options = {"rounds": 2 * count, "logprobs": True}
    found = collect(panel, items, "toy", tmp_path / "o", options=options)
    assert found.stopped is None
    assert len(met) == count
    assert found.total("answered") + found.total("missing") == 2 * count
    assert found.total("answered") >= count
    assert found.total("missing") >= count / 2
    again = collect(panel, items, "toy", tmp_path / "o", options=options, max_calls=0)
    assert again.tables == found.tables


@pytest.mark.slow
@pytest.mark.usefixtures("toy_protocol")
def test_odd_replies_are_errors_of_the_answers_they_came_for(tmp_path: Path, serve: Callable[..., Any]) -> None:
    survive(tmp_path, serve, 60)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.usefixtures("toy_protocol")
def test_five_hundred_odd_replies(tmp_path: Path, serve: Callable[..., Any]) -> None:
    survive(tmp_path, serve, 500)


def detect(tmp_path: Path, serve: Callable[..., Any], concurrency: int) -> None:
    """Refusals come early and late, some after another question has been answered in the other form."""
    rng = np.random.default_rng(concurrency)

    def script(request: dict[str, Any]) -> Any:
        delay = float(rng.choice([0.0, 0.0, 0.03]))
        wrong = [name for name in ("response_format", "logprobs") if name in request]
        if wrong:
            return Reply({"error": {"message": f"{wrong[0]} is not supported"}}, 400, delay=delay)
        return Reply(completion('{"winner": 2}'), delay=delay / 3)

    judge = {"name": "ann", "model": "m", "base_url": serve(script).url, "concurrency": concurrency}
    items = pd.DataFrame({"id": [f"i{n}" for n in range(12)], "text": [f"text {n}" for n in range(12)]})
    options = {"logprobs": concurrency % 2 == 0}
    found = collect({"judges": [judge]}, items, "toy", tmp_path / str(concurrency), options=options)
    assert found.tables == {"votes": 66, "missing": 0}


@pytest.mark.slow
@pytest.mark.usefixtures("toy_protocol")
@pytest.mark.parametrize("concurrency", [1, 4, 8, 33, 64])
def test_no_question_is_lost_while_a_servers_form_is_found(
    tmp_path: Path, serve: Callable[..., Any], concurrency: int
) -> None:
    detect(tmp_path, serve, concurrency)


@pytest.mark.slow
@pytest.mark.usefixtures("toy_protocol")
@pytest.mark.parametrize("every", [9, pytest.param(1, marks=pytest.mark.long)])
def test_no_question_is_lost_at_any_concurrency(tmp_path: Path, serve: Callable[..., Any], every: int) -> None:
    for concurrency in range(1, 65, every):
        detect(tmp_path, serve, concurrency)


@pytest.mark.usefixtures("toy_protocol")
def test_a_server_that_redirects_is_not_followed(tmp_path: Path, serve: Callable[..., Any]) -> None:
    other = serve(lambda _: {"winner": 1})
    place = {"Location": f"{other.url}/chat/completions"}
    first = serve(lambda _: Reply({}, 307, place))
    judge = {"name": "ann", "model": "m", "base_url": first.url}
    items = pd.DataFrame({"id": ["a", "b"], "text": ["x", "y"]})
    with pytest.raises(InputError, match=r"HTTP 307: it redirects to http://127\.0\.0\.1.*are not followed"):
        collect({"judges": [judge]}, items, "toy", tmp_path / "o")
    assert other.requests == []


@pytest.mark.slow
@pytest.mark.parametrize("packed", [gzip.compress, zlib.compress, lambda data: zlib.compress(data)[2:-4]])
def test_an_answer_is_unpacked_up_to_a_bound(packed: Callable[[bytes], bytes]) -> None:
    async def chunks(data: bytes) -> AsyncIterator[bytes]:
        for start in range(0, len(data), 65_536):
            yield data[start : start + 65_536]

    def unpack(data: bytes, encoding: str) -> bytes:
        return asyncio.run(_read_bounded(chunks(data), encoding))

    encoding = "gzip" if packed is gzip.compress else "deflate"
    text = json.dumps(completion("yes") | {"filler": "x" * 300_000}).encode()
    assert unpack(packed(text), encoding) == unpack(text, "identity") == text
    bomb = packed(b"\0" * 200 * 1024**2)
    assert len(bomb) < MAX_ANSWER_BYTES / 10
    tracemalloc.start()
    try:
        for data, name in ((bomb, encoding), (b" " * (MAX_ANSWER_BYTES + 1), "identity")):
            with pytest.raises(NoReply, match="longer than 8 MB"):
                unpack(data, name)
        assert tracemalloc.get_traced_memory()[1] < 5 * MAX_ANSWER_BYTES
    finally:
        tracemalloc.stop()
    for data, name in ((b"no such thing", encoding), (bomb, "gzip, gzip")):
        with pytest.raises(NoReply):
            unpack(data, name)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    ["{", "[", '{"', '{"a":', '{"a":[', '{"a":1,', '{"a": 1} ', "```json\n", "```", "<think>", "{ ", '{"\\', "{}", " "],
)
def test_reading_an_answer_takes_time_that_grows_as_its_length(unit: str) -> None:
    schema = {"type": "object", "properties": {"winner": {"enum": [1, 2]}}, "required": ["winner"]}

    def read(size: int) -> None:
        for end in ("", "}", '{"winner": '):
            content, reason = usable_content(Received(unit * (size // len(unit)) + end, "stop"), schema)
            assert content is None
            assert len(reason) < 200

    assert grows_as_its_input(read, 1_000_000)


@pytest.mark.slow
def test_an_object_among_braces_is_still_found() -> None:
    prose = r"Sets {a} and \frac{1}{2}, {not: json}, { 'x' }: " * 200
    assert parse_json(f'{prose}{{"winner": 2}}{prose}') == {"winner": 2}
    with pytest.raises(ValueError, match="nested too deeply"):
        parse_json("[" * 60 + "]" * 60)
    assert find_breach([[1], {"a": True}, [True], {"a": 1}], {"type": "array", "uniqueItems": True}) is None

    def look(size: int) -> None:
        assert find_breach(list(range(size)), {"type": "array", "uniqueItems": True}) is None

    assert grows_as_its_input(look, 100_000)


def test_a_wait_that_cannot_be_read_is_none() -> None:
    found = [retry_after({"retry-after": text}) for text in AFTER]
    assert found[0] is None
    assert all(one is None or one >= 0 for one in found)
    assert retry_after({"retry-after": "2"}) == retry_after({"retry-after-ms": "2000"}) == 2.0
    assert retry_after({"retry-after-ms": "soon", "retry-after": "2"}) == 2.0
