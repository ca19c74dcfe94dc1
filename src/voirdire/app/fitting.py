"""A running fit in a separate process: its progress, a request to stop, its result."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

LOST_MESSAGE = "The fit ended without an answer; the table may be too large for this machine."


class Fitting:
    """A running fit.

    Parameters
    ----------
    order : dict
        See :func:`voirdire.app.worker.run_fit_order`.
    log : Path
        File for the process's other output.

    Attributes
    ----------
    outcome : dict or None
        Result of the fit; None before the end, or without a result.
    problems : list of str
        Reasons why there is no result.
    stopping : bool
        True after a request to stop.
    """

    def __init__(self, order: dict[str, Any], log: Path) -> None:
        self.out = Path(order["out"])
        self.outcome: dict[str, Any] | None = None
        self.problems: list[str] = []
        self.stopping = False
        self._progress: dict[str, Any] = {"done": 0, "total": 0, "said": ""}
        self._began = time.monotonic()
        with open(log, "wb") as stream:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "voirdire.app.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stream,
                encoding="utf-8",
                start_new_session=True,  # only the server receives Ctrl-C
            )
        self._send_line(json.dumps(order))
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def running(self) -> bool:
        """True while the fit runs."""
        return self._reader.is_alive()

    @property
    def progress(self) -> dict[str, Any]:
        """Progress so far: ``done`` of ``total`` moves, ``said`` in words, ``seconds`` since the start."""
        return self._progress | {"seconds": round(time.monotonic() - self._began), "stopping": self.stopping}

    def stop(self) -> None:
        """Ask the fit to end with the draws so far; a second call ends it without a result."""
        if self.stopping:
            self.end_at_once()
        else:
            self.stopping = True
            self._send_line("stop")

    def end_at_once(self) -> None:
        """End the fit at once."""
        self._process.kill()
        self._reader.join(5)

    def _send_line(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            pass  # the process has ended; the reader reports the reason

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process:
            for line in self._process.stdout:
                message = json.loads(line)
                if "done" in message:
                    self._progress = message
                else:
                    self.outcome, self.problems = message.get("outcome"), message.get("error", [])
        code = self._process.returncode
        if self.outcome is None and not self.problems:
            self.problems = ["Stopped; nothing was kept."] if self.stopping else [f"{LOST_MESSAGE} (exit code {code})"]
