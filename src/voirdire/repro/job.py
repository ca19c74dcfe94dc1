"""What one run works on, and how it asks."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.repro.claims import System

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Job:
    """A run of a system: its ``run.toml`` as ``spec``, the panel's file, the folder, items and people's scores."""

    system: System
    spec: Mapping[str, Any]
    panel: Path
    folder: Path
    items: pd.DataFrame
    human: pd.DataFrame

    def collect(self, protocol: str, options: Mapping[str, Any], place: Path, items: pd.DataFrame) -> Path:
        """Run a protocol on items and return the folder of its tables.

        Raises
        ------
        InputError
            What the collector refuses, or that it was stopped.
        """
        from voirdire.collect.run import collect

        folder = self.folder / "collected" / place
        found = collect(self.panel, items, protocol, folder, options=options)
        print(f"{place}: {found.tables}", file=sys.stderr)
        if found.stopped:
            raise InputError(f"{place}: stopped, {found.stopped}; the same command goes on")
        return folder
