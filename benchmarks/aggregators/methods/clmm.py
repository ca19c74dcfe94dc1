"""The cumulative-link mixed model of R's package ordinal, where R is there."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pandas as pd
from benchmarks.aggregators.methods import CannotError

NAME = "cumulative-link mixed model (R)"
USES_KNOWN = False
SCRIPT = """
library(ordinal)
rows <- read.csv("labels.csv", colClasses = "character")
rows$label <- factor(rows$label, ordered = TRUE)
fit <- clmm(label ~ 1 + (1 | item) + (1 | judge), data = rows)
effect <- ranef(fit)$item
cuts <- fit$Theta
p <- t(apply(effect, 1, function(one) diff(c(0, plogis(cuts - one), 1))))
colnames(p) <- levels(rows$label)
write.csv(cbind(item = rownames(effect), as.data.frame(p)), "found.csv", row.names = FALSE)
"""


def answer(task):
    if not task.ordered:
        raise CannotError("classes have no order")
    if shutil.which("Rscript") is None:
        raise CannotError("R is not installed")
    with tempfile.TemporaryDirectory() as folder:
        task.labels.to_csv(Path(folder) / "labels.csv", index=False)
        done = subprocess.run(["Rscript", "-e", SCRIPT], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise CannotError(f"failed: {done.stderr.strip().splitlines()[-1][:120]}")
        found = pd.read_csv(Path(folder) / "found.csv", dtype={"item": str}).set_index("item")
    return found.reindex(index=task.questions.index, columns=task.classes)
