"""Requests of those who may not: each is refused, and leaves no file where none is to be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from voirdire.app import uploads

from .conftest import OWN, PORT, TOKEN, files_under

COOKIE = f"voirdire-{PORT}={TOKEN}"
HOSTS = (
    "evil.example", f"evil.example:{PORT}", "127.0.0.1", "localhost", f"127.0.0.1:{PORT + 1}",
    f"127.0.0.1.evil.example:{PORT}",
    f"localhost.evil.example:{PORT}", f"0.0.0.0:{PORT}", f"[::1]:{PORT}",
    f"127.0.0.1:{PORT}@evil.example", f"2130706433:{PORT}",
    f"127.1:{PORT}", f"LOCALHOST.:{PORT}", "",
)  # fmt: skip
TOKENS = ("", "x", TOKEN[:-1], f"{TOKEN}x", TOKEN.upper(), f" {TOKEN}", f"{TOKEN}%00", "%F0%9F%94%91", "../" + TOKEN)
COOKIES = (
    "", "voirdire-8123=", f"voirdire-8123={TOKEN[:-1]}", f"voirdire-8124={TOKEN}",
    f"VOIRDIRE-8123={TOKEN}x", f"token={TOKEN}",
    "voirdire-8123=ü",
)  # fmt: skip
ORIGINS: tuple[dict[str, str], ...] = (
    {},
    {"origin": "null"},
    {"origin": "http://evil.example"},
    {"origin": f"http://127.0.0.1:{PORT + 1}"},
    {"origin": f"https://127.0.0.1:{PORT}"},
    {"origin": f"http://localhost:{PORT}"},
    {"origin": f"http://127.0.0.1:{PORT}.evil.example"},
    {"origin": OWN, "sec-fetch-site": "cross-site"},
    {"origin": OWN, "sec-fetch-site": "same-site"},
    {"origin": OWN, "sec-fetch-site": "none"},
    {"origin": "http://evil.example", "sec-fetch-site": "same-origin"},
    {"sec-fetch-site": "same-origin"},
)
POSTS = ("file?name=a.csv", "texts?name=a.csv", "reading", "fit", "stop", "answers", "forget")
PATHS = (
    "/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/assets/../guard.py",
    "/assets/%2e%2e%2fguard.py", "/assets/window.html.j2",
    "/assets/..%5cguard.py", "/s/", "/s/../", "/s/%2e%2e/report", "/s/..%2f..%2fetc/report",
    "/s/unknown/", "/s/unknown/report",
    "/s/unknown/download/run.zip", "/s/%00/", "/favicon.ico", "/docs", "/openapi.json",
    "//evil.example/", "/s//etc/passwd/",
)  # fmt: skip
NAMES = (
    "../../evil.csv", "..\\..\\evil.csv", "/etc/cron.d/evil", "C:\\Windows\\evil.csv",
    "evil\x00.csv", "evil\n.csv", "..", ".", "",
    "a/b/c.csv", "~/evil.csv", "$(touch evil).csv", "`touch evil`.csv", "evil.csv;touch x",
    "x" * 5000 + ".csv", "CON.csv",
    "<script>alert(1)</script>.csv", "\" onload=alert(1) x=\".csv", "-rf.csv", "{{7*7}}.csv",
    "*.csv", "evil.csv.reading.toml",
    "\u202egnp.csv", "evil.py", "table.part", "%2e%2e%2fevil.csv",
)  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
def test_another_host_is_refused(stranger: Any, folder: Path, host: str) -> None:
    answer = stranger.get(f"/?token={TOKEN}", headers={"host": host, "cookie": COOKIE})
    assert answer.status_code == 421
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("token", TOKENS)
def test_a_wrong_secret_opens_nothing(stranger: Any, token: str) -> None:
    answer = stranger.get(f"/?token={token}")
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("cookie", COOKIES)
@pytest.mark.parametrize("path", ["/", "/assets/app.js", "/s/unknown/"])
def test_nothing_is_shown_without_the_cookie(stranger: Any, cookie: str, path: str) -> None:
    assert stranger.get(path, headers={"cookie": cookie.encode()}).status_code == 403


@pytest.mark.parametrize("headers", ORIGINS)
@pytest.mark.parametrize("what", POSTS)
def test_a_post_from_elsewhere_is_refused(
    client: Any, window: str, folder: Path, headers: dict[str, str], what: str
) -> None:
    for name in ("origin", "sec-fetch-site"):
        del client.headers[name]
    answer = client.post(f"{window}{what}", content=b"judge,item,score\na,x,1\n", headers=headers)
    assert answer.status_code == 403
    assert files_under(folder.parent) == []


@pytest.mark.parametrize("site", ["cross-site", "same-site", "strange"])
def test_a_page_of_another_site_or_port_sees_nothing(client: Any, window: str, site: str) -> None:
    assert client.get(window, headers={"sec-fetch-site": site}).status_code == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"])
def test_other_methods_are_refused(client: Any, window: str, method: str) -> None:
    answer = client.request(method, window)
    assert answer.status_code == 405
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("path", PATHS)
def test_there_is_nothing_beside_the_page(client: Any, path: str) -> None:
    answer = client.get(f"{OWN}{path}")
    assert answer.status_code in (303, 404), answer.text  # to a new window, or nowhere
    assert answer.status_code == 404 or answer.headers["location"].startswith("/s/")
    assert "root:" not in answer.text


@pytest.mark.parametrize("what", ["../report.html", "%2e%2e%2fanswers.csv", "log.txt", "run", "table.csv", ""])
def test_downloads_are_those_that_are_named(client: Any, window: str, drop: Callable[..., Any], what: str) -> None:
    drop()
    assert client.get(f"{window}download/{what}").status_code in (303, 404)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_no_path(client: Any, window: str, drop: Callable[..., Any], folder: Path, name: str) -> None:
    answer = drop(name=name)
    assert answer.status_code == 200, answer.text
    (kept,) = files_under(folder.parent)
    assert kept.startswith(f"private/{window.split('/')[2]}/upload-")
    assert kept.rsplit("/", 1)[1] in ("uploaded-file", "uploaded-file.csv")
    page = client.get(window).text
    assert "<script>alert" not in page
    assert 'onload=alert(1) x="' not in page
    assert "{{7*7}}" in page or "7*7" not in name
    assert (folder / window.split("/")[2]).stat().st_mode & 0o777 == 0o700
    assert (folder.parent / kept).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("announced", [True, False])
def test_a_giant_file_is_refused_and_leaves_nothing(
    drop: Callable[..., Any], folder: Path, monkeypatch: pytest.MonkeyPatch, announced: bool
) -> None:
    monkeypatch.setattr(uploads, "MAX_UPLOAD_BYTES", 2**20)
    content: Any = b"x" * (2**20 + 1)
    answer = drop(content if announced else iter([content[: 2**19], content[2**19 :]]))
    assert answer.status_code == 413
    assert "MB" in answer.json()["error"]
    assert files_under(folder.parent) == []


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"", "votes.csv"),
        (b"\x00" * 1000, "votes.csv"),
        (b"PK\x03\x04" + b"\xff" * 500, "votes.xlsx"),
        (b"PAR1" + b"\xff" * 500 + b"PAR1", "votes.parquet"),
        (b"\x1f\x8b" + b"\xff" * 500, "votes.csv.gz"),
        (b"[" * 100_000, "votes.json"),
        (b'{"a": 1', "votes.jsonl"),
        (b"<html><script>alert(1)</script></html>", "votes.csv"),
        (b"judge,first,second,winner\n<script>alert(1)</script>,x,y,maybe\n", "votes.csv"),
        (b"\xff\xfe\x00", "votes.csv"),
    ],
)
def test_a_damaged_file_is_told_and_not_fitted(
    client: Any, window: str, drop: Callable[..., Any], content: bytes, name: str
) -> None:
    answer = drop(content, name)
    page = client.get(window).text
    assert answer.status_code in (200, 400)
    assert answer.status_code == 400 or "cannot be read as it is" in page or "a fit needs" in page
    assert "<script>alert" not in page + answer.text.replace("\\u003c", "")
    assert "uploaded-file" not in page + answer.json().get("error", "")  # it is called as its sender calls it
    client.post(f"{window}fit")
    assert client.get(f"{window}progress").json() == {"running": False}


@pytest.mark.parametrize(
    "body",
    [
        b"about=nobody", b"prob=2", b"prob=nan", b"prob=1e400", b"seconds=-1", b"seconds=1e9", b"table=x", b"wide=x",
        b"map-judge=nobody", b"where=x", b"judges=%00", b"prob=" + b"9" * 500, b"\xff\xfe", b"a=1&" * 500, b"prob=<b>",
    ],
)  # fmt: skip
def test_a_form_that_is_not_as_the_page_sends_it_is_told(
    client: Any, window: str, drop: Callable[..., Any], body: bytes
) -> None:
    drop()
    assert client.post(f"{window}fit", content=body).status_code == 303
    assert client.get(f"{window}progress").json() == {"running": False}
    page = client.get(window).text
    assert 'role="alert"' in page
    assert "<b>" not in page


def test_a_giant_form_is_refused(client: Any, window: str) -> None:
    assert client.post(f"{window}answers", content=b"csv=" + b"x" * 2**21).status_code == 413


@pytest.mark.parametrize(
    "csv",
    ["", "person,first,second,winner\n", "me,x\n", "person,first,second,winner\nme,x,y,first\n", quote("\x00" * 100)],
)
def test_answers_to_what_was_not_asked_are_refused(
    client: Any, window: str, drop: Callable[..., Any], folder: Path, csv: str
) -> None:
    drop()
    client.post(f"{window}answers", data={"csv": csv})
    assert 'role="alert"' in client.get(window).text
    assert not [name for name in files_under(folder.parent) if "answers" in name]
