"""Default fits beside mixed models of R with crossed effects: lme4's glmer for votes, ordinal's clmm for scores.

Needs ``Rscript`` with lme4 and ordinal (Debian: r-cran-lme4, r-cran-ordinal). Of simulated votes in the layout of real
ones also how often 90% intervals hold the strengths of items.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from common import shared, show

TABLES = 5  # of each truth
GLMER = """
suppressPackageStartupMessages({library(lme4); library(Matrix)})
rows <- read.csv("table.csv", colClasses = "character")
rows$y <- as.integer(rows$winner == "first")
sided <- function(first, second) {
  levels <- sort(unique(c(first, second)))
  sparseMatrix(c(match(first, levels), match(second, levels)), rep(seq_along(first), 2),
               x = rep(c(1, -1), each = length(first)), dims = c(length(levels), length(first)),
               dimnames = list(levels, NULL))
}
own <- sided(rows$first, rows$second)
here <- sided(paste(rows$first, rows$context, sep = "@"), paste(rows$second, rows$context, sep = "@"))
spread <- function(levels) factor(rep_len(levels, nrow(rows)), levels = levels)
rows$item <- spread(rownames(own)); rows$cell <- spread(rownames(here))
form <- glFormula(y ~ 1 + (1 | judge) + (1 | item) + (1 | cell), data = rows, family = binomial)
for (name in names(form$reTrms$Ztlist)) {
  if (grepl("item", name)) form$reTrms$Ztlist[[name]] <- own
  if (grepl("cell", name)) form$reTrms$Ztlist[[name]] <- here
}
form$reTrms$Zt <- do.call(rbind, form$reTrms$Ztlist)
deviance <- do.call(mkGlmerDevfun, form)
best <- optimizeGlmer(deviance)
deviance <- updateGlmerDevfun(deviance, form$reTrms)
best <- optimizeGlmer(deviance, stage = 2)
fit <- mkMerMod(environment(deviance), best, form$reTrms, fr = form$fr)
effect <- as.data.frame(ranef(fit, condVar = TRUE))
effect <- effect[effect$grpvar == "item", ]
found <- data.frame(item = effect$grp, score = effect$condval, sd = effect$condsd)
write.csv(found, "found.csv", row.names = FALSE)
"""
CLMM = """
suppressPackageStartupMessages(library(ordinal))
rows <- read.csv("table.csv", colClasses = "character")
rows$score <- factor(rows$score, levels = sort(unique(as.numeric(rows$score))), ordered = TRUE)
rows$item.criterion <- factor(paste(rows$item, rows$criterion))
rows$judge.item <- factor(paste(rows$judge, rows$item))
rows$judge.criterion <- factor(paste(rows$judge, rows$criterion))
rows$item <- factor(rows$item)
model <- score ~ criterion + (1 | item) + (1 | item.criterion) + (1 | judge.item) + (1 | judge.criterion)
fit <- clmm(model, data = rows)
own <- ranef(fit)$item
effect <- data.frame(item = rownames(own), score = own[, 1], sd = sqrt(condVar(fit)$item[, 1]))
write.csv(effect, "found.csv", row.names = FALSE)
"""


def measured(command: list[str], folder: Path) -> tuple[str, float]:
    """Output and processor seconds of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def by_r(table: pd.DataFrame, script: str) -> tuple[pd.DataFrame, float]:
    """Scores with 90% intervals of a mixed model."""
    with tempfile.TemporaryDirectory() as folder:
        table.to_csv(Path(folder) / "table.csv", index=False)
        _, seconds = measured(["Rscript", "-e", script], Path(folder))
        found = pd.read_csv(Path(folder) / "found.csv", dtype={"item": str}).set_index("item")
    half = 1.6449 * found["sd"]
    return pd.DataFrame({"low": found["score"] - half, "high": found["score"] + half}), seconds


def by_default(table: pd.DataFrame) -> tuple[pd.DataFrame, float]:
    """The same of the default fit, with all its checks."""
    with tempfile.TemporaryDirectory() as folder:
        table.to_csv(Path(folder) / "table.csv", index=False)
        command = [sys.executable, "-m", "voirdire", "fit", "table.csv", "--about", "panel", "--json"]
        said, seconds = measured(command, Path(folder))
    found = pd.DataFrame(json.loads(said)["items"]).set_index("item")
    return found[["low", "high"]], seconds


def simulated(layout: pd.DataFrame, seed: int, *, alike: bool) -> tuple[pd.DataFrame, pd.Series]:
    """Votes in a layout, and the strengths of items; judges are alike, or right as often as they are."""
    rng = np.random.default_rng(seed)
    items = sorted({*layout["first"], *layout["second"]})
    strength = pd.Series(rng.normal(size=len(items)), items)
    strength -= strength.mean()
    cells = {
        *zip(layout["first"], layout["context"], strict=True),
        *zip(layout["second"], layout["context"], strict=True),
    }
    here = pd.Series({cell: 0.6 * rng.normal() for cell in sorted(cells)})
    worth = [
        strength[layout[side]].to_numpy() + here[[*zip(layout[side], layout["context"], strict=True)]].to_numpy()
        for side in ("first", "second")
    ]
    first = rng.random(len(layout)) < 1.0 / (1.0 + np.exp(worth[1] - worth[0]))
    if not alike:
        judges = sorted(layout["judge"].unique())
        right = pd.Series(1.0 / (1.0 + np.exp(-rng.normal(1.5, 1.5, len(judges)))), judges)
        first ^= rng.random(len(layout)) > right[layout["judge"]].to_numpy()
    return layout.assign(winner=np.where(first, "first", "second")), strength


def share_held(found: pd.DataFrame, truth: pd.Series) -> float:
    found = found.loc[truth.index]
    return float(((found["low"] <= truth) & (truth <= found["high"])).mean())


if shutil.which("Rscript") is None:
    raise SystemExit("Rscript is missing: install R with lme4 and ordinal")
votes = pd.read_csv(shared("llmfao_votes.csv"), dtype=str)
votes = votes[votes["winner"] != "tie"].reset_index(drop=True)
scores = pd.read_csv(shared("newsroom_scores.csv"), dtype=str)
rows: list[dict[str, object]] = []
for name, table, script in (("llmfao_votes.csv, no ties", votes, GLMER), ("newsroom_scores.csv", scores, CLMM)):
    ours, theirs = by_default(table)[1], by_r(table, script)[1]
    rows.append(
        {
            "table": name,
            "voirdire, s": ours,
            "mixed model, s": theirs,
            "mixed model / voirdire": theirs / ours,
            "voirdire, intervals hold": "",
            "mixed model, intervals hold": "",
        }
    )
for alike in (True, False):
    held = {"voirdire": [], "mixed model": []}
    spent = {"voirdire": [], "mixed model": []}
    for seed in range(TABLES):
        table, truth = simulated(votes, seed, alike=alike)
        for who, (found, seconds) in (("voirdire", by_default(table)), ("mixed model", by_r(table, GLMER))):
            held[who].append(share_held(found, truth))
            spent[who].append(seconds)
    ours, theirs = (float(np.mean(spent[who])) for who in held)
    row = {f"{who}, intervals hold": float(np.mean(shares)) for who, shares in held.items()}
    name = f"simulated votes, judges {'alike' if alike else 'differ'}"
    rows.append(
        {"table": name, "voirdire, s": ours, "mixed model, s": theirs, "mixed model / voirdire": theirs / ours, **row}
    )
show(
    "Mixed models of R beside the defaults (tables of VOIRDIRE_SHARED)",
    rows,
    [
        "Processor seconds of whole processes, file to intervals; ours with all checks. glmer: position, judges' own, "
        "items, items in contexts, by Laplace's method; no judge weighs less than another. clmm: criteria, items, "
        "items under criteria, judge and item, judge and criterion.",
        f"{TABLES} simulated tables a row, in the layout of the real votes ({votes['first'].nunique()} items, "
        f"{len(votes):,} votes).",
    ],
)
