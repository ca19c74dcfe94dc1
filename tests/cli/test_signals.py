"""Ctrl-C and SIGTERM: exit codes 130 and 143 within a moment, nothing half written, whatever is under way."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voirdire

HERE = Path(__file__).parent
SECONDS = 20.0  # from a signal to the end, beside other work
NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(voirdire.__file__).parents[1])}
STUDY = """
name = "study"
kind = "recovery"
title = "A small study"
aim = "to be stopped"
source = "here"
seed = 5
replicates = 40000
batch = 2
items = 6
criteria = 1
truth = { kind = "ranks" }
models = ["bradley-terry"]
measures = ["items"]

[[designs]]
name = "all"
kind = "all-pairs"
order = "random"

[[panels]]
name = "one"
judges = [{ name = "a", kind = "accuracy", accuracy = 0.9 }]
"""
# the second, once a study has begun
KEPT = ("nothing is left half written", "finished batches are kept in sim; the same command goes on from there")
# every verb that computes for long; none of these ends by itself before the last signal, but fit and next
COMMANDS = {
    "fit": ["fit", "votes.csv", "--out", "run", "--overwrite"],
    "next": ["next", "votes.csv", "--out", "form.csv"],
    "plan": ["plan", "--judge", "a=0.8", "--items", "6", "--replicates", "2000"],
    "simulate": ["simulate", "study.toml", "--out", "sim"],
}


class Zygote:
    """Processes that run the command line and start at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "zygote.py")],
            env=ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._answer() == self.process.pid

    def _answer(self) -> int:
        assert self.process.stdout is not None
        return int(self.process.stdout.readline())

    def _tell(self, command: dict[str, Any]) -> int:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def stopped(self, words: list[str], moment: float | str, number: int) -> tuple[int, float, str] | None:
        """Exit code, seconds to the end and stderr of a command after a signal; None where it had ended before.

        The signal comes at a moment, in seconds, or once there is a file.
        """
        process = self.start(words)
        if isinstance(moment, str):
            deadline = time.monotonic() + 60
            while not (self.folder / moment).exists() and time.monotonic() < deadline:
                time.sleep(0.02)
        else:
            time.sleep(moment)
        over = not running(process)
        os.kill(process, number)
        start = time.monotonic()
        status = self.wait(process)
        seconds = time.monotonic() - start
        return None if over else (os.waitstatus_to_exitcode(status), seconds, (self.folder / "said").read_text())

    def start(self, words: list[str]) -> int:
        """Start a command; return its process."""
        return self._tell({"run": words, "cwd": str(self.folder), "said": str(self.folder / "said")})

    def wait(self, process: int) -> int:
        """Wait for the end of a command; return its status."""
        return self._tell({"wait": process})


@pytest.fixture(scope="module")
def zygote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zygote]:
    if not Path("/proc/self/stat").exists() or not hasattr(os, "fork"):
        pytest.skip("needs /proc and fork")
    folder = tmp_path_factory.mktemp("signals")
    pairs = list(itertools.combinations("tuvwxyz", 2))
    rows = [f"{judge},{a},{b},{a if n % 4 else b}" for judge in "abcd" for n, (a, b) in enumerate(pairs)]
    (folder / "votes.csv").write_text("\n".join(["judge,first,second,winner", *rows]) + "\n")
    (folder / "study.toml").write_text(STUDY)
    zygote = Zygote(folder)
    with zygote.process:
        yield zygote
        assert zygote.process.stdin is not None
        zygote.process.stdin.close()


def whole(folder: Path) -> None:
    """What the commands write is there whole or not at all, and nothing else is there."""
    names = {path.name for path in folder.iterdir()}
    assert names <= {"votes.csv", "study.toml", "said", "run", "form.csv", "sim"}
    if "run" in names:
        assert {path.name for path in (folder / "run").iterdir()} == {"result.json", "run.json", "arrays.npz"}
        json.loads((folder / "run" / "result.json").read_text())
    if "form.csv" in names:
        assert len((folder / "form.csv").read_text().splitlines()) == 11
        (folder / "form.csv").unlink()
    if "sim" in names:
        assert {path.name for path in (folder / "sim").iterdir()} == {"batches.jsonl"}


def check(zygote: Zygote, verb: str, moment: float | str, number: signal.Signals) -> bool:
    """Stop a command and see how it ends; False where it was over before."""
    found = zygote.stopped(COMMANDS[verb], moment, number)
    whole(zygote.folder)
    if found is None:
        return False
    code, seconds, said = found
    if (verb, number, code) == ("fit", signal.SIGINT, 0):  # chains ended, and what they had drawn is the fit
        assert seconds < SECONDS
        return True
    assert code == 128 + number, (verb, moment, said)
    assert seconds <= SECONDS, (verb, moment)
    lines = [f"stopped by {NAMES[number]}: {kept}\n" for kept in KEPT]
    assert said.splitlines(keepends=True)[-1] in (lines if verb == "simulate" else lines[:1])
    return True


@pytest.mark.parametrize(
    ("verb", "moment", "number"),
    [
        ("fit", 0.6, signal.SIGINT),
        ("next", 0.4, signal.SIGTERM),
        ("plan", 0.9, signal.SIGINT),
        ("simulate", "sim/batches.jsonl", signal.SIGTERM),
    ],
)
def test_a_signal_ends_a_verb(zygote: Zygote, verb: str, moment: float | str, number: signal.Signals) -> None:
    assert check(zygote, verb, moment, number)
    assert (KEPT[1] in (zygote.folder / "said").read_text()) == (verb == "simulate")


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("signals", [20, pytest.param(200, marks=pytest.mark.long)])
def test_signals_at_any_moment(zygote: Zygote, signals: int) -> None:
    rng = np.random.default_rng(0)
    seen = 0
    while seen < signals:
        verb = list(COMMANDS)[seen % 4]
        number = signal.SIGINT if rng.random() < 0.5 else signal.SIGTERM
        seen += check(zygote, verb, float(rng.uniform(0.0, 2.5)), number)


def descendants(process: int) -> list[int]:
    """Processes below a process, and theirs."""
    found = []
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        for child in map(int, children.read_text().split()):
            found += [child, *descendants(child)]
    return found


def running(process: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.slow
def test_no_worker_outlives_a_killed_study_and_nobody_else_writes_to_its_folder(zygote: Zygote) -> None:
    """Workers end within ten seconds of a kill; meanwhile a second run on the folder says why it does not begin."""
    words = [*COMMANDS["simulate"][:-1], "shared", "--jobs", "2"]
    process = zygote.start(words)
    workers: list[int] = []
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and len(workers) < 3:  # two, and what tracks them
        time.sleep(0.2)
        workers = descendants(process)
    assert len(workers) >= 3
    second = zygote.start(words)
    assert os.waitstatus_to_exitcode(zygote.wait(second)) == 1
    said = "output folder shared: another run is writing to it; wait for its end or name another"
    assert said in (zygote.folder / "said").read_text()
    os.kill(process, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(zygote.wait(process)) == -signal.SIGKILL
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and any(map(running, workers)):
        time.sleep(0.1)
    assert [worker for worker in workers if running(worker)] == []
    shutil.rmtree(zygote.folder / "shared")


def ended(code: str, *, ignore: bool = False) -> subprocess.CompletedProcess[str]:
    """A process of its own, which runs ``code`` where signals are handled."""
    program = (
        "import os, signal, time\nfrom pathlib import Path\n"
        "from voirdire import drafts\nfrom voirdire.cli import signals\n"
        f"signal.signal(signal.SIGINT, signal.{'SIG_IGN' if ignore else 'default_int_handler'})\n"
        "with signals.handle_signals():\n" + "\n".join(f"    {line}" for line in code.strip().splitlines())
    )
    words = [sys.executable, "-c", program]
    return subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=60)


def test_compiled_code_is_not_waited_for() -> None:
    start = time.monotonic()
    done = ended(
        """
import hashlib, threading
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGTERM)).start()
hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)
"""
    )
    assert (done.returncode, done.stderr) == (143, "stopped by SIGTERM: nothing is left half written\n")
    assert time.monotonic() - start < 20  # the computation takes minutes


def test_a_step_is_finished_and_drafts_are_removed(tmp_path: Path) -> None:
    done = ended(
        f"""
draft = drafts.new_draft_folder(Path({str(tmp_path)!r}, "a"))
(draft / "half").write_text("half")
with drafts.atomic_step():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.3)
    Path({str(tmp_path)!r}, "whole").write_text("whole")
time.sleep(10)
"""
    )
    assert done.returncode == 130
    assert [path.name for path in tmp_path.iterdir()] == ["whole"]


def test_a_childs_signal_is_its_own_and_an_ignored_one_stays_ignored() -> None:
    done = ended(
        """
child = os.fork()
if child == 0:
    time.sleep(20)
    os._exit(1)
os.kill(child, signal.SIGTERM)
print(os.waitpid(child, 0)[1], flush=True)
os.kill(os.getpid(), signal.SIGINT)
time.sleep(0.2)
print("ignored")
""",
        ignore=True,
    )
    assert (done.returncode, done.stdout) == (0, f"{int(signal.SIGTERM)}\nignored\n")


def test_what_ends_well_by_itself_is_left_to_do_so() -> None:
    done = ended(
        """
try:
    with signals.leave_signals_alone():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
except KeyboardInterrupt:
    print("closed", flush=True)
os.kill(os.getpid(), signal.SIGINT)
time.sleep(5)
"""
    )
    assert (done.returncode, done.stdout) == (130, "closed\n")
