"""From collected tables to figures of the papers: each statistic on tables whose answer is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from voirdire_repro import judge_claims, load_system
from voirdire_repro.fill import STATISTICS, Filled
from voirdire_repro.fill.example import fill_example
from voirdire_repro.fill.themes import _by_theme
from voirdire_repro.items import columns
from voirdire_repro.job import Job
from voirdire_repro.runfile import read_run
from voirdire_repro.runs import run

CRITERIA = {"overall": "All.", "clear": "Is it clear?"}
PEOPLE = [1.0, 2.0, 3.0, 4.0, 5.0, 2.0]


def job(tmp_path: Path, parts: list[dict[str, Any]], high: int = 5, **more: Any) -> Job:
    """A run on six items of two contexts whose people's scores are PEOPLE (turned round for "clear")."""
    ids = [f"i{k}" for k in range(6)]
    context = ["one"] * 3 + ["two"] * 3
    items = pd.DataFrame({"id": ids, "text": "x", "context": context, "given": [str(2 * s) for s in PEOPLE]})
    human = pd.concat(
        pd.DataFrame({"judge": "human", "item": ids, "criterion": name, "score": values, "context": context})
        for name, values in (("overall", PEOPLE), ("clear", [6 - s for s in PEOPLE]))
    )
    spec = {
        "statistic": {
            "kind": "correlation",
            "level": "pooled",
            "coefficients": ["pearson", "spearman", "kendall"],
            "judge": "model",
            "criterion": "aspect",
        },
        "scales": [{"low": 1, "high": high, "criteria": CRITERIA}],
        "parts": parts,
        **more,
    }
    return Job(load_system("debate"), spec, tmp_path / "panel.toml", tmp_path, items, human)


def scores(rows: list[tuple[Any, ...]], *names: str) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["judge", "item", "criterion", "run", "phase", "score", *names])


def answers(monkeypatch: pytest.MonkeyPatch, tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """Collecting gives these tables of scores, by part."""
    asked: list[str] = []

    def collect(
        one: Job, protocol: str, options: Mapping[str, Any], place: Path, items: pd.DataFrame, repeat: int = 0
    ) -> Path:
        folder = one.folder / place
        folder.mkdir(parents=True, exist_ok=True)
        asked.append(str(place))
        tables[place.parts[0]].to_csv(folder / "scores.csv", index=False)
        return folder

    monkeypatch.setattr(Job, "collect_tables", collect)
    return asked


def values(filled: Any, table: str = "table1") -> dict[tuple[str, ...], float]:
    return {tuple(str(one) for key, one in row.items() if key != "value"): row["value"] for row in filled.tables[table]}


def test_coefficients_by_criterion_and_their_mean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = [1.0, 2.0, 2.0, 5.0, 4.0, 1.0]
    rows = [("m", f"i{k}", c, "1", "final", s) for c in CRITERIA for k, s in enumerate(ours)]
    answers(monkeypatch, {"part": scores(rows)})
    part = {"name": "part", "protocol": "vanilla", "fills": [{"table": "table1", "keys": {"method": "X"}}]}
    found = values(STATISTICS["correlation"](job(tmp_path, [part])))
    r = float(np.corrcoef(ours, PEOPLE)[0, 1])
    assert found["m", "overall", "pearson", "X"] == pytest.approx(r)
    assert found["m", "clear", "pearson", "X"] == pytest.approx(-r)
    assert found["m", "average", "pearson", "X"] == pytest.approx(0, abs=1e-12)


def test_items_without_context_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("m", f"i{k}", c, "1", "final", s) for c in CRITERIA for k, s in enumerate(PEOPLE)]
    answers(monkeypatch, {"part": scores(rows)})
    part = {"name": "part", "protocol": "vanilla", "fills": [{"table": "table1", "keys": {}}]}
    one = job(tmp_path, [part])
    bare = replace(one, items=one.items.drop(columns="context"), human=one.human.assign(context=None))
    found = values(STATISTICS["correlation"](bare))
    assert found["m", "overall", "spearman"] == pytest.approx(1)


def test_a_column_of_the_file_is_compared_by_every_criterion(tmp_path: Path) -> None:
    part = {"name": "part", "column": "given", "fills": [{"table": "table1", "keys": {}}]}
    found = values(STATISTICS["correlation"](job(tmp_path, [part])))
    assert found["none", "overall", "spearman"] == pytest.approx(1)
    assert found["none", "clear", "spearman"] == pytest.approx(-1)


def test_kappa_of_scores_rounded_to_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("m", f"i{k}", "overall", "1", "final", s) for k, s in enumerate([1.2, 1.8, 3.0, 4.0, 2.0, 2.0])]
    answers(monkeypatch, {"part": scores(rows)})
    part = {"name": "part", "protocol": "vanilla", "fills": [{"table": "table1", "keys": {}}]}
    one = job(tmp_path, [part])
    one.spec["statistic"]["coefficients"].append("kappa")  # type: ignore[index]
    # labels 1 2 3 4 2 2 and 1 2 3 4 5 2: five of six agree, by chance (1 + 2 * 3 + 1 + 1) / 36
    chance = 9 / 36
    found = values(STATISTICS["correlation"](one))
    assert found["m", "overall", "kappa"] == pytest.approx((5 / 6 - chance) / (1 - chance))


def test_stages_of_a_debate_and_the_best_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong, right = [6 - s for s in PEOPLE], PEOPLE
    rows = []
    for phase, said in (("initial", wrong), ("iteration-1", right), ("iteration-2", right), ("iteration-3", wrong)):
        # the debate on the last item ended after the first iteration
        rows += [
            ("m", f"i{k}", "overall", "1", phase, s) for k, s in enumerate(said) if k < 5 or phase != "iteration-3"
        ]
    rows += [("m", f"i{k}", "overall", "1", "final", s) for k, s in enumerate(wrong)]
    answers(monkeypatch, {"part": scores(rows)})
    part = {"name": "part", "protocol": "debate", "until": 2, "fills": [{"table": "table1", "keys": {}}]}
    text = {"claim": "c", "kind": "best-iteration", "part": "part", "judge": "m", "most": 3}
    text |= {"criterion": "overall", "coefficient": "spearman"}
    filled = STATISTICS["correlation"](job(tmp_path, [part], texts=[text]))
    assert values(filled)["m", "overall", "spearman"] == pytest.approx(1)
    assert filled.texts == {"c": 1.0}
    # the curve: the scores before the debate run against people's, one iteration turns them round
    assert filled.curves["c"] == pytest.approx({0: -1.0, 1: 1.0, 2: 1.0, 3: filled.curves["c"][3]})
    assert filled.curves["c"][3] < 0.5


def test_orders_and_single_values_of_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = {
        name: scores([("m", f"i{k}", "overall", "1", "final", s) for k, s in enumerate(said)])
        for name, said in (("good", PEOPLE), ("bad", PEOPLE[::-1]), ("half", [1, 2, 3, 4, 5, 5]))
    }
    answers(monkeypatch, tables)
    parts = [{"name": name, "protocol": "vanilla"} for name in tables]
    common = {"judge": "m", "coefficient": "pearson"}
    texts = [
        {"claim": "order", "kind": "order", "parts": {"bad": "B", "half": "H", "good": "G"}, **common},
        {"claim": "value", "kind": "value", "part": "half", "criterion": "overall", **common},
        {"claim": "nobody", "kind": "value", "part": "half", "criterion": "overall", **common, "judge": "n"},
    ]
    filled = STATISTICS["correlation"](job(tmp_path, parts, texts=texts))
    r = float(np.corrcoef([1, 2, 3, 4, 5, 5], PEOPLE)[0, 1])
    assert filled.texts == {"order": "G > H > B", "value": pytest.approx(r)}


def test_more_runs_come_nearer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    errors = {"1": 1.0, "2": -1.0, "3": 2.0}
    rows = [
        ("m", f"i{k}", "overall", run, "run", s + sign * error)
        for run, error in errors.items()
        for k, (s, sign) in enumerate(zip(PEOPLE, (1, -1, 1, -1, 1, -1), strict=True))
    ]
    answers(monkeypatch, {"part": scores(rows)})
    text = {"claim": "c", "kind": "best-runs", "part": "part", "judge": "m", "most": 3}
    text |= {"criterion": "overall", "coefficient": "pearson"}
    filled = STATISTICS["correlation"](job(tmp_path, [{"name": "part", "protocol": "mareval"}], texts=[text]))
    assert filled.texts == {"c": 2.0}  # the first two errors cancel


def test_groups_alphas_and_gains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = []
    for k, s in enumerate(PEOPLE):
        for agent, before in (("x", 6 - s), ("y", 3.0)):
            columns = (f"m/Readers/{agent}", f"i{k}", "overall", "1")
            rows += [(*columns, "initial", before, "agent", "Readers"), (*columns, "final", s, "agent", "Readers")]
        rows.append(("m/Readers", f"i{k}", "overall", "1", "final", s, "group", "Readers"))
        rows.append(("m", f"i{k}", "overall", "1", "final", 6 - s, "overall", ""))
    answers(monkeypatch, {"part": scores(rows, "level", "group")})
    part = {
        "name": "part",
        "protocol": "maj-eval",
        "fills": [{"table": "table1", "keys": {"method": "M", "group": "all"}}],
        "groups": ["table1"],
        "alpha": {"table": "table8", "keys": {"dataset": "D"}},
    }
    text = {"claim": "gains", "kind": "gains", "part": "part", "criterion": "overall", "coefficient": "spearman"}
    filled = STATISTICS["correlation"](job(tmp_path, [part], texts=[text]))
    found = {(row["group"], row["coefficient"], row["aspect"]): row["value"] for row in filled.tables["table1"]}
    assert found["all", "spearman", "overall"] == pytest.approx(-1)
    assert found["Readers", "spearman", "overall"] == pytest.approx(1)
    assert filled.texts == {"gains": 1.0}
    alphas = {row["phase"]: row["value"] for row in filled.tables["table8"]}
    assert set(filled.tables["table8"][0]) == {"dataset", "model", "group", "phase", "value"}
    assert alphas["final"] == pytest.approx(1)  # the agents agree after the debate
    assert alphas["initial"] < 0.5


def test_spread_over_repetitions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def collect(
        one: Job, protocol: str, options: Mapping[str, Any], place: Path, items: pd.DataFrame, repeat: int = 0
    ) -> Path:
        folder = one.folder / place
        folder.mkdir(parents=True, exist_ok=True)
        # item k is scored k, k + k, k + 2 k: its sd is k
        rows = [("m", f"i{k}", c, "1", "final", k * (1.0 + repeat)) for c in CRITERIA for k in range(6)]
        scores(rows).to_csv(folder / "scores.csv", index=False)
        return folder

    monkeypatch.setattr(Job, "collect_tables", collect)
    part = {"name": "part", "protocol": "vanilla", "spread": "Vanilla"}
    spread = {"table": "table2", "column": "framework", "repeats": 3}
    filled = STATISTICS["correlation"](job(tmp_path, [part], spread=spread, names={"clear": "clarity"}))
    expected = {("Vanilla", name): pytest.approx(2.5) for name in ("overall", "clarity", "average")}
    assert values(filled, "table2") == expected


def test_means_and_best_of_themes() -> None:
    full = {("a", 1): 0.9, ("a", 2): 0.8, ("b", 1): 0.7}
    less = {("a", 1): 0.8, ("a", 2): 0.8, ("b", 1): 0.9}
    values = {("table5", "variant", "full"): full, ("table5", "variant", "less"): less}
    found = _by_theme(values, {"from": "table5", "table": "table4"}).tables
    assert {"theme": "a", "variant": "full", "statistic": "mean", "value": pytest.approx(0.85)} in found["table5"]
    assert {"theme": "a", "variant": "less", "statistic": "sd", "value": 0.0} in found["table5"]
    # a tie is nobody's
    assert [row["value"] for row in found["table4"] if row["statistic"] == "top1"] == [1.0, 1.0]


def test_essays_are_ranked_by_votes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    themes = ["Car-free cities"]
    rows = [
        {"essay_id": f"{t}{k}", "full_text": "x", "assignment": "Why?", "prompt_name": t, "score": k}
        for t in themes
        for k in range(1, 6)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "essays.csv", index=False)

    def collect(
        job: Job, protocol: str, options: Mapping[str, Any], place: Path, items: pd.DataFrame, repeat: int = 0
    ) -> Path:
        folder = job.folder / "collected" / place
        folder.mkdir(parents=True, exist_ok=True)
        names = items["id"].tolist()
        assert "context" not in items
        pairs = [(a, b) for a in names for b in names if a < b]
        votes = pd.DataFrame(pairs, columns=["first", "second"]).assign(winner="second", judge="GPT-5.1")
        votes.to_csv(folder / "votes.csv", index=False)
        return folder

    monkeypatch.setattr(Job, "collect_tables", collect)
    system = load_system("maple")
    spec = read_run(system, "asap2")
    items, human = columns(tmp_path / "essays.csv", spec["columns"])
    spec["statistic"] |= {"samples": 1, "size": 4}
    spec["parts"] = [part for part in spec["parts"] if part["name"] == "pairwise"]
    spec["parts"][0].pop("alone")
    one = Job(system, spec, tmp_path, tmp_path / "run", items, human)
    found = STATISTICS["concordance"](one).tables
    means = {row["theme"]: row["value"] for row in found["table3"] if row["statistic"] == "mean"}
    assert means == dict.fromkeys(themes, 1.0)
    other = replace(one, human=human.assign(score=-human["score"]))
    assert {row["value"] for row in STATISTICS["concordance"](other).tables["table3"]} == {0.0}


def test_shares_against_a_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decisions = pd.DataFrame(
        {
            "judge": "GPT-4",
            "context": ["MeQSum/1", "MeQSum/2", "MeQSum/3", "MeQSum/4"],
            "first": ["Llama-2-70B", "GPT-3.5", "Llama-2-70B", "GPT-3.5"],
            "second": ["GPT-3.5", "Llama-2-70B", "GPT-3.5", "Llama-2-70B"],
            "winner": ["first", "second", "tie", "first"],
            "shown_first": ["Llama-2-70B", "Llama-2-70B", "GPT-3.5", "GPT-3.5"],
            "shown_second": ["Llama-2-70B", "Llama-2-70B", "Llama-2-70B", "GPT-3.5"],
        }
    )

    def collect(
        job: Job, protocol: str, options: Mapping[str, Any], place: Path, items: pd.DataFrame, repeat: int = 0
    ) -> Path:
        decisions.to_csv(tmp_path / "decisions.csv", index=False)
        return tmp_path

    monkeypatch.setattr(Job, "collect_tables", collect)
    path = tmp_path / "texts.csv"
    path.write_text("id,text\nMeQSum/1,a\nMeQSum/2,b\nMeQSum/3,c\nMeQSum/4,d\n")
    run(load_system("masa"), "masa", data=path, out=tmp_path / "out")
    rows = judge_claims(load_system("masa"), fetch=False, results=tmp_path / "out")
    found = {row.id: row.ours for row in rows if row.kind == "needs-llm" and row.ours is not None}
    assert found["table2-runs/Llama-2-70B, GPT-4, MeQSum, win, value"] == 50
    assert found["table2-runs/Llama-2-70B, GPT-4, MeQSum, loss, value"] == 25
    assert found["table3-runs/MeQSum, GPT-4, Llama-2, value"] == pytest.approx(200 / 3, abs=1e-3)
    assert found["table3-runs/MeQSum, GPT-4, GPT-3.5, value"] == pytest.approx(100 / 3, abs=1e-3)
    # averages over the data sets there are, and intervals of the win rates
    assert found["table2-runs/Llama-2-70B, GPT-4, average, tie, value"] == 25
    low = found["table3-runs/MeQSum, GPT-4, Llama-2, low"]
    high = found["table3-runs/MeQSum, GPT-4, Llama-2, high"]
    assert low < 200 / 3 < high
    # one of four verdicts changes with the order
    assert found["table4-position-runs/B, position bias, MeQSum, value"] == 25


def test_all_judges_beside_each_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {"essay_id": f"e{k}", "full_text": "x", "assignment": "Why?", "prompt_name": "Car-free cities", "score": k}
        for k in range(5)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "essays.csv", index=False)
    names = [f"e{k}" for k in range(5)]
    pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]

    def collect(
        job: Job, protocol: str, options: Mapping[str, Any], place: Path, items: pd.DataFrame, repeat: int = 0
    ) -> Path:
        folder = job.folder / "collected" / place
        folder.mkdir(parents=True, exist_ok=True)
        votes = pd.DataFrame(pairs, columns=["first", "second"])
        judges = [votes.assign(judge=name, winner="second") for name in ("good", "fine", "nice")]
        judges.append(votes.assign(judge="leaning", winner="first"))
        pd.concat(judges).to_csv(folder / "votes.csv", index=False)
        return folder

    def index(job: Job, votes: pd.DataFrame, weights: pd.DataFrame | None, model: str, method: str = "map") -> float:
        """Who is fitted alone has a concordance by name; all together one between the second and the third."""
        known = {"good": 0.9, "fine": 0.8, "nice": 0.6, "leaning": 0.5}
        judges = votes["judge"].unique().tolist()
        assert model == ("crowd-bt" if len(judges) > 1 else "bradley-terry")
        together = 0.7 if method == "map" else 0.75
        return together if len(judges) > 1 else known[judges[0]]

    monkeypatch.setattr(Job, "collect_tables", collect)
    monkeypatch.setattr("voirdire_repro.fill.themes._concordance_index", index)
    system = load_system("maple")
    spec = read_run(system, "asap2")
    spec["statistic"] |= {"samples": 1, "size": 5}
    keys = {"table": "table3", "column": "method", "entry": "Crowd-BT"}
    spec["parts"] = [
        {
            "name": "pairwise",
            "protocol": "pairwise",
            "alone": "bradley-terry",
            "fills": [{"model": "crowd-bt", **keys}, {"model": "crowd-bt", "method": "adam", **keys}],
        }
    ]
    spec["texts"] = [
        {"claim": "figure2", "kind": "ahead", "part": "pairwise", "name": "all models", **keys},
        {"claim": "figure4", "kind": "rank", "part": "pairwise", **keys},
        {"claim": "figure6", "kind": "fewest-first", "part": "pairwise"},
        {"claim": "figure9", "kind": "most-themes-lost", "part": "pairwise", **keys},
    ]
    items, human = columns(tmp_path / "essays.csv", spec["columns"])
    filled = STATISTICS["concordance"](Job(system, spec, tmp_path, tmp_path / "run", items, human))
    assert filled.texts == {"figure2": "good", "figure4": 3.0, "figure6": "fine", "figure9": "all"}
    found = {row["statistic"]: row["value"] for row in filled.tables["table3"]}
    assert found == {"mean": 0.7}
    assert [row["value"] for row in filled.tables["table3-adam"]] == [0.75]


@pytest.mark.parametrize("unit", [False, True])
def test_the_printed_example(tmp_path: Path, unit: bool) -> None:
    how = {
        **{"text": "To Cut Hay", "table": "table5", "column": "method", "criterion": "overall"},
        **{"people": "people", "unit": unit, "keys": {"dataset": "own"}},
    }
    one = job(tmp_path, [{"name": "mine", "example": "Mine"}, {"name": "other"}], example=how)
    one.items["text"] = ["x"] * 4 + ["what do you use to cut hay?", "x"]
    said = scores([(judge, "i4", "overall", "1", "final", score) for judge, score in (("a", 2.0), ("b", 5.0))])
    more = scores([("a/agent", "i4", "overall", "1", "final", 1.0), ("a", "i3", "overall", "1", "final", 1.0)])
    every = {"mine": pd.concat([said, more]).assign(context="two"), "other": said.assign(context="two")}
    filled = Filled()
    fill_example(one, filled, every)
    mine = (3.5 - 1) / 4 if unit else 3.5
    assert filled.tables == {
        "table5": [
            {"dataset": "own", "method": "people", "value": PEOPLE[4]},
            {"dataset": "own", "method": "Mine", "value": mine},
        ]
    }
    one.items["text"] = "to cut hay"  # six of them: none is the one
    filled = Filled()
    fill_example(one, filled, every)
    assert filled.tables == {}
