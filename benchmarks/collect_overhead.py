"""1,000 scripted calls at concurrency 32: what the collector costs per call on top of the server's own time."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
from common import median, show
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from voirdire.collect import collect

SERVER = Path(__file__).resolve().parents[1] / "tests" / "collect" / "scripted_server.py"
ITEMS, CONCURRENCY, RUNS = 46, 32, 5
CALLS = ITEMS * (ITEMS - 1) // 2
ITEM = "A text of a few sentences, as one may be asked to judge. " * 5


def collected(url: str) -> tuple[float, float]:
    """Wall and CPU seconds of a whole run: prompts, requests, checks of the answers, journal, tables."""
    items = pd.DataFrame({"id": [f"i{n}" for n in range(ITEMS)], "text": [f"{n}. {ITEM}" for n in range(ITEMS)]})
    panel = {"judges": [{"name": "a", "model": "m", "base_url": url, "concurrency": CONCURRENCY}]}
    with tempfile.TemporaryDirectory() as folder:
        wall, cpu = time.perf_counter(), time.process_time()
        found = collect(panel, items, "pairwise", Path(folder, "run"), options={"order": "fixed", "rubric": "Good."})
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert (found.total("answered"), found.total("missing")) == (CALLS, 0), found.as_dict()
    return wall, cpu


def bare(url: str) -> tuple[float, float]:
    """The same number of requests by the SDK alone, with prompts of the same length."""

    async def run() -> tuple[float, float]:
        slots = asyncio.Semaphore(CONCURRENCY)
        client = AsyncOpenAI(
            base_url=url, api_key="none", max_retries=0, http_client=DefaultAsyncHttpxClient(trust_env=False)
        )

        async def one() -> None:
            async with slots:
                messages = [{"role": "user", "content": ITEM + ITEM}]
                await client.chat.completions.with_raw_response.create(model="m", messages=messages)  # type: ignore[arg-type]

        wall, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(one() for _ in range(CALLS)))
        spent = time.perf_counter() - wall, time.process_time() - cpu
        await client.close()
        return spent

    return asyncio.run(run())


def main() -> None:
    with subprocess.Popen(
        [sys.executable, str(SERVER), '{"winner": "Text 1"}'], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        try:
            collected(url)
            bare(url)
            ours, alone = zip(*[(collected(url), bare(url)) for _ in range(RUNS)], strict=True)
        finally:
            server.kill()
    ms = 1000 / CALLS
    rows: list[dict[str, object]] = [
        {
            "work": name,
            "wall, ms a call": median([wall for wall, _ in runs]) * ms,
            "CPU, ms a call": median([cpu for _, cpu in runs]) * ms,
        }
        for name, runs in {"voirdire collect": ours, "openai SDK alone": alone}.items()
    ]
    ratio = median([mine[1] / other[1] for mine, other in zip(ours, alone, strict=True)])
    rows.append({"work": "ratio", "wall, ms a call": "", "CPU, ms a call": ratio})
    show(
        f"Collector's overhead ({CALLS} scripted calls, concurrency {CONCURRENCY})",
        rows,
        [
            "The server is a process of its own on the same machine and answers at once, so the wall time holds its "
            ""
            f"own time too. Medians of {RUNS} interleaved runs; a run is everything from the panel to the tables."
        ],
    )


if __name__ == "__main__":
    main()
