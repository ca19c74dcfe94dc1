from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from voirdire.agreement.coefficients.match import ratings_by_criterion
from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.tables import read_table


def value(statistic: Any) -> float:
    """The statistic on the data as they are."""
    fixed = statistic.fixed() if hasattr(statistic, "fixed") else statistic
    return float(fixed.values(np.ones((1, len(fixed.support))))[0])


@pytest.fixture(scope="session")
def point() -> Any:
    return value


@pytest.fixture(scope="session")
def newsroom(shared: Path) -> pd.DataFrame:
    return pd.read_csv(shared / "data" / "newsroom_scores.csv")


@pytest.fixture(scope="session")
def dices(shared: Path) -> pd.DataFrame:
    return pd.read_csv(shared / "data" / "dices350_labels.csv")


@pytest.fixture(scope="session")
def topicalchat(shared: Path) -> pd.DataFrame:
    return pd.read_csv(shared / "data" / "topicalchat_scores.csv")


@pytest.fixture(scope="session")
def llmfao(shared: Path) -> pd.DataFrame:
    return pd.read_csv(shared / "data" / "llmfao_votes.csv")


@pytest.fixture(scope="session")
def tables(shared: Path) -> dict[str, Ratings]:
    """Ratings of the published tables by name: 'newsroom coherence', 'dices350', 'llmfao', ..."""
    found: dict[str, Ratings] = {}
    for name, file in (
        ("newsroom", "newsroom_scores"),
        ("topicalchat", "topicalchat_scores"),
        ("dices350", "dices350_labels"),
    ):
        for ratings in ratings_by_criterion(read_table(shared / "data" / f"{file}.csv")):
            found[name if ratings.criterion is None else f"{name} {ratings.criterion}"] = ratings
    found["llmfao"] = ratings_by_criterion(read_table(shared / "data" / "llmfao_votes.csv"), orientation="name")[0]
    return found


@pytest.fixture(scope="session")
def reference(project: Path) -> dict[str, dict[str, Any]]:
    """What other software gave, by table and coefficient."""
    folder = project / "tests" / "reference"
    return {
        name: json.loads((folder / f"{name}.json").read_text()) for name in ("agree_irrcac_pingouin", "agree_psych")
    }
