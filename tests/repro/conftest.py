from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from voirdire.datasets.registry import REGISTRY
from voirdire_repro.checks import public


def forget() -> None:
    for one in (public._loaded_table, public._computed_table, public._loaded_texts, public._criterion_correlations):
        one.cache_clear()


@pytest.fixture
def fresh() -> Iterator[None]:
    """Nothing of other tests' data is remembered, nor that it could not be fetched."""
    forget()
    yield
    forget()


@pytest.fixture
def public_data(fresh: None, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that holds the upstream file of the Topical-Chat scores."""
    monkeypatch.setenv("VOIRDIRE_CACHE", str(tmp_path))
    (file,) = REGISTRY["topical-chat-unieval"].files
    (tmp_path / "topical-chat-unieval").mkdir()
    copy = shared / "upstream" / "unieval-topical_chat_result.json"
    shutil.copyfile(copy, tmp_path / "topical-chat-unieval" / file.filename)
    return tmp_path


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A small system of claims without fault."""
    folder = tmp_path / "own"
    (folder / "tables").mkdir(parents=True)
    (folder / "tables" / "tables.toml").write_text('[table1]\ncaption = "Three judges."\n')
    (folder / "tables" / "table1.csv").write_text("judge,value\na,1.0\nb,2.0\naverage,1.5\n")
    (folder / "claims.toml").write_text(
        'system = "own"\npaper = "Own"\ntitle = "A title"\n\n'
        '[[claims]]\nid = "mean"\nwhere = "Table 1"\nsays = "A mean."\nkind = "rederive"\n'
        'cells = { table = "table1", judge = "average" }\ncheck = { kind = "mean", over = "judge" }\n'
        'tolerance = 0.05\nbecause = "Rounded."\n\n'
        '[[claims]]\nid = "rest"\nwhere = "Table 1"\nsays = "The judges."\nkind = "needs-llm"\n'
        'cells = { table = "table1", rest = true }\ntolerance = 0.1\nbecause = "Sampled."\nrun = "small"\n'
    )
    return folder
