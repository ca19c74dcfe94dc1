"""Folders are written whole or not at all, what is not ours is never replaced, and the old run outlives every fault."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from voirdire import InputError, agreement, collect, fit, load
from voirdire.cli.demo import DEFAULT_FOLDER
from voirdire.cli.demo_panel import Demo
from voirdire.cli.demo_panel import demo_layout as demo_layout
from voirdire.folders import check_resumed_folder, write_file, write_folder_atomically
from voirdire.layouts import Layout, read_json, recognise_json, recognise_text
from voirdire.report.sources import save_rows
from voirdire_studies.runner import JOURNAL
from voirdire_studies.runner import LAYOUT as STUDY

VOTES = pd.DataFrame({"judge": "a", "first": ["x"] * 3, "second": "y", "winner": ["x", "x", "y"]})
LABELS = pd.DataFrame({"judge": ["a", "b"] * 4, "item": [1, 1, 2, 2, 3, 3, 4, 4], "label": list("yyyynnny")})
NOTE = Layout("a note", {"note": recognise_text("note "), "more": recognise_json("made")})

CALLS = (
    *((os, name) for name in ("replace", "rename", "mkdir", "rmdir", "unlink", "chmod", "fsync")),
    *((shutil, name) for name in ("rmtree", "copytree", "move", "copy2")),
    *((tempfile, name) for name in ("mkdtemp", "mkstemp")),
)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Faults:
    """Calls that fail: each by chance, before or after it has done its work, once or from then on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
        self.rng, self.failed, self.broken = np.random.default_rng(seed), 0, set()
        self.share = self.rng.choice([0.05, 0.2, 0.5, 0.9])
        calls = CALLS[:2] if seed % 4 else CALLS  # renames alone, or any call
        self.errors = [OSError(28, "No space left on device"), PermissionError(13, "Permission denied")]
        self.errors += [KeyboardInterrupt()]
        for module, name in calls:
            monkeypatch.setattr(module, name, self.wrapped(name, getattr(module, name)))

    def wrapped(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def faulty(*args: Any, **kwargs: Any) -> Any:
            if name not in self.broken and self.rng.random() >= self.share:
                return call(*args, **kwargs)
            self.failed += name in ("replace", "rename")
            if self.rng.random() < 0.3:
                self.broken.add(name)
            if self.rng.random() < 0.3:
                call(*args, **kwargs)
            error = self.errors[self.rng.integers(len(self.errors))]
            if name == "rmtree" and kwargs.get("ignore_errors") and isinstance(error, OSError):
                return None
            raise error

        return faulty


def injected(tmp_path: Path, wanted: int) -> None:
    """Replace a folder while calls fail, until so many renames have failed. Whatever happens, a run is whole."""
    old, new = {"note": b"note old", "more": b'{"made": 1}'}, {"note": b"note new", "more": b'{"made": 2}'}
    failed, seed = 0, 0
    while failed < wanted:
        seed += 1
        parent = tmp_path / str(seed)
        target = parent / "run"
        target.mkdir(parents=True)
        for name, content in old.items():
            (target / name).write_bytes(content)
        said = ""
        with pytest.MonkeyPatch.context() as patch:
            injector = Faults(patch, seed)
            try:
                with write_folder_atomically(target, NOTE, overwrite=True) as place:
                    for name, content in new.items():
                        (place / name).write_bytes(content)
            except (InputError, OSError, KeyboardInterrupt) as error:
                said = str(error) or "interrupted"
        failed += injector.failed
        if target.exists() and tree(target) in (old, new):
            assert said or tree(target) == new, seed
        else:  # nothing could be moved or copied back: it is said where the old one is
            (kept,) = [path for path in parent.glob(".run.*/old") if tree(path) == old]
            assert str(kept) in said, (seed, said)
        shutil.rmtree(parent)


def test_the_old_run_outlives_renames_that_fail(tmp_path: Path) -> None:
    injected(tmp_path, 150)


@pytest.mark.slow
def test_the_old_run_outlives_a_thousand_renames_that_fail(tmp_path: Path) -> None:
    injected(tmp_path, 1000)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("name", ["replace", "rename"])
def test_a_rename_that_fails_leaves_the_saved_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, first: bool
) -> None:
    found = fit(VOTES, model="bradley-terry", method="map")
    found.save(tmp_path / "run")
    before, calls, call = tree(tmp_path), [], getattr(os, name)

    def fails(*args: Any) -> None:
        calls.append(args)
        if first or len(calls) > 1:
            raise OSError(28, "No space left on device")
        call(*args)

    monkeypatch.setattr(os, name, fails)
    if name == "replace":
        with pytest.raises(InputError, match=r"run: cannot be written \(No space left on device\); name another"):
            found.save(tmp_path / "run", overwrite=True)
        assert tree(tmp_path) == before
    else:
        found.save(tmp_path / "run", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert load(tmp_path / "run").method == "map"


STRANGERS: dict[str, Callable[[Path], object]] = {
    "another program's run.json": lambda run: (run / "run.json").write_text('{"epochs": 3}'),
    "no JSON": lambda run: (run / "run.json").write_text("years of work"),
    "nested deeply": lambda run: (run / "run.json").write_text("[" * 100_000),
    "a folder of that name": lambda run: ((run / "run.json").unlink(), (run / "run.json").mkdir()),
    "a link": lambda run: ((run / "run.json").rename(run.parent / "mine"), (run / "run.json").symlink_to("../mine")),
    "another file": lambda run: (run / "thesis.tex").write_text("years of work"),
    "a hidden file": lambda run: (run / ".notes").write_text("years of work"),
}
FIT = {"another program's arrays": lambda run: np.savez(run / "arrays.npz", weights=np.zeros(3))}


@pytest.mark.parametrize("stranger", [*STRANGERS, *FIT])
def test_overwrite_replaces_no_stranger_in_a_fit(tmp_path: Path, stranger: str) -> None:
    found = fit(VOTES, model="bradley-terry", method="map")
    found.save(tmp_path / "run")
    (STRANGERS | FIT)[stranger](tmp_path / "run")
    before = tree(tmp_path)
    with pytest.raises(InputError, match=r"holds '.*', which is no part of a saved fit; name another folder"):
        found.save(tmp_path / "run", overwrite=True)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("stranger", STRANGERS)
def test_overwrite_replaces_no_stranger_in_rows(tmp_path: Path, stranger: str) -> None:
    rows = agreement(LABELS, resamples=20)
    save_rows(rows, tmp_path / "run", "agree", {})
    save_rows(rows, tmp_path / "run", "agree", {}, overwrite=True)
    STRANGERS[stranger](tmp_path / "run")
    before = tree(tmp_path)
    with pytest.raises(InputError, match=r"holds '.*', which is no part of saved rows; name another folder"):
        save_rows(rows, tmp_path / "run", "agree", {}, overwrite=True)
    assert tree(tmp_path) == before


def test_a_fit_does_not_replace_rows_nor_rows_a_fit(tmp_path: Path) -> None:
    rows, found = agreement(LABELS, resamples=20), fit(VOTES, model="bradley-terry", method="map")
    save_rows(rows, tmp_path / "rows", "agree", {})
    found.save(tmp_path / "fit")
    before = tree(tmp_path)
    with pytest.raises(InputError, match="no part of a saved fit"):
        found.save(tmp_path / "rows", overwrite=True)
    with pytest.raises(InputError, match="no part of saved rows"):
        save_rows(rows, tmp_path / "fit", "agree", {}, overwrite=True)
    assert tree(tmp_path) == before


def test_the_demo_replaces_its_own_folder_and_no_changed_table(tmp_path: Path) -> None:
    found = fit(VOTES, model="bradley-terry", method="map")
    from voirdire.datasets import load as data

    panel = data("demo")
    demo = Demo(panel.table, panel.gold, panel.items, found, found, found)  # type: ignore[arg-type]
    folder = tmp_path / DEFAULT_FOLDER
    demo.save(folder)
    demo.save(folder, overwrite=True)
    assert sorted(demo_layout().parts) == sorted(path.name for path in folder.iterdir())
    for name in ("votes.csv", "report.html", "fit/run.json"):
        changed = folder / name
        kept = changed.read_text()
        changed.write_text("judge,first,second,winner\n" + kept)
        with pytest.raises(InputError, match=f"holds '{name.partition('/')[0]}', which is no part of the demo"):
            demo.save(folder, overwrite=True)
        changed.write_text(kept)
    demo.save(folder, overwrite=True)


def test_a_study_goes_on_in_its_own_folder_alone(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    fit(VOTES, model="bradley-terry", method="map").save(folder)
    with pytest.raises(InputError, match=r"holds 'arrays.npz' and no journal of a study; name a new folder"):
        check_resumed_folder(folder, STUDY, JOURNAL)
    (folder / JOURNAL).write_text('{"study": "rq1", "sha256": "0f"}\n')
    before = tree(tmp_path)
    from voirdire_studies import run_study

    with pytest.raises(InputError, match=r"holds another 'run.json' than that of a study, which would be lost"):
        run_study("rq1", replicates=1, out=folder)
    assert tree(tmp_path) == before


def test_a_collection_writes_over_no_other_run(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    (tmp_path / "items.csv").write_text("id,text\na,one\nb,two\n")
    panel = {"judges": [{"name": "rule", "model": "rule:longer"}]}
    collect.collect(panel, tmp_path / "items.csv", "pairwise", folder)
    fit(VOTES, model="bradley-terry", method="map").save(tmp_path / "fit")
    (folder / "run.json").write_bytes((tmp_path / "fit" / "run.json").read_bytes())
    with pytest.raises(InputError, match=r"holds another 'run.json' than that of a run"):
        collect.collect(panel, tmp_path / "items.csv", "pairwise", folder)


def test_files_appear_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv"
    write_file(path, "old")
    (tmp_path / "link").symlink_to("a.csv")
    write_file(tmp_path / "link", "newer")
    assert path.read_text() == "newer"
    assert (tmp_path / "link").is_symlink()
    path.chmod(0o640)

    def fails(*args: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fails)
        with pytest.raises(InputError, match=r"a\.csv: cannot be written \(No space left on device\)"):
            write_file(path, "newest")
    assert path.read_text() == "newer"
    write_file(path, b"newest")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("newest", 0o640)
    assert sorted(tree(tmp_path)) == ["a.csv", "link"]
    for wrong in (tmp_path / "none" / "a", tmp_path, tmp_path / ("x" * 300), "/dev/full", "a\0b"):
        with pytest.raises(InputError, match=r"^output .*: cannot be written \("):
            write_file(wrong, "x")
    assert Path("/dev/full").is_char_device()


def test_folders_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "broken").symlink_to("nowhere")
    for wrong in ("file", "broken", "file/run", "x" * 300, "a\0b"):
        with pytest.raises(InputError, match=r"^output folder .*: "), write_folder_atomically(tmp_path / wrong, NOTE):
            pass
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with (
        pytest.raises(InputError, match=r"^output folder run: cannot be written"),
        write_folder_atomically("run", NOTE),
    ):
        pass


@pytest.mark.parametrize("text", ["", "[]", "[" * 100_000, '{"a": "\\ud800"}', "{", '{"a": 1' + "0" * 5000 + "}"])
def test_json_that_is_no_object_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(ValueError):  # noqa: PT011 (each has words of its own)
        read_json(tmp_path / "run.json")
    assert not recognise_json("a")(tmp_path / "run.json")
    assert json.dumps(read_json_of(tmp_path, {"a": "😀"})) == json.dumps({"a": "😀"})


def read_json_of(folder: Path, content: dict[str, str]) -> dict[str, Any]:
    (folder / "other.json").write_text(json.dumps(content))
    return read_json(folder / "other.json")


def test_new_folders_and_files_have_the_permissions_of_the_umask_and_drafts_are_private(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with write_folder_atomically(tmp_path / "run", NOTE) as place:
            assert place.parent.stat().st_mode & 0o777 == 0o700
        write_file(tmp_path / "a", "done")
    finally:
        os.umask(before)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("run", "a")] == [0o750, 0o640]


def test_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_file(tmp_path / "pipe", "done\n")
        assert os.read(reader, 100) == b"done\n"
    finally:
        os.close(reader)
