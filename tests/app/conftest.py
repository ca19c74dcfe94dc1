from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from voirdire.app.routes import make_app
from voirdire.app.server import Guard
from voirdire.app.session import Sessions

PORT, TOKEN = 8123, "the-secret-of-this-server"
OWN = f"http://127.0.0.1:{PORT}"
ROWS = [
    f"{judge},{first},{second},{winner}"
    for judge in ("ann", "bob", "cyd")
    for first, second, winner in (("x", "y", "first"), ("y", "z", "first"), ("z", "x", "second"))
    for _ in range(4)
]
VOTES = "\n".join(["judge,first,second,winner", *ROWS]) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The private folder, in a folder in which nothing else may appear."""
    made = tmp_path / "around" / "private"
    made.mkdir(parents=True, mode=0o700)
    return made


@pytest.fixture
def client(folder: Path) -> Iterator[Any]:
    """A browser that has opened the page; it sends what browsers send of themselves."""
    sessions = Sessions(folder)
    guard = Guard(make_app(sessions), PORT, TOKEN)
    made = TestClient(guard, base_url=OWN, follow_redirects=False, raise_server_exceptions=False)
    made.cookies.set(f"voirdire-{PORT}", TOKEN)
    made.headers.update({"origin": OWN, "sec-fetch-site": "same-origin"})
    yield made
    sessions.close_all()


@pytest.fixture
def stranger(folder: Path) -> Any:
    """Whoever sends requests to the port and knows nothing."""
    guard = Guard(make_app(Sessions(folder)), PORT, TOKEN)
    return TestClient(guard, base_url=OWN, follow_redirects=False, raise_server_exceptions=False)


@pytest.fixture
def window(client: Any) -> str:
    """The address of a window."""
    return str(client.get("/").headers["location"])


@pytest.fixture
def drop(client: Any, window: str) -> Callable[..., Any]:
    """Drop a file on a window."""

    def dropped(content: bytes | str = VOTES, name: str = "votes.csv", to: str = "file", **more: Any) -> Any:
        return client.post(f"{window}{to}", params={"name": name}, content=content, **more)

    return dropped


def files_under(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
