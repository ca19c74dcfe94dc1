"""Recovery studies: what they find on small panels, how they resume, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from voirdire.errors import InputError
from voirdire_studies import load_study, run_study, study_names
from voirdire_studies.runner import JOURNAL

SMALL = Path(__file__).with_name("small.toml").read_text(encoding="utf-8")


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(SMALL)
    return path


def test_every_shipped_study_is_valid():
    for name in study_names():
        assert load_study(name).name == name


def test_a_small_study_measures_what_it_says(small):
    result = run_study(small)
    table = result.table.set_index(["model", "measure"])
    assert table.loc[("maple", "items"), "n"] == 4
    assert table.loc[("maple", "votes"), "mean"] == 3 * (2 * 15 + 1)
    of_items = result.replicates.query("measure == 'items'").pivot(index="replicate", columns="model", values="value")
    assert table.loc[("maple", "items"), "mean"] == pytest.approx(of_items["maple"].mean(), abs=1e-15)
    assert table.loc[("maple", "items"), "mcse"] == pytest.approx(of_items["maple"].std(ddof=1) / 2, abs=1e-15)
    alone = (of_items["maple"] > of_items["majority-vote"]).mean()
    assert table.loc[("maple", "items"), "best_share"] == alone
    assert ("majority-vote", "reliability") not in table.index  # it knows no reliability
    assert {"eta 0.6", "eta 0.9", "eta 1"} <= set(table.loc["maple"].index)


def test_a_panel_may_have_a_truth_of_its_own(small):
    """The same judges and seeds; only how far items are apart differs."""
    text = SMALL.replace('{ kind = "ranks" }', '{ kind = "normal", sd = 1.0, sd_w = 1.0, correlation = 0.3 }')
    text = text.replace('kind = "accuracy", accuracy', 'kind = "one-coin", eta').replace("sd = 1.0,", "sd = 0.1,")
    text = text.replace("eta = 1.0", "eta = 0.99")
    panel = text[text.index("[[panels]]") :]
    apart = panel.replace(
        'name = "p"', 'name = "apart"\ntruth = { kind = "normal", sd = 9.0, sd_w = 1.0, correlation = 0.3 }'
    )
    small.write_text(text + apart)
    table = run_study(small).table.set_index(["panel", "model", "measure"])
    assert table.loc["apart", "maple", "items"]["mean"] > table.loc["p", "maple", "items"]["mean"]
    small.write_text(text + apart.replace("sd = 9.0", "sd = -1.0"))
    with pytest.raises(InputError, match="sd"):
        load_study(small)


def test_intervals_and_weights_of_both_estimators(small):
    text = SMALL.replace('"votes"]', '"weight-error", "top-weight", "weights-held", "scores-held", "items-ranked"]')
    small.write_text(text.replace('"maple", "majority-vote"]', '"maple"]\noptimisers = ["laplace", "adam"]'))
    rows = run_study(small, replicates=2).replicates
    by = {key: of["value"] for key, of in rows.groupby(["optimiser", "measure"])}
    for optimiser in ("laplace", "adam"):
        assert by[optimiser, "top-weight"].between(0.5, 1).all()  # of two criteria the larger
        assert by[optimiser, "weight-error"].between(0, 1).all()
        assert by[optimiser, "items-ranked"].between(0, 1).all()
    assert by["laplace", "weights-held"].isin([0.0, 1.0]).all()  # both weights are held, or neither
    assert by["laplace", "scores-held"].between(0, 1).all()
    assert ("adam", "weights-held") not in by  # a point has no interval


def test_a_stopped_study_goes_on_and_ends_with_the_same_table(small, tmp_path):
    whole = run_study(small, out=tmp_path / "whole")
    folder = tmp_path / "stopped"
    run_study(small, out=folder)
    journal = folder / JOURNAL
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:-1]) + lines[-1][:40])  # killed while writing its last batch
    (folder / "results.csv").unlink()
    calls = []
    again = run_study(small, out=folder, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(1, 2), (2, 2)]  # one batch was there, one was run again
    pd.testing.assert_frame_equal(again.table, whole.table)
    assert (folder / "results.csv").read_bytes() == (tmp_path / "whole" / "results.csv").read_bytes()


def test_a_folder_of_another_study_is_refused(small, tmp_path):
    run_study(small, replicates=2, out=tmp_path / "run")
    with pytest.raises(InputError, match="another study or other settings"):
        run_study(small, replicates=4, out=tmp_path / "run")


def test_a_finding_that_is_written_afterwards_leaves_batches_as_they_are(small, tmp_path):
    before = run_study(small, out=tmp_path / "out").table
    small.write_text(SMALL.replace("seed = ", 'finding = "As it should be."\nseed = ', 1))
    assert load_study(small).settings["finding"]
    begun = []
    after = run_study(small, out=tmp_path / "out", progress=lambda done, of: begun.append(done)).table
    assert begun[0] == begun[-1] > 0
    pd.testing.assert_frame_equal(before, after)


def test_batches_and_single_fits_find_the_same(small):
    one = run_study(small)
    small.write_text(SMALL.replace("batch = 2", "batch = 1"))
    single = run_study(small)
    np.testing.assert_allclose(one.table["mean"], single.table["mean"], atol=1e-6)


@pytest.mark.slow
def test_processes_find_the_same(small):
    pd.testing.assert_frame_equal(run_study(small, jobs=2).table, run_study(small).table)


def test_the_result_is_plain_json(small):
    found = json.loads(json.dumps(run_study(small, replicates=2).as_dict(), allow_nan=False))
    assert found["study"] == "small"
    assert found["replicates"] == 2
    assert {"panel", "design", "model", "measure", "mean", "mcse"} <= set(found["rows"][0])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('kind = "accuracy", accuracy = 0.6', 'kind = "acuracy", accuracy = 0.6', "accuracy"),
        ("accuracy = 0.6", "accuracy = 1.6", "1.6"),
        ('kind = "accuracy", accuracy = 0.6', 'kind = "copycat", copies = "zoe", rho = 0.5', "zoe"),
        ("replicates = 4", "replicates = 0", "replicates is 0; must be at least 1"),
        ('kind = "accuracy", accuracy = 0.6', 'kind = "accuracy", flips = 1000', "1000"),
        ('kind = "all-pairs"', 'kind = "pairs"\nlisted = [[0, 1], [2, 3]]', "connect"),
        ('models = ["maple"', 'models = ["mapel"', "did you mean 'maple'"),
        ('"eta", "criteria"', '"eta", "criterium"', "'criterium' is none of"),
        ("items = 6", "itmes = 6", "did you mean 'items'"),
        ("items = 6", "items = [6", "not valid TOML"),
        ("batch = 2", "batch = 0", "batch is 0"),
        ("batch = 2", 'batch = 2\nadded = ["ann"]', "added is .*; must be a list of tables"),
    ],
)
def test_a_wrong_study_is_refused_before_any_work(small, old, new, message):
    assert old in SMALL
    small.write_text(SMALL.replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        load_study(small)


def test_requests_that_make_no_sense(small, tmp_path):
    with pytest.raises(InputError, match="replicates 0: must be at least 1"):
        run_study(small, replicates=0)
    with pytest.raises(InputError, match="did you mean 'rq1'"):
        load_study("rq11")
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(InputError, match="is a file; name a folder"):
        run_study(small, out=file)


def test_the_page_of_the_studies_is_current(project):
    from voirdire_studies.readme import studies_page

    assert (project / "simulations" / "README.md").read_text(encoding="utf-8") == studies_page(), "run make pages"
