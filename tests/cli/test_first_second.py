"""A signal in the first second of a command, while it imports what it needs, and in the last moment, while it ends."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import voirdire

LINES = {
    signal.SIGINT: "stopped by Ctrl-C: nothing is left half written\n",
    signal.SIGTERM: "stopped by SIGTERM: nothing is left half written\n",
}
# Python runs it before anything else: it tells the test when the first module of the command line is imported, and
# what had been before
WATCHER = """
import os, sys

def watch(event, args):
    if event == "import" and args[0] == "voirdire.cli" and "VOIRDIRE_TEST_PIPE" in os.environ:
        pipe = int(os.environ.pop("VOIRDIRE_TEST_PIPE"))
        ours = [name for name in sys.modules if name.partition(".")[0] not in sys.stdlib_module_names]
        os.write(pipe, (" ".join(ours) + "\\n").encode())

sys.addaudithook(watch)
"""
VERBS = {
    "help": ["--help"],
    "models": ["models"],
    "fit": ["fit", "votes.csv", "--model", "crowd-bt", "--method", "map", "--out", "run"],
    "import": ["import", "annotations.json", "--out", "run"],
}
SCRIPT_AND_MODULE = ("script", "module")
ANNOTATIONS = [
    {"instruction": f"q{n}", "generator_1": "a", "generator_2": "b", "annotator": "j", "preference": 1 + n % 2}
    for n in range(4)
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    if not Path("/proc/self/status").exists():
        pytest.skip("needs a system with signals and pipes")
    rows = ["judge,first,second,winner", *(f"{j},x,y,{w}" for j in "abc" for w in ("x", "x", "y"))]
    (tmp_path / "votes.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "annotations.json").write_text(json.dumps(ANNOTATIONS))
    (tmp_path / "early").mkdir()
    (tmp_path / "early" / "sitecustomize.py").write_text(WATCHER)
    return tmp_path


def doors(project: Path, folder: Path) -> dict[str, list[str]]:
    """The two ways to start the command line: the script that an installer writes, and the module."""
    script = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    module, _, function = script["voirdire"].partition(":")
    (folder / "voirdire").write_text(f"import sys\nfrom {module} import {function}\nsys.exit({function}())\n")
    return {"script": [str(folder / "voirdire")], "module": ["-m", "voirdire"]}


class Command:
    """A command that has been started, from the moment on when it imports its command line."""

    def __init__(self, folder: Path, words: list[str]) -> None:
        reader, writer = os.pipe()
        paths = [str(folder / "early"), str(Path(voirdire.__file__).parents[1])]
        self.process = subprocess.Popen(
            [sys.executable, *words],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "VOIRDIRE_TEST_PIPE": str(writer)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            pass_fds=[writer],
        )
        os.close(writer)
        assert select.select([reader], [], [], 60)[0]
        with os.fdopen(reader) as pipe:
            self.imported = pipe.readline().split()

    def ended_by(self, number: signal.Signals) -> tuple[int, str, str]:
        """Exit code, stdout and stderr after a signal."""
        self.process.send_signal(number)
        out, said = self.process.communicate(timeout=60)
        return self.process.returncode, out, said


@pytest.mark.parametrize("door", SCRIPT_AND_MODULE)
def test_signals_are_heard_before_anything_heavy_is_imported(project: Path, folder: Path, door: str) -> None:
    command = Command(folder, [*doors(project, folder)[door], "models"])
    assert command.ended_by(signal.SIGINT) == (130, "", LINES[signal.SIGINT])
    ours = {name for name in command.imported if name.partition(".")[0] == "voirdire"}
    assert ours <= {"voirdire", "voirdire.__main__", "voirdire.early_signals"}
    assert not {"numpy", "pandas", "typer", "scipy", "jax"} & set(command.imported)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("tries", [40])
def test_a_signal_in_the_first_second_prints_one_line(project: Path, folder: Path, tries: int) -> None:
    rng = np.random.default_rng(tries)
    whole = {verb: written(project, folder, verb) for verb in VERBS}
    stopped = 0
    for n, share in enumerate(rng.permutation(np.linspace(0.0, 1.0, tries))):
        verb, door = list(VERBS)[n % 4], SCRIPT_AND_MODULE[n // 4 % 2]
        delay = share * min(1.0, whole[verb].seconds)  # of a command that is over sooner
        number = (signal.SIGINT, signal.SIGTERM)[n // 8 % 2]
        command = Command(folder, [*doors(project, folder)[door], *VERBS[verb]])
        time.sleep(delay)
        code, _, said = command.ended_by(number)
        where = (verb, door, number.name, delay)
        if code != 0:  # else it was over before
            assert (code, said) == (128 + number, LINES[number]), where
            stopped += 1
        left = {path.name for path in folder.iterdir()}
        assert left <= {"votes.csv", "annotations.json", "early", "voirdire", "run"}, where
        if "run" in left:
            assert removed(folder / "run") == whole[verb].files, where
    assert stopped >= tries / 2


class Whole(NamedTuple):
    """What a verb writes where nobody stops it, and how long it takes from where it can be stopped."""

    files: set[str]
    seconds: float


def written(project: Path, folder: Path, verb: str) -> Whole:
    command = Command(folder, [*doors(project, folder)["module"], *VERBS[verb]])
    begin = time.perf_counter()
    command.process.communicate(timeout=60)
    seconds = time.perf_counter() - begin
    assert command.process.returncode == 0
    return Whole(removed(folder / "run") if (folder / "run").exists() else set(), seconds)


def removed(run: Path) -> set[str]:
    """The files of a folder, which is removed."""
    names = {path.name for path in run.iterdir()}
    shutil.rmtree(run)
    return names


@pytest.mark.slow
@pytest.mark.parametrize(("door", "verb"), [("script", "fit"), ("module", "models")])
def test_a_signal_in_the_last_moment_leaves_no_traceback(project: Path, folder: Path, door: str, verb: str) -> None:
    words = [*doors(project, folder)[door], *VERBS[verb][:6], "--json"]
    for number, delay in zip((signal.SIGINT, signal.SIGTERM) * 2, (0.0, 0.0, 0.01, 0.03), strict=True):
        command = Command(folder, words)
        assert command.process.stdout is not None
        shown = command.process.stdout.readline()
        json.loads(shown)
        time.sleep(delay)
        code, more, said = command.ended_by(number)
        assert (code, more, said) in ((0, "", ""), (128 + number, "", LINES[number])), (number, delay)
