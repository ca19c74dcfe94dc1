"""The server as a process: what it prints, how it ends, what it leaves."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import voirdire
from voirdire import InputError
from voirdire.app import server
from voirdire.app.uploads import private_folder

from .test_window import long_votes


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def start(temporary: Path) -> Iterator[Callable[[], tuple[Any, str]]]:
    """Start the command: the process and the address."""
    started = []
    environment = os.environ | {
        "PYTHONPATH": str(Path(voirdire.__file__).parents[1]), "TMPDIR": str(temporary),
    }  # fmt: skip

    def started_app() -> tuple[Any, str]:
        command = [sys.executable, "-m", "voirdire", "app", "--no-open", "--json"]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        return process, json.loads(process.stdout.readline())["address"]

    yield started_app
    for process in started:
        process.kill()
        process.communicate()


def opener(address: str) -> Callable[..., Any]:
    """A browser of a kind: it keeps the cookie, and sends its origin."""
    origin = address.split("/?")[0]
    with urllib.request.urlopen(address) as answer:
        cookie = answer.headers["set-cookie"].split(";")[0]

    def ask(path: str, body: bytes | None = None) -> Any:
        request = urllib.request.Request(origin + path, body, {"cookie": cookie, "origin": origin})
        return urllib.request.urlopen(request)

    return ask


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split(")")[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def children(process: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()] + [
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/stat")
        if (found := re.search(r"\) \w (\d+)", path.read_text(errors="replace"))) and int(found[1]) == process
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_and_nothing_is_left(
    start: Callable[[], tuple[Any, str]], temporary: Path, number: int, code: int
) -> None:
    process, address = start()
    ask = opener(address)
    window = ask("/").url.removeprefix(address.split("/?")[0])
    ask(f"{window}file?name=votes.csv", long_votes().encode())
    assert list(temporary.glob(".voirdire-app.*/*/upload-*/uploaded-file.csv"))
    ask(f"{window}fit", b"seconds=600")
    assert temporary.joinpath(next(temporary.iterdir())).stat().st_mode & 0o777 == 0o700
    process.send_signal(number)
    _, said = process.communicate(timeout=20)
    assert process.returncode == code
    assert "what was uploaded is removed" in said
    assert not list(temporary.iterdir())


@pytest.mark.slow
def test_a_killed_server_takes_its_fit_along_and_the_next_start_sweeps_up(
    start: Callable[[], tuple[Any, str]], temporary: Path
) -> None:
    process, address = start()
    ask = opener(address)
    window = ask("/").url.removeprefix(address.split("/?")[0])
    ask(f"{window}file?name=votes.csv", long_votes().encode())
    ask(f"{window}fit", b"seconds=600")
    (worker, *_) = children(process.pid)
    with private_folder():  # beside one that runs
        assert len(list(temporary.iterdir())) == 2
    process.kill()
    process.wait()
    until = time.monotonic() + 20
    while is_running(worker):
        assert time.monotonic() < until
        time.sleep(0.1)
    assert list(temporary.iterdir())
    with private_folder() as folder:
        assert list(temporary.iterdir()) == [folder]
    assert not list(temporary.iterdir())


def test_folders_of_others_are_left_alone(temporary: Path) -> None:
    elsewhere = temporary.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("")
    (temporary / ".voirdire-app.link").symlink_to(elsewhere)
    (temporary / ".voirdire-app.file").write_text("")
    (temporary / "voirdire-app.mine").mkdir()
    with private_folder():
        pass
    assert (elsewhere / "kept").exists()
    assert len(list(temporary.iterdir())) == 3


def test_missing_packages_are_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'voirdire\[app\]'"), server.serve_page():
        pass


def test_a_port_that_is_taken_is_named(temporary: Path) -> None:
    with server.serve_page() as guard:
        port = int(guard.address.split(":")[2].split("/")[0])
        with pytest.raises(InputError, match=f"port {port} cannot be used"), server.serve_page(port):
            pass
    assert not list(temporary.iterdir())


def test_the_address_that_a_browser_is_started_with_opens_the_page_once(temporary: Path) -> None:
    with server.serve_page() as guard:
        address = guard.address_once()
        assert address != guard.address
        assert opener(address)("/").url.startswith(address.split("?")[0] + "s/")
        with pytest.raises(urllib.error.HTTPError, match="403"):
            opener(address)
        opener(guard.address)
        opener(guard.address)
