"""Every figure that needs language models is filled by one of the runs that ship, or is named here with why not."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from voirdire.collect.journal import JOURNAL_FILE
from voirdire.settings import read_toml
from voirdire_repro import judge_claims, load_system, runs, system_names
from voirdire_repro.fill import themes
from voirdire_repro.job import Job
from voirdire_repro.page import repro_page
from voirdire_repro.runfile import read_run, toy_file

PROJECT = Path(__file__).resolve().parents[2]
#: What models may call the groups that the papers' models found, by the published name.
INVENTED = {
    "StorySparkQA": (
        "AI system developers", "Young children", "Experts in education", "Parents and caregivers",
        "Preschool teachers", "Language acquisition researchers",
    ),
    "MSLR-COCHRANE": (
        "Medical librarians", "Emergency physicians", "Multidisciplinary clinical teams", "Practising clinicians",
        "Medical researchers", "Systematic reviewers", "Evidence synthesis specialists", "Patients and the public",
    ),
}  # fmt: skip
#: Claims that no run fills; why not is what their own ``because`` says, on the page too.
NOT_FILLED = {"debate": {"trained-metrics"}}


def names_in(options: Mapping[str, Any], panel: Path) -> list[str]:
    return list(options.get("judges") or [judge["name"] for judge in read_toml(panel)["judges"]])


@pytest.mark.slow
@pytest.mark.parametrize("name", system_names())
def test_every_figure_that_needs_models_has_a_run_that_fills_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = load_system(name)
    rng = np.random.default_rng(3)
    base = read_run

    def many(which: Any, run: str) -> dict[str, Any]:
        spec = base(which, run)
        statistic = {**spec["statistic"], **({"samples": 2} if "samples" in spec["statistic"] else {})}
        return {key: value for key, value in spec.items() if key != "sample"} | {"statistic": statistic}

    def collect(
        job: Job, protocol: str, options: Mapping[str, Any], place: Path, items: pd.DataFrame, repeat: int = 0
    ) -> Path:
        folder = job.folder / "collected" / place
        folder.mkdir(parents=True, exist_ok=True)
        judges = names_in(options, job.panel)
        if protocol in ("maple", "pairwise"):
            pd.DataFrame({"judge": ["a"], "winner": ["first"]}).to_csv(folder / "votes.csv", index=False)
            return folder
        if protocol == "masa":
            rows = [
                (judge, other, "GPT-3.5", f"{dataset}/{k}", winner, "GPT-3.5", "tie")
                for judge in options["evaluators"]
                for other in options["summarizers"]
                for dataset in ("MEDIQA-QS", "MeQSum", "MEDIQA-ANS", "MEDIQA-MAS", "MedDialog-EN")
                for k, winner in enumerate(["first", "second", "tie", "first"])
            ]
            columns = ["judge", "first", "second", "context", "winner", "shown_first", "shown_second"]
            pd.DataFrame(rows, columns=columns).to_csv(folder / "decisions.csv", index=False)
            return folder
        rows = []
        groups = INVENTED["MSLR-COCHRANE" if "mslr" in str(job.panel) else "StorySparkQA"]
        for judge in judges:
            for item in items["id"]:
                for criterion, run in product(
                    options.get("criteria", {"none": ""}), range(1, options.get("runs", 1) + 1)
                ):
                    own = {"item": item, "criterion": criterion, "run": run}
                    for phase in ("initial", "run", "final") if protocol == "mareval" else ("initial", "final"):
                        rows.append({**own, "judge": judge, "phase": phase, "score": rng.normal()})
                        if protocol == "maj-eval":
                            rows += [
                                {
                                    **own, "judge": f"{judge}/{group}/{agent}", "group": group, "level": "agent",
                                    "phase": phase, "score": rng.normal(),
                                }
                                for group in groups
                                for agent in "ab"
                            ]  # fmt: skip
        pd.DataFrame(rows).to_csv(folder / "scores.csv", index=False)
        with closing(sqlite3.connect(folder / JOURNAL_FILE)) as journal:
            journal.execute("create table if not exists answers (judge, key, seconds)")
            journal.execute("insert into answers values (?, ?, ?)", ("a", json.dumps(["a", "b", 1]), 2.0))
            journal.commit()
        return folder

    def with_people(*given: Any) -> Job:
        # people who differ on every criterion, so that every coefficient is one
        human = given[5].assign(score=rng.normal(size=len(given[5])))
        spec = given[1]
        if "example" in spec:  # an invented item in the printed one's place
            spec = {**spec, "example": {**spec["example"], "text": given[4]["text"].iloc[0]}}
        return Job(given[0], spec, *given[2:5], human, *given[6:])

    monkeypatch.setattr(runs, "Job", with_people)
    monkeypatch.setattr(runs, "read_run", many)
    monkeypatch.setattr(Job, "collect_tables", collect)
    monkeypatch.setattr(themes, "_concordance_index", lambda *_: float(rng.normal()))
    monkeypatch.setattr(themes, "_fewest_first", lambda *_: "a")
    for path in sorted((system.folder / "runs").glob("*/run.toml")):
        toy, own = toy_file(system, path.parent.name), None
        if name == "maple":
            # the published themes, three essays each
            themes_of = sorted({cell.by["theme"] for cell in system.tables["table3"].cells})
            rows = [(f"{k}-{theme}", n, "text", theme, theme) for k, theme in enumerate(themes_of) for n in (1, 2, 3)]
            own = tmp_path / "toy.csv"
            columns = ["essay_id", "score", "full_text", "assignment", "prompt_name"]
            pd.DataFrame(rows, columns=columns).assign(essay_id=lambda t: t.index).to_csv(own, index=False)
        runs.run(system, path.parent.name, data=own or toy, out=tmp_path / "out")
    rows = judge_claims(system, fetch=False, results=tmp_path / "out")
    wanted = [row for row in rows if row.kind in ("needs-llm", "needs-metric")]
    left = NOT_FILLED.get(name, set())
    empty = [row.id for row in wanted if row.ours is None and row.claim not in left]
    assert not empty, f"{len(empty)} of {len(wanted)}: {empty[:12]}"
    assert {row.claim for row in wanted if row.ours is None} == left
    assert all(claim.because in repro_page() for claim in system.claims if claim.id in left)
