"""The verb ``app``."""

from __future__ import annotations

import sys
import threading
from typing import Annotated

import typer

from voirdire.app.server import serve_page
from voirdire.cli import console, signals
from voirdire.cli.options import declare_options

_STOP_NOTE = "the page is closed, and what was uploaded is removed"


@declare_options()
def app_(
    *,
    port: Annotated[int, typer.Option(min=0, max=65535)] = 0,
    browser: Annotated[bool, typer.Option("--open/--no-open")] = True,
    json: bool = False,
) -> None:
    """Serve a web page on this machine until Ctrl-C: upload a file, fit it, read the report, answer questions.

    Parameters
    ----------
    port
        Port to listen on; 0: any free port.
    browser
        Open the page in the browser.
    """

    with signals.print_note_at_stop(_STOP_NOTE), serve_page(port) as guard:
        if json:
            console.print_json({"address": guard.address})
        else:
            print(f"Open {guard.address}")
            console.print_note(
                "It is for this machine and for you alone; Ctrl-C ends it and removes what was uploaded."
            )
        sys.stdout.flush()
        if browser:
            import webbrowser

            webbrowser.open(guard.address_once())
        threading.Event().wait()
