"""A window from the file to the second fit, as its requests and answers."""

from __future__ import annotations

import contextlib
import html
import io
import re
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.app.server import CONTENT_POLICY
from voirdire.cli import app

from .conftest import OWN, PORT, TOKEN, VOTES, files_under

HOSTILE = ("<img src=x onerror=alert(1)>", "=cmd()", "\u202eback")


def ended(client: Any, window: str, seconds: float = 90) -> str:
    """The page once no fit is under way."""
    until = time.monotonic() + seconds
    while client.get(f"{window}progress").json()["running"]:
        assert time.monotonic() < until
        time.sleep(0.1)
    return str(client.get(window).text)


def command_on(page: str) -> list[list[str]]:
    (found,) = re.findall(r"<pre[^>]*><code>(.*?)</code>", page, re.S)
    return [line.split()[1:] for line in html.unescape(found).splitlines()]


def ranking(run: Path) -> pd.DataFrame:
    return voirdire.load(run).ranking()


def test_the_page_says_what_doctor_says(client: Any, window: str, drop: Callable[..., Any]) -> None:
    assert "Drop a file here" in client.get(window).text
    assert drop(VOTES.replace("judge,", "rater,")).json() == {"taken": "votes.csv"}
    page = client.get(window).text
    assert "A table (csv): 36 votes, 3 judges, 3 items." in page
    assert re.search(r"<bdi>rater</bdi></td><td class=\"text\">judge</td>", page)
    assert "agree" in page
    assert "metaeval needs <bdi>scores</bdi>" in page
    assert command_on(page) == [["fit", "votes.csv", "--out", "run"], ["report", "run", "-o", "report.html"]]


def test_columns_are_read_as_the_person_says(client: Any, window: str, drop: Callable[..., Any]) -> None:
    drop(VOTES.replace("judge,", "who,").replace("winner\n", "answer\n"))
    page = client.get(window).text
    assert "cannot be read as it is" in page
    assert "<details open>" in page
    client.post(f"{window}reading", data={"map-judge": "who", "map-winner": "answer", "prob": "0.8"})
    page = client.get(window).text
    assert "36 votes, 3 judges, 3 items" in page
    assert command_on(page)[0][2:] == ["--map", "judge=who,winner=answer", "--prob", "0.8", "--out", "run"]


def test_options_that_messages_name_have_a_field(client: Any, window: str, drop: Callable[..., Any]) -> None:
    drop("judge,first,second,winner\na,x,y,zig\na,y,z,zag\na,x,z,zig\n")
    assert "--winners" in client.get(window).text
    client.post(f"{window}reading", data={"winners": "zig=first, zag", "order": "neither"})
    page = html.unescape(client.get(window).text)
    assert "winners 'zag' is not WORD=first,WORD=second" in page
    assert "order 'neither' is none of shown, unknown" in page
    client.post(f"{window}reading", data={"winners": "zig=first,zag=second", "order": "unknown"})
    page = client.get(window).text
    assert "3 votes, 1 judge, 3 items" in page
    how = ["--winners", "zig=first,zag=second", "--order", "unknown"]
    assert command_on(page)[0][2:] == [*how, "--out", "run"]


@pytest.mark.parametrize(
    ("table", "shown"),
    [
        ("judge,item,rank\na,x,1\na,y,2\n", "2 rows of rankings, 1 judge, 2 items."),
        ("judge,item,label\na,x,yes\n", "1 label, 1 judge, 1 item."),
    ],
)
def test_rows_are_counted_as_doctor_counts_them(
    client: Any, window: str, drop: Callable[..., Any], table: str, shown: str
) -> None:
    drop(table)
    assert f"A table (csv): {shown}" in client.get(window).text


@pytest.mark.parametrize("name", ["Anna.jsonl", "Anna"])
def test_a_file_that_names_no_judge_is_one_judge_called_as_the_file(
    client: Any, window: str, drop: Callable[..., Any], name: str
) -> None:
    lines = [
        f'{{"text": "t{k}", "answer": "accept", "accept": ["{"ab"[k % 2]}"], "options": [{{"id": "a", "text": "a"}}, '
        f'{{"id": "b", "text": "b"}}], "_input_hash": {k}, "_task_hash": {k}}}'
        for k in range(6)
    ]
    drop("\n".join(lines), name)
    page = client.get(window).text
    assert "--set judge=Anna" in html.unescape(page)
    assert "uploaded-file" not in page


def check_commands(client: Any, window: str, page: str, folder: Path) -> None:
    """Assert that the commands on the page, run in a folder, give the run that the page gives."""
    folder.mkdir()
    packed = zipfile.ZipFile(io.BytesIO(client.get(f"{window}download/run.zip").content))
    packed.extractall(folder / "page")
    (folder / "votes.csv").write_text(VOTES)
    if "--anchors" in page:
        (folder / "answers.csv").write_bytes(client.get(f"{window}download/answers.csv").content)
    with contextlib.chdir(folder):
        for command in command_on(page):
            assert CliRunner().invoke(app, command).exit_code == 0, command
    assert (folder / "report.html").is_file()
    pd.testing.assert_frame_equal(ranking(folder / "page" / "run"), ranking(folder / "run"))


@pytest.mark.slow
def test_one_fit_at_a_time_gives_a_report_that_stands_by_itself_and_questions(
    client: Any, window: str, drop: Callable[..., Any]
) -> None:
    drop()
    assert client.post(f"{window}fit", data={"prob": "0.8"}).headers["location"] == window
    assert "Fitting" in client.get(window).text
    client.post(f"{window}fit")  # one at a time
    assert "a fit is under way" in client.get(window).text
    page = ended(client, window)
    assert 'role="alert"' not in page
    assert re.search(r'id="decision"><bdi>.{20,}</bdi>', page)
    report = client.get(f"{window}report")
    assert report.text.startswith("<!doctype html>")
    assert report.headers["content-security-policy"].endswith("frame-ancestors 'self'; sandbox allow-scripts")
    assert client.get(f"{window}download/report.html").content == report.content
    asked = client.get(f"{window}ask")
    assert "form-action 'self'" in asked.headers["content-security-policy"]
    assert '"send":"' in asked.text
    client.post(f"{window}reading", data={"where": "colour=red"})
    page = client.get(window).text
    assert "colour" in page.partition("It cannot be read as it is.")[2].partition("</div>")[0]
    assert "<details open>" in page


@pytest.mark.long
@pytest.mark.slow
def test_fits_are_those_of_the_commands_on_the_page_and_answers_can_be_forgotten(
    client: Any, window: str, drop: Callable[..., Any], folder: Path, tmp_path: Path
) -> None:
    drop()
    client.post(f"{window}fit", data={"prob": "0.8"})
    check_commands(client, window, ended(client, window), tmp_path / "without")
    answers = "person,first,second,winner\nme,y,x,first\nme,z,y,first\n"
    client.post(f"{window}answers", data={"csv": answers})
    page = ended(client, window)
    assert "2 answers of yours" in page
    assert files_under(folder.parent) == [f"private/{name}" for name in files_under(folder)]
    check_commands(client, window, page, tmp_path / "with")
    client.post(f"{window}forget")
    assert "--anchors" not in ended(client, window)


def long_votes(seed: int = 5) -> str:
    """Votes in contexts of so many items that their chains take their time."""
    rng = np.random.default_rng(seed)
    rows = ["judge,first,second,winner,context"]
    for at in range(4000):
        first, second = rng.choice(40, 2, replace=False)
        winner = "first" if rng.random() < 0.5 + 0.3 * np.sign(second - first) else "second"
        rows.append(f"j{at % 9},{first},{second},{winner},c{at % 50}")
    return "\n".join(rows) + "\n"


@pytest.mark.long
@pytest.mark.slow
def test_a_stopped_fit_keeps_what_there_is_and_a_second_stop_ends_it(
    client: Any, window: str, drop: Callable[..., Any]
) -> None:
    drop(long_votes())
    client.post(f"{window}fit", data={"seconds": "600"})
    began = time.monotonic()
    while not client.get(f"{window}progress").json()["said"]:
        assert time.monotonic() < began + 60
        time.sleep(0.1)
    client.post(f"{window}stop")
    assert client.get(f"{window}progress").json().get("stopping", True)
    assert 'id="decision"' in ended(client, window)
    assert "Ctrl-C" in client.get(f"{window}report").text or "stopped" in client.get(f"{window}report").text
    client.post(f"{window}fit", data={"seconds": "600"})
    client.post(f"{window}stop")
    client.post(f"{window}stop")
    page = ended(client, window, 5)
    assert "Stopped; nothing was kept." in page
    assert 'id="decision"' in page  # of the fit before


@pytest.mark.slow
def test_windows_are_independent_and_a_reload_shows_the_same(
    client: Any, window: str, drop: Callable[..., Any]
) -> None:
    other = client.get("/").headers["location"]
    drop()
    client.post(f"{other}file", params={"name": "b.csv"}, content=VOTES.replace("ann", "dan"))
    client.post(f"{window}fit")
    assert "b.csv" not in client.get(window).text
    assert "How the file is read" in client.get(other).text
    assert ended(client, window) == client.get(window).text
    assert "votes.csv" not in client.get(other).text


@pytest.mark.slow
@pytest.mark.parametrize(
    "table",
    [
        "judge,item,label\n" + "".join(f"{j},i{k},{'ny'[(k + (j == 'c')) % 2]}\n" for j in "abc" for k in range(8)),
        "judge,item,score\n" + "".join(f"{j},i{k},{1 + (k * 7 + len(j)) % 4}\n" for j in "abc" for k in range(8)),
        "judge,item,rank\n" + "".join(f"{j},i{k},{k + 1}\n" for j in "abc" for k in range(5)),
        "judge,first,second,winner\n" + "".join(f"j,{HOSTILE[k % 3]},{HOSTILE[(k + 1) % 3]},first\n" for k in range(9)),
    ],
    ids=["labels", "scores", "rankings", "hostile names"],
)  # fmt: skip
def test_every_kind_of_table_is_fitted(client: Any, window: str, drop: Callable[..., Any], table: str) -> None:
    assert drop(table).status_code == 200
    client.post(f"{window}fit")
    page = ended(client, window)
    assert 'id="decision"' in page, page
    assert "<img" not in page
    assert "uploaded-file" not in page


def test_every_answer_has_the_headers(client: Any, stranger: Any, window: str) -> None:
    for answer in (
        client.get(window),
        client.get(f"{OWN}/nothing"),
        client.get("/assets/app.js"),
        client.post(f"{window}fit"),
        stranger.get("/"),
        stranger.get("/", headers={"host": "evil.example"}),
        stranger.get(f"/?token={TOKEN}"),
    ):
        assert answer.headers["content-security-policy"] == CONTENT_POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert not [name for name in answer.headers if name.startswith("access-control")]
    cookie = stranger.get(f"/?token={TOKEN}").headers["set-cookie"]
    assert cookie == f"voirdire-{PORT}={TOKEN}; Path=/; HttpOnly; SameSite=Strict"


def test_windows_without_a_file_make_room(client: Any, drop: Callable[..., Any], window: str) -> None:
    drop()
    for _ in range(150):
        assert client.get("/").status_code == 303
    assert "votes.csv" in client.get(window).text
