"""An OpenAI-compatible server on loopback whose answers are scripted, with faults on demand.

    with ScriptedServer(lambda request: {"winner": 1}) as server:
        ...  # ask server.url; server.requests holds every request body in the order of arrival

A script gets the request as a dictionary and returns what to answer: text, a dictionary (sent as JSON text), or a
``Reply`` for anything else. It runs in the server's thread; ``python scripted_server.py ANSWER`` serves until killed.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Reply:
    """An HTTP answer that is not the usual one.

    ``body`` is sent as it is if it is bytes, else as JSON; ``delay`` seconds pass before it; ``close`` breaks the
    connection instead of answering.
    """

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    close: bool = False


Script = Callable[[dict[str, Any]], "str | dict[str, Any] | Reply"]

#: The kinds of ``Faults``; "schema" answers JSON of a wrong shape, "silent" waits ``silence`` seconds.
KINDS = ("429", "500", "half", "empty", "schema", "silent", "closed")


@dataclass
class Faults:
    """Break a share of the requests, chosen by a hash of the seed and the request's number among its equals.

    The choice does not depend on the order of arrival, and an equal request asked again is drawn anew.
    """

    share: float = 0.3
    seed: int = 0
    silence: float = 2.0
    kinds: Sequence[str] = KINDS
    made: list[str] = field(default_factory=list)
    _seen: dict[str, int] = field(default_factory=dict)

    def reply(self, body: bytes) -> Reply | None:
        name = hashlib.sha256(body).hexdigest()
        number = self._seen[name] = self._seen.get(name, 0) + 1
        drawn = hashlib.sha256(f"{self.seed} {name} {number}".encode()).digest()
        if int.from_bytes(drawn[:4], "big") >= self.share * 2**32:
            return None
        kind = self.kinds[drawn[4] % len(self.kinds)]
        self.made.append(kind)
        return {
            "429": Reply({"error": {"message": "slow down"}}, 429, {"Retry-After": "0.02"}),
            "500": Reply({"error": {"message": "try later"}}, 500),
            "half": Reply(completion('{"winner": ')),
            "empty": Reply(completion("")),
            "schema": Reply(completion('{"unexpected": [1, 2]}')),
            "silent": Reply(completion("{}"), delay=self.silence),
            "closed": Reply(close=True),
        }[kind]


def completion(
    content: str | None,
    *,
    logprobs: Sequence[tuple[str, float, Sequence[tuple[str, float]]]] | None = None,
    usage: tuple[int, int] = (100, 10),
    finish: str = "stop",
) -> dict[str, Any]:
    """A chat completion; ``logprobs`` holds (token, log-probability, alternatives) per position."""
    shown = None
    if logprobs is not None:
        shown = {
            "content": [
                {
                    "token": token,
                    "logprob": value,
                    "top_logprobs": [{"token": t, "logprob": v} for t, v in alternatives],
                }
                for token, value, alternatives in logprobs
            ]
        }
    return {
        "id": "scripted",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": content},
                "logprobs": shown,
            }
        ],
        "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": usage[0] + usage[1]},
    }


class ScriptedServer:
    """Serve ``POST /v1/chat/completions`` and ``GET /v1/models`` on a free port of 127.0.0.1 until closed."""

    def __init__(self, script: Script, *, faults: Faults | None = None, models: Sequence[str] = ("scripted",)) -> None:
        self.script = script
        self.faults = faults
        self.models = models
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.answered: list[dict[str, Any]] = []  # those that got the script's answer, not a fault
        self.most_at_once = 0
        self._under_way = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stop: asyncio.Event
        self._port = 0
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        self._loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=2**24, backlog=1000)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._loop.create_task(self._connection(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                method, path, _ = head[0].split(" ", 2)
                pairs = (line.split(":", 1) for line in head[1:] if line)
                headers = {name.strip().lower(): value.strip() for name, value in pairs}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                self._under_way += 1
                self.most_at_once = max(self.most_at_once, self._under_way)
                try:
                    reply = self._reply(method, path, headers, body)
                    if reply.delay:
                        await asyncio.sleep(reply.delay)
                finally:
                    self._under_way -= 1
                if reply.close:
                    writer.transport.abort()
                    return
                sent = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                fields = {"Content-Type": "application/json", "Content-Length": str(len(sent)), **reply.headers}
                lines = [f"HTTP/1.1 {reply.status} Scripted", *(f"{name}: {value}" for name, value in fields.items())]
                writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + sent)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    def _reply(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Reply:
        if method == "GET" and path.endswith("/models"):
            return Reply({"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]})
        if method != "POST" or not path.endswith("/chat/completions"):
            return Reply({"error": {"message": f"no {path} here"}}, 404)
        request = json.loads(body)
        self.requests.append(request)
        self.headers.append(headers)
        fault = self.faults.reply(body) if self.faults else None
        if fault is not None:
            return fault
        self.answered.append(request)
        found = self.script(request)
        if isinstance(found, Reply):
            return found
        return Reply(completion(found if isinstance(found, str) else json.dumps(found)))


def user(request: dict[str, Any]) -> str:
    """The user's message of a request."""
    return next(m["content"] for m in request["messages"] if m["role"] == "user")


if __name__ == "__main__":
    import sys
    import time

    answer = completion(sys.argv[1])
    with ScriptedServer(lambda _: Reply(answer)) as scripted:
        print(scripted.url, flush=True)
        while True:
            time.sleep(60)
