"""The plugin of pytest: what its fixture does with each verdict, and that it loads nothing heavy."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import voirdire

pytest_plugins = ["pytester"]
PLUGIN = "voirdire.pytest_plugin"


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with new.csv and old.csv, of which the new one passes more often."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # plugins of other packages take seconds
    monkeypatch.setenv("PYTHONPATH", str(Path(voirdire.__file__).parents[1]))
    rng = np.random.default_rng(0)
    old = pd.DataFrame({"judge": "gpt", "item": range(120), "label": rng.choice(["pass", "fail"], 120)})
    old.to_csv(pytester.path / "old.csv", index=False)
    new = old.assign(label=np.where(rng.random(120) < 0.4, "pass", old["label"]))
    new.to_csv(pytester.path / "new.csv", index=False)
    return pytester


def test_each_verdict_has_its_outcome_and_is_listed(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        """
        def test_better(voirdire_gate):
            assert voirdire_gate("new.csv", "old.csv")["verdict"] == "pass"

        def test_worse(voirdire_gate):
            voirdire_gate("old.csv", "new.csv")

        def test_open(voirdire_gate):
            voirdire_gate("old.csv", "old.csv")

        def test_open_is_skipped(voirdire_gate):
            voirdire_gate("old.csv", "old.csv", inconclusive="skip")

        def test_open_passes(voirdire_gate):
            assert voirdire_gate("old.csv", "old.csv", inconclusive="pass")["verdict"] == "inconclusive"

        def test_wrong(voirdire_gate):
            voirdire_gate("old.csv", "old.csv", margin=-1)
        """
    )
    done = suite.runpytest_subprocess("-p", PLUGIN)
    done.assert_outcomes(passed=2, failed=3, skipped=1)
    done.stdout.fnmatch_lines(
        [
            "Fail: new is worse than old (-0.*",
            "*InputError: margin -1 is not 0 or more*",
            "*= voirdire gate =*",
            "*::test_better: Pass: new is better than old (+0.*",
        ]
    )
    done.stdout.no_fnmatch_line("*PytestAssertRewriteWarning*")


def test_a_setting_says_what_an_open_verdict_does(suite: pytest.Pytester) -> None:
    suite.makepyfile("def test_open(voirdire_gate): voirdire_gate('old.csv', 'old.csv')")
    suite.makeini("[pytest]\nvoirdire_inconclusive = skip")
    suite.runpytest_subprocess("-p", PLUGIN).assert_outcomes(skipped=1)
    done = suite.runpytest_subprocess("-p", PLUGIN, "-o", "voirdire_inconclusive=maybe")
    assert done.ret != 0
    done.stdout.fnmatch_lines(["*voirdire_inconclusive 'maybe' is none of fail, skip, pass*"])
    suite.makepyfile("def test_open(voirdire_gate): voirdire_gate('a', 'b', inconclusive='maybe')")
    done = suite.runpytest_subprocess("-p", PLUGIN)
    done.stdout.fnmatch_lines(["*UsageError: inconclusive 'maybe' is none of fail, skip, pass*"])


def test_a_suite_without_gates_loads_nothing_and_says_nothing(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        """
        import sys

        def test_light():
            assert {name for name in sys.modules if name.startswith("voirdire.")} == {"voirdire.pytest_plugin"}
        """
    )
    done = suite.runpytest_subprocess("-p", PLUGIN)
    done.assert_outcomes(passed=1)
    done.stdout.no_fnmatch_line("*voirdire gate*")


def test_the_entry_point_is_called_as_its_module(project: Path) -> None:
    """So that pytest, told to load it by name, does not load it a second time."""
    settings = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert settings["entry-points"]["pytest11"] == {PLUGIN: PLUGIN}


def test_importing_the_plugin_imports_no_heavy_library() -> None:
    code = f"import sys, {PLUGIN}; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(Path(voirdire.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert not {"numpy", "pandas", "scipy", "typer"} & set(done.stdout.split())
