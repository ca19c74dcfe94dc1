"""A cold `voirdire fit --method map` on LLMFAO against merely importing PyMC, in the same environment."""

from __future__ import annotations

import sys
from pathlib import Path

from common import interleaved, median, shared, show

TABLE = str(shared("llmfao_votes.csv"))
COMMAND = str(Path(sys.executable).with_name("voirdire"))
OURS = [COMMAND, "fit", TABLE, "--model", "crowd-bt-position", "--method", "map", "--json"]
PEER = [sys.executable, "-W", "ignore", "-c", "import pymc"]

times = interleaved({"ours": OURS, "peer": PEER}, runs=7)
ratios = [a / b for a, b in zip(times["ours"], times["peer"], strict=True)]
row = {
    "work": "crowd-bt-position, 13,209 votes, whole process",
    "voirdire fit, s": median(times["ours"]),
    "import pymc, s": median(times["peer"]),
    "ratio (median of pairs)": median(ratios),
    "range of ratios": f"{min(ratios):.2f}-{max(ratios):.2f}",
}
show(
    "Cold start (LLMFAO votes)",
    [row],
    ["No compilation cache on disk; 7 interleaved pairs after a warm-up of each."],
)
