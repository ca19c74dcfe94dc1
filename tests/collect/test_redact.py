"""Keys appear in nothing that is written, however a server repeats them; those written into panels are refused."""

from __future__ import annotations

import base64
import html
import itertools
import json
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from growth import grows_as_its_input
from hypothesis import given
from hypothesis import strategies as st
from scripted_server import Reply, completion, user
from typer.testing import CliRunner

from voirdire.cli import app
from voirdire.collect import collect, read_panel
from voirdire.collect.redact import Redactor
from voirdire.errors import InputError

KEY = "sk-Qz7/9+a&b'c-0123456789~x"


def escaped(text: str, form: str) -> str:
    return "".join(form.format(ord(c)) for c in text)


#: Ways to write a key.
WRITTEN: dict[str, Callable[[str], str]] = {
    "plain": str,
    "JSON": lambda key: escaped(key, "\\u{:04x}"),
    "JSON in JSON": lambda key: json.dumps(escaped(key, "\\u{:04X}"))[1:-1],
    "slashes": lambda key: key.replace("/", "\\/").replace("'", "\\'"),
    "some escaped": lambda key: key.replace("s", "\\u0073").replace("9", "\\x39"),
    "Python": lambda key: escaped(key, "\\x{:02x}"),
    "URL": lambda key: urllib.parse.quote(key, safe=""),
    "URL, every character": lambda key: escaped(key, "%{:02X}"),
    "URL twice": lambda key: urllib.parse.quote(urllib.parse.quote(key, safe="")),
    "HTML": lambda key: html.escape(key),
    "HTML, every character": lambda key: escaped(key, "&#{};"),
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 of more": lambda key: base64.b64encode(f"Bearer {key}, sent".encode()).decode(),
    "base64 for URLs": lambda key: base64.urlsafe_b64encode(f"x{key}".encode()).decode(),
    "base64 on lines": lambda key: base64.encodebytes(f"{'long' * 20}{key}".encode()).decode(),
    "base64, escaped": lambda key: escaped(base64.b64encode(key.encode()).decode(), "\\u{:04x}"),
    "hexadecimal": lambda key: key.encode().hex(),
    "hexadecimal, in either case": lambda key: key.encode().hex().replace("d", "D").replace("7a", "7A"),
    "octal": lambda key: escaped(key, "\\{:03o}"),
    "base64 of base64": lambda key: base64.b64encode(base64.b64encode(key.encode())).decode(),
    "on two lines": lambda key: f"{key[:9]}\n  {key[9:]}",
}


def odd(body: Any, status: int = 200, **headers: str) -> Reply:
    return Reply(body if isinstance(body, bytes) else json.dumps(body).encode(), status, dict(headers))


def part(**fields: Any) -> Reply:
    """A chat completion with other fields in its choice."""
    made = completion("{}")
    made["choices"][0] |= fields
    return Reply(made)


#: Places to write it in.
PLACES: dict[str, Callable[[str], Reply]] = {
    "an answer": lambda key: Reply(completion(json.dumps({"winner": key}))),
    "an answer as it is": lambda key: Reply(completion('{"winner": "' + key + '"}')),
    "prose": lambda key: Reply(completion(f"Your key is {key}, and this is no JSON.")),
    "no completion": lambda key: odd(f"{key} is your key".encode()),
    "no completion, at its end": lambda key: odd(b" " * 40 + key.encode()),
    "a refusal": lambda key: part(message={"content": None, "refusal": f"not with {key}"}),
    "finish_reason": lambda key: part(finish_reason=f"refused {key}", message={"content": "{}"}),
    "an error": lambda key: odd({"error": {"message": f"bad key {key}"}}, 400),
    "an error of another form": lambda key: odd({"detail": [{"msg": {"headers": key}}]}, 422),
    "an error that passes": lambda key: odd({"error": f"{key}"}, 500),
    "an error in plain text": lambda key: odd(f"{'.' * 290}{key}".encode(), 500),
    "tokens": lambda key: Reply(completion('{"winner": 1}', logprobs=[(c, -0.1, [(c, -0.1)]) for c in key])),
    "an alternative": lambda key: Reply(completion('{"winner": 1}', logprobs=[("1", -0.1, [(key, -0.1)])])),
}
ATTACKS = list(itertools.product(PLACES, WRITTEN))


def traces(key: str) -> list[bytes]:
    """What must be found nowhere: the key, the start of it, and its base64 in each position."""
    raw = key.encode()
    middle = [base64.b64encode(b"\0" * n + raw)[4:-4] for n in range(3)]
    return [raw, raw[:20], raw.hex().encode(), *middle, *(one.replace(b"/", b"\\/") for one in middle)]


@pytest.mark.slow
@pytest.mark.usefixtures("toy_protocol")
def test_a_key_that_a_server_repeats_is_written_nowhere(
    tmp_path: Path, serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # every question is answered by another attack
    assert len(ATTACKS) >= 200
    made = iter(ATTACKS)
    chosen: dict[str, tuple[str, str]] = {}

    def script(request: dict[str, Any]) -> Any:
        shown = user(request).split("Answer with one JSON")[0]
        if int(shown.split("text of i")[1][0]) == 3:
            return {"winner": 1}  # now and then an answer, so that the server does not seem dead
        if shown not in chosen:
            chosen[shown] = next(made, ATTACKS[0])
        place, form = chosen[shown]
        return PLACES[place](WRITTEN[form](KEY))

    server = serve(script)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TEST_KEY", KEY)
    Path("panel.toml").write_text(
        "answer_tries = 1\nrequest_tries = 1\nbackoff = 0.0\n"
        f'[[judges]]\nname = "ann"\nmodel = "m"\nbase_url = "{server.url}"\napi_key_env = "TEST_KEY"\n'
        "concurrency = 1\n"
    )
    pd.DataFrame({"id": list("abcde"), "text": [f"text of i{n}" for n in (0, 3, 4, 5, 6)]}).to_csv("i.csv")
    words = ["collect", "panel.toml", "i.csv", "--protocol", "toy", "--set", "logprobs=true", "--out", "o"]
    rounds = -(-len(ATTACKS) // 6)
    found = CliRunner().invoke(app, [*words, "--set", f"rounds={rounds}", "--json"])
    assert found.exit_code == 0, found.output
    assert len(chosen) >= len(ATTACKS)
    assert all(header["authorization"] == f"Bearer {KEY}" for header in server.headers)
    table = CliRunner().invoke(app, [*words, "--set", f"rounds={rounds}", "--max-calls", "0"])
    said = (found.stdout + found.stderr + table.stdout + table.stderr).encode()
    held = {path.name: path.read_bytes() for path in Path("o").iterdir()} | {"output": said}
    assert {"journal.sqlite", "missing.csv", "run.json"} <= set(held)
    for name, content in held.items():
        for trace in traces(KEY):
            assert trace not in content, (name, trace)
        for form in WRITTEN.values():
            for written in (form(KEY), json.dumps(form(KEY))[1:-1]):
                assert written.encode() not in content, (name, written)
    assert b"[key]" in held["journal.sqlite"]


@given(st.text(), st.text(), st.sampled_from(list(WRITTEN)))
def test_no_text_around_a_key_hides_it(before: str, after: str, form: str) -> None:
    shown = Redactor([KEY]).redact_text(f"{before} {WRITTEN[form](KEY)} {after}")
    assert KEY not in shown
    assert WRITTEN[form](KEY) not in shown


@given(st.text())
def test_a_text_without_a_key_stays_as_it_is(text: str) -> None:
    assert Redactor([KEY]).redact_text(text) == text
    assert Redactor(["EMPTY"]).redact_text(f"EMPTY {text}") == f"EMPTY {text}"


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["\\", "%", "&", "\\u00", "&#x0", "s", " ", "sk-", "\\u0073"])
def test_looking_for_keys_takes_time_that_grows_as_the_text(unit: str) -> None:
    assert grows_as_its_input(lambda size: Redactor([KEY]).redact_text(unit * (size // len(unit))), 1_000_000)


@pytest.mark.usefixtures("toy_protocol")
def test_keys_written_into_a_panel_are_refused_and_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge: dict[str, Any] = {"name": "ann", "model": "m", "base_url": "http://h/v1"}
    typed = "sk-abcdefgh0123456789"
    wrong: list[dict[str, Any]] = [
        {"judges": [judge | {"extra": {"api_key": "hunter2hunter2"}}]},
        {"judges": [judge | {"extra": {"headers": {"Authorization": "hunter2hunter2"}}}]},
        {"judges": [judge | {"extra": {"metadata": [{"x": f"Bearer {typed}"}]}}]},
        {"judges": [judge | {"base_url": f"http://h/v1/{typed}"}]},
        {"judges": [judge | {"model": typed}]},
        {"judges": [judge | {"name": typed}]},
        {"judges": [judge | {"api_key_env": typed}]},
        {"judges": [judge | {"temperature": typed}]},
        {"judges": [judge | {typed: 1}]},
        {"judges": [judge], "secret": "hunter2hunter2"},
        {"judges": [judge], "protocol": {"rubric": f"Use {typed}."}},
        {"judges": [judge], "protocol": {"criteria": {"clear": typed}}},
    ]
    for panel in wrong:
        with pytest.raises(InputError, match="a key is written into the file") as caught:
            read_panel(panel)
        assert "hunter2" not in str(caught.value)
        assert typed not in str(caught.value)
    # what only sounds like one is none
    fine = judge | {"max_tokens": 5, "extra": {"max_completion_tokens": 9, "logit_bias": {"50256": -100}}}
    read_panel({"judges": [fine], "protocol": {"criteria": {"key": "It has a key idea."}}})
    # a name that is none may be the key itself
    with pytest.raises(InputError, match="api_key_env is no such name") as caught:
        read_panel({"judges": [judge | {"api_key_env": "hunter2-hunter2"}]})
    assert "hunter2" not in str(caught.value)
    # a form that nobody knows is known by the variable
    monkeypatch.setenv("TEST_KEY", "correct horse".replace(" ", "-"))
    odd_one = judge | {"api_key_env": "TEST_KEY", "extra": {"user": "x correct-horse"}}
    items = pd.DataFrame({"id": ["a", "b"], "text": ["x", "y"]})
    with pytest.raises(InputError, match="judge 'ann': extra holds the key in TEST_KEY") as caught:
        collect({"judges": [odd_one]}, items, "toy", tmp_path / "o")
    assert "correct-horse" not in str(caught.value)
    assert not (tmp_path / "o").exists()
