"""Work on a cluster of two real processes, one of them killed on the way: nothing is lost, the numbers are the same."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
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
from voirdire.agreement import compare_metrics
from voirdire.cli import app
from voirdire.fit.independent_fits import fit_each
from voirdire.parallel import run_parallel
from voirdire_repro import load_system
from voirdire_repro.rerun import rerun, used_rows
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

def new_pages(number):
    """Pages that the system gives for a hundred arrays of a megabyte, one after the other."""
    import resource
    import numpy as np
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        np.ones(1 << 17)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
'''


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("modules")
    (folder / "slow_squares.py").write_text(SLOW_SQUARES)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))  # so that workers can import it, too
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as made:
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
@pytest.mark.parametrize("model", ["bradley-terry", pytest.param("crowd-bt-position", marks=pytest.mark.long)])
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
@pytest.mark.skipif(sys.platform != "linux", reason="of glibc")
def test_workers_use_memory_again(client: Any) -> None:
    new_pages = importlib.import_module("slow_squares").new_pages
    found = [pages for _, pages in run_parallel(new_pages, range(4), None, client)]
    assert max(found) < 5_000  # of 25,600


def ratings(kind: str) -> pd.DataFrame:
    """Answers of three judges and a person about forty items, in two contexts."""
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"judge": np.repeat(["a", "b", "c", "person"], 40), "item": np.tile(np.arange(40), 4)})
    table["context"] = np.where(table["item"] < 20, "u", "v")
    truth = rng.normal(size=40)[table["item"]] + 0.5 * rng.normal(size=160)
    if kind == "label":
        return table.assign(label=np.where(truth > 0, "yes", "no"))
    score = np.clip(np.round(truth + 3), 1, 5).astype(int)
    if kind == "score":
        return table.assign(score=score)
    return table.assign(rank=score, context=table["item"] // 4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "models"),
    [("label", ["dawid-skene"]), ("score", ["rating-severity", "rating-learned"]), ("rank", ["plackett-luce"])],
)
def test_folds_of_every_kind_are_shared(client: Any, kind: str, models: list[str]) -> None:
    table = ratings(kind).drop(columns=[] if kind == "rank" else "context")
    here = voirdire.cross_validate(table, models, folds=3, seed=1)
    pd.testing.assert_frame_equal(voirdire.cross_validate(table, models, folds=3, seed=1, client=client), here)


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [{}, {"unit": "both"}, {"unit": "context", "interval": "bca"}, {"measures": "cohen_kappa", "against": "person"}],
)
def test_agreement_is_the_same_on_a_cluster(client: Any, settings: dict[str, Any]) -> None:
    here = voirdire.agreement(ratings("label"), resamples=300, **settings)
    for cluster in (client, client.scheduler.address):
        found = voirdire.agreement(ratings("label"), resamples=300, client=cluster, **settings)
        pd.testing.assert_frame_equal(found, here)


@pytest.mark.slow
def test_metrics_and_people_are_compared_the_same_on_a_cluster(client: Any) -> None:
    for verb, more in ((voirdire.metaeval, {}), (compare_metrics, {"permutations": 99})):
        here, there = (
            verb(ratings("score"), "person", resamples=300, client=cluster, **more) for cluster in (None, client)
        )
        pd.testing.assert_frame_equal(there, here)
    people = ratings("label").query("judge == 'person' and item < 30").drop(columns="judge")
    judges = ratings("label").query("judge != 'person'")
    here, there = (voirdire.agreement(judges, humans=people, client=cluster) for cluster in (None, client))
    pd.testing.assert_frame_equal(there, here)


@pytest.mark.slow
@pytest.mark.parametrize("words", [["agree"], ["metaeval", "--human", "person"]])
def test_commands_of_agreement_take_a_cluster(client: Any, tmp_path: Path, words: list[str]) -> None:
    ratings("score").to_csv(tmp_path / "scores.csv", index=False)
    verb, *more = words
    here, there = (
        CliRunner().invoke(app, [verb, str(tmp_path / "scores.csv"), *more, "--resamples", "300", "--json", *cluster])
        for cluster in ([], ["--cluster", client.scheduler.address])
    )
    assert there.exit_code == 0, there.output
    assert json.loads(there.stdout) == json.loads(here.stdout)


@pytest.mark.slow
def test_simulations_of_a_paper_are_rerun_the_same_on_a_cluster(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    system = load_system("maple")
    some = {"maple/position": used_rows(system)["maple/position"][:1]}
    monkeypatch.setattr("voirdire_repro.rerun.used_rows", lambda _: some)
    here, there = (rerun(system, replicates=2, client=cluster) for cluster in (None, client))
    assert there == here


@pytest.mark.slow
def test_groups_and_tables_without_each_judge_are_fitted_the_same_on_a_cluster(client: Any) -> None:
    table = ratings("score")
    tables = {f"without {judge}": table[table["judge"] != judge] for judge in "abc"}
    tables |= {f"in {context}": group for context, group in table.groupby("context")}
    here, there = (fit_each(tables, model="rating-severity", client=cluster) for cluster in (None, client))
    assert list(there) == list(here) == list(tables)
    for name in tables:
        pd.testing.assert_frame_equal(there[name].ranking(), here[name].ranking())
    assert "b" not in set(there["without b"].judges()["judge"])
    tables["empty"] = table.drop(columns="judge")
    with pytest.raises(InputError, match=r"^empty: "):
        fit_each(tables, model="rating-severity", client=client)


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
    here, there = (CliRunner().invoke(app, [*words, *more]) for more in ([], ["--cluster", client.scheduler.address]))
    assert there.exit_code == 0, there.output
    assert json.loads(there.stdout) == json.loads(here.stdout)


@pytest.mark.slow
def test_workers_with_another_voirdire_are_refused(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voirdire.parallel._our_version", lambda: "0.0.1")
    with pytest.raises(InputError, match=r"worker tcp://.* has voirdire .*; install voirdire==0\.0\.1 there"):
        list(run_parallel(abs, [1], 1, client))


def test_an_address_where_nothing_answers_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voirdire.parallel.ANSWER_TIMEOUT", 1)
    with pytest.raises(InputError, match=r"cluster tcp://127\.0\.0\.1:9: no Dask scheduler answers"):
        list(run_parallel(abs, [1], 1, "tcp://127.0.0.1:9"))
    with pytest.raises(InputError, match=r"client is 7; must be a distributed\.Client or the address"):
        list(run_parallel(abs, [1], 1, 7))
