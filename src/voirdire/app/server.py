"""The server of the page, reachable only from this machine, and the control of access to it.

Access control of the server: only this machine's user, by a secret, from the page itself.

Another page in the same browser can also send requests to 127.0.0.1, or let its own host name point there (DNS
rebinding). Therefore every request must name this server as its host, and contain the secret as a cookie that other
sites do not send (``SameSite=Strict``). All ports of a machine are one site for a browser, so requests must also come
from this origin according to the browser (``Sec-Fetch-Site``, ``Origin``).
"""

from __future__ import annotations

import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from voirdire.app.routes import make_app
from voirdire.app.session import Sessions
from voirdire.app.uploads import private_folder
from voirdire.errors import InputError

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Allowed content of the page: its own script and styles, the report in a frame, nothing from other origins.
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; frame-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_SECURITY_HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
_READ_METHODS = ("GET", "HEAD")
_CLOSED_MESSAGE = "This page is for whoever started it: open the address that voirdire app printed."


class Guard:
    """An application behind access checks, with security headers in every answer.

    Parameters
    ----------
    app : ASGI application
    port : int
        Port of the server.
    token : str
        The secret.

    Examples
    --------
    >>> Guard(None, 8000, "abc").address
    'http://127.0.0.1:8000/?token=abc'
    """

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self._app, self._token = app, token
        self._hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self._cookie = f"voirdire-{port}"  # all ports of a machine share cookies
        self._once: set[str] = set()

    @property
    def address(self) -> str:
        """The address to open, with the secret."""
        return f"http://{self._hosts[0]}/?token={self._token}"

    def address_once(self) -> str:
        """Return an address that works once, as other users of the machine can see a browser's arguments."""
        token = secrets.token_urlsafe(24)
        self._once.add(token)
        return f"http://{self._hosts[0]}/?token={token}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        from starlette.responses import PlainTextResponse

        if scope["type"] != "http":
            return  # web sockets and lifespan events are not supported

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name for name, _ in message["headers"]}
                headers = [(name.encode(), value.encode()) for name, value in _SECURITY_HEADERS.items()]
                message["headers"] = [*message["headers"], *(header for header in headers if header[0] not in present)]
            await send(message)

        answer: Response | None = self._refuse_request(scope)
        if answer is None and scope["path"] == "/" and scope["method"] == "GET":
            answer = self._admit_by_secret(scope)
        if answer is None and not self._knows_cookie(scope):
            answer = PlainTextResponse(_CLOSED_MESSAGE, 403)
        elif answer is None and not self._comes_from_the_page(scope):
            answer = PlainTextResponse("This request does not come from the page.", 403)
        await (answer or self._app)(scope, receive, send_guarded)

    def _refuse_request(self, scope: Scope) -> Response | None:
        from starlette.responses import PlainTextResponse

        host = _header_value(scope, b"host")
        if host not in self._hosts:
            return PlainTextResponse("This server is 127.0.0.1 alone.", 421)
        if scope["method"] not in (*_READ_METHODS, "POST"):
            return PlainTextResponse("Not allowed.", 405, {"allow": "GET, HEAD, POST"})
        return None

    def _admit_by_secret(self, scope: Scope) -> Response | None:
        """Move the secret from the address into a cookie; None if the address has no secret."""
        from starlette.responses import PlainTextResponse

        tokens = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        if tokens is None:
            return None
        if tokens[-1] in self._once:
            self._once.remove(tokens[-1])
        elif not self._is_token(tokens[-1]):
            return PlainTextResponse(_CLOSED_MESSAGE, 403)
        # no redirect: after a link on another site the browser would follow it without the cookie
        cookie = f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"
        return PlainTextResponse("voirdire", headers={"set-cookie": cookie, "refresh": "0; url=/"})

    def _knows_cookie(self, scope: Scope) -> bool:
        from starlette.requests import cookie_parser

        return self._is_token(cookie_parser(_header_value(scope, b"cookie") or "").get(self._cookie, ""))

    def _is_token(self, token: str) -> bool:
        return secrets.compare_digest(token.encode("utf-8", "replace"), self._token.encode())

    def _comes_from_the_page(self, scope: Scope) -> bool:
        site, origin = _header_value(scope, b"sec-fetch-site"), _header_value(scope, b"origin")
        own_origin = f"http://{_header_value(scope, b'host')}"
        if scope["method"] in _READ_METHODS:
            return site in (None, "same-origin", "none") and origin in (None, own_origin)
        # without referrers a browser sends "null" as the origin of a form; then the other header decides
        return origin in (own_origin, "null") if site == "same-origin" else site is None and origin == own_origin


def _header_value(scope: Scope, name: bytes) -> str | None:
    """Return the value of a header; None if it is absent or repeated."""
    values = [value.decode("latin-1") for header, value in scope["headers"] if header == name]
    return values[0] if len(values) == 1 else None


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
