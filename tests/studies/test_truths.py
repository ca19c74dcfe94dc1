"""Studies of truths that no model draws: what is made, and what a fit is held against."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.errors import InputError
from voirdire.kinds.kind import Entrants
from voirdire_studies import load_study, run_study
from voirdire_studies.truth_measures import ClassTruth, QualityTruth
from voirdire_studies.truth_panels import TRUTHS

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
    wide = votes.assign(pair=votes.groupby("judge").cumcount()).pivot(index="pair", columns="judge", values="winner")
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
                {"item": list("xyz"), "label": ["a"] * 3, "p_a": [0.97, 0.6, 0.6], "p_b": [0.03, 0.4, 0.4]}
            )

    table = pd.DataFrame({"judge": list("jkjj"), "item": list("xxyz"), "label": list("abab")})
    found = ClassTruth(table, {"x": "b", "y": "a", "z": "b"}).compare(Found())
    assert (found["claims"], found["wrong"]) == (1, 1)
    assert found["coverage"] == pytest.approx(2 / 3)  # {a} holds 0.97 of x, whose class is b; {a, b} is the set of y, z
    assert found["correlation"] == pytest.approx(1 / 3)  # the share that is right
    assert found["log_loss"] == pytest.approx(-(np.log(0.03) + np.log(0.6) + np.log(0.4)) / 3)
    assert found["shares_loss"] == pytest.approx(-(np.log(1.5 / 3) + 2 * np.log(1.5 / 2)) / 3)


def test_worths_are_held_against_intervals_counted_by_hand() -> None:
    """Scores are 2 v + 3 of x, y, z worth 0, 1, 5: every interval holds the line; none of another truth does."""
    scores, half = np.array([3.0, 5.0, 13.0]), np.array([0.1, 0.1, 0.1])
    rows = [
        {"item": name, "score": score, "low": score - reach, "high": score + reach}
        for name, score, reach in zip("xyz", scores, half, strict=True)
    ]
    draws = np.array([[0.0, 1.0, 5.0]] * 50)

    class Kind:
        def board_entrants(self, *_: object) -> Entrants:
            return Entrants(("x", "y", "z"), draws, rows, 0)

    class Found:
        kind, problem, posterior, prob = Kind(), None, None, 0.9

    exact = QualityTruth(pd.DataFrame(), {"x": 0.0, "y": 1.0, "z": 5.0}).compare(Found())
    assert (exact["coverage"], exact["claims"], exact["wrong"]) == (1.0, 3, 0)
    assert exact["correlation"] == pytest.approx(1.0)
    other = QualityTruth(pd.DataFrame(), {"x": 0.0, "y": 4.0, "z": 2.0}).compare(Found())
    assert (other["coverage"], other["claims"], other["wrong"]) == (0.0, 3, 1)


@pytest.mark.long
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
