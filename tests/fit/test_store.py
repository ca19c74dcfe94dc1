from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire import Fit, InputError, fit, load
from voirdire.fit.store import LAYOUT
from voirdire.folders import write_folder_atomically

ON_ITEMS = {
    "judge": ["ann", "bob", "cyd"] * 8,
    "first": ["x", "y", "z", "x"] * 6,
    "second": ["y", "z", "x", "z"] * 6,
    "winner": ["first", "tie", "second", "first", "first", "second"] * 4,
}
VOTES = pd.DataFrame(ON_ITEMS)
SEPARATE = VOTES.assign(criterion=["clarity"] * 12 + ["depth"] * 12, context=["p", "q"] * 12)
ON_CRITERIA = pd.DataFrame({"judge": ["ann", "bob", "dan"], "first": "clarity", "second": "depth", "winner": "first"})


@pytest.fixture(scope="module")
def fits() -> dict[str, Fit]:
    """One fit of every kind; what NUTS would record is put beside the draws of another method."""
    how = {"seed": 3, "prob": 0.8, "priors": {"reliability": {"a": 8}}}
    laplace = fit(VOTES, model="crowd-bt", method="laplace", **how)
    assert laplace.posterior.draws is not None
    chains = laplace.posterior.draws.reshape(4, 1000, -1)
    rng = np.random.default_rng(0)
    stats = {"diverging": rng.random((4, 1000)) < 0.01, "energy": rng.normal(size=(4, 1000))}
    return {
        "map": fit(VOTES, model="bradley-terry", method="map"),
        "laplace": laplace,
        "criteria": fit(SEPARATE, ON_CRITERIA, method="laplace"),
        "nuts": replace(
            laplace,
            posterior=replace(laplace.posterior, draws=chains),
            method="nuts",
            sampler="numpyro",
            sample_stats=stats,
        ),
    }


@pytest.mark.parametrize("kind", ["map", "laplace", "criteria", "nuts"])
def test_a_fit_comes_back_whole(fits: dict[str, Fit], kind: str, tmp_path: Path) -> None:
    saved = fits[kind]
    folder = saved.save(tmp_path / "deep" / "run")
    assert sorted(path.name for path in folder.iterdir()) == sorted(LAYOUT.parts)
    found = load(folder)
    assert found.as_dict() == saved.as_dict()
    assert json.loads((folder / "result.json").read_text()) == json.loads(json.dumps(saved.as_dict()))
    assert (found.model, found.sampler, found.notes) == (saved.model, saved.sampler, saved.notes)
    for table in ("ranking", "judges", "criteria", "checks", "strengths"):
        pd.testing.assert_frame_equal(getattr(found, table)(), getattr(saved, table)())
    asked = SEPARATE if kind == "criteria" else VOTES
    pd.testing.assert_frame_equal(found.predict(asked), saved.predict(asked))
    assert set(found.sample_stats) == set(saved.sample_stats)
    for name, value in saved.sample_stats.items():
        np.testing.assert_array_equal(found.sample_stats[name], value)
    if saved.posterior.draws is not None:
        strength = [np.asarray(one.idata.posterior["strength"]) for one in (found, saved)]
        np.testing.assert_array_equal(*strength)


def test_a_changed_prior_is_recorded(fits: dict[str, Fit], tmp_path: Path) -> None:
    found = load(fits["laplace"].save(tmp_path / "run"))
    assert found.model.overrides == (("reliability", "a", 8.0),)
    assert found.as_dict()["notes"][0] == "Prior changed: reliability.a = 8."
    assert found.as_dict()["notes"] == fits["laplace"].as_dict()["notes"]


def test_a_saved_folder_is_as_open_as_any_new_one(fits: dict[str, Fit], tmp_path: Path) -> None:
    (tmp_path / "usual").mkdir()
    folder = fits["map"].save(tmp_path / "run")
    assert folder.stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_an_empty_folder_is_filled_and_a_saved_fit_replaced_only_if_asked(fits: dict[str, Fit], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    fits["map"].save(folder)
    with pytest.raises(InputError, match=r"run: is not empty; name another or pass --overwrite"):
        fits["laplace"].save(folder)
    assert load(folder).method == "map"
    fits["laplace"].save(folder, overwrite=True)
    assert load(folder).method == "laplace"
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_overwrite_touches_nothing_but_a_saved_fit(fits: dict[str, Fit], tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match=r"holds 'thesis\.tex'"):
        fits["map"].save(tmp_path, overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_the_current_folder_is_not_replaced(
    fits: dict[str, Fit], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="is the current folder; name a new folder in it"):
        fits["map"].save(".")


@pytest.mark.parametrize("existed", [False, True])
def test_a_save_that_fails_half_way_leaves_what_was_there(
    fits: dict[str, Fit], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, existed: bool
) -> None:
    folder = tmp_path / "run"
    if existed:
        fits["map"].save(folder)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def full(place: Path, **arrays: object) -> None:
        Path(place).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(InputError, match=r"run: cannot be written \(No space left on device\)"):
        fits["laplace"].save(folder, overwrite=True)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert [path.name for path in tmp_path.iterdir()] == (["run"] if existed else [])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_command_killed_half_way_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    VOTES.to_csv(tmp_path / "votes.csv", index=False)
    code = f"""
import os, sys, time, numpy
def killed(place, **arrays):
    place.write_bytes(b"half")
    os.kill(os.getpid(), {int(number)})
    time.sleep(5)
numpy.savez_compressed = killed
sys.argv = ["voirdire", "fit", "votes.csv", "--method", "map", "--model", "bradley-terry", "--out", "run"]
from voirdire.cli import main
main()
"""
    source = str(Path(voirdire.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
    )
    name = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}[number]
    said = f"stopped by {name}: nothing is left half written\n"
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "", said)
    assert [path.name for path in tmp_path.iterdir()] == ["votes.csv"]


def test_new_folder_lets_other_errors_through(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), write_folder_atomically(tmp_path / "run", LAYOUT):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_saved_fit(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere: no saved fit here \(run.json is missing\)"):
        load(tmp_path / "nowhere")


def test_a_fit_of_another_format(fits: dict[str, Fit], tmp_path: Path) -> None:
    folder = fits["map"].save(tmp_path / "run")
    run = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(run | {"format": 99}))
    with pytest.raises(InputError, match="written in format 99, this version reads 2; upgrade voirdire"):
        load(folder)
    (folder / "run.json").write_text(json.dumps(run | {"format": 1}))
    with pytest.raises(InputError, match="written in format 1, this version reads 2; an older version wrote it: make"):
        load(folder)


def drop(key: str, run: str) -> str:
    return json.dumps({name: value for name, value in json.loads(run).items() if name != key})


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("arrays.npz", lambda content: content[: len(content) // 2]),
        ("arrays.npz", lambda content: b""),
        ("arrays.npz", lambda content: b"not an archive"),
        ("run.json", lambda content: content[: len(content) // 2]),
        ("run.json", lambda content: b"[1, 2]"),
        ("run.json", lambda content: drop("model", content.decode()).encode()),
        ("run.json", lambda content: drop("tables", content.decode()).encode()),
        ("run.json", lambda content: content.replace(b'"kind": "normal"', b'"kind": "abnormal"')),
        ("run.json", lambda content: content.replace(b'"kind": "fixed"', b'"kind": "two-coin"')),
    ],
)
def test_a_damaged_fit(fits: dict[str, Fit], tmp_path: Path, name: str, damage: object) -> None:
    folder = fits["map"].save(tmp_path / "run")
    file = folder / name
    file.write_bytes(damage(file.read_bytes()))  # type: ignore[operator]
    with pytest.raises(InputError, match="the saved fit is damaged"):
        load(folder)
