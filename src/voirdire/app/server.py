"""The server of the page, reachable only from this machine."""

from __future__ import annotations

import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from voirdire.app.guard import Guard
from voirdire.app.routes import make_app
from voirdire.app.session import Sessions
from voirdire.app.uploads import private_folder
from voirdire.errors import InputError

_PACKAGES = ("starlette", "uvicorn")


@contextmanager
def serve_page(port: int = 0) -> Iterator[Guard]:
    """Serve the page until the end of the block; yield the guard, which has the address to open.

    Parameters
    ----------
    port : int
        Port on 127.0.0.1; 0 for any free port.

    Raises
    ------
    InputError
        The packages of the server are not installed, or the port cannot be used.
    """
    if any(find_spec(name) is None for name in _PACKAGES):
        raise InputError(f"the page needs {' and '.join(_PACKAGES)}; run pip install 'voirdire[app]'")
    from uvicorn import Config, Server

    listener = _open_listener(port)
    with listener, private_folder() as folder:
        sessions = Sessions(folder)
        guard = Guard(make_app(sessions), listener.getsockname()[1], secrets.token_urlsafe(24))
        server = Server(
            Config(
                guard,
                loop="asyncio",
                http="h11",
                ws="none",
                lifespan="off",
                log_level="warning",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=1,
            )
        )
        # in another thread uvicorn does not handle signals, which the command line does
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            while not server.started and thread.is_alive():
                time.sleep(0.02)
            yield guard
        finally:
            server.should_exit = True
            thread.join()
            sessions.close_all()


def _open_listener(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(100)
    except (OSError, OverflowError) as error:
        listener.close()
        raise InputError(f"port {port} cannot be used ({error}); leave --port out to take a free one") from None
    return listener
