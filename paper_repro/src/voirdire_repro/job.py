"""Job of one run: its data, judges and folder, and the collection of answers."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.settings import read_toml
from voirdire_repro.claims import System
from voirdire_repro.smoke import small_options, small_panel

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Job:
    """Run of a system.

    Attributes
    ----------
    system : System
    spec : mapping
        Content of ``run.toml``.
    panel : Path
        File of the judges.
    folder : Path
        Folder of all results.
    items, human : DataFrame
        Items to judge, and people's scores.
    smoke : bool
        True for a smoke test: small options, and very small models as judges.
    asked : list
        Result of each call of the collector.
    made : dict
        For a smoke test, folders of collected answers by request, since small parts may be identical.
    """

    system: System
    spec: Mapping[str, Any]
    panel: Path
    folder: Path
    items: pd.DataFrame
    human: pd.DataFrame
    smoke: bool = False
    asked: list[dict[str, Any]] = field(default_factory=list)
    made: dict[str, Path] = field(default_factory=dict)

    def collect_tables(
        self, protocol: str, options: Mapping[str, Any], place: Path, items: pd.DataFrame, repeat: int = 0
    ) -> Path:
        """Run a protocol on items and return the folder of its tables; each ``repeat`` has its own seed.

        Raises
        ------
        InputError
            The collector refuses the request, or was stopped.
        """
        from voirdire.collect.run import collect

        panel: dict[str, Any] = read_toml(self.panel, "panel")
        panel["seed"] = panel.get("seed", 0) + repeat
        if self.smoke:
            panel = small_panel(panel)
            options = small_options(protocol, options, [judge["name"] for judge in panel["judges"]])
        folder = self.folder / "collected" / place
        for asked in (self.items, items):
            same = json.dumps([protocol, options, repeat, list(asked["id"])], sort_keys=True)
            if self.smoke and same in self.made:
                return self.made[same]
        collection = collect(panel, items, protocol, folder, options=options)
        self.asked.append({"place": str(place), "requests": collection.total("requests"), **collection.tables})
        print(f"{place}: {collection.tables}", file=sys.stderr)
        if collection.stopped:
            raise InputError(f"{place}: stopped, {collection.stopped}; the same command goes on")
        self.made[same] = folder
        return folder
