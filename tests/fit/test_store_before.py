"""Fits and rows saved by the release before, in format 1 without a seal, are read as they were.

``tests/reference/runs/`` holds a run of each kind on simulated answers, as that release wrote it: the folder of
``Fit.save``, what its fit predicted for ``asked.csv``, and its report.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from voirdire import InputError, agreement, load
from voirdire.report.sources import Rows, read_run, save_rows
from voirdire.seals import sealed

RUNS = Path(__file__).parents[1] / "reference" / "runs"
KINDS = ("votes", "votes_anchored", "scores", "labels", "joint")
# since then: the model, and checks
MODELS = {"mixed-position": "joint-position", "dawid-skene": "hierarchical-dawid-skene"}
CHECKS = {"mirror": "orientation", "split-items": "judge-item-interaction"}
CHECKS_OF = {"labels": {"mirror": "label-switching"}}


def numbers(content: Any, path: str = "") -> dict[str, Any]:
    """Each number, name and flag of a result by its path; the wording of checks and how long it took are left out."""
    if isinstance(content, dict):
        entries = [
            (key, value) for key, value in content.items() if key not in ("seconds", "versions", "message")
        ]
    elif isinstance(content, list | tuple):
        entries = list(enumerate(content))
    else:
        return {path: content}
    return {key: value for name, one in entries for key, value in numbers(one, f"{path}/{name}").items()}


POINTS = {
    "items": {"score", "rank"},
    "criteria": {"weight"},
    "cutpoints": {"cutpoint"},
    "shares": {"share"},
    "confusion": {"probability"},
}
POINTS_OF_LABELS = {"judges": {"reliability", "accuracy", "sensitivity", "specificity"}}


def without_points(result: dict[str, Any]) -> dict[str, Any]:
    """A result without what was shown at the mode then and is the middle of the draws since; items by name.

    What is dropped lies between the ends of its interval, which have not changed.
    """
    kept = dict(result)
    for name, points in (POINTS | (POINTS_OF_LABELS if "shares" in result else {})).items():
        if name not in result or (name == "items" and "shares" in result):
            continue
        rows = sorted(result[name], key=lambda row: str(row["item"])) if name == "items" else result[name]
        kept[name] = [{key: value for key, value in row.items() if key not in points} for row in rows]
    return kept


@pytest.mark.parametrize("kind", KINDS)
def test_fits_of_the_release_before_are_read(kind: str, tmp_path: Path) -> None:
    found = load(RUNS / kind)
    assert json.loads((RUNS / kind / "run.json").read_text(encoding="utf-8")).keys().isdisjoint({"sha256"})

    checks = CHECKS | CHECKS_OF.get(kind, {})
    stored = json.loads((RUNS / kind / "result.json").read_text(encoding="utf-8"))
    name = stored["model"]
    stored["model"] = MODELS.get(name, name)
    stored["notes"] = [note.replace(name, stored["model"]) for note in stored["notes"]]
    stored["checks"] = [row | {"check": checks.get(row["check"], row["check"])} for row in stored["checks"]]
    before = numbers(without_points(stored))
    assert len(before) > 100
    now = numbers(without_points(found.as_dict()))
    assert now.keys() == before.keys()
    for path, value in before.items():
        close = pytest.approx(value, rel=0, abs=1e-10) if isinstance(value, float) else value
        assert now[path] == close, path

    predicted = pd.read_csv(RUNS / kind / "predicted.csv")
    table = found.predict(RUNS / kind / "asked.csv").reset_index(drop=True)
    pd.testing.assert_frame_equal(table, predicted, check_dtype=False, rtol=0, atol=1e-10)

    report = found.report(tmp_path / "report.md").read_text(encoding="utf-8")
    told = (RUNS / kind / "report.md").read_text(encoding="utf-8")
    assert report.startswith("# ")
    items = pd.read_csv(RUNS / kind / "asked.csv")
    names = set(items["item"] if "item" in items else items["first"])
    assert {name for name in names if name in told} <= {name for name in names if name in report}

    again = load(found.save(tmp_path / "again"))
    assert again.as_dict() == found.as_dict()
    assert json.loads((tmp_path / "again" / "run.json").read_text(encoding="utf-8"))["format"] == 2


def test_format_1_is_refused_where_it_is_damaged_and_format_2_needs_its_seal(tmp_path: Path) -> None:
    folder = tmp_path / "votes"
    shutil.copytree(RUNS / "votes", folder)
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    wrong = (
        run | {"tables": {}},
        run | {"format": 2},
        sealed(run, folder / "arrays.npz") | {"prob": 0.5},
        run | {"sha256": ""},
    )
    for content in wrong:
        (folder / "run.json").write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(InputError, match="damaged"):
            load(folder)
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
    (folder / "arrays.npz").write_bytes((RUNS / "labels" / "arrays.npz").read_bytes())
    with pytest.raises(InputError, match="damaged"):
        load(folder)


def test_rows_of_the_release_before_are_read(tmp_path: Path) -> None:
    labels = pd.DataFrame(
        {"judge": ["a", "b"] * 4, "item": [1, 1, 2, 2, 3, 3, 4, 4], "label": list("yyyynnny")}
    )
    folder = save_rows(agreement(labels, resamples=20), tmp_path / "rows", "agree", {"seed": 0})
    now = read_run(folder)
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    del run["sha256"]
    (folder / "run.json").write_text(json.dumps(run | {"format": 1}), encoding="utf-8")
    assert isinstance(now, Rows)
    assert read_run(folder) == now
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
    with pytest.raises(InputError, match="damaged"):
        read_run(folder)
