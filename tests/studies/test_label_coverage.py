"""Studies of label panels: who is drawn, and what is counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from voirdire.errors import InputError
from voirdire_studies import load_study, run_study
from voirdire_studies.label_coverage import simulate_labels

SMALL = """
name = "small"
kind = "label-coverage"
title = "t"
aim = "a"
source = "s"
seed = 5
replicates = 2
models = ["majority-label", "family-dawid-skene"]
methods = ["laplace"]

[[panels]]
name = "copies"
items = 30
classes = 2
honest = 3
low = 0.7
high = 0.9
copies = 2
"""


@pytest.mark.long
@pytest.mark.slow
def test_a_small_study_counts_what_classes_are_worth(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(SMALL, encoding="utf-8")
    result = run_study(load_study(path))
    table, rows = result.table.set_index(["model", "measure"]), result.replicates
    assert set(rows["model"]) == {"majority-label", "family-dawid-skene", "default"}
    own = rows[rows["model"] == "family-dawid-skene"]
    assert table.loc[("family-dawid-skene", "accuracy"), "mean"] == pytest.approx(own["accuracy"].mean())
    assert ("majority-label", "coverage of judges") not in table.index  # which knows nothing of judges
    assert table.loc[("family-dawid-skene", "coverage of judges"), "n"] == 2
    by_default = table.loc["default"]
    assert by_default[by_default.index.str.startswith("by ")]["mean"].sum() == pytest.approx(1.0)


def test_what_is_wrong_with_a_file_is_named_at_once(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(SMALL.replace("majority-label", "maple").replace("high = 0.9", "high = 0.6"), "utf-8")
    with pytest.raises(InputError) as found:
        load_study(path)
    assert "models: maple is not a model of labels" in str(found.value)
    assert "panels[0]: low is 0.7, above high, 0.6" in str(found.value)


def test_panels_are_what_the_study_says() -> None:
    panel = {"items": 20_000, "classes": 3, "honest": 2, "low": 0.6, "high": 0.8, "copies": 1, "repeated": 0.9}
    more = {"family": 2, "families": 2, "together": 0.2, "biased": 0.25}
    made = simulate_labels(panel | more, np.random.default_rng(0))
    hit = made.labels == made.truth
    assert list(made.families.values()) == ["copied", "j01", "copied", *["family 0"] * 2, *["family 1"] * 2]
    np.testing.assert_allclose(hit.mean(axis=1), made.right, atol=0.015)
    assert (made.labels[0] == made.labels[2]).mean() == pytest.approx(0.9 + 0.1 / 3, abs=0.01)
    both = ~hit[3] & (made.labels[3] == made.labels[4])  # the same wrong class, beyond what chance does
    apart = ~hit[3] & (made.labels[3] == made.labels[5])
    assert both.mean() > apart.mean() + 0.15
    assert (made.labels[3] == 0).mean() > 0.4
    assert made.table.shape == (7 * 20_000, 3)


def test_hard_items_are_hard_for_all_or_for_a_family() -> None:
    panel = {"items": 20_000, "classes": 2, "honest": 2, "low": 0.7, "high": 0.7, "family": 2}
    for more, rows in (({"hard": 2.0}, (0, 1)), ({"family_hard": 2.0}, (2, 3))):
        made = simulate_labels(panel | more, np.random.default_rng(1))
        hit = made.labels == made.truth
        assert np.corrcoef(hit[rows[0]], hit[rows[1]])[0, 1] > 0.2
        if "family_hard" in more:
            assert abs(np.corrcoef(hit[0], hit[2])[0, 1]) < 0.03
