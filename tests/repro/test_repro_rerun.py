"""What is marked reproduced by simulations is simulated again, with other seeds than the kept results.

Means of m fresh replicates are compared with the kept means of n: within 4 sd sqrt(1/m + 1/n), sd the kept one's.
``FRESH`` says what is simulated again; every row of kept results that a claim rests on must be among it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from voirdire.model import specification_folder
from voirdire_repro import judge_claims, load_system, system_names
from voirdire_repro.checks import studies
from voirdire_studies import load_study, run_study

KEYS = ("panel", "added", "count", "design", "model", "optimiser", "measure")
Key = tuple[str, ...]


@dataclass(frozen=True)
class Fresh:
    """A study on part of its cells: so many replicates from another seed, and which measures are compared."""

    study: str
    replicates: int
    seed: int
    slow: bool = True
    long: bool = False
    panels: tuple[str, ...] = ()
    optimiser: str = ""
    model: str = ""
    designs: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    only: str = ""

    def settings(self) -> dict[str, Any]:
        """The study's settings, with those cells alone."""
        own = dict(load_study(path_of(self.study)).settings) | {"batch": self.replicates}
        if self.panels:
            own["panels"] = [panel for panel in own["panels"] if panel["name"] in self.panels]
        if self.designs:
            own["designs"] = [design for design in own["designs"] if design["name"] in self.designs]
        if self.optimiser:
            own["optimisers"] = [self.optimiser]
        if self.model:
            own["models"] = [self.model]
        if self.added:
            chosen = [one for one in own["added"] if one["name"] in self.added]
            own["added"] = [
                {**one, "counts": [n for n in one["counts"] if n in self.counts]}
                for one in chosen
                if set(one["counts"]) & set(self.counts)
            ]
        return own

    def covers(self, row: Mapping[str, str]) -> bool:
        """Whether it simulates and compares this row of kept results."""
        return (
            row["panel"] in (self.panels or [row["panel"]])
            and row["design"] in (self.designs or [row["design"]])
            and row["optimiser"] == (self.optimiser or row["optimiser"])
            and row["model"] == (self.model or row["model"])
            and (row["added"] == "none" or (row["added"] in self.added and int(row["count"]) in self.counts))
            and row["measure"].startswith(self.only)
        )


def path_of(study: str) -> str | Path:
    """A study of ``simulations/`` by its name, one of a paper's runs by its file."""
    system, _, name = study.rpartition("/")
    return specification_folder("paper_repro") / system / "runs" / name / "study.toml" if system else study


FRESH = [
    Fresh("rq1", 2, 1001, slow=False, panels=("60-100",), optimiser="map"),
    Fresh("rq1", 3, 1002, long=True, panels=("10-100", "0-90"), optimiser="map"),
    Fresh("rq1", 2, 1003, long=True, optimiser="adam", only="eta"),
    Fresh("ablation", 4, 1004, long=True),
    Fresh(
        "rq3", 3, 1005, long=True, model="maple", added=("random", "always-first", "always-second"), counts=(2, 5)
    ),
    Fresh(
        "maple/position", 2, 1006, model="maple", panels=("coins 0.85 to 0.97",),
        added=("random", "always-first", "always-second"), counts=(4, 5),
    ),
    Fresh(
        "maple/position", 2, 1008, model="maple", panels=("one leans second", "all lean a little"),
        designs=("fixed order",), added=("random", "always-first", "always-second"), counts=(5,),
    ),
    Fresh(
        "maple/position", 2, 1009, model="maple", added=("always-second",), counts=(4,), designs=("fixed order",),
        panels=("coins 0.60 to 0.90", "coins 0.70 to 0.95", "coins 0.80 to 0.95"),
    ),
    Fresh("maple/targets", 2, 1007, long=True),
    Fresh(
        "maple/spread", 2, 1010, designs=("fixed order",), added=("always-first",), counts=(4, 5),
        panels=("coins 0.80 to 0.95, sd 5", "coins 0.85 to 0.97, sd 5"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    "fresh",
    [
        pytest.param(
            one, marks=[pytest.mark.slow] * one.slow + [pytest.mark.long] * one.long, id=f"{one.study}-{one.seed}"
        )
        for one in FRESH
    ],
)
def test_kept_results_again(fresh: Fresh) -> None:
    study = replace(load_study(path_of(fresh.study)), seed=fresh.seed, settings=fresh.settings())
    found = {
        tuple(str(row[key]) for key in KEYS): (row["mean"], row["n"])
        for row in run_study(study, replicates=fresh.replicates).table.to_dict("records")
    }
    compared = [row for row in studies.rows_of(fresh.study) if fresh.covers(row)]
    assert len(compared) >= 4
    for row in compared:
        mean, m = found[tuple(row[key] for key in KEYS)]
        allowed = 4 * float(row["sd"]) * np.sqrt(1 / m + 1 / int(row["n"]))
        assert abs(mean - float(row["mean"])) <= allowed + 1e-9, (row, mean, allowed)
    for cell in load_system("maple").tables["table2"].cells if fresh.study == "rq1" else ():
        panel, accuracy = cell.by["panel"], cell.by["accuracy"]
        key = (panel, "none", "0", "all pairs", "maple", fresh.optimiser, f"eta {float(accuracy):g}")
        if key in found:
            # the sd of a single run is at most 0.003
            assert found[key][0] == pytest.approx(cell.value, abs=0.01 + 2 * 0.003 / np.sqrt(found[key][1]))


def test_what_is_reproduced_by_simulation_is_what_these_tests_recompute(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[tuple[str, Mapping[str, str]]] = []
    matches, rows_of = studies._row_matches, studies.rows_of
    asked: list[str] = []

    def spied_rows(study: str) -> tuple[dict[str, str], ...]:
        asked.append(study)
        return rows_of(study)

    def spied_match(row: dict[str, str], wanted: Mapping[str, Any]) -> bool:
        hit = matches(row, wanted)
        if hit:
            used.append((asked[-1], row))
        return hit

    monkeypatch.setattr(studies, "rows_of", spied_rows)
    monkeypatch.setattr(studies, "_row_matches", spied_match)
    reruns = 0
    for name in system_names():
        system = load_system(name)
        for claim in system.claims:
            if claim.kind == "rerun":
                used.clear()
                judge_claims(replace(system, claims=(claim,)), fetch=False)
                reruns += 1
                assert used, f"{name}, {claim.id} rests on no kept results"
                for study, row in used:
                    assert any(one.study == study and one.covers(row) for one in FRESH), (claim.id, row)
    assert reruns >= 10


def test_whatever_is_reproduced_is_recomputed_when_asked() -> None:
    """A verdict is never kept: what a reproduced figure is compared with comes from a check, or from a run's tables."""
    for name in system_names():
        system = load_system(name)
        for row in judge_claims(system, fetch=False):
            claim = next(claim for claim in system.claims if claim.id == row.claim)
            if row.verdict == "reproduced":
                assert claim.kind in ("rerun", "rederive"), row.id
                assert claim.check["kind"], row.id
                assert row.ours is not None, row.id
        without = replace(system, claims=tuple(replace(claim, check={}) for claim in system.claims))
        assert "reproduced" not in {row.verdict for row in judge_claims(without, fetch=False)}, name


def test_table_2_is_within_its_tolerance() -> None:
    rows = [row for row in judge_claims(load_system("maple"), fetch=False) if row.claim == "table2"]
    assert len(rows) == 25
    assert {row.verdict for row in rows} == {"reproduced"}
    assert all(row.tolerance == 0.01 and "100 replicates" in row.note for row in rows)
