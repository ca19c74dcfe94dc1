"""Ctrl-C while chains run, and what is told of them."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.infer.stopping import listen_for_interrupt


@pytest.fixture(autouse=True)
def _ends_at_ctrl_c() -> Iterator[None]:
    """A process that a shell began in the background ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def panel() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    k, c, i = (part.ravel() for part in np.indices((2, 2, 30)))
    theta = 0.2 * rng.standard_normal((2, 30)) + 0.8 * (np.arange(30) == 29)
    score = (3.0 + theta[c, i] + 0.2 * rng.standard_normal(len(k))).round(3)
    names = {"judge": k, "criterion": c, "item": i}
    table = pd.DataFrame({name: [f"{name[0]}{one:02d}" for one in code] for name, code in names.items()})
    return table.assign(score=score)


def fitted(*signals_at: int, told: list[tuple[int, int, str]] | None = None) -> Any:
    """A fit that hears Ctrl-C after some of its moves."""

    def progress(done: int, total: int, said: str) -> None:
        if told is not None:
            told.append((done, total, said))
        for _ in range(signals_at.count(done)):
            signal.raise_signal(signal.SIGINT)

    return voirdire.fit(panel(), model="rating-continuous-halo", levels=[0, 6], progress=progress)


def test_ctrl_c_keeps_what_chains_have_drawn() -> None:
    told: list[tuple[int, int, str]] = []
    found = fitted(100, told=told)
    assert found.method == "hmc"
    assert max(done for done, _, _ in told) <= 101
    assert any("Ctrl-C ended the chains early" in note for note in found.notes)
    assert found.ranking()["item"][0] == "i29"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_before_the_first_draws_it_leaves_the_approximation() -> None:
    found = fitted(3)
    assert found.method == "laplace"
    assert any("before their first draws" in note for note in found.notes)
    assert found.ranking()["low"].notna().all()


@pytest.mark.slow
def test_a_second_one_ends_the_fit() -> None:
    with pytest.raises(KeyboardInterrupt):
        fitted(100, 100)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.slow
def test_what_is_known_so_far_is_told() -> None:
    told: list[tuple[int, int, str]] = []
    found = fitted(told=told)
    assert not any("Ctrl-C" in note for note in found.notes)
    assert [done for done, _, _ in told] == list(range(1, len(told) + 1))
    assert all(done <= total for done, total, _ in told)
    said = told[-1][2]
    assert said.startswith("R-hat 1.0")
    assert "effective sample size" in said
    assert said.endswith("i29 first")


def test_another_program_keeps_its_own_ctrl_c() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        with listen_for_interrupt() as stop:
            signal.raise_signal(signal.SIGINT)
            assert not stop.asked
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [signal.SIGINT]


@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_at_the_command_line_the_second_signal_ends_the_process(number: str, code: int) -> None:
    program = (
        "import os, signal, time\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from voirdire.cli import signals\n"
        "from voirdire.infer.stopping import listen_for_interrupt\n"
        "with signals.handle_signals(), signals.keep_draws_at_stop(), listen_for_interrupt() as stop:\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(0.3)\n    print(stop.asked, flush=True)\n"
        f"    os.kill(os.getpid(), signal.{number})\n    time.sleep(20)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (code, "True\n")
    assert done.stderr.startswith("stopped by")
