"""Runs against a scripted server: faults, forms of requests, bounds, resuming, wrong input; no model."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import scripted_server
from scripted_server import Faults, Reply, completion, user
from typer.testing import CliRunner

from voirdire.collect import collect, estimate
from voirdire.collect.asking import NOT_ASKED
from voirdire.errors import InputError

pytestmark = pytest.mark.usefixtures("toy_protocol")
KEY = "sk-secret-0123456789"


def table(count: int = 4) -> pd.DataFrame:
    return pd.DataFrame({"id": [f"i{n}" for n in range(count)], "text": [f"text of i{n}" for n in range(count)]})


def panel(server: Any, *names: str, backoff: float = 0.001, tries: int = 6, **fields: Any) -> dict[str, Any]:
    judges = [{"name": name, "model": name, "base_url": server.url, **fields} for name in names or ("ann",)]
    return {"judges": judges, "backoff": backoff, "request_tries": tries}


def by_length(request: dict[str, Any]) -> dict[str, int]:
    return {"winner": 1 + len(user(request)) % 2}


def read(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / f"{name}.csv")


def journal(folder: Path, question: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / "journal.sqlite")) as database:
        return database.execute(question).fetchall()


# faults


@pytest.mark.slow
def test_a_mix_of_faults_loses_no_vote(tmp_path: Path, serve: Callable[..., Any]) -> None:
    faults = Faults(share=0.3, seed=1, silence=5.0)
    server = serve(by_length, faults=faults)
    found = collect(panel(server, "ann", "bob", timeout=0.5), table(5), "toy", tmp_path / "o", options={"rounds": 10})
    assert set(faults.made) == set(scripted_server.KINDS)
    assert len(faults.made) >= 60
    assert found.total("answered") + found.total("missing") == 200
    assert found.tables["votes"] == found.total("answered") >= 190
    assert found.tables["missing"] == found.total("missing")
    assert found.stopped is None
    # without faults the votes are the same, but for those that are missing
    clean = serve(by_length)
    collect(panel(clean, "ann", "bob"), table(5), "toy", tmp_path / "p", options={"rounds": 10})
    expected = (tmp_path / "p" / "votes.csv").read_text().splitlines()
    assert set((tmp_path / "o" / "votes.csv").read_text().splitlines()) <= set(expected)
    assert len(clean.requests) == 200
    # every request is in the journal, with what went wrong
    errors = {error for (error,) in journal(tmp_path / "o", "select distinct error from requests")}
    shown = " | ".join(str(error) for error in errors)
    for words in ("HTTP 429", "HTTP 500", "no answer within 0.5 s", "connection failed", "no JSON", "is missing"):
        assert words in shown
    assert journal(tmp_path / "o", "select count(*) from requests")[0][0] == found.total("requests")


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("429", "no reply in 2 requests; the last: HTTP 429: slow down"),
        ("500", "no reply in 2 requests; the last: HTTP 500: try later"),
        ("closed", "no reply in 2 requests; the last: connection failed"),
        ("silent", "no reply in 2 requests; the last: no answer within 0.2 s"),
        ("half", "no usable answer in 3 tries; the last: no JSON in the answer: no JSON"),
        ("empty", "no usable answer in 3 tries; the last: no JSON in the answer: empty"),
        ("schema", "no usable answer in 3 tries; the last: answer.winner is missing"),
    ],
)
def test_what_fails_every_time_is_missing_with_its_reason(
    tmp_path: Path, serve: Callable[..., Any], kind: str, reason: str
) -> None:
    server = serve(by_length, faults=Faults(share=1.0, kinds=[kind], silence=3.0))
    found = collect(panel(server, timeout=0.2, tries=2), table(3), "toy", tmp_path / "o")
    rows = read(tmp_path / "o", "missing")
    assert found.tables == {"missing": 3}
    assert list(rows["judge"]) == ["ann"] * 3
    assert list(rows["key"]) == ["compare/i0/i1/0", "compare/i0/i2/0", "compare/i1/i2/0"]
    assert all(text.startswith(reason) for text in rows["reason"])
    # asked again on demand, and answered then
    server.faults = None
    assert collect(panel(server), table(3), "toy", tmp_path / "o").tables == {"missing": 3}
    found = collect(panel(server), table(3), "toy", tmp_path / "o", retry_missing=True)
    assert found.tables == {"votes": 3, "missing": 0}


def test_retry_after_is_honoured_by_all_questions_to_the_server(tmp_path: Path, serve: Callable[..., Any]) -> None:
    import time

    times: list[float] = []

    def script(request: dict[str, Any]) -> Any:
        times.append(time.monotonic())
        return Reply({}, 429, {"Retry-After": "2"}) if len(times) == 1 else by_length(request)

    collect(panel(serve(script), concurrency=1), table(3), "toy", tmp_path / "o")
    assert len(times) == 4
    assert times[1] - times[0] >= 2
    assert times[-1] - times[1] < 2


def test_a_server_that_has_died_stops_the_run(tmp_path: Path, serve: Callable[..., Any]) -> None:
    server = serve(by_length, faults=Faults(share=1.0, kinds=["500"]))
    found = collect(panel(server, tries=1, concurrency=1), table(8), "toy", tmp_path / "o")
    assert found.stopped == "the server of judge 'ann' does not answer (HTTP 500: try later)"
    assert len(server.requests) == 10
    server.faults = None
    found = collect(panel(server), table(8), "toy", tmp_path / "o", retry_missing=True)
    assert (found.tables["votes"], found.stopped) == (28, None)


# forms of requests


def test_a_request_has_the_schema_the_settings_and_a_seed_of_its_own(tmp_path: Path, serve: Callable[..., Any]) -> None:
    server = serve(by_length)
    fields = {"temperature": 0.5, "seed": 3, "max_tokens": 20, "extra": {"reasoning_effort": "low", "top_k": 5}}
    for folder in ("a", "b"):
        collect(panel(server, **fields), table(2), "toy", tmp_path / folder, options={"rounds": 2})
    one, two, *again = server.requests
    assert one["response_format"]["type"] == "json_schema"
    assert one["response_format"]["json_schema"]["schema"]["required"] == ["winner"]
    assert (one["temperature"], one["max_tokens"], one["top_k"], one["reasoning_effort"]) == (0.5, 20, 5, "low")
    assert one["seed"] != two["seed"]
    assert sorted(r["seed"] for r in again) == sorted([one["seed"], two["seed"]])
    assert "logprobs" not in one


def test_the_schema_goes_into_the_text_once_a_server_refuses_it(tmp_path: Path, serve: Callable[..., Any]) -> None:
    def script(request: dict[str, Any]) -> Any:
        if "response_format" in request:
            return Reply({"error": {"message": "response_format is not supported"}}, 400)
        assert '"required": ["winner"]' in user(request)
        return 'Gladly:\n```json\n{"winner": 2}\n```'

    server = serve(script)
    found = collect(panel(server, concurrency=1), table(4), "toy", tmp_path / "o")
    assert found.tables == {"votes": 6, "missing": 0}
    assert ["response_format" in request for request in server.requests] == [True] + [False] * 6


def test_logprobs_are_kept_and_left_out_once_a_server_refuses_them(tmp_path: Path, serve: Callable[..., Any]) -> None:
    listed = [("{", -0.1, [("{", -0.1), ("[", -2.5)]), ("1", -0.7, [("1", -0.7), ("2", -0.8)])]
    server = serve(lambda _: Reply(completion('{"winner": 1}', logprobs=listed)))
    collect(panel(server), table(2), "toy", tmp_path / "o", options={"logprobs": True})
    assert server.requests[0]["logprobs"] is True
    assert list(read(tmp_path / "o", "votes")["logprob"]) == [-0.1]
    (kept,) = journal(tmp_path / "o", "select logprobs from answers")[0]
    assert json.loads(kept)[1] == ["1", [["1", -0.7], ["2", -0.8]]]
    before = (tmp_path / "o" / "votes.csv").read_bytes()
    collect(panel(server), table(2), "toy", tmp_path / "o", options={"logprobs": True})
    assert (tmp_path / "o" / "votes.csv").read_bytes() == before

    refusing = serve(lambda r: Reply({"error": {"message": "no"}}, 400) if "logprobs" in r else by_length(r))
    found = collect(panel(refusing, concurrency=1), table(3), "toy", tmp_path / "p", options={"logprobs": True})
    assert found.tables == {"votes": 3, "missing": 0}
    assert sum("logprobs" in request for request in refusing.requests) == 2  # with and without the schema


def test_an_answer_that_is_refused_for_its_content_is_missing_and_others_are_not(
    tmp_path: Path, serve: Callable[..., Any]
) -> None:
    def script(request: dict[str, Any]) -> Any:
        if "i3" in user(request):
            return Reply({"error": {"message": "too long"}}, 400)
        return by_length(request)

    found = collect(panel(serve(script), concurrency=1), table(4), "toy", tmp_path / "o")
    assert found.tables == {"votes": 3, "missing": 3}
    assert set(read(tmp_path / "o", "missing")["reason"]) == {"refused by the server: HTTP 400: too long"}


def test_text_answers_need_no_schema(tmp_path: Path, serve: Callable[..., Any]) -> None:
    server = serve(lambda _: "<think>Hm, {}</think>\nThe first, by far.\n")
    collect(panel(server), table(2), "toy", tmp_path / "o", options={"free": True})
    assert list(read(tmp_path / "o", "texts")["text"]) == ["The first, by far."]
    assert "response_format" not in server.requests[0]


def test_no_more_requests_are_under_way_than_allowed(tmp_path: Path, serve: Callable[..., Any]) -> None:
    server = serve(lambda r: Reply(completion(json.dumps(by_length(r))), delay=0.02))
    collect(panel(server, "ann", "bob", concurrency=3), table(5), "toy", tmp_path / "o")
    assert 3 <= server.most_at_once <= 6


# what is written


def test_the_tables_do_not_depend_on_the_order_of_the_answers(tmp_path: Path, serve: Callable[..., Any]) -> None:
    slow = serve(lambda r: Reply(completion(json.dumps(by_length(r))), delay=(hash(user(r)) % 7) / 100))
    fast = serve(by_length)
    texts = table(6).assign(text=["a" * n + ', "quoted"\r\nline' for n in range(6)])
    collect(panel(slow, "ann", "bob", concurrency=8), texts, "toy", tmp_path / "slow")
    collect(panel(fast, "ann", "bob", concurrency=1), texts, "toy", tmp_path / "fast")
    assert (tmp_path / "slow" / "votes.csv").read_bytes() == (tmp_path / "fast" / "votes.csv").read_bytes()
    votes = read(tmp_path / "fast", "votes")
    assert list(votes.columns) == ["judge", "first", "second", "winner", "run"]
    assert list(votes["judge"]) == ["ann"] * 15 + ["bob"] * 15


def test_items_come_from_files_and_frames_alike(tmp_path: Path, serve: Callable[..., Any]) -> None:
    import polars as pl

    server = serve(by_length)
    table(3).to_csv(tmp_path / "items.csv", index=False)
    (tmp_path / "items.jsonl").write_text(table(3).to_json(orient="records", lines=True))
    for number, items in enumerate([tmp_path / "items.csv", tmp_path / "items.jsonl", pl.from_pandas(table(3)).lazy()]):
        collect(panel(server), items, "toy", tmp_path / f"o{number}")
    first = (tmp_path / "o0" / "run.json").read_text()
    assert (tmp_path / "o1" / "run.json").read_text() == (tmp_path / "o2" / "run.json").read_text() == first


def test_a_run_works_where_a_loop_is_running(tmp_path: Path, serve: Callable[..., Any]) -> None:
    server = serve(by_length)

    async def notebook() -> Any:
        return collect(panel(server), table(2), "toy", tmp_path / "o")

    assert asyncio.run(notebook()).tables["votes"] == 1


# bounds and resuming


def test_max_calls_stops_cleanly_and_the_run_goes_on_later(tmp_path: Path, serve: Callable[..., Any]) -> None:
    server, whole = serve(by_length), serve(by_length)
    found = collect(panel(server), table(5), "toy", tmp_path / "o", max_calls=4)
    assert found.stopped == "stopped at 4 requests (max_calls)"
    assert (len(server.requests), found.tables) == (4, {"votes": 4, "missing": 6})
    assert set(read(tmp_path / "o", "missing")["reason"]) == {NOT_ASKED}
    before = (tmp_path / "o" / "votes.csv").read_bytes()
    (tmp_path / "o" / "votes.csv").unlink()
    found = collect(panel(server), table(5), "toy", tmp_path / "o", max_calls=0)
    assert found.stopped == "6 questions are not asked yet"
    assert (tmp_path / "o" / "votes.csv").read_bytes() == before
    found = collect(panel(server), table(5), "toy", tmp_path / "o")
    assert (len(server.requests), found.stopped) == (10, None)
    collect(panel(whole), table(5), "toy", tmp_path / "p")
    assert (tmp_path / "o" / "votes.csv").read_bytes() == (tmp_path / "p" / "votes.csv").read_bytes()


def test_max_cost_is_not_passed(tmp_path: Path, serve: Callable[..., Any]) -> None:
    server = serve(by_length)  # 100 tokens read and 10 written cost 0.00012
    prices = {"price_in": 1.0, "price_out": 2.0, "concurrency": 1}
    found = collect(panel(server, **prices), table(5), "toy", tmp_path / "o", max_cost=0.0005)
    assert found.total("cost") == pytest.approx(4 * 0.00012)
    assert found.stopped is not None
    assert "max_cost 0.0005" in found.stopped
    found = collect(panel(server, **prices), table(5), "toy", tmp_path / "o", max_cost=1.0)
    assert found.total("cost") == pytest.approx(10 * 0.00012)
    assert found.judges[0]["tokens_in"] == 1000


def test_an_estimate_asks_nothing(tmp_path: Path, serve: Callable[..., Any]) -> None:
    server = serve(by_length)
    found = estimate(panel(server, price_in=1.0, price_out=1.0), table(5), "toy", options={"rounds": 3}).as_dict()
    assert (found["calls_least"], found["calls_most"]) == (30, 30)
    assert found["cost"] == pytest.approx((found["tokens_in"] + found["tokens_out"]) / 1e6)
    assert found["tokens_out"] == 30 * 9
    assert server.requests == []


def test_a_journal_of_another_setting_is_refused(tmp_path: Path, serve: Callable[..., Any]) -> None:
    server = serve(by_length)
    base = panel(server)
    collect(base, table(), "toy", tmp_path / "o")
    changes: list[tuple[str, Any, Any, dict[str, Any]]] = [
        ("judges", panel(server, temperature=0.9), table(), {}),
        ("judges", panel(server, "ann", "bob"), table(), {}),
        ("items", base, table(5), {}),
        ("options", base, table(), {"options": {"rounds": 2}}),
        ("seed", base | {"seed": 1}, table(), {}),
    ]
    for part, judges, items, settings in changes:
        with pytest.raises(InputError, match=rf"made with another setting \({part}\); go on with the one"):
            collect(judges, items, "toy", tmp_path / "o", **settings)
    # what it costs and how fast it is asked may change
    collect(panel(server, price_in=3.0, concurrency=1, timeout=9.0), table(), "toy", tmp_path / "o")
    assert len(server.requests) == 6


def test_a_changed_prompt_is_another_setting(tmp_path: Path, serve: Callable[..., Any]) -> None:
    server = serve(by_length)
    (tmp_path / "own" / "toy").mkdir(parents=True)
    own = tmp_path / "own" / "toy" / "compare.j2"
    own.write_text("{% block system %}S{% endblock %}{% block user %}{{ first }} or {{ second }}?{% endblock %}")
    collect(panel(server), table(2), "toy", tmp_path / "o", prompts=tmp_path / "own")
    assert user(server.requests[0]) == "text of i0 or text of i1?"
    with pytest.raises(InputError, match=r"another setting \(prompts\)"):
        collect(panel(server), table(2), "toy", tmp_path / "o")


def test_one_run_writes_to_a_folder_at_a_time(
    tmp_path: Path, serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from voirdire.collect.journal import Journal

    server = serve(by_length)
    collect(panel(server), table(3), "toy", tmp_path / "o", max_calls=1)
    other = Journal(tmp_path / "o")
    opened, connect = [], sqlite3.connect

    def noted(*given: Any, **how: Any) -> sqlite3.Connection:
        opened.append(connect(*given, **how))
        return opened[-1]

    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", noted)
        with pytest.raises(InputError, match="another run is writing to it"):
            collect(panel(server), table(3), "toy", tmp_path / "o")
    assert opened
    for one in opened:  # what could not be locked is closed again
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            one.execute("select 1")
    assert collect(panel(server), table(3), "toy", tmp_path / "o", max_calls=0).tables["votes"] == 1
    other.close()
    assert collect(panel(server), table(3), "toy", tmp_path / "o").tables["votes"] == 3


# wrong input


def test_an_unknown_model_stops_the_run_with_one_message(tmp_path: Path, serve: Callable[..., Any]) -> None:
    server = serve(lambda _: Reply({"error": {"message": "The model `ann` does not exist"}}, 404))
    with pytest.raises(InputError, match="HTTP 404: The model `ann` does not exist; check model 'ann'"):
        collect(panel(server, concurrency=1), table(), "toy", tmp_path / "o")
    assert len(server.requests) == 1


def test_an_unreachable_server_is_found_before_the_first_question(tmp_path: Path) -> None:
    judges = [{"name": name, "model": "m", "base_url": "http://127.0.0.1:9/v1"} for name in ("ann", "bob")]
    with pytest.raises(InputError) as caught:
        collect({"judges": judges}, table(), "toy", tmp_path / "o")
    assert len(caught.value.problems) == 2
    assert "judge 'ann': the server at http://127.0.0.1:9/v1 cannot be used: connection failed" in str(caught.value)


def test_a_key_is_sent_and_appears_nowhere_else(
    tmp_path: Path, serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(request: dict[str, Any]) -> Any:
        if "i1" in user(request):
            return Reply({"error": {"message": f"bad {KEY}"}}, 500)
        return f"your key is {KEY}"

    server = serve(script)
    judges = panel(server, tries=2, api_key_env="TEST_KEY")
    monkeypatch.setenv("TEST_KEY", KEY)
    found = collect(judges, table(3), "toy", tmp_path / "o", options={"free": True})
    assert found.tables == {"texts": 1, "missing": 2}
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    for path in (tmp_path / "o").iterdir():
        assert KEY.encode() not in path.read_bytes(), path.name
    assert "your key is [key]" in (tmp_path / "o" / "texts.csv").read_text()

    denying = serve(lambda _: Reply({"error": {"message": f"Incorrect API key provided: {KEY}"}}, 401))
    with pytest.raises(InputError) as caught:
        collect(panel(denying, api_key_env="TEST_KEY"), table(3), "toy", tmp_path / "p")
    assert KEY not in str(caught.value)
    assert "HTTP 401: Incorrect API key provided: [key]; check the key in TEST_KEY" in str(caught.value)
    assert caught.value.__cause__ is None

    monkeypatch.delenv("TEST_KEY")
    with pytest.raises(InputError, match=r"environment variable TEST_KEY .judge 'ann'. is not set"):
        collect(judges, table(3), "toy", tmp_path / "q")


def test_everything_wrong_is_said_at_once(tmp_path: Path) -> None:
    judges = [
        {"name": "ann", "model": "m", "base_url": "127.0.0.1:80", "temprature": 1.0},
        {"name": "ann", "model": "m", "base_url": "http://u:p@h/v1"},
        {"name": "bob", "model": "m", "base_url": "http://h/v1", "api_key": KEY, "concurrency": 0},
        {"name": "cyd", "model": "m"},
        {"name": "dan", "model": "local:gpt"},
        {"name": "eve", "model": "rule:long"},
    ]
    items = pd.DataFrame({"id": ["a", "a", None], "text": ["x", " ", "z"]})
    with pytest.raises(InputError) as caught:
        collect({"judges": judges, "sede": 1}, items, "toys", tmp_path / "o")
    text = "\n".join(caught.value.problems)
    for words in (
        "panel: unknown key 'sede'; did you mean 'seed'?",
        "judge 'ann': unknown key 'temprature'; did you mean 'temperature'?",
        "judge 'ann': base_url is '127.0.0.1:80'; give an address that begins with http://",
        "judge 'ann': base_url holds a key or a query",
        "judge 'bob': a key is written into the file (api_key)",
        "judge 'bob': concurrency is 0; give a whole number of at least 1",
        "judge 'cyd': base_url is missing",
        "items: row 2: text is empty; leave out what has no text",
        "items: row 3: id is empty",
        "items: rows 1 and 2: id 'a' occurs 2 times",
        "protocol 'toys' is unknown; did you mean 'toy'?",
    ):
        assert words in text
    assert KEY not in text
    good = {"judges": [judges[3] | {"base_url": "http://h/v1"}, judges[4], judges[5], judges[4]]}
    with pytest.raises(InputError, match="judge 'dan' occurs 2 times"):
        collect(good, items, "toy", tmp_path / "o")
    good["judges"].pop()
    with pytest.raises(InputError, match=r"(?s)local model 'gpt' is unknown.*rule 'long' is unknown"):
        collect(good, table(), "toy", tmp_path / "o")
    with pytest.raises(InputError, match="there is one item; judging needs at least two"):
        collect({"judges": judges[:1]}, table(1), "toy", tmp_path / "o")
    assert not (tmp_path / "o").exists()


def test_options_are_checked_by_name_and_type(tmp_path: Path, serve: Callable[..., Any]) -> None:
    server = serve(by_length)
    wrong = {"round": "2", "tone": "loud", "names": "3", "share": "much", "free": "1"}
    with pytest.raises(InputError) as caught:
        collect(panel(server), table(), "toy", tmp_path / "o", settings=wrong)
    assert caught.value.problems == (
        "protocol toy: unknown option 'round'; did you mean 'rounds'?",
        "protocol toy: option tone is 'loud'; give one of 'calm', 'stern'",
        "protocol toy: option share is 'much'; give a number",
        "protocol toy: option free is 1; give true or false",
    )
    with pytest.raises(InputError, match="option rounds is below 1"):
        collect(panel(server), table(), "toy", tmp_path / "o", settings={"rounds": "0"})
    (tmp_path / "tone.txt").write_text("stern\n")
    (tmp_path / "panel.toml").write_text(
        f'[[judges]]\nname = "ann"\nmodel = "m"\nbase_url = "{server.url}"\n'
        '[protocol]\ntone = "@tone.txt"\nnames = ["a", "b"]\n'
    )
    collect(tmp_path / "panel.toml", table(), "toy", tmp_path / "o", settings={"share": "1", "names": "x, y"})
    options = json.loads((tmp_path / "o" / "run.json").read_text())["options"]
    assert options == {
        "rounds": 1, "logprobs": False, "tone": "stern", "names": ["x", "y"], "share": 1.0, "free": False,
    }  # fmt: skip


def test_folders_that_cannot_be_written_are_refused(tmp_path: Path, serve: Callable[..., Any]) -> None:
    server = serve(by_length)
    (tmp_path / "file").write_text("x")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("x")
    for name, words in {
        "file": "is a file",
        "other": "holds 'thesis.txt' and no journal",
        "file/o": "cannot be",
    }.items():
        with pytest.raises(InputError, match=words):
            collect(panel(server), table(), "toy", tmp_path / name)
    with pytest.raises(InputError, match="holds no journal of a run"):
        collect(panel(server), table(), "toy", tmp_path / "none", max_calls=0)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "journal.sqlite").write_bytes(b"not a database, but long enough to be read as one" * 9)
    with pytest.raises(InputError, match=r"journal .* cannot be used"):
        collect(panel(server), table(), "toy", tmp_path / "bad")
    if os.geteuid() != 0:
        (tmp_path / "closed").mkdir(mode=0o500)
        with pytest.raises(InputError, match="cannot be written"):
            collect(panel(server), table(), "toy", tmp_path / "closed" / "o")
    assert server.requests == []


# the command


def test_the_command_prints_json_or_tables(
    tmp_path: Path, serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from voirdire.cli import app

    monkeypatch.chdir(tmp_path)
    server = serve(by_length)
    table().to_csv("items.csv", index=False)
    Path("panel.toml").write_text(f'[[judges]]\nname = "[b]ann"\nmodel = "m"\nbase_url = "{server.url}"\n')
    words = ["collect", "panel.toml", "items.csv", "--protocol", "toy", "--set", "rounds=2"]

    def run(*more: str) -> Any:
        return CliRunner().invoke(app, [*words, *more], catch_exceptions=False)

    dry = run("--dry-run", "--json")
    assert (dry.exit_code, dry.stderr) == (0, "")
    assert json.loads(dry.stdout)["calls_most"] == 12
    assert "toy: 12 calls, nothing asked yet" in run("--dry-run").stdout
    assert server.requests == []
    part = run("--out", "o", "--max-calls", "5")
    assert part.exit_code == 0
    assert "5 questions answered" in part.stdout
    assert "[b]ann" in part.stdout
    assert "stopped at 5 requests (max_calls); the same command goes on from here" in part.stderr
    whole = run("--out", "o", "--json")
    found = json.loads(whole.stdout)
    assert (found["answered"], found["requests"], found["stopped"]) == (12, 12, None)
    assert [entry["table"] for entry in found["tables"]] == ["votes", "missing"]
    assert Path(found["tables"][0]["path"]).is_file()
    assert found["judges"][0]["judge"] == "[b]ann"
    for more, message in {
        (): "--out is missing",
        ("--set", "x"): "--set 'x' is not KEY=VALUE",
        ("--out", "o", "--max-calls", "-1"): "max_calls is -1",
        ("--out", "o", "--prompts", "none"): "prompts none: is no folder",
    }.items():
        failed = run(*more)
        assert (failed.exit_code, failed.stdout) == (1, "")
        assert message in failed.stderr
