"""Protocols end to end on a scripted OpenAI-compatible server: what goes over the wire, in which order."""

from __future__ import annotations

import hashlib
import json
import sys
import tomllib
from collections.abc import Callable
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from voirdire.collect import collect, estimate
from voirdire.tables import read_labels, read_scores, read_votes

OPTIONS: dict[str, dict[str, Any]] = {
    "maple": {"rubric": "Good texts are good.", "levels": 0},
    "pairwise": {"order": "swap"},
    "ranking": {"wanted": "best-worst", "rounds": 2},
    "masa": {"summarizers": ["j"], "reference": "k", "runs": 2},
    "maj-eval": {"documents": ["Parents want fun.", "Teachers want sense."]},
    "simple-role": {"roles": {"Teachers": "You teach."}},
    "debate": {"tie_breaker": True},
    "mareval": {"runs": 2},
    "vanilla": {"runs": 2},
    "cot": {},
    "self-refine": {},
    "g-eval": {"weighting": "samples", "samples": 3},
    "chat-eval": {},
    "rouge-l": {},
    "bert-score": {"model": "."},
}
METRICS = ("rouge-l", "bert-score")
pytestmark = pytest.mark.usefixtures("bert_score")

READERS = {"votes": read_votes, "criteria": read_votes, "scores": read_scores, "labels": read_labels}
ITEMS = pd.DataFrame({"id": ["a", "b"], "text": ["one text", "another text"], "reference": ["a text", "some text"]})


def schema(request: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = request["response_format"]["json_schema"]["schema"]
    return found


def fields(request: dict[str, Any]) -> tuple[str, ...]:
    return tuple(schema(request)["properties"])


def told(request: dict[str, Any]) -> str:
    """Everything that the model is shown."""
    return "\n".join(message["content"] for message in request["messages"])


def smallest(part: dict[str, Any], rng: np.random.Generator) -> Any:
    if "enum" in part:
        return part["enum"][int(rng.integers(len(part["enum"])))]
    if part["type"] == "object":
        return {name: smallest(inner, rng) for name, inner in part["properties"].items()}
    if part["type"] == "array":
        return [smallest(part["items"], rng) for _ in range(max(1, part["minItems"]))]
    return f"words {int(rng.integers(10**9))}"


def fitting(request: dict[str, Any]) -> Any:
    """A random answer that fits the schema, the same whenever the request is."""
    digest = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).digest()
    said = smallest(schema(request), np.random.default_rng(list(digest)))
    if fields(request) == ("best", "worst"):  # two different texts
        said["worst"] = next(one for one in ("Text 1", "Text 2") if one != said["best"])
    return said


def run(serve: Callable[..., Any], script: Callable[..., Any], folder: Path, name: str, **settings: Any) -> Any:
    judges, items = settings.pop("judges", "j"), settings.pop("items", ITEMS)
    server = serve(script)
    # one request at a time: the order of the requests is the protocol's
    panel = {
        "seed": 5,
        "judges": [
            {"name": judge, "model": "scripted", "base_url": server.url, "concurrency": 1, "seed": 1}
            for judge in judges
        ],
    }
    found = collect(panel, items, name, folder, options=settings)
    assert found.stopped is None
    return server, found


def table(found: Any, name: str) -> list[dict[str, Any]]:
    path = found.folder / f"{name}.csv"
    return pd.read_csv(path).to_dict("records") if path.is_file() else []


def debate(requests: list[dict[str, Any]]) -> list[str]:
    words = {("brief",): "command", ("feedback", "verdict"): "criticise"}
    roles = [words.get(fields(request), "score") for request in requests]
    return ["break-tie" if "Tie-Breaker" in told(one) else role for role, one in zip(roles, requests, strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize("verdicts", [["NO ISSUE"], ["ISSUE", "NO ISSUE"], ["ISSUE", "ISSUE"]])
@pytest.mark.parametrize("tie_breaker", [False, True])
def test_debate_stops_on_no_issue_and_breaks_ties_only_unresolved(serve, tmp_path, verdicts, tie_breaker) -> None:
    items = ITEMS.assign(text=["THE FIRST", "THE SECOND"])
    heard: dict[str, int] = {}

    def script(request):
        which = "THE FIRST" if "THE FIRST" in told(request) else "THE SECOND"
        if "verdict" in fields(request):
            heard[which] = heard.get(which, 0) + 1
            return {"feedback": "f", "verdict": verdicts[heard[which] - 1]}
        if "Tie-Breaker" in told(request):
            return {"reasoning": "t", "score": 5}
        return {"brief": "b"} if fields(request) == ("brief",) else {"reasoning": "r", "score": 1 + heard.get(which, 0)}

    server, found = run(serve, script, tmp_path / "out", "debate", items=items, iterations=2, tie_breaker=tie_breaker)
    unresolved = verdicts[-1] == "ISSUE"
    expected = ["command", "score", "criticise", *["score", "criticise"] * (len(verdicts) - 1)]
    expected += ["score"] * unresolved + ["break-tie"] * (unresolved and tie_breaker)
    for text in items["text"]:
        assert debate([request for request in server.requests if text in told(request)]) == expected
    final = [row for row in table(found, "scores") if row["phase"] == "final"]
    score = 5 if unresolved and tie_breaker else len(verdicts) + unresolved
    assert [row["score"] for row in final] == [score] * 2
    assert [str(row["resolved"]).lower() for row in final] == [str(not unresolved).lower()] * 2


def test_maj_eval_ends_speakers_and_keeps_to_m(serve, tmp_path) -> None:
    def script(request):
        if fields(request) == ("speaker",):
            return {"speaker": schema(request)["properties"]["speaker"]["enum"][-1]}
        if "no_more_comments" in fields(request):
            speaker = told(request).split("You are T ")[1][0]
            return {
                "feedback": f"said {speaker}",
                "no_more_comments": "yes" if speaker == "3" else "no",
                "ratings": {"overall": 2},
            }
        return fitting(request)

    options = {"roles": {"T": "You teach."}, "agents": 3, "rounds": 4}
    server, found = run(serve, script, tmp_path / "out", "simple-role", items=ITEMS, **options)
    own = [request for request in server.requests if "another text" not in told(request)]
    kinds = [
        fields(request)[-1] if fields(request) != ("feedback", "no_more_comments", "ratings") else "speech"
        for request in own
    ]
    assert kinds == ["ratings"] * 3 + ["speaker", "speech"] * 4 + ["synthesis"]
    offered = [schema(request)["properties"]["speaker"]["enum"] for request in own if fields(request) == ("speaker",)]
    # T 3 is chosen first, has no more comments, and is not offered again
    assert offered == [["T 1", "T 2", "T 3"], *[["T 1", "T 2"]] * 3]
    ended = {
        row["judge"]: row["ended"]
        for row in table(found, "scores")
        if row["phase"] == "final" and row["level"] == "agent"
    }
    assert ended == {"j/T/T 1": "no", "j/T/T 2": "no", "j/T/T 3": "yes"}


def test_mareval_passes_the_last_summary_alone_to_the_arbitrator(serve, tmp_path) -> None:
    rounds: dict[str, int] = {}

    def script(request):
        if fields(request) == ("summary",):
            which = "another" if "another text" in told(request) else "one"
            rounds[which] = rounds.get(which, 0) + 1
            return {"summary": f"SUMMARY {rounds[which]}"}
        if "evaluators who judge" in told(request):
            return {"reasoning": "AN EVALUATION", "score": 3}
        return fitting(request)

    server, found = run(serve, script, tmp_path / "out", "mareval", evaluators=2, rounds=3, runs=1, items=ITEMS)
    decisions = [told(request) for request in server.requests if "You are the arbitrator" in told(request)]
    assert len(decisions) == 2
    for shown in decisions:
        assert "SUMMARY 3" in shown
        assert not any(other in shown for other in ("SUMMARY 1", "SUMMARY 2", "AN EVALUATION"))
    assert len(server.requests) == 2 * (1 + 3 * (2 + 1) + 1)
    assert read_scores(found.folder / "scores.csv").rows == 2 * (6 + 1 + 1)


def test_masa_swaps_and_ties(serve, tmp_path) -> None:
    """A judge that always prefers what it is shown first: votes differ by order, all decisions are ties."""
    items = pd.DataFrame(
        {
            "id": ["1", "2", "3"],
            "text": ["SUMMARY X", "SUMMARY Y", "SUMMARY REF"],
            "context": "doc",
            "source": "THE SOURCE",
            "system": ["x", "y", "ref"],
        }
    )

    def script(request):
        return {"winner": "Text 1"} if "winner" in fields(request) else {"reasoning": "", "error": "no"}

    options = {"given": True, "reference": "ref", "runs": 3, "guidance": "baseline"}
    server, found = run(serve, script, tmp_path / "out", "masa", items=items, **options)
    compared = [told(request) for request in server.requests if "winner" in fields(request)]
    assert len(compared) == 2 * 2 * 3
    orders = [
        shown.index("SUMMARY REF") < min(shown.index(s) for s in ("SUMMARY X", "SUMMARY Y") if s in shown)
        for shown in compared
    ]
    assert sum(orders) == 6
    # runs of one order are asked anew each time: other seeds
    assert len({request["seed"] for request in server.requests}) == len(server.requests)
    assert {row["winner"] for row in table(found, "votes")} == {"first"}
    assert [(row["first"], row["winner"]) for row in table(found, "decisions")] == [("x", "tie"), ("y", "tie")]
    assert read_labels(found.folder / "labels.csv").rows == 3


def test_probability_weighted_scores_over_the_wire(serve, tmp_path) -> None:
    replies = sys.modules["scripted_server"]
    alternatives = [("2", log(0.5)), ("3", log(0.25)), ("5", log(0.125))]

    def script(request):
        if "steps" in fields(request):
            return {"steps": ["read"]}
        assert request["logprobs"] is True
        shown = [('{"score":', 0.0, []), ("2", log(0.5), alternatives), ("}", 0.0, [])]
        return replies.Reply(replies.completion('{"score":2}', logprobs=shown))

    _, found = run(serve, script, tmp_path / "out", "g-eval", items=ITEMS)
    expected = (2 * 0.5 + 3 * 0.25 + 5 * 0.125) / 0.875
    assert [row["score"] for row in table(found, "scores")] == pytest.approx([expected] * 2)
    assert table(found, "scores")[0]["mass"] == pytest.approx(sum(exp(value) for _, value in alternatives))


@pytest.mark.parametrize("name", OPTIONS)
def test_every_protocol_runs_and_resumes_to_the_same_tables(serve, tmp_path, name, project) -> None:
    server, found = run(serve, fitting, tmp_path / "out", name, judges="jkl", **OPTIONS[name])
    tables = {path.name: path.read_bytes() for path in found.folder.glob("*.csv")}
    assert found.tables["missing"] == 0
    for table_name, reader in READERS.items():
        if found.tables.get(table_name):
            assert reader(found.folder / f"{table_name}.csv").rows == found.tables[table_name]
    asked = len(server.requests)
    again = collect(
        {
            "seed": 5,
            "judges": [
                {"name": judge, "model": "scripted", "base_url": server.url, "concurrency": 1, "seed": 1}
                for judge in "jkl"
            ],
        },
        ITEMS,
        name,
        tmp_path / "out",
        options=OPTIONS[name],
    )
    assert len(server.requests) == asked
    assert {path.name: path.read_bytes() for path in again.folder.glob("*.csv")} == tables
    listed = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(OPTIONS) == set(listed["project"]["entry-points"]["voirdire.protocols"])


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in OPTIONS if name not in METRICS])
def test_a_run_stopped_half_way_ends_with_the_same_tables(serve, tmp_path, name) -> None:
    server, whole = run(serve, fitting, tmp_path / "whole", name, judges="jkl", **OPTIONS[name])
    tables = {path.name: path.read_bytes() for path in whole.folder.glob("*.csv")}
    asked = len(server.requests)
    panel = {
        "seed": 5,
        "judges": [
            {"name": judge, "model": "scripted", "base_url": server.url, "concurrency": 1, "seed": 1} for judge in "jkl"
        ],
    }
    for most in (asked // 3, 2 * asked // 3, None):
        found = collect(panel, ITEMS, name, tmp_path / "parts", options=OPTIONS[name], max_calls=most)
        assert (found.stopped is None) == (most is None)
        for table_name, reader in READERS.items():
            if found.tables.get(table_name):
                assert reader(found.folder / f"{table_name}.csv").rows == found.tables[table_name]
    assert {path.name: path.read_bytes() for path in found.folder.glob("*.csv")} == tables
    assert len(server.requests) == 2 * asked


@pytest.mark.parametrize("name", OPTIONS)
def test_the_estimate_bounds_the_questions(serve, tmp_path, name) -> None:
    server, found = run(serve, fitting, tmp_path / "out", name, judges="jkl", **OPTIONS[name])
    panel = {"judges": [{"name": j, "model": "scripted", "base_url": server.url} for j in "jkl"]}
    guess = estimate(panel, ITEMS, name, options=OPTIONS[name]).as_dict()
    assert guess["calls_least"] <= len(server.requests) <= guess["calls_most"]
    assert found.total("answered") == len(server.requests)


def test_the_estimate_of_tokens_with_a_rubric_is_within_a_factor_of_two(serve, tmp_path) -> None:
    """MAPLE's comparisons, of criteria that are made of the rubric and of long texts, come after the first answer."""
    text = "It keeps to the point and says in plain words what it is about. " * 3

    def criterion(number):
        return {
            "name": f"Criterion {number}",
            "definition": text[:150],
            "look_for": [text[:70]] * 4,
            "levels": {str(level): text[:90] for level in range(1, 7)},
            "pitfalls": [text[:70]] * 2,
            "borderline": [text[:70]],
        }

    def script(request):
        if "criteria" in fields(request):
            made = [criterion(number) for number in range(5)]
            return {"criteria": made, "edge_cases": [text[:70]], "fairness": [text[:70]]}
        return fitting(request)

    options = {"rubric": "A good text is clear and short. " * 20}
    items = ITEMS.assign(text=[name + " " + text * 20 for name in ITEMS["text"]])
    server, _ = run(serve, script, tmp_path / "out", "maple", judges="jkl", items=items, **options)
    sent = [sum(len(message["content"]) for message in one["messages"]) / 4 for one in server.requests]
    panel = {"judges": [{"name": j, "model": "scripted", "base_url": server.url} for j in "jkl"]}
    guess = estimate(panel, items, "maple", options=options).as_dict()
    read = guess["tokens_in"] / guess["calls_most"]
    assert sum(sent) / len(sent) / 2 < read < 2 * sum(sent) / len(sent)
    assert sum(sent) / 2 < guess["tokens_in"] < 2 * sum(sent)


#: Batches that a judge's dialogue comes to: its turns, not its questions (of MAREval: plan, twice evaluators and
#: moderator, arbitrator).
WAVES = {"debate": 9, "mareval": 6}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in WAVES else pytest.mark.slow) for name in OPTIONS if name not in METRICS],
)
def test_in_batches_every_protocol_gives_the_same_tables(serve, tmp_path, name) -> None:
    server, alone = run(serve, fitting, tmp_path / "alone", name, judges="jkl", **OPTIONS[name])
    with sys.modules["batch_server"].BatchServer(fitting) as batches:
        judges = [
            {"name": judge, "model": "scripted", "base_url": batches.url, "batch": True, "seed": 1} for judge in "jkl"
        ]
        panel = {"seed": 5, "backoff": 0.001, "judges": judges}
        found = collect(panel, ITEMS, name, tmp_path / "batches", options=OPTIONS[name])
    tables = {path.name: path.read_bytes() for path in alone.folder.glob("*.csv")}
    assert {path.name: path.read_bytes() for path in found.folder.glob("*.csv")} == tables
    sent = [sorted(json.dumps(one, sort_keys=True) for one in part) for part in (batches.paid, server.requests)]
    assert sent[0] == sent[1]
    assert not batches.requests
    if name in WAVES:
        assert len(batches.batches) == 3 * WAVES[name]
