"""The process of a fit: ``python -m voirdire.app.worker``, with its order on the standard input.

The first input line is the order as JSON (see `run_fit_order`); any further line is a request to stop. Output lines are
JSON: ``{"done", "total", "said"}`` while chains run, finally ``{"outcome": ...}`` or ``{"error": ...}``. When the
server ends, the standard input closes, and the process ends.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from voirdire.errors import InputError
from voirdire.report.page import Page, Text

STOPPED_MESSAGE = "Stopped before there was anything to keep."


def main() -> None:
    """Read an order, run it, and send the result."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # output of libraries goes to stderr
    signal.signal(signal.SIGINT, signal.default_int_handler)
    order = json.loads(sys.stdin.readline())
    stop = threading.Event()
    threading.Thread(target=_read_stop_request, args=(stop,), daemon=True).start()
    try:
        answer: dict[str, Any] = {"outcome": run_fit_order(order, _make_reporter(out, stop))}
    except InputError as error:
        answer = {"error": error.problems}
    except KeyboardInterrupt:
        answer = {"error": [STOPPED_MESSAGE]}
    _send_message(out, answer)


def run_fit_order(order: dict[str, Any], progress: Callable[..., None]) -> dict[str, Any]:
    """Fit, save the fit and its report, and choose questions for people.

    Parameters
    ----------
    order : dict
        ``table`` and ``out`` (paths), ``reading`` (options of :func:`voirdire.read`), ``settings`` (arguments of
        :func:`voirdire.fit`), ``anchors`` (path, or None).
    progress : callable
        Progress callback; see :func:`voirdire.fit`.

    Returns
    -------
    dict
        Result for the page: ``sentence`` (the answer), ``subtitle``, ``level`` (of the checks), ``questions``,
        ``unasked`` (reason why there are no questions).

    Raises
    ------
    InputError
        The table or the request is invalid.
    """
    from voirdire.app.choices import informative_questions
    from voirdire.fit.verb import fit
    from voirdire.folders import write_file
    from voirdire.report.fit_page import fit_page
    from voirdire.report.html import html_page
    from voirdire.tables.reading import Reading, read_as

    reading = Reading(**order["reading"])
    table = read_as(order["table"], reading) if reading.set_options else order["table"]
    result = fit(table, anchors=order["anchors"], progress=progress, **order["settings"])
    out = Path(order["out"])
    result.save(out / "run")
    page = fit_page(result)
    write_file(out / "report.html", html_page(page))
    questions, unasked = informative_questions(result)
    return {
        "sentence": _lead_sentence(page),
        "subtitle": page.subtitle,
        "level": result.level,
        "questions": questions,
        "unasked": unasked,
    }


def _lead_sentence(page: Page) -> str:
    """Return the first sentence of the report, the answer."""
    texts = (block for section in page.sections for block in section.blocks if isinstance(block, Text))
    return next(text.text for text in texts if text.role == "lead")


def _read_stop_request(stop: threading.Event) -> None:
    for _ in sys.stdin:
        stop.set()
    os._exit(1)  # the server has ended


def _make_reporter(out: TextIO, stop: threading.Event) -> Callable[..., None]:
    """Make the progress callback; after a request to stop it raises SIGINT, which keeps the draws so far."""

    def report_progress(done: int, total: int, message: str = "") -> None:
        if stop.is_set():
            stop.clear()
            signal.raise_signal(signal.SIGINT)
        _send_message(out, {"done": done, "total": total, "said": message})

    return report_progress


def _send_message(out: TextIO, message: dict[str, Any]) -> None:
    print(json.dumps(message), file=out, flush=True)


if __name__ == "__main__":
    main()
