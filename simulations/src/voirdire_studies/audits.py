"""Studies of audits: detection of planted biases, and false alarms for clean judges."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire_studies.audit_panels import CLEAN, TABLES
from voirdire_studies.coverage import share_row
from voirdire_studies.study import Study

Unit = tuple[str, str, int]  # table, what is planted, replicate

#: Measure that detects a bias, where its name differs.
MEASURES = {"own": "own family", "copies": "independence", "slide": "drift", "slide up": "drift"}


def units(study: Study) -> list[Unit]:
    """List units of work, one audit each, ordered by replicate."""
    return [
        (table, planted, replicate)
        for replicate in range(study.replicates)
        for table in study.settings["tables"]
        for planted in TABLES[table][1]
    ]


def run(study: Study, unit: Unit) -> list[dict[str, Any]]:
    """Audit a table; return one row with the findings for the biased judge and for the clean ones."""
    from voirdire.decide.audit import audit

    table, planted, replicate = unit
    make, plants = TABLES[table]
    rng = np.random.default_rng([study.seed, replicate, list(TABLES).index(table), plants.index(planted)])
    panel = make(planted, rng)
    cards = audit(
        panel.table,
        families=panel.judges if panel.items else None,
        item_families=panel.items or None,
        positive="pass" if table == "labels" else None,
    )["judges"]
    findings = {card["judge"]: [row["measure"] for row in card["measures"] if row["found"]] for card in cards}
    is_odd = [] if planted == CLEAN else ["j0", "j1"] if planted == "copies" else ["j0"]
    clean = [measures for judge, measures in findings.items() if judge not in is_odd]
    return [
        {
            "table": table,
            "planted": planted,
            "replicate": replicate,
            "found": any(MEASURES.get(planted, planted) in findings[judge] for judge in is_odd),
            "also": " ".join(sorted({measure.replace(" ", "-") for judge in is_odd for measure in findings[judge]})),
            "clean": len(clean),
            "silent": sum(not measures for measures in clean),
            "alarms": " ".join(measure.replace(" ", "-") for measures in clean for measure in measures),
        }
    ]


def aggregate(study: Study, replicates: Any) -> Any:
    """Compute per table and planted bias the share detected and the share of clean judges without alarm."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for (table, planted), part in replicates.groupby(["table", "planted"], sort=False):
        key = {"table": table, "planted": planted}
        if planted != CLEAN:
            rows.append(share_row(key, "found", part["found"].astype(float), pd.Series(1.0, part.index)))
        rows.append(share_row(key, "clean judges silent", part["silent"], part["clean"]))
    return pd.DataFrame(rows)
