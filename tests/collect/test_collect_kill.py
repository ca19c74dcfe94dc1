"""kill -9 at random moments of a run, and started again: nothing is lost, nothing answered is asked again."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scripted_server

import voirdire

HERE = Path(__file__).parent

KILLS, LATENCY, CONCURRENCY = 20, 0.08, 2
JUDGES = ("ann", "bob")


def question(request: dict[str, Any]) -> tuple[str, str, str, str]:
    """Judge, first, second and round of a request."""
    shown = re.findall(r"text of (i\d)|Round (\d+)", scripted_server.user(request))
    (first, _), (second, _), (_, number) = shown
    return request["model"], first, second, number


def script(request: dict[str, Any]) -> Any:
    judge, first, second, number = question(request)
    winner = 1 + (len(judge) + int(first[1]) * 3 + int(second[1]) * 5 + int(number)) % 2
    body = scripted_server.completion(json.dumps({"winner": winner}))
    return scripted_server.Reply(body, delay=LATENCY)


def answered(folder: Path) -> set[tuple[str, str, str, str]]:
    if not (folder / "journal.sqlite").exists():
        return set()
    with closing(sqlite3.connect(folder / "journal.sqlite")) as database:
        found = database.execute("select name from sqlite_master where name = 'answers'").fetchall()
        rows = database.execute("select judge, key from answers").fetchall() if found else []
    return {(judge, *(str(part) for part in json.loads(key)[1:])) for judge, key in rows}


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
@pytest.mark.slow
def test_a_run_that_is_killed_at_random_moments_ends_as_one_that_was_not(
    tmp_path: Path, serve: Callable[..., Any]
) -> None:
    server = serve(script)
    items = tmp_path / "items.csv"
    items.write_text("id,text\n" + "".join(f"i{n},text of i{n}\n" for n in range(5)))
    judges = [{"name": name, "model": name, "base_url": server.url, "concurrency": CONCURRENCY} for name in JUDGES]
    run = {"panel": {"judges": judges}, "items": str(items), "protocol": "toy", "options": {"rounds": 10}}
    rng = np.random.default_rng(0)
    source = str(Path(voirdire.__file__).parents[1])
    with subprocess.Popen(
        [sys.executable, str(HERE / "zygote.py")],
        env=os.environ | {"PYTHONPATH": source},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as zygote:
        assert zygote.stdin is not None
        assert zygote.stdout is not None

        def tell(command: dict[str, Any]) -> int:
            zygote.stdin.write(json.dumps(command) + "\n")
            zygote.stdin.flush()
            return int(zygote.stdout.readline())

        assert tell({"here": run | {"out": str(tmp_path / "whole")}}) == 0
        assert len(server.requests) == 200
        server.requests.clear()
        server.answered.clear()

        folder, kept, grew = tmp_path / "killed", set(), 0
        for _ in range(KILLS):
            process = tell({"run": run | {"out": str(folder)}})
            asked, until = (rng.integers(16), time.monotonic() + 60)  # moments of the run, whatever the machine does
            while len(server.requests) < asked and time.monotonic() < until:
                time.sleep(0.001)
            time.sleep(rng.uniform(0.0, 0.02))
            os.kill(process, signal.SIGKILL)
            assert tell({"wait": process}) == signal.SIGKILL  # it had not ended by itself
            seen = {question(request) for request in server.requests}
            assert not seen & kept  # what the journal had was not asked again
            server.requests.clear()
            now = answered(folder)
            assert kept <= now  # and it lost nothing
            grew += len(now) > len(kept)
            kept = now
        assert grew >= 3
        assert len(kept) < 200
        assert tell({"wait": tell({"run": run | {"out": str(folder)}})}) == 0
        zygote.stdin.close()
    assert not {question(request) for request in server.requests} & kept
    assert len(answered(folder)) == 200
    # a request that was under way when the process died had no answer that anybody saw
    assert len(server.answered) - 200 <= KILLS * CONCURRENCY * len(JUDGES)
    for name in ("votes.csv", "missing.csv"):
        assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert (folder / "votes.csv").read_text().count("\n") == 201
