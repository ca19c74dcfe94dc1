"""Work on a cluster of two real processes, one of them killed on the way: nothing is lost, the numbers are the same."""

from __future__ import annotations

import importlib
import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire import InputError
from voirdire.cli import app
from voirdire.parallel import run_parallel
from voirdire_studies import run_study

distributed = pytest.importorskip("distributed", reason="Dask's distributed is not installed")


SLOW_SQUARES = '''
import os, time

def slow_square(folder, number):
    """Leave a file for each time that it is done."""
    (folder / "begun").touch()
    time.sleep(0.2)
    (folder / f"{number}-{os.getpid()}-{time.monotonic_ns()}").touch()
    return number**2
'''


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("modules")
    (folder / "slow_squares.py").write_text(SLOW_SQUARES)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))  # so that workers can import it, too
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as made:
            yield made


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    with distributed.Client(cluster, set_as_default=False) as made:
        made.wait_for_workers(2)
        yield made


def kill_one(client: Any, begun: Path) -> threading.Thread:
    """Kill a worker as soon as some task has begun."""
    victim = sorted(client.run(os.getpid).values())[0]

    def kill() -> None:
        while not begun.exists():
            time.sleep(0.05)
        os.kill(victim, signal.SIGKILL)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    return thread


def votes() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"judge": rng.choice(list("abc"), 400), "first": rng.choice(list("vwx"), 400)})
    return table.assign(second=rng.choice(list("yz"), 400), winner=rng.choice(["first", "second"], 400))


@pytest.mark.slow
def test_a_killed_worker_costs_its_task_only(client: Any, tmp_path: Path) -> None:
    slow_square = importlib.import_module("slow_squares").slow_square
    killer = kill_one(client, tmp_path / "begun")
    found = dict(run_parallel(partial(slow_square, tmp_path), range(30), None, client))
    killer.join()
    assert found == {number: number**2 for number in range(30)}
    # what a lost worker had done already is with the one who asked: at most a result on its way is made again
    assert len(list(tmp_path.glob("*-*"))) <= 31


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", ["bradley-terry", pytest.param("crowd-bt-position", marks=pytest.mark.long)]
)
def test_a_bootstrap_is_the_same_on_a_cluster(client: Any, model: str) -> None:
    fit = voirdire.fit(votes(), model=model, method="map")
    here = fit.bootstrap(250, seed=3)
    pd.testing.assert_frame_equal(fit.bootstrap(250, seed=3, client=client), here)
    assert not fit.bootstrap(250, seed=4).equals(here)


@pytest.mark.slow
def test_cross_validation_is_the_same_on_a_cluster(client: Any) -> None:
    models = ["bradley-terry", "crowd-bt", "crowd-bt-position"]
    here = voirdire.cross_validate(votes(), models, seed=1)
    found = voirdire.cross_validate(votes(), models, seed=1, client=client)
    pd.testing.assert_frame_equal(found, here)
    with pytest.raises(InputError) as there:
        voirdire.cross_validate(votes().assign(tie=1), ["bradley-terry", "rating-severity"], client=client)
    with pytest.raises(InputError) as locally:
        voirdire.cross_validate(votes().assign(tie=1), ["bradley-terry", "rating-severity"])
    assert there.value.problems == locally.value.problems


@pytest.mark.slow
def test_a_study_is_the_same_on_a_cluster_by_its_address(client: Any, project: Path, tmp_path: Path) -> None:
    study = project / "tests" / "studies" / "small.toml"
    here = run_study(study)
    found = run_study(study, client=client.scheduler.address, out=tmp_path / "out")
    pd.testing.assert_frame_equal(found.table, here.table)
    assert json.loads((tmp_path / "out" / "run.json").read_text())["study"] == "small"


@pytest.mark.slow
def test_a_plan_of_the_command_line_is_the_same_on_a_cluster(client: Any) -> None:
    words = ["plan", "--judge", "a=0.9", "--items", "5", "--target", "0.6", "--replicates", "2", "--json"]
    here, there = (
        CliRunner().invoke(app, [*words, *more]) for more in ([], ["--cluster", client.scheduler.address])
    )
    assert there.exit_code == 0, there.output
    assert json.loads(there.stdout) == json.loads(here.stdout)


@pytest.mark.slow
def test_workers_with_another_voirdire_are_refused(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voirdire.cluster._version", lambda: "0.0.1")
    with pytest.raises(InputError, match=r"worker tcp://.* has voirdire .*; install voirdire==0\.0\.1 there"):
        list(run_parallel(abs, [1], 1, client))


def test_an_address_where_nothing_answers_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voirdire.cluster.ANSWERS_WITHIN", 1)
    with pytest.raises(InputError, match=r"cluster tcp://127\.0\.0\.1:9: no Dask scheduler answers"):
        list(run_parallel(abs, [1], 1, "tcp://127.0.0.1:9"))
    with pytest.raises(InputError, match=r"client is 7; must be a distributed\.Client or the address"):
        list(run_parallel(abs, [1], 1, 7))
