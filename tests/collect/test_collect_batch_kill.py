"""kill -9 in the midst of batches, and started again: the same tables and totals, no request paid for twice."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from batch_server import BatchServer, Trouble

import voirdire

HERE = Path(__file__).parent
JUDGES = ("ann", "bob")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")


def script(request: dict[str, Any]) -> Any:
    """A vote, or (of each third request) none: the question is asked again with another seed, in another batch."""
    drawn = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).digest()
    return {"winner": 1 + drawn[0] % 2} if drawn[1] % 3 else "Who knows?"


@pytest.fixture(scope="module")
def tell() -> Iterator[Callable[[dict[str, Any]], int]]:
    """Give a command to the process that starts runs."""
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

        def command(given: dict[str, Any]) -> int:
            zygote.stdin.write(json.dumps(given) + "\n")
            zygote.stdin.flush()
            return int(zygote.stdout.readline())

        yield command
        zygote.stdin.close()


class Bench:
    """One request for a run, and what it comes to when nothing is killed."""

    def __init__(self, tell: Callable[[dict[str, Any]], int], folder: Path) -> None:
        self.tell, self.folder = tell, folder
        (folder / "items.csv").write_text("id,text\n" + "".join(f"i{n},text of i{n}\n" for n in range(5)))
        with BatchServer(script, seconds=0.03) as server:
            assert tell({"here": self.run(server, "whole")}) == 0
            self.calls, self.paid = len(server.calls), bodies(server)
        assert max(self.paid.values()) == 1
        assert len(server.batches) >= 4

    def run(self, server: BatchServer, out: str) -> dict[str, Any]:
        judges = [
            {"name": name, "model": name, "base_url": server.url, "batch": True, "seed": 1, "price_in": 1.0}
            for name in JUDGES
        ]
        return {
            "panel": {"judges": judges, "backoff": 0.01, "answer_tries": 9},
            "items": str(self.folder / "items.csv"),
            "protocol": "toy",
            "options": {"rounds": 2},
            "out": str(self.folder / out),
        }

    def killed(self, out: str, kills: list[tuple[int, str] | float]) -> int:
        """Kill as often as given, at a call to the server or after some seconds; go on; compare; how many died."""
        died = 0
        with BatchServer(script, seconds=0.03) as server:
            run = self.run(server, out)
            for kill in kills:
                server.victim = None
                server.trouble = Trouble(
                    kill=(len(server.calls) + kill[0], kill[1]) if isinstance(kill, tuple) else None
                )
                server.victim = process = self.tell({"run": run})
                if not isinstance(kill, tuple):
                    time.sleep(kill)
                    os.kill(process, signal.SIGKILL)
                status = self.tell({"wait": process})
                assert status in (signal.SIGKILL, 0), kills
                died += status == signal.SIGKILL
            server.trouble = Trouble()
            assert self.tell({"wait": self.tell({"run": run})}) == 0, kills
            assert bodies(server) == self.paid, kills
        whole, found = self.folder / "whole", self.folder / out
        assert (found / "votes.csv").read_bytes() == (whole / "votes.csv").read_bytes(), kills
        totals = [json.loads((folder / "run.json").read_text())["totals"] for folder in (found, whole)]
        assert totals[0] == totals[1], kills
        return died


def bodies(server: BatchServer) -> Counter[str]:
    assert not server.requests
    return Counter(json.dumps(request, sort_keys=True) for request in server.paid)


@pytest.fixture(scope="module")
def bench(tell: Callable[[dict[str, Any]], int], tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tell, tmp_path_factory.mktemp("bench"))


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "after", "late", "later"])
def test_a_run_killed_while_it_begins_its_first_batches(bench: Bench, when: str) -> None:
    # calls 1 and 2 upload, 3 and 4 begin the batches of both judges
    assert bench.killed(f"first-{when}", [(3, when), (4, when)]) == 2


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("calls", "times"), [(7, 4), pytest.param(20, 12, marks=pytest.mark.long)])
def test_runs_killed_at_random_points(bench: Bench, calls: int, times: int) -> None:
    rng = np.random.default_rng(7)
    ways = ("before", "after", "late", "later")
    died = sum(
        bench.killed(f"call-{number}", [(int(rng.integers(1, bench.calls)), str(rng.choice(ways)))])
        for number in range(calls)
    )
    died += sum(bench.killed(f"time-{number}", [rng.uniform(0.0, 0.3)]) for number in range(times))
    assert died >= calls + times - 2


@pytest.mark.slow
@pytest.mark.long
def test_one_run_killed_thirty_times(bench: Bench) -> None:
    rng = np.random.default_rng(8)
    ways = ("before", "after", "late", "later")
    bench.killed("often", [(int(rng.integers(1, 7)), str(rng.choice(ways))) for _ in range(30)])
