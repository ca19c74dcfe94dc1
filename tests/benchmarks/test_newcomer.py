"""The tasks of a new user: the pages hold their commands, and what goes wrong is an error."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def newcomer(project: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(project / "benchmarks"))
    return importlib.import_module("newcomer")


def test_the_pages_hold_the_commands_of_nine_tasks_and_the_files_that_these_name(newcomer: ModuleType) -> None:
    assert len(newcomer.TASKS) == 9
    for task in newcomer.TASKS:
        assert len(task.commands) <= newcomer.MAX_COMMANDS
        words = [word for page, beginning in task.commands for word in newcomer.command(page, beginning).split()]
        assert set(task.files) <= set(words), task.aim


def test_a_page_without_its_command_is_an_error(newcomer: ModuleType) -> None:
    with pytest.raises(SystemExit, match=r"docs/boards\.md has no command 'voirdire boards'"):
        newcomer.command("boards.md", "voirdire boards")


@pytest.mark.slow
def test_what_a_command_prints_is_counted(newcomer: ModuleType, tmp_path: Path) -> None:
    task = replace(newcomer.TASKS[0], commands=(("audit.md", "voirdire audit votes.csv"),))
    row = newcomer.run(task, tmp_path)
    assert row["commands"] == "`voirdire audit votes.csv --out card.html`"
    assert (tmp_path / "card.html").is_file()
    assert row["sentences"] > 5
    assert row["lines"] > 20


@pytest.mark.slow
def test_a_command_that_fails_and_a_third_one_are_errors(newcomer: ModuleType, tmp_path: Path) -> None:
    task = newcomer.TASKS[0]
    with pytest.raises(SystemExit, match="3 commands, more than 2"):
        newcomer.run(replace(task, commands=task.commands * 3), tmp_path / "a")
    with pytest.raises(SystemExit, match=r"leaderboard of votes: .* exits with 1:\n.*votes\.csv"):
        newcomer.run(replace(task, files={}), tmp_path)
