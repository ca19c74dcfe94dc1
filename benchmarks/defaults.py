"""Default fits of published tables, whole processes, in CPU seconds beside those of merely importing PyMC."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

from common import median, shared, show

TABLES = (
    "llmfao_votes.csv",
    "mtrepro_votes.csv",
    "writers_votes.csv",
    "newsroom_scores.csv",
    "topicalchat_scores.csv",
    "llmjudge_dev_labels.csv",
)
VOIRDIRE = str(Path(sys.executable).with_name("voirdire"))
IMPORT = [sys.executable, "-W", "ignore", "-c", "import pymc"]


def cpu_seconds(command: list[str]) -> tuple[float, str]:
    """CPU seconds of a whole process, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime), done.stdout


rows = []
imports = [cpu_seconds(IMPORT)[0] for _ in range(4)][1:]
for file in TABLES:
    took, printed = cpu_seconds([VOIRDIRE, "fit", str(shared(file)), "--json"])
    imports.append(cpu_seconds(IMPORT)[0])
    found = json.loads(printed)
    checks = {check["check"]: check for check in found["checks"]}
    warned = [name for name in ("convergence", "approximation") if checks.get(name, {}).get("level") == "warn"]
    rows.append(
        {
            "table": file,
            "model": found["model"],
            "method": found["method"],
            "CPU s": took,
            "beside import pymc": took / median(imports),
            "R-hat, ESS or mode": checks["convergence"]["message"].partition(":")[0][:100],
            "warned of": ", ".join(warned) or "-",
        }
    )
show(
    "Default fits of published tables (tables of VOIRDIRE_SHARED)",
    rows,
    [
        f"`voirdire fit FILE --json`, one run each; import pymc took {median(imports):.1f} CPU s (median of turns).",
        "Chains go on until R-hat is at most 1.01 and the smallest ESS at least 400, or for about 30 s.",
    ],
)
