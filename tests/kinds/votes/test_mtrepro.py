"""Six judges of three families on six models' answers to 80 prompts: own families, and length held fixed."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import voirdire

NAMES = ("qwen", "exaone", "gemma", "llama", "mistral", "phi")


def family(name: str) -> str:
    return next((one for one in NAMES if one in name.lower()), name)


@pytest.mark.slow
@pytest.mark.long
def test_gemma_favours_its_family_and_exaone_cannot_be_said_to(shared: Path) -> None:
    votes = pd.read_csv(shared / "data" / "mtrepro_votes.csv")
    lengths = pd.read_csv(shared / "data" / "mtrepro_lengths.csv")
    found = voirdire.fit(
        votes,
        covariates=lengths,
        families={judge: family(judge) for judge in votes["judge"].unique()},
        item_families={item: family(item) for item in votes["first"].unique()},
    )
    own = found.own_family().set_index("judge")
    assert own.loc["Gemma-4-12B-it", "low"] > 0
    exaone = own.loc["EXAONE-3.5-32B-Instruct-AWQ"]
    assert exaone["low"] < 0 < exaone["high"]
    length = found.covariates().set_index("name").loc["length"]
    assert 0 < length["low"] < length["high"]
    message = found.checks().set_index("check").loc["own-family", "message"]
    assert "Gemma-4-12B-it" in message
    assert "EXAONE" not in message
