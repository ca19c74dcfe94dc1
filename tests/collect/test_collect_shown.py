"""Prompts can be read: as sent, as they would be sent, as templates."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scripted_server import user  # type: ignore[import-not-found]
from typer.testing import CliRunner

from voirdire import InputError
from voirdire.cli import app
from voirdire.collect import collect
from voirdire.collect.dry_run import prompts_planned, prompts_sent, protocol_templates

pytestmark = pytest.mark.usefixtures("toy_protocol")
ITEMS = pd.DataFrame({"id": ["a", "b", "c"], "text": ["one", "two\x1b[31m", "three"]})


def panel(server: Any) -> dict[str, Any]:
    return {"judges": [{"name": "ann", "model": "m", "base_url": server.url}]}


def test_a_run_keeps_what_it_sent_compressed(tmp_path: Path, serve: Callable[..., Any]) -> None:
    server = serve(lambda _: {"winner": 1})
    first = {one.key: one for one in prompts_planned(panel(server), ITEMS, "toy", each=9)}
    assert server.requests == []
    collect(panel(server), ITEMS, "toy", tmp_path / "run")
    sent = list(prompts_sent(tmp_path / "run"))
    assert sorted(one.user for one in sent) == sorted(map(user, server.requests))
    assert {one.key: (one.system, one.user) for one in sent} == {
        key: (one.system, one.user) for key, one in first.items()
    }
    assert all(json.loads(one.answer or "") == {"winner": 1} for one in sent)
    with closing(sqlite3.connect(tmp_path / "run" / "journal.sqlite")) as database:
        packed = [row[0] for row in database.execute("select prompt from prompts")]
    assert all(isinstance(one, bytes) and b"three" not in one for one in packed)
    done = CliRunner().invoke(app, ["prompts", str(tmp_path / "run"), "--limit", "3"])
    assert done.exit_code == 0, done.output
    assert done.stdout.count("== ann") == 3
    assert "\x1b" not in done.stdout
    done = CliRunner().invoke(app, ["prompts", str(tmp_path / "run"), "--limit", "2", "--json"])
    assert len(json.loads(done.stdout)["prompts"]) == 2


def test_a_journal_of_an_older_version_goes_on(tmp_path: Path, serve: Callable[..., Any]) -> None:
    server = serve(lambda _: {"winner": 1})
    collect(panel(server), ITEMS, "toy", tmp_path / "run", max_calls=1)
    with closing(sqlite3.connect(tmp_path / "run" / "journal.sqlite")) as database:
        for name in ("prompts", "batches", "batched"):
            database.execute(f"drop table {name}")
        database.commit()
    with pytest.raises(InputError, match="keeps no prompts"):
        prompts_sent(tmp_path / "run")
    found = collect(panel(server), ITEMS, "toy", tmp_path / "run")
    assert found.tables["votes"] == 3
    assert len(list(prompts_sent(tmp_path / "run"))) == 2


def test_a_damaged_prompt_is_told(tmp_path: Path, serve: Callable[..., Any]) -> None:
    collect(panel(serve(lambda _: {"winner": 1})), ITEMS, "toy", tmp_path / "run")
    with closing(sqlite3.connect(tmp_path / "run" / "journal.sqlite")) as database:
        database.execute("update prompts set prompt = x'00'")
        database.commit()
    with pytest.raises(InputError, match="is damaged"):
        prompts_sent(tmp_path / "run")


def test_templates_are_shown_as_they_are(tmp_path: Path) -> None:
    assert "{% block user %}" in protocol_templates("g-eval")["g-eval/score"]
    done = CliRunner().invoke(app, ["prompts", "g-eval"])
    assert done.exit_code == 0
    assert "== g-eval/steps" in done.stdout
    done = CliRunner().invoke(app, ["prompts", "g-evil"])
    assert done.exit_code == 1
    assert "did you mean 'g-eval'?" in done.stderr
    with pytest.raises(InputError, match="give the folder of a run"):
        prompts_sent(tmp_path)
