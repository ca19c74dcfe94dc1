"""``collect --until`` of judges whose requests go in batches: a round is a batch, the tables are those without."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from batch_server import GONE, BatchServer, Trouble
from scripted_server import user

from voirdire.adaptive import collect_until

ITEMS = pd.DataFrame({"id": [f"i{n}" for n in range(6)], "text": [f"text of i{n}" for n in range(6)]})
TABLES = ("votes.csv", "missing.csv", "rounds.csv", "rounds.svg")


def by_number(request: dict[str, Any]) -> dict[str, str]:
    """The text with the larger number; ann mistakes neighbours."""
    one, other = (int(number) for number in re.findall(r"text of i(\d)", user(request)))
    wrong = request["model"] == "ann" and abs(one - other) == 1
    return {"winner": "Text 1" if (one > other) != wrong else "Text 2"}


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with BatchServer(by_number) as started:
        yield started


def until(server: BatchServer, folder: Path, how: dict[str, bool], **settings: Any) -> Any:
    judges = [{"name": name, "model": name, "base_url": server.url, "batch": batch} for name, batch in how.items()]
    return collect_until(
        {"judges": judges, "backoff": 0.001}, ITEMS, "pairwise", folder, until="p_best >= 0.8",
        model="crowd-bt", options={"repeats": 3}, **settings,
    )  # fmt: skip


@pytest.mark.slow
def test_a_round_is_a_batch_of_each_judge_and_the_tables_are_the_same(tmp_path: Path, server: BatchServer) -> None:
    alone = until(server, tmp_path / "alone", {"ann": False, "bob": False})
    found = until(server, tmp_path / "batches", {"ann": True, "bob": True})
    assert found.course.reached
    assert found.course.known[0].best == "i5"
    for name in TABLES:
        assert (tmp_path / "batches" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()
    rounds = found.course.rounds
    assert len(rounds) > 1
    assert len(server.batches) <= 2 * len(rounds)
    assert len(server.paid) == rounds[-1]["asked"] == alone.course.rounds[-1]["asked"]


@pytest.mark.slow
def test_one_judge_in_batches_beside_one_without(tmp_path: Path, server: BatchServer) -> None:
    until(server, tmp_path / "alone", {"ann": False, "bob": False})
    before = len(server.requests)
    found = until(server, tmp_path / "mixed", {"ann": False, "bob": True})
    for name in TABLES:
        assert (tmp_path / "mixed" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()
    assert {request["model"] for request in server.paid} == {"bob"}
    assert len(server.paid) + len(server.requests) - before == found.course.rounds[-1]["asked"]


@pytest.mark.slow
def test_it_goes_on_from_a_bound_and_from_a_server_that_was_away(tmp_path: Path, server: BatchServer) -> None:
    how = {"ann": True, "bob": True}
    whole = until(server, tmp_path / "whole", how)
    server.paid.clear()
    stopped = until(server, tmp_path / "again", how, max_calls=12)
    assert stopped.collected.stopped is not None
    assert not stopped.course.reached
    assert "not known yet" in stopped.verdict
    assert 0 < len(server.paid) <= 12
    server.trouble = Trouble(before=dict.fromkeys(range(1, 10_000), GONE))
    away = until(server, tmp_path / "again", how)
    assert away.collected.stopped is not None
    server.trouble = Trouble()
    until(server, tmp_path / "again", how)
    for name in TABLES:
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert len(server.paid) == whole.course.rounds[-1]["asked"]  # each once
