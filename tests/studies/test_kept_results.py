"""Kept results are those of today's code: their first replicates belong to them, and one cell of each is run again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from voirdire.planning.simulated import merge_equal
from voirdire_studies import load_study, run_study
from voirdire_studies.runner import FIRST

PROJECT = Path(__file__).resolve().parents[2]
KEPT = sorted(
    path.parent
    for path in [*PROJECT.glob("simulations/*/results.csv"), *PROJECT.glob("paper_repro/*/runs/*/study.toml")]
    if (path.parent / FIRST).is_file()
)
RECOVERY = [folder for folder in KEPT if load_study(folder / "study.toml").kind == "recovery"]
KEYS = ["panel", "added", "count", "design", "model", "optimiser", "measure"]


def test_every_recovery_study_keeps_its_first_replicates() -> None:
    names = {folder.name for folder in RECOVERY}
    simulated = {"ablation", "adam-or-bayes", "design", "rq1", "rq3"}
    assert names == simulated | {"position", "spread", "synthetic", "targets"}


@pytest.mark.parametrize("folder", RECOVERY, ids=lambda folder: folder.name)
def test_the_first_replicate_belongs_to_the_kept_results(folder: Path) -> None:
    """Within 4.5 sd of the mean of the others, and exactly it where these are all alike."""
    first = pd.read_csv(folder / FIRST, dtype={"count": str})
    if (folder / "results.csv").is_file():
        keys, results = KEYS, pd.read_csv(folder / "results.csv", dtype={"count": str})
    else:
        keys = ["panel", "model"]
        grouped = pd.read_csv(folder / "replicates.csv").groupby(keys)["value"]
        results = grouped.agg(n="count", mean="mean", sd="std").reset_index()
    both = first.merge(results, on=keys, how="outer", validate="one_to_one")
    assert both[["value", "mean"]].notna().all(axis=None), "the cells of first.csv and results.csv differ"
    allowed = 4.5 * both["sd"] * np.sqrt(1 + 1 / both["n"])
    far = both[(both["value"] - both["mean"]).abs() > allowed + 1e-9]
    assert far.empty, far[[*keys, "value", "mean", "sd"]].to_string()


def first_cell(folder: Path, **narrow: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The first replicate of a study's first panel, kept and of today, with the same seed."""
    study = load_study(folder / "study.toml")
    own = {key: value for key, value in study.settings.items() if key not in ("added", "best_of")}
    own |= {key: own[key][:1] for key in ("panels", "designs", "models", "optimisers") if key in own} | narrow
    found = run_study(replace(study, settings=own), replicates=1, jobs=1).replicates
    kept = pd.read_csv(folder / FIRST)
    kept = kept[kept["added"] == "none"].merge(found[KEYS], on=KEYS)
    return kept, found


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    "folder",
    # 5,000 epochs take a while
    [pytest.param(one, marks=[pytest.mark.slow] if one.name == "targets" else []) for one in RECOVERY],
    ids=lambda folder: folder.name,
)
def test_a_cell_of_each_study_comes_out_again(folder: Path) -> None:
    """Rounding may swap two neighbours: of 50 items that is 0.0008 of a concordance."""
    kept, found = first_cell(folder)
    assert len(kept) == len(found) >= 1
    assert found["value"].tolist() == pytest.approx(kept["value"].tolist(), abs=0.002)


@pytest.mark.long
@pytest.mark.slow
def test_the_papers_own_procedure_ranks_the_criteria() -> None:
    """Without priors the weights run away from each other, and the least are all but 0 in proportion."""
    kept, found = first_cell(PROJECT / "simulations" / "rq1", optimisers=["adam"])
    assert found["value"].tolist() == pytest.approx(kept["value"].tolist(), abs=0.002)
    assert float(found.loc[found["measure"] == "criteria", "value"].iloc[0]) == 1.0


def test_only_what_searches_leave_is_taken_for_a_tie() -> None:
    weights = np.array([-14.0, -10.0, -6.0, -3.0, 0.0])  # in proportion 8e-7, 4e-5, ... of the whole
    assert len(set(merge_equal(weights))) == 5
    assert len(set(merge_equal(np.exp(weights)))) < 5  # why proportions are not what is ranked
    assert len(set(merge_equal(weights + np.array([0.0, 0.0, 0.0, 0.0, -3.00000001])))) == 4
