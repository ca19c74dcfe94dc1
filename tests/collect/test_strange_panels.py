"""Panels by strangers: which files they may read, which keys they may send where; and how a run is stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from scripted_server import Reply, completion
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.cli.collect import _confirm_host
from voirdire.collect import Judge, collect, read_panel
from voirdire.collect.allowed_hosts import PROVIDER_HOSTS, key_problems, parse_key_hosts
from voirdire.collect.plan import find_protocol, metadata, protocol_names
from voirdire.errors import InputError

ITEMS = pd.DataFrame({"id": ["a", "b"], "text": ["x", "y"]})


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VOIRDIRE_SETTINGS", str(tmp_path / "settings"))
    return tmp_path / "settings"


# keys


def judge(url: str = "https://llm.example.org/v1", variable: str = "LAB_KEY") -> Judge:
    return Judge("ann", "m", url, variable)


def test_a_key_goes_only_where_it_is_meant_to_go() -> None:
    for name, host in PROVIDER_HOSTS.items():
        assert key_problems([judge(f"https://{host}/v1", name)]) == []
        assert key_problems([judge(f"http://{host}/v1", name)])
        assert key_problems([judge(f"https://{host}.example.org/v1", name)])
        assert key_problems([judge(f"https://{host}/v1", "HOME")])
    for host in ("localhost", "127.0.0.1:8000", "127.9.9.9", "[::1]:80"):
        assert key_problems([judge(f"http://{host}/v1")]) == []
    for host in ("localhost.example.org", "127.0.0.1.example.org", "10.0.0.1", "0.0.0.0", "[::2]"):
        assert key_problems([judge(f"http://{host}/v1")])
    assert key_problems([judge()], ["LAB_KEY=LLM.example.org"]) == []
    assert key_problems([judge()], ["LAB_KEY=example.org", "OTHER=llm.example.org"])
    assert len(key_problems([judge(), judge(), judge(variable="HOME")])) == 2
    assert "llm.example.org (unencrypted)" in key_problems([judge("http://llm.example.org/v1")])[0]
    for wrong in ("LAB_KEY", "LAB_KEY=", "=h", "LAB KEY=h", "LAB_KEY=https://h/v1", "sk-0123456789abcdef=h"):
        with pytest.raises(InputError, match="is not NAME=HOST") as caught:
            parse_key_hosts([wrong])
        assert "sk-" not in str(caught.value)


def test_a_yes_on_the_terminal_is_remembered_and_a_no_is_not(
    settings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import io

    for answer, allowed in (("\n", False), ("no\n", False), ("", False), ("Yes\n", True)):
        monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
        assert (key_problems([judge()], confirm=_confirm_host) == []) is allowed
        assert "LAB_KEY sent to llm.example.org" in capsys.readouterr().err
    assert (settings / "allowed-keys").read_text() == "LAB_KEY=llm.example.org\n"
    assert key_problems([judge()]) == []
    assert key_problems([judge("https://other.example.org/v1")])
    (settings / "allowed-keys").write_bytes(b"\xff\xfe")
    assert key_problems([judge()])
    # where nothing can be kept, a yes holds for this run
    (settings / "allowed-keys").unlink()
    settings.rmdir()
    settings.write_text("a file")
    assert key_problems([judge()], confirm=lambda *_: True) == []
    assert key_problems([judge()])


@pytest.mark.usefixtures("toy_protocol")
def test_nothing_is_sent_before_a_key_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", "0123456789abcdef")
    entry = {"name": "ann", "model": "m", "base_url": "https://llm.invalid/v1", "api_key_env": "LAB_KEY"}
    with pytest.raises(InputError, match="say --allow-key LAB_KEY=llm"):
        collect({"judges": [entry]}, ITEMS, "toy", tmp_path / "o")
    assert not (tmp_path / "o").exists()
    monkeypatch.setenv("LAB_KEY", "short")
    with pytest.raises(InputError, match="holds no key: it has fewer than 8"):
        collect({"judges": [entry]}, ITEMS, "toy", tmp_path / "o", allow_keys=["LAB_KEY=llm.invalid"])


@pytest.mark.usefixtures("toy_protocol")
def test_a_server_is_sent_nothing_else_of_the_users(
    tmp_path: Path, serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_WEBHOOK_SECRET"):
        monkeypatch.setenv(name, "mine-0123456789")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Mine: mine-0123456789")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    server = serve(lambda _: Reply(completion('{"winner": 1}'), headers={"Set-Cookie": "a=b"}))
    collect(
        {"judges": [{"name": "ann", "model": "m", "base_url": server.url}]}, ITEMS, "toy", tmp_path / "o",
        options={"rounds": 2},
    )  # fmt: skip
    for headers in server.headers:
        assert set(headers) <= {
            "host", "connection", "accept", "accept-encoding", "content-type", "content-length", "user-agent",
            "authorization",
        }  # fmt: skip
        assert "mine" not in str(headers)
        assert headers["authorization"] == "Bearer none"


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com\\@llm.example.org/v1", "https://api.openai.com#@llm.example.org/", "http://h?x=1",
        "https://user@h/v1", "https://h /v1", "https://\u0430pi.openai.com/v1", "ftp://h/v1", "https:///v1", "//h/v1",
        "https://h:port/v1", "https://[::1/v1", "https://h%2eorg/v1", "https://h./v1", "https://h/v1\n", "https://h\t/",
    ],
)  # fmt: skip
def test_an_address_has_one_reading(url: str) -> None:
    with pytest.raises(InputError, match="base_url"):
        read_panel({"judges": [{"name": "ann", "model": "m", "base_url": url}]})


# files


def test_a_panel_reads_files_of_its_own_folder_alone(tmp_path: Path, serve: Callable[..., Any]) -> None:
    server = serve(lambda _: {"winner": 1})
    home, mine = tmp_path / "panel", tmp_path / "private.txt"
    (home / "texts").mkdir(parents=True)
    mine.write_text("PRIVATE")
    (home / "texts" / "rubric.txt").write_text("Be clear.")
    (home / "link.txt").symlink_to(mine)
    (home / "up").symlink_to(tmp_path)
    (home / "fine.txt").symlink_to(home / "texts" / "rubric.txt")
    (home / "long.txt").write_bytes(b"x" * (8 * 1024**2 + 1))
    (home / "latin.txt").write_bytes(b"\xe9")
    (home / "loop.txt").symlink_to(home / "loop.txt")
    os.mkfifo(home / "pipe")

    def says(name: str) -> str:
        text = f'[[judges]]\nname = "ann"\nmodel = "m"\nbase_url = "{server.url}"\n[protocol]\nrubric = "@{name}"\n'
        (home / "panel.toml").write_text(text)
        with pytest.raises(InputError) as caught:
            collect(home / "panel.toml", ITEMS, "pairwise", tmp_path / "o")
        assert "PRIVATE" not in str(caught.value)
        return str(caught.value)

    for name in ("../private.txt", str(mine), "link.txt", "up/private.txt", "texts/../../private.txt", "~/.netrc/../x"):
        if name.startswith("~"):
            assert "cannot be read" in says(name)
        else:
            assert "does not lie below" in says(name), name
    assert "does not lie below" in says("/dev/zero")
    assert "is no file" in says("pipe")
    assert "is no file" in says("texts")
    assert "longer than 8 MB" in says("long.txt")
    assert "not UTF-8" in says("latin.txt")
    assert "cannot be read" in says("nothing.txt")
    assert "cannot be read" in says("loop.txt")
    assert "is no file's name" in says("a\\u0000b")
    assert "cannot be read" in says("x" * 5000)
    assert server.requests == []
    for name in ("texts/rubric.txt", "fine.txt"):
        (home / "panel.toml").write_text(
            f'[[judges]]\nname = "ann"\nmodel = "m"\nbase_url = "{server.url}"\n[protocol]\nrubric = "@{name}"\n'
        )
        collect(home / "panel.toml", ITEMS, "pairwise", tmp_path / name.replace("/", "-"))
    # what the user names on the command line is the user's own choice
    (home / "panel.toml").write_text(f'[[judges]]\nname = "ann"\nmodel = "m"\nbase_url = "{server.url}"\n')
    collect(home / "panel.toml", ITEMS, "pairwise", tmp_path / "p", settings={"rubric": f"@{mine}"})
    (home / "panel.toml").write_text("a = " + "[" * 100_000)
    with pytest.raises(InputError, match=r"panel\.toml: (is nested too deeply|not valid TOML)"):
        read_panel(home / "panel.toml")


# protocols of others


def test_no_package_puts_its_protocol_in_the_place_of_a_shipped_one(monkeypatch: pytest.MonkeyPatch) -> None:
    own = list(metadata.entry_points(group="voirdire.protocols"))
    others = [
        SimpleNamespace(name=name, value="evil:Evil", dist=SimpleNamespace(name="evil"))
        for name in (*protocol_names(), "new")
    ]
    others.append(SimpleNamespace(name="newer", value="json:dumps", dist=None))
    for points in ([*own, *others], [*others, *own]):
        monkeypatch.setattr(metadata, "entry_points", lambda points=points, **_: points)
        assert find_protocol("maple").__class__.__module__ == "voirdire_protocols.maple"
        assert {"new", "newer"} < set(protocol_names())
        for name in ("new", "newer"):
            with pytest.raises(InputError, match="cannot be imported"):
                find_protocol(name)


# how a run ends


@pytest.mark.usefixtures("toy_protocol")
def test_a_run_without_any_answer_ends_with_one(
    tmp_path: Path, serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    server = serve(lambda _: "no JSON")
    ITEMS.to_csv("items.csv", index=False)
    Path("panel.toml").write_text(f'[[judges]]\nname = "ann"\nmodel = "m"\nbase_url = "{server.url}"\n')
    words = ["collect", "panel.toml", "items.csv", "--protocol", "toy", "--out"]
    for more in ([], ["--json"]):
        found = CliRunner().invoke(app, [*words, "o", *more])
        assert found.exit_code == 1
        assert "error: no question was answered; o/missing.csv says why" in found.stderr
    assert json.loads(found.stdout)["missing"] == 1
    server.script = lambda _: {"winner": 1}
    assert CliRunner().invoke(app, [*words, "o", "--retry-missing"]).exit_code == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
@pytest.mark.parametrize(("delay", "times"), [(4.0, 1), (60.0, 2)])
def test_ctrl_c_says_what_it_waits_for(tmp_path: Path, serve: Callable[..., Any], delay: float, times: int) -> None:
    server = serve(lambda _: Reply(completion('{"winner": "Text 1"}'), delay=delay))
    pd.DataFrame({"id": list("abcd"), "text": list("abcd")}).to_csv(tmp_path / "items.csv", index=False)
    (tmp_path / "panel.toml").write_text(
        f'[[judges]]\nname = "ann"\nmodel = "m"\nbase_url = "{server.url}"\nconcurrency = 3\n'
    )
    words = ["collect", "panel.toml", "items.csv", "--protocol", "pairwise", "--out", "o"]
    with subprocess.Popen(
        [sys.executable, "-c", "from voirdire.cli import main; main()", *words],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(voirdire.__file__).parents[1])},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    ) as process:
        end = time.monotonic() + 60
        while len(server.requests) < 3 and time.monotonic() < end:
            time.sleep(0.02)
        assert process.stderr is not None
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        line = process.stderr.readline()
        assert time.monotonic() - began < delay
        assert line == ("stopping: waiting for 3 answers under way, at most 120 s; Ctrl-C again ends at once\n")
        if times == 2:
            process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert process.wait(10) == 130
        assert time.monotonic() - began < 40.0
    assert rest == "stopped; what was answered is kept, the same command goes on from here\n"
    if times == 1:
        table = collect(tmp_path / "panel.toml", tmp_path / "items.csv", "pairwise", tmp_path / "o", max_calls=0)
        assert table.total("answered") == 3
