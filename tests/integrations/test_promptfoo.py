"""What promptfoo gets: the dicts, and (where promptfoo is) its own evaluation.

VOIRDIRE_PROMPTFOO names promptfoo's entry point (node_modules/promptfoo/dist/src/entrypoint.js, or the command).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import voirdire
from voirdire import InputError
from voirdire.integrations.panel import verdict
from voirdire.integrations.promptfoo import get_assert


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


@pytest.mark.slow
def test_promptfoo_itself_takes_the_grade(tmp_path: Path) -> None:
    named = os.environ.get("VOIRDIRE_PROMPTFOO")
    if named is None:
        pytest.skip("no promptfoo: install it from npm and name its command in VOIRDIRE_PROMPTFOO")
    (tmp_path / "panel.py").write_text("from voirdire.integrations.promptfoo import get_assert\n")
    tests = [
        {"vars": {"q": "a", "votes": {"ann": "pass", "bob": "pass"}}},
        {"vars": {"q": "b", "votes": {"ann": "fail", "bob": "fail"}}},
    ]
    config = {
        "prompts": ["{{q}}"],
        "providers": ["echo"],
        "defaultTest": {"assert": [{"type": "python", "value": "file://panel.py"}]},
        "tests": tests,
    }
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
    results = json.loads((tmp_path / "out.json").read_text())["results"]["results"]
    by_input = {one["vars"]["q"]: one["gradingResult"]["componentResults"][0] for one in results}
    assert [by_input["a"]["pass"], by_input["b"]["pass"]] == [True, False]
    assert by_input["a"]["score"] == pytest.approx(verdict(["pass", "pass"])["value"])
