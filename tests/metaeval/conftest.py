from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest


@pytest.fixture(scope="session")
def topicalchat(shared: Path) -> pd.DataFrame:
    return pd.read_csv(shared / "data" / "topicalchat_scores.csv")


@pytest.fixture(scope="session")
def newsroom(shared: Path) -> pd.DataFrame:
    return pd.read_csv(shared / "data" / "newsroom_scores.csv")
