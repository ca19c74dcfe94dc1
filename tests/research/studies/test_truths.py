"""Studies of truths that no model draws: what is made, and what a fit is held against."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.errors import InputError
from voirdire.research.studies import load_study, run_study
from voirdire.research.studies.truth_measures import ClassTruth
from voirdire.research.studies.truth_panels import TRUTHS

SMALL = """
name = "small"
kind = "truths"
title = "t"
aim = "a"
source = "s"
seed = 5
replicates = 2
truths = ["scores-of-noise", "labels-look-alike"]
about = ["panel", "target"]
methods = ["laplace"]
"""


def written(folder: Path, text: str) -> Path:
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return folder / "study.toml"


@pytest.mark.parametrize("name", TRUTHS)
def test_a_truth_is_a_table_of_its_kind_and_the_same_for_a_seed(name: str) -> None:
    truth, again = (TRUTHS[name](np.random.default_rng(3)) for _ in range(2))
    pd.testing.assert_frame_equal(truth.table, again.table)
    assert voirdire.read(truth.table).kinds == [name.partition("-")[0]]


def test_copies_repeat_and_items_in_a_circle_beat_each_other() -> None:
    votes = TRUTHS["votes-copies"](np.random.default_rng(0)).table
    wide = votes.assign(pair=votes.groupby("judge").cumcount()).pivot(
        index="pair", columns="judge", values="winner"
    )
    alike = [float((wide["j0"] == wide[name]).mean()) for name in ("j1", "j2", "j3", "j4", "j5", "j6")]
    assert min(alike[:3]) > 0.88
    assert max(alike[3:]) < 0.88
    circle = [TRUTHS["votes-cycles"](np.random.default_rng(seed)).table for seed in range(30)]
    seen = pd.concat(circle)
    both = seen[(seen["first"] == "i000") & (seen["second"] == "i001")]
    assert (both["winner"] == "first").mean() > 0.7


def test_classes_are_held_against_probabilities_counted_by_hand() -> None:
    class Found:
        def classes(self) -> pd.DataFrame:
            return pd.DataFrame(
                {"item": ["x", "y"], "label": ["a", "a"], "p_a": [0.97, 0.6], "p_b": [0.03, 0.4]}
            )

    table = pd.DataFrame({"judge": ["j", "k", "j"], "item": ["x", "x", "y"], "label": ["a", "b", "a"]})
    found = ClassTruth(table, {"x": "b", "y": "a"}).compare(Found())
    assert (found["claims"], found["wrong"]) == (1, 1)
    assert found["coverage"] == 0.5  # {a} holds 0.97 of x, whose class is b
    assert found["log_loss"] == pytest.approx(-(np.log(0.03) + np.log(0.6)) / 2)
    assert found["shares_loss"] == pytest.approx(-(np.log(1.5 / 3) + np.log(1.5 / 2)) / 2)


@pytest.mark.slow
def test_a_small_study_has_what_was_counted(tmp_path: Path) -> None:
    result = run_study(load_study(written(tmp_path, SMALL)))
    table, rows = result.table.set_index(["truth", "about", "measure"])["mean"], result.replicates
    noise = rows[(rows["truth"] == "scores-of-noise") & (rows["about"] == "panel")]
    assert table["scores-of-noise", "panel", "coverage"] == pytest.approx(noise["coverage"].mean())
    assert table["scores-of-noise", "panel", "says reliability"] == 1.0
    assert table["labels-look-alike", "target", "log_loss"] < table["labels-look-alike", "panel", "log_loss"]
    assert ("scores-of-noise", "panel", "log_loss") not in table.index


def test_what_is_wrong_with_a_file_is_named_at_once(tmp_path: Path) -> None:
    wrong = SMALL.replace("scores-of-noise", "noise").replace('"panel"', '"people"')
    with pytest.raises(InputError) as found:
        load_study(written(tmp_path, wrong))
    assert "truths: 'noise' is none of votes-as-drawn, " in str(found.value)
    assert "about: 'people' is none of panel, target" in str(found.value)
