"""The scripted server with batches: files, batches, their list; every request of a batch is answered by the script.

``server.batches`` holds what was begun, ``server.paid`` every request that was answered with status 200 in a batch. A
``Trouble`` says what goes wrong on the way.
"""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from scripted_server import Reply, ScriptedServer, completion

#: What comes back where an exchange is broken.
GONE = Reply(close=True)


@dataclass
class Trouble:
    """What goes wrong.

    Attributes
    ----------
    before, after : dict of int to Reply
        In place of handling the call of this number (from 1) to files and batches; or after it has been handled.
    ends : list of str
        How the first batches end; the others are completed. Of what does not complete only each third request has an
        answer, none if it failed.
    kill : tuple of (int, str), optional
        At the call of this number the process ``victim`` is killed, ``"before"`` it is handled or ``"after"``; or
        before, and it is handled only when the next process has uploaded or deleted something (``"late"``: just
        before that, ``"later"``: just after it).
    lists : bool
        Whether the server lists batches.
    cut : int
        So many fetches of a file of several lines lose the end of its last line.
    """

    before: dict[int, Reply] = field(default_factory=dict)
    after: dict[int, Reply] = field(default_factory=dict)
    ends: list[str] = field(default_factory=list)
    kill: tuple[int, str] | None = None
    lists: bool = True
    cut: int = 0


class BatchServer(ScriptedServer):
    """A server that takes batches, and single requests too."""

    def __init__(self, script: Callable[..., Any], *, seconds: float = 0.0, **settings: Any) -> None:
        super().__init__(script, **settings)
        self.seconds = seconds
        self.trouble = Trouble()
        self.victim: int | None = None
        self.calls: list[str] = []
        self.files: dict[str, bytes] = {}
        self.batches: list[dict[str, Any]] = []
        self.paid: list[dict[str, Any]] = []
        self.held: tuple[Any, ...] = ("",)

    def _reply(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Reply:
        place = path.partition("?")[0].removeprefix("/v1/").split("/")
        if place[0] not in ("files", "batches"):
            return super()._reply(method, path, headers, body)
        self.calls.append(f"{method} {'/'.join(place)}")
        number, trouble = len(self.calls), self.trouble
        when = trouble.kill[1] if trouble.kill and trouble.kill[0] == number else None
        if when in ("before", "late", "later"):
            self._kill()
        if when in ("late", "later"):
            self.held = (when, method, path, body)
            return GONE
        if number in trouble.before:
            return trouble.before[number]
        (since, *held), self.held = (self.held, ("",)) if method != "GET" else (("",), self.held)
        if since == "late":
            self._handle(*held)
        found = self._handle(method, path, body)
        if since == "later":
            self._handle(*held)
        if when == "after":
            self._kill()
        return trouble.after.get(number, found)

    def _kill(self) -> None:
        while self.victim is None:
            time.sleep(0.001)
        os.kill(self.victim, signal.SIGKILL)

    def _handle(self, method: str, path: str, body: bytes) -> Reply:
        name, _, query = path.removeprefix("/v1/").partition("?")
        kind, *rest = name.split("/")
        if kind == "files" and method == "POST":
            match = re.search(rb'name="file".*?\r\n\r\n(.*?)\r\n--', body, re.DOTALL)
            assert match is not None
            assert b'name="purpose"\r\n\r\nbatch' in body
            file = f"file-{len(self.files) + 1}"
            self.files[file] = match[1]
            return Reply({"id": file, "object": "file", "purpose": "batch"})
        if kind == "files" and rest[0] not in self.files:
            return Reply({"error": {"message": f"no file {rest[0]}"}}, 404)
        if kind == "files" and method == "DELETE":
            self.files[f"deleted-{rest[0]}"] = self.files.pop(rest[0])
            return Reply({"id": rest[0], "object": "file", "deleted": True})
        if kind == "files":
            content = self.files[rest[0]]
            if self.trouble.cut and content.count(b"\n") > 1:
                self.trouble.cut -= 1
                content = content[:-20]
            return Reply(content)
        if method == "POST":
            return self._begin(json.loads(body))
        if not rest:
            if not self.trouble.lists:
                return Reply({"error": {"message": "no list"}}, 404)
            ids = [batch["id"] for batch in self.batches]
            after = re.search(r"after=([^&]*)", query)
            start = ids.index(after[1]) + 1 if after else 0
            page = self.batches[start : start + 2]  # so few that there are pages
            return Reply({"object": "list", "data": page, "has_more": start + 2 < len(ids)})
        found = next((one for one in self.batches if one["id"] == rest[0]), None)
        if found is None:
            return Reply({"error": {"message": f"no batch {rest[0]}"}}, 404)
        return Reply(self._state(found))

    def _begin(self, asked: dict[str, Any]) -> Reply:
        if asked["input_file_id"] not in self.files:
            return Reply({"error": {"message": "no such file"}}, 400)
        assert asked["endpoint"] == "/v1/chat/completions"
        assert asked["completion_window"] == "24h"
        number = len(self.batches)
        how = self.trouble.ends[number] if number < len(self.trouble.ends) else "completed"
        made = {
            "id": f"batch_{number + 1}",
            "object": "batch",
            "status": "validating",
            "input_file_id": asked["input_file_id"],
            "metadata": asked.get("metadata"),
            "output_file_id": None,
            "error_file_id": None,
            "errors": None,
        }
        self.batches.append(made)
        made["begun"], made["how"] = time.monotonic(), how
        lines = [json.loads(line) for line in self.files[asked["input_file_id"]].splitlines()]
        made["requests"] = [line["body"] for line in lines]
        if how.startswith("failed"):
            code = how.partition(" ")[2] or "token_limit_exceeded"
            made["errors"] = {"data": [{"code": code, "message": "not now", "line": None}]}
            return Reply(self._shown(made))
        good, bad = [], []
        for place, line in enumerate(lines):
            row: dict[str, Any] = {"id": f"r{place}", "custom_id": line["custom_id"], "error": None}
            if how != "completed" and place % 3:
                row["error"] = {"code": f"batch_{how}", "message": "too late"}
                if place % 3 == 1:  # and of the others there is no line
                    bad.append({**row, "response": None})
                continue
            reply = self._one(line["body"])
            row["response"] = {"status_code": reply.status, "request_id": "x", "body": reply.body}
            (good if reply.status == 200 else bad).append(row)
        for rows, field_ in ((good, "output_file_id"), (bad, "error_file_id")):
            if rows:
                file = f"file-{len(self.files) + 1}"
                self.files[file] = b"\n".join(json.dumps(row).encode() for row in reversed(rows)) + b"\n"
                made[f"later_{field_}"] = file
        return Reply(self._shown(made))

    def _one(self, request: dict[str, Any]) -> Reply:
        fault = self.faults.reply(json.dumps(request).encode()) if self.faults else None
        if fault is not None and not fault.close and fault.status != 200:
            return fault
        self.paid.append(request)
        found = fault if fault is not None and fault.body is not None else self.script(request)
        if isinstance(found, Reply):
            if found.status != 200:
                self.paid.pop()
            return found
        return Reply(completion(found if isinstance(found, str) else json.dumps(found)))

    def _state(self, batch: dict[str, Any]) -> dict[str, Any]:
        if time.monotonic() - batch["begun"] < self.seconds:
            batch["status"] = "in_progress"
        else:
            batch["status"] = batch["how"].partition(" ")[0]
            for name in ("output_file_id", "error_file_id"):
                batch[name] = batch.get(f"later_{name}")
        return self._shown(batch)

    def _shown(self, batch: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in batch.items() if key not in ("begun", "how", "requests")}
