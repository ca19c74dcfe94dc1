"""What promptfoo gets: the dicts, and (where promptfoo is) its own evaluation.

VOIRDIRE_PROMPTFOO names promptfoo's entry point (node_modules/promptfoo/dist/src/entrypoint.js, or the command).
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import voirdire
from voirdire import InputError
from voirdire.integrations.panel import verdict
from voirdire.integrations.promptfoo import call_api, get_assert


@pytest.mark.slow
def test_votes_are_graded_by_the_verdict() -> None:
    votes = {"ann": "fail", "bob": "pass", "cem": "fail"}
    found, expected = get_assert("x", {"vars": {"votes": votes}}), verdict([*votes.values()], [*votes])
    assert found["pass"] is False
    assert found["score"] == expected["value"]
    assert found["namedScores"] == {f"panel{end}": expected[key] for end, key in
                                    (("", "value"), ("_low", "low"), ("_high", "high"))}  # fmt: skip
    config = {"votes": [*votes.values()], "threshold": expected["value"]}
    assert get_assert("x", {"vars": {}, "config": config})["pass"] is True


def test_scores_are_placed_on_their_scale() -> None:
    found = get_assert("x", {"vars": {"votes": [4, 5, 4.5]}, "config": {"scale": [1, 5], "threshold": 4}})
    value = verdict([4, 5, 4.5], scale=(1, 5))["value"]
    assert found["score"] == pytest.approx((value - 1) / 4)
    assert found["pass"] == (value >= 4)


@pytest.mark.parametrize(
    ("context", "says"),
    [
        ({}, "votes are None"),
        ({"vars": {"votes": "pass"}}, "votes are 'pass'"),
        ({"vars": {"votes": []}}, "one at least"),
        ({"vars": {"votes": ["pass"]}, "config": {"treshold": 1}}, "config has 'treshold'"),
        ({"vars": {"votes": ["pass"]}, "config": {"threshold": 2}}, "threshold 2 is not between 0 and 1"),
        ({"vars": {"votes": [None]}}, "the answer of 'judge 1' is None"),
    ],
)
def test_wrong_contexts_are_refused(context, says: str) -> None:
    with pytest.raises(InputError, match=says):
        get_assert("x", context)


def test_a_provider_gives_the_verdict_on_answers() -> None:
    votes = {"ann": "fail", "bob": "pass", "cem": "fail"}
    expected = verdict([*votes.values()], [*votes])
    found = call_api("x", {"id": "file://panel.py", "config": {"basePath": "/"}}, {"vars": {"votes": votes}})
    assert found == {
        "output": {
            "pass": False,
            "panel": expected["value"],
            "panel_low": expected["low"],
            "panel_high": expected["high"],
            "prob": expected["prob"],
            "answers": votes,
        }
    }
    json.dumps(found, allow_nan=False)
    scores = call_api("x", {"config": {"votes": [4, 5], "scale": [1, 5], "threshold": 4}}, {})["output"]
    assert scores["panel"] == verdict([4, 5], scale=(1, 5))["value"]
    assert scores["answers"] == {"judge 1": 4, "judge 2": 5}


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({}, "votes are None"),
        ({"vote": []}, "config has 'vote'"),
        ({"votes": ["pass"], "threshold": 2}, "threshold 2 is not between 0 and 1"),
        ({"panel": "none.toml", "basePath": "/nowhere"}, "/nowhere/none.toml"),
    ],
)
def test_a_provider_says_what_is_wrong(config: dict[str, Any], says: str) -> None:
    found = call_api("x", {"config": config}, {})
    assert set(found) == {"error"}
    assert says in found["error"]


def scripted() -> Any:
    """The module of scripted servers, one copy for all tests."""
    name = "scripted_server"
    if name not in sys.modules:
        path = Path(__file__).parents[1] / "collect" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def test_a_provider_asks_judges_and_says_what_they_cost() -> None:
    said = {"big": 5, "small": 4}
    with scripted().ScriptedServer(lambda request: {"score": said[request["model"]]}) as server:
        judges = [
            {"name": name, "model": name, "base_url": server.url, "price_in": 1.0, "price_out": 2.0} for name in said
        ]
        config = {"panel": {"judges": judges}, "scale": [1, 5]}
        found = call_api("The cat sat.", {"config": config}, {"vars": {"source": "A cat sat on a mat."}})
        asked = [json.dumps(one) for one in server.requests]
    assert found["output"]["answers"] == said
    assert found["output"]["panel"] == verdict([5, 4], scale=(1, 5))["value"]
    assert len(asked) == 2
    assert all("The cat sat." in one and "A cat sat on a mat." in one for one in asked)
    usage = found["tokenUsage"]
    assert usage["numRequests"] == 2
    assert usage["total"] == usage["prompt"] + usage["completion"] > 0
    assert found["cost"] == pytest.approx((usage["prompt"] + 2 * usage["completion"]) / 1e6)
    assert found["metadata"] == {"missing": []}


def test_judges_without_an_answer_are_named() -> None:
    with scripted().ScriptedServer(lambda request: {"score": 4} if request["model"] == "big" else "no idea") as server:
        judges = [{"name": name, "model": name, "base_url": server.url} for name in ("big", "small")]
        panel = {"judges": judges, "answer_tries": 1}
        found = call_api("x", {"config": {"panel": panel}}, {})
        assert found["output"]["answers"] == {"big": 4}
        assert found["metadata"] == {"missing": ["small"]}
        panel = {"judges": judges[1:], "answer_tries": 1}
        none = call_api("x", {"config": {"panel": panel}}, {})
    assert "no judge answered" in none["error"]
    assert none["tokenUsage"]["numRequests"] == 1


def evaluated(tmp_path: Path, config: dict[str, Any]) -> list[dict[str, Any]]:
    """What promptfoo itself makes of a configuration."""
    named = os.environ.get("VOIRDIRE_PROMPTFOO")
    if named is None:
        pytest.skip("no promptfoo: install it from npm and name its command in VOIRDIRE_PROMPTFOO")
    (tmp_path / "panel.py").write_text("from voirdire.integrations.promptfoo import call_api, get_assert\n")
    (tmp_path / "promptfooconfig.json").write_text(json.dumps(config))
    environment = os.environ | {
        "PROMPTFOO_PYTHON": sys.executable,
        "PYTHONPATH": str(Path(voirdire.__file__).parents[1]),
        "PROMPTFOO_CONFIG_DIR": str(tmp_path / "home"),
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
    }
    done = subprocess.run(
        [named, "eval", "-c", "promptfooconfig.json", "-o", "out.json", "--no-cache", "-j", "1"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (tmp_path / "out.json").exists(), done.stdout + done.stderr
    return json.loads((tmp_path / "out.json").read_text())["results"]["results"]


TESTS = [
    {"vars": {"q": "a", "votes": {"ann": "pass", "bob": "pass"}}},
    {"vars": {"q": "b", "votes": {"ann": "fail", "bob": "fail"}}},
]


@pytest.mark.slow
def test_promptfoo_itself_takes_the_grade(tmp_path: Path) -> None:
    panel = {"type": "python", "value": "file://panel.py"}
    config = {"prompts": ["{{q}}"], "providers": ["echo"], "defaultTest": {"assert": [panel]}, "tests": TESTS}
    results = evaluated(tmp_path, config)
    by_input = {one["vars"]["q"]: one["gradingResult"]["componentResults"][0] for one in results}
    assert [by_input["a"]["pass"], by_input["b"]["pass"]] == [True, False]
    assert by_input["a"]["score"] == pytest.approx(verdict(["pass", "pass"])["value"])


@pytest.mark.slow
def test_promptfoo_itself_asks_the_provider(tmp_path: Path) -> None:
    sure = {"type": "javascript", "value": "output.panel > 0.5 && output.pass"}
    provider = {"id": "file://panel.py", "config": {"threshold": 0.5}}
    config = {"prompts": ["{{q}}"], "providers": [provider], "defaultTest": {"assert": [sure]}, "tests": TESTS}
    results = {one["vars"]["q"]: one for one in evaluated(tmp_path, config)}
    assert [results["a"]["success"], results["b"]["success"]] == [True, False]
    assert results["a"]["response"]["output"]["panel"] == pytest.approx(verdict(["pass", "pass"])["value"])
