"""Batches: the same tables as without, waves, prices, what goes wrong in them, on the way to them and after them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from batch_server import GONE, BatchServer, Trouble
from scripted_server import Faults, Reply, completion, user

from voirdire.collect import batch, collect, estimate
from voirdire.errors import InputError

pytestmark = pytest.mark.usefixtures("toy_protocol")
ITEMS = pd.DataFrame({"id": [f"i{n}" for n in range(4)], "text": [f"text of i{n}" for n in range(4)]})
#: Questions of one round to one judge.
PAIRS = 6


@pytest.fixture
def start() -> Iterator[Callable[..., BatchServer]]:
    servers: list[BatchServer] = []

    def begin(script: Callable[..., Any], **settings: Any) -> BatchServer:
        servers.append(BatchServer(script, **settings))
        servers[-1].__enter__()
        return servers[-1]

    yield begin
    for server in servers:
        server.__exit__()


def panel(server: BatchServer, *names: str, tries: int = 6, **fields: Any) -> dict[str, Any]:
    judges = [
        {"name": name, "model": name, "base_url": server.url, "batch": True} | fields for name in names or ("ann",)
    ]
    return {"judges": judges, "backoff": 0.001, "request_tries": tries}


def by_length(request: dict[str, Any]) -> dict[str, int]:
    return {"winner": 1 + len(user(request) + request["model"]) % 2}


def rows(folder: Path, question: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / "journal.sqlite")) as database:
        return database.execute(question).fetchall()


def same_tables(one: Path, other: Path) -> None:
    names = sorted(path.name for path in one.glob("*.csv"))
    assert names == sorted(path.name for path in other.glob("*.csv"))
    for name in names:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def test_one_batch_a_judge_the_same_tables_half_the_price(tmp_path: Path, start: Callable[..., BatchServer]) -> None:
    server = start(by_length, seconds=0.1)
    prices = {"price_in": 2.0, "price_out": 10.0, "seed": 3}
    found = collect(panel(server, "ann", "bob", **prices), ITEMS, "toy", tmp_path / "b", options={"rounds": 3})
    alone = collect(
        panel(server, "ann", "bob", **prices, batch=False), ITEMS, "toy", tmp_path / "d", options={"rounds": 3}
    )
    # both are sent at once, so either may arrive first
    assert sorted(one["requests"][0]["model"] for one in server.batches) == ["ann", "bob"]
    assert len(server.paid) == len(server.requests) == 2 * 3 * PAIRS
    same_tables(tmp_path / "b", tmp_path / "d")
    # the same bodies were sent, with the same seeds
    assert sorted(map(json.dumps, server.paid)) == sorted(map(json.dumps, server.requests))
    assert found.total("cost") == pytest.approx(alone.total("cost") / 2)
    assert found.total("cost") == pytest.approx(36 * (100 * 2.0 + 10 * 10.0) / 1e6 / 2)
    assert [one["metadata"]["voirdire"] for one in server.batches] == [
        name for (name,) in rows(tmp_path / "b", "select name from batches order by batch")
    ]
    assert rows(tmp_path / "b", "select * from batched") == []


def test_the_estimate_halves(start: Callable[..., BatchServer]) -> None:
    server = start(by_length)
    prices = {"price_in": 2.0, "price_out": 10.0}
    half = estimate(panel(server, **prices), ITEMS, "toy").as_dict()
    whole = estimate(panel(server, **prices, batch=False), ITEMS, "toy").as_dict()
    assert half["tokens_in"] == whole["tokens_in"]
    assert half["cost"] == pytest.approx(whole["cost"] / 2)
    assert (half["judges"][0]["batch"], whole["judges"][0]["batch"]) == (True, False)


def test_what_depends_on_answers_goes_in_waves(tmp_path: Path, start: Callable[..., BatchServer]) -> None:
    def script(request: dict[str, Any]) -> Any:
        fields = (
            request["response_format"]["json_schema"]["schema"]["properties"] if ("response_format" in request) else {}
        )
        length = len(user(request))
        return {name: _any(field, length) for name, field in fields.items()} if fields else f"Text {length}."

    server = start(script)
    texts = pd.DataFrame({"id": ["a", "b", "c"], "text": ["one", "two two", "three three"], "source": ["s", "t", "u"]})
    options = {"rubric": "Be clear."}
    for name, how in (("b", True), ("d", False)):
        collect(panel(server, "ann", "bob", batch=how), texts, "maple", tmp_path / name, options=options)
    same_tables(tmp_path / "b", tmp_path / "d")
    assert len(server.paid) == len(server.requests)
    waves = [one["requests"][0]["model"] for one in server.batches]
    assert 2 < len(waves) <= 6, waves  # criteria first, then what is judged by them


def _any(field: dict[str, Any], length: int) -> Any:
    if "enum" in field:
        return field["enum"][length % len(field["enum"])]
    if field.get("type") == "array":
        inner = field["items"]
        count = max(2, field.get("minItems", 2))
        return [_any(inner | {"number": n}, length + n) for n in range(count)]
    if field.get("type") == "object":
        return {name: _any(inner, length) for name, inner in field["properties"].items()}
    if field.get("type") in ("integer", "number"):
        return field.get("minimum", 1)
    return f"word {length}"


def test_faults_of_single_requests_are_asked_again_in_the_next_batch(
    tmp_path: Path, start: Callable[..., BatchServer]
) -> None:
    faults = Faults(share=0.3, seed=2, kinds=("429", "500", "half", "empty", "schema"))
    server = start(by_length, faults=faults)
    found = collect(panel(server, tries=9), ITEMS, "toy", tmp_path / "b", options={"rounds": 5})
    clean = start(by_length)
    collect(panel(clean, batch=False), ITEMS, "toy", tmp_path / "d", options={"rounds": 5})
    assert set(faults.made) == set(faults.kinds)
    assert found.total("missing") == 0
    same_tables(tmp_path / "b", tmp_path / "d")
    assert found.total("requests") == 5 * PAIRS + len(faults.made)
    assert len(server.batches[0]["requests"]) == 5 * PAIRS
    assert len(server.batches) <= 5
    errors = " ".join(str(error) for (error,) in rows(tmp_path / "b", "select error from requests"))
    assert "HTTP 429: slow down" in errors
    assert "no JSON" in errors


def test_a_refused_schema_is_asked_for_in_the_text(tmp_path: Path, start: Callable[..., BatchServer]) -> None:
    def script(request: dict[str, Any]) -> Any:
        if "response_format" in request:
            return Reply({"error": {"message": "no response_format here"}}, 400)
        return by_length(request)

    server = start(script)
    found = collect(panel(server), ITEMS, "toy", tmp_path / "b")
    assert found.tables == {"votes": PAIRS, "missing": 0} or found.tables == {"votes": PAIRS}
    assert len(server.batches) == 2
    assert len(server.paid) == PAIRS


@pytest.mark.parametrize("how", ["expired", "failed", "failed other"])
def test_what_an_expired_or_failed_batch_leaves_is_asked_again(
    tmp_path: Path, start: Callable[..., BatchServer], how: str
) -> None:
    server = start(by_length)
    server.trouble = Trouble(ends=[how])
    found = collect(panel(server), ITEMS, "toy", tmp_path / "b")
    collect(panel(server, batch=False), ITEMS, "toy", tmp_path / "d")
    same_tables(tmp_path / "b", tmp_path / "d")
    assert [len(one["requests"]) for one in server.batches] == [6, 4 if how == "expired" else 6]
    assert len(server.paid) == PAIRS
    assert found.total("requests") == sum(len(one["requests"]) for one in server.batches)


def test_batches_that_fail_every_time_leave_questions_missing(
    tmp_path: Path, start: Callable[..., BatchServer]
) -> None:
    server = start(by_length)
    server.trouble = Trouble(ends=["failed"] * 9)
    found = collect(panel(server, tries=2), ITEMS, "toy", tmp_path / "b")
    assert found.tables == {"missing": PAIRS}
    assert len(server.batches) == 2
    reasons = set(pd.read_csv(tmp_path / "b" / "missing.csv")["reason"])
    assert reasons == {"no reply in 2 requests; the last: token_limit_exceeded: not now"}
    server.trouble = Trouble()
    again = collect(panel(server), ITEMS, "toy", tmp_path / "b", retry_missing=True)
    assert again.tables["votes"] == PAIRS
    assert len(server.paid) == PAIRS


def test_an_unknown_model_ends_the_run(tmp_path: Path, start: Callable[..., BatchServer]) -> None:
    server = start(by_length)
    server.trouble = Trouble(ends=["failed model_not_found"])
    with pytest.raises(InputError, match="model_not_found: not now; check model 'ann'"):
        collect(panel(server), ITEMS, "toy", tmp_path / "b")
    assert len(server.batches) == 1


def test_a_batch_cancelled_by_hand_stops_the_run_and_the_rest_is_asked_by_the_next(
    tmp_path: Path, start: Callable[..., BatchServer]
) -> None:
    server = start(by_length)
    server.trouble = Trouble(ends=["cancelled"])
    found = collect(panel(server), ITEMS, "toy", tmp_path / "b")
    assert found.stopped == "batch batch_1 of judge 'ann' was cancelled at its server"
    assert found.tables == {"votes": 2, "missing": 4}
    assert len(server.batches) == 1
    found = collect(panel(server), ITEMS, "toy", tmp_path / "b")
    assert found.stopped is None
    assert found.tables["votes"] == PAIRS
    assert len(server.paid) == PAIRS


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("what", [GONE, Reply({"error": {"message": "busy"}}, 503), Reply(b"no json")])
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_every_call_may_fail_once(
    tmp_path: Path, start: Callable[..., BatchServer], number: int, when: str, what: Reply
) -> None:
    server = start(by_length)
    server.trouble = Trouble(**{when: {number: what}})
    found = collect(panel(server), ITEMS, "toy", tmp_path / "b")
    assert found.total("answered") == PAIRS
    assert len(server.paid) == PAIRS, server.calls
    assert found.total("requests") == PAIRS


def test_a_server_without_batches_is_said_to_have_none(
    tmp_path: Path, serve: Callable[..., Any], start: Callable[..., BatchServer]
) -> None:
    plain = serve(by_length)
    with pytest.raises(InputError, match=r"no batch can be begun \(HTTP 404.*remove batch = true"):
        collect(panel(plain), ITEMS, "toy", tmp_path / "b")
    assert plain.requests == []
    # without a list nobody can tell whether a batch was begun whose answer was lost
    server = start(by_length)
    server.trouble = Trouble(after={2: GONE}, lists=False)
    with pytest.raises(InputError, match="it is unknown whether a batch was created"):
        collect(panel(server), ITEMS, "toy", tmp_path / "c")
    assert len(server.batches) == 1


def test_answers_that_are_gone_are_missing(tmp_path: Path, start: Callable[..., BatchServer]) -> None:
    server = start(by_length)
    server.trouble = Trouble(before={4: Reply({"error": {"message": "no such file"}}, 404)})
    found = collect(panel(server), ITEMS, "toy", tmp_path / "b")
    assert found.tables == {"missing": PAIRS}
    assert "its batch batch_1 cannot be fetched (HTTP 404" in (tmp_path / "b" / "missing.csv").read_text()
    assert len(server.batches) == 1


def test_a_bound_is_kept_and_what_is_within_it_is_waited_for(tmp_path: Path, start: Callable[..., BatchServer]) -> None:
    server = start(by_length)
    found = collect(panel(server), ITEMS, "toy", tmp_path / "b", max_calls=4)
    assert found.stopped == "stopped at 4 requests (max_calls)"
    assert found.tables["votes"] == 4
    found = collect(panel(server), ITEMS, "toy", tmp_path / "b")
    assert (found.tables["votes"], len(server.paid)) == (PAIRS, PAIRS)
    assert [len(one["requests"]) for one in server.batches] == [4, 2]


def test_large_queues_are_cut(
    tmp_path: Path, start: Callable[..., BatchServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "_MAX_REQUESTS", 4)
    server = start(by_length)
    collect(panel(server), ITEMS, "toy", tmp_path / "b", options={"rounds": 3})
    assert sorted(len(one["requests"]) for one in server.batches) == [2, 4, 4, 4, 4]
    monkeypatch.setattr(batch, "_MAX_FILE_BYTES", 2500)
    collect(panel(server), ITEMS, "toy", tmp_path / "c")
    assert all(len(server.files[one["input_file_id"]]) <= 2500 for one in server.batches[5:])
    assert len(server.paid) == 4 * PAIRS


def test_a_run_left_in_the_midst_is_gone_on_with_also_without_batches(
    tmp_path: Path, start: Callable[..., BatchServer]
) -> None:
    server = start(by_length)
    server.trouble = Trouble(before={3: Reply({"error": {"message": "busy"}}, 503)})
    found = collect(panel(server, tries=1), ITEMS, "toy", tmp_path / "b")
    assert found.stopped is not None
    assert "batch batch_1 cannot be fetched (HTTP 503: busy)" in found.stopped
    assert rows(tmp_path / "b", "select count(*) from batched") == [(PAIRS,)]
    whole = collect(panel(server, batch=False), ITEMS, "toy", tmp_path / "b")
    assert whole.tables["votes"] == PAIRS
    assert (len(server.batches), len(server.paid), server.requests) == (1, PAIRS, [])


def test_no_key_of_an_answer_is_kept(
    tmp_path: Path, start: Callable[..., BatchServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-secret-0123456789"
    monkeypatch.setenv("LAB_KEY", key)
    server = start(lambda _: Reply(completion(f'{{"winner": 1}} {key}')))
    collect(panel(server, api_key_env="LAB_KEY"), ITEMS, "toy", tmp_path / "b", options={"free": True})
    held = b"".join(path.read_bytes() for path in (tmp_path / "b").iterdir())
    assert key.encode() not in held


def test_batch_has_no_meaning_for_rules() -> None:
    with pytest.raises(InputError, match="batch has no meaning for rule:longer; remove it"):
        estimate({"judges": [{"name": "a", "model": "rule:longer", "batch": True}]}, ITEMS, "toy")
    with pytest.raises(InputError, match="batch is 1; give true or false"):
        estimate({"judges": [{"name": "a", "model": "m", "base_url": "http://h/v1", "batch": 1}]}, ITEMS, "toy")


def test_lines_that_are_no_answers_are_fetched_again_before_they_are_given_up(
    tmp_path: Path, start: Callable[..., BatchServer]
) -> None:
    server = start(by_length)
    server.trouble = Trouble(cut=2)
    collect(panel(server), ITEMS, "toy", tmp_path / "b")
    assert len(server.paid) == PAIRS  # whole at the third fetch
    server.trouble = Trouble(cut=99)
    found = collect(panel(server), ITEMS, "toy", tmp_path / "c")
    assert found.tables["votes"] == PAIRS  # what is lost for good is asked again
    assert [len(one["requests"]) for one in server.batches] == [PAIRS, PAIRS, 1]
